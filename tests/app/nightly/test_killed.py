"""After a command, a keeper or the job is killed, the next run gives the results of an undisturbed one."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from app.jobs import processes
from app.jobs.keeper import StopRequested
from app.jobs.models import JobState
from app.jobs.service import log_of
from app.keeper import keeper_of
from app.nightly import keeper, lock
from app.nightly.keeper import MOST_STARTS
from app.nightly.models import Trigger
from app.settings import Settings
from tests.app.nightly.support import (
    LAST,
    command,
    command_process,
    keeper_process,
    let_go,
    night,
    order,
    put_days,
    queue,
    read,
    results,
    starts,
    times_run,
    work,
)

if TYPE_CHECKING:
    from _typeshed import TraceFunction

pytestmark = pytest.mark.long

on_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
"""Marks tests that do not depend on the kind of database."""
MOMENTS = random.Random(20261121)
PAUSE_S = 0.03
PATIENCE_S = 60.0
DAYS = 6
Rows = dict[str, list[tuple[Any, ...]]]


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "the condition was never met"
        time.sleep(0.02)


def orphans(settings: Settings) -> list[int]:
    """Return the processes of this history's job that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"spark_jobs.night" in path.read_bytes() and settings.history.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def is_locked(settings: Settings) -> bool:
    with (processes.work_dir(settings) / lock.FILE).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.fixture
def undisturbed(url: URL, tmp_path: Path, database: Database, settings: Settings) -> Rows:
    """Return the results of an undisturbed run."""
    put_days(settings, DAYS)
    night(database, settings)
    return results(database)


def begin_anew(database: Database, settings: Settings) -> None:
    """Remove all results of nightly runs, and write a new history."""
    with database.engine.begin() as connection:
        for table in (
            "forecast_scores", "forecasts", "fitted_curves", "night_findings", "daily_structure_usage", "nightly_runs",
            "job_runs",
        ):  # fmt: skip
            connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608 - names of our own
    subprocess.run(["rm", "-rf", settings.history], check=True)
    put_days(settings, DAYS)
    order(settings, pause_s=PAUSE_S)


def check(database: Database, settings: Settings, expected: Rows) -> None:
    order(settings)
    found = results(database)
    assert found == expected
    wait_until(lambda: not is_locked(settings))
    assert not orphans(settings)


def kill_commands(database: Database, settings: Settings, expected: Rows, kills: int) -> None:
    """Kill `cfplan nightly` this many times before it stores its results; the next run completes each.

    If a command finishes before its kill, the next kill comes earlier.
    """
    latest_s = 0.8
    while kills:
        begin_anew(database, settings)
        with command_process(settings, "nightly", "--json") as process:
            time.sleep(MOMENTS.uniform(latest_s / 4, latest_s))
            process.kill()
        before = results(database)
        assert before in ({name: [] for name in expected}, expected), "results appeared in part"
        if before == expected:
            latest_s *= 0.8
            continue
        kills -= 1
        done = command(settings, "nightly")
        assert done.returncode == 0, done.stderr
        check(database, settings, expected)


def test_killed_command_is_completed_by_the_next(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    kill_commands(database, settings, undisturbed, 2)


@pytest.mark.soak
def test_forty_killed_commands_are_completed_by_the_next(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    kill_commands(database, settings, undisturbed, 40)


def kill_keepers(database: Database, settings: Settings, expected: Rows, kills: int) -> None:
    """Kill a keeper this many times before its run ends; the next keeper completes each run."""
    latest_s = 0.7
    while kills:
        begin_anew(database, settings)
        run = queue(database)
        with keeper_process(settings, run) as process:
            time.sleep(MOMENTS.uniform(latest_s / 4, latest_s))
            process.kill()
        if read(database, run.id).job.state == JobState.DONE:
            latest_s *= 0.8
        else:
            kills -= 1
        let_go(database)
        ended = work(database, settings, run)
        assert ended.job.state == JobState.DONE
        check(database, settings, expected)


def test_killed_keeper_leaves_the_run_to_the_next(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    kill_keepers(database, settings, undisturbed, 2)


@pytest.mark.soak
def test_forty_killed_keepers_leave_the_run_to_the_next(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    kill_keepers(database, settings, undisturbed, 40)


@on_sqlite
def test_killed_job_is_started_again_in_the_same_run(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    begin_anew(database, settings)
    order(settings, crash="reducing", crash_starts=MOST_STARTS - 1)
    run = night(database, settings)
    assert run.job.state == JobState.DONE, run.job.sentence
    # Spark, which does not hold all rows of a day in memory, reads the rows at the last start only.
    assert starts(settings) == [""] * (MOST_STARTS - 1) + ["0"]
    with database.session(writes=False) as session:
        log = log_of(session, run.job.id)
    assert log.count("signal 9") == MOST_STARTS - 1
    assert log.count("Spark reads all rows") == 1
    check(database, settings, undisturbed)


@on_sqlite
def test_killed_job_is_started_again_after_a_while_with_heartbeats(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_days(settings, 3)
    order(settings, crash="reducing", crash_starts=2)
    waits: list[float] = []
    beats: list[float] = []
    now = itertools.count(1000.0, 0.5)  # half a second passes between two looks at the clock
    monkeypatch.setattr(keeper, "WAITS_S", (5.0, 30.0))
    run = queue(database)
    made = keeper_of(database, settings, run.job.id)
    assert isinstance(made, keeper.NightKeeper)
    pause = made._pause

    def paused(seconds: float) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: next(now))
            patch.setattr(made, "_beat", lambda: beats.append(seconds))
            patch.setattr(time, "sleep", waits.append)
            pause(seconds)

    monkeypatch.setattr(made, "_pause", paused)
    assert made.run()
    assert read(database, run.id).job.state == JobState.DONE
    assert times_run(settings) == 3
    assert beats.count(5.0) > 3
    assert beats.count(30.0) > 20
    assert set(waits) == {keeper.STOP_S}


@on_sqlite
def test_stopping_service_ends_the_wait_before_the_next_start(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_days(settings, 3)
    order(settings, crash="reducing")
    monkeypatch.setattr(keeper, "WAITS_S", (3600.0, 3600.0))
    run = queue(database)
    made = keeper_of(database, settings, run.job.id)
    say = made._say

    def heard(line: str) -> None:
        say(line)
        if line.endswith("Starting it again in 3600 seconds."):
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(made, "_say", heard)
    assert made.run()
    found = read(database, run.id).job
    assert (found.state, found.attempts) == (JobState.QUEUED, 0)
    assert times_run(settings) == 1


@on_sqlite
def test_stop_signal_at_any_instant_ends_the_wait(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "STOP_S", 0.0)
    job_id = queue(database).job.id

    def expired(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    def stopped_at(line: int) -> bool:
        """Send the signal before this line of the wait, counting those of the functions that it calls."""
        made = keeper_of(database, settings, job_id)
        assert isinstance(made, keeper.NightKeeper)
        monkeypatch.setattr(
            made, "_beaten_at", time.monotonic() + PATIENCE_S
        )  # this is about the signal alone
        lines = itertools.count(1)

        def traced(_frame: FrameType, event: str, _argument: object) -> TraceFunction:
            if event == "line" and next(lines) == line:
                signal.raise_signal(signal.SIGTERM)
            return traced

        before = sys.gettrace()
        with made._told_to_stop():
            sys.settrace(traced)
            try:
                made._pause(0.02)
            except StopRequested:
                return True
            finally:
                sys.settrace(before)
        return False

    handler = signal.signal(signal.SIGALRM, expired)
    signal.alarm(int(PATIENCE_S))  # it also interrupts a signal handler that waits for a lock
    try:
        assert all(stopped_at(line) for line in range(1, 31))
        assert not stopped_at(10**9)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)


@on_sqlite
def test_result_of_a_job_that_was_killed_after_writing_it_is_stored(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    begin_anew(database, settings)
    order(settings, crash="result")
    assert night(database, settings).job.state == JobState.DONE
    assert times_run(settings) == 1
    check(database, settings, undisturbed)


@on_sqlite
def test_job_that_is_killed_at_each_start_fails_the_run_and_the_next_one_completes_it(
    database: Database, settings: Settings, undisturbed: Rows
) -> None:
    begin_anew(database, settings)
    order(settings, crash="reducing")
    run = night(database, settings)
    assert run.job.state == JobState.FAILED
    assert "signal 9" in run.job.sentence
    assert f"It was started {MOST_STARTS} times." in run.job.sentence
    assert times_run(settings) == MOST_STARTS
    assert not any(results(database).values())
    order(settings)
    assert night(database, settings).job.state == JobState.DONE
    check(database, settings, undisturbed)


@on_sqlite
def test_job_of_a_killed_keeper_ends_before_the_next_job_starts(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 40)
    order(settings, pause_s=0.1)
    run = queue(database)
    with keeper_process(settings, run) as process:
        wait_until(lambda: times_run(settings) == 1)
        process.kill()
    assert is_locked(settings) or not orphans(settings)
    let_go(database)
    order(settings)
    with lock.held(processes.work_dir(settings)):
        assert not orphans(settings)
    assert work(database, settings, run).job.state == JobState.DONE


# ---- one at a time, whoever begins it --------------------------------------------------------------------------------


@on_sqlite
def test_command_during_a_run_reports_it_and_starts_no_other(database: Database, settings: Settings) -> None:
    put_days(settings, 40)
    order(settings, pause_s=2)  # far longer than the command takes to start
    run = queue(database, Trigger.SCHEDULE, due_on=LAST)
    with keeper_process(settings, run) as process:
        wait_until(lambda: read(database, run.id).job.state == JobState.RUNNING)
        done = command(settings, "nightly", "--json")
        order(settings)
        process.send_signal(signal.SIGTERM)
    assert done.returncode == 3, done.stderr
    assert f"Nightly run {run.id} is in progress" in done.stderr
    assert done.stdout == ""


def test_concurrent_commands_start_one_run(database: Database, settings: Settings) -> None:
    put_days(settings, DAYS)
    order(settings, pause_s=0.5)
    with command_process(settings, "nightly") as one, command_process(settings, "nightly") as other:
        codes = sorted((one.wait(), other.wait()))
    assert codes == [0, 3]
    assert times_run(settings) == 1


@on_sqlite
def test_command_continues_the_run_of_a_stopped_service_at_once(
    database: Database, settings: Settings
) -> None:
    """The command detects that the process is gone without waiting for a stale heartbeat."""
    patient = settings.model_copy(update={"job_stale_s": 3600.0})
    put_days(patient, DAYS)
    order(patient, pause_s=0.1)
    run = queue(database)
    with keeper_process(patient, run) as process:
        wait_until(lambda: read(database, run.id).job.state == JobState.RUNNING)
        process.kill()
    order(patient)
    done = command(patient, "nightly")
    assert done.returncode == 0, done.stderr
    assert f"Continuing nightly run {run.id}, which was interrupted." in done.stderr
    assert read(database, run.id).job.attempts == 2


@on_sqlite
@pytest.mark.parametrize("clock", [timedelta(days=-400), timedelta(0), timedelta(days=400)])
def test_run_on_another_machine_is_taken_over_only_if_it_is_dead(
    database: Database, settings: Settings, clock: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the other machine may be wrong."""
    from app.jobs import service as jobs

    settings = settings.model_copy(update={"job_stale_s": 2.0})
    monkeypatch.setattr(jobs, "utc_now", lambda: datetime.now(UTC) + clock)
    put_days(settings, 1)
    run = queue(database)
    with database.session(writes=True) as session:
        assert jobs.claim(session, run.job.id, owner="elsewhere:1:abc", at_once=9) is not None
    is_over = threading.Event()

    def beat() -> None:
        while not is_over.wait(0.1):
            with database.session(writes=True) as session:
                assert jobs.beat(session, run.job.id, "elsewhere:1:abc", stage="", done=0, total=0, log="")

    living = threading.Thread(target=beat)
    living.start()
    try:
        assert command(settings, "nightly").returncode == 3
    finally:
        is_over.set()
        living.join()
    assert command(settings, "nightly").returncode == 0
    assert read(database, run.id).job.attempts == 2
