"""The table of the audit trail. Triggers of the database refuse to change or delete its rows."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.database.types import KEY, Base, Timestamp

LONGEST_OBJECT_NAME = 200
LONGEST_ADDRESS = 64


class AuditEntry(Base):
    """One action. Ids have no gaps: each entry has the id after that of the entry before it."""

    __tablename__ = "audit_entries"
    __table_args__ = (Index(None, "at"), Index(None, "object_kind", "object_id", "id"))

    id: Mapped[int] = mapped_column(KEY, primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor: Mapped[str] = mapped_column(String(LONGEST_ACTOR))
    actor_kind: Mapped[str] = mapped_column(String(10))
    user_id: Mapped[int | None] = mapped_column(BigInteger)
    token_id: Mapped[int | None] = mapped_column(BigInteger)
    address: Mapped[str | None] = mapped_column(String(LONGEST_ADDRESS))
    action: Mapped[str] = mapped_column(String(40))
    object_kind: Mapped[str] = mapped_column(String(20))
    object_id: Mapped[int | None] = mapped_column(BigInteger)
    object_name: Mapped[str] = mapped_column(String(LONGEST_OBJECT_NAME))
    version: Mapped[int | None] = mapped_column(Integer)
    details: Mapped[str] = mapped_column(Text)
    """A JSON object; its members depend on the action."""
    digest: Mapped[str] = mapped_column(String(64))
    """SHA-256 of the digest of the entry before it and of this entry, as hexadecimal digits."""
