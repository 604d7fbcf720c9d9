"""Answers of a real Prometheus to the queries of the dashboard, for deploy/grafana/picture, and the picture of the result.

`python -m tests.deployment.dashboard_picture answers FILE` lets an application with invented structures export its metrics
every two hours for 30 days, loads them into Prometheus, and writes its answers. `... picture PAGE FILE` draws the page that
deploy/grafana/picture built from them. deploy/grafana/picture/README.md describes all steps.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import FastAPI
from sqlalchemy import insert

from app.clock import utc_now
from app.jobs.models import JobRun, JobState
from app.main import create_app
from app.nightly.models import NightlyRun
from app.settings import Settings
from app.uploads.job_kind import INGEST
from app.usage import repository
from app.usage.models import HourlyStructureUsage
from planner_core.units import MIB
from tests.app.fits.support import MADE_ON, crossing_json, fit_json, forecast_json, store_night
from tests.app.fleet.support import ELEMENTS, ENTRIES, LAST_HOUR, save_plan
from tests.app.web.support import get
from tests.chromium import LAUNCH_FLAGS, find_chromium
from tests.deployment.dashboard import dashboard, prometheus, queries, query, query_range, variables

OPENMETRICS: Final = "application/openmetrics-text; version=1.0.0"
DAYS: Final = 30
END: Final = LAST_HOUR + timedelta(hours=1, minutes=30)
"""The time at which the dashboard is shown."""
STEP: Final = timedelta(hours=2)
NIGHTLY_AT: Final = 2
"""Hour (UTC) of the nightly runs."""
HORIZON_DAYS: Final = 180
LEVELS: Final = {"70 %": 70.0, "85 %": 85.0, "SIZE": 130.0}
"""Limits in percent of the elements that the structure has now; it can grow to SIZE."""
WIDTH: Final = 1440


class Invented(NamedTuple):
    """A structure of the picture."""

    qsg: str
    name: str
    percent: float
    """Share in use at the usual daily peak, at the end."""
    growth: float
    """Percentage points a day."""
    size_mib: int
    facilities: str


STRUCTURES: Final = (
    Invented("SQ03", "PAYMENTS", 78, 0.55, 2048, "CF01 CF02"),
    Invented("SQ03", "ORDERS", 64, 0.32, 4096, "CF01"),
    Invented("SQ03", "CARDS", 52, 0.05, 1024, "CF02"),
    Invented("SQ03", "BATCH", 88, 0.02, 512, "CF02"),
    Invented("SQ03", "CSQ_ADMIN", 21, 0.0, 64, "CF01 CF02"),
    Invented("SQ07", "CLAIMS", 71, 0.2, 1024, "CF02"),
    Invented("SQ07", "QUOTES", 43, 0.12, 512, "CF01"),
    Invented("SQ07", "ARCHIVE", 97, 0.1, 256, "CF01"),
)
FULL: Final = ("SQ07", "ARCHIVE")


def percent_at(each: Invented, at: datetime) -> float:
    """Return the share of a structure in use in an hour: growth, less at night, and half at the weekend."""
    days = (at - END).total_seconds() / 86400
    daily = 0.75 + 0.25 * math.cos(2 * math.pi * (at.hour - 14) / 24)
    weekly = 0.6 if at.weekday() >= 5 else 1.0
    return min(100.0, (each.percent + each.growth * days) * daily * weekly)


def add_hour(app: FastAPI, at: datetime) -> None:
    """Store one measured hour of all structures."""
    rows = [
        {
            "qsg": each.qsg,
            "structure": each.name,
            "hour": at,
            "entries_in_use_max": 10,
            "elements_in_use_max": round(ELEMENTS * percent_at(each, at) / 100),
            "entries_total": ENTRIES,
            "elements_total": ELEMENTS,
            "size_bytes": each.size_mib * MIB,
            "structure_full_count": int((each.qsg, each.name) == FULL and at.hour == 13 and at.day == 18),
            "coupling_facilities": each.facilities,
            "is_duplexed": " " in each.facilities,
            "sources": "115-2 QEST",
        }
        for each in STRUCTURES
    ]
    with app.state.database.session(writes=True) as session:
        session.execute(insert(HourlyStructureUsage), rows)
        repository.update_lists(session, structures={(each.qsg, each.name) for each in STRUCTURES}, queues=())


def crossing(level: str, each: Invented, made_on: date) -> dict[str, Any]:
    """Return the crossing of a level: a straight line, with bounds at 60 % and 180 % of its days."""
    percent = each.percent + each.growth * (made_on - MADE_ON).days
    missing, value = LEVELS[level] - percent, LEVELS[level] * ELEMENTS / 100
    if missing <= 0:
        return {**crossing_json(level, value, None, None, None), "state": "already_crossed"}
    expected = [missing / each.growth * factor for factor in (0.6, 1, 1.8)] if each.growth else [math.inf] * 3
    days = [round(day) if day <= HORIZON_DAYS else None for day in expected]
    dates = [None if day is None else (made_on + timedelta(days=day)).isoformat() for day in days]
    made = crossing_json(level, value, *days)
    return {**made, "dates": dict(zip(("p10", "p50", "p90"), dates, strict=True))}


def add_nightly_run(app: FastAPI, at: datetime) -> None:
    """Store the results of a nightly run that took twelve minutes."""
    made_on = at.date() - timedelta(days=1)
    number = store_night(
        app.state.database,
        curves=[fit_json(coupling_facility=name, last_day=made_on.isoformat()) for name in ("CF01", "CF02")],
        forecasts=[
            forecast_json(
                qsg=each.qsg,
                structure=each.name,
                made_on=made_on,
                crossings=[crossing(level, each, made_on) for level in LEVELS],
            )
            for each in STRUCTURES
        ],
        last_day=made_on,
    )
    with app.state.database.session(writes=True) as session:
        run = session.get_one(NightlyRun, number)
        job = session.get_one(JobRun, run.job_id)
        job.created_at, job.ended_at = at, at + timedelta(minutes=12)


def add_waiting_job(app: FastAPI) -> None:
    """Store a job that has waited for four minutes."""
    with app.state.database.session(writes=True) as session:
        session.add(
            JobRun(
                kind=INGEST, state=JobState.QUEUED, stage="", done=0, total=0, sentence="", attempts=0, owner="",
                created_at=utc_now() - timedelta(minutes=4), log="",
            )
        )  # fmt: skip


def scrapes(folder: Path) -> Iterator[str]:
    """Yield the samples of an application every two hours, with their times."""
    app = create_app(Settings(data_dir=folder))
    facilities = [
        {"name": "CF01", "size": "16G", "cfcc_level": 25},
        {"name": "CF02", "size": "12G", "cfcc_level": 25},
    ]
    save_plan(app, coupling_facilities=facilities)
    at = END - timedelta(days=DAYS)
    while at <= END:
        hour = at.replace(minute=0, second=0, microsecond=0)
        add_hour(app, hour - timedelta(hours=1))
        if hour.hour == NIGHTLY_AT:
            add_nightly_run(app, hour)
        if at == END:
            add_waiting_job(app)
        for nth in range(1 if at.weekday() >= 5 else 2 + hour.hour % 5):
            get(app, "/api/v1/plans" if nth % 2 else "/api/v1/plans/MISSING")
        yield from samples(get(app, "/metrics", accept=OPENMETRICS).text, at)
        at += STEP


def samples(text: str, at: datetime) -> Iterator[str]:
    """Yield the samples of a scrape with their time and the labels that Prometheus adds."""
    # The example configuration's job and target.
    own = 'job="cfplan",instance="127.0.0.1:8000"'
    for line in (*text.splitlines(), "up 1"):
        if line.startswith("#"):
            continue
        name, value = line.rsplit(" ", 1)
        name, _, labels = name.partition("{")
        # Prometheus drops labels without a value when it scrapes.
        labels = ",".join(
            each for each in (own, labels.removesuffix("}").replace('queue_manager="",', "")) if each
        )
        yield f"{name}{{{labels}}} {value} {at.timestamp():.0f}"


def write_answers(path: Path) -> None:
    """Write the answers of Prometheus to all queries of the dashboard."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "metrics.txt").open("w") as file:
            file.writelines(f"{line}\n" for line in (*scrapes(folder / "data"), "# EOF"))
        subprocess.run(
            [
                "promtool",
                "tsdb",
                "create-blocks-from",
                "openmetrics",
                str(folder / "metrics.txt"),
                str(folder / "series"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        end, start = END.timestamp(), (END - timedelta(days=DAYS)).timestamp()
        # A rate needs several samples: Grafana's interval is four times that of the scrapes.
        values = variables(__rate_interval="8h")
        # A gap of two hours between samples would be missing data for Prometheus, which looks back five minutes by default.
        options = ("--storage.tsdb.retention.time=1y", "--query.lookback-delta=150m")
        with prometheus(folder, {}, *options) as server:
            answers = [
                each._asdict()
                | {
                    "result": query(server, each.text, end)
                    if each.is_instant
                    else query_range(server, each.text, start, end, STEP.total_seconds())
                }
                for each in queries(values)
            ]
    path.write_text(
        json.dumps(
            {"dashboard": dashboard(), "from": start, "to": end, "variables": values, "answers": answers}
        )
    )


def draw(page: Path, picture: Path, *, theme: str) -> None:
    """Draw a page of deploy/grafana/picture with Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=[*LAUNCH_FLAGS, "--allow-file-access-from-files"]
        )
        shown = browser.new_page(viewport={"width": WIDTH, "height": 900}, timezone_id="UTC")
        shown.on("console", lambda message: print(message.text) if message.type == "error" else None)
        shown.on("requestfailed", lambda request: print(request.url))
        shown.on("pageerror", lambda error: print(error))
        shown.goto(f"{page.resolve().as_uri()}#{theme}")
        shown.wait_for_selector("#drawn", timeout=15_000)
        shown.wait_for_timeout(1500)
        shown.screenshot(path=picture, full_page=True)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("answers").add_argument("file", type=Path)
    drawing = commands.add_parser("picture")
    drawing.add_argument("page", type=Path)
    drawing.add_argument("file", type=Path)
    drawing.add_argument("--theme", default="light", choices=["light", "dark"])
    given = parser.parse_args()
    if given.command == "answers":
        write_answers(given.file)
    else:
        draw(given.page, given.file, theme=given.theme)


if __name__ == "__main__":
    main()
