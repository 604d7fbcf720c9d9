"""Requests made up from the description: whatever is sent, the answer is one that is described."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import CHECKS, load_all_checks

from app.main import create_app
from app.settings import Settings
from planner_core.outputs import OUTPUT_KINDS

OPERATIONS = [
    *(("POST", f"/api/v1/{kind}") for kind in ("size", *OUTPUT_KINDS)),
    *(
        ("GET", path)
        for path in ("/healthz", "/api/v1/schema", "/api/v1/reference", "/api/v1/reference/{table_id}")
    ),
]
GOOD, BAD = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
TRIED = [
    pytest.param(method, path, mode, id=f"{method} {path} {mode.value}")
    for method, path in OPERATIONS
    for mode in ((GOOD, BAD) if method == "POST" else (GOOD,))  # nothing that could be bad goes into a GET
]
CHECKED = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> schemathesis.BaseSchema:
    """The interface as it describes itself, for any host name: the tester calls it by one of its own."""
    settings = Settings(data_dir=Path(tmp_path_factory.mktemp("data")), allowed_hosts=("*",))
    return schemathesis.openapi.from_asgi("/openapi.json", create_app(settings))


def test_all_operations_are_tried(described: schemathesis.BaseSchema) -> None:
    found = {
        (operation.ok().method.upper(), operation.ok().path)  # type: ignore[union-attr]
        for operation in described.get_all_operations()
    }
    assert found == set(OPERATIONS)


@pytest.mark.parametrize(("method", "path", "mode"), TRIED)
def test_made_up_requests_get_answers_that_are_described(
    described: schemathesis.BaseSchema, method: str, path: str, mode: schemathesis.GenerationMode
) -> None:
    load_all_checks()
    strategy = described[path][method].as_strategy(generation_mode=mode)

    @hypothesis.given(case=strategy)
    @hypothesis.settings(
        max_examples=15,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def send(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS.get_by_names(CHECKED))  # type: ignore[arg-type]

    send()
