"""Convert daily statistics to the input of fits, forecasts and findings: a few hundred rows for each structure.

Data about one UTC day from several filed days are merged here.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner_core.contracts.nightly import DailyFigures, DataSetPeak
from planner_core.names import cfrm_structure_name
from spark_jobs.fit import AllocationPoint, QueueDay, StructureDay
from spark_jobs.history.schema import DAY_US, HOUR_US
from spark_jobs.night.groups import NONE, Groups, Rows
from spark_jobs.night.statistics import AT_INSTANTS, ENTRIES_SHIFT, POLICY, QUEUE, SMDS, STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from spark_jobs.night.daily import DailySnapshot
    from spark_jobs.night.groups import Numbers

    Floats = NDArray[np.float64]

EPOCH = dt.date(1970, 1, 1).toordinal()

SERIES_DAYS = 430
"""The number of days that are read, for new forecasts and for those due for scoring."""
FIT_DAYS = 400
"""The number of days whose allocations are fitted. Older ones may be from another coupling facility with the same
name."""
MIX_DAYS = 91
"""The number of days of the message mix."""
LEAST_COVERED = 0.5
"""Share of the usual hours that must be observed before a day has a peak."""
USUAL_DAYS = 28
"""The number of days that the last day of a group is compared with."""
LATE_US = HOUR_US
"""The time by which the last day of a group may end earlier than usual [microseconds]."""
HOURS = 24

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The days of one structure, in order."""

    qsg: str
    structure: str
    days: Numbers
    """Days since 1970-01-01."""
    entries_peak: Numbers
    """The peak of each day, here and below; NONE if nothing was measured."""
    elements_peak: Numbers
    entries_total: Numbers
    """The last known value of each day, here and below."""
    elements_total: Numbers
    size_bytes: Numbers
    size_max_bytes: Numbers
    full_count: Numbers
    is_whole: NDArray[np.bool_]
    """True for days that were observed long enough to have a peak."""
    is_simulated: NDArray[np.bool_]
    coupling_facility: str | None
    """The last known coupling facility."""

    def peaks(self, measure: str) -> Floats:
        """Return the peaks of entries or elements in the form that forecasts use: nan for a day without a peak."""
        return floats(self.entries_peak if measure == "entries" else self.elements_peak, self.is_whole)

    def last(self, values: Numbers) -> int | None:
        """Return the last known value of a column."""
        known = np.flatnonzero(values != NONE)
        return int(values[known[-1]]) if len(known) else None


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """The days of one shared message data set, in order."""

    qsg: str
    structure: str
    queue_manager: str
    days: Numbers
    blocks_peak: Numbers
    blocks_total: Numbers
    messages_peak: Numbers
    failed_allocates: Numbers
    is_whole: NDArray[np.bool_]
    is_simulated: NDArray[np.bool_]

    def peaks(self) -> Floats:
        """Return the peaks in the form that forecasts use."""
        return floats(self.blocks_peak, self.is_whole)


@dataclass(frozen=True, slots=True)
class Policy:
    """The last known values of a structure from the site's policy and from its CFSTRUCT."""

    size_bytes: int | None = None
    initsize_bytes: int | None = None
    full_threshold_pct: int | None = None
    offload_rules: str | None = None


@dataclass(frozen=True, slots=True)
class Collected:
    """The input of fits, forecasts and findings."""

    structures: dict[Key, Series] = field(default_factory=dict)
    data_sets: dict[tuple[str, str, str], DataSet] = field(default_factory=dict)
    policies: dict[Key, Policy] = field(default_factory=dict)
    points: list[AllocationPoint] = field(default_factory=list)
    queue_days: list[QueueDay] = field(default_factory=list)
    structure_days: list[StructureDay] = field(default_factory=list)

    def simulated(self) -> list[str]:
        """Return the groups with simulated usage."""
        return sorted({one.qsg for one in self.series() if one.is_simulated.any()})

    def series(self) -> list[Series | DataSet]:
        """Return the series of all structures and data sets."""
        return [*self.structures.values(), *self.data_sets.values()]


def collect(kept: DailySnapshot, *, cfcc_levels: Mapping[str, int]) -> Collected:
    """Return the input from the daily statistics of the last `SERIES_DAYS` days."""
    last = max((day for one in kept.filed().values() for day in one.days), default=None)
    if last is None:
        return Collected()
    last_day = dt.date.fromisoformat(last).toordinal() - EPOCH
    usage = _recent(kept, STRUCTURE, last_day - SERIES_DAYS + 1)
    return Collected(
        structures=_structures(usage),
        data_sets=_data_sets(_recent(kept, SMDS, last_day - SERIES_DAYS + 1)),
        policies=_policies(_recent(kept, POLICY, last_day - SERIES_DAYS + 1)),
        points=_points(_since(usage, last_day - FIT_DAYS + 1), cfcc_levels),
        queue_days=_queue_days(_recent(kept, QUEUE, last_day - MIX_DAYS + 1)),
        structure_days=_structure_days(_since(usage, last_day - MIX_DAYS + 1)),
    )


def daily_of(kept: DailySnapshot, days: Collection[str]) -> list[DailyFigures]:
    """Return the daily figures of these UTC days."""
    if not days:
        return []
    wanted = pa.array(sorted(dt.date.fromisoformat(day) for day in days), pa.date32())
    # Records about a day are filed under it or one of the few days after it.
    filed = [one.filed for one in kept.filed().values() if not set(one.days).isdisjoint(days)]
    months = sorted({day[:7] for day in filed})
    usage, blocks = (kept.rows(kind, months=months) for kind in (STRUCTURE, SMDS))
    collected = Collected(
        structures=_structures(usage.filter(pc.is_in(usage["day"], value_set=wanted))),
        data_sets=_data_sets(blocks.filter(pc.is_in(blocks["day"], value_set=wanted))),
    )
    return daily_figures(collected)


def daily_figures(collected: Collected) -> list[DailyFigures]:
    """Return the daily figures of all days, by structure."""
    data_sets: dict[Key, list[DataSet]] = {}
    for one in collected.data_sets.values():
        data_sets.setdefault((one.qsg, one.structure), []).append(one)
    lines: list[DailyFigures] = []
    for key in sorted(collected.structures.keys() | data_sets.keys()):
        lines += _lines(key, collected.structures.get(key), data_sets.get(key, ()))
    return lines


def date_of(day: int) -> dt.date:
    """Return the date of a day since 1970-01-01."""
    return dt.date.fromordinal(EPOCH + day)


def floats(values: Numbers, whole: NDArray[np.bool_]) -> Floats:
    """Return numbers with nan for unknown values and for days that were not observed long enough."""
    return np.where(whole & (values != NONE), values, np.nan).astype(np.float64)


def number(value: int | np.int64) -> int | None:
    """Return a number, or None for NONE."""
    return None if value == NONE else int(value)


# ---- structures ------------------------------------------------------------------------------------------------------

_OF_DAY = ("qsg", "structure", "day")
_OF_STRUCTURE = ("qsg", "structure")


def _structures(usage: pa.Table) -> dict[Key, Series]:
    usage = _with_peaks_of_percentages(usage)
    rows = Rows(usage)
    by_day = Groups(rows, _OF_DAY)
    full = _full_counts(rows, by_day)
    last = {
        name: _last_known(rows, _OF_DAY, name)
        for name in ("entries_total", "elements_total", "size_bytes", "size_max_bytes")
    }
    facilities = _last_texts(rows, "coupling_facility")
    columns = {
        "entries_peak": by_day.most("entries_peak"),
        "elements_peak": by_day.most("elements_peak"),
        "full_count": full,
        **last,
    }
    days, ends, hours = by_day.first("day"), by_day.most("last_at"), by_day.bits("hours")
    simulated = by_day.most("is_simulated") > 0
    group, names = by_day.first("qsg"), by_day.first("structure")
    last_days = {int(code): int(days[group == code].max()) for code in np.unique(group)}
    found: dict[Key, Series] = {}
    for number_, (begin, end) in enumerate(_slices(group, names)):
        key = rows.text("qsg", int(group[begin])) or "", rows.text("structure", int(names[begin])) or ""
        whole = whole_days(
            days[begin:end], hours[begin:end], ends[begin:end], last_day=last_days[int(group[begin])]
        )
        found[key] = Series(
            qsg=key[0],
            structure=key[1],
            days=days[begin:end],
            is_whole=whole,
            is_simulated=simulated[begin:end],
            coupling_facility=facilities[number_],
            **{name: values[begin:end] for name, values in columns.items()},
        )
    return found


def whole_days(days: Numbers, hours: Numbers, ends: Numbers, *, last_day: int) -> NDArray[np.bool_]:
    """Return which days were observed for long enough to have a peak.

    A day needs half of the hours that days of this series usually have. The last day of the group counts if it ends as
    late as days usually do or, with few days to compare, if it ends in its last hour.

    Args:
        days: days since 1970, in order.
        hours: bits of the hours with an observation.
        ends: the end of the last interval [microseconds].
        last_day: the last day of the group.
    """
    covered = np.bitwise_count(hours)
    whole: NDArray[np.bool_] = covered >= LEAST_COVERED * np.median(covered)
    # Only the last day can be incomplete because its dumps have not arrived yet.
    if days[-1] == last_day:
        told = ends - days * DAY_US
        before = told[:-1][-USUAL_DAYS:]
        usual = float(np.median(before)) if len(before) >= 3 else float(HOURS * HOUR_US)  # noqa: PLR2004 - too few to tell
        whole[-1] &= bool(min(told[-1], HOURS * HOUR_US) >= min(usual, HOURS * HOUR_US) - LATE_US)
    return whole


def _with_peaks_of_percentages(usage: pa.Table) -> pa.Table:
    """Return usage with peaks calculated from percentages of known totals, where only these are recorded."""
    for pool in ("entries", "elements"):
        share, total = usage[f"{pool}_pct_peak"], usage[f"{pool}_total"]
        if share.null_count == usage.num_rows:
            continue
        told = pc.round(pc.divide(pc.multiply(share, total.cast(pa.float64())), 100.0)).cast(pa.int64())
        name = f"{pool}_peak"
        place = usage.schema.get_field_index(name)
        usage = usage.set_column(place, name, pc.coalesce(usage[name], told))
    return usage


def _full_counts(rows: Rows, by_day: Groups) -> Numbers:
    """Return the counts of the first kind of source that has any, for each day of each structure."""
    by_family = Groups(rows, (*_OF_DAY, "family"))
    sums = by_family.total("full_count")
    # Both have the days in the same order, and the families of a day are adjacent.
    day_of_family = np.searchsorted(by_day.starts, by_family.starts, side="right") - 1
    found = np.full(len(by_day), NONE, dtype=np.int64)
    # Reverse the order, so that the first family of a day is assigned last and remains.
    known = np.flatnonzero(sums != NONE)[::-1]
    found[day_of_family[known]] = sums[known]
    return found


def _last_known(rows: Rows, keys: tuple[str, ...], name: str) -> Numbers:
    """Return each group's last value of a column; of two values at the same time, the one from the newer instance."""
    values = rows[name]
    groups = Groups(rows, keys, then=(values != NONE, rows["last_at"], *_newer(rows), values))
    return groups.last(name)


def _newer(rows: Rows) -> list[Numbers]:
    """Return the columns that sort instances by age, if there are any."""
    return [rows["allocated_at"]] if "allocated_at" in rows else []


def _last_texts(rows: Rows, name: str) -> list[str | None]:
    """Return the last value of a text column for each structure."""
    codes = rows[name]
    then = (codes != rows.unknown(name), rows["last_at"], *_newer(rows), codes)
    groups = Groups(rows, _OF_STRUCTURE, then=then)
    return [rows.text(name, int(code)) for code in groups.last(name)]


def _slices(*codes: Numbers) -> list[tuple[int, int]]:
    """Return the start and end of each run of equal combinations."""
    if not len(codes[0]):
        return []
    changed = np.zeros(len(codes[0]), dtype=bool)
    changed[0] = True
    for one in codes:
        changed[1:] |= one[1:] != one[:-1]
    starts = np.flatnonzero(changed).tolist()
    return list(zip(starts, [*starts[1:], len(codes[0])], strict=True))


# ---- data sets and policies ------------------------------------------------------------------------------------------


def _data_sets(usage: pa.Table) -> dict[tuple[str, str, str], DataSet]:
    rows = Rows(usage)
    by_day = Groups(rows, ("qsg", "structure", "queue_manager", "day"))
    days, ends, hours = by_day.first("day"), by_day.most("last_at"), by_day.bits("hours")
    group, managers = by_day.first("qsg"), by_day.first("queue_manager")
    peaks, totals, messages = (by_day.most(name) for name in ("blocks_peak", "blocks_total", "messages_peak"))
    failed = by_day.total("failed_allocates")
    simulated = by_day.most("is_simulated") > 0
    structures = by_day.first("structure")
    last_days = {int(code): int(days[group == code].max()) for code in np.unique(group)}
    found = {}
    for begin, end in _slices(group, structures, managers):
        qsg, structure = (
            rows.text("qsg", int(group[begin])) or "",
            rows.text("structure", int(structures[begin])) or "",
        )
        manager = rows.text("queue_manager", int(managers[begin])) or ""
        one = slice(begin, end)
        found[qsg, structure, manager] = DataSet(
            qsg=qsg,
            structure=structure,
            queue_manager=manager,
            days=days[one],
            blocks_peak=peaks[one],
            blocks_total=totals[one],
            messages_peak=messages[one],
            failed_allocates=failed[one],
            is_whole=whole_days(days[one], hours[one], ends[one], last_day=last_days[int(group[begin])]),
            is_simulated=simulated[one],
        )
    return found


def _policies(told: pa.Table) -> dict[Key, Policy]:
    rows = Rows(told)
    by_structure = Groups(rows, _OF_STRUCTURE)
    numbers = [
        _last_known(rows, _OF_STRUCTURE, name)
        for name in ("policy_size_bytes", "policy_initsize_bytes", "full_threshold_pct")
    ]
    rules = _last_texts(rows, "mq_offload_rules")
    names = zip(by_structure.first("qsg"), by_structure.first("structure"), strict=True)
    return {
        (rows.text("qsg", int(qsg)) or "", rows.text("structure", int(structure)) or ""): Policy(
            number(size), number(initsize), number(threshold), of_structure
        )
        for (qsg, structure), size, initsize, threshold, of_structure in zip(
            names, *numbers, rules, strict=True
        )
    }


# ---- input of fits ---------------------------------------------------------------------------------------------------


def _since(rows: pa.Table, day: int) -> pa.Table:
    return rows.filter(pc.greater_equal(rows["day"], pa.scalar(date_of(max(day, 0)), pa.date32())))


def _points(usage: pa.Table, cfcc_levels: Mapping[str, int]) -> list[AllocationPoint]:
    """Return how often each instance was observed on each day with the same totals."""
    told = pc.and_(
        pc.and_(pc.greater(usage["size_bytes"], 0), pc.greater(usage["entries_total"], 0)),
        pc.and_(pc.greater(usage["elements_total"], 0), pc.is_valid(usage["coupling_facility"])),
    )
    rows = usage.filter(pc.fill_null(told, False))
    keys = [
        "coupling_facility", "qsg", "structure", "day", "allocated_at", "size_bytes", "entries_total", "elements_total",
    ]  # fmt: skip
    # The time of allocation is part of the key: a new allocation is a new point, even with the same totals.
    found = rows.group_by(keys).aggregate([("observations", "sum")])
    found = found.sort_by([(name, "ascending") for name in keys])
    columns = [_values(found[name]) for name in (*keys, "observations_sum")]
    # There is a point for each day of a structure, but only one name for each structure.
    xcf_names = {
        of: cfrm_structure_name(qsg_name=of[0], cfstruct_name=of[1])
        for of in set(zip(*(columns[keys.index(name)] for name in _OF_STRUCTURE), strict=True))
    }
    return [
        AllocationPoint(
            qsg=qsg,
            structure=structure,
            xcf_structure=xcf_names[qsg, structure],
            coupling_facility=facility,
            cfcc_level=cfcc_levels.get(facility),
            day=day,
            allocated_at=allocated_at,
            size_bytes=size,
            entries_total=entries,
            elements_total=elements,
            observations=observations,
        )
        for facility, qsg, structure, day, allocated_at, size, entries, elements, observations in zip(
            *columns, strict=True
        )
    ]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column; texts and times, which repeat, are converted once for each distinct value."""
    if pa.types.is_integer(column.type):
        return list(column.to_pylist())
    coded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    distinct = coded.dictionary.to_pylist()
    return [distinct[place] for place in coded.indices.to_pylist()]


def _recent(kept: DailySnapshot, kind: str, first: int) -> pa.Table:
    """Return the rows from a day on; data about a day are never filed under an earlier one."""
    month = date_of(max(first, 0)).isoformat()[:7]
    months = [file.month for file in kept.files(kind) if file.month >= month]
    return _since(kept.rows(kind, months=months), first)


def _queue_days(usage: pa.Table) -> list[QueueDay]:
    keys = ["qsg", "structure", "queue", "day"]
    found = usage.filter(pc.is_valid(usage["puts"])).group_by(keys).aggregate(
        [
            ("puts", "sum"), ("put_bytes", "sum"), ("put_size_min_bytes", "min"), ("put_size_max_bytes", "max"),
            ("persistent_puts", "sum"),
        ]
    )  # fmt: skip
    found = found.filter(pc.greater(found["puts_sum"], 0)).sort_by([(name, "ascending") for name in keys])
    names = (
        *keys, "puts_sum", "put_bytes_sum", "put_size_min_bytes_min", "put_size_max_bytes_max", "persistent_puts_sum",
    )  # fmt: skip
    columns = [_values(found[name]) for name in names]
    return [
        QueueDay(qsg, structure, queue, day, puts, size, smallest, largest, persistent)
        for qsg, structure, queue, day, puts, size, smallest, largest, persistent in zip(
            *columns, strict=True
        )
        if size is not None
    ]


def _structure_days(usage: pa.Table) -> list[StructureDay]:
    """Return entries and elements in use at the fullest observation of each day, and those written on it.

    An observation at an instant is preferred: MQ's two maxima of an interval may have occurred at different times.
    """
    instant = pc.is_in(usage["family"], value_set=pa.array(AT_INSTANTS, pa.int32()))
    usage = usage.append_column("instant", instant.cast(pa.int32()))
    keys = ["qsg", "structure", "day"]
    found = usage.filter(pc.is_valid(usage["fullest"]))
    found = found.group_by([*keys, "instant"]).aggregate([("fullest", "max")])
    found = found.sort_by([(name, "ascending") for name in (*keys, "instant")])
    last: dict[tuple[str, str, dt.date], int] = {}
    for qsg, structure, day, fullest in zip(
        *(_values(found[name]) for name in (*keys, "fullest_max")), strict=True
    ):
        # The rows are sorted by `instant`, so an observation at an instant overwrites the maxima of an interval.
        last[qsg, structure, day] = fullest
    written = _written(usage)
    return [
        StructureDay(
            *of,
            last[of] // ENTRIES_SHIFT if of in last else None,
            last[of] % ENTRIES_SHIFT if of in last else None,
            *written.get(of, (None, None)),
        )
        for of in sorted({*last, *written})
    ]


def _written(usage: pa.Table) -> dict[tuple[str, str, dt.date], tuple[int, int]]:
    """Return the entries and elements that were written to each structure on each day, from the first source that has them."""
    usage = usage.filter(
        pc.and_(pc.is_valid(usage["entries_written"]), pc.is_valid(usage["elements_written"]))
    )
    keys = ["qsg", "structure", "day"]
    sums = [("entries_written", "sum"), ("elements_written", "sum")]
    found = usage.group_by([*keys, "family"]).aggregate(sums)
    found = found.sort_by([*((name, "ascending") for name in keys), ("family", "descending")])
    names = (*keys, "entries_written_sum", "elements_written_sum")
    # The first source counts, never the sum of several; it is the last of its day here.
    return {
        (qsg, structure, day): (entries, elements)
        for qsg, structure, day, entries, elements in zip(
            *(found[name].to_pylist() for name in names), strict=True
        )
    }


# ---- daily figures ---------------------------------------------------------------------------------------------------


_FIGURES = ("entries_peak", "elements_peak", "entries_total", "elements_total", "size_bytes", "full_count")


def _lines(key: Key, series: Series | None, data_sets: Collection[DataSet]) -> list[DailyFigures]:
    lines: dict[int, DailyFigures] = {}
    if series is not None:
        columns = (getattr(series, name) for name in _FIGURES)
        days = zip(series.days, series.is_simulated, *columns, strict=True)
        for day, is_simulated, *figures in days:
            numbers = dict(zip(_FIGURES, map(number, figures), strict=True))
            lines[int(day)] = _line(key, int(day), is_simulated=bool(is_simulated), **numbers)
    for one in sorted(data_sets, key=lambda one: one.queue_manager):
        rows = zip(one.days, one.is_simulated, one.blocks_peak, one.blocks_total, strict=True)
        for day, is_simulated, peak, total in rows:
            line = lines.get(int(day)) or _line(key, int(day), is_simulated=bool(is_simulated))
            data_set = DataSetPeak(one.queue_manager, number(peak), number(total))
            lines[int(day)] = replace(line, smds=(*(line.smds or ()), data_set))
    return [lines[day] for day in sorted(lines)]


def _line(key: Key, day: int, *, is_simulated: bool, **figures: int | None) -> DailyFigures:
    return DailyFigures(
        qsg=key[0], structure=key[1], day=date_of(day), smds=(), is_simulated=is_simulated, **figures
    )
