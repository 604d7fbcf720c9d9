"""The table of sizing points: answers of sizing services, and displays of empty structures."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import BigInteger, Date, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.database.types import KEY, Base, Timestamp
from planner_core.texts.sizing_answers import LONGEST_PERSON, LONGEST_RELEASE


class StoredPoint(Base):
    """A sizing point. A fit keeps a copy of its points, so removing one changes no fitted curve."""

    __tablename__ = "sizing_points"
    __table_args__ = (
        UniqueConstraint("digest"),
        Index("ix_sizing_points_cfcc_level_kind", "cfcc_level", "kind"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    """Digest of the figures, origin and release: the same answer is stored once, even if two people measured it."""
    cfcc_level: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(String(12))
    """The structures that are fitted together: application or admin."""
    structure_type: Mapped[str] = mapped_column(String(12))
    entry_ratio: Mapped[int] = mapped_column(Integer)
    element_ratio: Mapped[int] = mapped_column(Integer)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    initsize_bytes: Mapped[int] = mapped_column(BigInteger)
    entries: Mapped[int | None] = mapped_column(BigInteger)
    elements: Mapped[int | None] = mapped_column(BigInteger)
    origin: Mapped[str] = mapped_column(String(12))
    release: Mapped[str] = mapped_column(String(LONGEST_RELEASE))
    structure: Mapped[str] = mapped_column(String(16))
    """The name of the structure in a display; otherwise empty."""
    measured_by: Mapped[str] = mapped_column(String(LONGEST_PERSON))
    measured_on: Mapped[date | None] = mapped_column(Date)
    added_at: Mapped[datetime] = mapped_column(Timestamp)
    author: Mapped[str | None] = mapped_column(String(LONGEST_ACTOR))
    """The name of the actor who added it."""
