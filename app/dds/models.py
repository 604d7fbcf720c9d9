"""The tables of polled intervals, and of how far each connection was polled."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.connections.models import LONGEST_NAME, LONGEST_SENTENCE
from app.database.types import KEY, Base, CompressedText, Timestamp


class DdsPoller(Base):
    """How far a connection was polled."""

    __tablename__ = "dds_pollers"
    __table_args__ = ({"sqlite_with_rowid": False},)

    connection: Mapped[str] = mapped_column(String(LONGEST_NAME), primary_key=True)
    reached: Mapped[datetime] = mapped_column(Timestamp)
    """Each interval before this time is stored, or is known to be missing."""
    latest: Mapped[datetime] = mapped_column(Timestamp)
    """The end of the last interval that the server reported."""
    interval_s: Mapped[int] = mapped_column(Integer)
    attempts: Mapped[int] = mapped_column(Integer)
    """How often the interval after `reached` was requested without an answer for it."""
    polled_at: Mapped[datetime] = mapped_column(Timestamp)


class DdsInterval(Base):
    """An interval that was polled, or is missing. The key makes it impossible to store one twice."""

    __tablename__ = "dds_intervals"
    __table_args__ = (
        Index("ix_dds_intervals_waiting", "connection", "is_waiting", "end_at"),
        {"sqlite_with_rowid": False},
    )

    connection: Mapped[str] = mapped_column(String(LONGEST_NAME), primary_key=True)
    start_at: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)
    end_at: Mapped[datetime] = mapped_column(Timestamp)
    is_waiting: Mapped[bool]
    """Whether its report is in `report` and in no upload yet."""
    report: Mapped[str | None] = mapped_column(CompressedText)
    upload_id: Mapped[int | None] = mapped_column(KEY, ForeignKey("uploads.id", ondelete="SET NULL"))
    missing: Mapped[str | None] = mapped_column(String(LONGEST_SENTENCE))
    """Why the interval is missing; None for a polled one."""
