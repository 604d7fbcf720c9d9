"""The pages of scenarios. A scenario is calculated before a transaction begins, so that others can save meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.database.session import SessionDep, WriteTurn
from app.errors import Conflict, Gone, NameTaken, PreconditionRequired
from app.paging import ResultPage
from app.plans import service as plans
from app.plans.stored import StoredVersion
from app.scenarios import service
from app.scenarios.errors import TooManyScenarios
from app.scenarios.form import (
    ScenarioForm,
    changes_of,
    left_over,
    scenario_form,
    shortened,
    texts_of_changes,
)
from app.scenarios.lists import scenarios_of
from app.scenarios.service import ScenarioDraft
from app.scenarios.stored import ScenarioSummary, StoredScenario
from app.scenarios.view import MOST_ON_SHEETS, ReportView, ScenarioComparisonView, compared, reported
from app.web.field_values import digits_in
from app.web.forms import read_posted
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.web.tables import ListView
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, PlanRefused
from planner_core.whatif.changes import WHAT, read_changes
from planner_core.whatif.scenario_report import MOST_COMPARED

router = Router(include_in_schema=False, prefix="/plans/{name}/scenarios")
_MOST_FIELDS = 2000
_MOST_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class ScenariosPage(Page):
    """The scenarios of a plan."""

    plan: Annotated[str, "Name of the plan"]
    scenarios: Annotated[ListView, "All scenarios"]
    most: Annotated[int, "Number of scenarios that can be compared"]
    said: Annotated[str, "Confirmation of a change, or an error in the selection; empty otherwise"]


@dataclass(frozen=True, kw_only=True)
class ScenarioFormPage(Page):
    """The form of a scenario."""

    plan: Annotated[str, "Name of the plan"]
    action: Annotated[str, "Address to which the form is sent"]
    is_new: Annotated[bool, "Whether the scenario does not exist yet"]
    etag: Annotated[str, "ETag of the scenario on which a change is based; empty for a new one"]
    versions: Annotated[tuple[int, ...], "Versions of the plan, newest first"]
    form: Annotated[ScenarioForm, "The fields with their errors"]
    error: Annotated[str, "Reason why nothing was saved; empty if there is no error"]


@dataclass(frozen=True, kw_only=True)
class ScenarioComparePage(Page):
    """Scenarios side by side."""

    plan: Annotated[str, "Name of the plan"]
    others: Annotated[
        tuple[ScenarioSummary, ...], "All scenarios of the plan, from which others can be chosen"
    ]
    chosen: Annotated[tuple[str, ...], "Names of the compared scenarios"]
    shows_all: Annotated[bool, "Whether rows without differences are shown"]
    answer: Annotated[ScenarioComparisonView, "Every row, arranged"]
    most: Annotated[int, "Number of scenarios that can be compared"]


@dataclass(frozen=True, kw_only=True)
class ScenarioReportPage(Page):
    """A scenario as a report for a change board."""

    plan: Annotated[str, "Name of the plan"]
    scenario: Annotated[StoredScenario, "The scenario as saved"]
    is_of_latest: Annotated[bool, "Whether it is based on the plan's latest version"]
    latest: Annotated[int, "The plan's latest version"]
    answer: Annotated[ReportView, "The report, arranged"]
    most: Annotated[int, "Number of commands and of findings on the first two sheets"]


async def _sent(request: Request) -> dict[str, str]:
    form = await read_posted(request, largest_bytes=_MOST_BYTES, most_fields=_MOST_FIELDS)
    return shortened(form.last)


SentDep = Annotated[dict[str, str], Depends(_sent)]


@router.get("")
def contents(request: Request, session: SessionDep, name: str) -> Response:
    """List the scenarios of a plan."""
    return _list_page(request, session, name)


def _list_page(
    request: Request, session: Session, name: str, *, said: str = "", status_code: int = 200
) -> Response:
    # A plan has few scenarios: one page shows all, so that any of them can be compared.
    asked = scenarios_of(name).file_request(request)
    found = service.list_scenarios(session, name, sort=asked.sort)
    listed = scenarios_of(name, ticked={each.name for each in found[:MOST_COMPARED]})
    page = ScenariosPage(
        title=f"Scenarios of {name}",
        section="plans",
        plan=name,
        scenarios=listed.view(ResultPage.of(found, len(found), asked.page), asked),
        most=MOST_COMPARED,
        said=said,
    )
    return render(request, "scenarios/list.html", page, status_code=status_code)


@router.get(".csv")
def contents_file(request: Request, session: SessionDep, name: str) -> Response:
    """Return the scenarios of a plan as a file."""
    listed = scenarios_of(name)
    return listed.file(service.list_scenarios(session, name, sort=listed.file_request(request).sort))


@router.get("/new")
def ask(request: Request, session: SessionDep, name: str) -> Response:
    """Show the form, empty or filled from another scenario."""
    typed: dict[str, str] = {}
    if like := request.query_params.get("from", ""):
        found = service.get_scenario(session, name, like)
        typed = texts_of_changes(found.changes, name="", note=found.note)
    version = plans.get_plan(session, name)
    lost = left_over(version.document, typed)
    error = f"Not everything in {like} can be copied." if lost else ""
    return _form_page(request, session, name, version, typed, problems=lost, error=error)


@router.post("/new", dependencies=[WriteTurn])
def make(request: Request, name: str, typed: SentDep) -> Response:
    """Calculate and save a new scenario."""
    return _saved(request, name, typed.get("name", "").strip(), typed, is_new=True)


@router.get("/compare")
def compare(request: Request, session: SessionDep, name: str) -> Response:
    """Compare up to four scenarios with their plan."""
    query = request.query_params
    chosen = tuple(
        # Links separate the names of scenarios with commas; the form repeats the parameter.
        dict.fromkeys(part for each in query.getlist("of") for part in each.split(",") if part.strip())
    )
    if not 1 <= len(chosen) <= MOST_COMPARED:
        said = f"Choose one to {MOST_COMPARED} scenarios; {len(chosen)} were chosen."
        return _list_page(request, session, name, said=said, status_code=422)
    shows_all = query.get("show") == "all"
    page = ScenarioComparePage(
        title=f"{name}: scenarios side by side",
        section="plans",
        plan=name,
        others=service.list_scenarios(session, name),
        chosen=chosen,
        shows_all=shows_all,
        answer=compared(service.compare(session, name, chosen), shows_all=shows_all),
        most=MOST_COMPARED,
    )
    return render(request, "scenarios/compare.html", page)


@router.get("/{scenario}")
def look(request: Request, session: SessionDep, name: str, scenario: str) -> Response:
    """Redirect to the report of a scenario."""
    found = service.get_scenario(session, name, scenario)
    return RedirectResponse(_at(request, name, found.name, "report"), status_code=303)


@router.get("/{scenario}/report")
def report(request: Request, session: SessionDep, name: str, scenario: str) -> Response:
    """Show the report of a scenario."""
    found, told = service.report_of(session, name, scenario)
    latest = plans.get_plan(session, name).number
    page = ScenarioReportPage(
        title=f"{name}: {found.name}",
        section="plans",
        plan=name,
        scenario=found,
        is_of_latest=found.version == latest,
        latest=latest,
        answer=reported(told),
        most=MOST_ON_SHEETS,
    )
    return render(request, "scenarios/report.html", page)


@router.get("/{scenario}/edit")
def edit(request: Request, session: SessionDep, name: str, scenario: str) -> Response:
    """Show the form of a saved scenario."""
    found = service.get_scenario(session, name, scenario)
    # Its own version, not the latest: editing must not silently move a scenario to another version of the plan.
    version = plans.get_version(session, name, found.version)
    typed = texts_of_changes(found.changes, name=found.name, note=found.note)
    return _form_page(request, session, name, version, typed, scenario=found.name, etag=found.etag)


@router.post("/{scenario}/edit", dependencies=[WriteTurn])
def change(request: Request, name: str, scenario: str, typed: SentDep) -> Response:
    """Recalculate and save a scenario."""
    return _saved(request, name, scenario, typed, is_new=False)


@router.post("/{scenario}/delete")
def delete(request: Request, session: SessionDep, name: str, scenario: str, typed: SentDep) -> Response:
    """Delete a scenario permanently."""
    try:
        service.delete(session, name, scenario, if_match=typed.get("etag") or None)
    except Conflict as error:
        return _list_page(request, session, name, said=str(error), status_code=412)
    return RedirectResponse(f"{root_path(request)}/plans/{quote(name)}/scenarios", status_code=303)


def _at(request: Request, plan: str, scenario: str, page: str) -> str:
    return f"{root_path(request)}/plans/{quote(plan)}/scenarios/{quote(scenario)}/{page}"


def _saved(request: Request, plan: str, scenario: str, typed: Mapping[str, str], *, is_new: bool) -> Response:
    database: Database = request.app.state.database
    # A separate session, because the calculation below must not hold a transaction open.
    with database.session(writes=False) as session:
        version = _version(session, plan, typed.get("version", ""))
    etag = typed.get("etag", "")
    problems: Sequence[FieldProblem] = ()
    error = ""
    try:
        wanted = ScenarioDraft(
            changes=changes_of(version.document, typed), note=typed.get("note", ""), version=version.number
        )
        _check(scenario, wanted, left_over(version.document, typed))
        worked = service.work_out(database, plan, wanted)
        with database.session(writes=True) as session:
            outcome = service.save(session, plan, scenario, worked, if_match=etag or None, create_only=is_new)
        return RedirectResponse(_at(request, plan, outcome.scenario.name, "report"), status_code=303)
    except (InputInvalid, DocumentInvalid) as refused:
        problems = refused.problems
        error = "Nothing was saved. Correct the errors in the form."
    except PlanRefused as refused:
        error = f"Nothing was saved. {refused}"
    except NameTaken as refused:
        problems = (FieldProblem("/name", str(refused)),)
        error = "Nothing was saved: the name is in use."
    except (Conflict, PreconditionRequired, Gone, TooManyScenarios) as refused:
        error = str(refused)
    with database.session(writes=False) as session:
        return _form_page(
            request, session, plan, version, {**typed, "name": scenario}, scenario="" if is_new else scenario,
            etag=etag, problems=problems, error=error, status_code=422,
        )  # fmt: skip


def _check(name: str, wanted: ScenarioDraft, lost: Sequence[FieldProblem]) -> None:
    """Check the name and the changes together, so that one page shows the errors of both.

    Raises:
        InputInvalid: The name, the reason or a change is not valid, or the version lacks what a field changes.
    """
    problems = [*lost]
    checks: list[tuple[Callable[[Any], object], object]] = [
        (service.check_name, name),
        (service.check_note, wanted.note),
    ]
    # If changes did not fit the version, none may be left, which would be reported as a second error.
    if not lost:
        checks.append((read_changes, wanted.changes))
    for check, value in checks:
        try:
            check(value)
        except InputInvalid as refused:
            problems += refused.problems
    if problems:
        raise InputInvalid(WHAT, tuple(problems))


def _version(session: Session, plan: str, text: str) -> StoredVersion:
    """Return the version that the form names, by default the latest."""
    number = digits_in(text)
    return plans.get_version(session, plan, number) if number else plans.get_plan(session, plan)


def _form_page(
    request: Request,
    session: Session,
    plan: str,
    version: StoredVersion,
    typed: Mapping[str, str],
    *,
    scenario: str = "",
    etag: str = "",
    problems: Sequence[FieldProblem] = (),
    error: str = "",
    status_code: int = 200,
) -> Response:
    document = version.document
    page = ScenarioFormPage(
        title=f"{plan}: change {scenario}" if scenario else f"{plan}: new scenario",
        section="plans",
        plan=plan,
        action=f"/plans/{plan}/scenarios/{scenario + '/edit' if scenario else 'new'}",
        is_new=not scenario,
        etag=etag,
        versions=tuple(each.number for each in plans.list_versions(session, plan)),
        form=scenario_form(document, typed, version=version.number, problems=problems),
        error=error,
    )
    return render(request, "scenarios/form.html", page, status_code=status_code)
