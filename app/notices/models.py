"""The tables of notices: an outbox, from which messages are sent at least once.

A notice is stored with the event that it reports. Notices that become due together are one message; its content never
changes, so that each attempt sends the same message with the same identifier.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.database.types import KEY, Base, Timestamp
from planner_core.wire import JsonObject

LONGEST_KEY = 200


class NoticeKind(StrEnum):
    """The event that a notice reports."""

    DATE_MOVED = "date_moved"
    STRUCTURE_FULL = "structure_full"
    NIGHTLY_FAILED = "nightly_failed"


class Channel(StrEnum):
    """A way to send messages."""

    EMAIL = "email"
    WEBHOOK = "webhook"


class DeliveryState(StrEnum):
    """The state of a message on one channel."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"


class NoticeMessage(Base):
    """A message: the notices that became due together."""

    __tablename__ = "notice_messages"
    __table_args__ = (UniqueConstraint("token"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    token: Mapped[str] = mapped_column(String(32))
    """The part of the Message-ID and of the idempotency key that makes the message unique."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class Notice(Base):
    """One event. Its key is unique, so that the event is reported once however often it is found."""

    __tablename__ = "notices"
    __table_args__ = (
        UniqueConstraint("key"),
        Index("ix_notices_message_id", "message_id", "due_at"),
        Index("ix_notices_kind_qsg_structure", "kind", "qsg", "structure", "due_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    key: Mapped[str] = mapped_column(String(LONGEST_KEY))
    kind: Mapped[str] = mapped_column(String(20))
    severity: Mapped[str] = mapped_column(String(10))
    qsg: Mapped[str] = mapped_column(String(4))
    structure: Mapped[str] = mapped_column(String(16))
    """Group and structure; both are empty for events of the service."""
    title: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    """The basis of the figures."""
    path: Mapped[str] = mapped_column(String(200))
    """The page about it."""
    figures: Mapped[JsonObject] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    due_at: Mapped[datetime] = mapped_column(Timestamp)
    """The time from which it is sent: later than `created_at` in a quiet period."""
    message_id: Mapped[int | None] = mapped_column(ForeignKey("notice_messages.id", ondelete="SET NULL"))


class NoticeDelivery(Base):
    """A message on one channel."""

    __tablename__ = "notice_deliveries"
    __table_args__ = (
        UniqueConstraint("message_id", "channel"),
        Index("ix_notice_deliveries_state", "state", "next_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    message_id: Mapped[int] = mapped_column(ForeignKey("notice_messages.id", ondelete="CASCADE"))
    channel: Mapped[str] = mapped_column(String(10))
    state: Mapped[str] = mapped_column(String(10))
    attempts: Mapped[int] = mapped_column(Integer)
    next_at: Mapped[datetime] = mapped_column(Timestamp)
    """The time of the next attempt. An attempt moves it first, so that no other process makes the same one."""
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    error: Mapped[str] = mapped_column(Text)
    """The error of the last attempt, or recipients that the mail server refused."""


class LimitBaseline(Base):
    """The date of a limit as it was last reported, or first seen; a date that moves is compared with it."""

    __tablename__ = "notice_baselines"
    __table_args__ = ({"sqlite_with_rowid": False},)

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    measure: Mapped[str] = mapped_column(String(12), primary_key=True)
    queue_manager: Mapped[str] = mapped_column(String(4), primary_key=True)
    level: Mapped[str] = mapped_column(String(40), primary_key=True)
    day: Mapped[date | None] = mapped_column(Date)
    """The median; None is beyond the horizon."""
    is_passed: Mapped[bool] = mapped_column(Boolean)
    value: Mapped[float | None] = mapped_column(Float)
    """The value of the limit for which the date was calculated; None if an earlier release stored the row."""
    made_on: Mapped[date] = mapped_column(Date)


class NoticeProgress(Base):
    """The last nightly run whose events were looked for. Before the first look, the table is empty."""

    __tablename__ = "notice_progress"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    last_run_id: Mapped[int] = mapped_column(BigInteger)
