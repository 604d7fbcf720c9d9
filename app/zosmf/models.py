"""The tables of verified units, of policies that cfplan created, and of comparisons with the active policy."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import BigInteger, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.connections.models import LONGEST_NAME, LONGEST_SENTENCE
from app.database.types import KEY, Base, CompressedText, Timestamp

LONGEST_ADDRESS = 500
LONGEST_PLAN = 200


class ApplyState(StrEnum):
    """How far a policy was applied."""

    SENDING = "sending"
    """The request to create it was sent, or is about to be sent. Whether the server received it is unknown."""
    UNANSWERED = "unanswered"
    """The request was sent, and the command ended without an answer that tells whether the server carried it out."""
    REFUSED = "refused"
    CREATED = "created"
    """The server accepted it; it was not read back yet."""
    VERIFIED = "verified"
    DIFFERENT = "different"
    """Values that were read back differ from those that were sent."""
    ACTIVATING = "activating"
    """The activation was sent, or is about to be sent."""
    UNCONFIRMED = "unconfirmed"
    """The activation was sent, and the command ended without knowing whether the policy is active."""
    ACTIVATED = "activated"


ACTIVATION_UNKNOWN: Final = (ApplyState.ACTIVATING, ApplyState.UNCONFIRMED)
"""States in which the policy may be active or not."""


class VerifiedUnit(Base):
    """The unit of sizes of a server, which a user verified with a structure of known size."""

    __tablename__ = "verified_size_units"
    __table_args__ = ({"sqlite_with_rowid": False},)

    connection: Mapped[str] = mapped_column(String(LONGEST_NAME), primary_key=True)
    address: Mapped[str] = mapped_column(String(LONGEST_ADDRESS))
    """The address at that time: another server may use another unit."""
    unit: Mapped[str] = mapped_column(String(1))
    policy: Mapped[str] = mapped_column(String(8))
    structure: Mapped[str] = mapped_column(String(16))
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    verified_at: Mapped[datetime] = mapped_column(Timestamp)
    author: Mapped[str] = mapped_column(String(LONGEST_ACTOR))


class AppliedPolicy(Base):
    """A policy that cfplan created, or tried to create."""

    __tablename__ = "applied_policies"
    __table_args__ = (UniqueConstraint("connection", "policy"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    connection: Mapped[str] = mapped_column(String(LONGEST_NAME))
    policy: Mapped[str] = mapped_column(String(8))
    base: Mapped[str] = mapped_column(String(8))
    """The policy from which it was made."""
    plan: Mapped[str] = mapped_column(String(LONGEST_PLAN))
    version: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(12))
    body: Mapped[str] = mapped_column(CompressedText)
    """JSON with the policy as it was sent and the option `unstated`; in rows of earlier releases, the policy alone."""
    sent_at: Mapped[datetime] = mapped_column(Timestamp)
    changed_at: Mapped[datetime] = mapped_column(Timestamp)
    author: Mapped[str] = mapped_column(String(LONGEST_ACTOR))


class PolicyDrift(Base):
    """One comparison of the active policy with what cfplan expects."""

    __tablename__ = "policy_drifts"
    __table_args__ = (
        Index("ix_policy_drifts_connection", "connection", "compared_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    connection: Mapped[str] = mapped_column(String(LONGEST_NAME))
    compared_at: Mapped[datetime] = mapped_column(Timestamp)
    outcome: Mapped[str] = mapped_column(String(10))
    """`same`, `drift` or `failed`."""
    policy: Mapped[str | None] = mapped_column(String(8))
    sentence: Mapped[str] = mapped_column(String(LONGEST_SENTENCE))
    differences: Mapped[str] = mapped_column(CompressedText)
