from __future__ import annotations

import os
import random
import string
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as older_families
from starlette.routing import Mount, Route

from app.database.engine import Database
from app.jobs.models import JobRun, JobState
from app.main import create_app
from app.monitoring import metrics as counted
from app.nightly.job_kinds import NIGHT
from app.settings import Settings
from app.uploads.job_kind import INGEST
from app.uploads.models import Upload
from tests.app.accounts.support import add_token, add_user, app_with_accounts, bearer
from tests.app.web.support import COMPLETE, call, get, post_json, send_json

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def own_metrics() -> Iterator[None]:
    """Count only the requests of the test."""
    counted.begin_again()
    yield
    counted.begin_again()


def samples(app: FastAPI) -> Samples:
    """Return the values of a scrape by name and labels."""
    answer = get(app, "/metrics", accept=OPENMETRICS)
    assert answer.status == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((name, tuple(sorted(labels.items()))))


def test_requests_are_counted_by_route_method_and_status(own_app: FastAPI) -> None:
    assert send_json(own_app, "PUT", "/api/v1/plans/A", COMPLETE).status == 201
    for name in ("A", "A", "B"):
        get(own_app, f"/api/v1/plans/{name}")
    found = samples(own_app)
    route = "/api/v1/plans/{name}"
    for method, status, number in (("PUT", "2xx", 1), ("GET", "2xx", 2), ("GET", "4xx", 1)):
        assert value(found, "cfplan_http_requests_total", route=route, method=method, status=status) == number
    assert value(found, "cfplan_http_request_duration_seconds_count", route=route) == 4
    assert value(found, "cfplan_http_request_duration_seconds_bucket", route=route, le="+Inf") == 4


def test_bytes_are_counted_as_received_and_sent(own_app: FastAPI) -> None:
    body = b'{"name": "\xff"}' * 10
    answer = call(
        own_app, "POST", "/api/v1/size", headers={"content-type": "application/json"}, chunks=[body]
    )
    found = samples(own_app)
    assert value(found, "cfplan_http_request_bytes_total", route="/api/v1/size") == len(body)
    assert value(found, "cfplan_http_response_bytes_total", route="/api/v1/size") == len(answer.content)


def test_only_the_scrape_itself_is_in_flight(own_app: FastAPI) -> None:
    get(own_app, "/api/v1/reference")
    assert value(samples(own_app), "cfplan_http_requests_in_flight") == 1


def test_request_that_fails_is_no_longer_in_flight(own_app: FastAPI) -> None:
    @own_app.get("/failure")
    def fail() -> None:
        raise RuntimeError

    assert get(own_app, "/failure").status == 500
    found = samples(own_app)
    assert value(found, "cfplan_http_requests_in_flight") == 1
    assert value(found, "cfplan_http_requests_total", route="/failure", method="GET", status="5xx") == 1


def test_labels_are_bounded_whatever_clients_send(own_app: FastAPI) -> None:
    rng = random.Random(17)
    noise = ["".join(rng.choices(string.ascii_letters, k=8)) for _ in range(40)]
    for text in noise:
        for address in (f"/{text}", f"/plans/{text}", f"/api/v1/plans/{text}?{text}", f"/static/{text}", f"/docs/{text}"):  # fmt: skip
            get(own_app, address)
        call(own_app, text.upper(), "/api/v1/plans")
        call(own_app, "GET", f"/{text}", host=f"{text}.example")
    found = samples(own_app)
    labels = {label for _, each in found for label in each}
    routes = {value for name, value in labels if name == "route"}
    known = {route.path for route in own_app.routes if isinstance(route, Route | APIRoute | Mount)}
    assert routes <= known | {counted.UNMATCHED}
    assert "/plans/{name}" in routes
    assert "/static" in routes
    assert counted.UNMATCHED in routes
    assert {value for name, value in labels if name == "method"} <= counted.METHODS | {counted.OTHER}
    assert not any(text in value or text.upper() in value for _, value in labels for text in noise)


def test_answer_is_openmetrics_or_the_older_format(own_app: FastAPI) -> None:
    new = get(own_app, "/metrics", accept=OPENMETRICS)
    assert new.media_type == "application/openmetrics-text"
    assert new.text.endswith("# EOF\n")
    old = get(own_app, "/metrics")
    assert old.media_type == "text/plain"
    assert {family.name for family in older_families(old.text)}
    assert (new.headers["cache-control"], old.headers["cache-control"]) == ("no-store", "no-store")


def test_process_metrics_are_those_of_this_process(own_app: FastAPI) -> None:
    found = samples(own_app)
    assert value(found, "cfplan_workers") == 1
    spent = sum(os.times()[:2])
    cpu_s = value(found, "process_cpu_seconds_total")
    assert cpu_s is not None
    assert 0 < cpu_s <= spent + 0.1
    assert (value(found, "process_open_fds") or 0) > 3


def test_connections_of_requests_are_counted(own_app: FastAPI) -> None:
    get(own_app, "/api/v1/plans")
    found = samples(own_app)
    assert (value(found, "cfplan_database_connections_open") or 0) >= 1
    # The scrape has ended its transaction before it counts.
    assert value(found, "cfplan_database_connections_in_use") == 0
    with own_app.state.database.session(writes=False) as session:
        session.connection()
        assert value(samples(own_app), "cfplan_database_connections_in_use") == 1


def job(
    number: int,
    kind: str,
    state: JobState,
    created_at: datetime,
    ended_at: datetime | None = None,
) -> JobRun:
    return JobRun(
        id=number, kind=kind, state=state, stage="", done=0, total=0, sentence="", attempts=0, owner="",
        created_at=created_at, started_at=None, heartbeat_at=None, ended_at=ended_at, log="",
    )  # fmt: skip


def test_jobs_nightly_runs_and_uploads_are_read_from_the_database(database: Database, tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    app.state.database = database
    database.prepare()
    empty = samples(app)
    assert value(empty, "cfplan_jobs_waiting") == 0
    assert value(empty, "cfplan_jobs_oldest_waiting_seconds") == 0
    assert value(empty, "cfplan_nightly_timestamp_seconds") is None
    now = datetime.now(UTC)
    done_at, failed_at = now - timedelta(hours=30), now - timedelta(hours=6)
    with database.session(writes=True) as session:
        session.add_all(
            [
                job(1, INGEST, JobState.DONE, now - timedelta(days=3), now - timedelta(days=3)),
                job(2, INGEST, JobState.QUEUED, now - timedelta(seconds=500)),
                job(3, INGEST, JobState.QUEUED, now - timedelta(seconds=10)),
                job(4, NIGHT, JobState.DONE, done_at, done_at),
                job(5, NIGHT, JobState.FAILED, failed_at, failed_at),
            ]
        )
        for number, removed in ((1, None), (2, None), (3, now)):
            session.add(
                Upload(
                    id=number,
                    filename="x",
                    size_bytes=1000 * number,
                    sha256=str(number),
                    kind="",
                    detected_kind="",
                    observed_at="",
                    zone="",
                    observed_utc="",
                    created_at=now,
                    removed_at=removed,
                )
            )
    found = samples(app)
    assert value(found, "cfplan_jobs", kind=INGEST, state="queued") == 2
    assert value(found, "cfplan_jobs", kind=NIGHT, state="failed") == 1
    assert value(found, "cfplan_jobs_waiting") == 2
    assert 500 <= (value(found, "cfplan_jobs_oldest_waiting_seconds") or 0) < 700
    assert value(found, "cfplan_nightly_state", cfplan_nightly_state="failed") == 1
    assert value(found, "cfplan_nightly_state", cfplan_nightly_state="done") == 0
    assert value(found, "cfplan_nightly_timestamp_seconds") == pytest.approx(failed_at.timestamp(), abs=1)
    assert value(found, "cfplan_nightly_success_timestamp_seconds") == pytest.approx(
        done_at.timestamp(), abs=1
    )
    assert value(found, "cfplan_uploads_stored") == 2
    assert value(found, "cfplan_uploads_removed") == 1
    assert value(found, "cfplan_uploads_stored_bytes") == 3000


def test_database_that_does_not_answer_is_reported_and_the_rest_remains(tmp_path: Path) -> None:
    (tmp_path / "cfplan.db").write_bytes(b"this is no database" * 100)
    app = create_app(Settings(data_dir=tmp_path))
    get(app, "/api/v1/reference")
    found = samples(app)
    assert value(found, "cfplan_database_up") == 0
    assert value(found, "cfplan_jobs_waiting") is None
    assert (
        value(found, "cfplan_http_requests_total", route="/api/v1/reference", method="GET", status="2xx") == 1
    )


def test_metrics_need_sign_in_as_viewer_and_readiness_does_not(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    app.state.database.prepare()
    assert get(app, "/metrics").status == 401
    assert get(app, "/readyz").status == 200
    add_user(app, "scraper", "viewer")
    token = add_token(app, "scraper", "viewer")
    assert call(app, "GET", "/metrics", headers=bearer(token)).status == 200


def test_metrics_contain_no_names_of_plans_or_users(own_app: FastAPI) -> None:
    assert send_json(own_app, "PUT", "/api/v1/plans/SECRETPLAN", COMPLETE).status == 201
    post_json(own_app, "/api/v1/plans/SECRETPLAN/scenarios", {"name": "secretscenario", "changes": {"headroom_percent": 30}})  # fmt: skip
    assert "secret" not in get(own_app, "/metrics").text.lower()
