"""The events of the simulation: allocations, alters, a rebuild, outages, a storm, wrong rows.

Moments are numbers of intervals from the first one; interval k begins k x the interval's length after the first midnight.
An interval belongs to the day on which it begins, so the last one of a day ends at midnight.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from planner_core.units import KIB, MIB, round_up
from spark_jobs.simulate.series import INITIAL_RATIO
from spark_jobs.simulate.site import HOURS, RATIOS, Facility, Options, Site, StructureModel

NOISE_BYTES: Final = 64 * KIB
"""Standard deviation of an allocation's size from the calculated one, drawn once for each allocation."""
OUTLIER_SHARE: Final = 0.05
"""Share of a structure's days with one interval of an alter in progress, with the new size and the old totals."""
GROWN, MOST_GROWN = 1.25, 2.0
STORM_HOURS, STORM_USAGE = 4, 1.4
BACKLOG_HOURS, BACKLOG_USAGE = 3, 1.1
OUTAGE_DAYS: Final = 2
REBUILT_DAYS: Final = 3


@dataclass(frozen=True, slots=True)
class Allocation:
    """A structure's allocation, which is valid from one interval until the next allocation."""

    first: int
    facility: int
    size_bytes: int
    size_max_bytes: int
    ratio: tuple[int, int]
    entries_total: int
    elements_total: int
    allocated_at: dt.datetime
    why: str
    """The cause: initial, altered, ratio_altered, reallocated, rebuilt, rebuilt_back."""


@dataclass(frozen=True, slots=True)
class Rise:
    """Intervals in which a structure's backlog is far above the ordinary one."""

    structure: int
    first: int
    end: int
    kind: str
    """The kind of rise: in an offload_storm, data is offloaded; in a backlog, no data is offloaded, and the structure
    fills."""
    usage: float
    """Share of the fuller pool that the backlog would take without offloading."""


@dataclass
class Timeline:
    """All events of a simulation."""

    site: Site
    allocations: list[list[Allocation]]
    rises: list[Rise] = field(default_factory=list)
    outage_days: range = range(0)
    """Days without any data."""
    manager_down: tuple[int, int] | None = None
    """Number of a queue manager and the day on which it writes nothing."""

    def at(self, structure: int, interval: int) -> Allocation:
        """Return the allocation at an interval's end."""
        made = self.allocations[structure]
        return made[bisect_right([one.first for one in made], interval) - 1]

    def of_day(self, structure: int, day: int) -> list[Allocation]:
        """Return the allocations at the ends of a day's intervals."""
        count = self.site.options.intervals
        return [self.at(structure, interval) for interval in range(day * count, (day + 1) * count)]

    def in_rebuild(self, structure: int, interval: int) -> Allocation | None:
        """Return the old instance that still exists in this interval, next to the new one."""
        now = self.at(structure, interval)
        if now.first == interval and now.why.startswith("rebuilt"):
            return self.at(structure, interval - 1)
        return None

    def outliers(self, day: int) -> dict[int, int]:
        """Return the interval of the day with an alter in progress, by structure."""
        options = self.site.options
        # Draw for each day separately, so that a day can be made without the days before it.
        random = np.random.default_rng((options.seed, 40, day))
        hit = random.random(len(self.site.structures)) < OUTLIER_SHARE
        when = random.integers(0, options.intervals, len(self.site.structures))
        return {number: int(when[number]) for number in np.flatnonzero(hit).tolist()}


def totals(
    site: Site, facility: Facility, size_bytes: int, ratio: tuple[int, int], noise_bytes: float
) -> tuple[int, int]:
    """Return entries and elements of an allocation."""
    per_entry = facility.entry_bytes + facility.element_bytes * ratio[1] / ratio[0]
    entries = max(int((size_bytes - facility.base_bytes + noise_bytes) / per_entry), 1)
    return entries, entries * ratio[1] // ratio[0]


def make_timeline(site: Site) -> Timeline:
    """Return all events, drawn from the site's seed; a short simulation lacks the events that need more days."""
    planner = _Planner(site)
    days, applications = site.options.days, [one for one in site.structures if one.is_application]
    first = [one for one in applications if one.facility == 0]

    def structure(place: int, of: list[StructureModel]) -> int:
        return of[place % len(of)].number

    at_initial_ratio = [one.number for one in first if one.ratio == INITIAL_RATIO]
    rebuilt = at_initial_ratio[1 if len(at_initial_ratio) > 2 else 0]  # noqa: PLR2004 - the last one is altered
    altered = [one.number for one in applications[1:] if one.number != rebuilt] or [applications[0].number]
    planned = [(_day(days, planner.share()), planner.altered, number) for number in altered]
    planned += [
        (_day(days, 0.30), planner.ratio_altered, at_initial_ratio[-1]),
        (_day(days, 0.45), planner.reallocated, structure(1, applications)),
        (_day(days, 0.70), planner.rebuilt, rebuilt),
    ]
    for day, happens, number in sorted(planned, key=lambda each: each[0]):
        happens(number, day)
    made = Timeline(site, [sorted(found, key=lambda one: one.first) for found in planner.allocations])
    offloading = [one.number for one in applications if one.offload]
    if offloading:
        made.rises += planner.rise("offload_storm", offloading[0], _day(days, 0.80), STORM_HOURS, STORM_USAGE)
    made.rises += planner.rise(
        "backlog", structure(2, applications), max(days - 3, 0), BACKLOG_HOURS, BACKLOG_USAGE
    )
    outage = _day(days, 0.55)
    if days >= 14:  # noqa: PLR2004 - shorter simulations need all their days
        made.outage_days = range(outage, outage + OUTAGE_DAYS)
    down = _day(days, 0.25)
    if len(site.managers) > 1 and down:
        made.manager_down = (len(site.managers) - 1, down)
    return made


def _day(days: int, share: float) -> int:
    """Return a day after the first and before the last; 0 if there is none."""
    found = int(days * share)
    return found if 0 < found < days else 0


class _Planner:
    """A planner that draws the allocations in the order of time."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._options: Options = site.options
        self._random = np.random.default_rng((site.options.seed, 50))
        self.allocations: list[list[Allocation]] = []
        for model in site.structures:
            before = int(self._random.integers(5, 300))
            allocated = self._instant(-before * self._options.intervals)
            most = round_up(int(model.size_bytes * MOST_GROWN), multiple=MIB)
            blank = Allocation(
                0, model.facility, model.size_bytes, most, model.ratio, 0, 0, allocated, "initial"
            )
            self.allocations.append([self._with_totals(blank)])

    def _with_totals(self, one: Allocation) -> Allocation:
        noise = float(self._random.normal(0, NOISE_BYTES))
        facility = self._site.facilities[one.facility]
        entries, elements = totals(self._site, facility, one.size_bytes, one.ratio, noise)
        return replace(one, entries_total=entries, elements_total=elements)

    def _instant(self, interval: int) -> dt.datetime:
        """Return a time within the interval, to the microsecond."""
        minutes = self._options.interval_minutes
        begin = dt.datetime.combine(self._options.first_day, dt.time(), dt.UTC)
        begin += dt.timedelta(minutes=minutes * interval)
        return begin + dt.timedelta(microseconds=int(self._random.integers(1, minutes * 60_000_000)))

    def _moment(self, day: int) -> int:
        """Return an interval in the early hours of a day."""
        per_hour = self._options.intervals / HOURS
        return day * self._options.intervals + max(int(per_hour * self._random.uniform(2, 6)), 1) * (
            self._options.intervals > 1
        )

    def _change(self, structure: int, first: int, why: str, *, is_new: bool, **values: object) -> None:
        before = max(
            (one for one in self.allocations[structure] if one.first <= first), key=lambda one: one.first
        )
        allocated = self._instant(first) if is_new else before.allocated_at
        changed = replace(before, first=first, why=why, allocated_at=allocated, **values)  # type: ignore[arg-type]
        self.allocations[structure].append(self._with_totals(changed))

    def share(self) -> float:
        """Return a share of the period, not too close to its ends."""
        return float(self._random.uniform(0.1, 0.9))

    def altered(self, structure: int, day: int) -> None:
        """Increase the structure's size in place (SETXCF ALTER)."""
        if day:
            self._change(
                structure, self._moment(day), "altered", is_new=False, size_bytes=self._grown(structure)
            )

    def ratio_altered(self, structure: int, day: int) -> None:
        """Alter the ratio in place as ALLOWAUTOALT does, without changing the size."""
        if day:
            other = RATIOS[1] if self.allocations[structure][0].ratio == RATIOS[0] else RATIOS[0]
            self._change(structure, self._moment(day), "ratio_altered", is_new=False, ratio=other)

    def reallocated(self, structure: int, day: int) -> None:
        """Deallocate the structure and allocate it again with a larger size."""
        if day:
            self._change(
                structure, self._moment(day), "reallocated", is_new=True, size_bytes=self._grown(structure)
            )

    def rebuilt(self, structure: int, day: int) -> None:
        """Rebuild the structure into the other coupling facility and, some days later, back."""
        if not day:
            return
        home = self.allocations[structure][-1].facility
        other = (home + 1) % len(self._site.facilities)
        self._change(structure, self._moment(day), "rebuilt", is_new=True, facility=other)
        back = day + REBUILT_DAYS
        if back < self._options.days:
            self._change(structure, self._moment(back), "rebuilt_back", is_new=True, facility=home)

    def rise(self, kind: str, structure: int, day: int, hours: int, usage: float) -> list[Rise]:
        """Return a period of some hours with a far larger backlog, at the structure's peak hour."""
        if not day:
            return []
        per_hour = self._options.intervals / HOURS
        peak = self._site.structures[structure].peak_hour
        first = day * self._options.intervals + int(per_hour * min(peak, HOURS - hours))
        return [Rise(structure, first, first + max(int(per_hour * hours), 1), kind, usage)]

    def _grown(self, structure: int) -> int:
        return round_up(int(self.allocations[structure][-1].size_bytes * GROWN), multiple=MIB)
