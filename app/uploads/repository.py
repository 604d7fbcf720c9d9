"""All SQL about uploads and the map of queue managers to groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Subquery, case, delete, func, literal_column, select
from sqlalchemy.orm import Session

from app.database.ordering import Expression, ordered_by
from app.database.portions import portions
from app.database.transactions import hold_lock
from app.jobs.models import JobRun, JobState
from app.paging import Sort
from app.uploads.models import BatchFile, QsgMapping, Upload
from planner_core.inputs import KIND_TITLES


class BatchFileRow(NamedTuple):
    """A file of a batch, and the last run that read it."""

    batch: str
    added_at: datetime
    size_bytes: int
    state: str
    ended_at: datetime | None


_URGENCY = {
    state: number
    for number, state in enumerate(
        (JobState.FAILED, JobState.ASKS, JobState.RUNNING, JobState.QUEUED, JobState.DONE)
    )
}
"""The order of states: those that need an action first."""
FILES_LOCK = 0x636670757066  # "cfpupf"


def hold_files(session: Session) -> None:
    """Lock the names of all uploaded files until the transaction ends."""
    hold_lock(session, FILES_LOCK)


def find(session: Session, upload_id: int, *, lock: bool = False) -> Upload | None:
    """Return an upload by its number."""
    query = select(Upload).where(Upload.id == upload_id)
    return session.scalars(query.with_for_update() if lock else query).one_or_none()


def find_same(session: Session, sha256: str, observed_utc: str) -> Upload | None:
    """Return the upload with these bytes and this time of observation; an empty time means an upload without one."""
    query = select(Upload).where(Upload.sha256 == sha256, Upload.observed_utc == observed_utc)
    return session.scalars(query).one_or_none()


def find_with_bytes(session: Session, sha256: str) -> Sequence[Upload]:
    """Return every upload with these bytes, oldest first."""
    return session.scalars(select(Upload).where(Upload.sha256 == sha256).order_by(Upload.id)).all()


def page(
    session: Session, *, offset: int, limit: int, sort: Sort, batch: str = "", states: Collection[str] = ()
) -> tuple[Sequence[Upload], int]:
    """Return one page of uploads in the requested order, and the total.

    `batch` and the states of the last runs limit them; an upload without a run counts as failed.
    """
    chosen = select(Upload.id)
    if batch:
        chosen = chosen.join(BatchFile, BatchFile.upload_id == Upload.id).where(BatchFile.batch == batch)
    if states:
        last = _last_runs()
        chosen = (
            chosen.outerjoin(last, last.c.upload_id == Upload.id)
            .outerjoin(JobRun, JobRun.id == last.c.job_id)
            .where(_state().in_(states))
        )
    total = session.scalars(select(func.count()).select_from(chosen.subquery())).one()
    query = select(Upload).where(Upload.id.in_(chosen))
    expressions: dict[str, Expression] = {
        "file": func.lower(Upload.filename),
        # Numbers are assigned in the order of receipt, and no two files have the same one.
        "received": Upload.id,
        "size": Upload.size_bytes,
        "kind": case(
            {kind: title.lower() for kind, title in KIND_TITLES.items()},
            value=func.coalesce(func.nullif(Upload.kind, ""), Upload.detected_kind),
            else_=None,
        ),
    }
    if sort.key == "state":
        of = _last_runs()
        query = query.outerjoin(of, of.c.upload_id == Upload.id).outerjoin(JobRun, JobRun.id == of.c.job_id)
        expressions["state"] = case(_URGENCY, value=_state())
    ordered = query.order_by(*ordered_by(sort, expressions, ties=(Upload.id,)))
    return session.scalars(ordered.offset(offset).limit(limit)).all(), total


def count_states(session: Session, *, batch: str = "") -> Mapping[str, int]:
    """Count the uploads by the state of their last run; `batch` limits them."""
    last, state = _last_runs(), _state()
    query = (
        select(state, func.count(Upload.id))
        .select_from(Upload)
        .outerjoin(last, last.c.upload_id == Upload.id)
        .outerjoin(JobRun, JobRun.id == last.c.job_id)
        .group_by(state)
    )
    if batch:
        query = query.join(BatchFile, BatchFile.upload_id == Upload.id).where(BatchFile.batch == batch)
    return {row[0]: row[1] for row in session.execute(query)}


def put_into_batch(session: Session, batch: str, upload_id: int, added_at: datetime) -> None:
    """Add a file to a batch, unless it is in it. The caller holds the lock of `hold_files`."""
    if session.get(BatchFile, (batch, upload_id)) is None:
        session.add(BatchFile(batch=batch, upload_id=upload_id, added_at=added_at))
        session.flush()


def batches_since(session: Session, since: datetime, *, limit: int) -> Sequence[str]:
    """Return the batches to which files were added since then, newest first."""
    query = select(BatchFile.batch).where(BatchFile.added_at >= since).group_by(BatchFile.batch)
    ordered = query.order_by(func.max(BatchFile.added_at).desc(), BatchFile.batch)
    return session.scalars(ordered.limit(limit)).all()


def batch_files(session: Session, batches: Collection[str]) -> Sequence[BatchFileRow]:
    """Return the files of these batches with the state of their last runs, in the order in which they were sent."""
    last = _last_runs()
    query = (
        select(BatchFile.batch, BatchFile.added_at, Upload.size_bytes, _state(), JobRun.ended_at)
        .join(Upload, Upload.id == BatchFile.upload_id)
        .outerjoin(last, last.c.upload_id == Upload.id)
        .outerjoin(JobRun, JobRun.id == last.c.job_id)
        .where(BatchFile.batch.in_(batches))
        .order_by(BatchFile.added_at, BatchFile.upload_id)
    )
    return [BatchFileRow(*row) for row in session.execute(query)]


def failed_in_batch(session: Session, batch: str, *, lock: bool = False) -> Sequence[int]:
    """Return the numbers of the uploads of a batch that could not be read and still have their file."""
    last = _last_runs()
    query = (
        select(Upload.id)
        .join(BatchFile, BatchFile.upload_id == Upload.id)
        .outerjoin(last, last.c.upload_id == Upload.id)
        .outerjoin(JobRun, JobRun.id == last.c.job_id)
        .where(BatchFile.batch == batch, _state() == JobState.FAILED, Upload.removed_at.is_(None))
        .order_by(Upload.id)
    )
    return session.scalars(query.with_for_update(of=Upload) if lock else query).all()


def asking(session: Session) -> Sequence[tuple[int, str]]:
    """Lock the uploads whose last run asks questions and that still have their file; return numbers and questions."""
    last = _last_runs()
    query = (
        select(Upload.id, JobRun.asks)
        .join(last, last.c.upload_id == Upload.id)
        .join(JobRun, JobRun.id == last.c.job_id)
        .where(JobRun.state == JobState.ASKS, Upload.removed_at.is_(None))
        .order_by(Upload.id)
        .with_for_update(of=Upload)
    )
    return [(upload_id, asks) for upload_id, asks in session.execute(query) if asks is not None]


def _last_runs() -> Subquery:
    return select(JobRun.upload_id, func.max(JobRun.id).label("job_id")).group_by(JobRun.upload_id).subquery()


def _state() -> ColumnElement[str]:
    """Return the state of the last run as a column; an upload without a run counts as failed."""
    # With a parameter, PostgreSQL would not see that the selected column is the one in GROUP BY.
    return func.coalesce(JobRun.state, literal_column(f"'{JobState.FAILED.value}'"))


def read_before(session: Session, before: datetime) -> Sequence[Upload]:
    """Return uploads that still have their file and whose last run succeeded before this time."""
    last = _last_runs()
    query = (
        select(Upload)
        .join(last, last.c.upload_id == Upload.id)
        .join(JobRun, JobRun.id == last.c.job_id)
        .where(Upload.removed_at.is_(None), JobRun.state == JobState.DONE, JobRun.ended_at < before)
    )
    return session.scalars(query).all()


def is_wanted(session: Session, sha256: str) -> bool:
    """Return whether any upload still needs the file with this digest."""
    query = select(func.count(Upload.id)).where(Upload.sha256 == sha256, Upload.removed_at.is_(None))
    return bool(session.scalars(query).one())


def known_digests(session: Session, digests: Collection[str], *, is_wanted: bool) -> set[str]:
    """Return those of these digests that an upload has; `is_wanted` limits them to uploads that still have their file."""
    found: set[str] = set()
    for portion in portions(digests):
        query = select(Upload.sha256).where(Upload.sha256.in_(portion))
        found.update(session.scalars(query.where(Upload.removed_at.is_(None)) if is_wanted else query))
    return found


def count_wanted(session: Session) -> int:
    """Return the number of files that uploads should have."""
    query = select(func.count(Upload.sha256.distinct())).where(Upload.removed_at.is_(None))
    return session.scalars(query).one()


def with_file(session: Session) -> Sequence[Upload]:
    """Return all uploads that should have their file, oldest first."""
    return session.scalars(select(Upload).where(Upload.removed_at.is_(None)).order_by(Upload.id)).all()


def list_mappings(session: Session) -> Sequence[QsgMapping]:
    """Return all entries of the map, in order."""
    return session.scalars(select(QsgMapping).order_by(QsgMapping.system_id, QsgMapping.queue_manager)).all()


def find_mapping(session: Session, system_id: str, queue_manager: str) -> QsgMapping | None:
    """Return one entry of the map."""
    return session.get(QsgMapping, (system_id, queue_manager))


def remove_mapping(session: Session, system_id: str, queue_manager: str) -> bool:
    """Remove an entry; return whether there was one."""
    query = delete(QsgMapping).where(
        QsgMapping.system_id == system_id, QsgMapping.queue_manager == queue_manager
    )
    return bool(session.execute(query).rowcount)  # type: ignore[attr-defined]


def stored_files(session: Session) -> tuple[int, int, int]:
    """Return the number of uploads, the number of those whose file is still stored, and the bytes of these files."""
    is_stored = Upload.removed_at.is_(None)
    query = select(
        func.count(Upload.id),
        func.count(Upload.id).filter(is_stored),
        func.coalesce(func.sum(Upload.size_bytes).filter(is_stored), 0),
    )
    everything, stored, size_bytes = session.execute(query).one()
    return everything, stored, int(size_bytes)
