"""Measured usage as tables for files."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction

from app.usage.measured import QueueFigures, QueuePoint, UsagePoint
from app.usage.periods import instant
from app.web.csv_files import Cell, Table

_DIGITS = 3
# The columns of the files are a separate contract: a new field of a figure must not become a column by itself.
_USAGE = (
    "at", "entries_in_use_max", "entries_total", "entries_percent", "elements_in_use_max", "elements_total",
    "elements_percent", "scm_entries_in_use_max", "scm_elements_in_use_max", "size_bytes", "structure_full_count",
    "queue_managers", "sources",
)  # fmt: skip
_QUEUES = (
    "structure", "queue", "hours", "puts", "busiest_hour_puts", "busiest_hour", "mean_bytes", "size_min_bytes",
    "size_max_bytes", "persistent_puts", "depth_max", "depth_hour",
)  # fmt: skip
_QUEUE = (
    "at", "hours", "puts", "busiest_hour_puts", "puts_per_s", "mean_bytes", "size_min_bytes", "size_max_bytes",
    "persistent_puts", "depth_max",
)  # fmt: skip


def usage_table(points: Iterable[UsagePoint]) -> Table:
    """Return the table of a structure, with a line for each hour or day."""
    return _table(_USAGE, points)


def queues_table(queues: Iterable[QueueFigures]) -> Table:
    """Return the table of the queues of a structure, with a line for each."""
    return _table(_QUEUES, queues)


def queue_table(points: Iterable[QueuePoint]) -> Table:
    """Return the table of a queue, with a line for each hour or day."""
    return _table(_QUEUE, points)


def _table(names: tuple[str, ...], figures: Iterable[object]) -> Table:
    return names, [tuple(_cell(getattr(each, name)) for name in names) for each in figures]


def _cell(value: Fraction | float | str | datetime | None) -> Cell:
    if isinstance(value, datetime):
        return instant(value)
    return round(float(value), _DIGITS) if isinstance(value, (Fraction, float)) else value
