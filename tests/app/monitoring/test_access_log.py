from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.main import create_app
from app.settings import AccessLog, Settings
from tests.app.monitoring.logging_support import configured, standard_error
from tests.app.web.support import Answer, Json, call, get, post_json
from tests.serving import served

BROWSER = "text/html"


def app_of(folder: Path, access_log: AccessLog = AccessLog.ON) -> FastAPI:
    return create_app(Settings(data_dir=folder, access_log=access_log, log_format="json"))


@pytest.fixture
def logged_app(tmp_path: Path) -> Iterator[FastAPI]:
    app = app_of(tmp_path)

    @app.get("/api/v1/failure")
    @app.get("/failure")
    def fail() -> None:
        message = "the defect"
        raise RuntimeError(message)

    with configured(app.state.settings):
        yield app


def records(capsys: pytest.CaptureFixture[str], logger: str = "cfplan.access") -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in standard_error(capsys).splitlines()]
    return [line for line in lines if line["logger"] == logger]


def test_request_is_logged_with_its_route_status_and_client(
    logged_app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = get(logged_app, "/api/v1/plans/NONE?token=topsecret", x_request_id="my-request-1")
    (record,) = records(capsys)
    assert {
        "request_id": "my-request-1",
        "method": "GET",
        "path": "/api/v1/plans/NONE",
        "route": "/api/v1/plans/{name}",
        "status": 404,
        "bytes": len(answer.content),
        "address": "127.0.0.1",
    }.items() <= record.items()
    assert record["duration_ms"] >= 0
    assert "topsecret" not in json.dumps(record)


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/metrics", "/static/favicon.svg"])
def test_frequent_requests_are_logged_only_on_request(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for access_log, number in ((AccessLog.OFF, 0), (AccessLog.ON, 0), (AccessLog.ALL, 1)):
        app = app_of(tmp_path, access_log)
        app.state.database.upgrade()
        with configured(app.state.settings):
            assert get(app, address).status == 200
        assert len(records(capsys)) == number


def test_failing_health_check_is_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = app_of(tmp_path / "nothing")
    with configured(app.state.settings):
        assert get(app, "/readyz").status == 503
    assert [record["route"] for record in records(capsys)] == ["/readyz"]


def test_access_log_can_be_switched_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = app_of(tmp_path, AccessLog.OFF)
    with configured(app.state.settings):
        get(app, "/api/v1/reference")
    assert records(capsys) == []


@pytest.mark.parametrize("given", ["a", "A1._-z", "x" * 64, "0f8fad5b-d9cb-469f-a165-70867728950e"])
def test_safe_request_id_of_the_client_is_used(given: str, app: FastAPI) -> None:
    assert get(app, "/api/v1/reference", x_request_id=given).headers["x-request-id"] == given


@pytest.mark.parametrize(
    "given",
    ["", "x" * 65, "a b", "a\nb", "a\x1b[31m", "<script>", "a;b", 'a"b', "é", "a/b"],
)
def test_unsafe_request_id_is_replaced(given: str, app: FastAPI) -> None:
    answer = call(app, "GET", "/api/v1/reference", headers=[("x-request-id", given)])
    assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


def test_two_request_ids_are_replaced_by_one(app: FastAPI) -> None:
    answer = call(app, "GET", "/healthz", headers=[("x-request-id", "a"), ("x-request-id", "b")])
    (found,) = [value for name, value in answer.header_list if name == "x-request-id"]
    assert found not in ("a", "b")


ANSWERS = {
    "page": lambda app: get(app, "/calculator", accept=BROWSER),
    "file": lambda app: get(app, "/static/favicon.svg"),
    "unknown address": lambda app: get(app, "/nowhere"),
    "other host": lambda app: call(app, "GET", "/healthz", host="evil.example"),
    "other origin": lambda app: call(app, "POST", "/api/v1/size", headers={"origin": "http://evil.example"}),
    "invalid body": lambda app: post_json(app, "/api/v1/size", {}),
    "method": lambda app: call(app, "DELETE", "/healthz"),
    "defect": lambda app: get(app, "/api/v1/failure"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_every_answer_has_a_request_id_that_is_in_the_log(
    case: str, logged_app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    answer: Answer = ANSWERS[case](logged_app)
    (found,) = [value for name, value in answer.header_list if name == "x-request-id"]
    logged = records(capsys)
    if case == "file":
        assert logged == []
    else:
        assert [record["request_id"] for record in logged] == [found]
        assert [record["status"] for record in logged] == [answer.status]


def test_defect_is_logged_once_with_its_traceback_under_the_request_id(
    logged_app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = get(logged_app, "/api/v1/failure?key=topsecret")
    written = standard_error(capsys)
    lines = [json.loads(line) for line in written.splitlines()]
    (defect,) = [line for line in lines if "traceback" in line]
    assert "RuntimeError: the defect" in defect["traceback"]
    assert defect["level"] == "error"
    problem: Json = answer.json()
    assert defect["request_id"] == problem["reference"] == answer.headers["x-request-id"]
    assert "topsecret" not in written


def test_page_of_a_defect_shows_the_request_id(logged_app: FastAPI) -> None:
    answer = get(logged_app, "/failure", accept=BROWSER, x_request_id="report-me")
    assert (answer.status, answer.headers["x-request-id"]) == (500, "report-me")
    assert "<code>report-me</code>" in answer.text


@pytest.mark.parametrize(
    "address", ["/nowhere", "/api/v1/plans/NONE", "/api/v1/curves/x", "/api/v1/reference/x"]
)
def test_expected_problems_are_one_line_without_traceback(
    address: str, logged_app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 400 <= get(logged_app, address).status < 500
    (line,) = standard_error(capsys).splitlines()
    assert "traceback" not in json.loads(line)


def test_file_that_is_no_database_is_logged_without_traceback_and_statement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cfplan.db").write_bytes(b"this is no database" * 100)
    app = app_of(tmp_path)
    with configured(app.state.settings):
        answer = get(app, "/api/v1/plans")
    assert answer.status == 503
    lines = [json.loads(line) for line in standard_error(capsys).splitlines()]
    # The first says, once for all requests, that the data is damaged.
    assert [line["logger"] for line in lines] == ["cfplan.database", "cfplan.errors", "cfplan.access"]
    for line in lines[:2]:
        assert "traceback" not in line
        assert "SELECT" not in line["message"]
        assert "PRAGMA" not in line["message"]
    assert answer.json()["reference"] == lines[1]["request_id"]


def test_hostile_bytes_over_the_network_stay_in_one_line(
    logged_app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = [
        (path, agent)
        for path in (
            b"/%0d%0a2026-01-01T00:00:00.000Z%20INFO%20forged",
            b"/%1b[2J%1b[31mred",
            b"/%e2%80%ae%00",
            b"/api/v1/plans/%0aforged",
            # The web server itself refuses these.
            b"/x\x1b[31m",
            b"/x\x9b31m\xff\xfe",
        )
        for agent in (b"\x9b31m\xff", b"\x1b[2J")
    ]
    with served(logged_app) as address:
        host, port = address.removeprefix("http://").split(":")
        for path, agent in requests:
            with socket.create_connection((host, int(port)), timeout=30) as connection:
                lines = (
                    b"GET " + path + b" HTTP/1.1",
                    b"Host: 127.0.0.1:" + port.encode(),
                    b"X-Request-Id: " + agent,
                    b"User-Agent: " + agent,
                    b"Connection: close",
                )
                connection.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
                while connection.recv(65536):
                    pass
    written = standard_error(capsys)
    assert all(line.isprintable() for line in written.splitlines())
    logged = [json.loads(line) for line in written.splitlines()]
    assert [(record["message"], record["path"]) for record in logged] == [
        ("request", path.decode()) for path, agent in requests[:8] if b"\x1b" not in agent
    ]


def test_values_of_a_failing_statement_are_not_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_of(tmp_path)

    @app.get("/failing-statement")
    def fail() -> None:
        with app.state.database.session(writes=True) as session:
            session.execute(text("INSERT INTO no_such_table VALUES (:value)"), {"value": "hunter22"})

    with configured(app.state.settings):
        assert get(app, "/failing-statement").status >= 500
    written = standard_error(capsys)
    assert "no_such_table" in written
    assert "hunter22" not in written
