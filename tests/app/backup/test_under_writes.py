"""Backups that are made while the service and its jobs write are complete and consistent."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import httpx
import pytest
from deltalake import DeltaTable
from sqlalchemy import URL, text

from app.database.engine import database_of
from app.sizing.examples import sq03
from app.uploads import files
from tests.app.backup.support import Place, back_up, place_at, restore_into
from tests.app.uploads.support import READER, READS, wait_until
from tests.forked_keepers import VARIABLE
from tests.prepared import commands

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
WRITER = "tests.app.backup.writing_history"
BACKUPS = 3
PAUSE_S = 0.1
"""Seconds between the writes of a script. Without them, the scripts mostly slow the backups down."""
PATIENCE_S = 300.0
"""The service and its jobs start in processes of their own, which takes a minute on a busy machine."""


@pytest.fixture
def place(url: URL, tmp_path: Path) -> Place:
    return place_at(tmp_path / "data", None if url.get_backend_name() == "sqlite" else url)


def environment(place: Place) -> dict[str, str]:
    return os.environ | place.settings.as_environment() | {"PYTHONPATH": f"{READER}{os.pathsep}{ROOT}"}


@contextmanager
def service(place: Place) -> Iterator[str]:
    """Run the service in processes of its own, with the stand-in for its readers."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = ("tests.forked_keepers", "serve", "--port", str(port), "--workers", "1")
    variables = environment(place) | {VARIABLE: str(commands().folder)}
    with commands().start(*words, environment=variables) as process:
        try:
            wait_until(lambda: process.poll() is not None or answers(port), patience_s=PATIENCE_S)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz").is_success
    except httpx.HTTPError:
        return False


class Writer(threading.Thread):
    """A script that saves plans and uploads files, and records what the service has confirmed."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(daemon=True)
        self.plan = name
        self.version = 0
        self.uploads: list[str] = []
        self.errors: list[str] = []
        self._address = address
        self._is_stopped = threading.Event()

    def run(self) -> None:
        document: dict[str, Any] = dict(sq03())
        etag = ""
        with httpx.Client(base_url=self._address, timeout=60) as client:
            while not self._is_stopped.is_set():
                document = document | {"queue_managers": 2 + self.version % 20}
                headers = {"if-match": etag} if etag else {"if-none-match": "*"}
                saved = client.put(f"/api/v1/plans/{self.plan}", json=document, headers=headers)
                if not saved.is_success:
                    self.errors.append(saved.text)
                    return
                etag, self.version = saved.headers["etag"], saved.json()["version"]
                content = f"{READS}{self.plan} {self.version}\n".encode()
                if client.post(f"/api/v1/uploads?name={self.plan}.smf", content=content).status_code == 201:
                    self.uploads.append(hashlib.sha256(content).hexdigest())
                self._is_stopped.wait(PAUSE_S)

    def stop(self) -> None:
        self._is_stopped.set()
        self.join(60)


def have_saved(writers: list[Writer], before: list[int]) -> bool:
    """Return whether each writer has saved another version, or has failed."""
    return all(each.errors or each.version > version for each, version in zip(writers, before, strict=True))


def test_everything_confirmed_before_a_backup_is_in_it(place: Place, tmp_path: Path) -> None:
    with service(place) as address:
        writers = [Writer(address, f"PLAN{number}") for number in range(3)]
        for writer in writers:
            writer.start()
        confirmed: list[tuple[dict[str, int], set[str]]] = []
        for number in range(BACKUPS):
            before = [writer.version for writer in writers]
            wait_until(partial(have_saved, writers, before), patience_s=PATIENCE_S)
            uploads = {digest for writer in writers for digest in list(writer.uploads)}
            confirmed.append(({writer.plan: writer.version for writer in writers}, uploads))
            archive = str(tmp_path / f"{number}.tar.gz")
            done = commands().run("app.cli", "backup", archive, environment=environment(place))
            assert done.returncode == 0, done.stderr
        for writer in writers:
            writer.stop()
    assert [writer.errors for writer in writers] == [[]] * len(writers)
    for number, (plans, uploads) in enumerate(confirmed):
        restored = place_at(tmp_path / f"restored{number}")
        restore_into(restored, tmp_path / f"{number}.tar.gz")
        check_complete(restored, plans, uploads)


def check_complete(place: Place, plans: Mapping[str, int], uploads: set[str]) -> None:
    """Assert that the plans and uploads are there, and that every upload has its file."""
    database = database_of(place.settings)
    with database.session(writes=False) as session:
        query = "SELECT p.name, max(v.number) FROM plans p JOIN plan_versions v ON v.plan_id = p.id GROUP BY p.name"
        found = {str(row[0]): int(row[1]) for row in session.execute(text(query))}
        wanted = set(session.scalars(text("SELECT sha256 FROM uploads WHERE removed_at IS NULL")))
        known = set(session.scalars(text("SELECT sha256 FROM uploads")))
    database.close()
    assert {name for name, version in plans.items() if found.get(name, 0) < version} == set()
    assert uploads <= known
    assert wanted == set(files.whole_files(place.data, older_than_s=-1))
    for digest in wanted:
        assert hashlib.sha256(files.path_of(place.data, digest).read_bytes()).hexdigest() == digest


@contextmanager
def writing(place: Place, history: Path) -> Iterator[IO[str]]:
    """Let a process write to a history and then to the database, until the end of the block; yield its output."""
    url = database_of(place.settings).url.render_as_string(hide_password=False)
    (told, theirs), variables = os.pipe(), environment(place)
    with open(told) as lines, Path(os.devnull).open("rb") as nothing:  # noqa: PTH123 - no path
        files = (nothing.fileno(), theirs, 2)
        arguments = (str(history), url)
        process = commands().start_with(files, WRITER, *arguments, environment=variables)
        os.close(theirs)
        try:
            yield lines
        finally:
            process.kill()
            process.wait()


def test_history_in_a_backup_has_all_that_the_database_knows(place: Place, tmp_path: Path) -> None:
    place.data.mkdir(exist_ok=True)
    with writing(place, place.data / "history") as lines:
        for number in range(6):
            for _ in range(9):
                assert lines.readline()
            back_up(place, tmp_path / f"{number}.tar.gz")
    versions = []
    for number in range(6):
        restored = place_at(tmp_path / f"restored{number}")
        restore_into(restored, tmp_path / f"{number}.tar.gz")
        database = database_of(restored.settings)
        with database.session(writes=False) as session:
            last, version = session.execute(text("SELECT queue_manager, qsg FROM qsg_map")).one()
        database.close()
        table = DeltaTable(str(restored.data / "history"))
        numbers = set(table.to_pyarrow_table()["number"].to_pylist())
        assert table.version() >= int(version)
        assert int(last) in numbers
        assert numbers == set(range(min(numbers), max(numbers) + 1))
        versions.append(table.version())
    assert versions == sorted(versions)
    assert versions[0] < versions[-1]
