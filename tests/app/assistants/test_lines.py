"""Lines of standard input that are too long, from raw bytes and from the client of the package `mcp`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.assistants.lines import BoundedLines, RequestNumber
from tests.app.assistants.test_server import PATIENCE_S, ROOT

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def read(data: bytes, *, most_bytes: int = 64) -> tuple[list[str], list[RequestNumber]]:
    refused: list[RequestNumber] = []

    async def refuse(number: RequestNumber) -> None:
        refused.append(number)

    async def run() -> list[str]:
        lines = BoundedLines(io.BytesIO(data), most_bytes=most_bytes)
        lines.refuse_by(refuse)
        return [line async for line in lines]

    return anyio.run(run), refused


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":', 7),
        (b'{ "method": "tools/call", "jsonrpc": "2.0", "id": "a-1", "params":', "a-1"),
        (b'{"jsonrpc":"2.0","method":"tools/call","params":{"id":7,"x":', None),
        (b'{"jsonrpc":"2.0","method":"notifications/x","params":', None),
        (b"\xff\x00[[[[", None),
    ],
)
def test_line_that_is_too_long_is_refused_with_its_number(line: bytes, number: RequestNumber) -> None:
    assert read(line + b"x" * 200_000 + b"\nnext\n") == (["next\n"], [number])


@pytest.mark.parametrize(
    ("data", "lines", "refused"),
    [
        (b"x" * 63 + b"\n" + b"y\n", ["x" * 63 + "\n", "y\n"], []),
        (b"x" * 64 + b"\n" + b"y\n", ["y\n"], [None]),
        (b"x" * 64, ["x" * 64], []),
        (b"x" * 65, [], [None]),
        (b"x" * 300_000, [], [None]),
        (b"\xff\n", ["\ufffd\n"], []),
        (b"", [], []),
    ],
)
def test_longest_line_is_read(data: bytes, lines: list[str], refused: list[RequestNumber]) -> None:
    assert read(data) == (lines, refused)


def test_raw_bytes_without_an_end_are_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    from app.assistants.server import MOST_LINE_BYTES, TOO_LONG

    long = b"x" * (MOST_LINE_BYTES + 3 * 2**20)
    call = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"size_plan","arguments":{"text":"'
    sent = (
        json.dumps(INITIALIZE).encode(),
        long,
        call + long + b'"}}}',
        b'{"jsonrpc":"2.0","id":3,"method":"ping"}',
    )
    answers = {each.get("id"): each for each in answers_to(sent, tmp_path)}
    assert set(answers) == {1, 2, 3, None}
    for number in (None, 2):
        assert answers[number]["error"]["message"] == TOO_LONG
    assert answers[1]["result"]["serverInfo"]["name"] == "cfplan"
    assert "result" in answers[3]


def test_all_requests_are_answered_although_the_input_has_ended(tmp_path: Path) -> None:
    plan = {"qsg": "SQ01", "queue_managers": 2, "structures": []}
    call = {"name": "size_plan", "arguments": {"plan": plan}}
    sent = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": f"call {at}", "method": "tools/call", "params": call} for at in range(3)),
    ]
    answers = {each["id"]: each for each in answers_to(as_lines(sent), tmp_path)}
    sized = {number for number, each in answers.items() if "structuredContent" in each["result"]}
    assert sized == {"call 0", "call 1", "call 2"}


def test_lines_that_are_no_message_are_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    from app.assistants.answering import NO_JSON, NO_MESSAGE

    ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    nested = b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":' + b"[" * 5000 + b"]" * 5000 + b"}}"
    sent = (
        json.dumps(INITIALIZE).encode(),
        (ping % 2)[:-1],
        b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":' + b"9" * 6000 + b"}}",
        nested,
        b"[" + ping % 9 + b"]",
        b'{"id":5,"method":"ping"}',
        b'{"id":8,"result":{}}',
        b'{"jsonrpc":"2.0","id":"six","method":"ping","params":[]}',
        b"",
        b" \t\r",
        ping % 7,
    )
    answers = answers_to(sent, tmp_path)
    refused = [
        (each["id"], each["error"]["code"], each["error"]["message"]) for each in answers if "error" in each
    ]
    assert refused == [
        (2, -32700, NO_JSON),
        (3, -32700, NO_JSON),
        (4, -32700, NO_JSON),
        (None, -32600, NO_MESSAGE),
        (5, -32600, NO_MESSAGE),
        (None, -32600, NO_MESSAGE),
        ("six", -32600, NO_MESSAGE),
    ]
    assert {each["id"] for each in answers if "result" in each} == {1, 7}


@pytest.mark.parametrize(("number", "canceled"), [(7, "7"), ("7", 7), (7, 7), ("seven", "seven")])
def test_canceled_request_is_not_waited_for_in_either_form_of_its_number(
    number: int | str, canceled: int | str
) -> None:
    assert unanswered_after(_request(number), _cancel(canceled)) == 0


@pytest.mark.parametrize("other", [True, 7.0, None, [7], {}, "8"])
def test_cancellation_of_something_else_settles_no_request(other: object) -> None:
    assert unanswered_after(_request(7), _cancel(other)) == 1


def test_each_request_with_a_number_that_is_used_twice_is_answered(tmp_path: Path) -> None:
    call = {"name": "describe_finding", "arguments": {"code": "SMDS_OVERHEAD_ASSUMED"}}
    sent = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *[{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}] * 2,
    ]
    answers = answers_to(as_lines(sent), tmp_path)
    assert [(each["id"], "result" in each) for each in answers] == [(1, True), (2, True), (2, True)]


def answers_to(sent: Iterable[bytes], folder: Path) -> list[dict[str, Any]]:
    """Return the answers of the command to these lines, which are its whole input."""
    found = subprocess.run(
        [sys.executable, "-m", "app.cli", "mcp"],
        input=b"".join(each + b"\n" for each in sent),
        env={"CFPLAN_DATA_DIR": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return [json.loads(line) for line in found.stdout.splitlines()]


def as_lines(messages: Iterable[object]) -> list[bytes]:
    return [json.dumps(each).encode() for each in messages]


def unanswered_after(*messages: dict[str, Any]) -> int:
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    from app.assistants.answering import Unanswered

    unanswered = Unanswered()
    for message in messages:
        unanswered.note(SessionMessage(types.jsonrpc_message_adapter.validate_python(message)))
    return unanswered.count


def _request(number: int | str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


def _cancel(number: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


@pytest.mark.parametrize(
    ("sent", "read_as"),
    [
        (rb"\ud800", "\ufffd"),
        (rb"a\uDFFFb", "a\ufffdb"),
        (rb"\ud83d\ude00", "\U0001f600"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\ude00\ud83d", "\ufffd\ufffd"),
        (rb"\\ud800", r"\ud800"),
        (rb"\\\ud800\n", "\\\ufffd\n"),
    ],
)
def test_half_of_a_surrogate_pair_is_replaced_so_that_the_request_is_answered(
    sent: bytes, read_as: str
) -> None:
    ((line,), refused) = read(b'{"text":"' + sent + b'"}\n')
    assert json.loads(line) == {"text": read_as}
    assert refused == []


def test_client_gets_the_error_of_its_call_and_goes_on(tmp_path: Path) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.shared.exceptions import MCPError

    from app.assistants.server import MOST_LINE_BYTES

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "app.cli", "mcp"],
        env={"CFPLAN_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )

    async def run() -> Any:  # noqa: ANN401 - a structured answer
        with anyio.fail_after(PATIENCE_S):
            async with Client(server) as client:
                with pytest.raises(MCPError, match="not read"):
                    await client.call_tool("size_plan", {"text": "x" * (MOST_LINE_BYTES + 1)})
                return (
                    await client.call_tool("describe_finding", {"code": "INITSIZE_BELOW_NEED"})
                ).structured_content

    assert anyio.run(run)["code"] == "INITSIZE_BELOW_NEED"
