"""Policies in JSON of z/OSMF wherever a policy text is accepted: commands, routes, pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.cli import main
from app.running.texts import running_example
from app.texts.documents import example_text
from tests.app.running.test_pages import page, post
from tests.app.web.support import SQ03, post_json
from tests.planner_core.running.test_exported import APPLICATION, exported

TEXT = json.dumps(
    exported(APPLICATION, {"name": "DSNDB0A_LOCK1", "size": 131072, "preflist": ["CF01", "CF02"]})
)
READ = "POLICY_JSON_READ"


def codes(answer: dict[str, object]) -> set[str]:
    findings = answer["findings"]
    assert isinstance(findings, list)
    return {each["code"] for each in findings}


QUESTIONS: dict[str, dict[str, object]] = {
    "lint": {"text": TEXT},
    "merge": {"plan": SQ03, "policy": TEXT},
    "diff": {"plan": SQ03, "current": TEXT},
    "plan-from-running": {"current": [TEXT, running_example().displays], "qsg": "SQ03", "queue_managers": 2},
    "other-structures": {"plan": SQ03, "current": TEXT},
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_routes_read_json_and_ask_for_the_unit(app: FastAPI, name: str) -> None:
    answer = post_json(app, f"/api/v1/{name}", QUESTIONS[name] | {"size_unit": "K"})
    assert answer.status == 200, answer.text
    assert {READ, "POLICY_JSON_NOT_CARRIED"} <= codes(answer.json())
    refused = post_json(app, f"/api/v1/{name}", QUESTIONS[name])
    assert refused.status == 422
    assert [each["field"] for each in refused.json()["errors"]] == ["/size_unit"]


def test_values_are_those_of_the_json(app: FastAPI) -> None:
    merged = post_json(app, "/api/v1/merge", QUESTIONS["merge"] | {"size_unit": "K"}).json()
    assert "STRUCTURE NAME(DSNDB0A_LOCK1)\n" in merged["policy"]
    [change] = [
        each
        for each in merged["changes"]
        if (each["structure"], each["keyword"]) == ("SQ03APPLICATION1", "SIZE")
    ]
    assert change["before"] == "524288"
    others = post_json(app, "/api/v1/other-structures", QUESTIONS["other-structures"] | {"size_unit": "M"})
    [lock] = [
        each for each in others.json()["document"]["other_structures"] if each["name"] == "DSNDB0A_LOCK1"
    ]
    assert lock["size"] in {"128G", "131072M", "134217728K"}


def test_findings_on_values_have_the_pointer_instead_of_a_line(app: FastAPI) -> None:
    text = json.dumps(exported(APPLICATION | {"fullthreshold": 101}))
    found = post_json(app, "/api/v1/lint", {"text": text, "size_unit": "K"}).json()["findings"]
    [invalid] = [each for each in found if each["code"].startswith("POLICY_VALUE")]
    assert invalid["line"] is None
    assert invalid["message"].startswith("/policy/0/structure/0/fullthreshold: ")


def test_errors_name_the_field_and_the_pointer(app: FastAPI) -> None:
    text = json.dumps(exported(APPLICATION | {"name": "bad name"}))
    asked = {"plan": SQ03, "current": [running_example().policy, text]}
    answer = post_json(app, "/api/v1/diff", asked | {"size_unit": "K"})
    assert answer.status == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["/current/1/policy/0/structure/0/name"]


def test_commands_read_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, plan = tmp_path / "policy.json", tmp_path / "plan.yaml"
    policy.write_text(TEXT, encoding="utf-8")
    plan.write_text(example_text(), encoding="utf-8")
    displays = tmp_path / "displays.txt"
    displays.write_text(running_example().displays, encoding="utf-8")
    for command, code in (
        (["lint", str(policy)], (0, 1)),
        (["merge", str(plan), "--policy", str(policy)], (0, 1)),
        (["diff", str(plan), "--current", str(policy)], (0, 1)),
        (["from-running", str(policy), str(displays), "--qsg", "SQ03", "--queue-managers", "2"], (0,)),
        (["other-structures", str(plan), str(policy)], (0,)),
    ):
        assert main([*command, "--size-unit", "K"]) in code
        told = capsys.readouterr()
        assert "POLICY_JSON_NOT_CARRIED" in told.out + told.err
        assert main(command) == 2
        assert "/policy/0/cf/0/dumpspace" not in (refusal := capsys.readouterr().err)
        assert "/policy/0/structure/0/size is 524288, a number without a unit" in refusal


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/lint", {"text": TEXT}),
        ("/merge", {"plan": ".example", "policy": TEXT}),
        ("/running", {"plan": ".example", "current": TEXT}),
        ("/plan-from-running", {"current": TEXT, "qsg": "SQ03", "queue_managers": "2"}),
    ],
)
def test_pages_read_json_and_ask_for_the_unit(app: FastAPI, path: str, fields: dict[str, str]) -> None:
    asked = page(post(app, path, fields), 422)
    assert "a number without a unit" in asked.text
    shown = page(post(app, path, fields | {"size_unit": "K"}))
    assert "IBM's description of the interface does not list these members" in shown.text
