"""`cfplan cluster explain` and POST /api/v1/cluster/explain give equal answers and error messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.cli import main
from app.clusters.explaining import EXAMPLES, ExplanationExample
from tests.app.web.support import Json, assert_problem, call, post_json
from tests.planner_core.clusters.waiting.support import clusqmgr, display, dump, qcluster

ADDRESS = "/api/v1/cluster/explain"
REASONS = {
    "runmqsc": [
        "most_favoured",
        "not_eligible",
        "only_choice",
        "not_redriven",
        "not_eligible",
        "channel_works",
    ],
    "zos": ["not_redriven", "not_eligible", "most_favoured", "unknown"],
}
FOLDER = Path(__file__).parents[4] / "app/examples/waiting"
EVERY_EXAMPLE = pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)


def files(example: ExplanationExample) -> list[str]:
    return [str(FOLDER / example.displays_file), "--messages", str(FOLDER / example.messages_file)]


def printed_json(capsys: pytest.CaptureFixture[str]) -> Json:
    return json.loads(capsys.readouterr().out)


@EVERY_EXAMPLE
def test_explain_command_returns_a_reason_for_each_message(
    example: ExplanationExample, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", "explain", *files(example), "--json"]) == 0
    answer = printed_json(capsys)
    assert [each["reason"] for each in answer["messages"]] == REASONS[example.name]
    assert sum(answer["counts"].values()) == len(answer["messages"])


@EVERY_EXAMPLE
def test_explain_command_and_rest_return_the_same_answer(
    app: FastAPI, example: ExplanationExample, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["cluster", "explain", *files(example), "--json"])
    found = post_json(app, ADDRESS, {"displays": example.displays, "messages": example.messages})
    assert (found.status, found.media_type) == (200, "application/json")
    assert found.json() == printed_json(capsys)


def test_explain_command_prints_channels_messages_and_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "explain", *files(EXAMPLES[0])]) == 0
    text = capsys.readouterr().out
    assert "TO.NEWYORK RETRYING: 3: 1 not eligible, 1 only one destination, 1 still most favored" in text
    assert "Next attempt at about 2026-11-21 12:07:41 UTC." in text
    assert "     1  INVENTQ for NEWYORK: still most favored" in text
    assert "warning: CLUSTER_RANK_HOLDS_MESSAGES" in text
    assert "assumed: Attempts to connect are assumed to take no time" in text


def test_explain_command_reads_displays_from_several_files_and_a_pipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    queues = tmp_path / "queues.txt"
    queues.write_bytes(display(qcluster("Q1", "A"), qcluster("Q1", "B")).encode("latin-1") + b"\xe9\n")
    browse = tmp_path / "browse.txt"
    browse.write_text(dump({"channel": "TO.A", "queue": "Q1", "queue_manager": "A"}))
    piped = display(clusqmgr("A", STATUS="RETRYING"), clusqmgr("B")).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
    assert main(["cluster", "explain", "-", str(queues), "--messages", str(browse), "--json"]) == 0
    assert printed_json(capsys)["messages"][0]["goes_to"] == ["B through TO.B"]


def test_explain_command_with_fail_on_warning_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "explain", *files(EXAMPLES[0]), "--fail-on", "warning"]) == 1
    capsys.readouterr()


def test_explain_command_uses_the_given_times_and_mode(capsys: pytest.CaptureFixture[str]) -> None:
    more = [
        "--failed-at",
        "2026-11-21T09:00:00Z",
        "--at",
        "2026-11-21T10:20:00+01:00",
        "--mode",
        "ibm",
        "--json",
    ]
    assert main(["cluster", "explain", *files(EXAMPLES[1]), *more]) == 0
    answer = printed_json(capsys)
    retry = next(each for each in answer["channels"] if each["channel"] == "TO.MQB1")["next_retry"]
    assert retry["at"] == "2026-11-21T09:30:00Z"
    assert (answer["mode"], answer["messages"][2]["evaluated_since"]) == ("ibm", True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing-there.txt", "--messages", "nothing-there.csv"], "cannot be read: No such file"),
        ([str(FOLDER / "displays.txt"), "--messages", str(FOLDER / "displays.txt")], "contains no messages"),
        ([*files(EXAMPLES[0]), "--at", "noon"], "'noon' is not a time such as"),
        (
            [*files(EXAMPLES[0]), "--at", "2026-11-21T09:00", "--failed-at", "2026-11-21T10:00"],
            "is before failed_at",
        ),
        ([str(FOLDER / "displays.txt")], "--messages"),
        ([str(FOLDER), "--messages", str(FOLDER)], "Is a directory"),
    ],
)
def test_explain_command_with_invalid_input_exits_with_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", "explain", *arguments]) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert (said.out, "Traceback" in said.err) == ("", False)


def test_rest_explain_accepts_messages_as_a_list_of_objects(app: FastAPI) -> None:
    displays = [
        display(clusqmgr("A", STATUS="RETRYING"), clusqmgr("B")),
        display(qcluster("Q1", "A"), qcluster("Q1", "B")),
    ]
    messages = [{"channel": "TO.A", "queue": "Q1", "bind": "NOTFIXED"}, {"channel": "TO.A", "colour": "red"}]
    answer = post_json(app, ADDRESS, {"displays": displays, "messages": messages, "queue": "Q1"}).json()
    assert [each["reason"] for each in answer["messages"]] == ["not_redriven", "unknown"]
    assert answer["problems"] == [
        {"text": "messages", "line": 1, "message": "Message 2: the unknown key 'colour' is ignored."}
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"displays": "", "messages": ""}, "/messages"),
        ({"displays": ""}, "/messages"),
        ({"displays": 7, "messages": "x"}, "/displays"),
        ({"displays": ["x"] * 51, "messages": [{"channel": "A"}]}, "/displays"),
        ({"displays": "", "messages": [{"channel": "A"}], "failed_at": "noon"}, "/failed_at"),
        ({"displays": "", "messages": [{"channel": "A"}], "mode": "best"}, "/mode"),
        ({"displays": "", "messages": [{"channel": "A"}], "colour": "red"}, "/colour"),
        ([], ""),
    ],
)
def test_rest_explain_names_an_invalid_field(app: FastAPI, body: object, field: str) -> None:
    problem = assert_problem(post_json(app, ADDRESS, body), "input-refused", 422)
    assert [each["field"][: len(field)] for each in problem["errors"]] == [field]


def test_rest_explain_reports_why_a_browse_is_refused(app: FastAPI) -> None:
    problem = assert_problem(
        post_json(app, ADDRESS, {"displays": "", "messages": "some words"}), "input-refused", 422
    )
    assert "line 1: This is neither a dump of messages" in problem["detail"]


def test_rest_explain_refuses_an_invalid_body(app: FastAPI) -> None:
    answer = call(app, "POST", ADDRESS, headers={"content-type": "application/json"}, chunks=[b"{"])
    assert_problem(answer, "input-refused", 422)
    assert call(app, "POST", ADDRESS, headers={"content-type": "text/plain"}, chunks=[b"x"]).status == 415
