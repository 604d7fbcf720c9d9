from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from app.documentation.api_docs import DESCRIPTION_FILE
from app.main import create_app
from app.settings import Settings
from app.sizing.examples import examples
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.app.accounts.support import add_token, add_user, app_with_accounts, signed_in
from tests.app.documentation.openapi_file import description as description_of
from tests.app.fits.support import (
    TROUBLE,
    daily,
    fit_json,
    forecast_json,
    health_json,
    store_night,
    store_points,
)
from tests.app.uploads.support import finish
from tests.app.usage.support import store, ten_days
from tests.app.web.support import (
    COMPLETE,
    SMALLEST,
    SQ03,
    assert_problem,
    call,
    get,
    post_json,
    send_json,
)


@pytest.fixture(scope="session")
def description(app: FastAPI) -> dict[str, Any]:
    found: dict[str, Any] = get(app, "/openapi.json").json()
    return found


def walk(value: object) -> Iterator[Any]:
    """Yield all values in a JSON value."""
    yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from walk(item)


def operations(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in description["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def validator(
    description: dict[str, Any], schema: dict[str, Any], *, closed: bool = True
) -> jsonschema_rs.Draft202012Validator:
    """Return a validator; `closed` also refuses members without a description."""
    whole = copy.deepcopy({"components": description["components"], **schema})
    for part in walk(whole) if closed else ():
        if isinstance(part, dict) and part.get("type") == "object" and "properties" in part:
            part.setdefault("additionalProperties", False)
    return jsonschema_rs.Draft202012Validator(whole)


def test_sent_description_is_the_generated_one(app: FastAPI) -> None:
    assert get(app, "/openapi.json").content == description_of(app), "run make openapi"


def test_description_does_not_depend_on_the_settings(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, port=9, max_body_bytes=1000, allowed_hosts=("cfplan.example",))
    assert description_of(create_app(settings)) == DESCRIPTION_FILE.read_bytes()


def test_description_names_no_server(description: dict[str, Any]) -> None:
    assert "servers" not in description


def test_description_behind_a_proxy_names_the_path_of_the_proxy(
    own_app: FastAPI, description: dict[str, Any]
) -> None:
    own_app.root_path = "/cfplan"
    for headers in ({}, {"accept-encoding": "gzip"}):
        content = call(own_app, "GET", "/openapi.json", headers=headers).content
        text = gzip.decompress(content) if headers else content
        assert json.loads(text) == {**description, "servers": [{"url": "/cfplan"}]}


def test_description_is_compressed_for_clients_that_accept_it(app: FastAPI) -> None:
    answer = call(app, "GET", "/openapi.json", headers={"accept-encoding": "gzip, br"})
    assert (answer.headers["content-encoding"], answer.media_type) == ("gzip", "application/json")
    assert "Accept-Encoding" in answer.headers["vary"]
    assert gzip.decompress(answer.content) == get(app, "/openapi.json").content
    assert len(answer.content) < 200_000


def test_description_is_not_compressed_if_the_settings_prevent_it(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, compress_over_bytes=10**9))
    answer = call(app, "GET", "/openapi.json", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in answer.headers
    assert answer.json()["openapi"].startswith("3.1")


def test_every_rest_route_is_described(app: FastAPI, description: dict[str, Any]) -> None:
    routes = {
        route.path for route in app.routes if isinstance(route, APIRoute) and route.path.startswith("/api/v1")
    }
    second_addresses = {"/api/v1/night/report.json"}
    assert routes - set(description["paths"]) == second_addresses
    assert {f"/api/v1/{kind}" for kind in ("size", *OUTPUT_KINDS)} <= set(description["paths"])


def test_pages_are_not_described_as_rest_routes(description: dict[str, Any]) -> None:
    assert {path for path in description["paths"] if not path.startswith("/api/v1/")} == {
        "/healthz",
        "/readyz",
    }


def test_every_operation_has_a_description_and_responses(description: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in description["tags"]}
    problem = {"$ref": "#/components/schemas/Problem"}
    of_problems = validator(description, problem)
    for path, method, operation in operations(description):
        assert operation["summary"], (path, method)
        assert operation["description"], (path, method)
        assert set(operation["tags"]) <= tags
        for status, stated in operation["responses"].items():
            shared = stated.get("$ref", "").rpartition("/")[2]
            response = description["components"]["responses"][shared] if shared else stated
            assert response["description"], (path, status)
            if status in {"204", "304"}:
                assert "content" not in response
                continue
            (media_type,) = response["content"]
            if status not in {"200", "201", "202"}:
                assert media_type == "application/problem+json"
                assert response["content"][media_type]["schema"] == problem
                of_problems.validate(response["content"][media_type]["example"])


def test_operations_that_accept_a_plan_have_examples(description: dict[str, Any]) -> None:
    plan, takers = {"$ref": "#/components/schemas/PlanDocument"}, set[str]()
    for path, _, operation in operations(description):
        content = operation.get("requestBody", {"content": {}})["content"]
        if content.get("application/json", {}).get("schema") == plan:
            takers.add(path)
            assert operation["requestBody"]["required"] is True
            # The complete job needs hardware fields, which one example has.
            shown = {"complete"} if path == "/api/v1/job" else set(examples())
            # Questions about a plan show one plan each, the one that they say most about.
            found = set(content["application/json"].get("examples", {}))
            assert found <= shown if path.startswith("/api/v1/whatif/") else found == shown, path
    assert takers >= {f"/api/v1/{kind}" for kind in ("size", *OUTPUT_KINDS)} | {"/api/v1/plans/{name}"}


def test_every_reference_resolves(description: dict[str, Any]) -> None:
    components = description["components"]
    known = {f"#/components/{kind}/{name}" for kind, found in components.items() for name in found}
    references = {
        part["$ref"]
        for part in walk(description)
        if isinstance(part, dict) and isinstance(part.get("$ref"), str)
    }
    assert references
    assert references - known == set()


def test_every_schema_is_used(description: dict[str, Any]) -> None:
    text = json.dumps(description)
    assert [
        name for name in description["components"]["schemas"] if f'"#/components/schemas/{name}"' not in text
    ] == []


KEPT = tuple(
    f"/api/v1/plans/{{name}}/scenarios{part}" for part in ("/{scenario}", "/{scenario}/report", "/compare")
)
"""Answers whose examples show stored data."""
PUTS_BY_HOUR = "+".join(["2000"] * 8 + ["40000"] * 10 + ["10000"] * 6)
PARAMETERS = {"/api/v1/whatif/survival": f"?minutes=60&day={PUTS_BY_HOUR}"}
"""Parameters of the questions in examples."""


def test_every_example_request_is_accepted(own_app: FastAPI, description: dict[str, Any]) -> None:
    ran = 0
    for path, method, operation in operations(description):
        content = operation.get("requestBody", {"content": {}})["content"]
        for name, example in content.get("application/json", {}).get("examples", {}).items():
            at = address_of(path.replace("{name}", f"EXAMPLE.{name}").replace("{scenario}", "kept"))
            answer = send_json(own_app, method.upper(), at, example["value"])
            ran += 1
            made = method == "put" or "200" not in operation["responses"]
            assert answer.status == (201 if made else 200), (path, name, answer.text)
    assert ran >= len(examples()) * (1 + len(OUTPUT_KINDS)) + 1


def test_example_responses_equal_the_actual_ones(app: FastAPI, description: dict[str, Any]) -> None:
    shown = 0
    for path, _, operation in operations(description):
        for media_type, content in operation["responses"].get("200", {"content": {}})["content"].items():
            for name, example in content.get("examples", {}).items():
                if path in KEPT:
                    continue  # what is kept has times: below
                asked = operation["requestBody"]["content"]["application/json"]["examples"][name]["value"]
                answer = post_json(app, path + PARAMETERS.get(path, ""), asked)
                assert example["value"] == (
                    answer.json() if media_type == "application/json" else answer.text
                )
                shown += 1
    assert shown >= 1 + len(OUTPUT_KINDS)


def test_example_responses_of_scenarios_equal_the_actual_ones_except_times(
    own_app: FastAPI, description: dict[str, Any]
) -> None:
    operation = description["paths"]["/api/v1/plans/{name}/scenarios"]["post"]
    for name, asked in operation["requestBody"]["content"]["application/json"]["examples"].items():
        assert send_json(own_app, "PUT", "/api/v1/plans/SQ03", examples()[name].document).status == 201
        assert post_json(own_app, "/api/v1/plans/SQ03/scenarios", asked["value"]).status == 201
        for path in KEPT:
            content = description["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
            shown, answer = content["examples"][name]["value"], get(own_app, address_of(path))
            found = without_times(answer.json())
            assert answer.status == 200
            assert found == without_times(shown), path
            assert found
            validator(description, content["schema"]).validate(shown)


def without_times(value: Any) -> Any:  # noqa: ANN401
    """Return JSON without the times at which items were stored."""
    if isinstance(value, list):
        return [without_times(item) for item in value]
    if isinstance(value, dict):
        moments = ("created_at", "updated_at")
        return {key: without_times(item) for key, item in value.items() if key not in moments}
    return value


def test_example_responses_of_saved_plans_equal_the_actual_ones_except_times(
    own_app: FastAPI, description: dict[str, Any]
) -> None:
    answers = description["paths"]["/api/v1/plans/{name}"]["put"]["responses"]["201"]["content"]
    shown = answers["application/json"]["examples"]
    assert set(shown) == set(examples())
    for number, (name, example) in enumerate(shown.items(), start=1):
        found = send_json(own_app, "PUT", "/api/v1/plans/SQ03", examples()[name].document).json()
        changes = {"created_at": found["created_at"], "etag": f'"{number}.1"'}
        assert found == {**example["value"], **changes}
        validator(description, {"$ref": "#/components/schemas/StoredPlan"}).validate(found)
        assert call(own_app, "DELETE", "/api/v1/plans/SQ03").status == 200


def test_examples_are_valid_by_the_schema_of_the_document(description: dict[str, Any]) -> None:
    check = validator(description, {"$ref": "#/components/schemas/PlanDocument"})
    for example in examples().values():
        check.validate(example.document)


@pytest.mark.parametrize("name", list(examples()))
@pytest.mark.parametrize("query", ["", "?explain=true"])
def test_results_have_exactly_the_documented_members(
    app: FastAPI, description: dict[str, Any], name: str, query: str
) -> None:
    result = post_json(app, f"/api/v1/size{query}", examples()[name].document).json()
    validator(description, {"$ref": "#/components/schemas/PlanAnswer"}).validate(result)


def test_every_documented_member_of_a_structure_occurs_in_results(
    app: FastAPI, description: dict[str, Any]
) -> None:
    on_db2 = {**SQ03, "structures": [{**SQ03["structures"][0], "offload": {"to": "DB2"}}]}
    placed = {"duplex_site": "CROSSSITE", "enforce_order": True, "scm": {"max_size": "4G", "augmented": "1G"}}
    with_more = {**SQ03, "structures": [{**SQ03["structures"][0], **placed}]}
    results = [post_json(app, "/api/v1/size", document).json() for document in (SQ03, on_db2, with_more)]
    described = description["components"]["schemas"]["StructureAnswer"]["properties"]
    occurring = {name for result in results for structure in result["structures"] for name in structure}
    assert set(described) == occurring


@pytest.mark.parametrize(
    ("path", "document"), [("/api/v1/size", {}), ("/api/v1/size", {**SQ03, "queue_managers": 33}), ("/api/v1/job", SMALLEST)]
)  # fmt: skip
def test_problems_have_exactly_the_documented_members(
    app: FastAPI, description: dict[str, Any], path: str, document: object
) -> None:
    problem = post_json(app, path, document).json()
    validator(description, {"$ref": "#/components/schemas/Problem"}).validate(problem)


def address_of(path: str) -> str:
    """Return a path of the description with existing names."""
    there = {
        "table_id": "admin_structure_cfcc14", "name": "SQ03", "number": "1", "qsg": "SQ03", "structure": "APPLICATION1",
        "system_id": "SYSA", "queue_manager": "CSQ1", "version": "1", "coupling_facility": "CF01", "scenario": "more-trade",
    }  # fmt: skip
    for parameter, value in there.items():
        path = path.replace("{" + parameter + "}", value)
    asked = {"/queue": "?name=ORDERS.IN", "/scenarios/compare": "?of=more-trade", "/api/v1/search": "?q=A"}
    asked |= dict.fromkeys(("/sizing-points/fit", "/sizing-points/advice"), "?cfcc_level=26")
    return path + "".join(query for end, query in asked.items() if path.endswith(end))


OF_ACCOUNTS = {"/api/v1/account/tokens", "/api/v1/users", "/api/v1/users/{name}"}
"""A service without accounts refuses these; the test below asks one that has them."""


def test_responses_to_get_operations_match_their_schemas(
    own_app: FastAPI, description: dict[str, Any]
) -> None:
    changed = {**COMPLETE, "headroom_percent": 25}
    for name in ("SQ03", "GONE"):
        assert send_json(own_app, "PUT", f"/api/v1/plans/{name}", COMPLETE).status == 201
    assert send_json(own_app, "PUT", "/api/v1/plans/SQ03?comment=x", changed, if_match="*").status == 200
    scenario = {"name": "more-trade", "changes": {"headroom_percent": 30}}
    assert post_json(own_app, "/api/v1/plans/SQ03/scenarios", scenario).status == 201
    store(own_app, ten_days())
    store_points(own_app.state.database)
    store_night(
        own_app.state.database,
        curves=[fit_json()],
        forecasts=[forecast_json()],
        days=daily(),
        health=[health_json(TROUBLE)],
    )
    level = send_json(own_app, "PUT", "/api/v1/cf-levels/CF01", {"cfcc_level": 25})
    validator(description, {"$ref": "#/components/schemas/LevelChanged"}).validate(level.json())
    received = post_json(own_app, "/api/v1/uploads", {})
    assert received.status == 201
    finish(own_app, received.json()["job"]["id"])
    deleted = call(own_app, "DELETE", "/api/v1/plans/GONE").json()
    validator(description, {"$ref": "#/components/schemas/DeletionAnswer"}).validate(deleted)
    for path, method, operation in operations(description):
        if method == "get":
            answer = get(own_app, address_of(path))
            ((media_type, content),) = operation["responses"]["200"]["content"].items()
            if path in OF_ACCOUNTS:
                assert_problem(answer, "accounts-off", 409)
                continue
            assert answer.status == 200, (path, answer.text)
            assert answer.media_type == media_type
            described = operation["responses"]["200"].get("headers", {})
            assert {name.lower() for name in described} <= set(answer.headers)
            if media_type == "text/event-stream":
                assert answer.text.startswith("event: end\n")
                continue
            if media_type == "application/zip":
                assert answer.content.startswith(b"PK")
                continue
            is_text = media_type.startswith("text/") or media_type == "application/xml"
            value = answer.text if is_text else answer.json()
            validator(description, content["schema"]).validate(value)
            explain = [p for p in operation.get("parameters", []) if p["name"] == "explain"]
            if explain:
                value = get(own_app, address_of(path) + "?explain=true").json()
                validator(description, content["schema"]).validate(value)
                assert value["explanations"]
            tag = answer.headers.get("etag")
            assert ("304" in operation["responses"]) == (tag is not None)
            if tag:
                again = get(own_app, address_of(path), if_none_match=f'"0.0", W/{tag}')
                assert (again.status, again.content, again.headers["etag"]) == (304, b"", tag)


def test_responses_to_get_operations_of_accounts_match_their_schemas(
    tmp_path: Path, description: dict[str, Any]
) -> None:
    site = app_with_accounts(tmp_path)
    add_user(site, "anna", "administrator")
    add_token(site, "anna", "viewer")
    browser = signed_in(site, "anna")
    for path in sorted(OF_ACCOUNTS):
        answer = browser.get(path.replace("{name}", "anna"), accept="application/json")
        assert answer.status == 200, (path, answer.text)
        ((media_type, content),) = description["paths"][path]["get"]["responses"]["200"]["content"].items()
        assert answer.media_type == media_type
        validator(description, content["schema"]).validate(answer.json())


def test_every_json_response_of_the_rest_interface_has_findings(
    app: FastAPI, description: dict[str, Any]
) -> None:
    for path, method, _ in operations(description):
        address = address_of(path)
        if address.endswith("/events"):  # a stream that lasts while the job does
            continue
        answers = [
            get(app, address),
            get(app, address.replace("admin_structure_cfcc14", "nothing")),
            call(app, "PUT", address),
            call(app, "PATCH", address),
        ]
        if method == "post":
            documents: list[object] = [SQ03, {}, []]
            answers += [post_json(app, address, document) for document in documents]
        for answer in answers:
            files = {"application/zip", "application/xml"}
            is_file = (answer.media_type or "").startswith("text/") or answer.media_type in files
            if not is_file and not address.endswith("/document"):
                assert isinstance(answer.json()["findings"], list), (path, answer.text)


def test_headers_match_their_patterns(app: FastAPI, description: dict[str, Any]) -> None:
    headers = description["paths"]["/api/v1/policy"]["post"]["responses"]["200"]["headers"]
    answer = post_json(app, "/api/v1/policy", SQ03)
    for name, header in headers.items():
        assert re.search(header["schema"].get("pattern", ""), answer.headers[name.lower()])
