"""Shared calls and files of the tests of uploads."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy import URL, text

from app.database.engine import Database
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.jobs.service import Job
from app.main import create_app
from app.settings import Settings
from app.uploads import files, service
from app.uploads.files import Incoming, StagedUpload
from app.uploads.ingest_keeper import IngestKeeper
from app.uploads.service import UploadDetails, UploadOutcome
from tests.app.web.support import Answer, call

READER = Path(__file__).parent / "reader"
"""Folder of the stand-in for the jobs."""
DAY = "2026-11-20"
READS = f"say indexing 5 10\nsay decoding 500 1000\nsay decoding 1000 1000\ndays {DAY}\n"
"""A file that is read without questions or errors."""
PATIENCE_S = 60.0
NOTHING_SAID = UploadDetails()


def settings_for(url: URL, folder: Path, **settings: Any) -> Settings:  # noqa: ANN401 - any setting
    """Return settings with this database and a data folder of the test's own."""
    return Settings(
        database_url=url.render_as_string(hide_password=False), data_dir=folder / "data", **settings
    )


def app_for(url: URL, folder: Path, **settings: Any) -> FastAPI:  # noqa: ANN401
    """Return an application with these settings that starts no jobs."""
    return create_app(settings_for(url, folder, **settings))


def received(data_dir: Path, content: bytes) -> StagedUpload:
    """Return a received file without its final name."""
    with Incoming(data_dir, largest_bytes=2**40) as incoming:
        incoming.write(content)
        return incoming.finish()


def placed(data_dir: Path, content: bytes) -> StagedUpload:
    """Store a file under its final name, without a database row."""
    found = received(data_dir, content)
    found.place()
    return found


def keep(
    database: Database, data_dir: Path, content: str | bytes, *, filename: str = "night.smf", said: UploadDetails = NOTHING_SAID
) -> UploadOutcome:  # fmt: skip
    """Create an upload with its job, as a request does."""
    data = content.encode() if isinstance(content, str) else content
    found = received(data_dir, data)
    with database.session(writes=True) as session:
        return service.keep(session, found, filename=filename, said=said)


def set_state(database: Database, job_id: int, state: JobState, *, ended_days_ago: float = 0) -> None:
    """Set the state of a job and the time since its end."""
    with database.engine.begin() as connection:
        ended = datetime.now(UTC) - timedelta(days=ended_days_ago)
        connection.execute(
            text("UPDATE job_runs SET state = :state, ended_at = :ended WHERE id = :id"),
            {
                "state": state.value,
                "ended": ended if not database.is_sqlite else str(ended)[:26],
                "id": job_id,
            },
        )


def run_keeper(database: Database, settings: Settings, job_id: int) -> Job:
    """Run the keeper of a job in this process; its reader is a separate process."""
    IngestKeeper(database, settings, job_id).run()
    return job(database, job_id)


def job(database: Database, job_id: int) -> Job:
    with database.session(writes=False) as session:
        return jobs.get(session, job_id)


def job_id_of(outcome: UploadOutcome) -> int:
    assert outcome.upload.job is not None
    return outcome.upload.job.id


def log(database: Database, job_id: int) -> str:
    with database.session(writes=False) as session:
        return jobs.log_of(session, job_id)


def history(settings: Settings, content: str) -> dict[str, Any] | None:
    """Return the arguments of the stand-in when it committed the file, or None if it did not."""
    import hashlib

    path = Path(settings.history) / f"{hashlib.sha256(content.encode()).hexdigest()}.json"
    found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
    return found


def times_read(settings: Settings) -> int:
    path = Path(settings.history) / "times-read"
    return len(path.read_text().splitlines()) if path.exists() else 0


def whole_files(data_dir: Path) -> list[str]:
    return sorted(files.whole_files(data_dir, older_than_s=-1))


def running_in(folder: Path) -> list[int]:
    """Return the processes, other than this one, whose environment at their start named the folder of a test."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or belongs to another user
            if os.fsencode(folder) in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def files_on_their_way(data_dir: Path) -> list[str]:
    return [path.name for path in (data_dir / files.FOLDER / files.INCOMING).glob("*")]


def post_file(
    app: FastAPI, content: bytes | str, address: str = "/api/v1/uploads?name=night.smf", **headers: str
) -> Answer:
    """Upload a file by REST."""
    body = content.encode() if isinstance(content, str) else content
    given = {"content-type": "application/octet-stream"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    return call(
        app,
        "POST",
        address,
        headers=given,
        chunks=[body[at : at + 65_536] for at in range(0, len(body), 65_536)] or [b""],
    )


def finish(app: FastAPI, job_id: int = 1) -> None:
    """End a job as its keeper would."""
    database: Database = app.state.database
    with database.session(writes=True) as session:
        assert jobs.claim(session, job_id, owner="test", at_once=99) is not None
        report = {"status": "stored", "files": [{"message": "342 rows were stored.", "days": [DAY]}]}
        jobs.end(
            session,
            job_id,
            "test",
            JobState.DONE,
            sentence="342 rows were stored.",
            log="read\n",
            report=report,
        )


BOUNDARY = "----a boundary of 36 characters, or so"


def form_body(*parts: tuple[str, str | None, bytes]) -> bytes:
    """Encode a form from name, file name or None, and content of each part."""
    body = b""
    for name, filename, content in parts:
        named = f'; filename="{filename}"' if filename is not None else ""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode()


def post_form(
    app: FastAPI, address: str, body: bytes, *, piece_bytes: int = 65_536, accept: str = "text/html"
) -> Answer:
    """Send a form like a browser without scripts."""
    headers = {"content-type": f'multipart/form-data; boundary="{BOUNDARY}"', "accept": accept}
    return call(
        app,
        "POST",
        address,
        headers=headers,
        chunks=[body[at : at + piece_bytes] for at in range(0, len(body), piece_bytes)],
    )


def wait_until(holds: Callable[[], bool], *, patience_s: float = PATIENCE_S) -> None:
    """Wait until a condition holds; fail only if it never does."""
    end = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end, "the condition was never met"
        time.sleep(0.02)


@contextmanager
def closing(database: Database) -> Iterator[Database]:
    try:
        yield database
    finally:
        database.close()
