"""Equal answers over REST and on the command line, and errors that name invalid parameters."""

from __future__ import annotations

import copy
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from fastapi import FastAPI

from app.cli import main
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.questions import parameters
from planner_core.sizing.offload import Rule
from planner_core.texts.smds_job import LOADS, SmdsJobQuestion, smds_job
from planner_core.whatif.filling_up import Outage, fill_up
from planner_core.whatif.thresholds import ThresholdQuestion, advise
from tests.app.web.support import assert_problem, post_json
from tests.planner_core.whatif.filling.plans import queue, structure

PLAN = structure(
    [
        queue("S", message_bytes=4096, put_rate_per_s=200, maxdepth=100_000),
        queue("L", message_bytes=30_000, put_rate_per_s=20),
    ],
    initsize="4G",
    size="4G",
)
DOCUMENT = PLAN.model_dump(mode="json", exclude_defaults=True)


@pytest.fixture
def plan_file(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["whatif", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_rest_and_command_return_the_core_result_for_an_outage(
    app: FastAPI, plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = fill_up(PLAN).as_json()
    answer = post_json(app, "/api/v1/whatif/filling?structure=APP1", DOCUMENT)
    assert (answer.status, answer.json()) == (200, expected)
    code, out, _ = run(capsys, "filling", plan_file, "--structure", "APP1", "--json")
    assert (code, json.loads(out)) == (0, expected)


@pytest.mark.parametrize(
    ("query", "options", "load"), [("", [], "backlog"), ("?for=size", ["--for", "size"], "size")]
)
def test_rest_and_command_return_the_smds_job_for_backlog_or_size(
    app: FastAPI,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    query: str,
    options: list[str],
    load: Literal["backlog", "size"],
) -> None:
    made = {**DOCUMENT, "queue_managers": ["QM01", "QM02"]}
    made["structures"] = [{**DOCUMENT["structures"][0], "offload": {"dsgroup": "MQ.SMDS.*.APP1"}}]
    path = tmp_path / "named.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    expected = smds_job(evaluate(read_object(made)), load=load)
    answer = post_json(app, f"/api/v1/whatif/smds-job{query}", made)
    assert (answer.status, answer.json()) == (200, expected.as_json())
    assert answer.json()["for"] == load
    code, out, _ = run(capsys, "smds-job", str(path), *options)
    assert (code, out) == (0, expected.text)


def test_unknown_smds_space_option_is_refused(
    app: FastAPI, plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert post_json(app, "/api/v1/whatif/smds-job?for=half", DOCUMENT).status == 422
    code, _, err = run(capsys, "smds-job", plan_file, "--for", "half")
    assert (code, "invalid choice: 'half'" in err) == (2, True)
    assert parameters(SmdsJobQuestion)["for"].choices == LOADS


def test_every_parameter_is_passed_to_the_core(
    app: FastAPI, plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Outage(
        at="size",
        outage_minutes=Decimal("12.5"),
        rate_percent=Decimal(150),
        larger_percent=Decimal(30),
        rules=(Rule(0, 32 * 1024), Rule(60, 0)),
        data_set_bytes=2**30,
    )
    expected = fill_up(PLAN, asked).as_json()
    query = "at=size&outage_minutes=12.5&rate_percent=150&larger_percent=30&rule=0:32K&rule=60:0K&data_set_size=1G"
    answer = post_json(app, f"/api/v1/whatif/filling?structure=APP1&{query}", DOCUMENT)
    assert answer.json() == expected
    options = [
        "--at=size",
        "--outage-minutes=12.5",
        "--rate-percent=150",
        "--larger-percent=30",
        "--rule=0:32K",
    ]
    options += ["--rule=60:0K", "--data-set-size=1g"]
    _, out, _ = run(capsys, "filling", plan_file, "--structure=APP1", "--json", *options)
    assert json.loads(out) == expected


def test_rest_and_command_return_the_core_advice_on_thresholds(
    app: FastAPI, plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ThresholdQuestion(
        at="size", hold=900_000, typical=1_000, cheap_over=32 * 1024, costly_up_to=8 * 1024, explain=True
    )
    expected = advise(PLAN, asked).as_json()
    query = "at=size&hold=900000&typical=1000&cheap_over=32K&costly_up_to=8K&explain=true"
    answer = post_json(app, f"/api/v1/whatif/thresholds?structure=APP1&{query}", DOCUMENT)
    assert (answer.status, answer.json()) == (200, expected)
    options = [
        "--at=size",
        "--hold=900000",
        "--typical=1000",
        "--cheap-over=32K",
        "--costly-up-to=8K",
        "--explain",
    ]
    _, out, _ = run(capsys, "thresholds", plan_file, "--structure=APP1", "--json", *options)
    assert json.loads(out) == expected
    assert set(json.loads(out)) >= {"rules", "capacity", "findings"}


def test_commands_without_json_print_readable_lines(
    plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "filling", plan_file, "--structure=APP1")
    assert code == 0
    assert "S is at MAXDEPTH(100000): puts to it fail with reason 2053" in out
    assert "If no queue's outage ended, it would be full after" in out
    assert "warning: MAXDEPTH_DURING_OUTAGE" in out
    code, out, _ = run(capsys, "thresholds", plan_file, "--structure=APP1", "--typical=10")
    assert code == 0
    assert "OFFLD3TH(" in out
    assert "IBM's defaults" in out


def test_plan_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(DOCUMENT).encode())))
    code, out, _ = run(capsys, "filling", "-", "--structure=APP1", "--json")
    assert (code, json.loads(out)["structure"]) == (0, "APP1")


def test_warnings_fail_a_command_with_fail_on_warning(
    plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "filling", plan_file, "--structure=APP1", "--fail-on=warning")[0] == 1


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("structure=", "structure", "is required"),
        ("structure=APPX", "structure", "no application structure 'APPX'"),
        ("structure=CSQ_ADMIN", "structure", "no application structure"),
        ("structure=APP1&structure=APP1", "structure", "is specified twice"),
        ("structure=APP1&at=both", "at", "must be initsize or size"),
        ("structure=APP1&outage_minutes=long", "outage_minutes", "must be a number"),
        ("structure=APP1&outage_minutes=", "outage_minutes", "must be a number"),
        ("structure=APP1&outage_minutes=-1", "outage_minutes", "must be between 0 and 1000000"),
        ("structure=APP1&outage_minutes=nan", "outage_minutes", "must be between"),
        ("structure=APP1&outage_minutes=1e-300", "outage_minutes", "digits"),
        ("structure=APP1&rate_percent=1e6", "rate_percent", "must be between"),
        ("structure=APP1&larger_percent=101", "larger_percent", "must be between 0 and 100"),
        ("structure=APP1&rule=70", "rule", "such as 70:32K"),
        ("structure=APP1&rule=101:4K", "rule", "such as 70:32K"),
        ("structure=APP1&rule=70:65K", "rule", "such as 70:32K"),
        ("structure=APP1&rule=1:1K&rule=1:1K&rule=1:1K&rule=1:1K", "rule", "at most 3 times"),
        ("structure=APP1&data_set_size=17T", "data_set_size", "at most 16T"),
        ("structure=APP1&data_set_size=0K", "data_set_size", "at most 16T"),
        ("structure=APP1&minutes=5", "minutes", "is not a parameter of this question"),
        ("structure=APP1&outage_minute=5", "outage_minute", "did you mean outage_minutes?"),
    ],
)
def test_refusal_of_an_invalid_parameter_names_it(app: FastAPI, query: str, field: str, message: str) -> None:
    found = assert_problem(post_json(app, f"/api/v1/whatif/filling?{query}", DOCUMENT), "input-refused", 422)
    assert [error["field"] for error in found["errors"]] == [field]
    assert message in found["errors"][0]["message"]


@pytest.mark.parametrize("question", ["recovery", "thresholds"])
def test_invalid_explain_parameter_is_refused(app: FastAPI, question: str) -> None:
    answer = post_json(app, f"/api/v1/whatif/{question}?explain=x&fill_percent=-1&hold=-1", DOCUMENT)
    found = assert_problem(answer, "request-invalid", 422)
    assert found["errors"] == [{"field": "explain", "message": "must be true or false"}]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--hold=0", "between 1 and"),
        ("--hold=1.5", "whole number"),
        ("--typical=-1", "whole number"),
        ("--margin-percent=100", "between 0 and 99"),
        ("--cheap-over=64K", "0K to 63K"),
        ("--costly-up-to=5000", "0K to 63K"),
    ],
)
def test_unreadable_option_value_is_reported_with_a_message(
    plan_file: str, option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "thresholds", plan_file, "--structure=APP1", option)
    assert (code, out) == (2, "")
    assert message in err
    assert option.split("=")[0].lstrip("-").replace("-", "_") in err


def test_structure_is_optional_if_the_plan_has_only_one(
    app: FastAPI, plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = post_json(app, "/api/v1/whatif/filling?structure=APP1", DOCUMENT)
    assert post_json(app, "/api/v1/whatif/filling", DOCUMENT).json() == named.json()
    assert run(capsys, "thresholds", plan_file)[0] == 0
    two = {**DOCUMENT, "structures": [*DOCUMENT["structures"], {"name": "APP2"}]}
    found = assert_problem(post_json(app, "/api/v1/whatif/thresholds", two), "input-refused", 422)
    assert found["errors"] == [{"field": "structure", "message": "is required: the plan has APP1, APP2"}]


def test_impossible_plan_is_refused_with_its_findings(
    app: FastAPI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document: dict[str, Any] = {**DOCUMENT, "queue_managers": 33}
    found = assert_problem(
        post_json(app, "/api/v1/whatif/filling?structure=APP1", document), "plan-refused", 422
    )
    assert found["findings"][0]["code"] == "TOO_MANY_QUEUE_MANAGERS"
    path = tmp_path / "large.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    code, out, err = run(capsys, "filling", str(path), "--structure=APP1", "--json")
    assert code == 1
    assert json.loads(out)["findings"][0]["code"] == "TOO_MANY_QUEUE_MANAGERS"
    assert "33" in err


def test_structure_that_fills_during_the_outage_is_reported_as_full(
    plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(
        capsys, "filling", plan_file, "--structure=APP1", "--outage-minutes=100000", "--rate-percent=1000"
    )
    assert "\nIt is full after " in out
    assert "would be full" not in out


def test_printed_interval_equals_the_json_one_or_is_absent_if_none_suffices(
    plan_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    persistent = copy.deepcopy(DOCUMENT)
    for each in persistent["structures"][0]["queues"]:
        each["persistent"] = True
    Path(plan_file).write_text(json.dumps(persistent), encoding="utf-8")
    found = set()
    for minutes in (1, 60, 7):
        _, said, _ = run(capsys, "recovery", plan_file, f"--recovery-minutes={minutes}")
        _, out, _ = run(capsys, "recovery", plan_file, f"--recovery-minutes={minutes}", "--json")
        for each in json.loads(out)["structures"]:
            (line,) = [line for line in said.splitlines() if line.startswith(f"{each['structure']} ")]
            longest = each["longest_interval_minutes"]
            found.add(longest if not longest else "some")
            if longest:
                assert line.endswith(f" {longest:.1f} min")
            elif longest == 0:
                assert line.endswith(" none")
    assert {0, "some"} <= found
