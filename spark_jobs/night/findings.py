"""The rules for findings of a nightly run. They depend only on its results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_core import tables
from planner_core.contracts.forecasts import Crossing, Forecast, LevelKind
from planner_core.contracts.nightly import NightlyFacts, NightlyFinding, PlannedStructure
from planner_core.findings import SEVERITIES, Severity
from planner_core.health import Balance, Guideline, HealthFigures, StructureHealth, guidelines
from planner_core.units import format_mib
from planner_core.urgency import FULL_DAYS, UsedDay, fullness, times_of

DEMAND_DAYS = 91
"""The number of days whose highest peak is the demand; fewer than `LEAST_DAYS` measured days do not determine it."""
LEAST_DAYS = 28
LEAST_USED_SHARE = 0.05
"""Share of a pool below which its use does not determine the ratio."""
PERCENT = 100
FULL_KINDS: tuple[LevelKind, ...] = ("full_threshold", "full", "size")
"""Levels that mean a full structure when they are passed, the most serious one last."""
OWN_RULE = "cfplan, docs/operations/nightly.md, Basis of the findings"
"""The source of this project's own rules."""


@dataclass(frozen=True, slots=True)
class NightFindingKind:
    """One code with its severity, its meaning in a few words, and its source."""

    code: str
    severity: Severity
    title: str
    source: str = OWN_RULE
    """The document that the rule is based on."""


def _source(key: str, section: str) -> str:
    return str(tables.source(key, section))


def _of_guideline(guideline: Guideline) -> Iterator[NightFindingKind]:
    """Yield the findings about intervals that do not follow a guideline."""
    if guideline.code is not None:
        title = f"Intervals in which {guideline.above_limit}"
        yield NightFindingKind(guideline.code, guideline.severity, title, str(guideline.limit.source))
    if guideline.code_above_good is not None and guideline.good is not None:
        title = f"{guideline.title} that is not below {guideline.written(guideline.good.value)}"
        yield NightFindingKind(guideline.code_above_good, "info", title, str(guideline.good.source))


FINDING_KINDS: tuple[NightFindingKind, ...] = (
    NightFindingKind(
        "STRUCTURE_WAS_FULL", "error", "A structure was found full in the last 7 days",
        _source("mq_rc2192", "Explanation"),
    ),
    NightFindingKind(
        "SMDS_WAS_FULL", "error", "A shared message data set was full in the last 7 days",
        _source("mq_rc2192", "Explanation"),
    ),
    NightFindingKind(
        "FILLS_WITHIN_LEAD_TIME", "warning", "A structure fills up sooner than it can be made larger",
    ),
    NightFindingKind(
        "OFFLOAD_EARLIER_THAN_PLANNED", "warning", "Usage passes an offload threshold that the plan stays below",
        _source("mq_offload", "Offload rules"),
    ),
    NightFindingKind(
        "RATIO_FAR_FROM_DEMAND", "warning", "Entries and elements are used at a different ratio than allocated",
    ),
    *(kind for guideline in guidelines().values() for kind in _of_guideline(guideline)),
    NightFindingKind("INITSIZE_ABOVE_NEED", "info", "INITSIZE is far above what the peaks need"),
)  # fmt: skip
KINDS: Mapping[str, NightFindingKind] = {kind.code: kind for kind in FINDING_KINDS}


@dataclass(frozen=True, slots=True)
class Day:
    """One day of a structure; None for figures that were not measured."""

    day: dt.date
    entries_peak: int | None = None
    elements_peak: int | None = None
    full_count: int | None = None

    entries_total: int | None = None
    elements_total: int | None = None


@dataclass(frozen=True, slots=True)
class DataSetState:
    """The state of a shared message data set on the last day for which it was measured."""

    queue_manager: str
    day: dt.date
    blocks_peak: int
    blocks_total: int
    failed_allocates: int | None


@dataclass(frozen=True, slots=True)
class State:
    """All data about a structure that findings are based on."""

    qsg: str
    structure: str
    last_day: dt.date
    """The last day of the structure's group."""
    days: Sequence[Day]
    """The days in order, at least the last `DEMAND_DAYS`."""
    coupling_facility: str | None = None
    size_bytes: int | None = None
    entries_total: int | None = None
    elements_total: int | None = None
    initsize_bytes: int | None = None
    """INITSIZE in the policy of the site."""
    base_bytes: float = 0.0
    offload_pct: Sequence[int] = ()
    """Offload thresholds in force."""
    forecasts: Sequence[Forecast] = ()
    data_sets: Sequence[DataSetState] = ()
    plans: Sequence[PlannedStructure] = ()
    is_simulated: bool = False


def _finding(
    code: str, message: str, state: State, *, day: dt.date | None, figures: Mapping[str, Any]
) -> NightlyFinding:
    kind = KINDS[code]
    return NightlyFinding(
        code=code,
        severity=kind.severity,
        message=message,
        source=kind.source,
        qsg=state.qsg,
        structure=state.structure,
        coupling_facility=state.coupling_facility,
        day=day,
        figures=figures,
        is_simulated=state.is_simulated,
    )


def findings_of(
    states: Sequence[State], facts: NightlyFacts, healths: Sequence[StructureHealth] = ()
) -> list[NightlyFinding]:
    """Return the findings of all structures, the most serious first.

    Args:
        states: the structures.
        facts: the facts of the run.
        healths: the health of the structures, by the same order.
    """
    found = [
        one
        for state in states
        for rule in (_was_full, _data_set_full, _fills, _offload_earlier, _ratio_far, _initsize_above)
        for one in rule(state, facts)
    ]
    for state, health in zip(states, healths, strict=False):
        found += _unhealthy(state, health)
    return sorted(found, key=_order)


def _order(one: NightlyFinding) -> tuple[int, str, str, str]:
    return SEVERITIES.index(one.severity), one.qsg or "", one.structure or "", one.code


def _since(state: State, days: int) -> list[Day]:
    first = state.last_day - dt.timedelta(days=days - 1)
    return [day for day in state.days if first <= day.day <= state.last_day]


def _was_full(state: State, facts: NightlyFacts) -> Iterable[NightlyFinding]:
    # This is the rule that the lists and pages use, so a finding never contradicts them.
    full = fullness(map(_used_day, state.days), last_day=state.last_day)
    if full is None:
        return
    on = f"{full.days} days" if full.days > 1 else full.last.isoformat()
    found = f"found full {times_of(full.count)}" if full.count else "full (all of a pool was in use)"
    yield _finding(
        "STRUCTURE_WAS_FULL",
        f"{state.structure} of {state.qsg} was {found} on {on}. Messages that need it fail with reason code 2192, "
        "for any of its queues.",
        state,
        day=full.last,
        figures={"full_count": full.count, "days": full.days, "first_day": full.since.isoformat()},
    )


def _used_day(day: Day) -> UsedDay:
    pools = ((day.entries_peak, day.entries_total), (day.elements_peak, day.elements_total))
    return UsedDay(day.day, day.full_count, pools)


def _data_set_full(state: State, facts: NightlyFacts) -> Iterable[NightlyFinding]:
    for one in state.data_sets:
        # A data set with all blocks in use counts as full even if no request failed.
        recent = (state.last_day - one.day).days < FULL_DAYS
        if recent and one.blocks_total and (one.failed_allocates or one.blocks_peak >= one.blocks_total):
            refused = f", and was found full {times_of(one.failed_allocates)}" if one.failed_allocates else ""
            yield _finding(
                "SMDS_WAS_FULL",
                f"The shared message data set of {one.queue_manager} for {state.structure} of {state.qsg} had "
                f"{one.blocks_peak} of {one.blocks_total} blocks in use on {one.day.isoformat()}{refused}. Unless it can be "
                "expanded, puts of offloaded messages fail with reason code 2192.",
                state,
                day=one.day,
                figures={
                    "queue_manager": one.queue_manager,
                    "blocks_peak": one.blocks_peak,
                    "blocks_total": one.blocks_total,
                    "failed_allocates": one.failed_allocates,
                },
            )


def _fills(state: State, facts: NightlyFacts) -> Iterable[NightlyFinding]:
    """Yield the finding on a structure that fills within the lead time: only one, for the most serious level."""
    coming = []
    for forecast in state.forecasts:
        kinds = {level.name: level.kind for level in forecast.levels}
        for crossing in forecast.crossings:
            kind = kinds.get(crossing.level)
            days = 0 if crossing.state == "already_crossed" else crossing.days.p50
            if kind in FULL_KINDS and days is not None and days <= facts.lead_time_days:
                coming.append((-FULL_KINDS.index(kind), days, forecast, crossing))
    if not coming:
        return
    _, days, forecast, crossing = min(coming, key=lambda one: (one[0], one[1], one[2].measure))
    what = {"entries": "entries", "elements": "elements", "smds_blocks": "SMDS blocks"}[forecast.measure]
    owner = f" of {forecast.queue_manager}" if forecast.queue_manager else ""
    yield _finding(
        "FILLS_WITHIN_LEAD_TIME",
        f"{state.structure} of {state.qsg}, {what}{owner}: {crossing.sentence}. The lead time is {facts.lead_time_days} days.",
        state,
        day=state.last_day,
        figures={
            "measure": forecast.measure,
            "queue_manager": forecast.queue_manager,
            "level": crossing.level,
            "state": crossing.state,
            "days": days,
            **_spread(crossing),
            "lead_time_days": facts.lead_time_days,
            "total": forecast.total,
        },
    )


def _spread(crossing: Crossing) -> dict[str, int | None]:
    """Return the 80 % interval of the day; a level that has been passed is passed on day 0."""
    if crossing.state == "already_crossed":
        return {"p10": 0, "p90": 0}
    return {"p10": crossing.days.p10, "p90": crossing.days.p90}


def _offload_earlier(state: State, facts: NightlyFacts) -> Iterable[NightlyFinding]:
    """Yield the finding on a plan that stays below the lowest offload threshold although usage passes it."""
    for plan in state.plans:
        thresholds = [rule.usage_over_pct for rule in plan.offload_rules] or list(state.offload_pct)
        size, need = plan.initsize_bytes, plan.need_bytes
        if not thresholds or not size or not need or size <= state.base_bytes:
            continue
        # Offloading begins at the lowest threshold.
        lowest = min(thresholds)
        planned = PERCENT * max(need - state.base_bytes, 0) / (size - state.base_bytes)
        # A plan that passes the threshold itself expects offloaded messages.
        if planned > lowest:
            continue
        over = [
            (one.day, used)
            for one in _since(state, FULL_DAYS)
            if (used := _used_pct(state, one)) and used > lowest
        ]
        if not over:
            continue
        day, used = max(over, key=lambda one: one[1])
        yield _finding(
            "OFFLOAD_EARLIER_THAN_PLANNED",
            f"{state.structure} of {state.qsg} was {used:.0f} % full on {day.isoformat()}, and messages are offloaded from {lowest} %. "
            f"Plan {plan.plan}, version {plan.version}, fills it to {planned:.0f} %.",
            state,
            day=day,
            figures={
                "plan": plan.plan,
                "version": plan.version,
                "usage_pct": round(used, 1),
                "planned_pct": round(planned, 1),
                "offload_pct": lowest,
            },
        )


def _used_pct(state: State, day: Day) -> float | None:
    shares = [
        PERCENT * peak / total
        for peak, total in (
            (day.entries_peak, state.entries_total),
            (day.elements_peak, state.elements_total),
        )
        if peak is not None and total
    ]
    return max(shares, default=None)


def _demand(state: State) -> tuple[int, int] | None:
    """Return the highest peaks of entries and of elements."""
    days = [
        one
        for one in _since(state, DEMAND_DAYS)
        if one.entries_peak is not None and one.elements_peak is not None
    ]
    if len(days) < LEAST_DAYS or not state.entries_total or not state.elements_total:
        return None
    return max(one.entries_peak or 0 for one in days), max(one.elements_peak or 0 for one in days)


def balance_of(state: State, facts: NightlyFacts) -> Balance | None:
    """Return the ratio of a structure compared with its peaks; None if they do not determine the ratio."""
    demand = _demand(state)
    if demand is None or not state.entries_total or not state.elements_total or not all(demand):
        return None
    entries, elements = demand
    # A nearly empty structure has the ratio of a few messages, not of its demand.
    if max(entries / state.entries_total, elements / state.elements_total) < LEAST_USED_SHARE:
        return None
    there, used = state.elements_total / state.entries_total, elements / entries
    return Balance(
        entries_total=state.entries_total,
        elements_total=state.elements_total,
        entries_peak=entries,
        elements_peak=elements,
        is_far=max(there / used, used / there) > 1 + facts.ratio_tolerance,
    )


def _ratio_far(state: State, facts: NightlyFacts) -> Iterable[NightlyFinding]:
    balance = balance_of(state, facts)
    if balance is None or not balance.is_far:
        return
    there = balance.elements_total / balance.entries_total
    used = balance.elements_peak / balance.entries_peak
    binding = "entries" if used < there else "elements"
    in_entries, in_elements = balance.balancing_ratio
    yield _finding(
        "RATIO_FAR_FROM_DEMAND",
        f"{state.structure} of {state.qsg} has {there:.1f} elements per entry but uses {used:.1f} at its peaks: it runs "
        f"out of {binding} first. With the entry-to-element ratio {in_entries}:{in_elements}, both would fill at the same "
        "time, and the same size would hold more.",
        state,
        day=state.last_day,
        figures={
            "elements_per_entry": round(there, 2),
            "elements_per_entry_used": round(used, 2),
            "balancing_ratio": [in_entries, in_elements],
            "entries_peak": balance.entries_peak,
            "elements_peak": balance.elements_peak,
            "entries_total": balance.entries_total,
            "elements_total": balance.elements_total,
        },
    )


def _unhealthy(state: State, health: StructureHealth) -> Iterable[NightlyFinding]:
    """Yield the findings on measures that do not follow their guidelines."""
    for figures in health.measures:
        guideline = figures.guideline
        if figures.state == "above_limit" and guideline.code is not None:
            condition = guideline.above_limit
            yield _of_measure(guideline.code, condition, figures.above_limit, figures, state, health)
        elif figures.state == "above_good" and guideline.code_above_good and guideline.good:
            condition = (
                f"the {guideline.title.lower()} was not below {guideline.written(guideline.good.value)}"
            )
            yield _of_measure(
                guideline.code_above_good, condition, figures.above_good, figures, state, health
            )


def _of_measure(
    code: str, condition: str, count: int, figures: HealthFigures, state: State, health: StructureHealth
) -> NightlyFinding:
    return _finding(
        code,
        f"{state.structure} of {state.qsg}: {condition}, in {count} of {figures.intervals} intervals since "
        f"{health.first_day.isoformat()}; {figures.worst_words}.",
        state,
        day=figures.worst_at.date() if figures.worst_at else state.last_day,
        figures={
            "intervals": figures.intervals,
            "above": count,
            "worst": figures.worst,
            "worst_at": figures.worst_at.isoformat() if figures.worst_at else None,
            "reporter": figures.reporter,
            "coupling_facility": figures.coupling_facility,
            "queue": figures.queue,
        },
    )


def _initsize_above(state: State, facts: NightlyFacts) -> Iterable[NightlyFinding]:
    """Yield the finding on an INITSIZE far larger than the peaks need, scaled from the capacity of the current size."""
    demand = _demand(state)
    plan = next((plan for plan in state.plans if plan.initsize_bytes), None)
    initsize = state.initsize_bytes or (plan.initsize_bytes if plan else None)
    if demand is None or not initsize or not state.size_bytes or state.size_bytes <= state.base_bytes:
        return
    used = max(demand[0] / (state.entries_total or 1), demand[1] / (state.elements_total or 1))
    need = state.base_bytes + used * (state.size_bytes - state.base_bytes)
    if used <= 0 or initsize <= need * (1 + facts.oversize_share):
        return
    days = min(DEMAND_DAYS, (state.last_day - state.days[0].day).days + 1)
    yield _finding(
        "INITSIZE_ABOVE_NEED",
        f"INITSIZE of {state.structure} of {state.qsg} is {format_mib(initsize)}; the highest peaks of {days} days need about "
        f"{format_mib(round(need))}, without the backlog of an outage.",
        state,
        day=state.last_day,
        figures={
            "initsize_bytes": initsize,
            "need_bytes": round(need),
            "used_share": round(used, 4),
            "days": days,
            "plan": plan.plan if plan else None,
            "version": plan.version if plan else None,
        },
    )
