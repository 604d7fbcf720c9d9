"""Daily allocations of fictitious structures with a known truth, with which fits are compared.

The same seed produces the same figures. A sample takes milliseconds and needs no files and no Spark.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planner_core.simulated import QSG
from planner_core.units import KIB, MIB, ceil_div
from spark_jobs.simulate.series import FIRST_DAY, INITIAL_RATIO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AllocationTruth:
    """The simulated storage costs of a coupling facility."""

    base_bytes: float
    entry_bytes: float
    element_bytes: float
    ratios: tuple[tuple[int, int], ...]
    """The ratios of entries to elements of the structures."""
    noise_bytes: float

    def bundle_bytes(self, ratio: tuple[int, int] = INITIAL_RATIO) -> float:
        """Return the bytes of one entry with its elements."""
        return self.entry_bytes + self.element_bytes * ratio[1] / ratio[0]


@dataclass(frozen=True, slots=True)
class AllocationChange:
    """A change of a structure's allocation."""

    day: dt.date
    structure: str
    kind: str
    """The kind: allocated, reallocated (a new instance, with another size or ratio), rebuilt (to another coupling
    facility and back: a day is missing), altered (size changed in place), ratio_altered (in place)."""
    size_bytes: int
    ratio: tuple[int, int]


@dataclass(frozen=True, slots=True)
class AllocationSample:
    """Rows with the fields of a fit's AllocationPoint, and the truth."""

    rows: list[dict[str, Any]]
    """Fields: qsg, structure, xcf_structure, coupling_facility, cfcc_level, day, allocated_at, size_bytes,
    entries_total, elements_total, observations."""
    is_outlier: NDArray[np.bool_]
    """Whether each row is an outlier."""
    changes: list[AllocationChange]
    truth: AllocationTruth


def allocation_points(
    seed: int,
    *,
    ratios: Sequence[tuple[int, int]] = (INITIAL_RATIO,),
    structures: int = 10,
    days: int = 60,
    base_bytes: float | None = None,
    entry_bytes: float | None = None,
    element_bytes: float | None = None,
    noise_bytes: float = 256 * KIB,
    outlier_share: float = 0.05,
    reallocations: int = 2,
    alters: int = 4,
    rebuilds: int = 1,
    smallest_bytes: int = 64 * MIB,
    largest_bytes: int = 8192 * MIB,
    increment_bytes: int = MIB,
    cfcc_level: int | None = 25,
    coupling_facility: str = "SIMCF01",
    first_day: dt.date = FIRST_DAY,
    observations_a_day: int = 96,
) -> AllocationSample:
    """Return daily allocation statistics of the structures of one coupling facility.

    Sizes are distributed evenly on a logarithmic scale, in whole increments. A structure of size S at the ratio e:l
    gets (S - base + noise) / (entry + element x l / e) entries. The noise is one normal figure (noise_bytes is its
    standard deviation) for each allocation or alter, not for each day: without a change, the totals are the same every
    day. Missing costs are drawn from the seed: base 8 to 30 MiB, an entry of 350 to 800 bytes, an element of 258 to
    310.

    Args:
        seed: The same seed produces the same sample.
        ratios: Ratios of entries to elements; structures take them in turn, and a ratio_altered goes to the next.
        structures: Number of structures.
        days: Number of days.
        base_bytes: True base.
        entry_bytes: True cost of an entry.
        element_bytes: True cost of an element.
        noise_bytes: Standard deviation of the noise.
        outlier_share: Share of outliers: totals of another instance, truncated figures, sizes of an instance in
            rebuild.
        reallocations: Number of reallocations with another size.
        alters: Number of alters in place; with several ratios, every other one alters the ratio.
        rebuilds: Number of structures that spend days in another coupling facility (their rows are missing).
        smallest_bytes: Smallest size.
        largest_bytes: Largest size.
        increment_bytes: Sizes are multiples of this number.
        cfcc_level: The value in the rows.
        coupling_facility: The value in the rows.
        first_day: The first day.
        observations_a_day: Number of observations on a complete day.
    """
    random = np.random.default_rng((seed, 1))
    truth = _costs(random, base_bytes, entry_bytes, element_bytes, ratios, noise_bytes)
    # One draw in each part of the range, because independent draws could omit large or small sizes.
    places = (np.arange(structures) + random.uniform(0, 1, structures)) / structures
    sizes = smallest_bytes * (largest_bytes / smallest_bytes) ** random.permutation(places)
    ratio_of = np.arange(structures) % len(ratios)
    events = _events(random, structures, days, reallocations, alters, rebuilds, several=len(ratios) > 1)
    made = _Rows(truth, first_day, increment_bytes, random)
    for number in range(structures):
        made.structure(number, sizes[number], int(ratio_of[number]), events[number], days)
    return made.sample(
        outlier_share=outlier_share,
        observations=observations_a_day,
        cfcc_level=cfcc_level,
        coupling_facility=coupling_facility,
    )


def _costs(
    random: np.random.Generator,
    base: float | None,
    entry: float | None,
    element: float | None,
    ratios: Sequence[tuple[int, int]],
    noise: float,
) -> AllocationTruth:
    drawn = random.uniform((8 * MIB, 350, 258), (30 * MIB, 800, 310)).tolist()
    return AllocationTruth(
        drawn[0] if base is None else base,
        drawn[1] if entry is None else entry,
        drawn[2] if element is None else element,
        tuple(ratios),
        noise,
    )


Event = tuple[int, str]
"""Day and kind of a change."""


def _events(
    random: np.random.Generator,
    structures: int,
    days: int,
    reallocations: int,
    alters: int,
    rebuilds: int,
    *,
    several: bool,
) -> list[list[Event]]:
    found: list[list[Event]] = [[] for _ in range(structures)]
    kinds = ["reallocated"] * reallocations + ["rebuilt"] * rebuilds
    kinds += ["ratio_altered" if several and number % 2 else "altered" for number in range(alters)]
    if days > 2:
        for kind in kinds:
            found[int(random.integers(structures))].append((int(random.integers(1, days - 1)), kind))
    return [sorted(events) for events in found]


class _Rows:
    """A collector of rows, one allocation (a period without change) at a time."""

    def __init__(
        self, truth: AllocationTruth, first_day: dt.date, increment_bytes: int, random: np.random.Generator
    ) -> None:
        self._truth = truth
        self._first = first_day
        self._increment = increment_bytes
        self._random = random
        self._stretches: list[tuple[int, int, int, dt.datetime, int, int, int]] = []
        self._changes: list[AllocationChange] = []

    def structure(self, number: int, size: float, ratio: int, events: Sequence[Event], days: int) -> None:
        """Add a structure from the first day to the last."""
        size_bytes = self._sized(size)
        allocated = self._instant(-int(self._random.integers(5, 200)))
        begin = 0
        self._changed(0, number, "allocated", size_bytes, ratio)
        totals = self._totals(size_bytes, ratio)
        for day, kind in [*events, (days, "")]:
            if day > begin:
                self._stretches.append((number, begin, day, allocated, size_bytes, *totals))
                begin = day
            if not kind:
                break
            if kind == "rebuilt":
                away = int(self._random.integers(1, 4))
                begin = min(begin + away, days)
            if kind in ("reallocated", "rebuilt"):
                allocated = self._instant(day)
            if kind in ("reallocated", "altered"):
                size_bytes = self._sized(size_bytes * float(self._random.choice([0.6, 0.8, 1.25, 1.5, 2.0])))
            if kind == "ratio_altered" or (kind == "reallocated" and self._random.random() < 0.5):
                ratio = (ratio + 1) % len(self._truth.ratios)
            totals = self._totals(size_bytes, ratio)
            self._changed(day, number, kind, size_bytes, ratio)

    def _sized(self, size: float) -> int:
        # A structure below its base would have no entries.
        least = 2 * self._truth.base_bytes
        return ceil_div(int(max(size, least)), self._increment) * self._increment

    def _instant(self, day: int) -> dt.datetime:
        moment = dt.datetime.combine(self._first, dt.time(3, 17), dt.UTC) + dt.timedelta(days=day)
        return moment + dt.timedelta(seconds=int(self._random.integers(3600)))

    def _totals(self, size_bytes: int, ratio: int) -> tuple[int, int]:
        per_entry = self._truth.ratios[ratio]
        room = size_bytes - self._truth.base_bytes + self._random.normal(0, self._truth.noise_bytes)
        # A coupling facility allocates whole entries only.
        entries = max(int(room / self._truth.bundle_bytes(per_entry)), 1)
        return entries, entries * per_entry[1] // per_entry[0]

    def _changed(self, day: int, number: int, kind: str, size_bytes: int, ratio: int) -> None:
        when = self._first + dt.timedelta(days=day)
        change = AllocationChange(when, structure_name(number), kind, size_bytes, self._truth.ratios[ratio])
        self._changes.append(change)

    def sample(
        self, *, outlier_share: float, observations: int, cfcc_level: int | None, coupling_facility: str
    ) -> AllocationSample:
        """Return all rows, some of them outliers."""
        lengths = np.array([end - begin for _, begin, end, *_ in self._stretches])
        stretch = np.repeat(np.arange(len(lengths)), lengths)
        day = np.concatenate([np.arange(begin, end) for _, begin, end, *_ in self._stretches])
        numbers = np.array([[row[0], *row[4:]] for row in self._stretches], dtype=np.int64)[stretch]
        size, entries, elements = (numbers[:, column].copy() for column in (1, 2, 3))
        wrong = self._random.random(len(stretch)) < outlier_share
        _spoil(self._random, np.flatnonzero(wrong), size, entries, elements)
        seen = np.where(wrong, self._random.integers(1, 4, len(stretch)), observations)
        days = [self._first + dt.timedelta(days=number) for number in range(int(day.max()) + 1)]
        allocated = [row[3] for row in self._stretches]
        rows = [
            {
                "qsg": QSG,
                "structure": structure_name(number),
                "xcf_structure": QSG + structure_name(number),
                "coupling_facility": coupling_facility,
                "cfcc_level": cfcc_level,
                "day": days[on],
                "allocated_at": allocated[of],
                "size_bytes": size_bytes,
                "entries_total": entries_total,
                "elements_total": elements_total,
                "observations": count,
            }
            for number, on, of, size_bytes, entries_total, elements_total, count in zip(
                numbers[:, 0].tolist(),
                day.tolist(),
                stretch.tolist(),
                size.tolist(),
                entries.tolist(),
                elements.tolist(),
                seen.tolist(),
                strict=True,
            )
        ]
        return AllocationSample(rows, wrong, self._changes, self._truth)


def _spoil(
    random: np.random.Generator, at: NDArray[np.intp], size: Whole, entries: Whole, elements: Whole
) -> None:
    """Convert rows to realistic outliers: figures of another time or another structure, or lost digits."""
    kind = random.integers(0, 4, len(at))
    other = random.integers(0, len(size), len(at))
    halves = random.uniform(0.3, 0.9, len(at))
    kept = entries.copy(), elements.copy()
    rebuilding, swapped, cut, single = (at[kind == number] for number in range(4))
    size[rebuilding] = (size[rebuilding] * random.uniform(1.2, 2.5, len(rebuilding))).astype(np.int64)
    entries[swapped], elements[swapped] = (column[other[kind == 1]] for column in kept)
    entries[cut] = entries[cut] // 10
    elements[cut] = elements[cut] // 10
    entries[single] = np.maximum((entries[single] * halves[kind == 3]).astype(np.int64), 1)


def structure_name(number: int) -> str:
    """Return the name of a fictitious structure."""
    return f"APPL{number + 1:03}"
