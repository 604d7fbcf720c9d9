"""The tables of measured usage as files."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from app.plans.result_tables import Cell, Table
from app.usage.measured import QueueFigures, QueuePoint, UsagePoint
from app.usage.periods import instant

_DIGITS = 3


def usage_table(points: Iterable[UsagePoint]) -> Table:
    """A line for each hour or day of a structure."""
    heading = (
        "at", "entries_in_use_max", "entries_total", "entries_percent", "elements_in_use_max", "elements_total",
        "elements_percent", "scm_entries_in_use_max", "scm_elements_in_use_max", "size_bytes", "structure_full_count",
        "queue_managers", "sources",
    )  # fmt: skip
    return heading, [
        (
            instant(point.at), point.entries, point.entries_total, _number(point.entries_percent), point.elements,
            point.elements_total, _number(point.elements_percent), point.scm_entries, point.scm_elements, point.size_bytes,
            point.structure_full, point.queue_managers, point.sources,
        )
        for point in points
    ]  # fmt: skip


def queues_table(queues: Iterable[QueueFigures]) -> Table:
    """A line for each queue of a structure."""
    heading = (
        "structure", "queue", "hours", "puts", "busiest_hour_puts", "busiest_hour", "mean_bytes", "size_min_bytes",
        "size_max_bytes", "persistent_puts", "depth_max", "depth_hour",
    )  # fmt: skip
    return heading, [
        (
            each.structure, each.queue, each.hours, each.puts, each.busiest_hour_puts,
            instant(each.busiest_hour) if each.busiest_hour else None, _number(each.mean_bytes), each.size_min_bytes,
            each.size_max_bytes, each.persistent_puts, each.depth_max, instant(each.depth_hour) if each.depth_hour else None,
        )
        for each in queues
    ]  # fmt: skip


def queue_table(points: Iterable[QueuePoint]) -> Table:
    """A line for each hour or day of a queue."""
    heading = (
        "at", "hours", "puts", "busiest_hour_puts", "puts_per_s", "mean_bytes", "size_min_bytes", "size_max_bytes",
        "persistent_puts", "depth_max",
    )  # fmt: skip
    return heading, [
        (
            instant(point.at), point.hours, point.puts, point.busiest_hour_puts, _number(point.puts_per_s),
            _number(point.mean_bytes), point.size_min_bytes, point.size_max_bytes, point.persistent_puts, point.depth_max,
        )
        for point in points
    ]  # fmt: skip


def _number(value: Fraction | float | None) -> Cell:
    return None if value is None else round(float(value), _DIGITS)
