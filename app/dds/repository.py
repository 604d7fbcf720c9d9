"""SQL of polled intervals. Callers commit."""

from __future__ import annotations

from collections.abc import Sequence
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


def next_start(session: Session, connection: str, after: datetime) -> datetime | None:
    """Return the start of the first polled interval that begins after a time; None if there is none."""
    found = select(DdsInterval.start_at).where(
        DdsInterval.connection == connection, DdsInterval.start_at > after, DdsInterval.missing.is_(None)
    )
    return session.scalar(found.order_by(DdsInterval.start_at).limit(1))


def overlapping(session: Session, connection: str, start: datetime, end: datetime) -> bool:
    """Return whether a polled interval has a part of this one; a gap may be filled later."""
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


def hold_waiting(session: Session, connection: str, starts: Sequence[datetime]) -> Sequence[str]:
    """Return the reports of intervals that are in no upload yet, in order, and hold them until the transaction ends.

    Another process that polls the same connection may have handed some of them over.
    """
    found = select(DdsInterval.report).where(
        DdsInterval.connection == connection,
        DdsInterval.start_at.in_(starts),
        DdsInterval.is_waiting.is_(True),
        DdsInterval.report.is_not(None),
    )
    texts = session.scalars(found.order_by(DdsInterval.start_at).with_for_update()).all()
    return [text for text in texts if text is not None]


def handed_over(session: Session, connection: str, starts: Sequence[datetime], upload_id: int) -> None:
    """Mark intervals as being in an upload; their reports are there from now on."""
    session.execute(
        update(DdsInterval)
        .where(
            DdsInterval.connection == connection,
            DdsInterval.start_at.in_(starts),
            DdsInterval.is_waiting.is_(True),
        )
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
