"""The output lines of `python -m spark_jobs.rollup`. docs/contributing/ingest-protocol.md describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, Field

from planner_core.wire import Answer

MOST_FACILITIES = 16
"""The maximum number of coupling facilities in a CFRM policy."""


def _whole_hour(value: datetime) -> datetime:
    known = value.astimezone(UTC)
    if known.minute or known.second or known.microsecond:
        message = "must be the start of an hour"
        raise ValueError(message)
    return known


# The largest integers that the database stores, in columns of eight and four bytes.
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Few = Annotated[int, Field(ge=0, le=2**31 - 1)]
Percentage = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Qsg = Annotated[str, Field(min_length=1, max_length=4)]
StructureName = Annotated[str, Field(min_length=1, max_length=16)]
FacilityName = Annotated[str, Field(min_length=1, max_length=8, pattern=r"^\S+$")]
Hour = Annotated[AwareDatetime, AfterValidator(_whole_hour)]


# No slots: the job writes each line from `vars`, because `asdict` copies every value and there are millions of lines.
@dataclass(frozen=True)
class StructureHour:
    """Figures of a structure in one hour, over all queue managers and systems."""

    qsg: Qsg
    structure: StructureName
    hour: Hour
    entries_in_use_max: Count | None = None
    elements_in_use_max: Count | None = None
    entries_total: Count | None = None
    elements_total: Count | None = None
    entries_in_use_pct_max: Percentage | None = None
    elements_in_use_pct_max: Percentage | None = None
    scm_entries_in_use_max: Count | None = None
    scm_elements_in_use_max: Count | None = None
    size_bytes: Count | None = None
    size_max_bytes: Count | None = None
    size_min_bytes: Count | None = None
    size_used_bytes_max: Count | None = None
    policy_size_bytes: Count | None = None
    policy_initsize_bytes: Count | None = None
    policy_minsize_bytes: Count | None = None
    full_threshold_pct: Annotated[int, Field(ge=0, le=100)] | None = None
    structure_full_count: Count | None = None
    ixllste_calls: Count | None = None
    ixllste_us: Count | None = None
    ixllste_redrives: Count | None = None
    ixllstm_calls: Count | None = None
    ixllstm_us: Count | None = None
    ixllstm_redrives: Count | None = None
    sync_requests: Count | None = None
    sync_us: Count | None = None
    async_requests: Count | None = None
    async_us: Count | None = None
    changed_requests: Count | None = None
    queued_requests: Count | None = None
    queued_us: Count | None = None
    entries_written: Count | None = None
    elements_written: Count | None = None
    coupling_facilities: Annotated[list[FacilityName], Field(max_length=MOST_FACILITIES)] | None = None
    """The coupling facilities at the last observation of the hour, the primary first."""
    is_duplexed: bool | None = None
    policy_duplex: str | None = None
    """DUPLEX as a display shows it."""
    placed_by: list[str] | None = None
    """The sources of the three preceding fields."""
    queue_managers: Few | None = None
    observations: Count | None = None
    sources: list[str] | None = None


@dataclass(frozen=True)
class SmdsHour:
    """Figures of the shared message data set of one queue manager in one hour."""

    qsg: Qsg
    structure: StructureName
    queue_manager: Annotated[str, Field(min_length=1, max_length=4)]
    hour: Hour
    blocks_total: Count | None = None
    blocks_data: Count | None = None
    blocks_in_use_max: Count | None = None
    messages_max: Count | None = None
    buffers_total: Count | None = None
    buffers_free_min: Count | None = None
    failed_allocates: Count | None = None
    pages_allocated: Count | None = None
    pages_freed: Count | None = None
    write_requests: Count | None = None
    pages_written: Count | None = None
    read_requests: Count | None = None
    pages_read: Count | None = None
    other_read_requests: Count | None = None
    pool_waits: Count | None = None
    buffer_waits: Count | None = None
    pool_wait_us: Count | None = None
    buffer_wait_us: Count | None = None
    buffer_requests: Count | None = None


@dataclass(frozen=True)
class SizeBucket(Answer):
    """Puts whose mean message size is in one class: at most this size, and above the previous class."""

    up_to_bytes: Count
    puts: Count


@dataclass(frozen=True)
class QueueHour:
    """Figures of a shared queue in one hour, over all queue managers."""

    qsg: Qsg
    queue: Annotated[str, Field(min_length=1, max_length=48)]
    structure: StructureName | None
    hour: Hour
    puts: Count | None = None
    put_bytes: Count | None = None
    persistent_puts: Count | None = None
    puts_to_waiting_getter: Count | None = None
    gets: Count | None = None
    get_bytes: Count | None = None
    expired: Count | None = None
    get_readlists: Count | None = None
    get_moves: Count | None = None
    put_size_min_bytes: Count | None = None
    put_size_max_bytes: Count | None = None
    depth_max: Count | None = None
    time_on_queue_max_us: Count | None = None
    put_size_avg_bytes: float | None = None
    size_buckets: Sequence[SizeBucket] | None = None
    queue_managers: Few | None = None
    source: str | None = None


@dataclass(frozen=True)
class Days:
    """The days whose hours follow; they replace the stored hours of these days."""

    days: list[date]


@dataclass(frozen=True)
class End:
    """The number of lines of each kind. Output without this last line is incomplete."""

    structure_hours: int
    smds_hours: int
    queue_hours: int
