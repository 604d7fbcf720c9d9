"""All SQL about uploads and the map of queue managers to groups."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.database.transactions import hold_lock
from app.jobs.models import JobRun, JobState
from app.uploads.models import QsgMapping, Upload

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


def page(session: Session, *, offset: int, limit: int) -> tuple[Sequence[Upload], int]:
    """Return one page of uploads, newest first, and the total."""
    total = session.scalars(select(func.count(Upload.id))).one()
    query = select(Upload).order_by(Upload.id.desc()).offset(offset).limit(limit)
    return session.scalars(query).all(), total


def read_before(session: Session, before: datetime) -> Sequence[Upload]:
    """Return uploads that still have their file and whose last run succeeded before this time."""
    last = select(JobRun.upload_id, func.max(JobRun.id).label("job_id")).group_by(JobRun.upload_id).subquery()
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
