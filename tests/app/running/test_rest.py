"""Routes about running systems: answers match their description, and errors name their field."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI

from app.running.description import examples
from app.running.texts import running_example
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.running.merge import merge
from planner_core.running.merged_workflow import merged_workflow
from planner_core.running.policy import in_effect
from planner_core.running.state import read_running
from tests.app.web.support import SMALLEST, SQ03, assert_problem, get, post_json
from tests.app.web.test_openapi import validator
from tests.planner_core.running.policies import read_policies
from tests.planner_core.running.test_compare import display

POLICY = running_example().policy


@pytest.mark.parametrize("name", examples())
def test_example_responses_match_their_description(app: FastAPI, name: str) -> None:
    description = get(app, "/openapi.json").json()
    responses = description["paths"][f"/api/v1/{name}"]["post"]["responses"]
    answer = post_json(app, f"/api/v1/{name}", examples()[name])
    assert answer.status == 200, answer.text
    validator(description, responses["200"]["content"]["application/json"]["schema"]).validate(answer.json())


def test_lint_uses_the_given_group_name(app: FastAPI) -> None:
    asked = {"text": "DEFINE CFSTRUCT(SQ03APP1) CFLEVEL(3)\n", "qsg": "SQ03"}
    found = post_json(app, "/api/v1/lint", asked).json()["findings"]
    assert [(each["code"], each["line"]) for each in found] == [("CFSTRUCT_HAS_GROUP_PREFIX", 1)]


def test_lint_reports_the_line_of_each_finding(app: FastAPI) -> None:
    answer = post_json(app, "/api/v1/lint", {"text": POLICY.replace("SIZE(512M)", "SIZE(512X)")})
    assert [(each["code"], each["line"]) for each in answer.json()["findings"]] == [
        ("POLICY_VALUE_INVALID", 29)
    ]


def test_merge_returns_all_other_lines_unchanged(app: FastAPI) -> None:
    merged = post_json(app, "/api/v1/merge", {"plan": SQ03, "policy": POLICY}).json()
    before, after = POLICY.splitlines(), merged["policy"].splitlines()
    gone = [line for line in before if line not in after]
    assert gone
    assert all(line.lstrip().startswith(("SIZE(", "INITSIZE(")) for line in gone)
    changed = {(each["structure"], each["keyword"]) for each in merged["changes"]}
    assert ("SQ03MYDATA", None) in changed
    assert ("SQ03APPLICATION1", "SIZE") in changed


def test_diff_numbers_commands_and_states_when_they_take_effect(app: FastAPI) -> None:
    answer = post_json(app, "/api/v1/diff", {"plan": SQ03, "current": running_example().current}).json()
    assert [each["number"] for each in answer["commands"]] == list(range(1, len(answer["commands"]) + 1))
    assert {each["takes_effect"] for each in answer["commands"]} == {"at once", "pending until rebuild"}
    app1 = next(each for each in answer["structures"] if each["name"] == "APPLICATION1")
    assert app1["today"]["allocated_size_kib"] == 262_144
    assert app1["today"]["usage_percent"] == 81
    assert answer["text"].count("SETXCF START,REBUILD") == 3


def test_plan_from_running_gives_no_commands_and_no_merge_difference(app: FastAPI) -> None:
    text = running_example().current
    for was, now in (("24576", "49152"), ("16384", "32768"), ("30720", "98304"), ("20480", "65536")):
        text = text.replace(f"SIZE({was})", f"SIZE({now})")
    made = post_json(app, "/api/v1/plan-from-running", {"current": text}).json()
    assert read_object(made["document"]).qsg == "SQ03"
    answer = post_json(app, "/api/v1/diff", {"plan": made["document"], "current": text}).json()
    assert answer["commands"] == []
    assert answer["same"] is True
    merged = post_json(
        app, "/api/v1/merge", {"plan": made["document"], "policy": text.partition("\nD XCF")[0]}
    ).json()
    assert merged["difference"] == ""


def test_plan_from_running_includes_queues_if_a_size_is_given(app: FastAPI) -> None:
    text = running_example().current.replace("DEFPSIST(YES)", "DEFPSIST(YES) MAXDEPTH(5000)")
    made = post_json(app, "/api/v1/plan-from-running", {"current": text, "message_bytes": 2048}).json()
    queue = {"name": "PAYMENTS.IN", "message_bytes": 2048, "backlog": 5000, "persistent": True}
    assert made["document"]["structures"][0]["queues"] == [queue]


@pytest.mark.parametrize(
    ("name", "asked", "field"),
    [
        ("lint", {}, "/text"),
        ("lint", {"text": 5}, "/text"),
        ("lint", {"text": "", "cfcc_level": 0}, "/cfcc_level"),
        ("lint", {"text": "", "more": 1}, "/more"),
        ("lint", {"text": "", "qsg": "sq"}, "/qsg"),
        ("merge", {"plan": SMALLEST}, "/policy"),
        ("merge", {"plan": {**SMALLEST, "qsg": "TOOLONG"}, "policy": ""}, "/plan/qsg"),
        ("merge", {"plan": SMALLEST, "policy": "", "unstated": "both"}, "/unstated"),
        ("merge", {"plan": SMALLEST, "policy": POLICY, "current": "hello"}, "/current"),
        ("diff", {"plan": SMALLEST, "current": POLICY, "unstated": "both"}, "/unstated"),
        ("diff", {"plan": SMALLEST, "current": []}, "/current"),
        ("diff", {"plan": SMALLEST, "current": "hello"}, "/current"),
        ("diff", {"plan": [], "current": "hello"}, "/plan"),
        ("plan-from-running", {"current": "hello"}, "/current"),
        ("plan-from-running", {"current": POLICY, "qsg": "s q"}, "/qsg"),
    ],
)
def test_invalid_request_is_refused_with_its_fields(app: FastAPI, name: str, asked: Any, field: str) -> None:  # noqa: ANN401
    answer = post_json(app, f"/api/v1/{name}", asked)
    assert answer.status == 422, answer.text
    assert field in [each["field"] for each in answer.json()["errors"]]


def test_damaged_policy_is_refused_with_its_lines(app: FastAPI) -> None:
    answer = post_json(
        app, "/api/v1/merge", {"plan": SQ03, "policy": POLICY.replace("INITSIZE(131072)", "INITSIZE(131072")}
    )
    problem = assert_problem(answer, "input-refused", 422)
    assert "Line 14" in problem["detail"]
    assert [each["code"] for each in problem["findings"]] == ["POLICY_PARENTHESIS_MISSING"]


def test_text_without_a_policy_is_refused(app: FastAPI) -> None:
    assert_problem(post_json(app, "/api/v1/merge", {"plan": SQ03, "policy": "hello"}), "input-refused", 422)


def test_several_groups_without_a_selected_one_are_refused(app: FastAPI) -> None:
    two = POLICY + POLICY.replace("SQ03", "SQ04").replace("PROD01", "PROD02")
    problem = assert_problem(
        post_json(app, "/api/v1/plan-from-running", {"current": two}), "input-refused", 422
    )
    assert "2 groups (SQ03, SQ04)" in problem["detail"]
    answer = post_json(app, "/api/v1/plan-from-running", {"current": two, "qsg": "SQ04"}).json()
    assert answer["document"]["qsg"] == "SQ04"


TOO_LONG = display("SQ03APPLICATION01")


def test_display_of_an_invalid_name_is_reported_with_its_line(app: FastAPI) -> None:
    (found,) = post_json(app, "/api/v1/lint", {"text": TOO_LONG}).json()["findings"]
    assert (found["code"], found["line"]) == ("RUNNING_TEXT_UNREAD", 3)
    for name, asked in (("diff", {"plan": SQ03}), ("plan-from-running", {})):
        problem = assert_problem(
            post_json(app, f"/api/v1/{name}", {**asked, "current": TOO_LONG}), "input-refused", 422
        )
        assert "line 3: STRNAME: 'SQ03APPLICATION01' is not a structure name" in problem["detail"]


def test_display_of_an_invalid_name_is_not_attributed_to_the_previous_structure(app: FastAPI) -> None:
    text = (
        display("SQ03APP1")
        + display("SQ03APPLICATION01", actual="400 M").partition("\n")[2].partition("\n")[2]
    )
    answer = post_json(app, "/api/v1/diff", {"plan": SQ03, "current": text}).json()
    line = 1 + next(n for n, each in enumerate(text.splitlines()) if "STRNAME: SQ03APPLICATION01" in each)
    assert ("RUNNING_TEXT_UNREAD", line) in [(each["code"], each["line"]) for each in answer["findings"]]
    (only,) = read_running([text]).structures.values()
    assert (only.name, only.is_duplexed, only.size_bytes) == ("SQ03APP1", False, 256 * 1024**2)


def test_several_running_policies_are_reported_with_the_line_of_the_second(app: FastAPI) -> None:
    two = POLICY + POLICY.replace("PROD01", "PROD02")
    found = post_json(app, "/api/v1/diff", {"plan": SQ03, "current": two}).json()["findings"]
    told = [(each["code"], each["line"]) for each in found if each["code"] == "RUNNING_SEVERAL_POLICIES"]
    lines = two.splitlines()
    assert told == [
        ("RUNNING_SEVERAL_POLICIES", 1 + next(n for n, line in enumerate(lines) if "NAME(PROD02)" in line))
    ]


def test_unstated_option_keeps_keywords_of_the_policy(app: FastAPI) -> None:
    policy = POLICY.replace("SIZE(512M)", "SIZE(512M) FULLTHRESHOLD(70)")
    plans = evaluate(read_object(SQ03)).structures[1].placement.full_threshold
    assert plans != 70
    for asked, threshold in (({"unstated": "plan"}, plans), ({"unstated": "policy"}, 70), ({}, 70)):
        merged = post_json(app, "/api/v1/merge", {"plan": SQ03, "policy": policy, **asked}).json()
        (statement,) = read_policies(merged["policy"])[0].structure("SQ03APPLICATION1")
        assert in_effect(statement)["FULLTHRESHOLD"] == threshold
        diff = post_json(app, "/api/v1/diff", {"plan": SQ03, "current": policy, **asked}).json()
        (app1,) = [each for each in diff["structures"] if each["name"] == "APPLICATION1"]
        assert app1["planned"]["full_threshold"] == threshold
        assert app1["kept"] == (["FULLTHRESHOLD"] if threshold == 70 else [])


def test_merge_with_displays_warns_of_a_shrinking_structure(app: FastAPI) -> None:
    shown = display("SQ03APPLICATION1", actual="1 G", size="1 G", initsize="512 M", in_use=(80, 20))
    asked = {"plan": SQ03, "policy": POLICY, "current": shown}
    found = post_json(app, "/api/v1/merge", asked).json()["findings"]
    (told,) = [each for each in found if each["code"] == "STRUCTURE_SHRINKS"]
    assert (told["structure"], told["severity"]) == ("APPLICATION1", "warning")
    assert "1G and 80 % of it in use" in told["message"]


def test_merge_over_rest_equals_the_merge_of_the_core(app: FastAPI) -> None:
    merged = post_json(app, "/api/v1/merge", {"plan": SQ03, "policy": POLICY}).json()
    assert merged["policy"] == merge(POLICY, evaluate(read_object(SQ03))).policy


def test_other_structures_are_added_to_the_plan(app: FastAPI) -> None:
    asked = examples()["other-structures"]
    found = post_json(app, "/api/v1/other-structures", asked).json()
    assert found["structures"] == 3
    assert {key: value for key, value in found["document"].items() if key != "other_structures"} == asked[
        "plan"
    ]
    assert [each["name"] for each in found["document"]["other_structures"]] == [
        "DSNDB0A_LOCK1", "DSNDB0A_SCA", "DSNDB0A_GBP0",
    ]  # fmt: skip
    refused = post_json(app, "/api/v1/other-structures", {**asked, "current": "nothing"})
    assert refused.status == 422


def test_merge_returns_a_workflow_only_if_its_policy_name_is_sent(app: FastAPI) -> None:
    asked = {"plan": SQ03, "policy": POLICY}
    assert "workflow" not in post_json(app, "/api/v1/merge", asked).json()
    answer = post_json(app, "/api/v1/merge", {**asked, "workflow_name": "NEW$1"}).json()
    result = evaluate(read_object(SQ03))
    assert answer["workflow"] == merged_workflow(result, merge(POLICY, result), "NEW$1")
    assert answer["policy"] == merge(POLICY, result).policy
    description = get(app, "/openapi.json").json()
    schema = description["paths"]["/api/v1/merge"]["post"]["responses"]["200"]["content"]["application/json"][
        "schema"
    ]
    validator(description, schema).validate(answer)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("PROD01", "PROD01 is the name of the current policy"),
        ("prod02", "a CFRM policy name has 1 to 8 characters"),
        ("", "a CFRM policy name has 1 to 8 characters"),
        ("PRODUCTION", "at most 8 characters"),
        (5, "must be text"),
    ],
)
def test_unusable_policy_name_of_a_workflow_is_refused_at_its_field(
    app: FastAPI, name: str | int, says: str
) -> None:
    answer = post_json(app, "/api/v1/merge", {"plan": SQ03, "policy": POLICY, "workflow_name": name})
    (error,) = assert_problem(answer, "input-refused", 422)["errors"]
    assert error["field"] == "/workflow_name"
    assert says in error["message"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("DEFINE POLICY NAME(PROD01) REPLACE(YES)", "", "with DEFINE POLICY and no other policy"),
        ("REBUILDPERCENT(5)", "FUTUREWORD('A B')", "has several words in quotes"),
        ("DEFINE POLICY", "WHAT IS THIS\n DEFINE POLICY", "is not a statement"),
    ],
)
def test_policy_that_a_workflow_cannot_define_is_refused(app: FastAPI, old: str, new: str, says: str) -> None:
    assert old in POLICY
    asked = {"plan": SQ03, "policy": POLICY.replace(old, new)}
    assert post_json(app, "/api/v1/merge", asked).status == 200
    problem = assert_problem(
        post_json(app, "/api/v1/merge", {**asked, "workflow_name": "PROD02"}), "input-refused", 422
    )
    assert says in problem["detail"]


def test_workflow_of_a_merged_policy_with_errors_is_refused_with_the_findings(app: FastAPI) -> None:
    asked = {"plan": SQ03, "policy": POLICY.replace("SIZE(512M)", "SIZE(512M) FUTUREWORD(A)")}
    merged = post_json(app, "/api/v1/merge", asked).json()
    errors = {each["code"] for each in merged["findings"] if each["severity"] == "error"}
    assert errors
    problem = assert_problem(
        post_json(app, "/api/v1/merge", {**asked, "workflow_name": "PROD02"}), "input-refused", 422
    )
    assert "The merged policy has errors" in problem["detail"]
    assert {each["code"] for each in problem["findings"]} == errors
