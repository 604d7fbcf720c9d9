"""Stated probabilities of survival compared with observed frequencies, on structures of `bench.outage_world`.

For each structure, `planner_core.whatif.survival` gets the hours that roll-ups would have, and states the probability for
outages of several lengths. Then consumers stop at random times in the quarter after the history, and messages are counted
one by one until a put fails. Both are compared in ten bands of the stated probability.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.outage_world import ELEMENT, HEADER, LARGEST, LONGEST, OFFLOADED, HourRecord, OutageWorld
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.whatif.survival import survival
from planner_core.whatif.survival_answer import (
    MeasuredGrowth,
    MeasuredHour,
    MeasuredUsage,
    SurvivalCurve,
    SurvivalQuestion,
)

BANDS = 10
STRUCTURES = 100
OUTAGES = 300
UNSEEN = 1000
"""Number of the first structure of the table: the interval was chosen on structures before it."""
SHORTEST = 10
"""Shorter outages [minutes] are survived almost always."""
GROWTH_ERROR = 0.01
"""Standard deviation of the forecast growth in 30 days, and of its own interval."""
TENTH = 1.2816
NINETY = 1.6449


@dataclass
class Band:
    """The probabilities of one band, and how often outages were survived."""

    points: int = 0
    stated: float = 0.0
    observed: float = 0.0


@dataclass
class Calibration:
    """The bands of one set of offload rules."""

    bands: list[Band] = field(default_factory=lambda: [Band() for _ in range(BANDS)])
    covered: list[bool] = field(default_factory=list)

    def add(self, curve: SurvivalCurve, lasts: Sequence[float]) -> None:
        """Compare the points of a curve with the minutes that outages lasted."""
        many = len(lasts)
        for point in curve.series:
            if not SHORTEST <= point.minutes < LONGEST:
                continue
            share = sum(each > point.minutes for each in lasts) / many
            band = self.bands[min(BANDS - 1, int(point.probability * BANDS))]
            band.points += 1
            band.stated += point.probability
            band.observed += share
            if point.low is None or point.high is None or not 0 < share < 1:
                continue
            # The share of some hundred outages differs from that of the whole quarter.
            noise = NINETY * math.sqrt(share * (1 - share) / many)
            low = point.probability - math.hypot(point.probability - point.low, noise)
            high = point.probability + math.hypot(point.high - point.probability, noise)
            self.covered.append(low <= share <= high)

    @property
    def largest_error(self) -> float:
        """Return the largest difference between stated and observed in a band with at least 20 points."""
        errors = [abs(each.stated - each.observed) / each.points for each in self.bands if each.points >= 20]
        return max(errors, default=0.0)


def calibrate(structures: int, *, outages: int = OUTAGES, first: int = 0) -> dict[str, Calibration]:
    """Return the calibration with and without offload over many structures."""
    found = {"with offload": Calibration(), "without offload": Calibration()}
    for seed in range(first, first + structures):
        world = OutageWorld(seed)
        usage = measured(world)
        answer = survival(
            plan(), SurvivalQuestion(at="allocated"), measurements=lambda *_, usage=usage, **__: usage
        )
        for name, curve in zip(found, (answer.with_offload, answer.without_offload), strict=True):
            if curve is None:
                message = f"structure {seed} has no answer: {answer.not_answered}"
                raise AssertionError(message)
            lasts = world.lasts(with_offload=name == "with offload", count=outages)
            found[name].add(curve, [float(each) for each in lasts])
    return found


def plan() -> PlanDocument:
    """Return a plan with a structure; its sizes are not used, because the structures of this world have their own."""
    queue = {"name": "Q1", "message_bytes": 1000, "put_rate_per_s": 1, "outage_minutes": 60}
    return read_object(
        {
            "qsg": "SIM1",
            "queue_managers": 2,
            "cfcc_level": 25,
            "structures": [{"name": "APP1", "queues": [queue]}],
        }
    )


def measured(world: OutageWorld) -> MeasuredUsage:
    """Return the hours of a structure as the roll-ups have them, and a forecast of its growth."""
    random = np.random.default_rng((len(world.queues), world.entries))
    growth = math.expm1(world.growth_per_day * 30) + float(random.normal(0, GROWTH_ERROR))
    hours = []
    for number, day in enumerate(world.history()):
        at = dt.datetime.combine(world.first_day + dt.timedelta(days=number), dt.time(), dt.UTC)
        hours += [_hour(at + dt.timedelta(hours=hour), record) for hour, record in enumerate(day)]
    return MeasuredUsage(
        tuple(hours),
        world.entries,
        world.elements,
        MeasuredGrowth(growth - TENTH * GROWTH_ERROR, growth, growth + TENTH * GROWTH_ERROR, world.first_day),
    )


_EDGES = (0, 4 * 1024, 32 * 1024, LARGEST)


def _hour(at: dt.datetime, record: HourRecord) -> MeasuredHour:
    puts, elements = [0.0] * (len(_EDGES) + 1), [0.0] * (len(_EDGES) + 1)
    for many, size, low, high in zip(
        record.puts, record.put_bytes, record.smallest, record.largest, strict=True
    ):
        if many:
            band = bisect_left(_EDGES, size / many)
            each = -(-(low + HEADER) // ELEMENT) if low == high else (size / many + HEADER + 255) / ELEMENT
            puts[band] += many
            elements[band] += many * (OFFLOADED if band == len(_EDGES) else each)
    return MeasuredHour(at, tuple(puts), tuple(elements), record.entries_max, record.elements_max)


# ---- tables ----------------------------------------------------------------------------------------------------------

BLOCK = re.compile(r"(<!-- survival: ([0-9]+) structures -->)\n(.*?)(<!-- end -->)", re.DOTALL)


def table(found: dict[str, Calibration]) -> Iterator[str]:
    """Yield the lines of the table for docs/explanation/survival.md."""
    yield "| stated | with offload: points | stated | observed | without: points | stated | observed |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for number in range(BANDS):
        cells = [f"{number * 100 // BANDS} to {(number + 1) * 100 // BANDS} %"]
        for calibration in found.values():
            band = calibration.bands[number]
            shares = [
                f"{100 * value / band.points:.1f} %" if band.points else ""
                for value in (band.stated, band.observed)
            ]
            cells += [str(band.points), *shares]
        yield f"| {' | '.join(cells)} |"
    covered = [each for calibration in found.values() for each in calibration.covered]
    yield ""
    yield f"Share of the 90 % intervals that contain the observed frequency: {100 * sum(covered) / len(covered):.0f} %."


def print_table(*, structures: int = STRUCTURES, page: Path | None = None) -> None:
    """Print the table, and write it into a page."""
    found = calibrate(structures, first=UNSEEN)
    lines = list(table(found))
    print("\n".join(lines))
    if page is not None:
        text = page.read_text(encoding="utf-8")
        new = f"<!-- survival: {structures} structures -->\n" + "\n".join(lines) + "\n<!-- end -->"
        page.write_text(BLOCK.sub(lambda _: new, text), encoding="utf-8")
