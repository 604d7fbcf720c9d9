"""A history of days, and shared calls of the tests of nightly runs."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import URL, inspect, text

from app.database.engine import Database
from app.keeper import keeper_of
from app.nightly import service
from app.nightly.models import Trigger
from app.nightly.service import Run
from app.settings import Settings
from app.usage.models import StoredMeasuredStructure
from tests.app.web.support import Answer
from tests.app.web.support import call as call
from tests.prepared import Started, commands

__all__ = ["Answer", "call"]

JOBS = Path(__file__).parent / "jobs"
"""Folder of the stand-ins for the jobs."""
LAST = date(2025, 11, 20)


def settings_for(url: URL, folder: Path, **settings: Any) -> Settings:  # noqa: ANN401 - any setting
    """Return settings with this database, a data folder of the test's own and no schedule."""
    given = {"night_hour": None, **settings}
    return Settings(database_url=url.render_as_string(hide_password=False), data_dir=folder / "data", **given)


def put_day(settings: Settings, day: date, *, peak: int, qsg: str = "SQ03", structure: str = "APP1") -> None:
    """Write a day to the history of the stand-in."""
    folder = Path(settings.history)
    folder.mkdir(parents=True, exist_ok=True)
    content = {"qsg": qsg, "structure": structure, "entries_peak": peak}
    (folder / f"{day}.json").write_text(json.dumps(content), encoding="utf-8")


def put_days(settings: Settings, count: int, *, last: date = LAST, **values: Any) -> None:  # noqa: ANN401
    """Write days up to the last one, each slightly fuller than the one before."""
    for number in range(count):
        put_day(settings, last - timedelta(days=count - 1 - number), peak=500 + number, **values)


def order(settings: Settings, **orders: Any) -> None:  # noqa: ANN401 - what the stand-in knows
    """Write orders for the stand-in."""
    folder = Path(settings.history)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "orders.json").write_text(json.dumps(orders), encoding="utf-8")


def called(settings: Settings) -> dict[str, Any]:
    """Return the arguments of the last call of the stand-in."""
    found: dict[str, Any] = json.loads((Path(settings.history) / "called.json").read_text(encoding="utf-8"))
    return found


def times_run(settings: Settings) -> int:
    return len(starts(settings))


def starts(settings: Settings) -> list[str]:
    """Return the option --in-process-below of each start of the job, empty if it was not given."""
    path = Path(settings.history) / "times-run"
    return [line.partition(" ")[2] for line in path.read_text().splitlines()] if path.exists() else []


def queue(database: Database, trigger: Trigger = Trigger.REQUEST, *, due_on: date | None = None) -> Run:
    with database.session(writes=True) as session:
        run = service.queue(session, trigger, due_on=due_on)
        return service.get(session, run.id)


def work(database: Database, settings: Settings, run: Run) -> Run:
    """Run the keeper of a run in this process; its job is a separate process."""
    keeper_of(database, settings, run.job.id).run()
    return read(database, run.id)


def night(database: Database, settings: Settings) -> Run:
    """Queue and execute a complete run."""
    return work(database, settings, queue(database))


def read(database: Database, run_id: int) -> Run:
    with database.session(writes=False) as session:
        return service.get(session, run_id)


def let_go(database: Database) -> None:
    """Mark every process that works on a run as gone."""
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE job_runs SET heartbeat_at = NULL WHERE state = 'running'"))


def measured(database: Database, qsg: str = "SQ03") -> None:
    """Store measured usage, so that a nightly run has data."""
    at = datetime(2026, 11, 20, 9, tzinfo=UTC)
    with database.session(writes=True) as session:
        session.add(StoredMeasuredStructure(qsg=qsg, structure="APP1", first_hour=at, last_hour=at))


def environment(settings: Settings) -> dict[str, str]:
    return {**os.environ, **settings.as_environment()}


def command(settings: Settings, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a separate process."""
    return commands().run("app.cli", *words, environment=environment(settings))


def command_process(settings: Settings, *words: str) -> Started:
    return commands().start("app.cli", *words, environment=environment(settings))


def keeper_process(settings: Settings, run: Run | int) -> Started:
    job_id = run if isinstance(run, int) else run.job.id
    return commands().start("app.keeper", str(job_id), environment=environment(settings))


RESULTS = ("fitted_curves", "forecasts", "forecast_scores", "night_findings", "daily_structure_usage")
NOT_COMPARED = {"id", "run_id", "forecast_id", "made_at", "scored_at"}
"""Run numbers and times, which differ between attempts."""


def results(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return all results of nightly runs without run numbers and times."""
    found = {}
    with database.engine.connect() as connection:
        for table in RESULTS:
            names = [
                c["name"] for c in inspect(connection).get_columns(table) if c["name"] not in NOT_COMPARED
            ]
            listed = ", ".join(f'"{name}"' for name in names)
            rows = connection.execute(text(f"SELECT {listed} FROM {table}"))  # noqa: S608 - names of our own
            found[table] = sorted((tuple(row) for row in rows), key=repr)
    return found
