"""What a site's messages are like: sizes as they were put, and the header that each brings along.

The header is told from elements in use: a message of L bytes takes ceil((L + header) / 256) elements, so the elements
for each entry of a structure in use bound it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spark_jobs.fit.result import Estimate


@dataclass(frozen=True, slots=True)
class QueueDay:
    """What was put to one shared queue on one day, by all queue managers (115-216, else 116)."""

    qsg: str | None
    structure: str
    queue: str
    day: dt.date
    puts: int
    put_bytes: int
    put_size_min_bytes: int | None = None
    put_size_max_bytes: int | None = None
    persistent_puts: int | None = None


@dataclass(frozen=True, slots=True)
class StructureDay:
    """What one structure held on one day at its fullest observation."""

    qsg: str | None
    structure: str
    day: dt.date
    entries_in_use: int
    elements_in_use: int


@dataclass(frozen=True, slots=True)
class MixFit:
    """The messages of one structure; `header_bytes` is None where it cannot be told, and `header_note` says why."""

    qsg: str | None
    structure: str
    first_day: dt.date
    last_day: dt.date
    days: int
    puts: int
    mean_bytes: float
    p50_bytes: float
    p95_bytes: float
    smallest_bytes: int | None
    largest_bytes: int | None
    persistent_share: float | None
    queues: tuple[tuple[str, int, float], ...]
    """Queue, puts, mean size: those with the most bytes first."""
    header_bytes: Estimate | None
    header_note: str

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        raise NotImplementedError


def fit_mix(queues: Iterable[QueueDay], structures: Iterable[StructureDay] = ()) -> list[MixFit]:
    """The mix of each structure, and its header where that can be told."""
    raise NotImplementedError
