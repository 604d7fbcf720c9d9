"""The overview of everything that is stored. It reads lists; a plan is parsed once for each of its versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.fleet import repository
from app.fleet.answers import (
    Fleet,
    FleetAction,
    FleetFacility,
    FleetPlan,
    FleetRun,
    FleetStructure,
)
from app.fleet.facilities import MeasuredPlace, Placed, placed
from app.fleet.planned import planned_groups
from app.fleet.structures import measured_rows, planned_structures, structures_of
from app.jobs.models import JobState
from app.nightly import service as nightly
from app.nightly.urgency import SMDS, RankedSeries, ranked_series
from app.paging import PageRequest
from planner_core.findings import RANKS
from planner_core.names import OWN_STRUCTURES
from planner_core.simulated import has_simulated_name

MOST_PLANS = 20
MOST_ACTIONS = 8
MOST_OF_A_KIND = 3
"""Maximum number of actions of one kind, so that thirty full structures do not hide a failed nightly run."""
MOST_COMPARED = 10
"""Maximum number of plans in the address of a question about all of them."""
OLD_DAYS = 3
"""Days of usage after the day of the forecasts that make them old: their limits are nearer than they say."""


def is_empty(session: Session) -> bool:
    """Return whether nothing is stored yet: no plan, upload, measurement or nightly run."""
    return not repository.is_anything_stored(session)


@dataclass(frozen=True, slots=True)
class FleetState:
    """All structures and coupling facilities, before it is decided what to do about them."""

    structures: tuple[FleetStructure, ...]
    """The most urgent first."""
    ranked: Sequence[RankedSeries]
    """All series with a forecast, the most urgent first."""
    placed: Placed
    versions: Sequence[AnyRow]
    """The figures of the latest version of every plan."""


def state_of_fleet(session: Session, *, lead_time_days: int) -> FleetState:
    """Return all structures with their urgency, and all coupling facilities with their contents.

    Args:
        session: The session of the request.
        lead_time_days: Days that the site needs to make a structure larger; a limit within them is urgent.
    """
    versions = repository.latest_versions(session)
    groups = planned_groups(session, versions)
    qsgs = {each.name: each.qsg for each in versions}
    measured = measured_rows(session)
    places = {(row.qsg, row.structure): row for row in measured}
    observed = repository.last_places(session)
    found = placed(
        groups,
        {
            key: MeasuredPlace(size, _names(observed.get(key)))
            for key, row in places.items()
            if (size := row.size_bytes or (observed[key].size_bytes if key in observed else None))
        },
    )
    ranked = ranked_series(session)
    structures = structures_of(
        session, measured, planned_structures(groups, qsgs), found.places, ranked, lead_time_days
    )
    return FleetState(structures, ranked, found, versions)


def not_simulated(structures: Sequence[FleetStructure]) -> Sequence[FleetStructure]:
    """Return the structures of the site: simulated ones count only while there is nothing else."""
    return [each for each in structures if not has_simulated_name(each.qsg)] or structures


def fleet(session: Session, *, lead_time_days: int) -> Fleet:
    """Return everything that the overview shows.

    Args:
        session: The session of the request.
        lead_time_days: Days that the site needs to make a structure larger; a limit within them is urgent.
    """
    state = state_of_fleet(session, lead_time_days=lead_time_days)
    run = _latest_run(session)
    plans = tuple(
        sorted(
            (
                FleetPlan(each.name, each.latest, each.qsg, each.errors, each.warnings)
                for each in state.versions
                if each.errors or each.warnings
            ),
            key=lambda plan: (-plan.errors, -plan.warnings, plan.name),
        )
    )
    actions = sorted(
        _actions(session, state.structures, state.ranked, state.placed, run, plans),
        key=lambda action: RANKS[action.severity],
    )
    return Fleet(
        actions=tuple(actions[:MOST_ACTIONS]),
        coupling_facilities=state.placed.facilities,
        structures=state.structures,
        nightly_run=run,
        plans=plans,
    )


def _names(place: repository.LastPlace | None) -> tuple[str, ...]:
    if place is None:
        return ()
    names = tuple(place.coupling_facilities.split())
    return names[:1] if place.is_duplexed is False else names


# ---- nightly run -----------------------------------------------------------------------------------------------------


def _latest_run(session: Session) -> FleetRun | None:
    runs = nightly.list_runs(session, PageRequest(per_page=1)).items
    if not runs:
        return None
    run = runs[0]
    return FleetRun(run.id, run.state, run.sentence, run.created_at, run.ended_at, run.finding_counts)


# ---- what to do first ------------------------------------------------------------------------------------------------


def _actions(
    session: Session,
    structures: Sequence[FleetStructure],
    ranked: Sequence[RankedSeries],
    found: Placed,
    run: FleetRun | None,
    plans: Sequence[FleetPlan],
) -> Iterator[FleetAction]:
    """Yield what to do; of actions with the same severity, the most important first."""
    # Simulated structures need no action of anyone unless there is nothing else to see.
    own = not_simulated(structures)
    yield from _at_most(_full(own))
    yield from _at_most(_full_data_sets(ranked))
    yield from _unplaced(found)
    yield from _at_most(_losses(found.facilities, found.plans))
    if run is not None and run.is_failed:
        yield FleetAction(
            "error",
            f"Nightly run {run.id}",
            f"It failed. {run.sentence}",
            "Show its log",
            f"/nights/{run.id}",
        )
    yield from _old_forecasts(own, ranked)
    yield from _uploads(session)
    yield from _at_most(_limits(own))
    yield from _health(session)
    yield from _at_most(_plans(plans))
    yield from _unplanned(own)
    if not any(each.is_measured for each in structures):
        yield FleetAction(
            "info",
            "Measurements",
            "No usage of these structures has been measured.",
            "Upload a dump",
            "/new-upload",
        )


def _at_most(actions: Iterator[FleetAction]) -> Iterator[FleetAction]:
    for _, action in zip(range(MOST_OF_A_KIND), actions, strict=False):
        yield action


def _full(structures: Iterable[FleetStructure]) -> Iterator[FleetAction]:
    for each in structures:
        if each.full is not None:
            text = "Compare larger sizes" if each.has_forecast else "Show its usage"
            yield FleetAction("error", _subject(each), f"{each.full.sentence}.", text, address_of(each))


def _full_data_sets(ranked: Iterable[RankedSeries]) -> Iterator[FleetAction]:
    for each in ranked:
        qsg, name = each.structure
        if each.row.measure == SMDS and each.full is not None and not has_simulated_name(qsg):
            yield FleetAction(
                "error",
                f"{name} of {qsg}",
                f"Data set of {each.row.queue_manager}: {each.full.sentence[:1].lower()}{each.full.sentence[1:]}.",
                "Show its forecast",
                f"/forecasts/{quote(qsg, safe='')}/{quote(name, safe='')}#{SMDS}-{each.row.queue_manager}",
            )


def _old_forecasts(
    structures: Iterable[FleetStructure], ranked: Iterable[RankedSeries]
) -> Iterator[FleetAction]:
    made_on = max((each.row.made_on for each in ranked), default=None)
    used_at = max((each.used_at for each in structures if each.used_at is not None), default=None)
    if made_on is not None and used_at is not None and (used_at.date() - made_on).days >= OLD_DAYS:
        yield FleetAction(
            "warning",
            "Forecasts",
            f"They were made on {made_on.isoformat()} and count from that day, but usage is measured until "
            f"{used_at.date().isoformat()}.",
            "Start a nightly run",
            "/nights",
        )


def _unplaced(found: Placed) -> Iterator[FleetAction]:
    """Yield an action if structures of plans have no place although no coupling facility is lost."""
    if found.unplaced:
        count = len(found.unplaced)
        what = "1 structure of the plans has" if count == 1 else f"{count} structures of the plans have"
        query = urlencode([("plan", name) for name in sorted(found.plans, key=str.lower)[:MOST_COMPARED]])
        yield FleetAction(
            "error",
            "Coupling facilities",
            f"{what} no place in them: {_few(found.unplaced)}. Check whether the plans state the same sizes: the smaller one counts.",
            "Compare the plans",
            f"/sheet?{query}",
        )


def _losses(facilities: Sequence[FleetFacility], plans: Sequence[str]) -> Iterator[FleetAction]:
    names = sorted(plans, key=str.lower)[:MOST_COMPARED]
    query = urlencode([("plan", name) if not nth else ("with", name) for nth, name in enumerate(names)])
    for each in facilities:
        if each.unplaced:
            count = len(each.unplaced)
            what = "1 structure" if count == 1 else f"{count} structures"
            yield FleetAction(
                "error",
                each.name,
                f"If it is lost, {what} cannot be placed elsewhere: {_few(each.unplaced)}.",
                "Show each loss",
                f"/whatif/cf-loss?{query}",
            )


def _uploads(session: Session) -> Iterator[FleetAction]:
    for row in repository.uploads_in(session, (JobState.ASKS, JobState.FAILED), limit=MOST_OF_A_KIND):
        is_question = row.state == JobState.ASKS
        # The first sentence: the page of the upload shows the whole text, which may list all kinds of files.
        reason = row.sentence.partition(". ")[0].removesuffix(".")
        yield FleetAction(
            "warning",
            row.filename,
            "The upload needs your input." if is_question else f"The upload failed. {reason}.",
            "Answer" if is_question else "Show its log",
            f"/uploads/{row.id}",
        )


def _limits(structures: Iterable[FleetStructure]) -> Iterator[FleetAction]:
    for each in structures:
        if each.urgency not in ("passed", "soon", "high"):
            continue
        limit = each.next_limit
        if limit is None:
            reason = f"{float(each.used_percent or 0):.0f} % of its {each.used_pool} are in use, and it has no forecast."
        elif limit.is_passed:
            reason = f"{limit.measure}: {limit.level} has been passed."
        else:
            days = f"{limit.days.p50} day{'' if limit.days.p50 == 1 else 's'}"
            reason = f"{limit.measure}: {limit.level} in {days}, by the median estimate."
        text = "Compare larger sizes" if each.has_forecast else "Show its usage"
        yield FleetAction("warning", _subject(each), reason, text, address_of(each))


def _health(session: Session) -> Iterator[FleetAction]:
    """Yield an action for structures whose records are above a guideline, one for each structure."""
    for each in nightly.healths_with_warnings(session, limit=MOST_OF_A_KIND):
        first, *others = each.warnings
        more = ""
        if others:
            more = f" {len(others)} other {'measure is' if len(others) == 1 else 'measures are'} above the guideline as well."
        yield FleetAction(
            "warning",
            f"{each.structure} of {each.qsg}",
            f"{first.guideline.title}: {first.sentence}{more}",
            "Show its health",
            f"/usage/{quote(each.qsg, safe='')}/{quote(each.structure, safe='')}#h-health",
        )


def _plans(plans: Iterable[FleetPlan]) -> Iterator[FleetAction]:
    for each in plans:
        if each.errors:
            count = f"{each.errors} error{'' if each.errors == 1 else 's'}"
            yield FleetAction(
                "error",
                f"Plan {each.name}",
                f"It has {count}; cfplan generates no texts for it.",
                "Correct the plan",
                f"/plans/{quote(each.name, safe='')}",
            )
        else:
            count = f"{each.warnings} open warning{'' if each.warnings == 1 else 's'}"
            yield FleetAction(
                "warning",
                f"Plan {each.name}",
                f"It has {count}.",
                "Review them",
                f"/plans/{quote(each.name, safe='')}",
            )


def _unplanned(structures: Iterable[FleetStructure]) -> Iterator[FleetAction]:
    """Yield an action for the first group with measured structures that are in no plan."""
    found: dict[str, list[str]] = {}
    for each in structures:
        if each.is_measured and not each.plans and each.structure not in OWN_STRUCTURES:
            found.setdefault(each.qsg, []).append(each.structure)
    for qsg, names in sorted(found.items())[:1]:
        count = "1 measured structure is" if len(names) == 1 else f"{len(names)} measured structures are"
        yield FleetAction(
            "info",
            f"Group {qsg}",
            f"{count} in no plan: {_few(sorted(names))}.",
            "Create a plan from usage",
            f"/usage/{quote(qsg, safe='')}/plan",
            role="planner",
        )


def address_of(each: FleetStructure) -> str:
    """Return the page of a structure: its forecasts, or else its usage, or else its first plan."""
    at = f"{quote(each.qsg, safe='')}/{quote(each.structure, safe='')}"
    if each.has_forecast:
        return f"/forecasts/{at}"
    return f"/usage/{at}" if each.is_measured else f"/plans/{quote(each.plans[0], safe='')}"


def _subject(each: FleetStructure) -> str:
    return f"{each.structure} of {each.qsg}"


def _few(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others.

    >>> _few(["A", "B"]), _few(["A", "B", "C", "D"]), _few(["A", "B", "C", "D", "E"])
    ('A, B', 'A, B, C and 1 other', 'A, B, C and 2 others')
    """
    shown = ", ".join(names[:MOST_OF_A_KIND])
    more = len(names) - MOST_OF_A_KIND
    return shown if more <= 0 else f"{shown} and {more} {'other' if more == 1 else 'others'}"
