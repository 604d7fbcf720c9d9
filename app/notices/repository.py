"""All SQL about notices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from app.database.portions import portions
from app.database.types import AnyRow
from app.jobs.models import JobRun, JobState
from app.nightly.models import NightlyRun
from app.notices.models import (
    Channel,
    DeliveryState,
    LimitBaseline,
    Notice,
    NoticeDelivery,
    NoticeKind,
    NoticeMessage,
    NoticeProgress,
)

LimitKey = tuple[str, str, str, str, str]
"""Group, structure, measure, queue manager and level."""


# ---- events ----------------------------------------------------------------------------------------------------------


def last_end(session: Session) -> datetime | None:
    """Return the time at which a job last ended."""
    return session.scalar(select(func.max(JobRun.ended_at)))


def progress(session: Session) -> NoticeProgress | None:
    """Return the last nightly run whose events were looked for; None before the first look."""
    return session.get(NoticeProgress, 1)


def runs_after(session: Session, run_id: int) -> Sequence[AnyRow]:
    """Return number, job state, sentence and end of the runs after this one, oldest first."""
    query = (
        select(NightlyRun.id, JobRun.state, JobRun.sentence, JobRun.ended_at)
        .join(JobRun, JobRun.id == NightlyRun.job_id)
        .where(NightlyRun.id > run_id)
        .order_by(NightlyRun.id)
    )
    return session.execute(query).all()


def is_ended(state: str) -> bool:
    """Return whether a job in this state never changes again."""
    return state in (JobState.DONE, JobState.FAILED)


def baselines(session: Session) -> Mapping[LimitKey, LimitBaseline]:
    """Return the dates of all limits as they were last reported."""
    return {
        (row.qsg, row.structure, row.measure, row.queue_manager, row.level): row
        for row in session.scalars(select(LimitBaseline))
    }


def known_keys(session: Session, keys: Iterable[str]) -> set[str]:
    """Return those of these keys for which there is a notice."""
    return {
        key
        for some in portions(keys)
        for key in session.scalars(select(Notice.key).where(Notice.key.in_(some)))
    }


def last_due(session: Session, kind: NoticeKind, qsg: str, structure: str) -> datetime | None:
    """Return the latest time at which a notice of this kind about a structure was or is due."""
    query = select(func.max(Notice.due_at)).where(
        Notice.kind == kind.value, Notice.qsg == qsg, Notice.structure == structure
    )
    return session.scalar(query)


# ---- the outbox ------------------------------------------------------------------------------------------------------


def due(session: Session, now: datetime, *, limit: int) -> Sequence[Notice]:
    """Return notices that are due and in no message yet, oldest first."""
    query = select(Notice).where(Notice.message_id.is_(None), Notice.due_at <= now)
    return session.scalars(query.order_by(Notice.id).limit(limit)).all()


def deliveries_due(session: Session, now: datetime) -> Sequence[NoticeDelivery]:
    """Return deliveries whose next attempt is due, oldest first."""
    query = select(NoticeDelivery).where(
        NoticeDelivery.state == DeliveryState.WAITING, NoticeDelivery.next_at <= now
    )
    return session.scalars(query.order_by(NoticeDelivery.id)).all()


def claim(session: Session, delivery: NoticeDelivery, *, until: datetime) -> bool:
    """Take an attempt, so that no other process makes it before `until`; return whether it was free."""
    taken = session.execute(
        update(NoticeDelivery)
        .where(
            NoticeDelivery.id == delivery.id,
            NoticeDelivery.state == DeliveryState.WAITING,
            NoticeDelivery.attempts == delivery.attempts,
        )
        .values(attempts=delivery.attempts + 1, next_at=until)
        .execution_options(synchronize_session=False)
    )
    return bool(taken.rowcount)  # type: ignore[attr-defined]


def find_delivery(session: Session, delivery_id: int) -> NoticeDelivery | None:
    """Return a delivery."""
    return session.get(NoticeDelivery, delivery_id)


def message_with_notices(session: Session, message_id: int) -> tuple[NoticeMessage | None, Sequence[Notice]]:
    """Return a message and its notices, oldest first."""
    query = select(Notice).where(Notice.message_id == message_id).order_by(Notice.id)
    return session.get(NoticeMessage, message_id), session.scalars(query).all()


def purge(session: Session, before: datetime, *, keeps: Collection[str] = ()) -> None:
    """Remove messages that were created before a time and wait on no channel, with their notices.

    A message with a notice whose key is in `keeps` stays.
    """
    waiting = select(NoticeDelivery.message_id).where(NoticeDelivery.state == DeliveryState.WAITING)
    old = select(NoticeMessage.id).where(NoticeMessage.created_at < before, NoticeMessage.id.not_in(waiting))
    # Listed first: a subquery of the table whose rows are deleted is not the same on every database.
    numbers = set(session.scalars(old))
    for keys in portions(keeps):
        numbers.difference_update(session.scalars(select(Notice.message_id).where(Notice.key.in_(keys))))
    for some in portions(numbers):
        session.execute(delete(Notice).where(Notice.message_id.in_(some)))
        session.execute(delete(NoticeDelivery).where(NoticeDelivery.message_id.in_(some)))
        session.execute(delete(NoticeMessage).where(NoticeMessage.id.in_(some)))


# ---- lists -----------------------------------------------------------------------------------------------------------


def page_of_notices(
    session: Session, *, search: str, offset: int, limit: int
) -> tuple[Sequence[Notice], int]:
    """Return part of the notices whose group or structure contains a text, newest first, and their number."""
    query = select(Notice)
    if search:
        names = (
            func.lower(name).contains(search.lower(), autoescape=True)
            for name in (Notice.qsg, Notice.structure)
        )
        query = query.where(or_(*names))
    total = session.scalar(select(func.count()).select_from(query.subquery())) or 0
    return session.scalars(query.order_by(Notice.id.desc()).offset(offset).limit(limit)).all(), total


def deliveries_of(session: Session, message_ids: Iterable[int]) -> Mapping[int, Sequence[NoticeDelivery]]:
    """Return the deliveries of these messages, by message."""
    found: dict[int, list[NoticeDelivery]] = {}
    for some in portions(message_ids):
        query = select(NoticeDelivery).where(NoticeDelivery.message_id.in_(some))
        for row in session.scalars(query.order_by(NoticeDelivery.id)):
            found.setdefault(row.message_id, []).append(row)
    return found


def waiting_count(session: Session) -> int:
    """Return the number of notices that are in no message yet, in a quiet period or not."""
    return session.scalar(select(func.count()).where(Notice.message_id.is_(None))) or 0


def delivery_counts(session: Session) -> Sequence[tuple[str, str, int]]:
    """Return the number of messages by channel and state, also where it is 0."""
    one = NoticeDelivery
    query = select(one.channel, one.state, func.count()).group_by(one.channel, one.state)
    found = {(channel, state): number for channel, state, number in session.execute(query)}
    return [
        (channel.value, state.value, found.get((channel, state), 0))
        for channel in Channel
        for state in DeliveryState
    ]


def last_given_up(session: Session) -> Mapping[str, datetime]:
    """Return the time at which a message was last given up, by channel; channels without such a message are missing.

    The number of these messages says nothing about new ones, because old messages are removed.
    """
    one = NoticeDelivery
    query = select(one.channel, func.max(one.ended_at)).where(one.state == DeliveryState.FAILED)
    return {channel: at for channel, at in session.execute(query.group_by(one.channel)) if at is not None}


def given_up(session: Session, channel: str) -> int:
    """Return the number of messages that were given up on a channel."""
    one = NoticeDelivery
    query = select(func.count()).where(one.channel == channel, one.state == DeliveryState.FAILED)
    return session.scalar(query) or 0


def last_delivery(session: Session, channel: str) -> NoticeDelivery | None:
    """Return the delivery of a channel that was attempted last."""
    query = select(NoticeDelivery).where(and_(NoticeDelivery.channel == channel, NoticeDelivery.attempts > 0))
    return session.scalars(query.order_by(NoticeDelivery.id.desc()).limit(1)).one_or_none()
