"""Nightly runs with the real jobs: a site is simulated, ingested, rolled up, reduced by Spark, fitted, forecast and removed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from app.jobs import processes
from app.jobs.models import JobState
from app.keeper import keeper_of
from app.nightly import looking_around, repository, service
from app.nightly.models import FitState, Trigger
from app.settings import Settings
from app.usage import service as usage
from tests.app.nightly.support import RESULTS, command, command_process, queue, results, settings_for, work
from tests.prepared import Started

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        bool(processes.missing_packages()), reason="the packages of the jobs are not installed"
    ),
    pytest.mark.parametrize("url", ["sqlite"], indirect=True),
]


@pytest.fixture(autouse=True)
def real_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the real jobs with a smaller simulation than the default."""
    monkeypatch.delenv("PYTHONPATH")
    for name, value in (("DAYS", 49), ("STRUCTURES", 3), ("INTERVAL_MINUTES", 240), ("DAYS_PER_FILE", 25)):
        monkeypatch.setattr(looking_around, name, value)


def test_simulated_data_is_added_and_removed_by_the_real_jobs(
    database: Database, url: URL, tmp_path: Path
) -> None:
    settings: Settings = settings_for(url, tmp_path)
    run = work(database, settings, queue(database, Trigger.SIMULATION))
    assert run.job.state == JobState.DONE, run.job.sentence
    assert run.days_total is not None
    assert run.days_total > 40
    assert {"reducing", "fitting", "forecasting"} <= set(run.seconds)
    with database.session(writes=False) as session:
        curves = repository.current_curves(session)
        assert {curve.coupling_facility for curve in curves} <= {"SIMCF01", "SIMCF02"}
        assert curves
        assert all(curve.is_simulated and curve.state == FitState.ACCEPTED for curve in curves)
        assert all(curve.cfcc_level is not None for curve in curves)
        forecasts = repository.latest_forecasts(session)
        assert {(each.qsg, each.is_simulated) for each in forecasts} == {("SIM1", True)}
        assert any(each.state == "forecast" for each in forecasts)
        assert all(each.is_simulated for each in service.findings_of(session, run.id))
        assert {item.qsg for item in usage.list_structures(session).items} == {"SIM1"}
    again = work(database, settings, queue(database))
    assert (again.days_reduced, again.job.state) == (0, JobState.DONE), again.job.sentence
    with database.session(writes=True) as session:
        job = service.queue_forgetting(session)
    keeper_of(database, settings, job.id).run()
    with database.session(writes=False) as session:
        assert not repository.has_simulated(session)
        assert usage.list_structures(session).total == 0
    last = work(database, settings, queue(database))
    assert last.job.state == JobState.DONE, last.job.sentence
    assert not any(results(database).values())


def ingested(database: Database, settings: Settings, folder: Path) -> None:
    """Ingest a simulated site into the usage history, without a nightly run."""
    made = folder / "simulated"
    simulate = processes.simulate_command(
        made, days=49, structures=3, queue_managers=2, interval_minutes=240, seed=7, days_per_file=25,
        last_day=date(2026, 11, 19),
    )  # fmt: skip
    subprocess.run(simulate, check=True, stdout=subprocess.DEVNULL)
    read = processes.ingest_command(
        settings, sorted(made.glob("*.smf")), qsg=["SIMA:SM01=SIM1", "SIMA:SM02=SIM1"]
    )
    subprocess.run(read, check=True, stdout=subprocess.DEVNULL)
    assert database.revision()


@pytest.mark.soak
def test_real_runs_killed_at_random_instants_are_completed(
    database: Database, url: URL, tmp_path: Path
) -> None:
    """Kill the command, the service's keeper or the job; each round starts without daily statistics."""
    settings = settings_for(url, tmp_path)
    ingested(database, settings, tmp_path)
    daily = Path(settings.history) / "_daily"
    moments = random.Random(20261121)
    expected: dict[str, list[tuple[Any, ...]]] | None = None
    cut_off = 0
    for number in range(13):
        forget_nights(database)
        shutil.rmtree(daily, ignore_errors=True)
        if number:
            with command_process(settings, "nightly") as process:
                wait_for_job(settings, process, seconds=moments.uniform(0, 25))
                if number % 3 == 0:
                    kill_jobs(settings)
                else:
                    process.kill()
        assert results(database) in ({name: [] for name in RESULTS}, expected), "results appeared in part"
        cut_off += bool(number) and results(database) != expected
        done = command(settings, "nightly")
        assert done.returncode == 0, done.stderr
        expected = results(database) if expected is None else expected
        assert results(database) == expected, f"after kill {number}"
    assert cut_off > 3, "nearly every run had ended before it was killed: the test proves nothing"


@pytest.mark.soak
def test_command_whose_real_job_is_killed_starts_it_again_and_completes(
    database: Database, url: URL, tmp_path: Path
) -> None:
    settings = settings_for(url, tmp_path)
    ingested(database, settings, tmp_path)
    with command_process(settings, "nightly") as process:
        wait_for_job(settings, process, seconds=2)
        killed = jobs_of(settings)
        assert killed, "the job had ended before it was killed: the test proves nothing"
        kill_jobs(settings)
        assert process.wait() == 0
    found = results(database)
    forget_nights(database)
    shutil.rmtree(Path(settings.history) / "_daily", ignore_errors=True)
    assert command(settings, "nightly").returncode == 0
    assert results(database) == found


def forget_nights(database: Database) -> None:
    with database.engine.begin() as connection:
        for table in (*RESULTS[::-1], "nightly_runs", "job_runs"):
            connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608 - names of our own


def jobs_of(settings: Settings) -> list[int]:
    """Return the processes of the nightly run on this history."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if b"spark_jobs.night" in words and settings.history.encode() in words:
                found.append(int(path.parent.name))
    return found


def wait_for_job(settings: Settings, process: Started, *, seconds: float) -> None:
    while process.poll() is None and not jobs_of(settings):
        time.sleep(0.05)
    time.sleep(seconds)


def kill_jobs(settings: Settings) -> None:
    for pid in jobs_of(settings):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
