"""REST interface of uploads and of the map of queue managers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.uploads import answers, arrivals, description, qsg_map, service
from app.uploads.errors import upload_invalid
from app.uploads.missing import members, missing_in_report
from app.uploads.qsg_map import SYSTEM_PATTERN
from app.uploads.service import UploadDetails
from app.uploads.unregistered import DIGEST_PATTERN, FileCheck, RemovedFile, check_files
from app.web.openapi import problems
from app.web.paging import PageParameters
from app.web.rendering import root_path
from app.web.router import Router
from planner_core.errors import FieldProblem
from planner_core.names import QUEUE_MANAGER_PATTERN
from planner_core.wire import copied

UploadId = Annotated[int, Path(ge=1, le=LARGEST_KEY, description="Number of the upload.", examples=[1])]
SystemId = Annotated[
    str, Path(pattern=f"^{SYSTEM_PATTERN}$", description="SMF identifier of the system.", examples=["SYSA"])
]
Digest = Annotated[
    str, Path(pattern=f"^{DIGEST_PATTERN}$", description="SHA-256 of the file.", examples=["0" * 64])
]
QueueManager = Annotated[
    str, Path(pattern=f"^{QUEUE_MANAGER_PATTERN}$", description="The queue manager.", examples=["CSQ1"])
]

router = Router(prefix="/api/v1", tags=["uploads"])


@router.get("/uploads", summary="List uploads", responses=problems(422))
def list_uploads(session: SessionDep, asked: PageParameters) -> answers.UploadsAnswer:
    """Return uploads, newest first, one page at a time, each with the last job that read it."""
    return copied(answers.UploadsAnswer, service.list_uploads(session, asked))


@router.post(
    "/uploads",
    summary="Upload usage data",
    responses={**description.received(), **problems(408, 413, 422, 507)},
    status_code=201,
    openapi_extra=description.file_request(),
)
async def upload(
    request: Request,
    response: Response,
    name: Annotated[str, Query(max_length=255, description="Name of the file.", examples=["night.smf"])] = "",
    kind: Annotated[answers.KindOrDetect, Query()] = "",
    observed_at: Annotated[answers.ObservedAt, Query()] = "",
    zone: Annotated[answers.Zone, Query()] = "",
    batch: Annotated[answers.Batch, Query()] = "",
) -> answers.ReceivedAnswer:
    """Store a file of any kind that `cfplan ingest` reads and of any length, and queue a job that reads it (201).

    The file is the body itself, whatever its media type, or the one file of a form (multipart/form-data), whose fields
    can replace the parameters. A file that was uploaded before is not stored again (200).
    """
    said = UploadDetails(kind=kind or None, observed_at=observed_at or None, zone=zone or None)
    said.checked()  # checked before gigabytes are transferred
    async with arrivals.received(request, filename=name or service.UNNAMED) as arrived:
        if len(arrived.files) != 1:
            raise upload_invalid(FieldProblem("", "Send one file in each request."))
        (outcome,) = await arrivals.kept(request, arrived, said, batch=batch)
    response.headers["location"] = f"{root_path(request)}/api/v1/uploads/{outcome.upload.id}"
    if not outcome.is_new:
        response.status_code = 200
    return copied(answers.ReceivedAnswer, outcome.upload, stored="created" if outcome.is_new else "identical")


@router.get("/uploads/{number}", summary="Read an upload", responses=problems(404, 422))
def read_upload(number: UploadId, session: SessionDep) -> answers.UploadAnswer:
    """Return an upload with its detected kind and the last job that read it."""
    return copied(answers.UploadAnswer, service.get(session, number))


@router.get("/uploads/{number}/report", summary="Read the report", responses=problems(404, 409, 422))
def read_report(number: UploadId, session: SessionDep) -> answers.ReportAnswer:
    """Return the period, structures, queue managers, records by type, and skipped or quarantined data with reasons.

    The findings list the records that a dump lacks.
    """
    report = service.report(session, number)
    (missing,) = missing_in_report(report, members(session)) or ((),)
    return answers.ReportAnswer(upload_id=number, report=report, findings=list(missing))


@router.post(
    "/uploads/{number}/ingest",
    summary="Submit answers again",
    status_code=202,
    responses=problems(404, 409, 413, 415, 422),
)
def read_again(
    number: UploadId, body: answers.ReadAgainBody, session: SessionDep, request: Request
) -> answers.UploadAnswer:
    """Answer the questions of the job, override the detected kind, or retry a failed upload. Queue a new job (202).

    Other uploads whose questions are answered with it are read again, too.
    """
    said = UploadDetails(kind=body.kind, observed_at=body.observed_at, zone=body.zone)
    qsg = qsg_map.gathered((each.system_id, each.queue_manager, each.qsg) for each in body.qsg)
    found = service.read_again(session, number, said, data_dir=request.app.state.settings.data_dir, qsg=qsg)
    service.read_answered_again(session)
    arrivals.start_after_commit(request, session)
    return copied(answers.UploadAnswer, found)


@router.delete("/uploads/{number}", summary="Delete an upload", responses=problems(404, 409, 422))
def delete_upload(number: UploadId, session: SessionDep, request: Request) -> answers.UploadAnswer:
    """Delete an upload with its reports and remove its file. The data read from it stays in the usage history."""
    deleted = service.delete(session, number, data_dir=request.app.state.settings.data_dir)
    return copied(answers.UploadAnswer, deleted)


@router.get("/upload-files", summary="Compare uploads with their files", responses=problems())
def read_files(session: SessionDep, request: Request) -> FileCheck:
    """Return files in the data folder that no upload has, and uploads whose file is not in the data folder.

    Both appear when only the database or only the data folder was restored from a backup.
    """
    return check_files(session, data_dir=request.app.state.settings.data_dir)


@router.post(
    "/upload-files/{sha256}",
    summary="Register a file without an upload",
    status_code=202,
    responses=problems(404, 409, 422),
)
def register_file(sha256: Digest, session: SessionDep, request: Request) -> answers.UploadAnswer:
    """Create an upload for a file in the data folder that has none, and queue a job that reads it (202)."""
    found = service.register(session, sha256, data_dir=request.app.state.settings.data_dir)
    arrivals.start_after_commit(request, session)
    return copied(answers.UploadAnswer, found)


@router.delete(
    "/upload-files/{sha256}",
    summary="Remove a file without an upload",
    responses=problems(404, 409, 422),
)
def remove_file(sha256: Digest, session: SessionDep, request: Request) -> RemovedFile:
    """Remove a file in the data folder that no upload needs, and return it."""
    return service.remove_unregistered(session, sha256, data_dir=request.app.state.settings.data_dir)


@router.get("/qsg-map", summary="Read the map of queue managers", responses=problems())
def read_map(session: SessionDep) -> answers.QsgMapAnswer:
    """Return the queue-sharing group of each queue manager, which records written before MQ 10 do not contain."""
    return answers.QsgMapAnswer(qsg_map.entries(session))


@router.put(
    "/qsg-map/{system_id}/{queue_manager}",
    summary="Set the group of a queue manager",
    responses=problems(413, 415, 422),
)
def put_entry(
    system_id: SystemId,
    queue_manager: QueueManager,
    body: answers.QsgBody,
    session: SessionDep,
    request: Request,
) -> answers.QsgEntryAnswer:
    """Add or change an entry. Data that is already in the usage history keeps its group.

    Uploads whose questions are now answered are read again.
    """
    entry = qsg_map.put(session, system_id, queue_manager, body.qsg)
    if service.read_answered_again(session):
        arrivals.start_after_commit(request, session)
    return copied(answers.QsgEntryAnswer, entry)


@router.delete(
    "/qsg-map/{system_id}/{queue_manager}", summary="Remove a queue manager", responses=problems(404, 422)
)
def delete_entry(
    system_id: SystemId, queue_manager: QueueManager, session: SessionDep
) -> answers.QsgMapAnswer:
    """Remove an entry from the map and return the remaining entries."""
    qsg_map.remove(session, system_id, queue_manager)
    return answers.QsgMapAnswer(qsg_map.entries(session))
