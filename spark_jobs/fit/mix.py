"""The message mix of a site: message sizes, and the header of each message.

A message of L bytes takes one entry and ceil((L + header) / 256) elements while its data is in the structure. So if
messages of L bytes on average take m elements on average,

    256 (m - 1) < L + header <= 256 m

whatever their sizes are. Each day limits the header to an interval of 256 bytes; days with other sizes give other
intervals, and the header is where most of a structure's intervals overlap. If messages are offloaded, or do not stay in
the structure in the proportions in which they were put, the intervals do not overlap, or overlap too far away.

If entries and elements written are known (R744SWEC, R744SWED), they are used instead of those in use, because they count
all messages in the proportions in which they were put.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner_core.contracts.fits import Estimate, MixFit, QueueMix, rounded
from planner_core.names import ADMIN_STRUCTURE
from planner_core.sizing.structure_size import model_constant

FEWEST_DAYS = 10
FEWEST_ENTRIES = 500
"""The minimum number of entries in use: with fewer, MQ's own data in the structure has too much weight."""
MEETING = 0.8
"""The share of the days whose intervals must overlap."""
NARROW_BYTES = 64
"""The widest range that determines a header."""
LARGEST_BYTES = 1024
"""The largest plausible header: the published model has 372."""
MOST_QUEUES = 20


@dataclass(frozen=True, slots=True)
class QueueDay:
    """The puts of all queue managers to one shared queue on one day (115-216, else 116)."""

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
    """One day of one structure: its fullest observation, and the entries that were written with data."""

    qsg: str | None
    structure: str
    day: dt.date
    entries_in_use: int | None
    elements_in_use: int | None
    entries_written: int | None = None
    elements_written: int | None = None


def fit_mix(queues: Iterable[QueueDay], structures: Iterable[StructureDay] = ()) -> list[MixFit]:
    """Return the mix of each structure with puts, and its header if the data determine it."""
    put: dict[tuple[str | None, str], list[QueueDay]] = defaultdict(list)
    for row in queues:
        if row.puts > 0 and row.put_bytes >= 0 and row.structure != ADMIN_STRUCTURE:
            put[row.qsg, row.structure].append(row)
    held: dict[tuple[str | None, str], list[StructureDay]] = defaultdict(list)
    for day in structures:
        held[day.qsg, day.structure].append(day)
    return [
        _mix(rows, held[scope]) for scope, rows in sorted(put.items(), key=lambda i: (i[0][0] or "", i[0][1]))
    ]


def _mix(rows: list[QueueDay], held: Sequence[StructureDay]) -> MixFit:
    puts = sum(row.puts for row in rows)
    by_queue: dict[str, tuple[int, int]] = {}
    for row in rows:
        before = by_queue.get(row.queue, (0, 0))
        by_queue[row.queue] = (before[0] + row.puts, before[1] + row.put_bytes)
    persistent = [(row.persistent_puts, row.puts) for row in rows if row.persistent_puts is not None]
    smallest = [row.put_size_min_bytes for row in rows if row.put_size_min_bytes is not None]
    largest = [row.put_size_max_bytes for row in rows if row.put_size_max_bytes is not None]
    header, note = _header(rows, held)
    written = [(day.entries_written, day.elements_written) for day in held]
    entries = sum(each or 0 for each, of in written if of is not None)
    elements = sum(of or 0 for each, of in written if each is not None)
    days = {row.day for row in rows}
    return MixFit(
        qsg=rows[0].qsg,
        structure=rows[0].structure,
        first_day=min(days),
        last_day=max(days),
        days=len(days),
        puts=puts,
        mean_bytes=round(sum(row.put_bytes for row in rows) / puts, 1),
        p50_bytes=round(_quantile(rows, 0.5), 1),
        p95_bytes=round(_quantile(rows, 0.95), 1),
        smallest_bytes=min(smallest, default=None),
        largest_bytes=max(largest, default=None),
        persistent_share=round(sum(each for each, _ in persistent) / sum(of for _, of in persistent), 4)
        if persistent
        else None,
        queues=tuple(
            QueueMix(name, of_queue, round(put_bytes / of_queue, 1))
            for name, (of_queue, put_bytes) in sorted(
                by_queue.items(), key=lambda item: (-item[1][1], item[0])
            )
        )[:MOST_QUEUES],
        header_bytes=rounded(header),
        header_note=note,
        elements_per_message=round(elements / entries, 3) if entries else None,
    )


def _quantile(rows: Iterable[QueueDay], share: float) -> float:
    """Return the quantile of the mean message sizes of queues on days, weighted by their numbers of messages."""
    ordered = sorted((row.put_bytes / row.puts, row.puts) for row in rows)
    goal = share * sum(puts for _, puts in ordered)
    reached = 0
    for mean, puts in ordered:
        reached += puts
        if reached >= goal:
            return mean
    return ordered[-1][0]


def _header(rows: Iterable[QueueDay], held: Iterable[StructureDay]) -> tuple[Estimate | None, str]:
    """Return the header, or None with the reason."""
    element = model_constant("element_bytes")
    by_day: dict[dt.date, tuple[int, int]] = {}
    large: set[dt.date] = set()
    for row in rows:
        before = by_day.get(row.day, (0, 0))
        by_day[row.day] = (before[0] + row.puts, before[1] + row.put_bytes)
        if (row.put_size_max_bytes or 0) > model_constant("largest_message_in_cf_bytes"):
            # MQ keeps only 63 KB of a message in the structure, so L does not count in full on such a day.
            large.add(row.day)
    in_use: list[tuple[float, float]] = []
    written: list[tuple[float, float]] = []
    for day in held:
        if day.day not in by_day or day.day in large:
            continue
        puts, put_bytes = by_day[day.day]
        for found, entries, elements in (
            (in_use, day.entries_in_use, day.elements_in_use),
            (written, day.entries_written, day.elements_written),
        ):
            if entries is not None and elements is not None and entries >= FEWEST_ENTRIES:
                highest = element * elements / entries - put_bytes / puts
                found.append((highest - element, highest))
    bounds, what = (in_use, "in use") if len(written) < FEWEST_DAYS else (written, "written")
    if len(bounds) < FEWEST_DAYS:
        return None, (
            f"The header cannot be determined: only {len(bounds)} days have known sizes, no message that is too large for the structure, "
            f"and {FEWEST_ENTRIES} messages or more; at least {FEWEST_DAYS} such days are needed."
        )
    low, high, meeting = _meet(bounds)
    if meeting < MEETING * len(bounds):
        return None, (
            f"The header cannot be determined: elements {what} agree on one value on only {meeting} of {len(bounds)} days. Messages "
            "were offloaded, or stayed in the structure in proportions other than those in which they were put."
        )
    if high < 0 or low > LARGEST_BYTES:
        return None, (
            f"The header cannot be determined: {low:.0f} to {high:.0f} bytes is not plausible. Messages were offloaded, or stayed "
            "in the structure in proportions other than those in which they were put."
        )
    low = max(low, 0.0)
    if high - low > NARROW_BYTES:
        return None, (
            f"The header cannot be determined: it is between {low:.0f} and {high:.0f} bytes. Messages of other sizes would "
            "narrow the range."
        )
    return Estimate((low + high) / 2, low, high), (
        f"Elements {what} on {meeting} of {len(bounds)} days agree on a header of {low:.0f} to {high:.0f} bytes."
    )


def _meet(bounds: Sequence[tuple[float, float]]) -> tuple[float, float, int]:
    """Return the range in which most intervals overlap, and their number."""
    # At equal positions an end sorts before a start, because the lower bound does not belong to an interval.
    ends = sorted([(low, 1) for low, _ in bounds] + [(high, -1) for _, high in bounds])
    best, at, depth = 0, 0, 0
    for number, (_, step) in enumerate(ends):
        depth += step
        if depth > best:
            best, at = depth, number
    return ends[at][0], ends[at + 1][0], best
