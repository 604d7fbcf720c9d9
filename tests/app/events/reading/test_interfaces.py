"""The command, REST and the page give equal answers, and report errors with their position."""

from __future__ import annotations

import argparse
import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from fastapi import FastAPI

from app.cli import main
from app.events.examples import events_request
from app.events.read_cli import _add_options
from app.events.reading import example_text, known_from_texts
from planner_core.depth_events.reading import EventReading
from planner_core.depth_events.sets import QueueFacts
from planner_core.errors import InputInvalid
from planner_core.wire import adapter
from tests.app.web.pages.html import Element
from tests.app.web.pages.html import read as read_html
from tests.app.web.support import Answer, assert_problem, call, get, post_json
from tests.planner_core.depth_events.reading.support import EventValues, as_lines, mqmd, pcf

READ = "/api/v1/events/read"
EXAMPLE = "/events/read?example=three-members"
BOUNDARY = "a-boundary-of-this-test"


# ---- the address -------------------------------------------------------------------------------------------------------


def test_rest_response_for_the_example_matches_its_schema(app: FastAPI) -> None:
    answer = post_json(app, READ, events_request())
    assert answer.status == 200
    document = answer.json()
    schema = adapter(EventReading).json_schema(mode="serialization")
    jsonschema_rs.Draft202012Validator(schema).validate(document)
    assert document.keys() == schema["properties"].keys()
    assert [each["reason"] for each in document["sets"]] == [2224, 2053, 2225, 2224]
    assert [each["reconciliation"]["unreconciled"] for each in document["sets"]] == [0, 0, 0, 100]
    assert [[missing["cause"] for missing in each["missing"]] for each in document["sets"]] == [
        [],
        [],
        ["not_active"],
        ["perfmev_disabled"],
    ]
    assert [each["code"] for each in document["findings"]] == [
        "READ_SET_GETS_STOPPED",
        "READ_SET_INCOMPLETE",
        "READ_SET_INCOMPLETE",
        "READ_SET_UNRECONCILED",
    ]


def test_rest_read_accepts_a_file_in_base64(app: FastAPI) -> None:
    told = EventValues(correl_id="AB" * 24)
    data = base64.b64encode(mqmd(told) + pcf(told)).decode()
    document = post_json(app, READ, {"files": [{"name": "MQP1", "base64": data}]}).json()
    assert document["files"][0]["format"] == "pcf_with_mqmd"
    assert document["sets"][0]["correl_id"] == "AB" * 24


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"files": []}, "/files", "is empty: it needs at least 1 item"),
        ({"files": [{"name": "a"}]}, "/files/0", "either `text` or `base64`"),
        ({"files": [{"text": "x", "base64": "eA=="}]}, "/files/0", "either `text` or `base64`"),
        ({"files": [{"base64": "?"}]}, "/files/0/base64", "must be valid base64"),
        ({"files": [{"text": "  \n"}]}, "/files/0", "must not be empty"),
        ({"files": [{"name": "notes", "text": "hello"}]}, "/files/0", "notes: The format is not supported"),
        ({"members": ["NO NAME"]}, "/members/0", ""),
        ({"members": ["QM1"] * 33}, "/members", "has 33 items: at most 32 items are allowed"),
        ({"perfmev": {"QM1": "ON"}}, "/perfmev/QM1", ""),
        ({"queues": {"SQ1": {"maxdepth": -1}}}, "/queues/SQ1/maxdepth", ""),
        ({"queues": {"SQ1": {"qdepthhi": 101}}}, "/queues/SQ1/qdepthhi", ""),
        ({"window_s": 3601}, "/window_s", ""),
        ({"what": 1}, "/what", "is not a key of the request"),
    ],
)
def test_request_with_errors_is_refused_with_their_fields(
    app: FastAPI, change: dict[str, Any], field: str, words: str
) -> None:
    problem = assert_problem(post_json(app, READ, {**events_request(), **change}), "input-refused", 422)
    assert [each["field"] for each in problem["errors"]] == [field]
    assert words in problem["errors"][0]["message"]


def test_body_that_is_not_json_is_refused(app: FastAPI) -> None:
    answer = call(app, "POST", READ, headers={"content-type": "application/json"}, chunks=[b"{"])
    assert_problem(answer, "input-refused", 422)
    assert call(app, "POST", READ, headers={"content-type": "text/plain"}, chunks=[b"{}"]).status == 415


# ---- names -------------------------------------------------------------------------------------------------------------

NAMES = "READ_NAME_NOT_IN_EVENTS"


@pytest.mark.parametrize(
    ("arguments", "field", "says"),
    [
        (["--queue", "QUEUE(SQ9) MAXDEPTH(10)"], "/queues", "No event names SQ9: the values entered for it are not used."),
        (["--depth-before", "SQ9=5"], "/queues", "The events name APP.SHARED.Q1."),
        (
            ["--depth-before", "app.shared.q1=5", "--depth-before", "A=1"],
            "/queues",
            "No event names A and app.shared.q1: the values entered for them are not used. app.shared.q1 is not APP.SHARED.Q1",
        ),
        (["--members", "qm1,QM2"], "/members", "No event names qm1, which was entered as a member of the group. qm1 is not QM1"),
        (["--perfmev", "qm2=DISABLED"], "/members", "MQ names are case-sensitive."),
    ],
)  # fmt: skip
def test_given_names_without_events_are_reported(
    arguments: list[str], field: str, says: str, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, str(files["events"]), "--json", *arguments)
    (found,) = [each for each in json.loads(out)["findings"] if each["code"] == NAMES]
    assert (found["severity"], found["field"]) == ("warning", field)
    assert says in found["message"]


def test_displayed_queues_without_events_are_not_reported(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = ["--members", "QM1,QM2,QM3,QM9", "--depth-before", "APP.SHARED.Q1=0"]
    more = tmp_path / "more.txt"
    more.write_text(f"{files['display'].read_text()}QUEUE(OTHER) QSGDISP(SHARED) MAXDEPTH(1)\n")
    _, out, _ = run(capsys, str(files["events"]), "--json", *right, "--display", str(more))
    assert NAMES not in {each["code"] for each in json.loads(out)["findings"]}
    more.write_text("QUEUE(OTHER) QSGDISP(SHARED) MAXDEPTH(1)\n")
    _, out, _ = run(capsys, str(files["events"]), "--json", "--display", str(more))
    assert NAMES in {each["code"] for each in json.loads(out)["findings"]}


def test_rest_queues_without_events_are_reported(app: FastAPI) -> None:
    document = post_json(app, READ, {**events_request(), "queues": {"SQ9": {"depth_before": 1}}}).json()
    assert NAMES in {each["code"] for each in document["findings"]}


# ---- the command -------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["events", "read", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return the example, a display of its queue, and an invalid file."""
    texts = {
        "events": example_text(),
        "display": "QUEUE(APP.SHARED.Q1) QSGDISP(SHARED) MAXDEPTH(1000) QDEPTHHI(80) QDEPTHLO(20)\n",
        "notes": "hello\n",
        "empty": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in texts}


def test_read_command_and_rest_return_the_same_answer(
    app: FastAPI, capsys: pytest.CaptureFixture[str], files: dict[str, Path]
) -> None:
    code, out, _ = run(
        capsys, str(files["events"]), "--members", "QM1,QM2,QM3", "--display", str(files["display"]), "--json"
    )
    answered = post_json(app, READ, events_request()).json()
    assert code == 0
    told = json.loads(out)
    for document in (told, answered):
        for part in (*document["files"], *document["events"]):
            part.pop("name", None), part.pop("file", None)
        for each in document["sets"]:
            for member in each["members"]:
                member.pop("file")
    assert told == answered


def test_command_prints_sets_as_lines(capsys: pytest.CaptureFixture[str], files: dict[str, Path]) -> None:
    code, out, _ = run(
        capsys, str(files["events"]), "--members", "QM1 QM2 QM3", "--queue", files["display"].read_text()
    )
    assert code == 0
    assert "     QM3  0 puts, 0 gets in 120 s, HighQDepth 0: null event\n" in out
    assert "     depth 200 + 550 - 50 = 700, the event shows 800, unreconciled 100\n" in out
    assert "warning: READ_SET_UNRECONCILED: Set 4" in out


def test_events_are_read_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_lines(EventValues()))))
    code, out, _ = run(capsys, "-")
    assert (code, out.splitlines()[0]) == (0, "standard input: amqsevt, JSON, 1 event")


def test_fail_on_warning_gives_exit_code_1(
    capsys: pytest.CaptureFixture[str], files: dict[str, Path]
) -> None:
    events = str(files["events"])
    assert run(capsys, events, "--members", "QM1,QM2,QM3", "--fail-on", "warning")[0] == 1
    assert run(capsys, events, "--members", "QM1,QM2,QM3")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{notes}"], "notes: The format is not supported"),
        (["{empty}"], "must not be empty"),
        (["{events}", "/not/there"], "/not/there: cannot be read: No such file"),
        (["{events}", "--members", "QM 1,Q*"], "'Q*' is not the name of a queue manager"),
        (["{events}", "--perfmev", "QM1=MAYBE"], "'QM1=MAYBE' is not of the form QM1=ENABLED"),
        (["{events}", "--queue", "hello"], "must have attributes such as QUEUE(SQ1)"),
        (
            ["{events}", "--queue", "QUEUE(SQ1) MAXDEPTH(lots)"],
            "line 1: MAXDEPTH(lots) is not a whole number",
        ),
        (["{events}", "--depth-before", "SQ1"], "such as SQ1=0"),
        (["{events}", "--window", "-1"], "--window: -1 is not between 0 and 3600"),
        (["{events}", "--window", "1.200"], "may have a thousands separator: write 1200"),
        (["{events}", "--window", "3601"], "is not between 0 and 3600"),
        ([], "required"),
    ],
)
def test_invalid_arguments_give_a_message_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], files: dict[str, Path], arguments: list[str], words: str
) -> None:
    code, out, err = run(capsys, *(each.format(**files) for each in arguments))
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("text", "seconds"), [("0000000060", 60), ("1,200", 1200), (" 60", 60)])
def test_window_is_read_like_other_whole_numbers(text: str, seconds: int) -> None:
    made = argparse.ArgumentParser()
    _add_options(made)
    assert made.parse_args(["events", "--window", text]).window == seconds


def test_typed_queue_managers_and_attributes_are_read_in_several_notations() -> None:
    known = known_from_texts(
        members=" QM1,QM2\n QM3 QM1",
        perfmev="QM1=enabled; QM2(DISABLED)",
        displays=["QUEUE(SQ1) MAXDEPTH(10)", "QMNAME(QM3) PERFMEV(DISABLED)\nQMNAME(QM1) PERFMEV(DISABLED)"],
        depths_before=["SQ1=4", "SQ2 = 5"],
    )
    assert known.members == ["QM1", "QM2", "QM3"]
    assert known.perfmev == {"QM1": "ENABLED", "QM2": "DISABLED", "QM3": "DISABLED"}
    assert known.queues == {"SQ1": QueueFacts(maxdepth=10, depth_before=4), "SQ2": QueueFacts(depth_before=5)}
    with pytest.raises(InputInvalid, match="at most 32"):
        known_from_texts(members=" ".join(f"Q{number}" for number in range(33)))


# ---- the page ----------------------------------------------------------------------------------------------------------


def send(app: FastAPI, fields: dict[str, str], *files: tuple[str, bytes]) -> Answer:
    """Send the form of the page, as browsers do."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    parts += [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n".encode() + data + b"\r\n"
        for name, data in files
    ]  # fmt: skip
    body = b"".join([*parts, f"--{BOUNDARY}--\r\n".encode()])
    headers = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
    return call(app, "POST", "/events/read", headers=headers, chunks=[body])


def page(answer: Answer, *, status: int = 200) -> Element:
    assert answer.status == status, answer.text
    return read_html(answer.text)


def test_example_page_has_a_chart_and_a_table(app: FastAPI) -> None:
    found = page(get(app, EXAMPLE))
    assert len(found.one("figure").all("svg", role="img")) == 2
    assert "Set 2, Queue Full, depth 1000, 3 messages" in found.one("figure").text
    table = next(region for region in found.all(role="region") if "sets" in region["aria-label"])
    assert (
        "200 + 550 \N{MINUS SIGN} 50 = 700, but the event shows 800: 100 more puts than the messages count."
        in table.text
    )
    assert "null event" in table.text


def test_text_and_files_are_read_together(app: FastAPI) -> None:
    two = as_lines(EventValues("QM2", "SQ1", enqueued=5))
    found = page(
        send(app, {"text": as_lines(EventValues("QM1", "SQ1")).decode(), "members": "QM1"}, ("two.json", two))
    )
    files = next(region for region in found.all(role="region") if "files" in region["aria-label"])
    assert [row.text for row in files.all("th", scope="row")] == ["two.json", "the text"]
    assert found.one("input", id="members")["value"] == "QM1"


def test_binary_file_in_the_form_is_read(app: FastAPI) -> None:
    told = EventValues(correl_id="CD" * 24)
    found = page(send(app, {}, ("perfm.bin", mqmd(told) + pcf(told))))
    assert "PCF after its MQMD" in found.text


@pytest.mark.parametrize(
    ("fields", "files", "box", "words"),
    [
        ({}, [], "text", "Paste the text of events, or choose files."),
        ({"text": "hello"}, [], "text", "The format is not supported"),
        ({}, [("empty.json", b"")], "text", "must not be empty"),
        ({"text": "E", "members": "Q*"}, [], "members", "'Q*' is not the name of a queue manager"),
        ({"text": "E", "perfmev": "QM1"}, [], "perfmev", "'QM1' is not of the form"),
        ({"text": "E", "display": "SQ1"}, [], "display", "must have attributes such as QUEUE(SQ1)"),
        ({"text": "E", "depth_before": "x"}, [], "depth_before", "such as SQ1=0"),
        ({"text": "E", "window": "soon"}, [], "window", "'soon' is not a number of seconds"),
    ],
)
def test_form_with_an_error_marks_its_field(
    app: FastAPI, fields: dict[str, str], files: list[tuple[str, bytes]], box: str, words: str
) -> None:
    typed = {
        name: value.replace("E", example_text()) if name == "text" else value
        for name, value in fields.items()
    }
    found = page(send(app, typed, *files), status=422)
    assert words in found.one(id="problems").text
    (marked,) = found.all(aria_invalid="true")
    assert marked["id"] == box
    assert "problems" in marked["aria-describedby"].split()


def test_queue_name_is_escaped_on_the_page(app: FastAPI) -> None:
    told = as_lines(EventValues("QM1", "A.%/_b")).decode()
    assert "A.%/_b" in page(send(app, {"text": told})).text
    assert "<script>" not in send(app, {"text": "<script>alert(1)</script>"}).text


def test_long_list_of_sets_is_truncated_with_a_note(app: FastAPI) -> None:
    told = as_lines(*(EventValues("QM1", f"Q{number}") for number in range(130)))
    found = page(send(app, {}, ("many", told)))
    assert "30 more sets are not shown" in found.text
    assert "Queues without a chart on this page: 118" in found.text
    assert len(found.all("figure")) == 12


def test_sets_without_times_are_drawn_in_order(app: FastAPI) -> None:
    data = b"".join(pcf(EventValues("QM1", "SQ1", reason)) for reason in (2224, 2053, 2225))
    labels = [text.text for text in page(send(app, {}, ("perfm.bin", data))).one("figure").all("text")]
    assert {"set 1", "set 2", "set 3"} <= set(labels)
