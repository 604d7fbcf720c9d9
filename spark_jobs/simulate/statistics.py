"""Daily statistics of fictitious structures with known truth, in memory: what fits and forecasts are held against.

The same seed gives the same figures. Nothing here needs files or Spark; a sample takes milliseconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planner_core.units import KIB, MIB, ceil_div

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

FIRST_DAY = dt.date(2026, 1, 5)
"""A Monday."""
QSG = "SIM1"
INITIAL_RATIO = (1, 6)
WEEK = 7
DAYS_A_YEAR = 365.25


# ---- allocations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AllocationTruth:
    """What a coupling facility charges, as simulated."""

    base_bytes: float
    entry_bytes: float
    element_bytes: float
    ratios: tuple[tuple[int, int], ...]
    """Entries to elements, those that occur."""
    noise_bytes: float

    def bundle_bytes(self, ratio: tuple[int, int] = INITIAL_RATIO) -> float:
        """Bytes of one entry with its elements."""
        return self.entry_bytes + self.element_bytes * ratio[1] / ratio[0]


@dataclass(frozen=True, slots=True)
class AllocationChange:
    """One thing that happened to a structure's allocation."""

    day: dt.date
    structure: str
    kind: str
    """allocated, reallocated (a new instance, with another size or ratio), rebuilt (to another coupling facility and
    back: a day is missing), altered (size changed in place), ratio_altered (in place)."""
    size_bytes: int
    ratio: tuple[int, int]


@dataclass(frozen=True, slots=True)
class AllocationSample:
    """Rows with the fields of a fit's AllocationPoint, and the truth."""

    rows: list[dict[str, Any]]
    """qsg, structure, xcf_structure, coupling_facility, cfcc_level, day, allocated_at, size_bytes, entries_total,
    elements_total, observations."""
    is_outlier: NDArray[np.bool_]
    """Which rows are made wrong."""
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
    """Daily allocation statistics of the structures of one coupling facility.

    Sizes are spread evenly on a logarithmic scale, in whole increments. A structure of size S at the ratio e:l gets
    (S - base + noise) / (entry + element x l / e) entries. The noise is one normal figure (noise_bytes is its standard
    deviation) for each allocation or alter, not for each day: as long as nothing is changed, the totals stay what
    they are, day after day. Costs that are not given are drawn from the seed: base 8 to 30 MiB, an
    entry of 350 to 800 bytes, an element of 258 to 310.

    Args:
        seed: The same seed, the same sample.
        ratios: Ratios of entries to elements; structures take them in turn, and a ratio_altered goes to the next.
        structures: How many structures.
        days: How many days.
        base_bytes: True base.
        entry_bytes: True cost of an entry.
        element_bytes: True cost of an element.
        noise_bytes: Standard deviation of the noise.
        outlier_share: Share of the rows that are made wrong: totals of another instance, figures cut short, sizes of
            an instance in rebuild.
        reallocations: How many structures are allocated anew with another size.
        alters: How many alters in place; with several ratios every other one alters the ratio.
        rebuilds: How many structures spend days in another coupling facility (rows of those days are missing).
        smallest_bytes: Smallest size.
        largest_bytes: Largest size.
        increment_bytes: Sizes are multiples of it.
        cfcc_level: As in the rows.
        coupling_facility: As in the rows.
        first_day: The first day.
        observations_a_day: Observations that a whole day has.
    """
    random = np.random.default_rng((seed, 1))
    truth = _costs(random, base_bytes, entry_bytes, element_bytes, ratios, noise_bytes)
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
"""Day and kind."""


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
    if days > 2:  # noqa: PLR2004 - the first and the last day see no change
        for kind in kinds:
            found[int(random.integers(structures))].append((int(random.integers(1, days - 1)), kind))
    return [sorted(events) for events in found]


class _Rows:
    """Gathers columns, an allocation (a stretch of days without change) at a time."""

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
            if kind == "ratio_altered" or (kind == "reallocated" and self._random.random() < 0.5):  # noqa: PLR2004
                ratio = (ratio + 1) % len(self._truth.ratios)
            totals = self._totals(size_bytes, ratio)
            self._changed(day, number, kind, size_bytes, ratio)

    def _sized(self, size: float) -> int:
        least = 2 * self._truth.base_bytes
        return ceil_div(int(max(size, least)), self._increment) * self._increment

    def _instant(self, day: int) -> dt.datetime:
        moment = dt.datetime.combine(self._first, dt.time(3, 17), dt.UTC) + dt.timedelta(days=day)
        return moment + dt.timedelta(seconds=int(self._random.integers(3600)))

    def _totals(self, size_bytes: int, ratio: int) -> tuple[int, int]:
        per_entry = self._truth.ratios[ratio]
        room = size_bytes - self._truth.base_bytes + self._random.normal(0, self._truth.noise_bytes)
        entries = max(int(room / self._truth.bundle_bytes(per_entry)), 1)
        return entries, entries * per_entry[1] // per_entry[0]

    def _changed(self, day: int, number: int, kind: str, size_bytes: int, ratio: int) -> None:
        when = self._first + dt.timedelta(days=day)
        change = AllocationChange(when, _structure_name(number), kind, size_bytes, self._truth.ratios[ratio])
        self._changes.append(change)

    def sample(
        self, *, outlier_share: float, observations: int, cfcc_level: int | None, coupling_facility: str
    ) -> AllocationSample:
        """All rows, some of them made wrong."""
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
                "structure": _structure_name(number),
                "xcf_structure": QSG + _structure_name(number),
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
    """Make rows wrong as real ones are: figures of another moment or another structure, lost digits."""
    kind = random.integers(0, 4, len(at))
    other = random.integers(0, len(size), len(at))
    halves = random.uniform(0.3, 0.9, len(at))
    kept = entries.copy(), elements.copy()
    rebuilding, swapped, cut, single = (at[kind == number] for number in range(4))
    size[rebuilding] = (size[rebuilding] * random.uniform(1.2, 2.5, len(rebuilding))).astype(np.int64)
    entries[swapped], elements[swapped] = (column[other[kind == 1]] for column in kept)
    entries[cut] = entries[cut] // 10
    elements[cut] = elements[cut] // 10
    entries[single] = np.maximum((entries[single] * halves[kind == 3]).astype(np.int64), 1)  # noqa: PLR2004


def _structure_name(number: int) -> str:
    return f"APPL{number + 1:03}"


# ---- daily peaks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PeaksTruth:
    """What the peaks were made of. Days of arrays run over history and horizon."""

    expected: Floats
    """The peaks without noise, outages and spikes: trend x week x end of month."""
    trend: Floats
    """Trend alone, level shift included."""
    growth_kind: str
    """linear or compounding."""
    growth_per_year: float
    """Share of the first day's level."""
    week: tuple[float, ...]
    """Factors from Monday to Sunday; the largest is 1."""
    month_end: float
    """What the last two days and the first of a month are higher, as a share."""
    noise: float
    """Standard deviation of the logarithm of the noise, and its autocorrelation from day to day."""
    noise_autocorrelation: float
    shift_day: int | None
    """Index of the day of the level shift."""
    shift: float
    """Factor."""
    outage_days: tuple[int, ...]
    """Days without figures."""
    backlog_days: tuple[int, ...]
    """Days of a backlog far above the ordinary."""


@dataclass(frozen=True, slots=True)
class PeaksSample:
    """Daily peaks of one structure and what came after them."""

    qsg: str
    structure: str
    unit: str
    days: Whole
    """Ordinals (date.toordinal) of the history, without gaps."""
    peaks: Floats
    """nan where nothing was measured."""
    future_days: Whole
    future_peaks: Floats
    total: float
    """Entries that the structure has."""
    levels: dict[str, float]
    """Name -> value: offload_70, offload_80, offload_90, full_threshold (85 %), size (100 %)."""
    truth: PeaksTruth

    def crossing_day(self, level: str, *, of: str = "expected") -> int | None:
        """Days from the last day of the history (1 is the next) to the first at or above a level; None: beyond.

        Args:
            level: A name of `levels`.
            of: expected, the truth without noise; actual, what came with noise, backlogs and all; trend.
        """
        history = len(self.days)
        path = {
            "expected": self.truth.expected[history:],
            "trend": self.truth.trend[history:],
            "actual": self.future_peaks,
        }[of]
        above = np.flatnonzero(np.nan_to_num(path, nan=-1.0) >= self.levels[level])
        return int(above[0]) + 1 if len(above) else None


LEVELS = {"offload_70": 0.70, "offload_80": 0.80, "full_threshold": 0.85, "offload_90": 0.90, "size": 1.0}


def daily_peaks(
    seed: int,
    *,
    days: int = 270,
    horizon_days: int = 180,
    unit: str = "entries",
    growth_kind: str | None = None,
    growth_per_year: float | None = None,
    noise: float | None = None,
    weekly: bool = True,
    month_end: float | None = None,
    level_shift: bool | None = None,
    outages_per_year: float = 3.0,
    backlogs_per_year: float = 2.0,
    events_in_future: bool = False,
    crossing: tuple[int, int] = (15, 260),
    first_day: dt.date = FIRST_DAY,
) -> PeaksSample:
    """Daily peaks of a structure's entries (or elements, or SMDS blocks), and the days after them.

    A peak is trend x week x end of month x noise. What is not given is drawn from the seed: half of the structures grow
    linearly and half compounding, by 25 to 130 % a year; the weekend has 25 to 85 % of the working days' peaks; up to
    12 % more at the end of a month; noise of 2 to 9 % with an autocorrelation of 0.2 to 0.7; one structure in five has
    a level shift of -30 to +40 % in its history. The structure's total is set so that the expected peaks come to 85 %
    of it at the latest so many days after the history as are drawn from `crossing` (an end of month may do so before).

    Args:
        seed: The same seed, the same sample.
        days: Length of the history.
        horizon_days: How many days come after it.
        unit: What is counted.
        growth_kind: linear or compounding.
        growth_per_year: As a share of the first day's level; 0 for none.
        noise: Standard deviation of the noise's logarithm; 0 for none.
        weekly: Whether there is a weekly rhythm.
        month_end: How much higher the ends of months are, as a share.
        level_shift: Whether the level changes at once on one day.
        outages_per_year: Outages of one to three days without figures.
        backlogs_per_year: Days (one or two) on which a backlog of 1.5 to 4 times the ordinary peak was built up.
        events_in_future: Whether outages and backlogs go on after the history. No history tells when they come.
        crossing: From which to which day after the history 85 % is to be reached.
        first_day: The first day of the history.
    """
    random = np.random.default_rng((seed, 2))
    length = days + horizon_days
    linear = bool(random.random() < 0.5)  # noqa: PLR2004 - half of them
    drawn = random.uniform((0.25, 0.0, 0.02, 0.2, np.log(2_000)), (1.3, 0.12, 0.09, 0.7, np.log(2_000_000)))
    kind = growth_kind or ("linear" if linear else "compounding")
    growth = float(drawn[0]) if growth_per_year is None else growth_per_year
    high = float(drawn[1]) if month_end is None else month_end
    spread = float(drawn[2]) if noise is None else noise
    shifts = bool(random.random() < 0.2) if level_shift is None else level_shift  # noqa: PLR2004 - one in five
    shift_day = int(random.integers(days // 4, max(days - 21, days // 4 + 1)))
    shift = float(random.uniform(0.7, 1.4))

    week = _week(random) if weekly else np.ones(WEEK)
    crossed_after = int(random.integers(crossing[0], crossing[1] + 1))
    moment = np.arange(max(length, days + crossed_after))
    trend = np.exp(drawn[4]) * growth_path(moment, kind=kind, growth_per_year=growth)
    if shifts:
        trend[shift_day:] *= shift
    calendar = first_day.toordinal() + moment
    expected = trend * rhythm(calendar, week=week, month_end=high)
    total = float(np.floor(expected[days : days + crossed_after].max() / LEVELS["full_threshold"]))
    trend, expected, calendar = trend[:length], expected[:length], calendar[:length]
    noisy = expected * np.exp(autocorrelated(random, length, deviation=spread, correlation=float(drawn[3])))
    last_event = length if events_in_future else days
    backlog_days = _happenings(random, backlogs_per_year, last_event, longest=2)
    noisy[backlog_days] *= random.uniform(1.5, 4, len(backlog_days))
    outage_days = _happenings(random, outages_per_year, last_event, longest=3)
    peaks = np.minimum(np.rint(noisy), total)  # a structure that is full holds no more
    peaks[outage_days] = np.nan
    truth = PeaksTruth(
        expected=expected,
        trend=trend,
        growth_kind=kind,
        growth_per_year=growth,
        week=tuple(week.tolist()),
        month_end=high,
        noise=spread,
        noise_autocorrelation=float(drawn[3]),
        shift_day=shift_day if shifts else None,
        shift=shift if shifts else 1.0,
        outage_days=tuple(outage_days.tolist()),
        backlog_days=tuple(backlog_days.tolist()),
    )
    return PeaksSample(
        qsg=QSG,
        structure=_structure_name(seed % 999),
        unit=unit,
        days=calendar[:days],
        peaks=peaks[:days],
        future_days=calendar[days:],
        future_peaks=peaks[days:],
        total=total,
        levels={name: share * total for name, share in LEVELS.items()},
        truth=truth,
    )


def growth_path(moment: NDArray[Any], *, kind: str, growth_per_year: float) -> Floats:
    """Level relative to the first day, at days from it (also parts of days)."""
    years = np.asarray(moment, dtype=np.float64) / DAYS_A_YEAR
    path: Floats = (1 + growth_per_year) ** years if kind == "compounding" else 1 + growth_per_year * years
    return path


def rhythm(calendar: Whole, *, week: Floats, month_end: float) -> Floats:
    """Factors of days given as ordinals: the week's, and the end of a month's on its last two days and the first."""
    factors: Floats = week[(calendar + WEEK - 1) % WEEK]
    dates = (calendar - dt.date(1970, 1, 1).toordinal()).astype("datetime64[D]")
    of_month = [(dates + before).astype("datetime64[M]") for before in (-1, 0, 2)]
    is_end = (of_month[0] != of_month[1]) | (of_month[1] != of_month[2])
    return factors * np.where(is_end, 1 + month_end, 1.0)


def autocorrelated(
    random: np.random.Generator, length: int, *, deviation: float, correlation: float
) -> Floats:
    """Normal noise of which each figure depends on the one before."""
    steps = random.normal(0, deviation, length)
    steps[1:] *= np.sqrt(1 - correlation**2)
    noise = np.empty(length)
    last = 0.0
    for number, step in enumerate(steps.tolist()):
        last = correlation * last + step
        noise[number] = last
    return noise


def _week(random: np.random.Generator) -> Floats:
    week = random.uniform(0.9, 1.0, WEEK)
    week[5:] = random.uniform(0.25, 0.85, 2)
    week[int(random.integers(0, 5))] = 1.0
    found: Floats = week / week.max()
    return found


def _happenings(random: np.random.Generator, per_year: float, length: int, *, longest: int) -> Whole:
    """Days of events that last from one day to the longest."""
    count = int(random.poisson(per_year * length / DAYS_A_YEAR))
    begins = random.integers(0, max(length, 1), count)
    lasts = random.integers(1, longest + 1, count)
    days = {
        day
        for begin, last in zip(begins.tolist(), lasts.tolist(), strict=True)
        for day in range(begin, min(begin + last, length))
    }
    return np.array(sorted(days), dtype=np.int64)
