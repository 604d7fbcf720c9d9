"""Advice on queue depths and measured rates, by command line and REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from app.cli import main
from app.events.examples import rates_request
from app.main import create_app
from app.settings import read_settings
from planner_core.depth_events.advice import PlanDepthAdvice
from planner_core.depth_events.measured import PlanWithRates
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.wire import Answer, adapter
from tests.app.web.support import SQ03, post_json
from tests.planner_core.plans import varied

QUEUE = {
    "name": "Q1",
    "message_bytes": 2048,
    "backlog": 1000,
    "maxdepth": 999_999_999,
    "qdphiev": "ENABLED",
    "put_rate_per_s": 4,
    "get_rate_per_s": 1,
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401
    return create_app(read_settings(data_dir=tmp_path_factory.mktemp("data")))


def written(folder: Path, document: object) -> str:
    file = folder / "plan.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def assert_valid(answer: object, kind: type[Answer]) -> None:
    schema = adapter(kind).json_schema(mode="serialization")
    jsonschema_rs.Draft202012Validator(schema).validate(answer)


def test_advise_command_and_rest_return_the_advice_for_the_plan(
    app: Any,  # noqa: ANN401
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = varied(structures__0__queues=[QUEUE], perfmev="ENABLED")
    assert main(["events", "advise", written(tmp_path, document), "--json"]) == 0
    by_command = json.loads(capsys.readouterr().out)
    by_rest = post_json(app, "/api/v1/events/advise", document).json()
    assert by_command == by_rest
    assert_valid(by_rest, PlanDepthAdvice)
    result: Any = evaluate(read_object(document)).as_json(depths=True)
    assert [each["depth_events"] for each in by_rest["structures"]] == [
        result["structures"][1]["depth_events"]
    ]
    assert "MAXDEPTH_UNLIMITED_WITH_EVENTS" in {each["code"] for each in by_rest["findings"]}
    assert {each["code"] for each in by_rest["findings"]} < {each["code"] for each in result["findings"]}


def test_depths_option_adds_advice_for_each_queue(
    app: Any,  # noqa: ANN401
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = varied(structures__0__queues=[QUEUE])
    whole: Any = evaluate(read_object(document)).as_json(depths=True)
    assert post_json(app, "/api/v1/size?depths=true", document).json() == whole
    assert post_json(app, "/api/v1/size", document).json() == evaluate(read_object(document)).as_json()
    assert main(["plan", written(tmp_path, document), "--depths"]) == 0
    assert json.loads(capsys.readouterr().out) == whole


def test_fail_on_warning_gives_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, varied(structures__0__queues=[QUEUE]))
    assert main(["events", "advise", file]) == 0
    assert main(["events", "advise", file, "--fail-on", "warning"]) == 1
    assert "MAXDEPTH(999999999)" in capsys.readouterr().out


def test_plan_error_gives_exit_code_1_and_invalid_document_gives_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = varied(structures__0__queues=[{**QUEUE, "qdepthhi": 1, "qdepthlo": 2}])
    assert main(["events", "advise", written(tmp_path, wrong)]) == 1
    assert main(["events", "advise", written(tmp_path, {"qsg": "Q", "perfmev": "MAYBE"})]) == 2
    assert "perfmev" in capsys.readouterr().err
    assert main(["events", "advise", str(tmp_path / "none")]) == 2


def test_structure_too_small_for_the_backlog_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def advised(initsize: str, size: str) -> tuple[int, set[str]]:
        structure = {
            "name": "APPLICATION1",
            "initsize": initsize,
            "size": size,
            "queues": [{"name": "A.Q1", "message_bytes": 2048, "backlog": 300_000}],
        }
        plan = {"qsg": "QSG1", "queue_managers": 3, "structures": [structure]}
        assert main(["events", "advise", written(tmp_path, plan), "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        (queue,) = answer["structures"][0]["depth_events"]["queues"]
        return queue["maxdepth"], {each["code"] for each in answer["findings"]}

    maxdepth, told = advised("512M", "512M")
    assert maxdepth < 300_000
    assert told == {"INITSIZE_BELOW_NEED", "SIZE_BELOW_NEED"}
    maxdepth, told = advised("1200M", "1800M")
    assert maxdepth >= 300_000
    assert told == set()


def test_rates_command_and_rest_return_the_document_with_measured_rates(
    app: Any,  # noqa: ANN401
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    request = rates_request()
    sets = tmp_path / "sets.json"
    sets.write_text(json.dumps({"sets": request["sets"]}), encoding="utf-8")
    plan = written(tmp_path, request["document"])
    assert main(["events", "rates", plan, "--sets", str(sets), "--json"]) == 0
    by_command = json.loads(capsys.readouterr().out)
    by_rest = post_json(app, "/api/v1/events/rates", request).json()
    assert by_command == by_rest
    assert_valid(by_rest, PlanWithRates)
    assert by_rest["taken"][0]["queue"] == "APP.SHARED.Q1"
    assert main(["events", "rates", plan, "--sets", str(sets)]) == 0
    captured = capsys.readouterr()
    assert "queue_manager_rates:" in captured.out
    assert "APP.SHARED.Q1: " in captured.err
    (tmp_path / "rated.yaml").write_text(captured.out, encoding="utf-8")
    assert main(["events", "advise", str(tmp_path / "rated.yaml")]) == 0
    assert "all queues at their net rates" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("request_body", "field"),
    [
        ([], ""),
        ({"document": SQ03}, "/sets"),
        ({"document": SQ03, "sets": [], "more": 1}, "/more"),
        ({"document": SQ03, "sets": [], "using": "none"}, "/using"),
        ({"document": {"qsg": "SQ03"}, "sets": []}, "/document/queue_managers"),
        ({"document": SQ03, "sets": [{}]}, "/sets/0/queue"),
    ],
)
def test_invalid_rates_requests_are_refused_with_their_fields(
    app: Any,  # noqa: ANN401
    request_body: object,
    field: str,
) -> None:
    answer = post_json(app, "/api/v1/events/rates", request_body)
    assert answer.status == 422
    assert field in [each["field"] for each in answer.json()["errors"]]


def test_impossible_plan_is_refused(app: Any) -> None:  # noqa: ANN401
    assert post_json(app, "/api/v1/events/advise", {**SQ03, "queue_managers": 40}).status == 422
