"""Simulated data: one job from generation to forecasts, labels wherever it is shown, and removal in one step."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from app.database.engine import Database
from app.errors import JobBusy
from app.jobs import processes
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.jobs.service import Job
from app.keeper import keeper_of
from app.nightly import report, repository, service
from app.nightly import results as bringing
from app.nightly.looking_around import SimulationKeeper
from app.nightly.models import Trigger
from app.settings import Settings
from app.usage import service as usage
from tests.app.nightly.support import let_go, measured, night, order, put_days, queue, read, results, work


def look_around(database: Database, settings: Settings) -> service.Run:
    return work(database, settings, queue(database, Trigger.SIMULATION))


def forget(database: Database, settings: Settings) -> Job:
    with database.session(writes=True) as session:
        job = service.queue_forgetting(session)
    keeper_of(database, settings, job.id).run()
    with database.session(writes=False) as session:
        return jobs.get(session, job.id)


def has_simulated(database: Database) -> bool:
    with database.session(writes=False) as session:
        return repository.has_simulated(session)


def groups(database: Database) -> set[str]:
    with database.session(writes=False) as session:
        return {item.qsg for item in usage.list_structures(session).items}


def test_simulated_data_is_processed_by_one_job(database: Database, settings: Settings) -> None:
    run = look_around(database, settings)
    assert run.job.state == JobState.DONE, run.job.sentence
    assert groups(database) == {"SIM1"}
    with database.session(writes=False) as session:
        forecasts = repository.latest_forecasts(session)
        assert [(each.qsg, each.structure, each.is_simulated) for each in forecasts] == [
            ("SIM1", "SIMAPP1", True)
        ]
        (finding,) = service.findings_of(session, run.id)
        assert finding.is_simulated
        (curve,) = repository.current_curves(session)
        assert curve.is_simulated
        (level,) = repository.cf_levels(session)
        assert (level.coupling_facility, level.cfcc_level, level.source) == ("SIMCF01", 25, "simulated data")
        assert all(each.is_simulated for each in repository.daily_usage(session, "SIM1", "SIMAPP1"))
        last = max(each.day for each in repository.daily_usage(session, "SIM1", "SIMAPP1"))
    assert last == run.job.created_at.date() - timedelta(days=1)
    assert has_simulated(database)
    assert not list(processes.work_dir(settings).glob("simulated-*"))


def test_report_marks_simulated_data(database: Database, settings: Settings) -> None:
    look_around(database, settings)
    as_data, as_text = (path.read_text(encoding="utf-8") for path in report.files_of(settings))
    assert json.loads(as_data)["is_simulated"] is True
    assert "**Some of these results are based on simulated data and are marked (simulated).**" in as_text
    assert "| SIM1 | SIMAPP1 (simulated) |" in as_text
    assert "`STRUCTURE_FULL` (simulated)" in as_text


def test_removal_deletes_simulated_data_in_one_step_and_keeps_measured_data(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 3, last=date(2024, 5, 5))
    measured(database)
    night(database, settings)
    before = results(database)
    look_around(database, settings)
    assert groups(database) == {"SIM1", "SQ03"}
    gone = forget(database, settings)
    assert gone.state == JobState.DONE, gone.sentence
    assert "4 files" in gone.sentence
    assert not has_simulated(database)
    assert groups(database) == {"SQ03"}
    assert not list((Path(settings.history) / "files").iterdir())
    found = results(database)
    assert found["daily_structure_usage"] == before["daily_structure_usage"]
    assert [row for row in found["forecasts"] if "SIM1" in row] == []
    with database.session(writes=False) as session:
        assert repository.cf_levels(session) == []
        assert [run.trigger for run, _ in repository.page_of_runs(session, offset=0, limit=9)[0]][
            -1
        ] == "request"
    order(settings, result={"scores": []})
    assert night(database, settings).job.state == JobState.DONE
    assert results(database)["daily_structure_usage"] == before["daily_structure_usage"]


def test_installation_with_only_simulated_data_is_empty_after_the_removal(
    database: Database, settings: Settings
) -> None:
    look_around(database, settings)
    forget(database, settings)
    assert not any(results(database).values())
    with database.session(writes=False) as session:
        assert repository.page_of_runs(session, offset=0, limit=9) == ([], 0)
        assert service.newest(session) is None
    assert look_around(database, settings).job.state == JobState.DONE


def test_removal_without_simulated_data_is_not_a_failure(database: Database, settings: Settings) -> None:
    assert forget(database, settings).state == JobState.DONE


def test_removal_keeps_a_real_group_named_like_a_simulated_one(
    database: Database, settings: Settings
) -> None:
    """Rows are removed by their mark and not by the group name, which a site may use itself."""
    put_days(settings, 3, last=date(2024, 5, 5), qsg="SIM9")
    order(settings, result={"simulated": [], "scores": []})
    night(database, settings)
    with database.engine.begin() as connection:
        false = "0" if database.is_sqlite else "false"
        connection.execute(text(f"UPDATE daily_structure_usage SET is_simulated = {false}"))  # noqa: S608
    before = results(database)
    forget(database, settings)
    assert results(database) == before


@pytest.mark.parametrize("begin", [service.queue_forgetting, lambda s: service.queue(s, Trigger.SIMULATION)])
def test_simulation_and_removal_do_not_start_during_a_run(
    database: Database, settings: Settings, begin: Callable[..., object]
) -> None:
    queue(database)
    with database.session(writes=True) as session, pytest.raises(JobBusy):
        begin(session)
    assert not has_simulated(database)
    assert settings.night_hour is None


def test_run_does_not_start_during_a_removal(database: Database, settings: Settings) -> None:
    with database.session(writes=True) as session:
        service.queue_forgetting(session)
    with database.session(writes=True) as session, pytest.raises(JobBusy, match="is being removed"):
        service.queue(session, Trigger.REQUEST)
    assert settings.jobs_at_once == 1


def test_simulation_resumed_after_midnight_writes_the_same_files(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files cover the days before the request, so that no day is in the history twice."""

    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    run = queue(database, Trigger.SIMULATION)
    asked_for = datetime.now(UTC) - timedelta(days=3)
    at = asked_for.strftime("%Y-%m-%d %H:%M:%S.%f") if database.is_sqlite else asked_for
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE job_runs SET created_at = :at"), {"at": at})
    with monkeypatch.context() as patch:
        patch.setattr(bringing, "store", kill)
        with pytest.raises(Killed):
            work(database, settings, run)
    let_go(database)
    assert work(database, settings, run).job.state == JobState.DONE
    assert read(database, run.id).job.attempts == 2
    days = sorted(path.stem for path in Path(settings.history).glob("2*.json"))
    assert len(days) == 4
    assert days[-1] == str(asked_for.date() - timedelta(days=1))


def test_interrupted_removal_is_completed_by_its_next_attempt(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are no longer in the history then, and only the roll-ups show which days they covered."""

    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    look_around(database, settings)
    with database.session(writes=True) as session:
        job = service.queue_forgetting(session)
    with monkeypatch.context() as patch:
        patch.setattr(SimulationKeeper, "_sum_up", kill)
        with pytest.raises(Killed):
            keeper_of(database, settings, job.id).run()
    assert not list((Path(settings.history) / "files").iterdir())
    assert groups(database) == {"SIM1"}
    let_go(database)
    keeper_of(database, settings, job.id).run()
    assert groups(database) == set()
    assert not has_simulated(database)
