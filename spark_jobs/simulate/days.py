"""The figures of one day of the site: those in the records, and the true ones."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from planner_core.units import MIB, PAGE_4K, round_up
from spark_jobs.simulate.demand import daily, fill, messages_for_usage, trend
from spark_jobs.simulate.site import BLOCK_BYTES, HOURS, QueueModel, Site, StructureModel
from spark_jobs.simulate.timeline import GROWN, Allocation, Timeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

INTERVAL_NOISE: Final = 0.02
UNSEEN_SHARE: Final = 0.02
"""Share of a queue manager's intervals without a response of the coupling facility; their maxima are 0."""
TURNS_AN_HOUR: Final = 20
"""The number of times per hour that an ordinary backlog is put and got."""
SPACE_MAP_BLOCKS: Final = 1
REJECTED_AT_ONCE: Final = 500
"""The number of messages that are not put after one refusal, because applications wait before they try again."""


@dataclass(frozen=True, slots=True)
class QueueDay:
    """The figures of a queue for each interval of a day."""

    model: QueueModel
    depth_max: Whole
    depth_end: Whole
    puts: Whole
    """Puts of all queue managers that use it."""


@dataclass(frozen=True, slots=True)
class StructureDay:
    """The figures of a structure. Arrays have one figure for each interval of the day."""

    model: StructureModel
    allocations: list[Allocation]
    size_bytes: Whole
    """The size in the records; during an alter, the new size."""
    entries: Whole
    """The maximum number of entries in use in the interval, as seen by any queue manager."""
    elements: Whole
    entries_end: Whole
    """Entries in use at the end of the interval, as RMF records it."""
    elements_end: Whole
    seen: Floats
    """By queue manager and interval: the share of the maximum that it observed; 0 without responses."""
    full: Whole
    """Requests that found the structure full."""
    calls: Whole
    """Requests of all queue managers."""
    offloaded: Whole
    """The maximum number of messages in all data sets."""
    blocks: Whole
    """The maximum number of blocks in use in each queue manager's data set; all data sets are equally full."""
    queues: list[QueueDay]
    outlier: int | None

    @property
    def entries_total(self) -> Whole:
        """Return the total entries."""
        return np.array([one.entries_total for one in self.allocations], dtype=np.int64)

    @property
    def elements_total(self) -> Whole:
        """Return the total elements."""
        return np.array([one.elements_total for one in self.allocations], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Day:
    """All structures on a day."""

    number: int
    date: dt.date
    structures: list[StructureDay]
    managers_up: tuple[int, ...]
    """Numbers of the queue managers that write records."""


def make_day(site: Site, timeline: Timeline, number: int) -> Day | None:
    """Return the figures of one day; None for a day without data."""
    if number in timeline.outage_days:
        return None
    down = timeline.manager_down
    up = tuple(manager for manager in range(len(site.managers)) if down is None or down != (manager, number))
    outliers = timeline.outliers(number)
    return Day(
        number,
        site.options.first_day + dt.timedelta(days=number),
        [
            _structure(site, timeline, model, number, up, outliers.get(model.number))
            for model in site.structures
        ],
        up,
    )


def start_messages(timeline: Timeline, model: StructureModel) -> float:
    """Return the backlog at the first day's peak, from the trend alone."""
    first = timeline.allocations[model.number][0]
    return messages_for_usage(
        model, model.usage_at_start, entries_total=first.entries_total, elements_total=first.elements_total
    )


def _structure(
    site: Site,
    timeline: Timeline,
    model: StructureModel,
    day: int,
    up: tuple[int, ...],
    outlier: int | None,
) -> StructureDay:
    options = site.options
    count = options.intervals
    # Each structure and day has its own generator, so that one more structure or day leaves all others unchanged.
    random = np.random.default_rng((options.seed, 60, model.number, day))
    allocations = timeline.of_day(model.number, day)
    entries_total = np.array([one.entries_total for one in allocations], dtype=np.int64)
    elements_total = np.array([one.elements_total for one in allocations], dtype=np.int64)
    backlog = _backlog(site, timeline, model, day, random)
    filled = fill(model, backlog, entries_total=entries_total, elements_total=elements_total)

    at_end = random.uniform(0.6, 1.0, count)
    queues = []
    for queue in model.queues:
        depth = np.rint(filled.taken * queue.share * backlog).astype(np.int64)
        turned = queue.share * backlog * TURNS_AN_HOUR * HOURS / count * random.uniform(0.9, 1.1, count)
        puts = np.rint(turned).astype(np.int64)
        queues.append(QueueDay(queue, depth, np.floor(depth * at_end).astype(np.int64), puts))
    entries = np.minimum(np.sum([queue.depth_max for queue in queues], axis=0), entries_total)
    elements = np.minimum(np.maximum(np.rint(filled.elements), 1).astype(np.int64), elements_total)
    size = np.array([one.size_bytes for one in allocations], dtype=np.int64)
    if outlier is not None:
        size[outlier] = round_up(int(size[outlier] * GROWN), multiple=MIB)

    _, sizes, _ = model.classes()
    in_blocks = (filled.offloaded * (np.ceil(sizes / PAGE_4K) * PAGE_4K)[:, None]).sum(axis=0)
    managers = max(len(site.managers), 1)
    blocks = np.ceil(in_blocks / managers / BLOCK_BYTES).astype(np.int64) + SPACE_MAP_BLOCKS
    return StructureDay(
        model=model,
        allocations=allocations,
        size_bytes=size,
        entries=entries,
        elements=elements,
        entries_end=np.floor(entries * at_end).astype(np.int64),
        elements_end=np.floor(elements * at_end).astype(np.int64),
        seen=_seen(random, len(site.managers), up, count),
        full=np.ceil(np.rint(filled.rejected) / REJECTED_AT_ONCE).astype(np.int64),
        calls=2 * np.sum([queue.puts for queue in queues], axis=0) + 10,
        offloaded=np.rint(filled.offloaded.sum(axis=0)).astype(np.int64),
        blocks=np.minimum(blocks, max(model.smds_blocks, 1)),
        queues=queues,
        outlier=outlier,
    )


def _backlog(
    site: Site, timeline: Timeline, model: StructureModel, day: int, random: np.random.Generator
) -> Floats:
    options = site.options
    count = options.intervals
    within = np.arange(count)
    hour = np.floor((within + 0.5) * HOURS / count).astype(np.int64)
    calendar = np.array([options.first_day.toordinal() + day], dtype=np.int64)
    ordinary = (
        start_messages(timeline, model)
        * trend(model, day + within / count)
        * daily(model, calendar)
        * site.daily_noise[model.number][day]
    )
    backlog = ordinary * np.array(model.profile)[hour] * np.exp(random.normal(0, INTERVAL_NOISE, count))
    # A single interval contains the peak, whatever the backlog is at its middle.
    if count == 1:
        backlog = ordinary * 1.0
    for rise in timeline.rises:
        if rise.structure != model.number:
            continue
        hit = (within + day * count >= rise.first) & (within + day * count < rise.end)
        if not hit.any():
            continue
        now = timeline.at(model.number, rise.first)
        to_usage = messages_for_usage(
            model, rise.usage, entries_total=now.entries_total, elements_total=now.elements_total
        )
        backlog[hit] = np.maximum(backlog[hit], to_usage)
    found: Floats = np.maximum(backlog, 1.0)
    return found


def _seen(random: np.random.Generator, managers: int, up: tuple[int, ...], count: int) -> Floats:
    """Return the share of the maximum that each queue manager observed: one all of it, others nearly all or none."""
    seen: Floats = random.uniform(0.85, 1.0, (managers, count))
    seen[random.random((managers, count)) < UNSEEN_SHARE] = 0.0
    if up:
        seen[np.array(up)[random.integers(0, len(up), count)], np.arange(count)] = 1.0
    return seen
