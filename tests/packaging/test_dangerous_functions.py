"""Functions and modules that run code, read dangerous formats, open connections or are too weak are not used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for package in ("app", "planner_core", "spark_jobs", "migrations") for path in (ROOT / package).rglob("*.py"))  # fmt: skip
CALLS = frozenset({"eval", "exec", "compile", "__import__", "os.system", "os.popen", "pty.spawn"})
"""Functions that run text as a program."""
DESERIALIZERS = frozenset(
    {"pickle", "marshal", "shelve", "dill", "jsonpickle", "xml", "lxml", "xmlrpc", "defusedxml"}
)
"""Modules that create objects which the input chooses, or read XML with its entities."""
WRITES_XML = {"planner_core/texts/zosmf/workflow.py": {"Element", "SubElement", "indent", "tostring"}}
"""The modules that write XML, and the names that they may import from `xml.etree.ElementTree`: none of them reads it."""
CLIENTS = frozenset(
    {"httpx", "requests", "aiohttp", "urllib3", "authlib", "urllib.request", "http.client", "ftplib", "smtplib", "imaplib", "poplib", "ldap", "ldap3", "paramiko", "xmlrpc"}
)  # fmt: skip
"""Modules that send requests to other services."""
MAY_CONNECT = frozenset(
    {"app/accounts/oidc_provider.py", "app/connections/client.py", "app/notices/channels.py"}
)
"""The modules that use them: sign-in by OpenID Connect, connections and notices, each with the declared servers only."""
MAY_BUILD_SQL = frozenset({"app/backup/restoring.py", "app/backup/rows.py"})
"""The modules that build texts of SQL: from the names of tables and columns in the database's own catalog, quoted."""
WEAK_HASHES = frozenset({"hashlib.md5", "hashlib.sha1", "hashlib.new"})
PREDICTABLE = frozenset({"spark_jobs/history/store.py", "spark_jobs/night/daily.py"})
"""Modules that use `random`, whose numbers can be predicted: for pauses between attempts and for samples."""


class Tree(NamedTuple):
    """The syntax of a module: its nodes of the kinds that the tests look at."""

    calls: Sequence[ast.Call]
    attributes: Sequence[ast.Attribute]
    f_strings: Sequence[ast.JoinedStr]
    imports: AbstractSet[str]
    """The imported modules, with all their parents."""


@cache
def trees() -> list[tuple[str, Tree]]:
    return [
        (path.relative_to(ROOT).as_posix(), tree_of(path.read_text(encoding="utf-8"))) for path in MODULES
    ]


def tree_of(source: str) -> Tree:
    nodes = list(ast.walk(ast.parse(source)))
    return Tree(
        [node for node in nodes if isinstance(node, ast.Call)],
        [node for node in nodes if isinstance(node, ast.Attribute)],
        [node for node in nodes if isinstance(node, ast.JoinedStr)],
        frozenset(imports(nodes)),
    )


def name_of(node: ast.expr) -> str:
    """Return the dotted name of an expression, or an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = name_of(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def imports(nodes: Iterable[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        for name in names:
            parts = name.split(".")
            found |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return found


def program_texts(tree: Tree) -> set[str]:
    return {name_of(call.func) for call in tree.calls} & CALLS


def uses_a_shell(tree: Tree) -> bool:
    return any(
        keyword.arg == "shell"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
        for call in tree.calls
        for keyword in call.keywords
    ) or any(
        name_of(call.func) in {"subprocess.getoutput", "asyncio.create_subprocess_shell"}
        for call in tree.calls
    )


def test_no_text_is_run_as_a_program() -> None:
    # re.compile has a dotted name, so that it is not the built-in function.
    assert {path: found for path, tree in trees() if (found := program_texts(tree))} == {}


def test_no_process_is_started_by_a_shell() -> None:
    assert [path for path, tree in trees() if uses_a_shell(tree)] == []


def test_no_format_creates_objects_or_resolves_entities() -> None:
    found = {path: found for path, tree in trees() if (found := tree.imports & DESERIALIZERS)}
    assert found == {path: {"xml"} for path in WRITES_XML}
    for path, tree in trees():
        if path in WRITES_XML:
            names = {name for name in tree.imports if name.startswith("xml.etree.ElementTree.")}
            assert names == {f"xml.etree.ElementTree.{name}" for name in WRITES_XML[path]}


def test_yaml_is_read_by_the_safe_loader_only() -> None:
    unsafe = {
        "yaml.load",
        "yaml.unsafe_load",
        "yaml.full_load",
        "yaml.UnsafeLoader",
        "yaml.FullLoader",
        "yaml.Loader",
    }
    used = {
        (path, name_of(node)) for path, tree in trees() for node in tree.attributes if name_of(node) in unsafe
    }
    assert used == set()


def test_only_sign_in_connections_and_notices_reach_other_services() -> None:
    assert {path for path, tree in trees() if tree.imports & CLIENTS} <= MAY_CONNECT


def test_no_request_to_another_service_follows_redirects() -> None:
    # httpx, the only client of HTTP, follows none by default.
    following = {
        path
        for path, tree in trees()
        for call in tree.calls
        for keyword in call.keywords
        if keyword.arg in {"follow_redirects", "allow_redirects"}
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
    }
    assert following == set()
    assert {client for _, tree in trees() for client in tree.imports & CLIENTS} <= {
        "httpx",
        "authlib",
        "smtplib",
    }


def test_no_weak_hash_is_used() -> None:
    used = {
        path: found
        for path, tree in trees()
        if (found := {name_of(node) for node in tree.attributes} & WEAK_HASHES)
    }
    assert used == {}


def test_predictable_random_numbers_are_used_for_pauses_and_samples_only() -> None:
    assert {path for path, tree in trees() if "random" in tree.imports} == PREDICTABLE


def test_only_backup_and_restore_build_texts_of_sql() -> None:
    built = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b.*", re.IGNORECASE | re.DOTALL)
    found = set()
    for path, tree in trees():
        if path.startswith(("spark_jobs/", "migrations/")):  # Spark's own tables, and constants
            continue
        for node in tree.f_strings:
            if node.values and isinstance(node.values[0], ast.Constant):
                text = str(node.values[0].value)
                if built.match(text) and re.search(r"\b(FROM|INTO|SET|WHERE)\b", text):
                    found.add(path)
    assert found == MAY_BUILD_SQL


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("eval(text)", True),
        ("re.compile(text)", False),
        ("import os\nos.system('ls')", True),
    ],
)
def test_running_a_text_is_detected(source: str, is_found: bool) -> None:
    assert bool(program_texts(tree_of(source))) == is_found


def test_shell_and_imports_are_detected() -> None:
    assert uses_a_shell(tree_of("subprocess.run(command, shell=True)"))
    assert not uses_a_shell(tree_of("subprocess.run(command, shell=False)"))
    assert {"xml", "xml.etree"} <= tree_of("from xml.etree import ElementTree").imports
