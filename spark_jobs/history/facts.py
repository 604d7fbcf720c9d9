"""The objects named in rows: structures, queue managers, queues and the period, collected while the rows are read."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from spark_jobs.history.hour_sums import interval_starts
from spark_jobs.history.schema import DAY_US


@dataclass
class RowFacts:
    """Facts about rows of the history; the facts of several ranges can be combined."""

    structures: set[tuple[str, str, str]] = field(default_factory=set)
    """Structures as group, MQ's name and XCF's name; empty where not known."""
    queue_managers: set[tuple[str, str, str]] = field(default_factory=set)
    """Queue managers as system, name and group."""
    queues: set[tuple[str, str]] = field(default_factory=set)
    sources: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    """Number of rows and longest interval [us], by source, system and queue manager; empty where not known."""
    days: set[str] = field(default_factory=set)
    """UTC days that the intervals touch."""
    first_end_us: int | None = None
    last_end_us: int | None = None

    def see(self, rows: pa.Table) -> None:
        """Add the facts of rows in the schema of a table of the history."""
        if rows.num_rows == 0:
            return
        self.structures |= _combinations(rows, "qsg", "structure", "xcf_structure")
        self.queue_managers |= {
            found for found in _combinations(rows, "system_id", "queue_manager", "qsg") if found[1]
        }
        if "queue" in rows.schema.names:
            self.queues |= _combinations(rows, "qsg", "queue")
        self._see_sources(rows)
        ends = np.asarray(rows["interval_end"].cast(pa.int64()).combine_chunks())
        starts = np.asarray(interval_starts(rows).cast(pa.int64()).combine_chunks())
        # An interval that ends at midnight does not touch the next day.
        first, last = starts // DAY_US, np.maximum(ends - 1, starts) // DAY_US
        if int(first.min()) == int(last.max()):
            self.days.add(_day(int(first[0])))
        else:
            for begin, end in set(zip(first.tolist(), last.tolist(), strict=True)):
                self.days |= {_day(number) for number in range(begin, end + 1)}
        lowest, highest = int(ends.min()), int(ends.max())
        self.first_end_us = lowest if self.first_end_us is None else min(lowest, self.first_end_us)
        self.last_end_us = highest if self.last_end_us is None else max(highest, self.last_end_us)

    def _see_sources(self, rows: pa.Table) -> None:
        by = ["source", "system_id", "queue_manager"]
        counted = rows.select([*by, "interval_us"]).group_by(by)
        for row in counted.aggregate([("interval_us", "max"), ([], "count_all")]).to_pylist():
            key = (row["source"] or "", row["system_id"] or "", row["queue_manager"] or "")
            self._add_source(key, row["count_all"], row["interval_us_max"] or 0)

    def _add_source(self, key: tuple[str, str, str], rows: int, longest_us: int) -> None:
        known_rows, known_us = self.sources.get(key, (0, 0))
        self.sources[key] = known_rows + rows, max(known_us, longest_us)

    def add(self, other: RowFacts) -> None:
        """Add another range's facts."""
        for key, (rows, longest_us) in other.sources.items():
            self._add_source(key, rows, longest_us)
        self.structures |= other.structures
        self.queue_managers |= other.queue_managers
        self.queues |= other.queues
        self.days |= other.days
        ends = [end for end in (self.first_end_us, other.first_end_us) if end is not None]
        self.first_end_us = min(ends, default=None)
        ends = [end for end in (self.last_end_us, other.last_end_us) if end is not None]
        self.last_end_us = max(ends, default=None)

    @property
    def qsgs(self) -> list[str]:
        """Return the groups that the rows name."""
        return sorted({qsg for qsg, _, _ in self.structures if qsg} | {qsg for qsg, _ in self.queues if qsg})

    @property
    def first_interval_end(self) -> dt.datetime | None:
        """Return the earliest end of an interval."""
        return _instant(self.first_end_us)

    @property
    def last_interval_end(self) -> dt.datetime | None:
        """Return the latest end of an interval."""
        return _instant(self.last_end_us)

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON values."""
        return {
            "structures": sorted(self.structures),
            "queue_managers": sorted(self.queue_managers),
            "queues": sorted(self.queues),
            "sources": [[*key, *found] for key, found in sorted(self.sources.items())],
            "days": sorted(self.days),
            "ends": [self.first_end_us, self.last_end_us],
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> RowFacts:
        """Return the facts from the output of `to_json`."""
        return cls(
            structures={(qsg, structure, xcf) for qsg, structure, xcf in found["structures"]},
            queue_managers={(system, manager, qsg) for system, manager, qsg in found["queue_managers"]},
            queues={(qsg, queue) for qsg, queue in found["queues"]},
            sources={
                (source, system, manager): (rows, longest_us)
                for source, system, manager, rows, longest_us in found["sources"]
            },
            days=set(found["days"]),
            first_end_us=found["ends"][0],
            last_end_us=found["ends"][1],
        )


def _combinations(rows: pa.Table, *names: str) -> set[tuple[Any, ...]]:
    found = rows.select(list(names)).group_by(list(names)).aggregate([]).to_pylist()
    # Use an empty text instead of null, because these names are sorted.
    return {tuple(row[name] or "" for name in names) for row in found}


def _day(number: int) -> str:
    return (dt.date(1970, 1, 1) + dt.timedelta(days=number)).isoformat()


def _instant(us: int | None) -> dt.datetime | None:
    return None if us is None else dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=us)
