"""The same with the real jobs: a site is simulated, read, summed up, reduced by Spark, fitted, forecast, and taken away."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import URL

from app.db import Database
from app.jobs import processes
from app.jobs.models import JobState
from app.jobs.run import keeper_of
from app.night import looking_around, repository, service
from app.night.models import FitState, Trigger
from app.settings import Settings
from app.usage import service as usage
from tests.app_night.support import queue, results, settings_for, work

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        bool(processes.missing_packages()), reason="the packages of the jobs are not installed"
    ),
    pytest.mark.parametrize("url", ["sqlite"], indirect=True),
]


@pytest.fixture(autouse=True)
def real_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the stand-ins, and less of everything than people look around in."""
    monkeypatch.delenv("PYTHONPATH")
    for name, value in (("DAYS", 49), ("STRUCTURES", 3), ("INTERVAL_MINUTES", 240), ("DAYS_PER_FILE", 25)):
        monkeypatch.setattr(looking_around, name, value)


def test_looking_around_and_forgetting_with_the_real_jobs(
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
        assert not service.has_simulated(session)
        assert usage.list_structures(session).total == 0
    last = work(database, settings, queue(database))
    assert last.job.state == JobState.DONE, last.job.sentence
    assert not any(results(database).values())
