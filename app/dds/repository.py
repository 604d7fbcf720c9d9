"""SQL of polled intervals. Callers commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.dds.models import DdsInterval, DdsPoller

MOST_GAPS: Final = 100


def poller(session: Session, connection: str) -> DdsPoller | None:
    """Return how far a connection was polled; None if it never was."""
    return session.get(DdsPoller, connection)


def interval_from(session: Session, connection: str, start: datetime) -> DdsInterval | None:
    """Return the interval, polled or missing, that begins at a time."""
    return session.get(DdsInterval, (connection, start))


def overlapping(session: Session, connection: str, start: datetime, end: datetime) -> bool:
    """Return whether a polled interval has a part of this one."""
    found = select(DdsInterval.start_at).where(
        DdsInterval.connection == connection,
        DdsInterval.start_at < end,
        DdsInterval.end_at > start,
        DdsInterval.missing.is_(None),
    )
    return session.scalar(found.limit(1)) is not None


def waiting_starts(session: Session, connection: str) -> Sequence[datetime]:
    """Return the starts of the intervals that are in no upload yet, in order."""
    found = select(DdsInterval.start_at).where(
        DdsInterval.connection == connection, DdsInterval.is_waiting.is_(True)
    )
    return session.scalars(found.order_by(DdsInterval.start_at)).all()


def reports(session: Session, connection: str, starts: Sequence[datetime]) -> Iterator[str]:
    """Yield the reports of intervals, in order."""
    for start in starts:
        found = session.get(DdsInterval, (connection, start))
        if found is not None and found.report is not None:
            yield found.report


def handed_over(session: Session, connection: str, starts: Sequence[datetime], upload_id: int) -> None:
    """Mark intervals as being in an upload; their reports are there from now on."""
    session.execute(
        update(DdsInterval)
        .where(DdsInterval.connection == connection, DdsInterval.start_at.in_(starts))
        .values(is_waiting=False, report=None, upload_id=upload_id)
    )


def gaps(session: Session, connection: str) -> Sequence[DdsInterval]:
    """Return the missing intervals, newest first."""
    found = select(DdsInterval).where(DdsInterval.connection == connection, DdsInterval.missing.is_not(None))
    return session.scalars(found.order_by(DdsInterval.start_at.desc()).limit(MOST_GAPS)).all()


def forget(session: Session, connection: str, *, before: datetime, gaps_before: datetime) -> None:
    """Delete old intervals that are in uploads, and older gaps."""
    mine = DdsInterval.connection == connection
    session.execute(
        delete(DdsInterval).where(
            mine,
            DdsInterval.end_at < before,
            DdsInterval.is_waiting.is_(False),
            DdsInterval.missing.is_(None),
        )
    )
    session.execute(
        delete(DdsInterval).where(mine, DdsInterval.end_at < gaps_before, DdsInterval.missing.is_not(None))
    )
