"""The columns of the history that are compared with the guidelines for the health of structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner_core.health import Measure, guidelines, least_requests
from spark_jobs.history.schema import QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE

LARGEST = 2**48
"""Larger figures are not plausible in one record; they are ignored, so that nothing below overflows."""
WORST_UNIT = 100
"""The worst value of the statistics is a whole number of hundredths."""
LARGEST_WORST = 2**31 - 1
LAST_SECOND = 2**32 - 1
"""The last second since 1970 that `worst` can hold."""
TIME_SHIFT = 2**32
"""The factor of the value in `worst`, which is value x this + the second in which the interval ended."""


@dataclass(frozen=True, slots=True)
class MeasuredColumns:
    """The columns whose sums are the two figures of a measure, in the rows of one kind of record."""

    measure: Measure
    family: str
    """The beginning of the rows' source."""
    parts: tuple[str, ...]
    wholes: tuple[str, ...] = ()
    """Empty for counts, whose second figure is 1."""
    reporter: str = "queue_manager"

    @property
    def limits(self) -> MeasureLimits:
        """Return the numbers of the measure's guideline."""
        guideline = guidelines()[self.measure]
        return MeasureLimits(
            scale=guideline.scale,
            limit=guideline.limit.value,
            good=None if guideline.good is None else guideline.good.value,
            least=1 if guideline.is_count else least_requests(),
            adds_part=self.measure == "read_lists",
        )


@dataclass(frozen=True, slots=True)
class MeasureLimits:
    """The numbers with which an interval is judged, as in `planner_core.health.level_of`."""

    scale: int
    limit: int
    good: int | None
    least: int
    adds_part: bool
    """Whether the first figure counts toward the least number of requests."""


_REQUESTS = ("sync_requests", "async_requests")
MEASURED: Mapping[str, tuple[MeasuredColumns, ...]] = {
    STRUCTURE_USAGE: (
        MeasuredColumns(
            "redrives", "115-2", ("ixllste_redrives", "ixllstm_redrives"), ("ixllste_calls", "ixllstm_calls")
        ),
        MeasuredColumns("structure_full", "115-2", ("structure_full_count",)),
        MeasuredColumns("sync_time", "74-4", ("sync_us",), ("sync_requests",), reporter="system_id"),
        MeasuredColumns("async_time", "74-4", ("async_us",), ("async_requests",), reporter="system_id"),
        MeasuredColumns("changed", "74-4", ("changed_requests",), _REQUESTS, reporter="system_id"),
        MeasuredColumns("delayed", "74-4", ("queued_requests",), _REQUESTS, reporter="system_id"),
    ),
    SMDS_USAGE: (
        MeasuredColumns("pool_waits", "115-2", ("pool_waits",)),
        MeasuredColumns("buffer_waits", "115-2", ("buffer_waits",)),
    ),
    QUEUE_USAGE: (MeasuredColumns("read_lists", "116", ("get_readlists",), ("get_moves",)),),
}
"""The measures of each table of the history."""


def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table that its measures need."""
    found = (name for each in MEASURED.get(table, ()) for name in (*each.parts, *each.wholes, each.reporter))
    return tuple(dict.fromkeys(found))
