"""Claims: a run belongs to one keeper at a time, and passes to another if that keeper is gone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from app.database.engine import Database
from app.errors import NotFound
from app.jobs import repository, service
from app.jobs.log import HEAD_CHARACTERS, LONGEST_LINE, TAIL_CHARACTERS, Log
from app.jobs.models import JobState
from app.jobs.service import MOST_ATTEMPTS, Job
from planner_core.contracts.ingest import Asks
from tests.app.uploads.support import job, job_id_of, keep


def release(database: Database, job_id: int, owner: str) -> None:
    """Release a run, as an observer does when its keeper is dead."""
    with database.session(writes=True) as session:
        assert service.let_go(session, job_id, owner)


@pytest.fixture
def job_id(database: Database, tmp_path: Path) -> int:
    return job_id_of(keep(database, tmp_path, "text"))


def claim(database: Database, job_id: int, owner: str, *, at_once: int = 1) -> Job | None:
    with database.session(writes=True) as session:
        return service.claim(session, job_id, owner=owner, at_once=at_once)


def beat(database: Database, job_id: int, owner: str) -> bool:
    with database.session(writes=True) as session:
        return service.beat(session, job_id, owner, stage="decoding", done=1, total=2, log="")


def end(database: Database, job_id: int, owner: str) -> bool:
    with database.session(writes=True) as session:
        return service.end(session, job_id, owner, JobState.DONE, log="", report={"files": []})


def test_run_is_claimed_once(database: Database, job_id: int) -> None:
    claimed = claim(database, job_id, "first")
    assert claimed is not None
    assert (claimed.state, claimed.attempts) == (JobState.RUNNING, 1)
    assert claim(database, job_id, "second", at_once=9) is None
    assert beat(database, job_id, "first")
    assert not beat(database, job_id, "second")


def test_only_one_of_many_simultaneous_claims_succeeds(database: Database, job_id: int) -> None:
    won: list[str] = []

    def try_it(owner: str) -> None:
        if claim(database, job_id, owner, at_once=9) is not None:
            won.append(owner)

    threads = [threading.Thread(target=try_it, args=(f"owner {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


def test_concurrent_runs_are_limited(database: Database, tmp_path: Path) -> None:
    ids = [job_id_of(keep(database, tmp_path, name)) for name in "abc"]
    claims = [claim(database, each, "owner", at_once=2) for each in ids]
    assert [each is not None for each in claims] == [True, True, False]
    assert end(database, ids[0], "owner")
    assert claim(database, ids[2], "owner", at_once=2) is not None


def test_run_without_heartbeats_is_taken_over_and_its_owner_notices(database: Database, job_id: int) -> None:
    claim(database, job_id, "first")
    with database.session(writes=False) as session:
        assert repository.waiting(session) == []
    release(database, job_id, "first")
    with database.session(writes=False) as session:
        assert repository.waiting(session) == [job_id]
    taken = claim(database, job_id, "second")
    assert taken is not None
    assert taken.attempts == 2
    assert not beat(database, job_id, "first")
    assert not end(database, job_id, "first")
    assert end(database, job_id, "second")
    assert job(database, job_id).state == JobState.DONE


def test_released_run_is_queued_again_at_once(database: Database, job_id: int) -> None:
    claim(database, job_id, "first")
    with database.session(writes=True) as session:
        assert not service.let_go(session, job_id, "another")
        assert service.let_go(session, job_id, "first")
        assert repository.waiting(session) == [job_id]
    assert claim(database, job_id, "second") is not None


def test_returned_run_does_not_count_as_an_attempt(database: Database, job_id: int) -> None:
    claim(database, job_id, "first")
    with database.session(writes=True) as session:
        assert not service.give_back(session, job_id, "another")
        assert service.give_back(session, job_id, "first")
    found = job(database, job_id)
    assert (found.state, found.attempts) == (JobState.QUEUED, 0)


def test_repeatedly_interrupted_run_is_abandoned(database: Database, job_id: int) -> None:
    for attempt in range(MOST_ATTEMPTS):
        claimed = claim(database, job_id, f"owner {attempt}")
        assert claimed is not None
        assert claimed.attempts == attempt + 1
        release(database, job_id, f"owner {attempt}")
    assert claim(database, job_id, "one more") is None
    found = job(database, job_id)
    assert found.state == JobState.FAILED
    assert f"interrupted {MOST_ATTEMPTS} times" in found.sentence


def test_finished_run_is_never_claimed(database: Database, job_id: int) -> None:
    claim(database, job_id, "first")
    end(database, job_id, "first")
    assert claim(database, job_id, "second") is None
    assert claim(database, 999, "second") is None


def test_unknown_run_numbers_are_not_found(database: Database, job_id: int) -> None:
    with database.session(writes=False) as session, pytest.raises(NotFound, match=r"no job \d"):
        service.get(session, job_id + 1)


def test_text_with_any_characters_is_stored(database: Database, job_id: int) -> None:
    claim(database, job_id, "first")
    with database.session(writes=True) as session:
        service.end(
            session,
            job_id,
            "first",
            JobState.ASKS,
            sentence="caf\u00e9",
            log="\u20ac\n",
            asks={"messages": ["\u00fc"]},
        )
    assert job(database, job_id).asks == Asks(messages=("\u00fc",))
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT sentence FROM job_runs")).scalar() == "caf\u00e9"


def test_log_keeps_its_beginning_and_its_end() -> None:
    log = Log()
    for number in range(20_000):
        log.add(f"line {number}")
    found = log.text()
    assert "line 0\n" in found
    assert "line 19999\n" in found
    assert "lines omitted" in found
    assert len(found) < HEAD_CHARACTERS + TAIL_CHARACTERS + 100
    shown = found.count(" line ")
    omitted = int(found.partition("... ")[2].partition(" lines")[0])
    assert shown + omitted == 20_000


def test_log_lines_stay_separate() -> None:
    log = Log()
    log.add("a\x1b[31m red\r\n")
    log.add("x" * 10_000)
    first, second, _ = log.text().split("\n")
    assert first.endswith("a?[31m red")
    assert len(second) < LONGEST_LINE + 30


def test_log_continues_after_a_run_is_resumed() -> None:
    log = Log()
    log.add("before")
    more = Log(log.text())
    more.add("after")
    assert [line.rpartition(" ")[2] for line in more.text().splitlines()] == ["before", "after"]
