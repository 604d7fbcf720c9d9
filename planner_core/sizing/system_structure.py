"""CSQSYSAPPL, the application structure for system queues: the messages on its default queues, and IBM's sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from planner_core import tables
from planner_core.provenance import Source
from planner_core.sizing.demand import QueueDemand
from planner_core.units import kib_to_bytes


@dataclass(frozen=True, slots=True)
class SystemSizes:
    """IBM's sizes for CSQSYSAPPL [bytes]: the recommended start, and the minimum that XCF required (0 if none is known)."""

    start_bytes: int
    start_source: Source
    minimum_bytes: int
    minimum_source: Source | None


def system_queues(*, shared_channels: int, group_ur_messages: int) -> tuple[QueueDemand, ...]:
    """Return the messages on the default queues of CSQSYSAPPL, by IBM's Table 3.

    Args:
        shared_channels: Active instances of shared channels; two messages each on SYSTEM.QSG.CHANNEL.SYNCQ.
        group_ur_messages: Messages on SYSTEM.QSG.UR.RESOLUTION.QUEUE; IBM's example has 1000.
    """
    usage = tables.constants("system_structure_usage")
    return (
        QueueDemand(
            shared_channels * usage["sync_messages_per_channel"].value, usage["sync_message_bytes"].value
        ),
        QueueDemand(group_ur_messages, usage["ur_message_bytes"].value),
    )


@cache
def system_sizes(*, cfcc_level: int) -> SystemSizes:
    """Return IBM's sizes for a CFCC level; levels above the table use its last row."""
    rows = tables.table("system_structure_sizes").records()
    row = next((row for row in rows if cfcc_level <= int(row["cfcc_to"])), rows[-1])
    minimum = row["xcf_minimum_kb"]
    return SystemSizes(
        start_bytes=kib_to_bytes(int(row["start_initsize_kb"])),
        start_source=tables.source(str(row["start_source"]), str(row["start_section"])),
        minimum_bytes=kib_to_bytes(minimum) if isinstance(minimum, int) else 0,
        minimum_source=tables.source(str(row["minimum_source"]), str(row["minimum_section"]))
        if minimum
        else None,
    )
