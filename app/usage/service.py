"""Measured usage, for pages and programs. Callers commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple, TypeVar

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.errors import NotFound
from app.fits import fits
from app.paging import ListRequest, ResultPage, in_order
from app.plans.stored import PlanReference, reading_version, stored_document, stored_result
from app.uploads import qsg_map
from app.usage import repository
from app.usage.measured import (
    MeasuredStructure,
    ObservedTotals,
    QueueFigures,
    QueuePoint,
    SmdsFigures,
    StructureUrgency,
    UsagePoint,
    added,
    highest,
    lowest,
)
from app.usage.observed import (
    ComparedSize,
    CutOff,
    Duplexing,
    ObservedAllocation,
    ObservedPlacement,
    ObservedStructure,
    PlannedLevels,
    compared_sizes,
)
from app.usage.periods import Period
from app.usage.planning import DraftPlan, MeasuredBasis, PlanQuestion, QueueKey, make_plan
from app.usage.urgency import urgency_of_structures
from planner_core.contracts.rollup import SizeBucket
from planner_core.document.model import Structure
from planner_core.limits import limit
from planner_core.plan.result import PlanResult
from planner_core.sizing.offload import Rule
from planner_core.wire import copied

Point = TypeVar("Point")
ALL_STRUCTURES = ListRequest()


class Span(NamedTuple):
    """The first and the last measured hour."""

    first_hour: datetime
    last_hour: datetime


# ---- structures ------------------------------------------------------------------------------------------------------


SORT_KEYS = ("urgency", *repository.SORT_KEYS)
"""The keys by which measured structures can be sorted."""


def list_structures(
    session: Session, asked: ListRequest = ALL_STRUCTURES, *, with_urgency: bool = False
) -> ResultPage[MeasuredStructure]:
    """Return measured structures, with their urgency if it is needed.

    Without a requested order, they are sorted by group and name. The search text matches parts of both, ignoring case.
    """
    # PostgreSQL rejects texts with a null character.
    search = " ".join(asked.search.replace("\0", " ").split()) or None
    is_by_urgency = asked.sort is not None and asked.sort.key == "urgency"
    urgency = urgency_of_structures(session, search=search) if is_by_urgency or with_urgency else []
    if asked.sort is not None and is_by_urgency:
        # Sorted here and not in SQL: fullness comes from the days of the structure, by the same rule as in the job.
        ranked = in_order(urgency, asked.sort, lambda each: each.order)
        part = ranked[asked.page.offset : asked.page.offset + asked.page.per_page]
        rows, total = repository.structures_by_key(session, [each.key for each in part]), len(ranked)
    else:
        rows, total = repository.page_of_structures(
            session, search=search, sort=asked.sort, offset=asked.page.offset, limit=asked.page.per_page
        )
    plans = plans_using(session, {row.qsg for row in rows})
    of_all = {each.key: each for each in urgency}
    of_week = repository.most_in_use_of_week(session, rows)
    found = [
        _structure(
            row,
            of_week.get((row.qsg, row.structure), (None, None)),
            plans,
            of_all.get((row.qsg, row.structure)),
        )
        for row in rows
    ]
    return ResultPage.of(found, total, asked.page)


def _structure(
    row: AnyRow,
    of_week: tuple[int | None, int | None],
    plans: Mapping[tuple[str, str], Sequence[PlanReference]],
    urgency: StructureUrgency | None,
) -> MeasuredStructure:
    known = row.last_limits_hour is not None
    return copied(
        MeasuredStructure,
        row,
        use_hour=row.last_use_hour,
        entries_in_use=row.entries_in_use_max,
        elements_in_use=row.elements_in_use_max,
        entries_pct=row.entries_in_use_pct_max,
        elements_pct=row.elements_in_use_pct_max,
        limits=ObservedTotals(
            row.entries_total, row.last_entries_limit_hour, row.elements_total, row.last_elements_limit_hour
        )
        if known
        else None,
        entries_in_use_of_week=of_week[0],
        elements_in_use_of_week=of_week[1],
        plans=tuple(plan.name for plan in plans.get((row.qsg, row.structure), ())),
        urgency=urgency,
    )


def span_of(session: Session, qsg: str, structure: str) -> Span:
    """Return the first and last hour in which a structure was measured.

    Raises:
        NotFound: The structure was never measured.
    """
    found = repository.find_structure(session, qsg, structure) if _are_names(qsg, structure) else None
    if found is None:
        raise not_measured(qsg, structure)
    return Span(found.first_hour, found.last_hour)


def structures_of_group(session: Session, qsg: str) -> dict[str, Span]:
    """Return the first and last measured hour of each structure of a group.

    Raises:
        NotFound: The group was never measured.
    """
    found = repository.structures_of_group(session, qsg) if _are_names(qsg) else ()
    if not found:
        raise not_measured(qsg)
    return {each.structure: Span(each.first_hour, each.last_hour) for each in found}


def structure_usage(session: Session, qsg: str, structure: str, period: Period) -> tuple[UsagePoint, ...]:
    """Return the usage of a structure over a period, by hour or by day."""
    rows = repository.structure_hours(session, qsg, structure, first=period.first, past=period.past)
    return tuple(_by_step(rows, period, _usage_point))


def last_limits(session: Session, qsg: str, structure: str, before: datetime) -> ObservedTotals | None:
    """Return the limits of a structure as last observed before a time."""
    found = repository.limits_before(session, qsg, structure, before)
    return ObservedTotals(*found) if found else None


def _usage_point(at: datetime, rows: Sequence[AnyRow]) -> UsagePoint:
    entries = max(rows, key=lambda row: _or_less(row.entries_in_use_max))
    elements = max(rows, key=lambda row: _or_less(row.elements_in_use_max))
    return UsagePoint(
        at=at,
        # Use and limit must be from the same hour; otherwise, the percentage would compare a peak with a later size.
        entries_in_use_max=entries.entries_in_use_max,
        entries_total=entries.entries_total or _last(row.entries_total for row in rows),
        elements_in_use_max=elements.elements_in_use_max,
        elements_total=elements.elements_total or _last(row.elements_total for row in rows),
        entries_pct=highest(row.entries_in_use_pct_max for row in rows),
        elements_pct=highest(row.elements_in_use_pct_max for row in rows),
        scm_entries_in_use_max=highest(row.scm_entries_in_use_max for row in rows),
        scm_elements_in_use_max=highest(row.scm_elements_in_use_max for row in rows),
        size_bytes=_last(row.size_bytes for row in rows),
        structure_full_count=added(row.structure_full_count for row in rows),
        queue_managers=highest(row.queue_managers for row in rows),
        sources=", ".join(sorted({source for row in rows for source in row.sources.split(", ") if source})),
    )


def _are_names(*names: str) -> bool:
    """Return whether these texts can be names; PostgreSQL rejects texts that contain a null character."""
    return all(name.isprintable() for name in names)


# ---- queues ----------------------------------------------------------------------------------------------------------


def queue_span(session: Session, qsg: str, structure: str, queue: str) -> Span:
    """Return the first and last hour in which a queue was measured.

    Raises:
        NotFound: The queue was never measured.
    """
    found = (
        repository.find_queue(session, qsg, structure, queue) if _are_names(qsg, structure, queue) else None
    )
    if found is None:
        raise not_measured(qsg, structure, queue)
    return Span(found.first_hour, found.last_hour)


def queue_usage(
    session: Session, qsg: str, structure: str, queue: str, period: Period
) -> tuple[tuple[QueuePoint, ...], tuple[SizeBucket, ...]]:
    """Return the usage of a queue by hour or by day, and its message sizes over the whole period."""
    rows = repository.queue_hours(session, qsg, structure, queue, first=period.first, past=period.past)
    sizes = Counter[int]()
    for row in rows:
        for bucket in row.size_buckets or ():
            sizes[bucket["up_to_bytes"]] += bucket["puts"]
    return (
        tuple(_by_step(rows, period, _queue_point)),
        tuple(SizeBucket(up_to_bytes, sizes[up_to_bytes]) for up_to_bytes in sorted(sizes)),
    )


def _queue_point(at: datetime, rows: Sequence[AnyRow]) -> QueuePoint:
    # Hours without byte counts would lower the mean, so neither their bytes nor their puts are counted.
    sized = [row for row in rows if row.put_bytes is not None and row.puts]
    return QueuePoint(
        at=at,
        hours=len(rows),
        puts=added(row.puts for row in rows),
        busiest_hour_puts=highest(row.puts for row in rows),
        mean_bytes=Fraction(sum(row.put_bytes for row in sized), sum(row.puts for row in sized))
        if sized
        else None,
        size_min_bytes=lowest(row.put_size_min_bytes for row in rows),
        size_max_bytes=highest(row.put_size_max_bytes for row in rows),
        persistent_puts=added(row.persistent_puts for row in rows),
        depth_max=highest(row.depth_max for row in rows),
    )


def queue_figures(session: Session, qsg: str, structure: str, period: Period) -> tuple[QueueFigures, ...]:
    """Return the figures of every queue of a structure over a period, sorted by name."""
    within = {"first": period.first, "past": period.past}
    busiest, deepest = repository.hours_of_extremes(session, qsg, structure, **within)
    return tuple(
        copied(
            QueueFigures,
            row,
            puts=_whole(row.puts),
            mean_bytes=Fraction(int(row.put_bytes), int(row.puts_with_bytes))
            if row.puts_with_bytes
            else None,
            persistent_puts=_whole(row.persistent_puts),
            persistent_of=_whole(row.persistent_of),
            busiest_hour=busiest.get(row.queue),
            depth_hour=deepest.get(row.queue),
        )
        for row in repository.queue_figures(session, qsg, structure, **within)
    )


def smds_figures(session: Session, qsg: str, structure: str, period: Period) -> tuple[SmdsFigures, ...]:
    """Return the figures of every shared message data set of a structure over a period, sorted by queue manager."""
    rows = repository.smds_figures(session, qsg, structure, first=period.first, past=period.past)
    return tuple(copied(SmdsFigures, row, failed_allocates=_whole(row.failed_allocates)) for row in rows)


# ---- plans -----------------------------------------------------------------------------------------------------------


def plans_using(session: Session, qsgs: Iterable[str]) -> dict[tuple[str, str], list[PlanReference]]:
    """Return the plans whose latest version contains each structure, keyed by group and name."""
    found: dict[tuple[str, str], list[PlanReference]] = {}
    groups = set(qsgs)
    if not groups:
        return found
    # The names of plans do not include CSQ_ADMIN and CSQSYSAPPL, which only results have; few plans belong to a group.
    for plan in repository.latest_plans(session, groups):
        with reading_version(plan.name, plan.number):
            names = [each["name"] for each in stored_result(plan.result)["structures"]]
        for name in names:
            found.setdefault((plan.qsg, name), []).append(PlanReference(plan.name, plan.number))
    return found


def planned_levels(session: Session, qsg: str, structure: str) -> PlannedLevels | None:
    """Return the levels of a structure in the first plan, by name, that contains it; None without one."""
    plan = repository.first_plan_with(session, qsg, structure)
    if plan is None:
        return None
    with reading_version(plan.name, plan.number):
        items = {each["name"]: each for each in stored_document(plan.document)["structures"]}
        planned = Structure.model_validate(items[structure])
    can_offload = planned.cflevel >= limit("cflevel_offload")
    rules = (Rule(each.usage_over, each.size_over) for each in planned.offload.rules)
    offload = sorted({rule.threshold for rule in rules if can_offload and rule.is_on})
    return PlannedLevels(plan.name, planned.full_threshold, tuple(offload))


def grounds(
    session: Session,
    qsg: str,
    structures: Iterable[str],
    period: Period,
    *,
    queues: Container[QueueKey] | None = None,
) -> list[MeasuredBasis]:
    """Return the measurements for plans of these structures. `queues` limits them to these queues; None means all."""
    found = []
    allocated, placed = allocations(session, qsg, period.past), placements(session, qsg, period.past)
    duplexed = duplexing(session, qsg, period.past)
    for structure in structures:
        most = repository.most_in_use(session, qsg, structure, first=period.first, past=period.past)
        measured = queue_figures(session, qsg, structure, period)
        chosen = [each for each in measured if queues is None or (structure, each.queue) in queues]
        observed = ObservedStructure(
            cut_off=_cut_off(session, qsg, structure, period),
            allocated=allocated.get(structure),
            placed=placed.get(structure, ()),
            duplexing=duplexed.get(structure, Duplexing()),
        )
        found.append(
            MeasuredBasis(
                structure,
                chosen,
                most.entries,
                most.queue_managers,
                elements_max=most.elements,
                elements_per_message=_elements_per_message(session, qsg, structure, period),
                observed=observed,
            )
        )
    return found


def _elements_per_message(session: Session, qsg: str, structure: str, period: Period) -> Fraction | None:
    found = repository.written(session, qsg, structure, first=period.first, past=period.past)
    return Fraction(found[1], found[0]) if found and found[0] else None


def _cut_off(session: Session, qsg: str, structure: str, period: Period) -> CutOff | None:
    found = repository.full_hours(session, qsg, structure, first=period.first, past=period.past)
    return None if found is None else CutOff(*found)


def allocations(session: Session, qsg: str, before: datetime) -> dict[str, ObservedAllocation]:
    """Return the last allocation of each structure of a group before a time."""
    found = repository.last_allocations(session, qsg, before)
    return {structure: ObservedAllocation(*last) for structure, last in found.items()}


def placements(session: Session, qsg: str, before: datetime) -> dict[str, tuple[ObservedPlacement, ...]]:
    """Return the coupling facilities of each structure of a group, newest record first.

    The first ones are those of the last hour before the given time whose records name any, beginning with the primary.
    Others follow, from the observations to which the nightly runs fit curves.
    """
    found = {
        structure: [
            ObservedPlacement(name, last.hour.date()) for name in (last.coupling_facilities or "").split()
        ]
        for structure, last in repository.last_placements(session, qsg, before).items()
    }
    for structure, fitted in _placed_by_fits(session, qsg).items():
        there = found.setdefault(structure, [])
        names = {each.coupling_facility for each in there}
        there += sorted(
            (each for each in fitted if each.coupling_facility not in names),
            key=lambda one: (-one.last_day.toordinal(), one.coupling_facility),
        )
    return {structure: tuple(each) for structure, each in found.items()}


def _placed_by_fits(session: Session, qsg: str) -> dict[str, list[ObservedPlacement]]:
    found: dict[str, list[ObservedPlacement]] = {}
    for fit in fits.newest_fits(session):
        last_days: dict[str, date] = {}
        for point in fit.points:
            if point.qsg == qsg and fit.coupling_facility:
                last_days[point.structure] = max(point.last_day, last_days.get(point.structure, date.min))
        for structure, last_day in last_days.items():
            found.setdefault(structure, []).append(ObservedPlacement(fit.coupling_facility, last_day))
    return found


def duplexing(session: Session, qsg: str, before: datetime) -> dict[str, Duplexing]:
    """Return the duplexing of each structure of a group as last observed before a time."""
    placed = repository.last_placements(session, qsg, before)
    policies = repository.last_policies(session, qsg, before)
    found = {}
    for structure in {**placed, **policies}:
        last, policy = placed.get(structure), policies.get(structure)
        sources = {
            source
            for each in (last, policy)
            if each
            for source in (each.placed_by or "").split(", ")
            if source
        }
        found[structure] = Duplexing(
            is_duplexed=last.is_duplexed if last else None,
            observed_at=last.hour if last else None,
            policy_duplex=policy.policy_duplex if policy else None,
            policy_observed_at=policy.hour if policy else None,
            sources=tuple(sorted(sources)),
        )
    return found


def observed_queue_managers(session: Session, qsg: str) -> tuple[str, ...]:
    """Return the queue managers of a group in records and in the map; more may be defined to the group."""
    # Roll-ups of structures do not contain names of queue managers, so the names come from the map and the data sets.
    named = {entry.queue_manager for entry in qsg_map.entries(session) if entry.qsg == qsg}
    return tuple(sorted(named | set(repository.queue_managers_of_data_sets(session, qsg))))


def sizes_compared(session: Session, result: PlanResult, period: Period) -> tuple[ComparedSize, ...]:
    """Return the sizes of a plan, compared with the last allocations of its structures."""
    return compared_sizes(result.structures, allocations(session, result.document.qsg, period.past))


def plan_from_usage(
    session: Session, qsg: str, on: Sequence[MeasuredBasis], asked: PlanQuestion, period: Period
) -> DraftPlan:
    """Return a draft of a plan document from measurements, neither stored nor validated."""
    asked = replace(asked, queue_managers_observed=observed_queue_managers(session, qsg))
    limits = last_limits(session, qsg, "CSQ_ADMIN", period.past)
    return make_plan(qsg, on, asked, period=period, admin_limits=limits)


# ---- steps -----------------------------------------------------------------------------------------------------------


def _by_step(
    rows: Sequence[AnyRow], period: Period, make: Callable[[datetime, Sequence[AnyRow]], Point]
) -> Iterable[Point]:
    if period.by == "hour":
        yield from (make(row.hour, [row]) for row in rows)
        return
    for day, hours in groupby(rows, key=lambda row: row.hour.date()):
        yield make(datetime.combine(day, time(), UTC), list(hours))


def _or_less(value: int | None) -> int:
    return -1 if value is None else value


def _last(values: Iterable[int | None]) -> int | None:
    found = None
    for value in values:
        found = found if value is None else value
    return found


def _whole(value: int | None) -> int | None:
    """Return a sum as an int, because PostgreSQL returns a Decimal."""
    return None if value is None else int(value)


def not_measured(qsg: str, structure: str = "", queue: str = "") -> NotFound:
    """Return the error for a group, structure or queue without measurements."""
    what = f"the queue {queue} in the structure {structure}" if queue else f"a structure {structure}"
    of_it = f"{what} of the group {qsg}" if structure else f"a group {qsg}"
    return NotFound(f"There is no measured usage of {of_it}.")
