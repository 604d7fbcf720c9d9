"""The inventory names what the code uses."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT
from tests.packaging.test_dangerous_functions import name_of, trees

TEXT = (ROOT / "docs" / "operations" / "security-inventory.md").read_text(encoding="utf-8")


def part(heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_inventory_names_every_use_of_cryptography() -> None:
    hashes = {
        name.removeprefix("hashlib.")
        for _, tree in trees()
        for node in tree.attributes
        if (name := name_of(node)).startswith("hashlib.")
    }
    assert hashes == set(re.findall(r"`(sha\d+|blake2b|md5)`", part("Cryptography")))
    libraries = {"argon2", "authlib", "joserfc", "cryptography", "nacl", "Crypto", "hmac", "bcrypt", "ssl"}
    users = {path for path, tree in trees() if tree.imports & libraries}
    named = re.findall(r"`(app/[\w/.]+)`", part("Cryptography"))
    assert {path for path in users if not any(path.startswith(name) for name in named)} == set()


def test_inventory_names_files_that_exist() -> None:
    for path in re.findall(r"`((?:app|spark_jobs)/[\w/.]+)`", TEXT):
        assert (ROOT / path).exists(), path


def test_inventory_names_every_module_that_connects() -> None:
    clients = {"httpx", "authlib", "urllib.request", "http.client", "psycopg", "deltalake", "pyspark"}
    used = {client for _, tree in trees() for client in tree.imports & clients}
    # PostgreSQL's driver is imported by SQLAlchemy.
    rows = {
        "httpx": "OpenID provider", "authlib": "OpenID provider", "psycopg": "PostgreSQL", "deltalake": "object store",
        "pyspark": "Spark",
    }  # fmt: skip
    assert used <= set(rows)
    assert all(rows[client] in part("Connections") for client in used)
