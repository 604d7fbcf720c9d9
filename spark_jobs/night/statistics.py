"""The columns of the daily statistics, and the rules for merging figures from the files of several days.

The unit of reduction is a day of the history's partitions (`filed`): all rows of one natural key are in one of them. The
figures of a row belong to the UTC day that contains the middle of its interval (`day`): usually the same day, sometimes
the day before. So figures of one `day` may come from several `filed` days, and each column states how they are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

REDUCTION = 2
"""The version of the rules and columns; a new one causes every day to be reduced again."""

STRUCTURE, POLICY, SMDS, QUEUE, HEALTH = "structure", "policy", "smds", "queue", "health"
KINDS = (STRUCTURE, POLICY, SMDS, QUEUE, HEALTH)
LEDGER = "ledger"

INSTANT = pa.timestamp("us", tz="UTC")
LONG, INT, DOUBLE, STRING, DATE = pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.date32()

Merge = Literal["key", "max", "min", "sum", "or", "fullest"]


ENTRIES_SHIFT = 2**32
"""The factor of entries in `fullest`, which is entries x this + elements: no structure of 1 TiB or less has as many
elements."""


STEP_BYTES = 256
"""The unit in which sizes are squared, so that sums stay whole and do not depend on their order."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One column of the daily statistics."""

    name: str
    type: pa.DataType
    merge: Merge
    meaning: str


def _key(name: str, kind: pa.DataType, meaning: str) -> Statistic:
    return Statistic(name, kind, "key", meaning)


_SEEN = (
    Statistic("observations", LONG, "sum", "rows"),
    Statistic("first_at", INSTANT, "min", "start of the first interval"),
    Statistic("last_at", INSTANT, "max", "end of the last interval"),
    Statistic("is_simulated", INT, "max", "1 if a file of simulated data reported it"),
)
_HOURS = Statistic("hours", INT, "or", "bit n: something was observed in hour n of the day")

STATISTICS: dict[str, tuple[Statistic, ...]] = {
    STRUCTURE: (
        _key("day", DATE, "UTC day"),
        _key("qsg", STRING, "queue-sharing group"),
        _key("structure", STRING, "structure as MQ names it"),
        _key("family", INT, "kind of source that reported it, see FAMILIES"),
        _key("coupling_facility", STRING, "coupling facility"),

        # Instance and size are part of the key: peaks of different totals must not be merged.
        _key("allocated_at", INSTANT, "when this instance was allocated"),
        _key("size_bytes", LONG, "storage allocated"),
        _key("entries_total", LONG, "entries that it has"),
        _key("elements_total", LONG, "elements that it has"),
        *_SEEN,
        _HOURS,
        Statistic("entries_peak", LONG, "max", "most entries in use"),
        Statistic("elements_peak", LONG, "max", "most elements in use"),
        Statistic("entries_pct_peak", DOUBLE, "max", "the same in percent, if only that was reported"),
        Statistic("elements_pct_peak", DOUBLE, "max", "the same"),
        Statistic("fullest", LONG, "fullest", "entries x 2^32 + elements in use at the observation with the most entries"),
        Statistic("full_count", LONG, "sum", "how often it was found full"),
        Statistic("size_max_bytes", LONG, "max", "largest size to which it may grow"),
        Statistic("entries_written", LONG, "sum", "entries that were written with data"),
        Statistic("elements_written", LONG, "sum", "elements of these entries"),
    ),
    POLICY: (
        _key("day", DATE, "UTC day"),
        _key("qsg", STRING, "queue-sharing group"),
        _key("structure", STRING, "structure as MQ names it"),
        _key("policy_size_bytes", LONG, "SIZE"),
        _key("policy_initsize_bytes", LONG, "INITSIZE"),
        _key("full_threshold_pct", LONG, "FULLTHRESHOLD"),
        _key("mq_offload_rules", STRING, "offload rules as percent:bytes"),
        *_SEEN,
    ),
    SMDS: (
        _key("day", DATE, "UTC day"),
        _key("qsg", STRING, "queue-sharing group"),
        _key("structure", STRING, "structure as MQ names it"),
        _key("queue_manager", STRING, "owner of the data set"),
        _key("family", INT, "kind of source that reported it"),
        *_SEEN,
        _HOURS,
        Statistic("blocks_peak", LONG, "max", "most blocks in use"),
        Statistic("blocks_total", LONG, "max", "blocks for messages"),
        Statistic("messages_peak", LONG, "max", "most messages"),
        Statistic("failed_allocates", LONG, "sum", "requests that found the data set full"),
    ),
    QUEUE: (
        _key("day", DATE, "UTC day"),
        _key("qsg", STRING, "queue-sharing group"),
        _key("structure", STRING, "structure as MQ names it"),
        _key("queue", STRING, "queue"),
        *_SEEN,
        Statistic("puts", LONG, "sum", "messages put"),
        Statistic("put_bytes", LONG, "sum", "bytes of them"),
        Statistic("put_size_squares", LONG, "sum", "puts x the square of their average size in the row, in whole steps of 256 bytes"),
        Statistic("put_size_min_bytes", LONG, "min", "smallest message"),
        Statistic("put_size_max_bytes", LONG, "max", "largest message"),
        Statistic("persistent_puts", LONG, "sum", "of the puts, persistent ones"),
        Statistic("puts_to_waiting_getter", LONG, "sum", "of the puts, those that used no storage"),
        Statistic("depth_peak", LONG, "max", "highest depth"),
    ),
    HEALTH: (
        _key("day", DATE, "UTC day"),
        _key("qsg", STRING, "queue-sharing group"),
        _key("structure", STRING, "structure as MQ names it"),
        _key("measure", STRING, "measure of planner_core.health"),
        _key("reporter", STRING, "queue manager or system whose records have the figures"),
        _key("coupling_facility", STRING, "coupling facility, for figures of RMF"),
        _key("queue", STRING, "queue, for figures of tasks"),
        *_SEEN,
        Statistic("intervals", LONG, "sum", "rows with enough requests to be judged"),
        Statistic("above_good", LONG, "sum", "those that are not good"),
        Statistic("above_limit", LONG, "sum", "those above the limit"),
        Statistic("worst", LONG, "max", "highest value of a judged row in hundredths x 2^32 + the second in which its interval ended"),
    ),
}  # fmt: skip

FAMILIES = ("115-2", "115-216", "116", "74-4", "CFACT", "overview", "display", "message", "template")
"""Kinds of sources. Of those that count the same things, the first one is used, never their sum."""
OTHER_FAMILIES = len(FAMILIES)
AT_INSTANTS = tuple(FAMILIES.index(name) for name in ("74-4", "CFACT", "display", "message"))
"""Families whose entries and elements in use are measured at one instant; MQ's are two maxima of an interval."""

LEDGER_COLUMNS = (
    ("fingerprint", STRING),
    ("rows_read", LONG),
    ("days", STRING),
)
"""The columns of the ledger in addition to `filed`: the fingerprint and number of rows of a filed day, and the UTC days
that the rows are about."""


def kept_schema(kind: str) -> pa.Schema:
    """Return the columns of a kind, with the day that they are filed under."""
    own = [pa.field("filed", DATE)]
    if kind == LEDGER:
        return pa.schema(own + [pa.field(name, kind_) for name, kind_ in LEDGER_COLUMNS])
    return pa.schema(own + [pa.field(one.name, one.type) for one in STATISTICS[kind]])


def keys(kind: str) -> list[str]:
    """Return the columns that identify the rows of a filed day."""
    return [one.name for one in STATISTICS[kind] if one.merge == "key"]
