"""The steps from a request to an upload and its job, for REST and for the form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from app.database.engine import Database
from app.database.session import turn_to_write
from app.database.transactions import after_commit
from app.jobs.watcher import Watcher
from app.settings import Settings
from app.uploads import files, service
from app.uploads import receive as receiving
from app.uploads.receive import Form
from app.uploads.service import UploadDetails, UploadOutcome
from app.web.security.body import accept_file

FORM = "multipart/form-data"


@asynccontextmanager
async def received(request: Request, *, filename: str) -> AsyncIterator[Form]:
    """Write the body to disk: a form, or the file itself, stored under `filename`.

    Leaving the context removes files that have not become uploads.
    """
    form = await _receive(request, filename=filename)
    try:
        yield form
    finally:
        form.discard()


async def _receive(request: Request, *, filename: str) -> Form:
    accept_file(request)
    settings: Settings = request.app.state.settings
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    data_dir, largest_bytes = settings.data_dir, settings.max_upload_bytes
    announced = request.headers.get("content-length", "")
    if announced.isdigit():
        files.check_room(data_dir, int(announced))
    try:
        if media_type == FORM:
            return await receiving.receive_form(request, data_dir=data_dir, largest_bytes=largest_bytes)
        return await receiving.receive_body(
            request, data_dir=data_dir, largest_bytes=largest_bytes, filename=filename
        )
    except ClientDisconnect:  # the client has disconnected and cannot read this
        raise HTTPException(
            400, "The connection ended before the upload was complete; nothing was stored."
        ) from None


async def kept(
    request: Request, arrived: Form, said: UploadDetails, *, batch: str = ""
) -> list[UploadOutcome]:
    """Create uploads in a thread, as soon as it is the turn of the request: not while its files arrive."""
    async with turn_to_write(request):
        return await run_in_threadpool(_keep, request, arrived, said, batch=batch)


def _keep(request: Request, arrived: Form, said: UploadDetails, *, batch: str = "") -> list[UploadOutcome]:
    """Create uploads from the received files in one transaction, and start their jobs.

    With `batch`, the uploads are added to this batch.
    """
    said = UploadDetails(
        kind=arrived.fields.get("kind", said.kind),
        observed_at=arrived.fields.get("observed_at", said.observed_at),
        zone=arrived.fields.get("zone", said.zone),
    )
    database: Database = request.app.state.database
    with database.session(writes=True) as session:
        outcomes = [
            service.keep(session, received, filename=filename, said=said, batch=batch)
            for filename, received in arrived.files
        ]
        start_after_commit(request, session)
    return outcomes


def start_after_commit(request: Request, session: Session) -> None:
    """Start the queued jobs as soon as the transaction is committed."""
    watcher: Watcher = request.app.state.watcher
    after_commit(session, watcher.poke)
