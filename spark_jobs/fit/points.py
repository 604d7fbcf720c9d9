"""Daily allocation statistics, and the points of a fit that are made from them.

XES allocates a structure once and leaves it as it is until something happens: its totals are the same figures
day after day. A thousand days of one allocation therefore say no more than one day of it. So a point of the fit is
an allocation as long as it stayed as it was, and a figure that came up on a single day in between is
not one.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from planner_core.names import ADMIN_STRUCTURE
from planner_core.units import MIB, format_size
from spark_jobs.fit.result import Cut

ALIKE = 0.01
"""Totals that differ by less are taken as the same allocation, drifting; one point."""
SELDOM = 0.5
"""Seen on one day only, and less often on it than this share of the ordinary: no allocation, but its making."""


@dataclass(frozen=True, slots=True)
class AllocationPoint:
    """How often one instance of a structure was seen on one day with these totals: a row for each distinct triple.

    Rows of one instance, day and triple from several systems are added up in `observations`; nothing else is added.
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
    """An allocation as long as it stayed as it was; its totals are the means over its days."""

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
    triples: set[tuple[int, int, int]] = field(default_factory=set)

    @property
    def first_day(self) -> dt.date:
        """The first day on which it was seen."""
        return min(self.days)

    @property
    def last_day(self) -> dt.date:
        """The last day on which it was seen."""
        return max(self.days)

    @property
    def elements_per_entry(self) -> float:
        """Its ratio."""
        return self.elements / self.entries


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the rows of one coupling facility come down to."""

    stretches: list[Stretch]
    left_out: Counter[str]
    """Rows by why they are in no stretch."""
    cuts: list[Cut]


NO_TOTALS = "a total or the size was not known"
OTHER_KIND = "CSQ_ADMIN holds no messages: its base is another"
PASSING = (
    "seen on one day only, between days with other figures: an alter or rebuild under way, or a wrong figure"
)
SCARCE = "seen on one day only, and only for a part of it"

_Instance = tuple[str | None, str, dt.datetime | None]
_Structure = tuple[str | None, str]
_Triple = tuple[int, int, int]


def gather(points: Iterable[AllocationPoint]) -> Gathered:
    """The stretches of one coupling facility, those of one structure in the order of their days."""
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
        found = sorted(triples.values(), key=lambda stretch: (stretch.first_day, stretch.last_day))
        kept = list(_lasting(found, ordinary=median(seen[qsg, structure]), left_out=left_out))
        by_structure[qsg, structure].extend(_merged(kept))
    stretches: list[Stretch] = []
    cuts: list[Cut] = []
    for _, items in sorted(by_structure.items(), key=lambda item: (item[0][0] or "", item[0][1])):
        items.sort(key=lambda stretch: (stretch.first_day, stretch.last_day))
        stretches.extend(items)
        cuts.extend(_cuts(items))
    return Gathered(stretches, left_out, cuts)


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
    """Those that lasted, or may yet: not what came up once between days with other figures."""
    lasting = [stretch for stretch in found if len(stretch.days) > 1]
    for stretch in found:
        if len(stretch.days) == 1:
            day = stretch.first_day
            if any(other.first_day <= day <= other.last_day for other in lasting):
                left_out[PASSING] += stretch.rows
                continue
            if stretch.observations < SELDOM * ordinary:
                left_out[SCARCE] += stretch.rows
                continue
        yield stretch


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    """Stretches of one instance, those that follow each other and are alike made one."""
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
    return all(abs(a - b) <= ALIKE * max(a, b) for a, b in pairs)


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


def _cuts(stretches: list[Stretch]) -> Iterable[Cut]:
    """Where one stretch of a structure gives way to another, day by day."""
    by_day: dict[dt.date, Stretch] = {}
    for stretch in stretches:
        for day in stretch.days:
            other = by_day.get(day)
            # On a day with two, the one that lasts longer is the one that it went over to.
            if other is None or stretch.last_day > other.last_day:
                by_day[day] = stretch
    before: Stretch | None = None
    for day in sorted(by_day):
        stretch = by_day[day]
        if before is not None and stretch is not before:
            yield Cut(stretch.structure, day, _why(before, stretch))
        before = stretch


def _why(before: Stretch, after: Stretch) -> str:
    size = _size(after.size_bytes)
    if before.allocated_at != after.allocated_at:
        return f"allocated anew with {size}"
    if abs(after.size_bytes - before.size_bytes) > ALIKE * before.size_bytes:
        return f"altered from {_size(before.size_bytes)} to {size}"
    return (
        f"entries and elements altered at {size}, from {before.elements_per_entry:.3g} "
        f"to {after.elements_per_entry:.3g} elements an entry"
    )


def _size(size_bytes: float) -> str:
    return format_size(round(size_bytes / MIB) * MIB)
