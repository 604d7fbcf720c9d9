from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from bench.plans import largest
from tests.app.web.support import SMALLEST, assert_problem, call

JSON = {"content-type": "application/json"}
BODY = json.dumps(SMALLEST).encode()


def bounded(data_dir: Path, **settings: float) -> FastAPI:
    return create_app(Settings(data_dir=data_dir, **settings))  # type: ignore[arg-type]


def test_body_at_the_limit_is_read(tmp_path: Path) -> None:
    app = bounded(tmp_path, max_body_bytes=len(BODY))
    assert call(app, "POST", "/api/v1/size", headers=JSON, chunks=[BODY]).status == 200


@pytest.mark.parametrize("piece_bytes", [1, 100, len(BODY)])
def test_body_one_byte_over_the_limit_is_refused_with_or_without_a_length(
    tmp_path: Path, piece_bytes: int
) -> None:
    app = bounded(tmp_path, max_body_bytes=len(BODY) - 1)
    pieces = [BODY[at : at + piece_bytes] for at in range(0, len(BODY), piece_bytes)]
    answer = call(app, "POST", "/api/v1/size", headers=JSON, chunks=pieces)
    assert_problem(answer, "content-too-large", 413)
    assert answer.headers["connection"] == "close"


def test_reading_of_a_large_body_stops_at_the_limit(tmp_path: Path) -> None:
    app = bounded(tmp_path, max_body_bytes=1000)
    answer = call(app, "POST", "/api/v1/size", headers=JSON, chunks=[b" " * 100] * 1000)
    assert_problem(answer, "content-too-large", 413)
    assert answer.chunks_read == 11


@pytest.mark.parametrize("length", ["1001", "9" * 30])
def test_body_announced_as_too_large_is_refused_unread(tmp_path: Path, length: str) -> None:
    app = bounded(tmp_path, max_body_bytes=1000)
    answer = call(app, "POST", "/api/v1/size", headers={**JSON, "content-length": length}, chunks=[BODY])
    assert_problem(answer, "content-too-large", 413)
    assert answer.chunks_read == 0


@pytest.mark.parametrize("length", ["1", "0", "-1", "none"])
def test_body_longer_than_its_announced_length_is_refused(tmp_path: Path, length: str) -> None:
    app = bounded(tmp_path, max_body_bytes=1000)
    answer = call(
        app, "POST", "/api/v1/size", headers={**JSON, "content-length": length}, chunks=[b" " * 600] * 2
    )
    assert_problem(answer, "content-too-large", 413)


FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("PUT", "/api/v1/qsg-map/SYSA/QM01", JSON),
        ("PUT", "/api/v1/cf-levels/CF01", JSON),
        ("POST", "/api/v1/uploads/1/ingest", JSON),
        ("POST", "/qsg-map", FORM),
        ("POST", "/plans/SQ03/rename", FORM),
        ("POST", "/plans/SQ03/acknowledge", FORM),
    ],
)
def test_body_without_a_document_is_refused_from_1_mib(
    app: FastAPI, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = call(app, method, path, headers=headers, chunks=[b" " * 2**16] * 100)
    assert_problem(answer, "content-too-large", 413)
    assert "1048576 bytes" in answer.json()["detail"]
    assert answer.chunks_read == 17


@pytest.mark.parametrize("path", ["/api/v1/size", "/api/v1/lint", "/api/v1/events/read"])
def test_body_with_a_document_may_be_larger_than_1_mib(app: FastAPI, path: str) -> None:
    assert call(app, "POST", path, headers=JSON, chunks=[b" " * 2**16] * 20).status == 422


@pytest.mark.parametrize("path", ["/new-plan", "/plan-preview", "/lint", "/whatif/upgrade", "/events/read"])
def test_form_with_a_document_may_be_larger_than_1_mib(app: FastAPI, path: str) -> None:
    answer = call(app, "POST", path, headers=FORM, chunks=[b"text=", *[b"x" * 2**16] * 20])
    assert answer.status in (200, 422)
    assert answer.chunks_read == 21


def test_text_with_millions_of_values_is_refused_before_it_is_parsed(app: FastAPI) -> None:
    body = b'{"structures":[' + b"1," * 2_000_001 + b"1]}"
    answer = call(app, "POST", "/api/v1/size", headers=JSON, chunks=[body])
    assert_problem(answer, "document-invalid", 422)
    assert answer.json()["errors"][0]["message"] == (
        "The text has more than 2,000,000 commas: send less at a time."
    )


def test_slow_body_is_refused(tmp_path: Path) -> None:
    app = bounded(tmp_path, body_timeout_s=0.2)
    pieces = [BODY[at : at + 1] for at in range(len(BODY))]
    answer = call(app, "POST", "/api/v1/size", headers=JSON, chunks=pieces, pause_s=0.05)
    assert_problem(answer, "request-timeout", 408)
    assert answer.headers["connection"] == "close"
    assert answer.chunks_read < len(pieces)


@pytest.mark.parametrize("indent", [None, 4])
def test_largest_legal_plan_indented_with_every_field_is_within_the_limit(indent: int | None) -> None:
    body = json.dumps(largest(), indent=indent).encode()
    assert len(body) <= Settings().max_body_bytes
    assert len(body) > 200 * 63 * 512  # it is the largest: no queue takes less than 200 bytes


def test_large_plan_is_sized(app: FastAPI) -> None:
    body = json.dumps(largest(structures=63, queues=8)).encode()
    answer = call(app, "POST", "/api/v1/size", headers=JSON, chunks=[body[:5000], body[5000:]])
    assert answer.status == 200, answer.text
    assert len(answer.json()["structures"]) == 64
