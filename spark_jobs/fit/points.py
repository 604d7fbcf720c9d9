"""Daily allocation statistics, and the points of a fit that are made from them.

XES allocates a structure once and leaves it unchanged until something happens, so its totals are the same every day.
A thousand days of one allocation therefore give no more information than one day. So a point of the fit is an
allocation for as long as it did not change; figures seen on a single day in between do not make a point.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from planner_core.contracts.fits import Cut
from planner_core.names import ADMIN_STRUCTURE
from planner_core.units import MIB, format_size

ALIKE = 0.01
"""Totals that differ by less than this share belong to one allocation with drifting totals, and form one point."""
SELDOM = 0.5
"""The share of the usual observations below which totals seen only on single days are an allocation in progress."""


@dataclass(frozen=True, slots=True)
class AllocationPoint:
    """The number of observations of one instance of a structure with these totals on one day.

    Rows of one instance, day and totals from several systems are added up in `observations`; nothing else is added.
    """

    qsg: str | None
    structure: str
    xcf_structure: str | None
    coupling_facility: str | None
    cfcc_level: int | None
    day: dt.date
    allocated_at: dt.datetime | None
    size_bytes: int
    entries_total: int
    elements_total: int
    observations: int


@dataclass(slots=True)
class Stretch:
    """A period in which an allocation did not change; its totals are the means over its days."""

    qsg: str | None
    structure: str
    allocated_at: dt.datetime | None
    size_bytes: float
    entries: float
    elements: float
    days: set[dt.date]
    rows: int
    observations: int
    left_out: str | None = None

    @property
    def first_day(self) -> dt.date:
        """Return the first day on which the allocation was observed."""
        return min(self.days)

    @property
    def last_day(self) -> dt.date:
        """Return the last day on which the allocation was observed."""
        return max(self.days)

    @property
    def elements_per_entry(self) -> float:
        """Return the ratio of elements to entries."""
        return self.elements / self.entries


@dataclass(frozen=True, slots=True)
class Gathered:
    """The stretches of one coupling facility."""

    stretches: list[Stretch]
    """The stretches by structure, in the order of their days."""
    left_out: Counter[str]
    """Number of rows that are in no stretch, by reason."""


NO_TOTALS = "a total or the size was not known"
OTHER_KIND = "CSQ_ADMIN holds no messages: its base differs"
PASSING = (
    "seen on single days, between days with other figures: an alter or rebuild in progress, or a wrong figure"
)
SCARCE = "seen on single days, and only for part of each day"

REPEATED = "with the totals of another allocation of the structure: the same observation again"
SAME_TIME = dt.timedelta(hours=26)
"""The largest difference between times of one allocation: sources state it with or without seconds, in UTC or local
time."""

_Instance = tuple[str | None, str, dt.datetime | None]
_Structure = tuple[str | None, str]
_Triple = tuple[int, int, int]


def gather(points: Iterable[AllocationPoint]) -> Gathered:
    """Return the stretches of one coupling facility, those of one structure in the order of their days."""
    left_out: Counter[str] = Counter()
    instances: dict[_Instance, dict[_Triple, Stretch]] = defaultdict(dict)
    seen: dict[_Structure, list[int]] = defaultdict(list)
    for point in points:
        if point.structure == ADMIN_STRUCTURE:
            left_out[OTHER_KIND] += 1
        elif min(point.size_bytes, point.entries_total, point.elements_total, point.observations) <= 0:
            left_out[NO_TOTALS] += 1
        else:
            _add(instances[point.qsg, point.structure, point.allocated_at], point)
            seen[point.qsg, point.structure].append(point.observations)
    by_structure: dict[_Structure, list[Stretch]] = defaultdict(list)
    for (qsg, structure, _), triples in instances.items():
        found = sorted(triples.values(), key=_by_days)
        kept = list(_lasting(found, ordinary=median(seen[qsg, structure]), left_out=left_out))
        by_structure[qsg, structure].extend(_merged(kept))
    stretches: list[Stretch] = []
    for _, items in sorted(by_structure.items(), key=lambda item: (item[0][0] or "", item[0][1])):
        stretches.extend(sorted(items, key=_by_days))
    return Gathered(stretches, left_out)


def _by_days(stretch: Stretch) -> tuple[dt.date, dt.date]:
    return stretch.first_day, stretch.last_day


def _add(triples: dict[_Triple, Stretch], point: AllocationPoint) -> None:
    triple = (point.size_bytes, point.entries_total, point.elements_total)
    stretch = triples.get(triple)
    if stretch is None:
        triples[triple] = Stretch(
            point.qsg, point.structure, point.allocated_at, *triple, {point.day}, 1, point.observations
        )
    else:
        stretch.days.add(point.day)
        stretch.rows += 1
        stretch.observations += point.observations


def _lasting(found: list[Stretch], *, ordinary: float, left_out: Counter[str]) -> Iterable[Stretch]:
    """Yield stretches that lasted, or may still last; figures of single days between other figures are left out."""
    turns = {day: turn for turn, day in enumerate(sorted({day for each in found for day in each.days}))}
    lasting = [each for each in found if _lasts({turns[day] for day in each.days})]
    for stretch in found:
        if not any(stretch is each for each in lasting):
            if all(any(_covers(each, day) for each in lasting) for day in stretch.days):
                left_out[PASSING] += stretch.rows
                continue
            if stretch.observations < SELDOM * ordinary * len(stretch.days):
                left_out[SCARCE] += stretch.rows
                continue
        yield stretch


def _lasts(turns: set[int]) -> bool:
    """Return whether these days include two consecutive days with observations."""
    return any(turn + 1 in turns for turn in turns)


def _covers(stretch: Stretch, day: dt.date) -> bool:
    return stretch.first_day <= day <= stretch.last_day


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    """Return the stretches of one instance, with similar successive ones merged."""
    found: list[Stretch] = []
    for stretch in stretches:
        if found and _alike(found[-1], stretch):
            found[-1] = _both(found[-1], stretch)
        else:
            found.append(stretch)
    return found


def _alike(one: Stretch, other: Stretch) -> bool:
    pairs = (
        (one.size_bytes, other.size_bytes),
        (one.entries, other.entries),
        (one.elements, other.elements),
    )
    return all(_near(a, b) for a, b in pairs)


def _both(one: Stretch, other: Stretch) -> Stretch:
    first, second = len(one.days), len(other.days)

    def mean(a: float, b: float) -> float:
        return (first * a + second * b) / (first + second)

    return Stretch(
        one.qsg,
        one.structure,
        one.allocated_at,
        mean(one.size_bytes, other.size_bytes),
        mean(one.entries, other.entries),
        mean(one.elements, other.elements),
        one.days | other.days,
        one.rows + other.rows,
        one.observations + other.observations,
    )


def leave_out_repeated(stretches: Iterable[Stretch]) -> None:
    """Leave out all but the longest of a structure's allocations with equal totals.

    A coupling facility creates the same totals for the same size, so they deviate from the line by the same amount,
    so only different totals are an additional observation.
    """
    kept: dict[tuple[_Structure, float, float, float], Stretch] = {}
    for stretch in stretches:
        if stretch.left_out is not None:
            continue
        totals = ((stretch.qsg, stretch.structure), stretch.size_bytes, stretch.entries, stretch.elements)
        other = kept.get(totals)
        if other is None or len(other.days) < len(stretch.days):
            kept[totals] = stretch
        if other is not None:
            (other if kept[totals] is stretch else stretch).left_out = REPEATED


def cuts_of(stretches: Iterable[Stretch]) -> list[Cut]:
    """Return the days on which one stretch of a structure replaces another, by structure and day."""
    by_structure: dict[_Structure, dict[dt.date, Stretch]] = defaultdict(dict)
    for stretch in stretches:
        by_day = by_structure[stretch.qsg, stretch.structure]
        for day in stretch.days:
            other = by_day.get(day)
            # On a day with two stretches, the one that lasts longer replaces the other.
            if other is None or stretch.last_day > other.last_day:
                by_day[day] = stretch
    found = []
    for by_day in by_structure.values():
        before: Stretch | None = None
        for day in sorted(by_day):
            stretch = by_day[day]
            if before is not None and stretch is not before and not _same_instance(before, stretch):
                found.append(Cut(stretch.structure, day, _why(before, stretch)))
            before = stretch
    return found


def _same_instance(one: Stretch, other: Stretch) -> bool:
    """Return whether two sources show the same allocation."""
    if (one.size_bytes, one.entries, one.elements) != (other.size_bytes, other.entries, other.elements):
        return False
    if one.allocated_at is None or other.allocated_at is None:
        return True
    return abs(one.allocated_at - other.allocated_at) <= SAME_TIME


def _why(before: Stretch, after: Stretch) -> str:
    size = _size(after.size_bytes)
    times = (before.allocated_at, after.allocated_at)
    if None not in times and times[0] != times[1]:
        return f"reallocated with {size}"
    if not _near(before.size_bytes, after.size_bytes):
        return f"altered from {_size(before.size_bytes)} to {size}"
    if not _near(before.elements_per_entry, after.elements_per_entry):
        return f"ratio altered at {size}, from {before.elements_per_entry:.3g} to {after.elements_per_entry:.3g} elements per entry"
    return f"totals altered at {size}, from {before.entries:.0f} to {after.entries:.0f} entries"


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= ALIKE * max(one, other)


def _size(size_bytes: float) -> str:
    return format_size(round(size_bytes / MIB) * MIB)
