"""The table of scenarios.

A scenario keeps its result as it was saved: the plan's version before and after its changes, the losses, the commands and
the origin of every figure. It is recalculated only when it is saved again.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.database.types import Base, CompressedText, Timestamp
from app.plans.models import LONGEST_NAME

_KEY = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only what it calls INTEGER


class Scenario(Base):
    """A scenario of a plan. Its number is never used again, so that an ETag never has two meanings."""

    __tablename__ = "scenarios"
    __table_args__ = (UniqueConstraint("plan_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(_KEY, primary_key=True)
    plan_id: Mapped[int] = mapped_column(ForeignKey("plans.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(LONGEST_NAME))
    revision: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
    core_version: Mapped[str] = mapped_column(String(40))
    note: Mapped[str] = mapped_column(Text)
    changes: Mapped[str] = mapped_column(Text)
    result: Mapped[str] = mapped_column(CompressedText)
    summary: Mapped[str] = mapped_column(Text)
