"""The commands and the REST routes of decisions and loads give equal answers and clear error messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.cli import main
from app.clusters.service import EXAMPLES, LARGEST_FILE_BYTES
from app.texts.documents import example_text, parse_yaml
from app.texts.example_files import ExampleFile
from tests.app.web.support import Json, assert_problem, call, post_json

DECIDE, LOAD = "/api/v1/cluster/decide", "/api/v1/cluster/load"
FOLDER = Path(__file__).parents[4] / "app/examples"
EVERY_EXAMPLE = pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
CHOSEN = {
    ("retrying", "seed"): ["B", "C"],
    ("retrying", "ibm"): ["B", "C"],
    ("rank-holds", "seed"): ["A"],
    ("rank-holds", "ibm"): ["A"],
    ("orders-differ", "seed"): [],
    ("orders-differ", "ibm"): ["B", "C"],
    ("shared-queue", "seed"): ["NEWYORK", "P1", "P2", "P3"],
    ("shared-queue", "ibm"): ["NEWYORK", "P1", "P2", "P3"],
}


def printed_json(capsys: pytest.CaptureFixture[str]) -> Json:
    return json.loads(capsys.readouterr().out)


@EVERY_EXAMPLE
@pytest.mark.parametrize("mode", ["seed", "ibm"])
def test_decide_command_and_rest_return_the_same_answer(
    app: FastAPI, example: ExampleFile, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(FOLDER / "cluster" / f"{example.name}.yaml")
    assert main(["cluster", "decide", file, "--mode", mode, "--json"]) == 0
    answer = printed_json(capsys)
    assert answer["chosen"] == CHOSEN[example.name, mode]
    found = post_json(app, f"{DECIDE}?mode={mode}", parse_yaml(example.text.encode()))
    assert (found.status, found.media_type) == (200, "application/json")
    assert found.json() == answer


def test_decide_command_prints_the_steps_and_the_chosen_destinations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["cluster", "decide", str(FOLDER / "cluster/orders-differ.yaml")]) == 0
    text = capsys.readouterr().out
    assert "eliminated: A through TO.A: the queue is PUT(DISABLED) there" in text
    assert "chosen: none: the put fails" in text
    assert "CLUSTER_MODES_DIFFER" in text


def test_decide_command_with_fail_on_warning_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(FOLDER / "cluster/orders-differ.yaml")
    assert main(["cluster", "decide", file, "--fail-on", "warning"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("instances: [", "not YAML"),
        ("[1]", "must be an object with instances"),
        ("instances: []", "/instances: is empty: it needs at least 1 item"),
        ("instances: [{queue_manager: A, clwlrank: 10}]", "/instances/0/clwlrank"),
        ("instances: [{queue_manager: A, colour: red}]", "/instances/0/colour"),
        ("instances: [{queue_manager: A, local: true}, {queue_manager: B, local: true}]", "/instances/1/local"),
        ("{message: {held_for: X}, instances: [{queue_manager: A}]}", "/message/held_for"),
        ("{message: {channel_fails: true}, instances: [{queue_manager: A}]}", "/message/channel_fails"),
        ("instances: [{queue_manager: A, channels: [{}, {}]}]", "/instances/0/channels/1/channel"),
        (" " * (LARGEST_FILE_BYTES + 1), "larger than"),
    ],
)  # fmt: skip
def test_decide_command_with_an_invalid_input_prints_the_error(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "queue.yaml"
    file.write_text(text)
    assert main(["cluster", "decide", str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert told.err.startswith("The input of the decision is not valid.")


def test_decide_command_with_a_missing_file_prints_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "decide", "nowhere.yaml"]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_rest_decide_names_an_invalid_field(app: FastAPI) -> None:
    answer = post_json(app, DECIDE, {"instances": [{"queue_manager": "A", "put": "perhaps"}]})
    problem = assert_problem(answer, "input-refused", 422)
    assert problem["errors"] == [{"field": "/instances/0/put", "message": "must be ENABLED or DISABLED"}]


def test_rest_decide_refuses_an_unknown_mode(app: FastAPI) -> None:
    assert_problem(
        post_json(app, f"{DECIDE}?mode=both", {"instances": [{"queue_manager": "A"}]}), "request-invalid", 422
    )


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"instances": 1}'])
def test_rest_decide_refuses_an_invalid_body(app: FastAPI, body: bytes) -> None:
    answer = call(app, "POST", DECIDE, headers={"content-type": "application/json"}, chunks=[body])
    assert_problem(answer, "input-refused", 422)


def test_load_command_and_rest_return_the_same_answer(
    app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", "load", str(FOLDER / "inventory.yaml"), "--json"]) == 0
    answer = printed_json(capsys)
    document = parse_yaml(example_text("inventory.yaml").encode())
    assert post_json(app, LOAD, document).json() == answer
    result = post_json(app, "/api/v1/size", document).json()
    assert result["clusters"] == {name: answer[name] for name in ("flows", "structures", "assumptions")}
    assert answer["qsg"] == "SQ03"
    assert [item["code"] for item in answer["findings"]] == [
        item["code"] for item in result["findings"] if item["code"].startswith("CLUSTER_")
    ]


def test_load_command_prints_rates_and_failures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "load", str(FOLDER / "inventory.yaml")]) == 0
    text = capsys.readouterr().out
    assert "shared queue of SQ03: 750 (75 %)" in text
    assert "queue manager NEWYORK fails: 975 a second (+30.0 %)" in text  # 10 % are bound
    assert main(["cluster", "load", str(FOLDER / "sq03.yaml")]) == 0
    assert "The plan has no clusters" in capsys.readouterr().out


def test_rest_load_refuses_an_incomplete_plan(app: FastAPI) -> None:
    assert_problem(post_json(app, LOAD, {"qsg": "SQ03"}), "document-invalid", 422)
