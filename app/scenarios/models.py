"""The table of scenarios.

A scenario contains its result: the plan's version before and after its changes, the losses, the commands and the origin
of every figure. It is recalculated only when it is saved again
(docs/decisions/0018-scenarios-keep-what-they-led-to.md).
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.database.types import KEY, Base, CompressedText, Timestamp
from app.plans.models import LONGEST_NAME


class Scenario(Base):
    """A scenario of a plan. Its id is never reused, so that an ETag never identifies two scenarios."""

    __tablename__ = "scenarios"
    __table_args__ = (UniqueConstraint("plan_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    plan_id: Mapped[int] = mapped_column(ForeignKey("plans.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(LONGEST_NAME))
    revision: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
    core_version: Mapped[str] = mapped_column(String(40))
    note: Mapped[str] = mapped_column(Text)
    changes: Mapped[str] = mapped_column(Text)
    # The result contains the origin of every figure, which is too long for a list that needs only the summary.
    result: Mapped[str] = mapped_column(CompressedText)
    summary: Mapped[str] = mapped_column(Text)
    author: Mapped[str | None] = mapped_column(String(LONGEST_ACTOR))
    """The name of the actor who saved it last; None for scenarios saved before authors were stored."""
