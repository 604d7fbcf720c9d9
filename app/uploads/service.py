"""Uploads: stored once, read by a job, corrected, deleted. Callers commit.

The bytes are on disk before a row names them, and the row is deleted before the bytes, so no row ever names an
incomplete file, even after an interruption.

Every transaction locks in this order: the names of files, the claims of runs, then rows of uploads. Another order in one
of them would be a deadlock with a transaction that has several uploads.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Annotated, cast
from zoneinfo import ZoneInfo

from pydantic import Field
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.actor import current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.database.engine import Database, DatabaseFull
from app.database.transactions import after_commit
from app.errors import JobBusy, NotFound, NotKept
from app.jobs import repository as job_rows
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.jobs.service import Job
from app.paging import PageRequest, ResultPage, Sort
from app.problem_types import FILE_GONE, FILE_IN_USE, REPORT_NOT_READY, UPLOAD_NOT_FOUND
from app.settings import Settings
from app.uploads import files, qsg_map, repository, unregistered
from app.uploads.errors import upload_invalid
from app.uploads.files import StagedUpload
from app.uploads.job_kind import INGEST
from app.uploads.models import LONGEST_FILENAME, Upload
from app.uploads.unregistered import RemovedFile
from planner_core.contracts.ingest import Asks
from planner_core.errors import FieldProblem
from planner_core.inputs import KINDS, PREVIEW_BYTES, Kind, KindUnknown, detect
from planner_core.local_time import TimeNotMeant, check_observed, instant_of
from planner_core.wire import Answer, JsonObject, copied

logger = logging.getLogger("cfplan.uploads")

UNNAMED = "unnamed"
NEWEST = Sort("received", is_descending=True)
REGISTERED = "recovered"
"""Beginning of the name of an upload whose file was found in the data folder; its own name is not known."""
FILE_MISSING = (
    "The file of upload {upload_id} is not in the data folder, although it was not removed: the data folder may have been "
    "restored or moved without it. Put the file back, or upload it again."
)
_OFFSET = re.compile(r"[+-](0\d|1[0-4]):[0-5]\d")
_UTC_NAMES = ("Z", "UTC", "GMT")


@dataclass(frozen=True, slots=True)
class StoredUpload(Answer):
    """A received file, and the last job that read it."""

    id: int
    filename: str
    size_bytes: int
    sha256: str
    kind: Annotated[
        str, Field(description="The kind specified for the file; if empty, it is detected automatically.")
    ]
    detected_kind: Annotated[
        str, Field(description="The kind detected from its first bytes; empty if unknown.")
    ]
    observed_at: str
    zone: str
    observed_utc: Annotated[
        str,
        Field(description="The instant given by `observed_at` and `zone`; empty if no time was specified."),
    ]
    created_at: datetime
    removed_at: Annotated[
        datetime | None, Field(description="When the file itself was removed; its report is kept.")
    ]
    author: Annotated[
        str | None, Field(description="Who sent the file; null if the service did not record it yet.")
    ]
    job: Job | None


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """The upload of a received file, and whether it is new."""

    upload: StoredUpload
    is_new: bool


@dataclass(frozen=True, slots=True)
class UploadDetails:
    """The user's description of a file. None keeps the current value; empty removes it."""

    kind: str | None = None
    observed_at: str | None = None
    zone: str | None = None

    def checked(self, *, kept_observed_at: str = "", kept_zone: str = "") -> UploadDetails:
        """Return the details, normalized. `kept_…` are the current values, for fields that are None.

        Raises:
            FieldsInvalid: The kind, time or zone is invalid, the time has no zone, or the time does not exist in it.
        """
        problems: list[FieldProblem] = []
        kind, observed_at, zone = (
            None if text is None else text.strip() for text in (self.kind, self.observed_at, self.zone)
        )
        if kind and kind not in KINDS:
            problems.append(
                FieldProblem("kind", f"There is no kind {kind[:40]!a}. The kinds are {', '.join(KINDS)}.")
            )
        if observed_at:
            observed_at, of_time, fault = _read_time(observed_at)
            if fault:
                problems.append(FieldProblem("observed_at", fault))
            zone = of_time or zone  # an offset in the time overrides the zone
        if zone:
            zone, fault = _read_zone(zone)
            if fault:
                problems.append(FieldProblem("zone", fault))
        time_of_it = kept_observed_at if observed_at is None else observed_at
        is_zone_known = bool(zone or self.zone or (kept_zone and zone is None))
        if time_of_it and not is_zone_known:
            problems.append(
                FieldProblem("zone", "Enter the time zone of that time: +01:00, or Europe/Berlin.")
            )
        elif time_of_it and not problems:
            try:
                observed = instant_of(
                    datetime.fromisoformat(time_of_it), _zone(zone or kept_zone), zone_name=zone or kept_zone
                )
                check_observed(observed, now=utc_now())
            except TimeNotMeant as error:
                problems.append(FieldProblem("observed_at", str(error)))
        if problems:
            raise upload_invalid(*problems)
        return UploadDetails(kind, observed_at, zone)

    @property
    def observed_utc(self) -> str:
        """The instant of a checked time in its zone; empty if there is no time."""
        return observed_utc(self.observed_at or "", self.zone or "")


# ---- reading ---------------------------------------------------------------------------------------------------------


def get(session: Session, upload_id: int) -> StoredUpload:
    """Return an upload with the last of its jobs.

    Raises:
        NotFound: There is no upload with this number.
    """
    row = _found(session, upload_id)
    return copied(StoredUpload, row, job=jobs.latest(session, [row.id]).get(row.id))


def list_uploads(
    session: Session,
    asked: PageRequest,
    *,
    batch: str = "",
    states: Collection[str] = (),
    sort: Sort | None = None,
) -> ResultPage[StoredUpload]:
    """Return uploads, without a requested order newest first. `batch` and the states of the last runs limit them."""
    rows, total = repository.page(
        session, offset=asked.offset, limit=asked.per_page, batch=batch, states=states, sort=sort or NEWEST
    )
    of = jobs.latest(session, [row.id for row in rows])
    return ResultPage.of([copied(StoredUpload, row, job=of.get(row.id)) for row in rows], total, asked)


def count_states(session: Session, *, batch: str = "") -> Mapping[str, int]:
    """Return the number of uploads in each state of their last run; `batch` limits them."""
    return repository.count_states(session, batch=batch)


def report(session: Session, upload_id: int) -> JsonObject:
    """Return the report of the last job.

    Raises:
        NotKept: The upload has no report yet.
    """
    job = get(session, upload_id).job
    found = None if job is None or job.state not in jobs.ENDS else jobs.report_of(session, job.id)
    if found is None:
        message = f"There is no report on upload {upload_id} yet: it has not been read completely."
        raise NotKept(message, problem=REPORT_NOT_READY)
    return found


# ---- changing --------------------------------------------------------------------------------------------------------


def keep(
    session: Session, received: StagedUpload, *, filename: str, said: UploadDetails, batch: str = ""
) -> UploadOutcome:
    """Create an upload from a received file and queue a job that reads it, or return the existing upload.

    An existing upload that could not be read is read again. With `batch`, the upload is added to this batch.
    """
    outcome = _keep(session, received, filename=filename, said=said)
    if batch:
        repository.put_into_batch(session, batch, outcome.upload.id, utc_now())
    return outcome


def _keep(session: Session, received: StagedUpload, *, filename: str, said: UploadDetails) -> UploadOutcome:
    said = said.checked()
    # Without the lock, a deletion of the same bytes in another transaction could remove the file just placed.
    repository.hold_files(session)
    received.place()
    # A form has several files in one transaction, so claims must be locked before the row of any of them.
    job_rows.hold_claims(session)
    found = repository.find_same(session, received.sha256, said.observed_utc)
    if found is None:
        found = _new(received, filename=filename, said=said)
        session.add(found)
        session.flush()
        _queue_ingest(session, found.id)
        _record(session, Action.UPLOAD_RECEIVED, found, size_bytes=found.size_bytes, sha256=found.sha256)
        return UploadOutcome(get(session, found.id), is_new=True)
    for row in repository.find_with_bytes(session, received.sha256):
        row.removed_at = None  # the file has just been put back
    shown = get(session, found.id)
    if shown.job is None or shown.job.state == JobState.FAILED:
        _change(session, found, said)
        _queue_ingest(session, found.id)
        _record(session, Action.UPLOAD_REREAD, found)
        shown = get(session, found.id)
    else:
        # The same bytes again change nothing, except that a removed file is back.
        _record(session, Action.UPLOAD_RECEIVED, found, sha256=found.sha256, is_known=True)
    return UploadOutcome(shown, is_new=False)


def read_again(
    session: Session, upload_id: int, said: UploadDetails, *, data_dir: Path,
    qsg: Mapping[tuple[str, str], str] | None = None,
) -> StoredUpload:  # fmt: skip
    """Store the answers to the questions of the job, or a corrected kind of data, and queue a new job.

    Raises:
        FieldsInvalid: An answer cannot be used.
        NotKept: The file has been removed, or is not in the data folder.
        JobBusy: A job is under way.
    """
    job_rows.hold_claims(session)
    row = _found(session, upload_id, lock=True)
    if row.removed_at is not None:
        message = f"The file of upload {upload_id} was removed after it had been read; only its report is kept. Upload it again."
        raise NotKept(message, problem=FILE_GONE)
    if is_file_missing(row, data_dir=data_dir):
        raise NotKept(FILE_MISSING.format(upload_id=upload_id), problem=FILE_GONE)
    qsg_map.put_all(session, qsg or {})
    before = _described(row)
    _change(session, row, said.checked(kept_observed_at=row.observed_at, kept_zone=row.zone))
    _queue_ingest(session, row.id)
    after = _described(row)
    _record(
        session, Action.UPLOAD_REREAD, row, **({} if before == after else {"before": before, "after": after})
    )
    return get(session, upload_id)


def is_file_missing(upload: Upload | StoredUpload, *, data_dir: Path) -> bool:
    """Return whether an upload should have its file, and the data folder does not have it."""
    return upload.removed_at is None and not files.path_of(data_dir, upload.sha256).exists()


def register(session: Session, sha256: str, *, data_dir: Path) -> StoredUpload:
    """Create an upload for a file in the data folder that has none, and queue a job that reads it.

    Uploads that have lost the file, because it was removed after it had been read, get it back and are read again.

    Raises:
        NotFound: The data folder has no such file.
        JobBusy: The file has an upload, and a job is under way.
    """
    repository.hold_files(session)
    path = files.path_of(data_dir, sha256)
    if not path.is_file():
        message = f"The data folder has no uploaded file {sha256}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    rows = list(repository.find_with_bytes(session, sha256))
    if not rows:
        with path.open("rb") as file:
            first = file.read(PREVIEW_BYTES)
        name = f"{REGISTERED}-{sha256[:12]}"
        staged = StagedUpload(sha256, path.stat().st_size, first, path, path)
        rows = [_new(staged, filename=name, said=UploadDetails())]
        session.add(rows[0])
        session.flush()
    for row in rows:
        row.removed_at = None
        _queue_ingest(session, row.id)
        _record(session, Action.UPLOAD_REGISTERED, row, sha256=sha256)
    session.flush()
    # Without the commit the mark would only be set again by the next cleanup.
    after_commit(session, lambda: files.remove_mark(data_dir, sha256))
    return get(session, rows[-1].id)


def remove_unregistered(session: Session, sha256: str, *, data_dir: Path) -> RemovedFile:
    """Remove a file that no upload needs, and return it.

    Raises:
        NotFound: The data folder has no such file.
        NotKept: An upload needs it.
    """
    repository.hold_files(session)
    path = files.path_of(data_dir, sha256)
    if not path.is_file():
        message = f"The data folder has no uploaded file {sha256}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    removed = RemovedFile(sha256, path.stat().st_size)
    for row in repository.find_with_bytes(session, sha256):
        if row.removed_at is None:
            message = (
                f"The file belongs to upload {row.id}. Delete the upload to remove it. Nothing was changed."
            )
            raise NotKept(message, problem=FILE_IN_USE)
    record(session, Action.UPLOAD_FILE_REMOVED, AuditObject("upload file", sha256), {"sha256": sha256})
    _remove_after_commit(session, [sha256], data_dir=data_dir)
    return removed


def read_failed_again(session: Session, batch: str) -> int:
    """Queue a new job for each file of a batch that could not be read; return their number."""
    job_rows.hold_claims(session)
    failed = repository.failed_in_batch(session, batch, lock=True)
    for upload_id in failed:
        _queue_ingest(session, upload_id)
        _record(session, Action.UPLOAD_REREAD, _found(session, upload_id), batch=batch)
    return len(failed)


def read_answered_again(session: Session) -> int:
    """Queue a new job for each file whose questions the map of queue managers now answers; return their number.

    Files of one site ask for the same groups, so one answer is enough for all of them. Files that ask for anything else
    are not read.
    """
    job_rows.hold_claims(session)
    known = {(each.system_id, each.queue_manager): each.qsg for each in qsg_map.entries(session)}
    answered = [
        upload_id for upload_id, asks in repository.asking(session) if _is_answered(jobs.asks_of(asks), known)
    ]
    for upload_id in answered:
        _queue_ingest(session, upload_id)
        _record(session, Action.UPLOAD_REREAD, _found(session, upload_id))
    return len(answered)


def _is_answered(asks: Asks, known: Mapping[tuple[str, str], str]) -> bool:
    return (
        not asks.observed_at
        and not asks.zone
        and bool(asks.unknown_qsg)
        and all(
            qsg_map.is_known(known, each.system_id or "", each.queue_manager) for each in asks.unknown_qsg
        )
    )


def delete(session: Session, upload_id: int, *, data_dir: Path) -> StoredUpload:
    """Delete an upload with its jobs, reports and file. Its data stays in the history.

    Raises:
        JobBusy: A job is under way.
    """
    repository.hold_files(session)
    row = _found(session, upload_id, lock=True)
    shown = get(session, upload_id)
    # A waiting job can be deleted with its upload; a running one still reads the file.
    if shown.job is not None and shown.job.is_under_way and shown.job.state == JobState.RUNNING:
        raise _busy(shown.job.id)
    session.delete(row)
    _record(session, Action.UPLOAD_DELETED, row, sha256=row.sha256)
    session.flush()
    if not repository.is_wanted(session, row.sha256):
        _remove_after_commit(session, [shown.sha256], data_dir=data_dir)
    return shown


def clean_up(database: Database, settings: Settings) -> None:
    """Remove partial files of uploads that were never completed, and files that are no longer needed."""
    files.remove_abandoned(settings.data_dir)
    with database.session(writes=True) as session:
        remove_old_files(session, data_dir=settings.data_dir, kept=timedelta(days=settings.upload_days))


def remove_old_files(session: Session, *, data_dir: Path, kept: timedelta) -> int:
    """Remove files of uploads that were read longer ago than `kept`; return their number.

    Files without an upload are included when they were first found that long ago (`unregistered.expired`).
    """
    repository.hold_files(session)
    removed: set[str] = set()
    for row in repository.read_before(session, utc_now() - kept):
        row.removed_at = utc_now()
        removed.add(row.sha256)
        _record(session, Action.UPLOAD_FILE_REMOVED, row, upload_days=kept.days, sha256=row.sha256)
    session.flush()
    removed |= unregistered.expired(session, data_dir=data_dir, kept=kept)
    unwanted = [sha256 for sha256 in sorted(removed) if not repository.is_wanted(session, sha256)]
    if unwanted:
        _remove_after_commit(session, unwanted, data_dir=data_dir)
    return len(unwanted)


# ---- inside ----------------------------------------------------------------------------------------------------------


def _queue_ingest(session: Session, upload_id: int) -> None:
    """Queue a new run that reads an upload. The caller holds the lock of `hold_claims`.

    Raises:
        JobBusy: A run is under way.
    """
    last = job_rows.latest_of(session, [upload_id]).get(upload_id)
    if last is not None:
        if last.state not in jobs.RESTS:
            raise _busy(last.id)
        if last.state == JobState.ASKS:  # the new run has the answers, or asks again
            last.state, last.ended_at = JobState.FAILED, utc_now()
            last.sentence = "Read again with more answers."
    jobs.queue(session, INGEST, upload_id=upload_id)


def _described(row: Upload) -> dict[str, str]:
    """Return the user's description of a file."""
    return {"kind": row.kind, "observed_at": row.observed_at, "zone": row.zone}


def _record(session: Session, action: Action, row: Upload, **details: object) -> None:
    record(session, action, AuditObject("upload", row.filename, id=row.id), details)


def _remove_after_commit(session: Session, digests: Sequence[str], *, data_dir: Path) -> None:
    """Remove files after the transaction is committed, except those that another upload needs by then.

    A file is removed after the row that named it, so that no row ever names a file that is gone. Between the two, an
    upload with the same bytes may put the file back. So a second transaction checks again and removes the file while no
    upload can place one. If it fails, the files stay until the next cleanup, which finds them without a row.
    """
    bind = session.get_bind()

    def remove() -> None:
        try:
            with Session(bind) as own:
                repository.hold_files(own)
                for sha256 in digests:
                    if not repository.is_wanted(own, sha256):
                        files.remove(data_dir, sha256)
                own.commit()
        except (DBAPIError, OSError, DatabaseFull) as error:
            logger.warning("%d files of deleted uploads stay until the next cleanup: %s", len(digests), error)

    after_commit(session, remove)


def _new(received: StagedUpload, *, filename: str, said: UploadDetails) -> Upload:
    name = clean_filename(filename)
    return Upload(
        filename=name,
        size_bytes=received.size_bytes,
        sha256=received.sha256,
        kind=said.kind or "",
        detected_kind=_detected(received.first, name),
        observed_at=said.observed_at or "",
        zone=said.zone or "",
        observed_utc=said.observed_utc,
        created_at=utc_now(),
        author=current_actor().name,
    )


def _change(session: Session, row: Upload, said: UploadDetails) -> None:
    if said.kind is not None:
        row.kind = said.kind
    observed_at = row.observed_at if said.observed_at is None else said.observed_at
    zone = row.zone if said.zone is None else said.zone
    instant = observed_utc(observed_at, zone)
    if instant != row.observed_utc:
        same = repository.find_same(session, row.sha256, instant)
        if same is not None:
            message = (
                f"Upload {same.id} has the same text, observed at the same time, so it is not read again."
            )
            raise upload_invalid(FieldProblem("observed_at", message))
    row.observed_at, row.zone, row.observed_utc = observed_at, zone, instant
    session.flush()


def _detected(first: bytes, name: str) -> str:
    try:
        return detect(first, name).kind
    except KindUnknown:
        return ""


def clean_filename(text: str) -> str:
    """Return the last part of a path: printable, and no longer than the column."""
    # Old browsers on Windows send full paths.
    name = text.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter if letter.isprintable() else "?" for letter in name).strip()
    return kept[:LONGEST_FILENAME] or UNNAMED


def _read_time(text: str) -> tuple[str, str | None, str | None]:
    """Return a local time, normalized, the UTC offset in it, and an error."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        fault = (
            f"{text[:40]!a} is not a time. Write it as 2026-11-21T09:30, in the local time of the display."
        )
        return "", None, fault
    own = None
    if time.tzinfo is not None:
        own = time.strftime("%z")
        own = f"{own[:3]}:{own[3:5]}"
    return time.replace(tzinfo=None).isoformat(timespec="seconds"), own, None


def observed_utc(observed_at: str, zone: str) -> str:
    """Return the instant of a time in its zone, as stored: 2026-11-21T08:30:00Z. Empty if there is no time.

    Both have been checked: the time exists in the zone, and only once.
    """
    if not observed_at:
        return ""
    # Stored as text: SQLite has no time zones, and the value is part of a unique constraint.
    instant = datetime.fromisoformat(observed_at).replace(tzinfo=_zone(zone)).astimezone(UTC)
    return instant.isoformat(timespec="seconds").replace("+00:00", "Z")


def _zone(text: str) -> tzinfo:
    """Return the time zone for a stored name."""
    if text == "UTC":
        return UTC
    if _OFFSET.fullmatch(text):
        hours, minutes = int(text[1:3]), int(text[4:])
        return timezone((timedelta(hours=hours, minutes=minutes)) * (-1 if text[0] == "-" else 1))
    return ZoneInfo(text)


def _read_zone(text: str) -> tuple[str, str | None]:
    """Return a zone, normalized, and an error."""
    if text.upper() in _UTC_NAMES:
        return "UTC", None
    if _OFFSET.fullmatch(text):
        return text, None
    try:
        return ZoneInfo(text).key, None
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return (
            "",
            f"{text[:40]!a} is not a time zone. Write an offset such as +01:00, or a name such as Europe/Berlin.",
        )


def _found(session: Session, upload_id: int, *, lock: bool = False) -> Upload:
    row = repository.find(session, upload_id, lock=lock)
    if row is None:
        message = f"There is no upload {upload_id}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    return row


def kind_of(upload: StoredUpload) -> Kind | None:
    """Return the kind of an upload: the specified one, or else the detected one."""
    return cast("Kind | None", upload.kind or upload.detected_kind or None)


def _busy(job_id: int) -> JobBusy:
    return JobBusy(job_id, f"Job {job_id} is under way. Wait until it has ended; nothing was changed.")
