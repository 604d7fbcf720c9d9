"""The tables of measured usage: hourly roll-ups, which the jobs compute from the usage history.

A row combines all records of one UTC hour. A column without a value in any of them is null: a value that was not
measured is never zero. The first two tables could be rebuilt from the others; they exist so that lists need not scan
every hour.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Float, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.database.types import Base, Timestamp

LONGEST_SOURCES = 200
LONGEST_FACILITIES = 160
"""Room for the names of 16 coupling facilities, as many as a CFRM policy can have, separated by blanks."""


class StoredMeasuredStructure(Base):
    """A structure with roll-ups of itself, its data sets or its queues, and the last hour of each kind of figure."""

    __tablename__ = "measured_structures"
    # Without a rowid, SQLite stores the rows in the order of their key, in which lists read them.
    __table_args__ = ({"sqlite_with_rowid": False},)

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    first_hour: Mapped[datetime] = mapped_column(Timestamp)
    last_hour: Mapped[datetime] = mapped_column(Timestamp)
    last_use_hour: Mapped[datetime | None] = mapped_column(Timestamp)
    last_limits_hour: Mapped[datetime | None] = mapped_column(Timestamp)
    last_full_hour: Mapped[datetime | None] = mapped_column(Timestamp)
    last_entries_limit_hour: Mapped[datetime | None] = mapped_column(Timestamp)
    last_elements_limit_hour: Mapped[datetime | None] = mapped_column(Timestamp)


class MeasuredQueue(Base):
    """A queue with roll-ups in one structure; the structure is empty if no record names it."""

    __tablename__ = "measured_queues"
    __table_args__ = ({"sqlite_with_rowid": False},)

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    queue: Mapped[str] = mapped_column(String(48), primary_key=True)
    first_hour: Mapped[datetime] = mapped_column(Timestamp)
    last_hour: Mapped[datetime] = mapped_column(Timestamp)


class HourlyStructureUsage(Base):
    """Measurements of a structure in one hour, over all queue managers and systems."""

    __tablename__ = "hourly_structure_usage"
    # The index serves the removal of old hours, which does not select by structure.
    __table_args__ = (Index(None, "hour"), {"sqlite_with_rowid": False})

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    hour: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)
    entries_in_use_max: Mapped[int | None] = mapped_column(BigInteger)
    elements_in_use_max: Mapped[int | None] = mapped_column(BigInteger)
    entries_total: Mapped[int | None] = mapped_column(BigInteger)
    elements_total: Mapped[int | None] = mapped_column(BigInteger)
    entries_in_use_pct_max: Mapped[float | None] = mapped_column(Float)
    elements_in_use_pct_max: Mapped[float | None] = mapped_column(Float)
    scm_entries_in_use_max: Mapped[int | None] = mapped_column(BigInteger)
    scm_elements_in_use_max: Mapped[int | None] = mapped_column(BigInteger)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    size_max_bytes: Mapped[int | None] = mapped_column(BigInteger)
    policy_size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    policy_initsize_bytes: Mapped[int | None] = mapped_column(BigInteger)
    full_threshold_pct: Mapped[int | None] = mapped_column(Integer)
    structure_full_count: Mapped[int | None] = mapped_column(BigInteger)
    ixllste_calls: Mapped[int | None] = mapped_column(BigInteger)
    ixllste_redrives: Mapped[int | None] = mapped_column(BigInteger)
    ixllstm_calls: Mapped[int | None] = mapped_column(BigInteger)
    ixllstm_redrives: Mapped[int | None] = mapped_column(BigInteger)
    sync_requests: Mapped[int | None] = mapped_column(BigInteger)
    sync_us: Mapped[int | None] = mapped_column(BigInteger)
    async_requests: Mapped[int | None] = mapped_column(BigInteger)
    async_us: Mapped[int | None] = mapped_column(BigInteger)
    changed_requests: Mapped[int | None] = mapped_column(BigInteger)
    queued_requests: Mapped[int | None] = mapped_column(BigInteger)
    queued_us: Mapped[int | None] = mapped_column(BigInteger)
    entries_written: Mapped[int | None] = mapped_column(BigInteger)
    elements_written: Mapped[int | None] = mapped_column(BigInteger)
    coupling_facilities: Mapped[str | None] = mapped_column(String(LONGEST_FACILITIES))
    """Coupling facilities at the last observation in the hour, separated by blanks, the primary first."""
    is_duplexed: Mapped[bool | None] = mapped_column(Boolean)
    """Whether the structure was duplexed; null if no record of the hour shows it."""
    policy_duplex: Mapped[str | None] = mapped_column(String(8))
    """DUPLEX as a display shows it: ENABLED, ALLOWED or DISABLED."""
    placed_by: Mapped[str | None] = mapped_column(String(LONGEST_SOURCES))
    """The sources of the three preceding columns."""
    queue_managers: Mapped[int | None] = mapped_column(Integer)
    observations: Mapped[int | None] = mapped_column(BigInteger)
    sources: Mapped[str] = mapped_column(String(LONGEST_SOURCES))


class HourlySmdsUsage(Base):
    """Measurements in one hour of the shared message data set of one queue manager for a structure."""

    __tablename__ = "hourly_smds_usage"
    __table_args__ = (Index(None, "hour"), {"sqlite_with_rowid": False})

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    queue_manager: Mapped[str] = mapped_column(String(4), primary_key=True)
    hour: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)
    blocks_total: Mapped[int | None] = mapped_column(BigInteger)
    blocks_data: Mapped[int | None] = mapped_column(BigInteger)
    blocks_in_use_max: Mapped[int | None] = mapped_column(BigInteger)
    messages_max: Mapped[int | None] = mapped_column(BigInteger)
    failed_allocates: Mapped[int | None] = mapped_column(BigInteger)
    write_requests: Mapped[int | None] = mapped_column(BigInteger)
    read_requests: Mapped[int | None] = mapped_column(BigInteger)
    other_read_requests: Mapped[int | None] = mapped_column(BigInteger)
    buffer_requests: Mapped[int | None] = mapped_column(BigInteger)
    pool_waits: Mapped[int | None] = mapped_column(BigInteger)
    pool_wait_us: Mapped[int | None] = mapped_column(BigInteger)
    buffer_waits: Mapped[int | None] = mapped_column(BigInteger)
    buffer_wait_us: Mapped[int | None] = mapped_column(BigInteger)


class HourlyQueueUsage(Base):
    """Measurements of a shared queue in one hour, over all queue managers."""

    __tablename__ = "hourly_queue_usage"
    __table_args__ = (Index(None, "hour"), {"sqlite_with_rowid": False})

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    queue: Mapped[str] = mapped_column(String(48), primary_key=True)
    hour: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)
    puts: Mapped[int | None] = mapped_column(BigInteger)
    put_bytes: Mapped[int | None] = mapped_column(BigInteger)
    put_size_min_bytes: Mapped[int | None] = mapped_column(BigInteger)
    put_size_max_bytes: Mapped[int | None] = mapped_column(BigInteger)
    persistent_puts: Mapped[int | None] = mapped_column(BigInteger)
    gets: Mapped[int | None] = mapped_column(BigInteger)
    get_readlists: Mapped[int | None] = mapped_column(BigInteger)
    get_moves: Mapped[int | None] = mapped_column(BigInteger)
    depth_max: Mapped[int | None] = mapped_column(BigInteger)
    time_on_queue_max_us: Mapped[int | None] = mapped_column(BigInteger)
    # By default, SQLAlchemy stores None in a JSON column as the JSON value null, which is not SQL NULL.
    size_buckets: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    queue_managers: Mapped[int | None] = mapped_column(Integer)
    source: Mapped[str] = mapped_column(String(LONGEST_SOURCES))
