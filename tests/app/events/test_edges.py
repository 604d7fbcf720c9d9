"""The command and the REST route of simulations: inputs, answers and errors."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple

import jsonschema_rs
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.events.service import EXAMPLES, LARGEST_FILE_BYTES, read_yaml_or_json
from app.texts.documents import parse_yaml
from app.texts.example_files import ExampleFile
from planner_core.depth_events.course import Simulation
from planner_core.depth_events.file import json_schema, read_object
from planner_core.depth_events.model import READING_VALUES
from planner_core.depth_events.simulate import simulate
from planner_core.errors import InputInvalid
from planner_core.findings import catalogue
from planner_core.wire import adapter
from tests.app.web.support import assert_problem, call, post_json
from tests.planner_core.depth_events.support import Json, do, file, member, shared

ADDRESS = "/api/v1/events/simulate"
ONE_RISE = file([member("QM1")], [shared()], [do("put", "QM1", "SQ1", 800)])
SILENT = file([member("QM1", "DISABLED")], [shared()], [do("put", "QM1", "SQ1", 800)])
EACH_EXAMPLE = pytest.mark.parametrize("example", EXAMPLES, ids=[each.name for each in EXAMPLES])


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str


def cfplan(*arguments: str) -> CommandResult:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["events", "simulate", *arguments])
    return CommandResult(code, out.getvalue(), err.getvalue())


def written(folder: Path, document: Json) -> str:
    path = folder / "timeline.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


@EACH_EXAMPLE
def test_command_and_rest_return_the_same_simulation(
    example: ExampleFile, app: FastAPI, tmp_path: Path
) -> None:
    text = example.text
    path = tmp_path / "timeline.yaml"
    path.write_text(text, encoding="utf-8")
    ran = cfplan(str(path), "--json")
    assert ran.code == 0
    answer = post_json(app, ADDRESS, parse_yaml(text.encode()))
    assert answer.status == 200
    assert answer.json() == json.loads(ran.out)
    assert {"events", "switches", "findings"} <= answer.json().keys()


@EACH_EXAMPLE
def test_simulation_of_each_example_is_valid_by_its_schema(example: ExampleFile) -> None:
    found = simulate(read_yaml_or_json(example.text.encode())).as_json()
    schema = adapter(Simulation).json_schema(mode="serialization")
    jsonschema_rs.Draft202012Validator(schema).validate(found)
    assert found.keys() == schema["properties"].keys()


@EACH_EXAMPLE
def test_published_schema_accepts_the_examples(example: ExampleFile) -> None:
    document = parse_yaml(example.text.encode())
    assert isinstance(document, dict)
    validator = jsonschema_rs.Draft202012Validator(json_schema())
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "odd": 1})


def test_schema_lists_every_value_of_every_interpretation() -> None:
    properties = json_schema()["$defs"]["GivenReadings"]["properties"]
    assert {name: tuple(each["enum"]) for name, each in properties.items()} == READING_VALUES
    assert {name: each["default"] for name, each in properties.items()} == {
        name: values[0] for name, values in READING_VALUES.items()
    }


def test_every_assumption_has_a_basis_and_a_source() -> None:
    for example in EXAMPLES:
        found = simulate(read_yaml_or_json(example.text.encode())).as_json()["assumptions"]
        assert found
        assert all(each["basis"] in {"published", "derived", "assumed"} and each["source"] for each in found)


def test_command_prints_every_step_and_message(tmp_path: Path) -> None:
    ran = cfplan(written(tmp_path, ONE_RISE))
    assert ran.code == 0
    assert "QM1 put 800; depth 800; enabled: QDPLOEV QDPMAXEV" in ran.out
    assert "QM1: TimeSinceReset 0, HighQDepth 800, MsgEnqCount 800, MsgDeqCount 0" in ran.out
    assert "info: EVENT_HIGH_SPENT: " in ran.out


def test_command_with_a_warning_exits_with_1_only_with_fail_on(tmp_path: Path) -> None:
    path = written(tmp_path, SILENT)
    assert cfplan(path).code == 0
    assert cfplan(path, "--fail-on", "warning").code == 1
    assert ": no message" in cfplan(path).out


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(ONE_RISE).encode())))
    assert json.loads(cfplan("-", "--json").out)["events"][0]["reason"] == 2224


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "must not be empty"),
        (b"queues: [", "The text is not YAML"),
        (b"{", "The text is not JSON"),
        (b"\xff\xfe\xfd", "The text is not UTF-8"),
        (b"- 1\n", "must be an object with the keys"),
        (b"queue_managers: &a [*a]", "aliases are not allowed"),
        (b" " * (LARGEST_FILE_BYTES + 1), "must not be larger than"),
    ],
)
def test_unreadable_file_is_refused_with_a_reason(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "timeline.yaml"
    path.write_bytes(text)
    ran = cfplan(str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("The depth event file is not valid. ")
    assert said in ran.err


def test_missing_file_is_reported_by_name(tmp_path: Path) -> None:
    ran = cfplan(str(tmp_path / "none.yaml"))
    assert ran.code == 2
    assert "none.yaml" in ran.err
    assert cfplan(str(tmp_path)).code == 2


def test_rest_names_the_fields_with_errors(app: FastAPI) -> None:
    document = file([member("QM1")], [shared()], [do("put", "QM1", "SQ2", 800)])
    problem = assert_problem(post_json(app, ADDRESS, document), "input-refused", 422)
    assert problem["errors"] == [{"field": "/timeline/0/queue", "message": "SQ2 is not one of the queues"}]
    headers = {"content-type": "application/json"}
    refused = assert_problem(call(app, "POST", ADDRESS, headers=headers, chunks=[b"{"]), "input-refused", 422)
    assert "not JSON" in refused["detail"]
    assert_problem(call(app, "POST", ADDRESS, chunks=[b"{}"]), "unsupported-media-type", 415)


def test_one_timeline_raises_every_finding_of_the_simulator() -> None:
    two = [member("QM1"), member("QM2", "DISABLED")]
    timeline = [
        do("get", "QM1", "SQ1", 1),
        {"at": 1, "action": "reset_qstats", "queue": "SQ1", "queue_manager": "QM2"},
        do("rejected", "QM1", "SQ1", 1, at=2, reason=2192),
        do("put", "QM2", "SQ1", 100, at=3),
        do("put", "QM1", "SQ1", 700, at=4),
        do("get", "QM2", "SQ1", 600, at=5),
        do("put", "QM1", "SQ1", 700, at=6),
    ]
    found = {each["code"] for each in _answer(file(two, [shared()], timeline))["findings"]}
    assert found == {code for code in catalogue() if code.startswith("EVENT_") and code in _OURS}


_OURS = {
    "EVENT_SWITCHED_SILENTLY", "EVENT_SET_INCOMPLETE", "EVENT_HIGH_SPENT", "EVENT_READING_MATTERS",
    "EVENT_PUTS_REJECTED_OTHERWISE", "EVENT_STATISTICS_NOT_RESET", "EVENT_GETS_FOUND_NONE",
}  # fmt: skip


def _answer(document: Json) -> Json:
    return simulate(read_object(document)).as_json()


def test_findings_of_a_long_timeline_are_limited() -> None:
    queue = shared(maxdepth=10, qdepthhi=50, qdepthlo=50, depth=4)
    swings = [
        do("put", "QM1", "SQ1", 1, times=100, every_s=2),
        do("get", "QM1", "SQ1", 1, at=1, times=100, every_s=2),
    ]
    findings = _answer(file([member("QM1", "DISABLED")], [queue], swings))["findings"]
    assert sum(each["code"] == "EVENT_SWITCHED_SILENTLY" for each in findings) == 20


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    with suppress(InputInvalid):
        assert read_yaml_or_json(text.encode()).queues
