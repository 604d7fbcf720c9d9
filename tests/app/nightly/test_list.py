"""The list of nightly runs: page and file, on both databases."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import URL
from sqlalchemy.orm import Session

from app.jobs.models import JobRun, JobState
from app.nightly.job_kinds import NIGHT
from app.nightly.models import NightlyRun, StoredFinding, Trigger
from tests.app.plans.support import app_on
from tests.app.web.pages.html import Element, read
from tests.app.web.support import get

AT = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)


@pytest.fixture
def app(url: URL) -> Iterator[FastAPI]:
    """Return an application with five runs: the second failed, and the last one waits."""
    made = app_on(url)
    with made.state.database.session(writes=True) as session:
        add_run(session, 0, Trigger.SCHEDULE, seconds=600, days=(5, 90), findings=("warning", "info", "info"))
        add_run(session, 1, Trigger.REQUEST, seconds=7, state=JobState.FAILED)
        add_run(session, 2, Trigger.COMMAND, seconds=60, days=(90, 1091), findings=("error",))
        add_run(session, 3, Trigger.SIMULATION, seconds=1800, days=(0, 91))
        add_run(session, 4, Trigger.REQUEST, state=JobState.QUEUED)
    yield made
    made.state.database.close()


def add_run(
    session: Session,
    hours: int,
    trigger: Trigger,
    *,
    state: JobState = JobState.DONE,
    seconds: int | None = None,
    days: tuple[int, int] | None = None,
    findings: tuple[str, ...] = (),
) -> None:
    """Store a run that began this many hours after the first; it has results if it has days."""
    begun = AT + timedelta(hours=hours)
    ended = None if seconds is None else begun + timedelta(seconds=seconds)
    job = JobRun(
        kind=NIGHT, state=state, stage="", done=0, total=0, sentence=f"Outcome {hours}.", attempts=1, owner="", created_at=begun,
        started_at=None if seconds is None else begun, heartbeat_at=None, ended_at=ended, log="",
    )  # fmt: skip
    session.add(job)
    session.flush()
    run = NightlyRun(job_id=job.id, trigger=trigger)
    if days is not None:
        run.days_reduced, run.days_total = days
        run.rows_read, run.stored_at = 1, ended
    session.add(run)
    session.flush()
    session.add_all(
        StoredFinding(
            run_id=run.id, position=at, code="FULL", severity=severity, message="", source="", figures={}, is_simulated=False
        )
        for at, severity in enumerate(findings)
    )  # fmt: skip


def shown(app: FastAPI, address: str) -> Element:
    found = get(app, address, accept="text/html")
    assert found.status == 200, found.text[:300]
    return read(found.text)


def rows_of(app: FastAPI, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(get(app, address).text)))


def test_page_and_file_have_the_requested_order(app: FastAPI) -> None:
    for sort, expected in (
        ("", "5 4 3 2 1"),
        ("run", "1 2 3 4 5"),
        ("state", "2 5 4 3 1"),
        ("started_at", "1 2 3 4 5"),
        ("trigger", "3 5 2 1 4"),
        ("-duration_s", "4 1 3 2 5"),
        ("-days_reduced", "3 1 4 5 2"),
        ("findings", "3 1 4 5 2"),
        ("-findings", "4 1 3 5 2"),
    ):
        rows = shown(app, f"/nights?sort={sort}").one("tbody")
        assert [head.text.removeprefix("Run ") for head in rows.all("th")] == expected.split(), sort
        lines = rows_of(app, f"/nights.csv?sort={sort}")
        assert [line["run"] for line in lines] == expected.split(), sort


def test_row_has_days_findings_and_state_in_words(app: FastAPI) -> None:
    rows = shown(app, "/nights?sort=run").one("tbody").all("tr")
    cells = [[" ".join(cell.text.split()) for cell in row.all("td")] for row in rows]
    assert cells[0] == [
        "done", "2026-11-21 02:00", "schedule", "10 min 0 s", "5 of 90", "1 warning 2 remarks", "Outcome 0.",
    ]  # fmt: skip
    assert [each[0] for each in cells] == ["done", "failed", "done", "done", "waiting"]
    assert [each[5] for each in cells] == [
        "1 warning 2 remarks", "\N{EN DASH}", "1 error", "none", "\N{EN DASH}",
    ]  # fmt: skip
    assert rows[1].one("span", class_="error").text == "failed"


def test_file_has_numbers_of_days_and_of_findings(app: FastAPI) -> None:
    line = rows_of(app, "/nights.csv?sort=run")[0]
    assert line == {
        "run": "1", "state": "done", "started_at": "2026-11-21T02:00:00Z", "trigger": "schedule", "duration_s": "600.0",
        "days_reduced": "5", "days_total": "90", "errors": "0", "warnings": "1", "remarks": "2", "summary": "Outcome 0.",
    }  # fmt: skip


def test_page_without_the_waiting_run_shows_that_a_run_is_in_progress(app: FastAPI) -> None:
    main = shown(app, "/nights?page=2").one("main").text
    assert "There are no nightly runs on this page." in main
    assert "A run is in progress." in main
    assert "No nightly runs yet" not in main


def test_unknown_sort_key_is_refused(app: FastAPI) -> None:
    for address in ("/nights", "/nights.csv"):
        answer = get(app, f"{address}?sort=summary")
        assert answer.status == 422
        assert "It can be sorted by" in answer.json()["detail"]
