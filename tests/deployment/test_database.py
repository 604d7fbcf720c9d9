"""PostgreSQL set up as docker-compose.yml and deploy/postgres/ set it up, and cfplan with the password from a file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import URL

from app.database.engine import DatabaseUnusable, configured_url
from app.settings import Settings
from tests import postgres
from tests.deployment.test_compose import SERVICES
from tests.packaging.pins import ROOT

DB = SERVICES["db"]
PASSWORD = 'the password\'s "second" part, \\ and more'
ADMIN_PASSWORD = "of the administrator"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "db_password").write_text(f"{PASSWORD}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def admin(folder: Path) -> Iterator[URL]:
    """Return the URL of the superuser of a new server on which the script has run."""
    program, *options = DB["command"]
    assert program == "postgres"
    server = postgres.Installation(
        user="postgres",
        password=ADMIN_PASSWORD,
        initdb=DB["environment"]["POSTGRES_INITDB_ARGS"].split(),
        options=" ".join([*options, "-c fsync=off"]),
    )
    programs = postgres.find_programs()
    with postgres.own_server(server) as at:
        assert programs is not None
        finished = subprocess.run(
            [
                programs / "psql", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "--no-password",
                "--host=127.0.0.1", f"--port={at.port}", "--username=postgres", "--dbname=postgres",
                f"--file={ROOT / 'deploy' / 'postgres' / '10-cfplan.sql'}",
            ],
            env={
                "PATH": os.environ["PATH"],
                "PGPASSWORD": ADMIN_PASSWORD,
                "CFPLAN_PASSWORD_FILE": str(folder / "db_password"),
            },
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert finished.returncode == 0, finished.stderr
        yield at


def as_cfplan(admin: URL, folder: Path, **more: Any) -> Settings:  # noqa: ANN401 - fields of Settings
    given = {
        "database_url": f"postgresql://cfplan@{admin.host}:{admin.port}/cfplan",
        "database_password_file": str(folder / "db_password"),
        "data_dir": folder / "data",
        **more,
    }
    return Settings(**given)


def connect(url: URL) -> psycopg.Connection:
    # As arguments: a URL of SQLAlchemy writes blanks in a password as libpq does not.
    return psycopg.connect(
        host=url.host, port=url.port, user=url.username, password=url.password, dbname=url.database
    )


def test_service_migrates_and_uses_its_database_with_the_password_from_the_file(
    admin: URL, folder: Path
) -> None:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("CFPLAN_", "PG"))},
        **as_cfplan(admin, folder).as_environment(),
    }
    finished = subprocess.run(
        [sys.executable, "-m", "app.cli", "migrate"],
        env=environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    with connect(configured_url(as_cfplan(admin, folder))) as connection:
        assert connection.execute("SELECT count(*) FROM plans").fetchone() == (0,)


@pytest.mark.parametrize("password", ["", "wrong", ADMIN_PASSWORD])
def test_connection_without_the_right_password_is_refused(admin: URL, folder: Path, password: str) -> None:
    url = configured_url(as_cfplan(admin, folder)).set(password=password)
    with pytest.raises(
        psycopg.OperationalError, match=r"password authentication failed|no password supplied"
    ):
        connect(url)


def test_role_of_the_service_has_no_rights_beyond_its_database(admin: URL, folder: Path) -> None:
    own = configured_url(as_cfplan(admin, folder))
    with connect(own) as connection:
        rights = connection.execute(
            "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
        assert rights == (False,) * 5
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE ROLE second")
    for database in ("postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            connect(own.set(database=database))


def test_other_roles_have_no_access_to_the_database(admin: URL, folder: Path) -> None:
    with connect(admin) as connection:
        connection.execute("CREATE ROLE another LOGIN PASSWORD 'another'")
    own = configured_url(as_cfplan(admin, folder))
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        connect(own.set(username="another", password="another"))


def test_passwords_are_stored_as_scram_verifiers(admin: URL) -> None:
    with connect(admin) as connection:
        stored = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolcanlogin").fetchall()
    assert len(stored) >= 2
    assert all(password.startswith("SCRAM-SHA-256$") for (password,) in stored)


def test_no_address_is_trusted_without_a_password(admin: URL) -> None:
    with connect(admin) as connection:
        rules = connection.execute("SELECT type, auth_method FROM pg_hba_file_rules").fetchall()
    assert {method for kind, method in rules if kind != "local"} == {"scram-sha-256"}
    assert {method for kind, method in rules if kind == "local"} <= {"peer", "scram-sha-256"}
    assert DB["environment"]["POSTGRES_HOST_AUTH_METHOD"] == "scram-sha-256", "for other addresses"


@pytest.mark.parametrize(
    ("content", "url", "reason"),
    [
        (None, "postgresql://cfplan@db/cfplan", "cannot be read: No such file or directory"),
        (b"", "postgresql://cfplan@db/cfplan", "is empty"),
        (b"\n", "postgresql://cfplan@db/cfplan", "is empty"),
        (b"\xff", "postgresql://cfplan@db/cfplan", "not text in UTF-8"),
        (b"x", "postgresql://cfplan:y@db/cfplan", "whose URL has no password"),
        (b"x", "", "only for a database server"),
    ],
)
def test_unusable_password_file_is_refused_with_a_message(
    tmp_path: Path, content: bytes | None, url: str, reason: str
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    settings = Settings(data_dir=tmp_path, database_url=url, database_password_file=str(file))
    with pytest.raises(DatabaseUnusable, match=f"CFPLAN_DATABASE_PASSWORD_FILE.*{reason}"):
        configured_url(settings)


def test_only_the_last_line_break_of_a_password_file_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b" a \r\n")
    settings = Settings(
        database_url="postgresql://cfplan@db/cfplan", database_password_file=str(tmp_path / "password")
    )
    assert configured_url(settings).password == " a "
