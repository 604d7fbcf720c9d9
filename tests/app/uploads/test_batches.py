"""Batches: files sent together, on both databases; the estimate of the remaining time; and the pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from sqlalchemy import URL, event, text
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.errors import JobBusy
from app.jobs.models import JobState
from app.uploads import batches, receive, service
from app.uploads.repository import BatchFileRow
from tests.app.uploads.support import (
    READS,
    app_for,
    form_body,
    job,
    job_id_of,
    post_form,
    received,
    run_keeper,
    set_state,
    settings_for,
    whole_files,
)
from tests.app.web.pages.html import Element, read
from tests.app.web.support import call, get

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def send(database: Database, folder: Path, content: str, batch: str) -> int:
    """Upload a file as part of a batch and return the number of its run."""
    found = received(folder, content.encode())
    with database.session(writes=True) as session:
        outcome = service.keep(
            session, found, filename="night.smf", said=service.UploadDetails(), batch=batch
        )
    return job_id_of(outcome)


def progress(database: Database, batch: str) -> batches.BatchProgress | None:
    with database.session(writes=False) as session:
        return batches.progress(session, batch, now=datetime.now(UTC))


def current(database: Database, *, later: timedelta = timedelta()) -> list[str]:
    with database.session(writes=False) as session:
        return [each.batch for each in batches.current(session, now=datetime.now(UTC) + later)]


# ---- progress --------------------------------------------------------------------------------------------------------


def test_batches_of_two_users_at_the_same_time_stay_apart(database: Database, tmp_path: Path) -> None:
    for number in range(3):
        send(database, tmp_path, f"one {number}", "one")
        send(database, tmp_path, f"two {number}", "two")
    send(database, tmp_path, "one 0", "two")
    one, two = progress(database, "one"), progress(database, "two")
    assert one is not None
    assert two is not None
    assert (one.files, two.files) == (3, 4)
    assert sorted(current(database)) == ["one", "two"]


def test_file_that_is_sent_twice_is_in_its_batch_once(database: Database, tmp_path: Path) -> None:
    send(database, tmp_path, "text", "one")
    send(database, tmp_path, "text", "one")
    found = progress(database, "one")
    assert found is not None
    assert found.files == 1


def test_batch_counts_the_states_of_the_last_runs(database: Database, tmp_path: Path) -> None:
    ids = [send(database, tmp_path, f"{number}", "one") for number in range(6)]
    for job_id, state in zip(
        ids, (JobState.DONE, JobState.DONE, JobState.FAILED, JobState.ASKS, JobState.RUNNING), strict=False
    ):
        set_state(database, job_id, state)
    found = progress(database, "one")
    assert found is not None
    assert (found.stored, found.failed, found.asks, found.waiting) == (2, 1, 1, 2)
    assert replace(found, seconds_left=None).sentence == "2 of 6 read, 1 failed, 1 needs your input"
    assert replace(found, seconds_left=96).sentence.endswith("input, about 2 min left")


def test_failed_files_of_a_batch_are_read_again(database: Database, tmp_path: Path) -> None:
    ids = [send(database, tmp_path, f"{number}", "one") for number in range(3)]
    other = send(database, tmp_path, "other", "two")
    for job_id in (ids[0], ids[1], other):
        set_state(database, job_id, JobState.FAILED)
    with database.session(writes=True) as session:
        assert service.read_failed_again(session, "one") == 2
    found = progress(database, "one")
    assert found is not None
    assert (found.failed, found.waiting) == (0, 3)
    assert job(database, other).state == JobState.FAILED


def test_claims_are_locked_before_failed_files(database: Database, tmp_path: Path) -> None:
    # All transactions take the locks in this order; another one would be a deadlock.
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    set_state(database, send(database, tmp_path, "text", "one"), JobState.FAILED)
    statements: list[str] = []
    with database.session(writes=True) as session:
        event.listen(
            session.get_bind(), "before_cursor_execute", lambda *arguments: statements.append(arguments[2])
        )
        assert service.read_failed_again(session, "one") == 1
    (row,) = (nth for nth, each in enumerate(statements) if "FOR UPDATE OF uploads" in each)
    claims = next(nth for nth, each in enumerate(statements) if "pg_advisory_xact_lock" in each)
    assert claims < row


def test_form_with_several_files_and_a_repeated_read_do_not_deadlock(
    database: Database, tmp_path: Path
) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    contents = ("first", "second")
    for content in contents:
        set_state(database, send(database, tmp_path, content, ""), JobState.FAILED)

    def try_again() -> JobBusy | None:
        try:
            with database.session(writes=True) as session:
                service.read_again(session, 2, service.UploadDetails(kind="messages"), data_dir=tmp_path)
        except JobBusy as error:
            return error
        return None

    with ThreadPoolExecutor(1) as pool, database.session(writes=True) as session:
        keep_again(session, tmp_path, contents[0])
        other = pool.submit(try_again)
        wait_until(lambda: other.done() or waits_for_a_lock(database))
        keep_again(session, tmp_path, contents[1])  # would wait for the row of the other transaction
        session.commit()
        # The form was first, so the file is already queued.
        assert other.result(timeout=60) is not None
    assert job(database, 3).state == job(database, 4).state == JobState.QUEUED


def keep_again(session: Session, folder: Path, content: str) -> None:
    said = service.UploadDetails(kind="template")
    found = received(folder, content.encode())
    assert not service.keep(session, found, filename="night.smf", said=said, batch="").is_new


def waits_for_a_lock(database: Database) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with database.engine.connect() as connection:
        return bool(connection.execute(text(query)).scalar())


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("The other transaction neither ended nor waited.")


def test_deleted_upload_leaves_its_batch(database: Database, tmp_path: Path) -> None:
    send(database, tmp_path, "text", "one")
    with database.session(writes=True) as session:
        service.delete(session, 1, data_dir=tmp_path)
    assert progress(database, "one") is None


def test_stored_batch_is_current_for_some_minutes_only(database: Database, tmp_path: Path) -> None:
    set_state(database, send(database, tmp_path, "text", "one"), JobState.DONE)
    assert current(database) == ["one"]
    assert current(database, later=timedelta(hours=1)) == []


def test_only_recent_batches_are_read(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_RECENT", 2)
    for number in range(3):
        send(database, tmp_path, f"{number}", f"batch-{number}")
    assert current(database) == ["batch-2", "batch-1"]


def test_batch_with_failed_files_is_current_for_days(database: Database, tmp_path: Path) -> None:
    set_state(database, send(database, tmp_path, "text", "one"), JobState.FAILED)
    assert current(database, later=timedelta(days=1)) == ["one"]
    assert current(database, later=timedelta(days=8)) == []


# ---- the estimate ----------------------------------------------------------------------------------------------------


def files(
    *, read: int, waiting: int, seconds_each: float = 2, bytes_read: int = 1000, bytes_waiting: int = 1000
) -> Sequence[BatchFileRow]:
    """Return a batch of which the last file was read now."""
    begun = NOW - timedelta(seconds=seconds_each * read)
    ended = [NOW - timedelta(seconds=seconds_each * number) for number in range(read)]
    return [
        *(BatchFileRow("one", begun, bytes_read, JobState.DONE, each) for each in ended),
        *(BatchFileRow("one", begun, bytes_waiting, JobState.QUEUED, None) for _ in range(waiting)),
    ]


def test_estimate_is_the_time_per_file_for_the_waiting_files() -> None:
    assert batches.seconds_left(files(read=57, waiting=61), now=NOW) == pytest.approx(122)


def test_estimate_increases_with_the_length_of_the_waiting_files() -> None:
    found = batches.seconds_left(files(read=10, waiting=10, bytes_waiting=1500), now=NOW)
    assert found == pytest.approx(30)


def test_estimate_does_not_decrease_for_shorter_files() -> None:
    found = batches.seconds_left(files(read=10, waiting=10, bytes_waiting=10), now=NOW)
    assert found == pytest.approx(20)


def test_time_since_the_last_file_is_part_of_the_estimate() -> None:
    found = batches.seconds_left(files(read=10, waiting=10), now=NOW + timedelta(seconds=1))
    assert found == pytest.approx(19)


@pytest.mark.parametrize(
    "found",
    [
        files(read=0, waiting=10),
        files(read=3, waiting=10),
        files(read=10, waiting=0),
        files(read=10, waiting=10, bytes_waiting=2001),
    ],
    ids=["nothing read", "too few files read", "nothing waits", "much larger files wait"],
)
def test_estimate_is_absent_until_it_can_be_given(found: Sequence[BatchFileRow]) -> None:
    assert batches.seconds_left(found, now=NOW) is None


def test_estimate_is_absent_while_nothing_is_read() -> None:
    assert batches.seconds_left(files(read=10, waiting=10), now=NOW + timedelta(minutes=2)) is None


def test_files_read_before_a_pause_are_not_measured() -> None:
    later = NOW + timedelta(hours=1)
    first = files(read=10, waiting=0)
    again = [
        replaced._replace(ended_at=later - timedelta(seconds=3 * at)) for at, replaced in enumerate(first[:6])
    ]
    waiting = [BatchFileRow("one", NOW, 1000, JobState.QUEUED, None)] * 10
    assert batches.seconds_left([*first[6:], *again, *waiting], now=later) == pytest.approx(30)


def test_files_read_before_the_batch_began_are_not_measured() -> None:
    before = [
        BatchFileRow("one", NOW, 1000, JobState.DONE, NOW - timedelta(days=number)) for number in range(1, 9)
    ]
    waiting = BatchFileRow("one", NOW, 1000, JobState.QUEUED, None)
    assert batches.seconds_left([*before, waiting], now=NOW) is None


# ---- pages and REST --------------------------------------------------------------------------------------------------


@pytest.fixture
def app(url: URL, tmp_path: Path, database: Database) -> FastAPI:
    assert database.revision()
    return app_for(url, tmp_path)


def html(app: FastAPI, address: str) -> Element:
    answer = get(app, address, accept="text/html")
    assert answer.status == 200, answer.text
    return read(answer.text)


def names(app: FastAPI, address: str) -> list[str]:
    return [row.one("th").text.strip() for row in html(app, address).one("tbody").all("tr")]


def test_list_is_filtered_by_batch_and_state(app: FastAPI, database: Database) -> None:
    for number in range(4):
        batch = "&batch=mine" if number else ""
        call(app, "POST", f"/api/v1/uploads?name={number}.smf{batch}", chunks=[b"%d" % number])
    set_state(database, 2, JobState.FAILED)
    set_state(database, 3, JobState.ASKS)
    assert names(app, "/uploads") == ["3.smf", "2.smf", "1.smf", "0.smf"]
    assert names(app, "/uploads?batch=mine") == ["3.smf", "2.smf", "1.smf"]
    assert names(app, "/uploads?batch=mine&state=failed") == ["1.smf"]
    assert names(app, "/uploads?state=input") == ["2.smf"]
    assert names(app, "/uploads?state=waiting") == ["3.smf", "0.smf"]
    assert "No upload is in this state." in html(app, "/uploads?state=stored").one("main").text
    assert names(app, "/uploads?state=other&batch=%20") == names(app, "/uploads")
    assert "no files in this batch" in html(app, "/uploads?batch=other").one("main").text
    counts = [each.text for each in html(app, "/uploads?batch=mine").one("nav", id="states").all("a")]
    assert counts == ["All 3", "Needs your input 1", "Failed 1", "Waiting 1", "Stored 0"]


def test_invalid_batch_is_refused(app: FastAPI) -> None:
    assert call(app, "POST", "/api/v1/uploads?name=a.smf&batch=%20", chunks=[b"1"]).status == 422


def test_file_without_usage_data_is_not_called_stored(
    app: FastAPI, database: Database, tmp_path: Path, url: URL
) -> None:
    for content in (READS, "nothing\n"):
        call(app, "POST", "/api/v1/uploads?name=a.smf", chunks=[content.encode()])
    for job_id in (1, 2):
        run_keeper(database, settings_for(url, tmp_path), job_id)
    states = [row.all("td")[0].text for row in html(app, "/uploads").one("tbody").all("tr")]
    assert states == ["Read, no usage data", "Stored"]


def test_failed_files_are_tried_again_from_the_page(app: FastAPI, database: Database) -> None:
    call(app, "POST", "/api/v1/uploads?name=a.smf&batch=mine", chunks=[b"1"])
    set_state(database, 1, JobState.FAILED)
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    for batch, place in (
        ("mine", "/uploads?batch=mine&said=retried"),
        ("mine", "/uploads"),
        ("", "/uploads"),
    ):
        answer = call(
            app, "POST", "/uploads/retry", headers=headers, chunks=[urlencode({"batch": batch}).encode()]
        )
        assert (answer.status, answer.headers["location"]) == (303, place)


def test_form_with_more_than_a_hundred_files_is_accepted(app: FastAPI) -> None:
    body = form_body(*(("file", f"{number}.smf", b"%d" % number) for number in range(118)))
    address = post_form(app, "/uploads", body).headers["location"]
    assert "0 of 118 read" in html(app, address).one("main").text


def test_form_with_too_many_files_stores_none(
    app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    monkeypatch.setattr(receive, "MOST_FILES", 2)
    body = form_body(*(("file", f"{number}.smf", b"%d" % number) for number in range(3)))
    assert post_form(app, "/uploads", body).status == 422
    assert whole_files(tmp_path / "data") == []
    assert list((tmp_path / "data" / "uploads" / "incoming").iterdir()) == []
    with database.session(writes=False) as session:
        assert session.scalar(text("SELECT count(*) FROM uploads")) == 0
