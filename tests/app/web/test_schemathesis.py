"""Requests generated from the description have described answers."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Literal

import hypothesis
import pytest
from fastapi import FastAPI

from app.accounts import sessions
from app.documentation.api_docs import DESCRIPTION_FILE
from app.jobs import api as job_routes
from app.jobs import processes
from app.main import create_app
from app.plans import service
from app.scenarios import service as scenarios
from app.scenarios.service import ScenarioDraft
from app.settings import Settings
from app.whatif.questions import QUESTIONS
from planner_core.document.reading import read_object
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.app.accounts.support import ROLES, add_token, add_user, app_with_accounts, signed_in
from tests.app.fits.support import (
    TROUBLE,
    daily,
    fit_json,
    forecast_json,
    health_json,
    store_night,
    store_points,
)
from tests.app.uploads.support import finish, post_file
from tests.app.usage.support import store, ten_days
from tests.app.web.support import SQ03, call

if TYPE_CHECKING:
    import schemathesis

pytestmark = pytest.mark.long

STORED_NAME = "SQ03"
SCENARIO = "more-trade"
STORED = "/api/v1/plans/{name}"
USAGE = "/api/v1/usage"
SEARCH = "/api/v1/search"
UPLOAD_FILES = "/api/v1/upload-files"
UPLOADS, QSG_MAP, CF_LEVELS = "/api/v1/uploads", "/api/v1/qsg-map", "/api/v1/cf-levels"
ACCOUNT, TOKENS, USERS = "/api/v1/account", "/api/v1/account/tokens", "/api/v1/users"
POINTS = "/api/v1/sizing-points"
NIGHT = ("/api/v1/curves", POINTS, "/api/v1/forecasts", CF_LEVELS, "/api/v1/nightly-runs")
MEASURED = "structures/{qsg}/{structure}"
RUNNING = ("lint", "merge", "diff", "plan-from-running", "other-structures")
WHAT_IF = [("POST", f"/api/v1/whatif/{question.verb}") for question in QUESTIONS]
AUDIT = "/api/v1/audit"
OPERATIONS = [
    *(("POST", f"/api/v1/{kind}") for kind in ("size", *OUTPUT_KINDS)),
    *(
        ("GET", path)
        for path in (
            "/healthz",
            "/readyz",
            "/api/v1/schema",
            "/api/v1/reference",
            "/api/v1/reference/{table_id}",
        )
    ),
    *(("GET", path) for path in ("/api/v1/plans", "/api/v1/deleted-plans")),
    *((method, STORED) for method in ("PUT", "GET", "DELETE")),
    *(("GET", f"{STORED}/{part}") for part in ("document", "versions", "versions/{number}", "diff")),
    *((method, f"{STORED}/versions/{{number}}/approval") for method in ("GET", "POST", "DELETE")),
    ("GET", AUDIT),
    ("GET", f"{AUDIT}/export"),
    ("POST", f"{STORED}/restore"),
    *((method, f"{STORED}/scenarios") for method in ("GET", "POST")),
    *((method, f"{STORED}/scenarios/{{scenario}}") for method in ("GET", "PUT", "DELETE")),
    *(("GET", f"{STORED}/scenarios/{part}") for part in ("compare", "{scenario}/report")),
    *(
        ("GET", f"{USAGE}/{part}")
        for part in ("structures", *(f"{MEASURED}{at}" for at in ("", "/health", "/queues", "/queue")))
    ),
    ("POST", f"{USAGE}/plan-document"),
    *((method, UPLOADS) for method in ("GET", "POST")),
    *(("GET", f"/api/v1/{path}") for path in ("collection-kit", "collection-kit/archive", "missing-data")),
    *(("GET", f"{UPLOADS}/{{number}}{part}") for part in ("", "/report")),
    ("POST", f"{UPLOADS}/{{number}}/ingest"),
    ("DELETE", f"{UPLOADS}/{{number}}"),
    *(("GET", f"/api/v1/jobs/{{number}}{part}") for part in ("", "/log", "/events")),
    ("GET", UPLOAD_FILES),
    *((method, f"{UPLOAD_FILES}/{{sha256}}") for method in ("POST", "DELETE")),
    ("GET", QSG_MAP),
    *((method, f"{QSG_MAP}/{{system_id}}/{{queue_manager}}") for method in ("PUT", "DELETE")),
    *(("GET", f"/api/v1/curves{part}") for part in ("", "/{version}", "/{version}/points")),
    ("GET", "/api/v1/fleet"),
    ("GET", "/api/v1/notices"),
    *(("GET", f"/api/v1/forecasts{part}") for part in ("", "/{qsg}/{structure}")),
    *((method, POINTS) for method in ("GET", "POST")),
    *((method, f"{POINTS}/fit") for method in ("GET", "POST")),
    ("GET", f"{POINTS}/advice"),
    ("DELETE", f"{POINTS}/{{number}}"),
    ("GET", CF_LEVELS),
    *((method, f"{CF_LEVELS}/{{coupling_facility}}") for method in ("PUT", "DELETE")),
    *((method, "/api/v1/nightly-runs") for method in ("GET", "POST")),
    ("GET", "/api/v1/nightly-runs/{number}"),
    *(("GET", f"/api/v1/night/report{ending}") for ending in ("", ".md")),
    *(("GET", f"/api/v1/{path}") for path in ("connections", "policy-drifts", "dds-pollers", "usage/health")),
    *(("POST", f"/api/v1/import/{kind}") for kind in ("structures", "queues")),
    ("GET", SEARCH),
    ("GET", ACCOUNT),
    *((method, TOKENS) for method in ("GET", "POST")),
    ("DELETE", f"{TOKENS}/{{number}}"),
    *((method, USERS) for method in ("GET", "POST")),
    *((method, f"{USERS}/{{name}}") for method in ("GET", "PATCH")),
    ("POST", "/api/v1/events/simulate"),
    ("POST", "/api/v1/events/read"),
    *(("POST", f"/api/v1/events/{question}") for question in ("advise", "rates")),
    *(("POST", f"/api/v1/cluster/{question}") for question in ("decide", "load")),
    ("POST", "/api/v1/cluster/explain"),
    *WHAT_IF,
    *(("POST", f"/api/v1/{question}") for question in RUNNING),
    *(("GET", f"{STORED}{at}/{kind}") for at in ("", "/versions/{number}") for kind in OUTPUT_KINDS),
]
Mode = Literal["positive", "negative"]
"""A value of schemathesis.GenerationMode."""
GOOD: Mode = "positive"
BAD: Mode = "negative"
HAS_BODY = [
    ("PUT", STORED),
    ("POST", f"{STORED}/scenarios"),
    ("PUT", f"{STORED}/scenarios/{{scenario}}"),
    ("POST", f"{UPLOADS}/{{number}}/ingest"),
    ("POST", TOKENS),
    ("POST", USERS),
    ("PATCH", f"{USERS}/{{name}}"),
    ("PUT", f"{QSG_MAP}/{{system_id}}/{{queue_manager}}"),
    ("PUT", f"{CF_LEVELS}/{{coupling_facility}}"),
    ("POST", POINTS),
    ("POST", "/api/v1/events/simulate"),
    ("POST", "/api/v1/events/read"),
    *(("POST", f"/api/v1/events/{question}") for question in ("advise", "rates")),
    *(("POST", f"/api/v1/cluster/{question}") for question in ("decide", "load")),
    ("POST", "/api/v1/cluster/explain"),
    *WHAT_IF,
    *(("POST", f"/api/v1/{question}") for question in RUNNING),
    *((method, path) for method, path in OPERATIONS[: 1 + len(OUTPUT_KINDS)]),
]
HAS_NOTHING = [("GET", CF_LEVELS), ("POST", "/api/v1/nightly-runs")]
HAS_PARAMETERS = [
    (method, path)
    for method, path in OPERATIONS
    if path.startswith(("/api/v1/plans", AUDIT, USAGE, SEARCH, f"{UPLOADS}/", "/api/v1/jobs", f"{TOKENS}/"))
    or (path.startswith(NIGHT) and (method, path) not in HAS_NOTHING)
    or (method, path) in HAS_BODY
]
TRIED = [
    pytest.param(method, path, mode, id=f"{method} {path} {mode}")
    for method, path in OPERATIONS
    for mode in (
        (GOOD, BAD) if (method, path) in HAS_PARAMETERS else (GOOD,)
    )  # nothing bad goes into the others
]
CASES_EACH, CASES_EACH_OF_ONE_INPUT, CASES_EACH_IN_SOAK = 25, 8, 250
CASES_OF_ROLE, CASES_OF_ROLE_IN_SOAK = 1, 17
MOST_ROUNDS = 20
"""Rounds through the operations that a role may need for its number of distinct requests."""
ONE_INPUT = [
    (method, path) for method, path in OPERATIONS if path.endswith(tuple(f"/{kind}" for kind in OUTPUT_KINDS))
]
"""Operations that take the body of POST /api/v1/size, or the names of a stored plan and its version."""
SENT: Counter[tuple[str, int]] = Counter()
"""Requests sent by operation and requested number: some operations have only one request."""
CHECKED = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of a service with a plan, a scenario, usage, forecasts, an upload, and users."""
    folder = Path(tmp_path_factory.mktemp("data"))
    app = create_app(Settings(data_dir=folder / "data"))
    with app.state.database.session(writes=True) as session:
        service.save_plan(session, STORED_NAME, read_object(SQ03))
    worked = scenarios.work_out(app.state.database, STORED_NAME, ScenarioDraft({"queue_managers": 6}))
    with app.state.database.session(writes=True) as session:
        scenarios.save(session, STORED_NAME, SCENARIO, worked)
    store(app, ten_days(days=2))
    store_points(app.state.database)
    store_night(
        app.state.database,
        curves=[fit_json()],
        forecasts=[forecast_json()],
        days=daily(),
        health=[health_json(TROUBLE)],
    )
    upload = post_file(app, "text").json()
    finish(app, upload["job"]["id"])
    for role in ROLES:
        add_user(app, role, role)
        if role != ROLES[-1]:
            add_token(app, role, "viewer")
    app.state.database.close()
    return folder


@pytest.fixture(scope="module")
def quick_jobs() -> Iterator[None]:
    """Let no job start, and streams end soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "NEEDED", ("a_package_that_nobody_has",))
        patch.setattr(job_routes, "LONGEST_STREAM_S", 0.5)
        yield


@pytest.fixture(scope="module")
def described(data_dir: Path, quick_jobs: None) -> Iterator[schemathesis.BaseSchema]:
    """Return the described interface for any host name, because the tester uses its own."""
    app = create_app(Settings(data_dir=data_dir / "data", allowed_hosts=("*",)))
    yield description_of(app)
    app.state.leader.stop()  # the tester starts the application, and does not end it


@pytest.fixture(scope="module")
def site(data_dir: Path, quick_jobs: None) -> Iterator[FastAPI]:
    """Return the same service with accounts, and with its own copy of the data."""
    shutil.copytree(data_dir / "data", data_dir / "accounts" / "data")
    app = app_with_accounts(data_dir / "accounts", allowed_hosts=("*",))
    yield app
    app.state.leader.stop()


def description_of(app: FastAPI) -> schemathesis.BaseSchema:
    """Return the interface as it is described, except for authentication, which the tester would try by itself."""
    import schemathesis

    document = json.loads(DESCRIPTION_FILE.read_bytes())
    del document["components"]["securitySchemes"]
    for operations in document["paths"].values():
        for operation in operations.values():
            del operation["security"]
    schema = schemathesis.openapi.from_dict(document)
    schema.app = app
    schema.location = "/openapi.json"
    return schema


def test_operation_list_matches_the_description(described: schemathesis.BaseSchema) -> None:
    found = {
        (operation.ok().method.upper(), operation.ok().path)  # type: ignore[union-attr]
        for operation in described.get_all_operations()
    }
    assert found == set(OPERATIONS)


@pytest.mark.parametrize(("method", "path", "mode"), TRIED)
def test_generated_requests_get_documented_responses(
    described: schemathesis.BaseSchema, method: str, path: str, mode: Mode
) -> None:
    cases = CASES_EACH_OF_ONE_INPUT if (method, path) in ONE_INPUT else CASES_EACH
    try_cases(described, method, path, mode, cases=cases)


@pytest.mark.soak
@pytest.mark.parametrize(("method", "path", "mode"), TRIED)
def test_many_generated_requests_get_documented_responses(
    described: schemathesis.BaseSchema, method: str, path: str, mode: Mode
) -> None:
    try_cases(described, method, path, mode, cases=CASES_EACH_IN_SOAK)


def was_tried_whole(*cases: int) -> bool:
    """Return whether this process tried all operations, which it does not with selected or distributed tests."""
    return len({operation for operation, asked in SENT if asked in cases}) == len(TRIED)


def test_complete_test_sends_at_least_1000_requests() -> None:
    if not was_tried_whole(CASES_EACH, CASES_EACH_OF_ONE_INPUT):
        pytest.skip("only some of the operations were tried")
    assert sum(sent for (_, asked), sent in SENT.items() if asked < CASES_EACH_IN_SOAK) >= 1_000


@pytest.mark.soak
def test_complete_soak_test_sends_at_least_10000_requests() -> None:
    if not was_tried_whole(CASES_EACH_IN_SOAK):
        pytest.skip("only some of the operations were tried")
    print(SENT)
    assert sum(sent for (_, asked), sent in SENT.items() if asked == CASES_EACH_IN_SOAK) >= 10_000


@pytest.mark.parametrize("role", ROLES)
def test_generated_requests_of_each_role_get_documented_responses(
    described: schemathesis.BaseSchema, site: FastAPI, role: str
) -> None:
    tried = [each for each in OPERATIONS if each not in ONE_INPUT]
    # Each role tries every second operation, so that two roles try each of them.
    try_role(described, site, role, cases=CASES_OF_ROLE, operations=tried[ROLES.index(role) % 2 :: 2])


@pytest.mark.soak
@pytest.mark.parametrize("role", ROLES)
def test_many_generated_requests_of_each_role_get_documented_responses(
    described: schemathesis.BaseSchema, site: FastAPI, role: str, pytestconfig: pytest.Config
) -> None:
    least = pytestconfig.getoption("requests_of_roles") // len(ROLES)
    sent = try_role(described, site, role, cases=CASES_OF_ROLE_IN_SOAK, operations=OPERATIONS, least=least)
    statuses = ", ".join(f"{count} x {status}" for status, count in sorted(sent.statuses.items()))
    print(
        f"{role}: {sent.statuses.total()} requests, {len(sent.distinct)} of them distinct; answers: {statuses}"
    )
    assert len(sent.distinct) >= least


@dataclass
class SentRequests:
    """The requests of one role."""

    distinct: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)


def try_role(
    described: schemathesis.BaseSchema,
    site: FastAPI,
    role: str,
    *,
    cases: int,
    operations: list[tuple[str, str]],
    least: int = 0,
) -> SentRequests:
    """Send requests to each operation of a site in a session of a role, in several rounds if so many distinct ones are needed."""
    headers = {"cookie": f"cfplan-session={signed_in(site, role).secret}"}
    sent = SentRequests()
    failures: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sessions, "RECENT", timedelta(days=1)
        )  # so that slow machines reach sensitive operations, too
        for number in range(MOST_ROUNDS):
            for method, path in operations:
                has_parameters = (method, path) in HAS_PARAMETERS
                if number and (not has_parameters or len(sent.distinct) >= least):
                    continue  # there is only one such request, or the first round and this one have sent enough
                for mode in (GOOD, BAD) if has_parameters else (GOOD,):
                    try:
                        try_cases(
                            described, method, path, mode,
                            cases=cases, app=site, headers=headers, sent=sent, number=number,
                        )  # fmt: skip
                    # An ExceptionGroup of failed checks, for example. The other operations are tried as well.
                    except Exception as error:  # noqa: BLE001 - see above
                        failures.append(f"{method} {path} {mode}:\n{''.join(format_exception(error))}")
            if len(sent.distinct) >= least:
                break
    assert not failures, "\n\n".join(failures)
    # The requests reached the operations: the session is still valid.
    assert call(site, "GET", "/api/v1/account", headers=headers).json()["role"] == role
    return sent


def try_cases(
    described: schemathesis.BaseSchema,
    method: str,
    path: str,
    mode: Mode,
    *,
    cases: int,
    app: FastAPI | None = None,
    headers: dict[str, str] | None = None,
    sent: SentRequests | None = None,
    number: int = 0,
) -> None:
    """Send a number of requests; half of those for stored plans name an existing one.

    Args:
        described: The interface.
        method: The method of the operation.
        path: The address of the operation.
        mode: Whether the requests follow the description.
        cases: Maximum number of requests.
        app: The application that gets the requests; None means the described one.
        headers: Headers of all requests.
        sent: Collects the requests.
        number: The number of the round; each round has other requests.
    """
    from schemathesis import GenerationMode
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    checks = CHECKS.get_by_names(CHECKED)
    strategy = described[path][method].as_strategy(generation_mode=GenerationMode(mode))
    to = {} if app is None else {"app": app}

    @hypothesis.seed(number) if number else lambda test: test
    @hypothesis.given(case=strategy, real=hypothesis.strategies.booleans())
    @hypothesis.settings(
        max_examples=cases,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def send(case: schemathesis.Case, real: bool) -> None:
        SENT[f"{method} {path} {mode}", cases] += 1
        if real and "{name}" in path and mode == GOOD:
            case.path_parameters["name"] = STORED_NAME
            if "scenario" in case.path_parameters:
                case.path_parameters["scenario"] = SCENARIO
            if "number" in case.path_parameters:
                case.path_parameters["number"] = 1
        if real and "{qsg}" in path and mode == GOOD:
            case.path_parameters.update(qsg="SQ03", structure="APPLICATION1")
        if real and path.startswith((f"{UPLOADS}/", "/api/v1/jobs/")) and mode == GOOD:
            case.path_parameters["number"] = 1
        if real and path.startswith(USERS) and "name" in case.path_parameters and mode == GOOD:
            case.path_parameters["name"] = "viewer"
        answer = case.call_and_validate(checks=checks, headers=headers, **to)  # type: ignore[arg-type]
        if sent is not None:
            sent.statuses[answer.status_code] += 1
            sent.distinct.add(repr((method, path, case.path_parameters, case.query, case.headers, case.body)))

    send()
