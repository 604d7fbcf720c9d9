"""The health of structures in the last days of their group: the judged intervals of the daily statistics, added up."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from planner_core.health import HEALTH_DAYS, MEASURES, HealthFigures, Measure, StructureHealth
from spark_jobs.night.findings import balance_of
from spark_jobs.night.measures import TIME_SHIFT, WORST_UNIT
from spark_jobs.night.statistics import HEALTH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from planner_core.contracts.nightly import NightlyFacts
    from spark_jobs.night.daily import DailySnapshot
    from spark_jobs.night.findings import State

Line = dict[str, Any]
LATE_DAYS = 8
"""The number of days after a day under which its rows may be filed: an interval of a week ends half a week later."""
_COUNTS = ("observations", "intervals", "above_good", "above_limit")


def health_of(kept: DailySnapshot, states: Sequence[State], facts: NightlyFacts) -> list[StructureHealth]:
    """Return the health of each structure, in the order of the states."""
    lines = _lines(kept, {state.last_day for state in states})
    return [
        StructureHealth(
            qsg=state.qsg,
            structure=state.structure,
            first_day=_first(state.last_day),
            last_day=state.last_day,
            measures=_figures(
                line
                for line in lines.get((state.qsg, state.structure), ())
                if _first(state.last_day) <= line["day"] <= state.last_day
            ),
            balance=balance_of(state, facts),
            is_simulated=state.is_simulated,
        )
        for state in states
    ]


def _first(last: dt.date) -> dt.date:
    return last - dt.timedelta(days=HEALTH_DAYS - 1)


def _lines(kept: DailySnapshot, last_days: Collection[dt.date]) -> Mapping[tuple[str, str], list[Line]]:
    """Return the judged rows of the structures; only the months of the last days of a group are read."""
    days = [
        last + dt.timedelta(days=number)
        for last in last_days
        for number in range(1 - HEALTH_DAYS, LATE_DAYS + 1)
    ]
    if not days:
        return {}
    rows = kept.rows(HEALTH, months={day.isoformat()[:7] for day in days})
    rows = rows.filter(pc.greater_equal(rows["day"], min(days)))
    found: dict[tuple[str, str], list[Line]] = {}
    for line in rows.to_pylist():
        found.setdefault((line["qsg"], line["structure"]), []).append(line)
    return found


def _figures(lines: Iterable[Line]) -> tuple[HealthFigures, ...]:
    by_measure: dict[Measure, list[Line]] = {measure: [] for measure in MEASURES}
    for line in lines:
        by_measure[line["measure"]].append(line)
    return tuple(_added(measure, of_measure) for measure, of_measure in by_measure.items())


def _added(measure: Measure, lines: Sequence[Line]) -> HealthFigures:
    records, intervals, above_good, above_limit = (sum(line[name] for line in lines) for name in _COUNTS)
    judged = [line for line in lines if line["worst"] is not None]
    # Of equal values, the latest interval is named; of equal intervals, the first reporter.
    worst = min(
        judged,
        key=lambda line: (
            -line["worst"],
            line["reporter"],
            line["coupling_facility"] or "",
            line["queue"] or "",
        ),
        default=None,
    )
    if worst is None:
        return HealthFigures(measure=measure, records=records)
    value, second = divmod(worst["worst"], TIME_SHIFT)
    return HealthFigures(
        measure=measure,
        records=records,
        intervals=intervals,
        above_good=above_good,
        above_limit=above_limit,
        worst=value / WORST_UNIT,
        worst_at=dt.datetime.fromtimestamp(second, dt.UTC),
        reporter=worst["reporter"],
        coupling_facility=worst["coupling_facility"],
        queue=worst["queue"],
    )
