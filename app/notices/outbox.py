"""The outbox: notices become messages, and each message is sent at least once on each channel.

Every step is a transaction of its own, so that it can be interrupted at any moment and repeated. A message that was sent
but not marked as sent is sent again with the same identifier, by which the other side can recognize it.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.database.engine import Database
from app.notices import channels, repository
from app.notices.channels import STEPS, SendingFailed
from app.notices.message import Message, message_of
from app.notices.models import Channel, DeliveryState, NoticeDelivery, NoticeMessage
from app.settings import Settings

MOST_IN_MESSAGE: Final = 200
"""Notices in one message; more are sent in further messages."""
FIRST_PAUSE: Final = timedelta(minutes=1)
LONGEST_PAUSE: Final = timedelta(hours=1)
GIVEN_UP_AFTER: Final = timedelta(days=3)
"""Age of a message from which a failed attempt is the last one."""
NOT_CONFIGURED = "The settings no longer have this channel."

logger = logging.getLogger("cfplan.notices")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to send a message."""

    delivery_id: int
    channel: Channel
    attempts: int
    """The number of attempts including this one."""
    message: Message


def compose(session: Session, settings: Settings, now: datetime) -> int:
    """Make messages of all notices that are due, and return their number; the caller commits."""
    wanted = [each.channel for each in channels.configured(settings)]
    made = 0
    while wanted and (notices := repository.due(session, now, limit=MOST_IN_MESSAGE)):
        message = NoticeMessage(token=secrets.token_hex(16), created_at=now)
        session.add(message)
        session.flush()
        for notice in notices:
            notice.message_id = message.id
        session.add_all(
            NoticeDelivery(
                message_id=message.id, channel=channel.value, state=DeliveryState.WAITING, attempts=0, next_at=now, error=""
            )
            for channel in wanted
        )  # fmt: skip
        session.flush()
        made += 1
    return made


def due_by_channel(session: Session, now: datetime) -> Mapping[str, Sequence[int]]:
    """Return the numbers of the deliveries that are due, oldest first, by channel."""
    found: dict[str, list[int]] = {}
    for each in repository.deliveries_due(session, now):
        found.setdefault(each.channel, []).append(each.id)
    return found


def send_due(
    database: Database,
    settings: Settings,
    delivery_ids: Sequence[int],
    *,
    clock: Callable[[], datetime] = utc_now,
    is_stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Attempt these deliveries one after another, and return the number of messages that were sent."""
    sent = 0
    for delivery_id in delivery_ids:
        if is_stopping():
            break
        attempt = _claim(database, settings, delivery_id, clock())
        if attempt is not None:
            sent += _attempt(database, settings, attempt, clock)
    return sent


def _claim(database: Database, settings: Settings, delivery_id: int, now: datetime) -> Attempt | None:
    # If this process is killed while it sends, another attempt is made after the time that the longest one may take.
    until = now + timedelta(seconds=2 * STEPS * settings.notice_timeout_s)
    with database.session(writes=True) as session:
        delivery = repository.find_delivery(session, delivery_id)
        if delivery is None or delivery.state != DeliveryState.WAITING or delivery.next_at > now:
            return None
        attempts = delivery.attempts + 1
        if not repository.claim(session, delivery, until=until):
            return None
        message, notices = repository.message_with_notices(session, delivery.message_id)
        if message is None or not notices:
            return None
        return Attempt(delivery_id, Channel(delivery.channel), attempts, message_of(message, notices))


def _attempt(database: Database, settings: Settings, attempt: Attempt, clock: Callable[[], datetime]) -> bool:
    error = remark = ""
    if attempt.channel in {each.channel for each in channels.configured(settings)}:
        try:
            remark = channels.send(attempt.channel, attempt.message, settings)
        except SendingFailed as failure:
            error = str(failure)
    else:
        error = NOT_CONFIGURED
    now = clock()
    with database.session(writes=True) as session:
        delivery = repository.find_delivery(session, attempt.delivery_id)
        # Another process made a later attempt while this one took too long.
        if (
            delivery is None
            or delivery.state != DeliveryState.WAITING
            or delivery.attempts != attempt.attempts
        ):
            return not error
        is_last = error == NOT_CONFIGURED or now - attempt.message.created_at >= GIVEN_UP_AFTER
        delivery.error = error or remark
        if not error:
            _end(session, delivery, DeliveryState.SENT, attempt, now)
        elif is_last:
            _end(session, delivery, DeliveryState.FAILED, attempt, now)
        else:
            delivery.next_at = now + pause_after(attempt.attempts)
    if error:
        logger.warning(
            "Message %d (%s), attempt %d: %s", attempt.delivery_id, attempt.channel, attempt.attempts, error
        )
    else:
        logger.info("Message %d was sent (%s).", attempt.delivery_id, attempt.channel)
    return not error


def _end(
    session: Session, delivery: NoticeDelivery, state: DeliveryState, attempt: Attempt, now: datetime
) -> None:
    delivery.state, delivery.ended_at = state, now
    details = {
        "channel": attempt.channel.value,
        "notices": len(attempt.message.parts),
        "attempts": attempt.attempts,
        "titles": [each.title for each in attempt.message.parts[:5]],
        "sentence": delivery.error or None,
    }
    action = Action.NOTICE_SENT if state is DeliveryState.SENT else Action.NOTICE_FAILED
    record(session, action, AuditObject("notice", attempt.message.key, id=delivery.message_id), details)


def pause_after(attempts: int) -> timedelta:
    """Return the pause after a number of failed attempts: it doubles from a minute to an hour.

    >>> [int(pause_after(attempts).total_seconds() / 60) for attempts in (1, 2, 3, 7, 50)]
    [1, 2, 4, 60, 60]
    """
    doubled = min(attempts - 1, 10)
    return min(FIRST_PAUSE * 2**doubled, LONGEST_PAUSE)
