"""Uploads in the database: stored once, read again, deleted, and removed after their retention; on both databases."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from app.database.engine import Database
from app.database.transactions import after_commit
from app.errors import FieldsInvalid, JobBusy, NotFound, NotKept
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.paging import PageRequest
from app.uploads import files, qsg_map, service
from app.uploads.service import UploadDetails, UploadOutcome
from tests.app.uploads.support import job_id_of, keep, placed, set_state, whole_files

STALE = timedelta(seconds=60)


def again(
    database: Database,
    data_dir: Path,
    upload_id: int,
    said: UploadDetails,
    qsg: dict[tuple[str, str], str] | None = None,
) -> None:
    with database.session(writes=True) as session:
        service.read_again(session, upload_id, said, data_dir=data_dir, qsg=qsg)


def test_file_becomes_an_upload_with_a_waiting_job(database: Database, tmp_path: Path) -> None:
    outcome = keep(database, tmp_path, "text", filename="C:\\night.smf")
    assert outcome.is_new
    assert (outcome.upload.filename, outcome.upload.size_bytes) == ("night.smf", 4)
    assert outcome.upload.job is not None
    assert outcome.upload.job.state == JobState.QUEUED
    assert outcome.upload.job.upload_id == outcome.upload.id


def test_kind_is_detected_and_can_be_overridden(database: Database, tmp_path: Path) -> None:
    dump = bytes.fromhex("00120000 1e02 00000001 0126325f e2e8e2c1 d4d8f140".replace(" ", "")) * 40
    found = keep(database, tmp_path, dump).upload
    told = keep(
        database, tmp_path, b"CSQM201I +CSQ1 DIS CFSTATUS DETAILS", said=UploadDetails(kind="template")
    ).upload
    assert service.kind_of(told) == "template"
    assert told.kind == "template"
    assert found.kind == ""
    assert service.kind_of(found) in {"smf", None}


def test_repeated_file_creates_no_upload_and_is_not_read_again(database: Database, tmp_path: Path) -> None:
    first = keep(database, tmp_path, "text")
    second = keep(database, tmp_path, "text", filename="other.smf")
    assert not second.is_new
    assert second.upload == first.upload
    assert len(whole_files(tmp_path)) == 1


def test_same_display_at_another_time_creates_another_upload(database: Database, tmp_path: Path) -> None:
    ids = {
        keep(
            database, tmp_path, "DIS", said=UploadDetails(observed_at=f"2024-11-21T{hour}", zone="UTC")
        ).upload.id
        for hour in ("09:30", "10:30", "10:30:00")
    }
    assert len(ids) == 2
    assert len(whole_files(tmp_path)) == 1


def test_same_display_at_the_same_time_in_another_zone_creates_another_upload(
    database: Database, tmp_path: Path
) -> None:
    said = [
        UploadDetails(observed_at="2024-11-21T09:30", zone=zone)
        for zone in ("UTC", "+01:00", "America/New_York")
    ]
    assert len({keep(database, tmp_path, "DIS", said=each).upload.id for each in said}) == 3
    assert len(whole_files(tmp_path)) == 1


def test_display_at_the_same_instant_in_two_zones_creates_one_upload(
    database: Database, tmp_path: Path
) -> None:
    said = [
        UploadDetails(observed_at="2024-11-21T09:30", zone="Europe/Berlin"),
        UploadDetails(observed_at="2024-11-21T08:30", zone="UTC"),
        UploadDetails(observed_at="2024-11-21T03:30-05:00"),
    ]
    found = [keep(database, tmp_path, "DIS", said=each).upload for each in said]
    assert len({upload.id for upload in found}) == 1
    assert found[0].observed_utc == "2024-11-21T08:30:00Z"


def test_another_zone_changes_the_instant_and_may_match_an_existing_upload(
    database: Database, tmp_path: Path
) -> None:
    noon = UploadDetails(observed_at="2024-11-21T12:00", zone="UTC")
    there = keep(database, tmp_path, "DIS", said=noon)
    other = keep(database, tmp_path, "DIS", said=UploadDetails(observed_at="2024-11-21T13:00", zone="UTC"))
    for outcome in (there, other):
        set_state(database, job_id_of(outcome), JobState.DONE)
    with pytest.raises(FieldsInvalid, match=f"Upload {there.upload.id} has the same text"):
        again(database, tmp_path, other.upload.id, UploadDetails(zone="+01:00"))
    again(database, tmp_path, other.upload.id, UploadDetails(zone="+02:00"))
    with database.session(writes=False) as session:
        assert service.get(session, other.upload.id).observed_utc == "2024-11-21T11:00:00Z"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (UploadDetails(observed_at="2024-03-31T02:30", zone="Europe/Berlin"), "skipped that hour"),
        (
            UploadDetails(observed_at="2024-10-27T02:30", zone="Europe/Berlin"),
            r"2024-10-27T02:30\+02:00 or 2024-10-27T02:30\+01:00",
        ),
        (UploadDetails(observed_at="9999-12-31T23:30-05:00"), "is not a possible time"),
        (UploadDetails(observed_at="1926-11-21T09:30Z"), "before 1990"),
    ],
)
def test_skipped_or_repeated_local_time_is_refused(said: UploadDetails, words: str) -> None:
    with pytest.raises(FieldsInvalid, match=words) as refused:
        said.checked()
    assert [problem.field for problem in refused.value.problems] == ["observed_at"]


def test_repeated_local_time_is_accepted_with_its_offset() -> None:
    first, second = (
        UploadDetails(observed_at=f"2024-10-27T02:30+0{hours}:00", zone="Europe/Berlin").checked()
        for hours in (2, 1)
    )
    assert (first.observed_utc, second.observed_utc) == ("2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z")


def test_time_more_than_a_day_ahead_is_refused() -> None:
    now = datetime.now(UTC)
    UploadDetails(observed_at=(now + timedelta(hours=23)).isoformat()).checked()
    with pytest.raises(FieldsInvalid, match="is in the future") as refused:
        UploadDetails(observed_at=(now + timedelta(hours=25)).isoformat()).checked()
    assert [problem.field for problem in refused.value.problems] == ["observed_at"]


def test_zone_of_a_stored_time_cannot_be_removed(database: Database, tmp_path: Path) -> None:
    outcome = keep(database, tmp_path, "DIS", said=UploadDetails(observed_at="2024-11-21T12:00", zone="UTC"))
    set_state(database, job_id_of(outcome), JobState.DONE)
    with pytest.raises(FieldsInvalid, match="time zone of that time"):
        again(database, tmp_path, outcome.upload.id, UploadDetails(zone=""))


def test_unreadable_file_is_read_again_when_uploaded_again(database: Database, tmp_path: Path) -> None:
    first = keep(database, tmp_path, "text")
    set_state(database, job_id_of(first), JobState.FAILED)
    second = keep(database, tmp_path, "text", said=UploadDetails(kind="template"))
    assert not second.is_new
    assert second.upload.id == first.upload.id
    assert second.upload.kind == "template"
    assert job_id_of(second) > job_id_of(first)


def test_offset_in_the_time_takes_precedence_over_a_zone() -> None:
    said = UploadDetails(observed_at="2024-11-20T09:30+05:45", zone="Asia/Tokyo").checked()
    assert (said.observed_at, said.zone) == ("2024-11-20T09:30:00", "+05:45")


@pytest.mark.parametrize("state", [JobState.DONE, JobState.ASKS])
def test_file_already_read_or_waiting_for_answers_is_not_read_again(
    database: Database, tmp_path: Path, state: JobState
) -> None:
    first = keep(database, tmp_path, "text")
    set_state(database, job_id_of(first), state)
    assert job_id_of(keep(database, tmp_path, "text")) == job_id_of(first)


def test_concurrent_uploads_of_one_file_create_one_upload(database: Database, tmp_path: Path) -> None:
    outcomes: list[UploadOutcome] = []
    at_the_same_time(lambda: outcomes.append(keep(database, tmp_path, "text")), times=6)
    assert len(outcomes) == 6
    assert sum(outcome.is_new for outcome in outcomes) == 1
    assert len({outcome.upload.id for outcome in outcomes}) == 1
    with database.session(writes=False) as session:
        assert session.execute(text("SELECT count(*) FROM job_runs")).scalar() == 1


def at_the_same_time(act: Callable[[], object], *, times: int) -> None:
    threads = [threading.Thread(target=act) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (UploadDetails(kind="vsam"), "kind"),
        (UploadDetails(observed_at="yesterday", zone="UTC"), "observed_at"),
        (UploadDetails(observed_at="2199-01-01T09:30", zone="UTC"), "observed_at"),
        (UploadDetails(observed_at="2026-02-30T09:30", zone="UTC"), "observed_at"),
        (UploadDetails(observed_at="2024-11-21T09:30"), "zone"),
        (UploadDetails(observed_at="2024-11-21T09:30", zone="Mars/Olympus"), "zone"),
        (UploadDetails(zone="+25:00"), "zone"),
        (UploadDetails(zone="../../etc/localtime"), "zone"),
    ],
)
def test_impossible_time_is_refused_at_its_field(said: UploadDetails, field: str) -> None:
    with pytest.raises(FieldsInvalid) as refused:
        said.checked()
    assert [problem.field for problem in refused.value.problems] == [field]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (UploadDetails(observed_at="2024-11-21 09:30", zone="-05:00"), ("2024-11-21T09:30:00", "-05:00")),
        (UploadDetails(observed_at="2024-11-21T09:30+01:00"), ("2024-11-21T09:30:00", "+01:00")),
        (UploadDetails(observed_at="2024-11-21T09:30Z"), ("2024-11-21T09:30:00", "+00:00")),
        (
            UploadDetails(observed_at="2024-11-21T09:30", zone="Europe/Berlin"),
            ("2024-11-21T09:30:00", "Europe/Berlin"),
        ),
        (UploadDetails(zone=" utc "), (None, "UTC")),
        (UploadDetails(observed_at="", zone=""), ("", "")),
    ],
)
def test_time_and_zone_are_normalized(said: UploadDetails, meant: tuple[str | None, str]) -> None:
    found = said.checked()
    assert (found.observed_at, found.zone) == meant


def test_answers_are_stored_in_the_map_and_the_file_is_read_again(database: Database, tmp_path: Path) -> None:
    outcome = keep(database, tmp_path, "text")
    set_state(database, job_id_of(outcome), JobState.ASKS)
    again(
        database,
        tmp_path,
        outcome.upload.id,
        UploadDetails(),
        {("SYSA", "CSQ1"): "SQ03", ("SYSB", "CSQ2"): ""},
    )
    with database.session(writes=False) as session:
        assert qsg_map.as_arguments(session) == ["SYSA:CSQ1=SQ03", "SYSB:CSQ2="]
        found = service.get(session, outcome.upload.id)
        assert found.job is not None
        assert found.job.state == JobState.QUEUED
        assert jobs.get(session, job_id_of(outcome)).state == JobState.FAILED


def test_invalid_answer_changes_nothing(database: Database, tmp_path: Path) -> None:
    outcome = keep(database, tmp_path, "text")
    set_state(database, job_id_of(outcome), JobState.ASKS)
    with pytest.raises(FieldsInvalid):
        again(
            database, tmp_path, outcome.upload.id, UploadDetails(zone="nowhere"), {("SYSA", "CSQ1"): "SQ03"}
        )
    with database.session(writes=False) as session:
        assert qsg_map.as_arguments(session) == []
        assert jobs.get(session, job_id_of(outcome)).state == JobState.ASKS


def test_upload_being_read_cannot_be_read_again_or_deleted(database: Database, tmp_path: Path) -> None:
    outcome = keep(database, tmp_path, "text")
    with pytest.raises(JobBusy):
        again(database, tmp_path, outcome.upload.id, UploadDetails())
    set_state(database, job_id_of(outcome), JobState.RUNNING)
    with pytest.raises(JobBusy):
        again(database, tmp_path, outcome.upload.id, UploadDetails())
    with pytest.raises(JobBusy):
        delete(database, outcome.upload.id, tmp_path)
    assert len(whole_files(tmp_path)) == 1


def delete(database: Database, upload_id: int, data_dir: Path) -> None:
    with database.session(writes=True) as session:
        service.delete(session, upload_id, data_dir=data_dir)


def test_deleting_an_upload_removes_a_file_that_no_other_upload_uses(
    database: Database, tmp_path: Path
) -> None:
    first, second = (
        keep(
            database, tmp_path, "DIS", said=UploadDetails(observed_at=f"2024-11-21T{hour}:00", zone="UTC")
        ).upload
        for hour in ("09", "10")
    )
    delete(database, first.id, tmp_path)
    assert len(whole_files(tmp_path)) == 1
    delete(database, second.id, tmp_path)
    assert whole_files(tmp_path) == []
    with database.session(writes=False) as session, pytest.raises(NotFound, match=r"no upload \d"):
        service.get(session, first.id)
    with database.session(writes=False) as session:
        assert session.execute(text("SELECT count(*) FROM job_runs")).scalar() == 0


def test_rolled_back_deletion_keeps_the_file(database: Database, tmp_path: Path) -> None:
    upload = keep(database, tmp_path, "text").upload
    with database.session(writes=True) as session:
        service.delete(session, upload.id, data_dir=tmp_path)
        session.rollback()
    assert len(whole_files(tmp_path)) == 1


@pytest.mark.parametrize("is_undone_in_part", [False, True])
def test_savepoint_does_not_trigger_actions_after_commit(database: Database, is_undone_in_part: bool) -> None:
    done: list[str] = []
    with database.session(writes=True) as session:
        after_commit(session, lambda: done.append("done"))
        nested = session.begin_nested()
        if is_undone_in_part:
            nested.rollback()
        else:
            nested.commit()
        assert done == []
    assert done == ["done"]


def test_old_files_are_removed_and_their_uploads_stay_listed(database: Database, tmp_path: Path) -> None:
    days = {"old": 40.0, "young": 3.0, "waiting": 0.0}
    uploads = {name: keep(database, tmp_path, name) for name in days}
    for name in ("old", "young"):
        set_state(database, job_id_of(uploads[name]), JobState.DONE, ended_days_ago=days[name])
    with database.session(writes=True) as session:
        assert service.remove_old_files(session, data_dir=tmp_path, kept=timedelta(days=30)) == 1
    assert len(whole_files(tmp_path)) == 2
    with database.session(writes=False) as session:
        assert service.get(session, uploads["old"].upload.id).removed_at is not None
        assert service.get(session, uploads["young"].upload.id).removed_at is None
    with pytest.raises(NotKept, match="was removed after it had been read"):
        again(database, tmp_path, uploads["old"].upload.id, UploadDetails())
    back = keep(database, tmp_path, "old")  # brought again, it is there again
    assert back.upload.removed_at is None
    assert len(whole_files(tmp_path)) == 3


def test_file_without_an_upload_is_removed_a_week_after_it_was_found(
    database: Database, tmp_path: Path
) -> None:
    orphan = placed(tmp_path, b"orphan")
    with database.session(writes=True) as session:
        assert service.remove_old_files(session, data_dir=tmp_path, kept=timedelta(0)) == 0
    path = files.path_of(tmp_path, orphan.sha256)
    os.utime(path, (1, 1))
    with database.session(writes=True) as session:
        assert service.remove_old_files(session, data_dir=tmp_path, kept=timedelta(0)) == 0
    mark = path.with_name(f"{path.name}{files.NO_UPLOAD}")
    eight_days_ago = time.time() - 8 * 86_400
    os.utime(mark, (eight_days_ago, eight_days_ago))
    with database.session(writes=True) as session:
        assert service.remove_old_files(session, data_dir=tmp_path, kept=timedelta(days=30)) == 0
        assert service.remove_old_files(session, data_dir=tmp_path, kept=timedelta(0)) == 1
    assert whole_files(tmp_path) == []
    assert not mark.exists()


def test_uploads_are_listed_newest_first_a_page_at_a_time(database: Database, tmp_path: Path) -> None:
    for name in "abcde":
        keep(database, tmp_path, name, filename=name)
    with database.session(writes=False) as session:
        pages = [service.list_uploads(session, PageRequest(page, 2)) for page in (1, 2, 3, 4)]
    assert [[item.filename for item in page.items] for page in pages] == [["e", "d"], ["c", "b"], ["a"], []]
    assert {(page.total, page.pages) for page in pages} == {(5, 3)}
    assert all(item.job is not None for page in pages for item in page.items)


def test_upload_has_no_report_before_it_is_read(database: Database, tmp_path: Path) -> None:
    upload = keep(database, tmp_path, "text").upload
    with database.session(writes=False) as session, pytest.raises(NotKept, match="no report on upload"):
        service.report(session, upload.id)


def test_map_entries_are_sorted_changed_and_deleted(database: Database) -> None:
    with database.session(writes=True) as session:
        for entry in (("SYSB", "CSQ2", "SQ03"), ("sysa", "csq1", "sq03"), ("SYSA", "CSQ1", "SQ04")):
            qsg_map.put(session, *entry)
        assert qsg_map.as_arguments(session) == ["SYSA:CSQ1=SQ04", "SYSB:CSQ2=SQ03"]
        qsg_map.remove(session, "SYSA", "CSQ1")
        with pytest.raises(NotFound, match="no entry for the queue manager"):
            qsg_map.remove(session, "SYSA", "CSQ1")
        assert [entry.queue_manager for entry in qsg_map.entries(session)] == ["CSQ2"]


@pytest.mark.parametrize(
    ("entry", "field"),
    [(("", "CSQ1", "SQ03"), "system_id"), (("SYSAB", "CSQ1", "SQ03"), "system_id"), (("SYSA", "1CSQ", "SQ03"), "queue_manager"), (("SYSA", "CSQ1", "SQ033"), "qsg")],
)  # fmt: skip
def test_impossible_names_are_refused_at_their_field(entry: tuple[str, str, str], field: str) -> None:
    with pytest.raises(FieldsInvalid) as refused:
        qsg_map.checked(*entry)
    assert [problem.field for problem in refused.value.problems] == [field]
