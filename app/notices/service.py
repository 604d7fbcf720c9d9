"""Notices as REST, the page and the command list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.notices import channels, repository
from app.notices.models import Channel, DeliveryState, Notice, NoticeDelivery
from app.paging import ListRequest, ResultPage
from app.settings import Settings
from planner_core.wire import Answer, JsonObject

NoticeState = Literal["quiet", "waiting", "sent", "failed"]


@dataclass(frozen=True, slots=True)
class DeliveryInfo(Answer):
    """A notice on one channel."""

    channel: Channel
    state: DeliveryState
    attempts: int
    next_at: Annotated[datetime | None, Field(description="Time of the next attempt; null after the last.")]
    ended_at: datetime | None
    error: Annotated[
        str, Field(description="Error of the last attempt, or recipients that were refused; empty for none.")
    ]


@dataclass(frozen=True, slots=True)
class NoticeInfo(Answer):
    """A notice."""

    id: int
    kind: Annotated[str, Field(description="`date_moved`, `structure_full` or `nightly_failed`.")]
    severity: Literal["error", "warning", "info"]
    qsg: Annotated[str | None, Field(description="Null for events of the service.")]
    structure: str | None
    title: str
    text: str
    source: Annotated[str, Field(description="The basis of the figures.")]
    href: Annotated[str, Field(description="The page about it.")]
    figures: Annotated[
        JsonObject, Field(description="The figures in the text; the members depend on `kind`.")
    ]
    created_at: datetime
    due_at: Annotated[
        datetime, Field(description="Time from which it is sent; later than `created_at` in a quiet period.")
    ]
    state: Annotated[
        NoticeState,
        Field(description="`quiet`: held back until `due_at`. `failed`: given up on at least one channel."),
    ]
    deliveries: tuple[DeliveryInfo, ...]


@dataclass(frozen=True, slots=True)
class NoticePage(ResultPage[NoticeInfo]):
    """One page of the notices, newest first."""

    items: Annotated[tuple[NoticeInfo, ...], Field(serialization_alias="notices")]


@dataclass(frozen=True, slots=True)
class ChannelStatus:
    """A configured channel, with the outcome of its last attempt."""

    title: str
    target: str
    last: str
    is_failing: bool
    given_up: int
    """Messages that were given up and are still listed."""


TITLES = {Channel.EMAIL: "Email", Channel.WEBHOOK: "Webhook"}


def list_notices(session: Session, asked: ListRequest, *, now: datetime) -> NoticePage:
    """Return one page of notices, newest first."""
    rows, total = repository.page_of_notices(
        session, search=asked.search, offset=asked.page.offset, limit=asked.page.per_page
    )
    messages = {row.message_id for row in rows if row.message_id is not None}
    deliveries = repository.deliveries_of(session, messages)
    items = tuple(
        _info(row, deliveries.get(row.message_id, ()) if row.message_id is not None else (), now)
        for row in rows
    )
    return NoticePage.of(items, total, asked.page)


def channel_states(session: Session, settings: Settings) -> tuple[ChannelStatus, ...]:
    """Return the channels of the settings with their last attempt."""
    found = []
    for each in channels.configured(settings):
        last = repository.last_delivery(session, each.channel.value)
        words, is_failing = "No message yet.", False
        if last is not None and last.state == DeliveryState.SENT:
            words = "The last message was sent."
        elif last is not None:
            is_failing = bool(last.error)
            words = last.error or "A message is being sent."
        given_up = repository.given_up(session, each.channel.value)
        found.append(ChannelStatus(TITLES[each.channel], each.target, words, is_failing, given_up))
    return tuple(found)


def _info(row: Notice, deliveries: Sequence[NoticeDelivery], now: datetime) -> NoticeInfo:
    return NoticeInfo(
        id=row.id,
        kind=row.kind,
        severity=row.severity,  # type: ignore[arg-type]  # only such texts are stored
        qsg=row.qsg or None,
        structure=row.structure or None,
        title=row.title,
        text=row.text,
        source=row.source,
        href=row.path,
        figures=row.figures,
        created_at=row.created_at,
        due_at=row.due_at,
        state=_state(row, deliveries, now),
        deliveries=tuple(
            DeliveryInfo(
                channel=Channel(each.channel),
                state=DeliveryState(each.state),
                attempts=each.attempts,
                next_at=each.next_at if each.state == DeliveryState.WAITING else None,
                ended_at=each.ended_at,
                error=each.error,
            )
            for each in deliveries
        ),
    )


def _state(row: Notice, deliveries: Sequence[NoticeDelivery], now: datetime) -> NoticeState:
    states = {each.state for each in deliveries}
    if not states:
        return "quiet" if row.due_at > now else "waiting"
    if DeliveryState.FAILED in states:
        return "failed"
    return "waiting" if DeliveryState.WAITING in states else "sent"
