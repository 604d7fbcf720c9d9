"""Concurrent upload and deletion of the same bytes: a confirmed upload never loses its file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.errors import JobBusy, NotFound
from app.jobs.models import JobState
from app.paging import PageRequest
from app.uploads import files, repository, service
from app.uploads.service import UploadDetails, UploadOutcome
from tests.app.uploads.support import NOTHING_SAID, job_id_of, keep, placed, received, set_state, whole_files

AT_NINE = UploadDetails(observed_at="2024-11-21T09:00", zone="UTC")
TEXT = "the same bytes"
LONG_ENOUGH_S = 0.5
"""Time in which an unobstructed upload finishes."""


def delete(database: Database, upload_id: int, data_dir: Path) -> None:
    with database.session(writes=True) as session:
        service.delete(session, upload_id, data_dir=data_dir)


def clean_up(database: Database, data_dir: Path) -> None:
    with database.session(writes=True) as session:
        service.remove_old_files(session, data_dir=data_dir, kept=timedelta(days=30))


def uploads_without_file(database: Database, data_dir: Path) -> list[int]:
    """Return the uploads whose file is missing."""
    with database.session(writes=False) as session:
        items = service.list_uploads(session, PageRequest(per_page=200)).items
    return [
        item.id
        for item in items
        if item.removed_at is None and not files.path_of(data_dir, item.sha256).exists()
    ]


@pytest.fixture
def upload_during_removal(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], UploadOutcome]:
    """Start an upload of the same bytes just before a file is removed; the returned function waits for it."""
    outcomes: list[UploadOutcome] = []
    upload = threading.Thread(target=lambda: outcomes.append(keep(database, tmp_path, TEXT)))
    remove = files.remove

    def slowly(data_dir: Path, sha256: str) -> None:
        upload.start()
        upload.join(timeout=LONG_ENOUGH_S)
        remove(data_dir, sha256)

    monkeypatch.setattr(files, "remove", slowly)

    def wait() -> UploadOutcome:
        upload.join()
        return outcomes[0]

    return wait


def test_file_uploaded_while_a_deletion_removes_it_is_kept(
    database: Database, tmp_path: Path, upload_during_removal: Callable[[], UploadOutcome]
) -> None:
    delete(database, keep(database, tmp_path, TEXT).upload.id, tmp_path)
    assert upload_during_removal().is_new
    assert uploads_without_file(database, tmp_path) == []


def test_file_uploaded_while_the_cleanup_removes_it_is_kept(
    database: Database, tmp_path: Path, upload_during_removal: Callable[[], UploadOutcome]
) -> None:
    set_state(database, job_id_of(keep(database, tmp_path, TEXT)), JobState.DONE, ended_days_ago=40)
    clean_up(database, tmp_path)
    assert upload_during_removal().upload.removed_at is None
    assert uploads_without_file(database, tmp_path) == []


def test_file_uploaded_while_the_cleanup_removes_it_without_a_row_is_kept(
    database: Database, tmp_path: Path, upload_during_removal: Callable[[], UploadOutcome]
) -> None:
    path = placed(tmp_path, TEXT.encode()).target
    mark = path.with_name(f"{path.name}{files.NO_UPLOAD}")
    mark.touch()  # by an earlier cleanup, which found no upload
    for each in (path, mark):
        os.utime(each, (1, 1))
    clean_up(database, tmp_path)
    assert upload_during_removal().is_new
    assert uploads_without_file(database, tmp_path) == []


@pytest.mark.parametrize("kind", ["deletion", "cleanup"])
def test_file_uploaded_between_commit_and_removal_is_kept(
    kind: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = keep(database, tmp_path, TEXT)
    set_state(database, job_id_of(first), JobState.DONE, ended_days_ago=40)
    hold = repository.hold_files
    held: list[str] = []

    def upload_before_the_second(session: Session) -> None:
        held.append("")
        if len(held) == 2:
            keep(database, tmp_path, TEXT)
        hold(session)

    monkeypatch.setattr(repository, "hold_files", upload_before_the_second)
    if kind == "deletion":
        delete(database, first.upload.id, tmp_path)
    else:
        clean_up(database, tmp_path)
    assert len(held) == 3, "the deletion, the removal and the upload"
    assert uploads_without_file(database, tmp_path) == []
    assert len(whole_files(tmp_path)) == 1


@pytest.mark.parametrize("said", [NOTHING_SAID, AT_NINE], ids=["the same upload", "another upload"])
def test_file_received_before_a_deletion_and_stored_after_it_is_kept(
    database: Database, tmp_path: Path, said: UploadDetails
) -> None:
    first = keep(database, tmp_path, TEXT, said=said).upload
    arrived = received(tmp_path, TEXT.encode())
    delete(database, first.id, tmp_path)
    with database.session(writes=True) as session:
        service.keep(session, arrived, filename="night.smf", said=NOTHING_SAID)
    assert uploads_without_file(database, tmp_path) == []
    assert len(whole_files(tmp_path)) == 1


def test_file_is_not_removed_between_its_arrival_and_the_commit_of_its_upload(
    database: Database, tmp_path: Path
) -> None:
    first = keep(database, tmp_path, TEXT, said=AT_NINE).upload
    arrived = received(tmp_path, TEXT.encode())
    deletion = threading.Thread(target=lambda: delete(database, first.id, tmp_path))
    with database.session(writes=True) as session:
        service.keep(session, arrived, filename="night.smf", said=NOTHING_SAID)
        deletion.start()
        deletion.join(timeout=LONG_ENOUGH_S)
    deletion.join()
    assert uploads_without_file(database, tmp_path) == []
    assert len(whole_files(tmp_path)) == 1


def test_many_rounds_of_uploads_deletions_and_cleanups_lose_no_file(
    database: Database, tmp_path: Path
) -> None:
    for number in range(15):
        content = f"{TEXT} {number}"
        first = keep(database, tmp_path, content).upload
        begin = threading.Barrier(4)

        def upload(content: str = content, begin: threading.Barrier = begin) -> None:
            begin.wait()
            keep(database, tmp_path, content)

        def forget(upload_id: int = first.id, begin: threading.Barrier = begin) -> None:
            begin.wait()
            with suppress(NotFound, JobBusy):
                delete(database, upload_id, tmp_path)

        def tidy(begin: threading.Barrier = begin) -> None:
            begin.wait()
            clean_up(database, tmp_path)

        threads = [threading.Thread(target=act) for act in (upload, upload, forget, tidy)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert uploads_without_file(database, tmp_path) == []
