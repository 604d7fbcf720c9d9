"""The table of the last use of each connection."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.database.types import Base, Timestamp

LONGEST_NAME = 32
LONGEST_SENTENCE = 1000


class ConnectionUse(Base):
    """The last use of a connection. The row stays when the file no longer names the connection."""

    __tablename__ = "connection_uses"
    __table_args__ = ({"sqlite_with_rowid": False},)

    connection: Mapped[str] = mapped_column(String(LONGEST_NAME), primary_key=True)
    used_at: Mapped[datetime] = mapped_column(Timestamp)
    succeeded: Mapped[bool]
    sentence: Mapped[str] = mapped_column(String(LONGEST_SENTENCE))
    """What was done, or why it failed; without credentials."""
