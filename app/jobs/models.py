"""The table of the runs of jobs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.database.types import KEY, Base, CompressedText, Timestamp


class JobState(StrEnum):
    """The state of a run. A run in ASKS waits for answers from a user; DONE and FAILED are final."""

    QUEUED = "queued"
    RUNNING = "running"
    ASKS = "asks"
    DONE = "done"
    FAILED = "failed"


class JobRun(Base):
    """One run of a job. While it runs, only the keeper named in `owner` writes to it."""

    __tablename__ = "job_runs"
    __table_args__ = (
        Index("ix_job_runs_state", "state"),
        # Counts of jobs for each scrape of metrics read only this index; rows have long logs and reports.
        Index("ix_job_runs_kind_state", "kind", "state", "ended_at"),
        Index("ix_job_runs_upload_id", "upload_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    upload_id: Mapped[int | None] = mapped_column(ForeignKey("uploads.id", ondelete="CASCADE"))
    state: Mapped[str] = mapped_column(String(10))
    stage: Mapped[str] = mapped_column(String(20))
    done: Mapped[int] = mapped_column(BigInteger)
    total: Mapped[int] = mapped_column(BigInteger)
    sentence: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(Integer)
    owner: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    started_at: Mapped[datetime | None] = mapped_column(Timestamp)
    heartbeat_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    asks: Mapped[str | None] = mapped_column(Text)
    # Compressed: the report on a dump with thousands of structures is megabytes long.
    report: Mapped[str | None] = mapped_column(CompressedText)
    log: Mapped[str] = mapped_column(CompressedText)
