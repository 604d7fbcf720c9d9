"""One keeper process reads small uploads one after another, and ends where the service must decide."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import URL

from app import keeper
from app.database.engine import Database
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.nightly import service as nightly
from app.nightly.models import Trigger
from app.settings import Settings
from tests.app.uploads.support import (
    DAY,
    READS,
    history,
    job,
    job_id_of,
    keep,
    log,
    running_in,
    settings_for,
    times_read,
    wait_until,
)
from tests.prepared import commands

pytestmark = pytest.mark.long


@pytest.fixture
def settings(url: URL, tmp_path: Path) -> Settings:
    return settings_for(url, tmp_path)


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    return {**os.environ, **settings.as_environment()}


_RECORD = re.compile(r"\S+Z INFO (?P<logger>cfplan\.(?:jobs|audit)) job=(?P<job>\d+) (?P<message>.+)")
"""A line of the log that reports the progress of a job or an entry of the audit trail, and no problem."""


def queued(database: Database, settings: Settings, contents: Sequence[str]) -> list[int]:
    """Queue uploads and return the numbers of their runs."""
    return [job_id_of(keep(database, settings.data_dir, content)) for content in contents]


def states(database: Database, ids: Sequence[int]) -> list[JobState]:
    return [job(database, job_id).state for job_id in ids]


def process_of(database: Database, job_id: int) -> str:
    """Return the process that the log of a run names."""
    (found,) = re.findall(r"attempt 1, process (\d+) on", log(database, job_id))
    return str(found)


def read_from(job_id: int, environment: dict[str, str]) -> list[str]:
    """Run the keeper of a run in its own process until it ends, and return the messages of its log with their jobs."""
    done = commands().run("app.keeper", str(job_id), environment=environment)
    records = [_RECORD.fullmatch(line) for line in done.stderr.splitlines()]
    assert done.returncode == 0
    # Warnings and errors, and lines that are not records, would not match.
    assert all(records), done.stderr
    return [
        f"{record['job']}: {record['message']}"
        for record in records
        if record and record["logger"] == "cfplan.jobs"
    ]


def test_one_process_reads_all_small_uploads_in_their_order(
    database: Database, settings: Settings, environment: dict[str, str]
) -> None:
    contents = [f"{READS}# {number}\n" for number in range(4)]
    ids = queued(database, settings, contents)
    logged = read_from(ids[0], environment)
    assert states(database, ids) == [JobState.DONE] * 4
    assert logged == [
        line
        for number in ids
        for line in (
            f"{number}: Job {number} (ingest) begins, attempt 1.",
            f"{number}: Job {number} ends: done.",
        )
    ]
    assert len({process_of(database, job_id) for job_id in ids}) == 1
    ends = [job(database, job_id).ended_at for job_id in ids]
    assert ends == sorted(ends, key=str)
    assert times_read(settings) == 4


def test_killed_reader_and_damaged_file_fail_alone(
    database: Database, settings: Settings, environment: dict[str, str]
) -> None:
    contents = [READS, "crash\n", "fail 3\n", f"ask\ndays {DAY}\n", f"{READS}# last\n"]
    ids = queued(database, settings, contents)
    read_from(ids[0], environment)
    assert states(database, ids) == [
        JobState.DONE, JobState.FAILED, JobState.FAILED, JobState.ASKS, JobState.DONE,
    ]  # fmt: skip
    assert "signal 9" in job(database, ids[1]).sentence
    assert job(database, ids[2]).sentence == "This is no SMF dump: transfer it in binary."
    assert history(settings, contents[1]) is None
    assert history(settings, contents[4]) is not None


def test_killed_keeper_leaves_the_rest_of_the_queue_and_no_reader(
    database: Database, settings: Settings, environment: dict[str, str], tmp_path: Path
) -> None:
    ids = queued(database, settings, [READS, "say decoding 1 10\nhang\n", f"{READS}# last\n"])
    with commands().start("app.keeper", str(ids[0]), environment=environment) as process:
        wait_until(lambda: job(database, ids[1]).stage == "decoding")
        process.kill()
    assert states(database, ids) == [JobState.DONE, JobState.RUNNING, JobState.QUEUED]
    assert times_read(settings) == 1
    wait_until(lambda: not running_in(tmp_path))


def test_stopped_keeper_starts_no_further_upload(
    database: Database, settings: Settings, environment: dict[str, str]
) -> None:
    ids = queued(database, settings, ["say decoding 1 10\nhang\n", READS])
    with commands().start("app.keeper", str(ids[0]), environment=environment) as process:
        wait_until(lambda: job(database, ids[0]).stage == "decoding")
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert states(database, ids) == [JobState.QUEUED, JobState.QUEUED]


def test_larger_upload_has_a_keeper_of_its_own(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = [READS, f"{READS}# a longer one\n"]
    ids = queued(database, settings, contents)
    monkeypatch.setattr(keeper, "SMALL_UPLOAD_BYTES", len(contents[0]))
    keeper._carry_out(database, settings, ids[0])
    assert states(database, ids) == [JobState.DONE, JobState.QUEUED]


def test_nightly_run_that_waits_longer_comes_first(database: Database, settings: Settings) -> None:
    first = job_id_of(keep(database, settings.data_dir, READS))
    with database.session(writes=True) as session:
        night = nightly.queue(session, Trigger.COMMAND).job_id
    last = job_id_of(keep(database, settings.data_dir, f"{READS}# last\n"))
    keeper._carry_out(database, settings, first)
    assert states(database, [first, night, last]) == [JobState.DONE, JobState.QUEUED, JobState.QUEUED]


def test_keeper_ends_after_its_run_if_its_service_has_ended(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = queued(database, settings, [READS, f"{READS}# last\n"])
    parents = iter((10, 1))
    monkeypatch.setattr("app.keeper.os.getppid", lambda: next(parents))
    keeper._carry_out(database, settings, ids[0])
    assert states(database, ids) == [JobState.DONE, JobState.QUEUED]


def test_run_that_another_process_has_is_not_tried_again(database: Database, settings: Settings) -> None:
    ids = queued(database, settings, [READS, f"{READS}# last\n"])
    with database.session(writes=True) as session:
        assert jobs.claim(session, ids[0], owner="other:1:feed", at_once=1)
    keeper._carry_out(database, settings, ids[0])
    assert states(database, ids) == [JobState.RUNNING, JobState.QUEUED]
