"""POST /api/v1/whatif/cf-loss and /upgrade: answers of the core, with strict parameters."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.whatif.growth import upgrades
from planner_core.whatif.loss import losses_of
from tests.app.web.support import SQ03, assert_problem, get, post_json, send_json
from tests.planner_core.whatif.placement.scenes import cf, document, structure

LOSS, UPGRADE = "/api/v1/whatif/cf-loss", "/api/v1/whatif/upgrade"
TIGHT = document([cf("CF01"), cf("CF02", "3G")], [structure("A", "4G")])


def test_rest_response_equals_the_core_result(app: FastAPI) -> None:
    answer = post_json(app, LOSS, SQ03)
    assert answer.status == 200, answer.text
    assert answer.json() == losses_of([("SQ03", evaluate(read_object(SQ03)))]).as_json()
    upgraded = post_json(app, UPGRADE, SQ03)
    assert upgraded.json() == upgrades(read_object(SQ03)).as_json()


@pytest.mark.parametrize("plan", [SQ03, TIGHT, document([], [])], ids=["example", "tight", "without CFs"])
def test_responses_have_exactly_the_documented_members(app: FastAPI, plan: dict[str, Any]) -> None:
    schemas = app.openapi()["components"]["schemas"]
    for address, shape in ((LOSS, "LossAnswer"), (UPGRADE, "UpgradeAnswer")):
        found = post_json(app, address, plan).json()
        described = schemas[shape]
        assert set(found) == set(described["properties"]) == set(described["required"])


def test_at_size_option_counts_structures_at_their_size(app: FastAPI) -> None:
    by_size = post_json(app, f"{LOSS}?at=size", SQ03).json()
    assert by_size["counted_at"] == "size"
    assert (
        by_size["losses"][0]["white_space_mib"]
        > post_json(app, LOSS, SQ03).json()["losses"][0]["white_space_mib"]
    )


def test_stored_plans_of_the_sysplex_are_included(app: FastAPI) -> None:
    other = document([cf("CF01"), cf("CF02", "3G")], [structure("B", "2G")], qsg="QSG2")
    assert send_json(app, "PUT", "/api/v1/plans/other", other).status in {200, 201}
    found = post_json(app, f"{LOSS}?with=other", TIGHT).json()
    assert found["plans"] == ["SQ03", "other"]
    assert {each["structure"] for each in found["placements"]} == {
        "SQ03CSQ_ADMIN",
        "SQ03A",
        "QSG2CSQ_ADMIN",
        "QSG2B",
    }
    assert_problem(post_json(app, f"{LOSS}?with=nobody", TIGHT), "plan-not-found", 404)
    assert_problem(
        post_json(app, f"{LOSS}?with=other", other), "input-refused", 422
    )  # the same structures twice


@pytest.mark.parametrize(
    ("address", "field"),
    [
        (f"{LOSS}?at=minsize", "at"),
        (f"{LOSS}?{'&'.join(['with=x'] * 41)}", "with"),
        (f"{UPGRADE}?cfcc=x", "cfcc"),
        (f"{UPGRADE}?cfcc=100", "cfcc"),
        (f"{UPGRADE}?queue_managers=-1", "queue_managers"),
        (f"{UPGRADE}?queue_managers=1_0", "queue_managers"),
        (f"{UPGRADE}?growth=ten", "growth"),
        (f"{UPGRADE}?growth=1001", "growth"),
        (f"{UPGRADE}?years=51", "years"),
    ],
)
def test_refusal_of_an_invalid_parameter_names_it(app: FastAPI, address: str, field: str) -> None:
    problem = assert_problem(post_json(app, address, SQ03), "request-invalid", 422)
    assert [error["field"] for error in problem["errors"]] == [field]


def test_level_that_is_not_an_upgrade_is_refused(app: FastAPI) -> None:
    problem = assert_problem(post_json(app, f"{UPGRADE}?cfcc=25", SQ03), "out-of-range", 422)
    assert "must be between 26 and 99. The plan is at level 25." in problem["detail"]


def test_unreadable_plan_is_refused_with_its_fields(app: FastAPI) -> None:
    for address in (LOSS, UPGRADE):
        problem = assert_problem(post_json(app, address, {"qsg": "SQ03"}), "document-invalid", 422)
        assert [error["field"] for error in problem["errors"]] == ["/queue_managers"]
        assert_problem(post_json(app, address, {**SQ03, "queue_managers": 33}), "plan-refused", 422)


def test_openapi_examples_equal_the_actual_responses(app: FastAPI) -> None:
    described = get(app, "/openapi.json").json()["paths"]
    for address in (LOSS, UPGRADE):
        operation = described[address]["post"]
        (example,) = operation["requestBody"]["content"]["application/json"]["examples"].values()
        (answer,) = operation["responses"]["200"]["content"]["application/json"]["examples"].values()
        assert post_json(app, address, example["value"]).json() == answer["value"]
