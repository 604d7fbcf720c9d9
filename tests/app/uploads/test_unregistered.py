"""Files without an upload, and uploads without their file: found, registered, read again, removed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from app.cli import main
from app.database.engine import Database
from app.errors import NotFound, NotKept
from app.jobs import processes
from app.jobs.models import JobState
from app.uploads import files, service, unregistered
from app.uploads.service import UploadDetails
from app.uploads.unregistered import FileCheck
from tests.app.uploads.support import (
    READS,
    app_for,
    history,
    job_id_of,
    keep,
    placed,
    run_keeper,
    set_state,
    settings_for,
    whole_files,
)
from tests.app.web.support import call, get


def left(data_dir: Path, content: bytes = b"left") -> str:
    """Put a file that no upload has into the data folder, older than a request that is under way."""
    staged = placed(data_dir, content)
    os.utime(staged.target, (1, 1))
    return staged.sha256


def check(database: Database, data_dir: Path) -> FileCheck:
    with database.session(writes=False) as session:
        return unregistered.check_files(session, data_dir=data_dir)


def test_file_without_an_upload_is_found(database: Database, tmp_path: Path) -> None:
    keep(database, tmp_path, "known")
    digest = left(tmp_path, READS.encode())
    found = check(database, tmp_path)
    assert [(each.sha256, each.size_bytes, each.was_read) for each in found.unregistered] == [
        (digest, len(READS), False)
    ]
    assert found.missing == []


def test_file_of_an_upload_under_way_is_not_listed(database: Database, tmp_path: Path) -> None:
    placed(tmp_path, b"being committed")
    assert check(database, tmp_path).unregistered_total == 0


def test_upload_without_its_file_is_found(database: Database, tmp_path: Path) -> None:
    upload = keep(database, tmp_path, "gone", filename="gone.smf").upload
    read = keep(database, tmp_path, "read")
    files.remove(tmp_path, upload.sha256)
    with database.session(writes=True) as session:
        session.execute(
            text("UPDATE uploads SET removed_at = created_at WHERE id = :id"), {"id": read.upload.id}
        )
    files.remove(tmp_path, read.upload.sha256)
    found = check(database, tmp_path)
    assert [(each.id, each.filename) for each in found.missing] == [(upload.id, "gone.smf")]


def test_cheap_check_notices_a_difference(database: Database, tmp_path: Path) -> None:
    upload = keep(database, tmp_path, "known").upload

    def may_differ() -> bool:
        with database.session(writes=False) as session:
            return unregistered.may_differ(session, data_dir=tmp_path)

    assert not may_differ()
    digest = left(tmp_path)
    assert may_differ()
    files.remove(tmp_path, digest)
    files.remove(tmp_path, upload.sha256)
    assert may_differ()


def test_registered_file_is_read_and_keeps_its_bytes(url: URL, database: Database, tmp_path: Path) -> None:
    settings = settings_for(url, tmp_path)
    digest = left(settings.data_dir, READS.encode())
    with database.session(writes=True) as session:
        upload = service.register(session, digest, data_dir=settings.data_dir)
    assert upload.filename == f"recovered-{digest[:12]}"
    assert upload.job is not None
    assert run_keeper(database, settings, upload.job.id).state == JobState.DONE
    assert history(settings, READS) is not None
    assert check(database, settings.data_dir).unregistered_total == 0


def test_registering_gives_a_removed_file_back_to_its_uploads(database: Database, tmp_path: Path) -> None:
    outcome = keep(database, tmp_path, "text")
    set_state(database, job_id_of(outcome), JobState.DONE)
    with database.session(writes=True) as session:
        session.execute(text("UPDATE uploads SET removed_at = created_at"))
    os.utime(files.path_of(tmp_path, outcome.upload.sha256), (1, 1))
    (found,) = check(database, tmp_path).unregistered
    assert found.was_read
    with database.session(writes=True) as session:
        upload = service.register(session, found.sha256, data_dir=tmp_path)
    assert (upload.id, upload.removed_at) == (outcome.upload.id, None)
    assert upload.job is not None
    assert upload.job.state == JobState.QUEUED


def test_unknown_file_cannot_be_registered_or_removed(database: Database, tmp_path: Path) -> None:
    for action in (service.register, service.remove_unregistered):
        with database.session(writes=True) as session, pytest.raises(NotFound, match="no uploaded file"):
            action(session, "0" * 64, data_dir=tmp_path)


def test_file_of_an_upload_is_not_removed(database: Database, tmp_path: Path) -> None:
    upload = keep(database, tmp_path, "known").upload
    with (
        database.session(writes=True) as session,
        pytest.raises(NotKept, match=f"belongs to upload {upload.id}"),
    ):
        service.remove_unregistered(session, upload.sha256, data_dir=tmp_path)
    assert len(whole_files(tmp_path)) == 1


def test_upload_without_its_file_cannot_be_read_again(url: URL, tmp_path: Path) -> None:
    app = app_for(url, tmp_path)
    database: Database = app.state.database
    outcome = keep(database, tmp_path / "data", "gone")
    set_state(database, job_id_of(outcome), JobState.FAILED)
    files.remove(tmp_path / "data", outcome.upload.sha256)
    with database.session(writes=True) as session, pytest.raises(NotKept, match="not in the data folder"):
        service.read_again(session, outcome.upload.id, UploadDetails(), data_dir=tmp_path / "data")
    answer = call(app, "POST", f"/api/v1/uploads/{outcome.upload.id}/ingest", headers={"content-type": "application/json"}, chunks=[b"{}"])  # fmt: skip
    assert (answer.status, answer.json()["type"]) == (409, "/docs/problems#file-gone")
    page = get(app, f"/uploads/{outcome.upload.id}")
    assert "not in the data folder" in page.text
    assert "Read again" not in page.text


def test_rest_lists_registers_and_removes_files(url: URL, tmp_path: Path) -> None:
    app = app_for(url, tmp_path)
    first, second = left(tmp_path / "data", b"first"), left(tmp_path / "data", b"second")
    found = get(app, "/api/v1/upload-files").json()
    assert {each["sha256"] for each in found["unregistered"]} == {first, second}
    registered = call(app, "POST", f"/api/v1/upload-files/{first}")
    assert (registered.status, registered.json()["sha256"]) == (202, first)
    removed = call(app, "DELETE", f"/api/v1/upload-files/{second}")
    assert (removed.status, removed.json()["sha256"]) == (200, second)
    refused = call(app, "DELETE", f"/api/v1/upload-files/{first}")
    assert (refused.status, refused.json()["type"]) == (409, "/docs/problems#file-in-use")
    assert call(app, "DELETE", f"/api/v1/upload-files/{second}").status == 404
    assert call(app, "POST", "/api/v1/upload-files/..%2f..%2fetc").status in (404, 422)
    assert get(app, "/api/v1/upload-files").json()["unregistered"] == []


def test_page_of_uploads_links_to_the_files_that_do_not_match(url: URL, tmp_path: Path) -> None:
    app = app_for(url, tmp_path)
    assert "/upload-files" not in get(app, "/uploads").text
    digest = left(tmp_path / "data")
    assert "One file and its upload do not match" in get(app, "/uploads").text
    page = get(app, "/upload-files").text
    assert digest in page
    sent = call(
        app, "POST", "/upload-files/register", headers={"content-type": "application/x-www-form-urlencoded"},
        chunks=[f"sha256={digest}".encode()],
    )  # fmt: skip
    assert (sent.status, sent.headers["location"]) == (303, "/uploads/1?said=registered")
    assert "Every file belongs to an upload" in get(app, "/upload-files").text
    assert "/upload-files" not in get(app, "/uploads").text


def test_page_removes_a_file_and_refuses_other_names(url: URL, tmp_path: Path) -> None:
    app = app_for(url, tmp_path)
    digest = left(tmp_path / "data")
    form = {"content-type": "application/x-www-form-urlencoded"}
    for name in ("", "..", "../../etc/passwd", digest[:-1]):
        assert (
            call(app, "POST", "/upload-files/remove", headers=form, chunks=[f"sha256={name}".encode()]).status
            == 404
        )
    assert (
        call(app, "POST", "/upload-files/remove", headers=form, chunks=[f"sha256={digest}".encode()]).status
        == 303
    )
    assert whole_files(tmp_path / "data") == []


def test_commands_check_register_and_remove(
    url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_for(url, tmp_path)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", settings.database_url)
    assert main(["uploads", "check"]) == 0
    first, second = left(settings.data_dir, b"first"), left(settings.data_dir, b"second")
    capsys.readouterr()
    assert main(["uploads", "check"]) == 1
    assert {first, second} <= set(capsys.readouterr().out.split())
    assert main(["uploads", "remove", first]) == 0
    assert main(["uploads", "register", "--all"]) == 0
    assert f"{second}: upload 1, recovered-{second[:12]}" in capsys.readouterr().out
    assert main(["uploads", "check"]) == 0
    assert main(["uploads", "register"]) == 2
    assert main(["uploads", "remove", "../../etc"]) == 2
    assert main(["uploads", "remove", hashlib.sha256(b"second").hexdigest()]) == 2
    assert "belongs to upload 1" in capsys.readouterr().err


def test_command_lists_files_of_the_history_that_no_upload_has(
    database: Database,
    url: URL,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = settings_for(url, tmp_path)
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", settings.database_url)
    known = keep(database, settings.data_dir, "known").upload.sha256
    entries = [
        {"entry": "ingest", "file_name": "known.smf", "file_sha256": known, "days": '{"structures": ["2026-03-02"]}'},
        {"entry": "ingest", "file_name": "other.smf", "file_sha256": "f" * 64, "days": '{"a": ["2026-03-03"], "b": ["2026-03-02"]}'},
        {"entry": "forget", "file_name": "gone.smf", "file_sha256": "e" * 64},
    ]  # fmt: skip
    lines = "\n".join(map(json.dumps, entries))
    monkeypatch.setattr(
        processes, "history_command", lambda _, verb: [sys.executable, "-c", f"assert {verb!r} == 'files'; print({lines!r})"]
    )  # fmt: skip
    assert main(["uploads", "check", "--history"]) == 0
    said = capsys.readouterr().out
    assert "Files in the usage history without an upload: 1\n" in said
    assert f"  other.smf {'f' * 64} 2026-03-02 to 2026-03-03\n" in said
    assert "known.smf" not in said
    assert "gone.smf" not in said
    assert main(["uploads", "check", "--history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["history"] == [
        {"file_name": "other.smf", "sha256": "f" * 64, "days": ["2026-03-02", "2026-03-03"]}
    ]
    monkeypatch.setattr(
        processes,
        "history_command",
        lambda *_: [sys.executable, "-c", "import sys; sys.exit('no such history')"],
    )
    assert main(["uploads", "check", "--history"]) == 2
    assert "no such history" in capsys.readouterr().err
