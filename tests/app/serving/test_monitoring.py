"""Log and metrics of a service with several worker processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.app.serving.support import Service, serving, wait_until
from tests.forked_on_request import Parent

pytestmark = pytest.mark.long
ENVIRONMENT = {"CFPLAN_LOG_FORMAT": "json", "CFPLAN_ACCESS_LOG": "all"}


@pytest.fixture
def service(parent: Parent, tmp_path: Path) -> Iterator[Service]:
    shared = tmp_path / "shared"
    shared.mkdir()
    with serving(
        parent, tmp_path, "--workers", "2", environment={**ENVIRONMENT, "TMPDIR": str(shared)}
    ) as found:
        wait_until(lambda: len(found.workers()) == 2)
        yield found


def scraped(service: Service) -> dict[str, float]:
    """Return the values of a scrape by name, summed over labels."""
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(service.get("/metrics").text):
        for sample in family.samples:
            values[sample.name] = values.get(sample.name, 0.0) + sample.value
    return values


ROUTE = "/api/v1/reference"


def requests_counted(service: Service) -> float:
    """Return the number of requests to ROUTE that a scrape reports."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(service.get("/metrics").text)
        for sample in family.samples
        if sample.name == "cfplan_http_requests_total" and sample.labels["route"] == ROUTE
    )


def logged_requests(service: Service) -> list[dict[str, Any]]:
    """Return the records of requests to ROUTE in the log."""
    records = [json.loads(line) for line in service.messages.splitlines() if line.startswith("{")]
    return [record for record in records if record.get("route") == ROUTE]


def answered_by_both(service: Service) -> int:
    """Send requests until both workers have answered some; return their number."""
    before = len(logged_requests(service))
    number = 0
    while number < 20 or len({each["process"] for each in logged_requests(service)[before:]}) < 2:
        assert service.get(ROUTE).is_success
        number += 1
        assert number < 5_000, "one worker answers all requests"
    return number


def folder_of(service: Service) -> Path:
    (folder,) = (service.data_dir.parent / "shared").glob("cfplan-metrics-*")
    return folder


def test_any_worker_reports_the_requests_of_all(service: Service) -> None:
    number = answered_by_both(service)
    for _ in range(10):
        assert requests_counted(service) == number
    found = scraped(service)
    assert found["cfplan_workers"] == 2
    assert found["cfplan_http_requests_in_flight"] == 1


def test_counters_continue_and_gauges_recover_when_a_worker_is_killed(service: Service) -> None:
    number = answered_by_both(service)
    victim = min(service.workers())
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len(service.workers() - {victim}) == 2)
    wait_until(lambda: scraped(service)["cfplan_workers"] == 2)
    assert requests_counted(service) == number
    number += answered_by_both(service)
    assert requests_counted(service) == number
    assert scraped(service)["cfplan_http_requests_in_flight"] == 1
    names = {path.name for path in folder_of(service).iterdir()}
    assert not any(str(victim) in name for name in names)
    # The files of all workers that have ended are one for each kind, however often workers are replaced.
    assert {"counter_0.db", "histogram_0.db"} <= names


def test_folder_of_the_metrics_is_removed_when_the_service_stops(service: Service) -> None:
    folder = folder_of(service)
    service.stop()
    assert not folder.exists()


def test_every_line_of_the_log_is_a_record(service: Service) -> None:
    service.get(ROUTE, headers={"X-Request-Id": "my-request"})
    victim = min(service.workers())
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: f"Worker {victim} ended" in service.messages)
    service.stop()
    announced, *lines = service.messages.splitlines()
    assert announced.startswith("cfplan serves http://127.0.0.1:")
    records = [json.loads(line) for line in lines]
    assert "my-request" in {record.get("request_id") for record in records}
    assert {"cfplan.access", "cfplan.serve", "uvicorn.error"} <= {record["logger"] for record in records}
