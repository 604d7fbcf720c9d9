"""Save, read and delete scenarios. A scenario is calculated before a transaction begins.

A change names the ETag of the scenario it is based on, and locks the plan's row (PostgreSQL) or the whole database
(SQLite), so that if two users change a scenario at once, the second one to save gets an error.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json
from sqlalchemy.orm import Session

from app.actor import current_actor
from app.audit.actions import Action
from app.audit.recording import record
from app.clock import utc_now
from app.database.engine import Database
from app.errors import Gone, NameTaken, NotFound, PreconditionRequired
from app.fits.kept import curves_in
from app.fits.resolve import curve_of
from app.paging import Sort, in_order
from app.plans import service as plans
from app.plans.errors import plan_gone
from app.plans.models import Plan
from app.plans.service import matches
from app.plans.stored import NAME_PATTERN, stored_object
from app.plans.trail import changed_fields, plan_object
from app.problem_types import SCENARIO_CHANGED, SCENARIO_EXISTS, SCENARIO_NOT_FOUND
from app.scenarios import repository
from app.scenarios.errors import TooManyScenarios, scenario_changed
from app.scenarios.models import Scenario
from app.scenarios.stored import (
    ScenarioOutcome,
    ScenarioSummary,
    StoredScenario,
    etag,
    reading_scenario,
)
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.whatif.changes import WHAT, read_changes
from planner_core.whatif.scenario import scenario
from planner_core.whatif.scenario_report import (
    MOST_COMPARED,
    ScenarioReport,
    SideBySide,
    report,
    side_by_side,
)
from planner_core.wire import JsonObject

NAME = re.compile(NAME_PATTERN)
# In addresses of pages and REST, these words appear in the position of a scenario's name.
RESERVED = frozenset({"compare", "new", "report"})
LONGEST_NOTE = 2000
_COMPARISON = "The comparison"
MOST_SCENARIOS = 100
MOST_VERSIONS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ScenarioDraft:
    """A scenario to save."""

    changes: object
    note: str = ""
    version: int | None = None
    """Version of the plan; None for the latest."""


@dataclass(frozen=True, slots=True)
class ComputedScenario:
    """A calculated scenario, as it is stored."""

    plan_id: int
    version: int
    note: str
    core_version: str
    changes: str
    result: str
    summary: str


# ---- reading ---------------------------------------------------------------------------------------------------------


_SORTED_BY: Mapping[str, Callable[[ScenarioSummary], Any]] = {
    "name": lambda each: (each.name.lower(), each.name),
    "initsize_kib": lambda each: each.initsize_kib_after,
    "more_initsize_kib": lambda each: each.initsize_kib_after - each.initsize_kib_before,
    "size_kib": lambda each: each.size_kib_after,
    # Any error is more urgent than any number of warnings.
    "findings": lambda each: (-each.errors, -each.warnings),
    "commands": lambda each: each.commands,
    "version": lambda each: each.version,
    "updated_at": lambda each: each.updated_at,
}
"""The values by which scenarios can be sorted, by key."""


def list_scenarios(session: Session, plan: str, *, sort: Sort | None = None) -> tuple[ScenarioSummary, ...]:
    """Return the scenarios of a plan. Without a requested order, they are sorted by name.

    Raises:
        PlanNotFound: There is no such plan.
    """
    living = plans.living_plan(session, plan)
    found = tuple(
        ScenarioSummary(
            name=row.name,
            version=row.version,
            is_of_latest=row.version == living.latest,
            etag=etag(row.id, row.revision),
            created_at=row.created_at,
            updated_at=row.updated_at,
            author=row.author,
            core_version=row.core_version,
            note=row.note,
            **_summary(row.summary, row.name, living.name),
        )
        for row in repository.list_of(session, living.id)
    )
    return found if sort is None else tuple(in_order(found, sort, _SORTED_BY[sort.key]))


def get_scenario(session: Session, plan: str, name: str) -> StoredScenario:
    """Return one scenario of a plan.

    Raises:
        PlanNotFound: There is no such plan.
        NotFound: The plan has no scenario with this name.
    """
    return _stored(_found(session, plans.living_plan(session, plan), name), plan)


def compare(session: Session, plan: str, names: Sequence[str]) -> SideBySide:
    """Compare scenarios of a plan.

    Raises:
        PlanNotFound: There is no such plan.
        NotFound: The plan has no scenario with one of these names.
        InputInvalid: No scenario is named, or more than four are.
    """
    living = plans.living_plan(session, plan)
    wanted = list(dict.fromkeys(names))
    if not 1 <= len(wanted) <= MOST_COMPARED:
        message = f"name one to {MOST_COMPARED} scenarios; {len(wanted) or 'none'} {'is' if not wanted else 'are'} named"
        raise InputInvalid(_COMPARISON, (FieldProblem("of", message),))
    # In the order of the request, which is the order of the columns.
    kept = [_stored(_found(session, living, name), plan).kept for name in wanted]
    return side_by_side(kept, latest=living.latest)


def report_of(session: Session, plan: str, name: str) -> tuple[StoredScenario, ScenarioReport]:
    """Return a scenario and its report.

    Raises:
        PlanNotFound: There is no such plan.
        NotFound: The plan has no scenario with this name.
    """
    found = get_scenario(session, plan, name)
    return found, report(found.kept)


def latest_version(session: Session, plan: str) -> int:
    """Return the latest version of a plan.

    Raises:
        PlanNotFound: There is no such plan.
    """
    return plans.living_plan(session, plan).latest


# ---- changing --------------------------------------------------------------------------------------------------------


def check_name(name: str) -> str:
    """Return the name of a scenario after checking it.

    Raises:
        InputInvalid: The name is not valid.
    """
    if not NAME.fullmatch(name):
        message = "must have 1 to 64 characters: A-Z a-z 0-9 . _ - and must not begin with a period, such as 'z17-upgrade'"
        raise InputInvalid(WHAT, (FieldProblem("/name", message),))
    if name.lower() in RESERVED:
        raise InputInvalid(
            WHAT, (FieldProblem("/name", f"cannot be {name!r}: the service uses this name itself"),)
        )
    return name


def check_note(note: str) -> str:
    """Return the note without control characters other than line ends.

    Raises:
        InputInvalid: The note is too long.
    """
    # PostgreSQL refuses NUL, and a terminal would execute escape sequences.
    lines = note.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    plain = "\n".join("".join(c if c.isprintable() else " " for c in line).rstrip() for line in lines).strip()
    if len(plain) > LONGEST_NOTE:
        message = f"has {len(plain)} characters; the limit is {LONGEST_NOTE}"
        raise InputInvalid(WHAT, (FieldProblem("/note", message),))
    return plain


def work_out(database: Database, plan: str, wanted: ScenarioDraft) -> ComputedScenario:
    """Calculate a scenario. The plan is read in its own transaction, so no lock is held during the calculation.

    Raises:
        PlanNotFound: There is no such plan, or no such version of it.
        InputInvalid: The changes are not valid, or do not fit the plan.
        PlanRefused: The changed plan is impossible.
    """
    # Checked before the plan is read, so that an invalid request costs no query.
    changes = read_changes(wanted.changes)
    note = check_note(wanted.note)
    with database.session(writes=False) as session:
        version = (
            plans.get_plan(session, plan)
            if wanted.version is None
            else plans.get_version(session, plan, wanted.version)
        )
    curve = curve_of(version.document, curves_in(database))
    result = scenario(version.document, changes, curve=curve, stored=version.result)
    shown = result.as_json()
    return ComputedScenario(
        plan_id=version.plan_id,
        version=version.number,
        note=note,
        core_version=result.core_version,
        changes=json.dumps(shown["changes"]),
        result=to_json(shown).decode(),
        summary=json.dumps(_summed_up(shown)),
    )


def save(
    session: Session,
    plan: str,
    name: str,
    worked: ComputedScenario,
    *,
    if_match: str | None = None,
    create_only: bool = False,
) -> ScenarioOutcome:
    """Save a calculated scenario as a new scenario or as a new version, unless it is identical to the stored one.

    Raises:
        PlanNotFound: The plan does not exist.
        InputInvalid: The name is not valid.
        NameTaken: A new scenario was requested, but the name is in use.
        Conflict: The scenario has been changed since the state that `if_match` names.
        Gone: `if_match` names a state, but the scenario no longer exists.
        PreconditionRequired: The scenario exists and would be changed, and `if_match` is missing.
        TooManyScenarios: The plan has the maximum number of scenarios.
    """
    check_name(name)
    living = plans.living_plan(session, plan, lock=True)
    if living.id != worked.plan_id:  # the plan was deleted, and another one has its name
        raise plan_gone(plan)
    at = utc_now()
    found = repository.find(session, living.id, name)
    if found is None:
        if if_match is not None:
            # This includes `*`, which requires that the scenario exists (RFC 9110).
            message = (
                f"The scenario {name} of the plan {plan} no longer exists: it was deleted after it was read."
            )
            raise Gone(message, problem=SCENARIO_CHANGED)
        if repository.count_of(session, living.id) >= MOST_SCENARIOS:
            raise TooManyScenarios(plan, MOST_SCENARIOS)
        made = Scenario(
            plan_id=living.id, name=name, revision=1, created_at=at, updated_at=at,
            author=current_actor().name, **_columns(worked),
        )  # fmt: skip
        repository.add(session, made)
        details = {"scenario": name, "after": 1, "changes": json.loads(worked.changes)}
        record(session, Action.SCENARIO_CREATED, plan_object(living, worked.version), details)
        return ScenarioOutcome(_stored(made, plan), "created")
    if create_only:
        message = f"The plan {plan} already has a scenario called {name}."
        raise NameTaken(message, problem=SCENARIO_EXISTS)
    current = _stored(found, plan)
    # Checked before If-Match, so that a request that is sent twice succeeds without a new state.
    if all(getattr(found, key) == value for key, value in _columns(worked).items()):
        return ScenarioOutcome(current, "identical")
    if if_match is None:
        message = (
            f"The scenario {current.name} exists and this request would change it, so If-Match must contain the ETag "
            f"of the state to change: {current.etag}. Nothing was changed."
        )
        raise PreconditionRequired(current, message)
    if not matches(if_match, current.etag):
        raise scenario_changed(current)
    before = {"note": found.note, "version": found.version, "changes": current.changes}
    after = {"note": worked.note, "version": worked.version, "changes": json.loads(worked.changes)}
    for key, value in _columns(worked).items():
        setattr(found, key, value)
    found.revision += 1
    found.author = current_actor().name
    details = {
        "scenario": name, "before": found.revision - 1, "after": found.revision, **changed_fields(before, after)
    }  # fmt: skip
    record(session, Action.SCENARIO_SAVED, plan_object(living, worked.version), details)
    # Clocks of several servers differ, but the times of a scenario must not decrease.
    found.updated_at = max(at, found.updated_at)
    session.flush()
    return ScenarioOutcome(_stored(found, plan), "changed")


def delete(session: Session, plan: str, name: str, *, if_match: str | None = None) -> StoredScenario:
    """Delete a scenario permanently.

    Raises:
        PlanNotFound: There is no such plan.
        NotFound: The plan has no scenario with this name.
        Conflict: The scenario has been changed since the state that `if_match` names.
    """
    living = plans.living_plan(session, plan, lock=True)
    found = _found(session, living, name)
    current = _stored(found, plan)
    if if_match is not None and not matches(if_match, current.etag):
        raise scenario_changed(current)
    repository.remove(session, found)
    details = {"scenario": name, "before": found.revision}
    record(session, Action.SCENARIO_DELETED, plan_object(living, found.version), details)
    return current


# ---- inside ----------------------------------------------------------------------------------------------------------


def _found(session: Session, plan: Plan, name: str) -> Scenario:
    found = repository.find(session, plan.id, name) if NAME.fullmatch(name) else None
    if found is None:
        message = f"The plan {plan.name} has no scenario called {name}."
        raise NotFound(message, problem=SCENARIO_NOT_FOUND)
    return found


def _columns(worked: ComputedScenario) -> dict[str, Any]:
    return {
        "version": worked.version,
        "note": worked.note,
        "core_version": worked.core_version,
        "changes": worked.changes,
        "result": worked.result,
        "summary": worked.summary,
    }


def _stored(found: Scenario, plan: str) -> StoredScenario:
    return StoredScenario(
        id=found.id,
        plan=plan,
        name=found.name,
        revision=found.revision,
        version=found.version,
        created_at=found.created_at,
        updated_at=found.updated_at,
        author=found.author,
        core_version=found.core_version,
        note=found.note,
        changes_json=found.changes,
        result_json=found.result,
    )


def _summed_up(shown: JsonObject) -> JsonObject:
    """Return the figures of a scenario for lists, without acknowledged findings."""
    found = Counter(each["severity"] for each in shown["findings"] if not each["acknowledged"])
    said = [
        f"{each['what']}{' of ' + each['structure'] if each['structure'] else ''}: {each['after']}"
        for each in shown["what_changes"]
    ]
    before, after = shown["before"]["totals"], shown["after"]["totals"]
    return {
        "what_changes": said,
        "initsize_kib_before": before["initsize_kib"],
        "initsize_kib_after": after["initsize_kib"],
        "size_kib_before": before["size_kib"],
        "size_kib_after": after["size_kib"],
        "errors": found["error"],
        "warnings": found["warning"],
        "commands": len(shown["commands"]),
    }


def _summary(text: str, name: str, plan: str) -> JsonObject:
    with reading_scenario(name, plan):
        found = stored_object(text)
        return {**found, "what_changes": tuple(found["what_changes"])}
