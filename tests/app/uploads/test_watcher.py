"""The watcher starts queued runs, resumes interrupted ones, and reports missing packages."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL
from sqlalchemy.exc import OperationalError

from app import main
from app.database.engine import Database
from app.jobs import processes, repository, service
from app.jobs.heartbeats import LONGEST_GAP_S
from app.jobs.models import JobState
from app.jobs.watcher import MOST_FALSE_STARTS, Watcher
from app.settings import Settings
from app.uploads.service import clean_up
from tests.app.uploads.support import READS, job, job_id_of, keep, settings_for, times_read, wait_until
from tests.forked_keepers import keepers_are_forked
from tests.prepared import commands

pytestmark = pytest.mark.long


@pytest.fixture
def settings(url: URL, tmp_path: Path) -> Settings:
    return settings_for(url, tmp_path)


@pytest.fixture
def watching(database: Database, settings: Settings) -> Iterator[Watcher]:
    """Return a watcher that checks only when the test calls it."""
    made = Watcher(database, settings, clean_up=clean_up)
    yield made
    for child in made._children.values():
        child.kill()
        child.wait()


@pytest.mark.usefixtures("forked_keepers")
def test_waiting_runs_start_in_order_up_to_the_limit(
    database: Database, settings: Settings, watching: Watcher
) -> None:
    ids = [job_id_of(keep(database, settings.data_dir, f"{READS}wait 0.{n}\n")) for n in (1, 2)]
    assert watching.look() == 1
    assert watching.look() == 0
    wait_until(lambda: job(database, ids[0]).state == JobState.DONE)
    wait_until(lambda: bool(watching.look()) or job(database, ids[1]).state == JobState.DONE)
    wait_until(lambda: job(database, ids[1]).state == JobState.DONE)


@pytest.mark.usefixtures("forked_keepers")
def test_starting_service_reads_waiting_uploads(database: Database, settings: Settings) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    made = Watcher(database, settings, clean_up=clean_up)
    made.start()
    try:
        wait_until(lambda: job(database, job_id).state == JobState.DONE)
    finally:
        made.stop()
    made.start()  # and again, as a test client does
    made.stop()


def test_unexpected_error_does_not_end_the_thread(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looked: list[Watcher] = []

    def look(watcher: Watcher) -> int:
        looked.append(watcher)
        raise ZeroDivisionError

    monkeypatch.setattr(Watcher, "look", look)
    made = Watcher(database, settings)
    made.start()
    try:
        wait_until(lambda: len(looked) == 1)
        made.poke()
        wait_until(lambda: len(looked) == 2)
    finally:
        made.stop()
    records = [record for record in caplog.records if record.name == "cfplan.jobs"]
    assert "defect in cfplan" in records[0].message
    assert records[0].exc_info is not None
    assert records[0].exc_info[0] is ZeroDivisionError


def test_jobs_start_although_what_has_expired_cannot_be_removed(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []
    looked: list[int] = []

    def failing(_database: Database, _settings: Settings) -> None:
        attempts.append(1)
        raise OperationalError(None, None, Exception("canceling statement due to statement timeout"))

    def look(_watcher: Watcher) -> int:
        looked.append(1)
        return 0

    monkeypatch.setattr(Watcher, "look", look)
    made = Watcher(database, settings, clean_up=failing)
    made.start()
    try:
        wait_until(lambda: bool(attempts))
        made.poke()
        wait_until(lambda: bool(looked))
    finally:
        made.stop()
    assert len(attempts) == 1


def test_uploads_are_removed_although_expired_plans_cannot_be(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_arguments: object) -> int:
        raise OperationalError(None, None, Exception("canceling statement due to statement timeout"))

    part = settings.data_dir / "uploads" / "incoming" / "left.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(b"half")
    os.utime(part, (1, 1))
    monkeypatch.setattr("app.plans.service.purge_deleted", failing)
    with pytest.raises(OperationalError, match="timeout"):
        main._clean_up(database, settings)
    assert not part.exists()


def test_killed_keeper_is_replaced(database: Database, settings: Settings, watching: Watcher) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, f"say decoding 1 2\nwait 2\n{READS}"))
    watching.look()
    wait_until(lambda: job(database, job_id).stage == "decoding")
    os.kill(watching._children[job_id].pid, signal.SIGKILL)
    with keepers_are_forked(commands()):  # only the first one must be a child of this process
        wait_until(lambda: bool(watching.look()))  # at once, not only when the heartbeat is stale
    wait_until(lambda: job(database, job_id).state == JobState.DONE)
    assert job(database, job_id).attempts == 2


@pytest.mark.usefixtures("forked_keepers")
def test_vanished_keeper_of_an_earlier_service_is_detected(
    database: Database, settings: Settings, watching: Watcher
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    owner = f"{socket.gethostname()}:{2**22 - 1}:feed"  # no process has this number
    with database.session(writes=True) as session:
        assert service.claim(session, job_id, owner=owner, at_once=1)
    assert watching.look() == 1
    wait_until(lambda: job(database, job_id).state == JobState.DONE)


@pytest.mark.usefixtures("forked_keepers")
def test_hanging_keeper_is_replaced(
    database: Database, settings: Settings, watching: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, f"say decoding 1 2\nwait 2\n{READS}"))
    watching.look()
    wait_until(lambda: job(database, job_id).stage == "decoding")
    os.kill(watching._children[job_id].pid, signal.SIGSTOP)
    seconds = itertools.count(0, LONGEST_GAP_S)
    monkeypatch.setattr(watching._observer, "_clock", lambda: next(seconds))
    wait_until(lambda: bool(watching.look()))
    wait_until(lambda: job(database, job_id).state == JobState.DONE)
    assert job(database, job_id).attempts == 2


def test_keeper_of_a_watcher_that_stopped_leaves_no_zombie(
    database: Database, settings: Settings, watching: Watcher
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, f"say decoding 1 2\nwait 20\n{READS}"))
    watching.look()
    wait_until(lambda: job(database, job_id).stage == "decoding")
    pid = watching._children[job_id].pid
    watching.stop()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_process(pid))
    other = Watcher(database, settings)
    wait_until(lambda: bool(other.look()))  # at once, not only when the heartbeat is stale
    for child in other._children.values():
        child.kill()
        child.wait()


def is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.usefixtures("forked_keepers")
def test_runs_wait_until_missing_packages_are_installed(
    database: Database, settings: Settings, watching: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    with monkeypatch.context() as patch:
        patch.setattr(processes, "NEEDED", ("json", "a_package_that_nobody_has"))
        assert processes.missing_packages() == ("a_package_that_nobody_has",)
        assert watching.look() == 0
        assert job(database, job_id).state == JobState.QUEUED
    assert watching.look() == 1
    wait_until(lambda: job(database, job_id).state == JobState.DONE)


def test_packages_are_found_while_another_thread_imports_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    def change_finders() -> None:
        message = "dictionary changed size during iteration"
        raise RuntimeError(message)

    monkeypatch.setattr("importlib.invalidate_caches", change_finders)
    monkeypatch.setattr(processes, "NEEDED", ("json",))
    assert processes.missing_packages() == ()


def test_run_that_never_starts_is_abandoned_with_a_message(
    database: Database, settings: Settings, watching: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    monkeypatch.setattr(processes, "keeper_command", lambda *_: [sys.executable, "-c", "raise SystemExit(2)"])
    started = 0

    def has_failed() -> bool:
        nonlocal started
        started += watching.look()
        return job(database, job_id).state == JobState.FAILED

    wait_until(has_failed)
    assert started == MOST_FALSE_STARTS
    assert "keepers.log" in job(database, job_id).sentence
    assert times_read(settings) == 0


def test_run_that_starts_each_time_is_not_called_one_that_never_starts(
    database: Database, settings: Settings, watching: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    monkeypatch.setattr(processes, "keeper_command", lambda *_: [sys.executable, "-c", "raise SystemExit(2)"])
    for _ in range(MOST_FALSE_STARTS + 1):
        assert watching.look() == 1
        watching._children[job_id].wait()
        with database.session(writes=True) as session:
            run = repository.find(session, job_id)
            assert run is not None
            run.attempts += 1  # as if the keeper had begun the run before it ended
    watching._reap()
    assert job(database, job_id).state == JobState.QUEUED


def test_interrupted_run_whose_next_keepers_never_start_is_abandoned(
    database: Database, settings: Settings, watching: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    monkeypatch.setattr(processes, "keeper_command", lambda *_: [sys.executable, "-c", "raise SystemExit(2)"])
    started = watching.look()
    keeper = watching._children[job_id]
    with database.session(writes=True) as session:
        owner = f"{socket.gethostname()[:60]}:{keeper.pid}:0"
        assert service.claim(session, job_id, owner=owner, at_once=1) is not None

    def has_failed() -> bool:
        nonlocal started
        started += watching.look()
        return job(database, job_id).state == JobState.FAILED

    wait_until(has_failed)
    # The first one has begun the run.
    assert started == 1 + MOST_FALSE_STARTS
    assert "keepers.log" in job(database, job_id).sentence


@pytest.mark.usefixtures("forked_keepers")
def test_old_files_are_removed_when_the_service_starts(database: Database, settings: Settings) -> None:
    outcome = keep(database, settings.data_dir, READS)
    part = settings.data_dir / "uploads" / "incoming" / "left.part"
    part.write_bytes(b"half")
    os.utime(part, (1, 1))
    made = Watcher(database, settings, clean_up=clean_up)
    made.start()
    try:
        wait_until(lambda: not part.exists())
        wait_until(lambda: job(database, job_id_of(outcome)).state == JobState.DONE)
    finally:
        made.stop()
