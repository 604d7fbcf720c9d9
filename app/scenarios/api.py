"""Scenarios of stored plans over REST. app/web/problems.py converts errors to responses."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from app.database.session import SessionDep
from app.plans.answers import conditional, header_list
from app.plans.api import Name
from app.plans.description import conditional_delete, conditional_get, conditional_put
from app.plans.stored import NAME_PATTERN
from app.scenarios import answers, description, service
from app.scenarios.answers import (
    ScenarioComparisonAnswer,
    ScenarioDeletionAnswer,
    ScenarioReportAnswer,
    ScenariosAnswer,
    StoredScenarioAnswer,
)
from app.scenarios.stored import ScenarioOutcome
from app.web.body import JSON, DocumentBody
from app.web.openapi import json_request, problems
from app.web.router import Router
from planner_core.wire import copied

STATUS_OF_SAVE = {"created": 201, "changed": 200, "identical": 200}
Scenario = Annotated[
    str,
    Path(
        description="Name of the scenario.",
        json_schema_extra={"pattern": f"^{NAME_PATTERN}$"},
        examples=["more-trade"],
    ),
]

router = Router(prefix="/api/v1/plans/{name}/scenarios", tags=["scenarios"])


@router.get("", summary="List the scenarios of a plan", responses=problems(404, 422))
def list_scenarios(name: Name, session: SessionDep) -> ScenariosAnswer:
    """Return scenarios sorted by name: the changes of each, the sizes before and after, and the version of the plan."""
    return ScenariosAnswer(name, service.list_scenarios(session, name))


@router.post(
    "",
    summary="Create a scenario",
    status_code=201,
    responses={
        201: description.response(
            StoredScenarioAnswer, "The new scenario.", has_etag=True, Location=description.LOCATION
        ),
        **problems(404, 409, 413, 415, 422),
    },
    response_class=Response,
    openapi_extra=json_request("NewScenarioRequest"),
)
def make_scenario(name: Name, body: DocumentBody, session: SessionDep, request: Request) -> Response:
    """Calculate and save the result of changes, by default to the latest version of the plan."""
    scenario, wanted = answers.read_request(body, named=True)
    service.check_name(scenario)
    worked = service.work_out(request.app.state.database, name, wanted)
    return _saved(request, service.save(session, name, scenario, worked, create_only=True))


@router.get(
    "/compare",
    summary="Compare scenarios",
    response_description="The plan, and up to four scenarios compared with it.",
    responses=problems(404, 422),
)
def compare_scenarios(
    name: Name,
    session: SessionDep,
    of: Annotated[
        str,
        Query(
            min_length=1,
            max_length=400,
            description="Names of one to four scenarios, separated by commas.",
            examples=["more-trade,less-trade"],
        ),
    ],
) -> ScenarioComparisonAnswer:
    """Return every figure of the plan next to those of the scenarios, as they were saved."""
    names = [each.strip() for each in of.split(",") if each.strip()]
    return copied(ScenarioComparisonAnswer, service.compare(session, name, names), plan=name)


@router.get(
    "/{scenario}",
    summary="Read a scenario",
    responses={
        200: description.response(StoredScenarioAnswer, "The scenario as it was saved.", has_etag=True),
        304: description.NOT_MODIFIED,
        **problems(404, 422),
    },
    response_class=Response,
    openapi_extra=conditional_get(),
)
def read_scenario(name: Name, scenario: Scenario, session: SessionDep, request: Request) -> Response:
    """Return the changes and their result as saved, even if a newer core would calculate different figures."""
    found = service.get_scenario(session, name, scenario)
    return conditional(Response(answers.scenario_json(found), media_type=JSON), request.headers, found.etag)


@router.put(
    "/{scenario}",
    summary="Save a scenario",
    responses={
        200: description.response(
            StoredScenarioAnswer, "`changed` or `identical`, as given in `saved`.", has_etag=True
        ),
        201: description.response(
            StoredScenarioAnswer, "The new scenario.", has_etag=True, Location=description.LOCATION
        ),
        **problems(404, 409, 412, 413, 415, 422, 428),
    },
    response_class=Response,
    openapi_extra={**json_request("ScenarioRequest"), **conditional_put()},
)
def save_scenario(
    name: Name, scenario: Scenario, body: DocumentBody, session: SessionDep, request: Request
) -> Response:
    """Create a scenario (201), or change and recalculate it (200). A change must name the scenario's ETag in If-Match."""
    service.check_name(scenario)
    _, wanted = answers.read_request(body, named=False)
    worked = service.work_out(request.app.state.database, name, wanted)
    only_new = (header_list(request.headers, "if-none-match") or "").strip() == "*"
    if_match = header_list(request.headers, "if-match")
    outcome = service.save(session, name, scenario, worked, if_match=if_match, create_only=only_new)
    return _saved(request, outcome)


@router.delete(
    "/{scenario}",
    summary="Delete a scenario",
    responses=problems(404, 412, 422),
    openapi_extra=conditional_delete(),
)
def delete_scenario(
    name: Name, scenario: Scenario, session: SessionDep, request: Request
) -> ScenarioDeletionAnswer:
    """Delete a scenario permanently, if its ETag matches If-Match."""
    service.delete(session, name, scenario, if_match=header_list(request.headers, "if-match"))
    return ScenarioDeletionAnswer(plan=name, name=scenario)


@router.get(
    "/{scenario}/report",
    summary="A scenario as a report",
    responses={
        200: description.response(ScenarioReportAnswer, "The report.", has_etag=True),
        304: description.NOT_MODIFIED,
        **problems(404, 422),
    },
    response_class=Response,
    openapi_extra=conditional_get(),
)
def report_scenario(name: Name, scenario: Scenario, session: SessionDep, request: Request) -> Response:
    """Return a report for a change board: changes, reason, figures with notes, documents, losses, commands.

    `page` is the address of the same report for printing.
    """
    found, shown = service.report_of(session, name, scenario)
    content = answers.report_answer(found, shown).json_bytes()
    return conditional(Response(content, media_type=JSON), request.headers, found.etag)


def _saved(request: Request, outcome: ScenarioOutcome) -> Response:
    found = outcome.scenario
    headers = {"etag": found.etag}
    if outcome.status == "created":
        root = request.scope.get("root_path", "")
        headers["location"] = f"{root}/api/v1/plans/{found.plan}/scenarios/{found.name}"
    content = answers.scenario_json(found, saved=outcome.status)
    return Response(content, status_code=STATUS_OF_SAVE[outcome.status], media_type=JSON, headers=headers)
