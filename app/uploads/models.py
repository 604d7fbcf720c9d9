"""The tables of the uploads, and the site's map of queue managers to queue-sharing groups."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.database.types import KEY, Base, Timestamp

LONGEST_FILENAME = 255
LONGEST_BATCH = 40


class Upload(Base):
    """A complete file. The same bytes, observed at the same instant, are a single upload."""

    __tablename__ = "uploads"
    __table_args__ = (
        UniqueConstraint("sha256", "observed_utc"),
        Index("ix_uploads_created_at", "created_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    filename: Mapped[str] = mapped_column(String(LONGEST_FILENAME))
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(20))
    """The kind specified by the user; if it is empty, the kind is detected."""
    detected_kind: Mapped[str] = mapped_column(String(20))
    """The detected kind; empty if it is unknown."""
    observed_at: Mapped[str] = mapped_column(String(40))
    """Local time of a display, ISO 8601 without a zone; empty if the input contains its own times."""
    zone: Mapped[str] = mapped_column(String(64))
    """The zone of `observed_at`: an IANA name or an offset such as +01:00."""
    observed_utc: Mapped[str] = mapped_column(String(40))
    """The instant given by `observed_at` and `zone`, such as 2026-11-21T08:30:00Z; empty if there is no time. A text,
    because nulls are never equal in a unique constraint."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    removed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Time at which the file itself was removed; its report is kept."""
    author: Mapped[str | None] = mapped_column(String(LONGEST_ACTOR))
    """The name of the actor who sent it; None for uploads received before authors were stored."""


class BatchFile(Base):
    """A file of a batch: files that were sent together. A file that was sent again is in several batches."""

    __tablename__ = "upload_batch_files"
    __table_args__ = (
        Index("ix_upload_batch_files_upload_id", "upload_id"),
        Index("ix_upload_batch_files_added_at", "added_at"),
    )

    batch: Mapped[str] = mapped_column(String(LONGEST_BATCH), primary_key=True)
    """The sender's name for the batch, such as a random number."""
    upload_id: Mapped[int] = mapped_column(
        KEY, ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True
    )
    added_at: Mapped[datetime] = mapped_column(Timestamp)


class QsgMapping(Base):
    """The queue-sharing group of a queue manager; records before MQ 10 do not contain it."""

    __tablename__ = "qsg_map"

    system_id: Mapped[str] = mapped_column(String(4), primary_key=True)
    queue_manager: Mapped[str] = mapped_column(String(4), primary_key=True)
    qsg: Mapped[str] = mapped_column(String(4))
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
