from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.exceptions import HTTPException

from app.main import create_app
from app.problem_types import PROBLEM_TYPES
from app.settings import Settings
from app.web.problems import MOST_ERRORS, PROBLEM_OF_CORE_ERROR, problem_of
from planner_core import errors
from planner_core.errors import DocumentInvalid, FieldProblem, OutOfRange
from tests.app.web.support import SMALLEST, assert_problem, call, get, post_json

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "problems.md").read_text(encoding="utf-8")
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def test_every_problem_type_is_documented_with_its_status() -> None:
    sections = dict(re.findall(r"^## ([a-z-]+)\n\nStatus (\d{3})\.", PAGE, re.MULTILINE))
    assert sections == {kind.slug: str(kind.status) for kind in PROBLEM_TYPES}


def test_page_that_problem_types_link_to_is_served(app: FastAPI) -> None:
    moved = get(app, "/docs/problems")
    assert moved.status == 308
    page = get(app, moved.headers["location"])
    assert page.status == 200
    for kind in PROBLEM_TYPES:
        assert f'id="{kind.slug}"' in page.text


def test_core_errors_have_a_status_below_500() -> None:
    for name, error in vars(errors).items():
        if isinstance(error, type) and issubclass(error, errors.PlannerError) and not name.startswith("_"):
            kinds = [PROBLEM_OF_CORE_ERROR[cls] for cls in error.__mro__ if cls in PROBLEM_OF_CORE_ERROR]
            assert kinds[0].status == 422


def test_unknown_address_is_not_found(app: FastAPI) -> None:
    problem = assert_problem(get(app, "/nowhere"), "not-found", 404)
    assert problem["detail"] == "Nothing is served at /nowhere."


def test_long_address_is_truncated_in_the_response(app: FastAPI) -> None:
    problem = assert_problem(get(app, "/" + "x" * 5000), "not-found", 404)
    assert len(problem["detail"]) < 300


def test_unsupported_method_is_refused_with_the_allowed_ones(app: FastAPI) -> None:
    answer = get(app, "/api/v1/size")
    assert_problem(answer, "method-not-allowed", 405)
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "multipart/form-data; boundary=x"}, {"content-type": "application/jsonx"},
        {"content-type": "application/json; charset=utf-16"}, {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)  # fmt: skip
def test_body_that_is_not_plain_json_is_refused(app: FastAPI, headers: dict[str, str]) -> None:
    answer = call(app, "POST", "/api/v1/size", headers=headers, chunks=[b"{}"])
    problem = assert_problem(answer, "unsupported-media-type", 415)
    assert problem["detail"].endswith(".")


@pytest.mark.parametrize(
    "media_type", ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"']
)  # fmt: skip
def test_json_content_type_is_accepted_in_every_notation(app: FastAPI, media_type: str) -> None:
    assert (
        call(app, "POST", "/api/v1/size", headers={"content-type": media_type}, chunks=[b"{}"]).status == 422
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"NaN", b"[" * 100_000, b'{"qsg":"A","qsg":"B"}', b"9" * 10_000],
    ids=lambda body: repr(body[:12]),
)  # fmt: skip
def test_body_that_is_not_a_plan_document_is_refused_with_a_message(app: FastAPI, body: bytes) -> None:
    answer = call(app, "POST", "/api/v1/size", headers={"content-type": "application/json"}, chunks=[body])
    problem = assert_problem(answer, "document-invalid", 422)
    assert problem["errors"][0]["field"] == ""
    assert problem["errors"][0]["message"].endswith(".")


def test_impossible_plan_is_refused_with_the_limit(app: FastAPI) -> None:
    problem = assert_problem(
        post_json(app, "/api/v1/size", {**SMALLEST, "queue_managers": 33}), "plan-refused", 422
    )
    assert [finding["code"] for finding in problem["findings"]] == ["TOO_MANY_QUEUE_MANAGERS"]
    assert problem["errors"] == [{"field": "/queue_managers", "message": problem["findings"][0]["message"]}]


def test_output_of_an_incomplete_plan_is_refused_with_the_missing_values(app: FastAPI) -> None:
    problem = assert_problem(post_json(app, "/api/v1/job", SMALLEST), "output-refused", 422)
    assert "JOB_INCOMPLETE" in {finding["code"] for finding in problem["findings"]}
    assert problem["errors"]


def test_refusal_of_an_invalid_parameter_names_it(app: FastAPI) -> None:
    problem = assert_problem(post_json(app, "/api/v1/size?explain=perhaps", SMALLEST), "request-invalid", 422)
    assert [error["field"] for error in problem["errors"]] == ["explain"]


def test_number_out_of_range_is_refused_with_the_parameter_name() -> None:
    problem = problem_of(OutOfRange(field="cfcc_level", value=8, lowest=9)).as_json()
    assert problem["errors"] == [
        {"field": "cfcc_level", "message": "cfcc_level is 8, but must be at least 9."}
    ]


def test_long_lists_of_errors_are_truncated_and_counted() -> None:
    many = tuple(FieldProblem(f"/structures/{number}", "is wrong") for number in range(MOST_ERRORS + 7))
    problem = problem_of(DocumentInvalid(many)).as_json()
    assert len(problem["errors"]) == MOST_ERRORS
    assert problem["errors_omitted"] == 7


@pytest.fixture
def failing(tmp_path: Path) -> FastAPI:
    """Return an application with failing addresses."""
    app = create_app(Settings(data_dir=tmp_path))

    @app.get("/api/v1/failure")
    @app.get("/failure")
    def fail() -> None:
        message = "the secret of the implementation"
        raise RuntimeError(message)

    @app.get("/teapot")
    def refuse() -> None:
        raise HTTPException(418, "Coffee is not served.")

    return app


def test_unexpected_error_is_logged_under_the_reference_in_the_response(
    failing: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="cfplan"):
        answer = get(failing, "/api/v1/failure")
    problem = assert_problem(answer, "unexpected", 500)
    (record,) = caplog.records
    assert problem["reference"] in record.getMessage()
    assert record.exc_info is not None
    assert "secret" in caplog.text
    assert "secret" not in answer.text


def test_unexpected_error_in_a_browser_is_a_page_with_the_reference(
    failing: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    answer = get(failing, "/failure", accept=BROWSER)
    assert answer.status == 500
    assert answer.media_type == "text/html"
    (reference,) = re.findall(r"\b[0-9a-f]{16}\b", caplog.records[0].getMessage())
    assert reference in answer.text
    assert "secret" not in answer.text


def test_failing_error_page_still_returns_a_response(
    failing: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        message = "no template"
        raise ValueError(message)

    monkeypatch.setattr("app.web.problems.render", broken)
    answer = get(failing, "/nowhere", accept=BROWSER)
    assert answer.status == 500
    assert "reference" in answer.text
    assert "content-security-policy" in answer.headers


def test_status_without_its_own_problem_type_has_a_message(failing: FastAPI) -> None:
    problem = get(failing, "/teapot").json()
    assert (problem["type"], problem["status"], problem["detail"]) == (
        "about:blank",
        418,
        "Coffee is not served.",
    )


def test_errors_are_pages_for_browsers_but_never_in_the_rest_interface(app: FastAPI) -> None:
    page = get(app, "/nowhere", accept=BROWSER)
    assert (page.status, page.media_type) == (404, "text/html")
    assert "/nowhere" in page.text
    assert "/docs/reference/problems#not-found" in page.text
    assert_problem(get(app, "/api/v1/nowhere", accept=BROWSER), "not-found", 404)


def test_address_on_the_error_page_is_escaped(app: FastAPI) -> None:
    assert "<script>alert" not in get(app, "/<script>alert(1)</script>", accept=BROWSER).text
