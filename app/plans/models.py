"""The tables of the plans.

A version is written once and never changed. It contains the document, the curve, the version of the core, the result,
its explanations and the texts for z/OS, so an old plan always shows the same figures.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.database.parts import PartedText
from app.database.types import KEY, Base, CompressedParts, CompressedText, Timestamp

LONGEST_NAME = 64
LONGEST_COMMENT = 500


class Plan(Base):
    """A plan, current or deleted. Its id is never reused, so that an ETag never identifies two plans."""

    __tablename__ = "plans"
    __table_args__ = (
        Index(
            # Partial, because deleted plans keep their names, and several of them may have the same one.
            "uq_plans_living_name",
            "name",
            unique=True,
            sqlite_where=text("deleted_at IS NULL"),
            postgresql_where=text("deleted_at IS NULL"),
        ),
        Index("ix_plans_deleted_at", "deleted_at"),
        # Without it, SQLite would reuse the id of a removed last row, and with it the ETags of that plan.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    name: Mapped[str] = mapped_column(String(LONGEST_NAME))
    latest: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)


class PlanVersion(Base):
    """One saved version of a plan."""

    __tablename__ = "plan_versions"
    __table_args__ = (UniqueConstraint("plan_id", "number"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    plan_id: Mapped[int] = mapped_column(ForeignKey("plans.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    comment: Mapped[str | None] = mapped_column(String(LONGEST_COMMENT))
    schema_version: Mapped[int] = mapped_column(Integer)
    core_version: Mapped[str] = mapped_column(String(40))
    document: Mapped[str] = mapped_column(Text)
    curve: Mapped[str] = mapped_column(Text)
    result: Mapped[str] = mapped_column(Text)
    # Compressed, because a large plan has tens of megabytes that are never searched, and in parts, because a page shows
    # those of one structure or of the totals.
    explanations: Mapped[PartedText] = mapped_column(CompressedParts)
    qsg: Mapped[str] = mapped_column(String(4))
    structures: Mapped[int] = mapped_column(Integer)
    initsize_kib: Mapped[int] = mapped_column(BigInteger)
    size_kib: Mapped[int] = mapped_column(BigInteger)
    errors: Mapped[int] = mapped_column(Integer)
    warnings: Mapped[int] = mapped_column(Integer)
    infos: Mapped[int] = mapped_column(Integer)
    acknowledged: Mapped[int] = mapped_column(Integer)
    author: Mapped[str | None] = mapped_column(String(LONGEST_ACTOR))
    """The name of the actor who saved the version; None for versions saved before authors were stored."""


class PlanOutput(Base):
    """A text for z/OS of one version, or a JSON object with the reason and the findings that prevent it."""

    __tablename__ = "plan_outputs"

    version_id: Mapped[int] = mapped_column(
        ForeignKey("plan_versions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    filename: Mapped[str | None] = mapped_column(String(100))
    text: Mapped[str | None] = mapped_column(CompressedText)
    refusal: Mapped[str | None] = mapped_column(Text)


class StoredPlanName(Base):
    """A name in the latest version of a plan, for searches; the documents of all plans would take too long to read."""

    __tablename__ = "plan_names"
    # The kind comes first, because a search reads the names of one kind in all plans.
    __table_args__ = (Index(None, "plan_id"), {"sqlite_with_rowid": False})

    kind: Mapped[str] = mapped_column(String(9), primary_key=True)
    name: Mapped[str] = mapped_column(String(LONGEST_NAME), primary_key=True)
    structure: Mapped[str] = mapped_column(String(12), primary_key=True)
    plan_id: Mapped[int] = mapped_column(
        ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    qsg: Mapped[str] = mapped_column(String(4))
    severity: Mapped[str] = mapped_column(String(7))
    occurrences: Mapped[int] = mapped_column(Integer)


class PlanApproval(Base):
    """The approval of a version by a second person. Withdrawing it removes the row; the audit trail keeps both."""

    __tablename__ = "plan_approvals"

    plan_id: Mapped[int] = mapped_column(
        ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    approver: Mapped[str] = mapped_column(String(LONGEST_ACTOR))
    approved_at: Mapped[datetime] = mapped_column(Timestamp)


class PlanAcknowledgment(Base):
    """Who acknowledged a finding: the actor who saved a version whose document has an entry that the one before had not."""

    __tablename__ = "plan_acknowledgments"

    plan_id: Mapped[int] = mapped_column(
        ForeignKey("plans.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the entry of the document, because its message and reason are too long for a key."""
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """The version. An entry that was withdrawn and made again has two rows."""
    author: Mapped[str] = mapped_column(String(LONGEST_ACTOR))
    acknowledged_at: Mapped[datetime] = mapped_column(Timestamp)
