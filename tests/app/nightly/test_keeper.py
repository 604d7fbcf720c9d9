"""One nightly run from its claim to its end; the job is a stand-in that follows orders."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.errors import JobBusy
from app.jobs import processes
from app.jobs import repository as job_rows
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.jobs.watcher import Watcher
from app.nightly import keeper as keeping
from app.nightly import report, repository, service
from app.nightly import results as bringing
from app.nightly.models import FitState, ForecastScore, StoredForecast, Trigger
from app.nightly.service import SeverityCounts
from app.plans import service as plans
from app.settings import Settings
from app.zosmf.service import list_drifts
from tests.app.nightly.support import (
    LAST,
    called,
    keeper_process,
    let_go,
    night,
    order,
    put_day,
    put_days,
    queue,
    read,
    results,
    times_run,
    work,
)
from tests.app.plans.support import plan
from tests.connections_support.server import write_file

on_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
"""Marks tests that do not depend on the kind of database."""


def log(database: Database, job_id: int) -> str:
    with database.session(writes=False) as session:
        return jobs.log_of(session, job_id)


def test_run_stores_the_results_of_its_job_and_ends_with_a_message(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 5)
    put_day(settings, LAST, peak=950)
    run = night(database, settings)
    assert run.job.state == JobState.DONE, run.job.sentence
    assert run.job.sentence == ("1 finding; 1 new fit, 1 new forecast. 5 of 5 days of the history were read.")
    assert (run.days_total, run.days_reduced, run.rows_read) == (5, 5, 500)
    assert (run.first_day, run.last_day) == (LAST - timedelta(days=4), LAST)
    assert run.seconds == {"reducing": 0.5, "fitting": 0.1}
    assert run.finding_counts == SeverityCounts(warning=1)
    assert {name: len(rows) for name, rows in results(database).items()} == {
        "fitted_curves": 1, "forecasts": 1, "forecast_scores": 0, "night_findings": 1, "daily_structure_usage": 5,
    }  # fmt: skip
    said = log(database, run.job.id)
    assert "WARN a word of Spark" in said
    assert "started: spark_jobs.night" in said


def test_empty_history_is_not_a_failure(database: Database, settings: Settings) -> None:
    Path(settings.history).mkdir(parents=True)
    run = night(database, settings)
    assert run.job.state == JobState.DONE, run.job.sentence
    assert "empty" in run.job.sentence
    assert not any(results(database).values())


def test_reason_of_a_failed_job_is_shown_and_nothing_is_stored(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 3)
    order(settings, fail="The history cannot be read.")
    run = night(database, settings)
    assert run.job.state == JobState.FAILED
    assert run.job.sentence == "The history cannot be read."
    assert run.stored_at is None
    assert not any(results(database).values())


@on_sqlite
@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": 2},
        {"curves": [{"state": "fine"}]},
        {"first_day": "yesterday"},
        {"daily": [{"qsg": "SQ03"}]},
    ],
)
def test_result_of_another_version_is_refused_and_nothing_is_stored(
    database: Database, settings: Settings, wrong: dict[str, Any]
) -> None:
    put_days(settings, 3)
    order(settings, result=wrong)
    run = night(database, settings)
    assert run.job.state == JobState.FAILED
    assert "same version" in run.job.sentence
    assert not any(results(database).values())


@on_sqlite
def test_library_output_on_the_wrong_stream_is_ignored(database: Database, settings: Settings) -> None:
    put_days(settings, 3)
    order(settings, noise=True)
    run = night(database, settings)
    assert run.job.state == JobState.DONE, run.job.sentence
    assert "wrong stream" in log(database, run.job.id)


@on_sqlite
def test_job_that_crashes_after_its_last_line_counts_as_succeeded(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 3)
    order(settings, crash="exit")
    assert night(database, settings).job.state == JobState.DONE


# ---- what the job is told --------------------------------------------------------------------------------------------


@on_sqlite
def test_job_receives_settings_and_planned_structures(database: Database, settings: Settings) -> None:
    put_days(settings, 3)
    told = settings.model_copy(update={"lead_time_days": 45, "oversize_percent": 25.0, "forecast_days": 90})
    with database.session(writes=True) as session:
        plans.save_plan(session, "SQ03-PLAN", plan())
    night(database, told)
    facts, argv = called(settings)["facts"], called(settings)["argv"]
    assert (facts["lead_time_days"], facts["oversize_share"], facts["horizon_days"]) == (45, 0.25, 90)
    assert argv[argv.index("--horizon") + 1] == "90"
    assert date.fromisoformat(facts["today"]) >= LAST
    with database.session(writes=False) as session:
        stored = plans.get_plan(session, "SQ03-PLAN")
    expected = next(each for each in stored.result["structures"] if each["role"] == "application")
    found = facts["plans"][0]
    assert (found["plan"], found["version"], found["qsg"]) == ("SQ03-PLAN", 1, stored.document.qsg)
    assert found["structure"] == expected["name"]
    assert found["initsize_bytes"] == expected["initsize_kib"] * 1024
    assert found["need_bytes"] == expected["need_bytes"]
    assert found["ratio"] == [1, 6]
    assert {each["structure"] for each in facts["plans"]}.isdisjoint({"CSQ_ADMIN", "CSQSYSAPPL"})
    assert [rule["size_over_bytes"] for rule in found["offload_rules"]] == [32 * 1024, 4 * 1024, 0]


@on_sqlite
def test_job_receives_cfcc_levels_of_the_site_or_of_agreeing_plans(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 3)

    def facilities(**levels: int) -> list[dict[str, Any]]:
        return [{"name": name, "size": "64G", "cfcc_level": level} for name, level in levels.items()]

    with database.session(writes=True) as session:
        plans.save_plan(session, "ONE", plan(coupling_facilities=facilities(CF01=24, CF02=25)))
        plans.save_plan(session, "TWO", plan(coupling_facilities=facilities(CF01=25, CF02=25)))
    night(database, settings)
    assert called(settings)["facts"]["cfcc_levels"] == {"CF02": 25}
    from app.fits import levels

    with database.session(writes=True) as session:
        levels.put(session, "CF01", 24)
        levels.put(session, "CF02", 26)
    run = night(database, settings)
    assert called(settings)["facts"]["cfcc_levels"] == {"CF01": 24, "CF02": 26}
    assert "CF01 24, CF02 26" in log(database, run.job.id)


@on_sqlite
def test_cluster_from_the_environment_is_passed_to_the_job(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://127.0.0.1:7077")
    put_days(settings, 1)
    night(database, settings)
    assert "--master=spark://127.0.0.1:7077" in called(settings)["argv"]


# ---- one night after the other ---------------------------------------------------------------------------------------


def test_second_run_over_the_same_days_changes_nothing(database: Database, settings: Settings) -> None:
    put_days(settings, 4)
    night(database, settings)
    before = results(database)
    run = night(database, settings)
    assert run.job.sentence.startswith("0 findings; 0 new fits, 0 new forecasts. 0 of 4 days")
    assert results(database) == before


def test_changed_fit_becomes_a_new_current_version(database: Database, settings: Settings) -> None:
    put_days(settings, 4)
    night(database, settings)
    put_days(settings, 5)
    night(database, settings)
    with database.session(writes=False) as session:
        fits, total = repository.page_of_curves(session, offset=0, limit=10)
        assert total == 2
        assert [(fit.id, fit.is_current) for fit in fits] == [(2, True), (1, False)]
        assert [fit.id for fit in repository.current_curves(session)] == [2]


def test_rejected_fit_is_stored_with_its_reason_and_keeps_the_current_one(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 4)
    night(database, settings)
    rejected = {
        "state": "rejected", "reason": "An element of 100 bytes is too small.", "coupling_facility": "CF01",
        "cfcc_level": None, "qsgs": ["SQ03"],
    }  # fmt: skip
    order(settings, result={"curves": [rejected]})
    night(database, settings)
    with database.session(writes=False) as session:
        newest = repository.find_curve(session, 2)
        assert newest is not None
        assert (newest.state, newest.is_current) == (FitState.REJECTED, False)
        assert newest.reason == "An element of 100 bytes is too small."
        assert [fit.id for fit in repository.current_curves(session)] == [1]
    night(database, settings)
    assert len(results(database)["fitted_curves"]) == 2, "the same rejection was stored again"


def test_latest_forecasts_are_those_of_the_last_run(database: Database, settings: Settings) -> None:
    put_days(settings, 3)
    put_days(settings, 3, last=LAST - timedelta(days=3), structure="APP2")
    night(database, settings)
    for day in range(3):
        (Path(settings.history) / f"{LAST - timedelta(days=3 + day)}.json").unlink()
    put_days(settings, 4, last=LAST + timedelta(days=1))
    night(database, settings)
    with database.session(writes=False) as session:
        assert [each.structure for each in repository.latest_forecasts(session)] == ["APP1"]
        assert (
            len(repository.forecasts_of_series(session, qsg="SQ03", structure="APP1", measure="entries")) == 2
        )
        assert (
            len(repository.forecasts_of_series(session, qsg="SQ03", structure="APP2", measure="entries")) == 1
        )


def test_days_missing_from_the_history_are_removed(database: Database, settings: Settings) -> None:
    put_days(settings, 4)
    night(database, settings)
    (Path(settings.history) / f"{LAST - timedelta(days=2)}.json").unlink()
    night(database, settings)
    assert len(results(database)["daily_structure_usage"]) == 3


def test_days_reduced_by_a_failed_run_are_stored_by_the_next(database: Database, settings: Settings) -> None:
    put_days(settings, keeping.MOST_STARTS)
    order(settings, crash="reducing")  # at each start, after one more day
    assert night(database, settings).job.state == JobState.FAILED
    order(settings)
    run = night(database, settings)
    assert run.days_reduced == 0
    assert len(results(database)["daily_structure_usage"]) == keeping.MOST_STARTS


def test_second_forecast_on_a_day_replaces_the_first(database: Database, settings: Settings) -> None:
    put_days(settings, 4)
    put_days(settings, 4, last=LAST - timedelta(days=4), structure="APP2")
    night(database, settings)
    put_day(settings, LAST, peak=850)  # more of the day was read after the first run
    put_day(settings, LAST + timedelta(days=1), peak=600, structure="APP3")
    run = night(database, settings)
    assert run.brought is not None
    assert run.brought.forecasts == 2
    with database.session(writes=False) as session:
        kept, _ = repository.page_of_forecasts(session, offset=0, limit=10, latest_only=False)
        assert sorted((each.structure, each.run_id, each.is_latest) for each in kept) == [
            ("APP1", run.id, True),
            ("APP2", 1, True),
            ("APP3", run.id, True),
        ]
        due = LAST + timedelta(days=7)
        assert [each.structure for each in repository.forecasts_to_score(session, due)] == ["APP2", "APP1"]


def test_due_forecasts_are_passed_to_the_job_and_their_scores_stored(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 4)
    night(database, settings)
    put_day(settings, LAST + timedelta(days=6), peak=510)
    night(database, settings)
    with database.session(writes=False) as session:
        assert scores_of(session, 1) == [], "its seventh day is past by the calendar, but not measured"
    put_day(settings, LAST + timedelta(days=7), peak=510)
    run = night(database, settings)
    told = called(settings)["facts"]["past_forecasts"]
    assert [each["id"] for each in told] == [1, 2]
    assert told[0]["json"]["structure"] == "APP1"
    night(database, settings)
    with database.session(writes=False) as session:
        (score,) = scores_of(session, 1)
        assert (score.run_id, score.days_scored, score.coverage80) == (run.id, 7, 0.8)
        assert repository.last_scores(session, [1])[1].id == score.id


def scores_of(session: Session, forecast_id: int) -> list[ForecastScore]:
    return list(session.scalars(select(ForecastScore).where(ForecastScore.forecast_id == forecast_id)))


@pytest.mark.parametrize("is_done", [True, False])
def test_old_forecasts_are_removed_except_the_latest_and_unscored_ones(
    database: Database, settings: Settings, is_done: bool
) -> None:
    kept = settings.model_copy(update={"forecasts_kept_days": 10})
    put_days(settings, 4, last=LAST - timedelta(days=30))
    night(database, kept)
    put_day(settings, LAST - timedelta(days=22), peak=510, structure="APP2")
    night(database, kept)  # scores it; nothing newer: it stays
    with database.session(writes=True) as session:
        (old,) = repository.forecasts_of_series(session, qsg="SQ03", structure="APP1", measure="entries")
        number = old.id
        assert scores_of(session, number)
        session.execute(update(StoredForecast).values(score_on=None if is_done else date(2099, 1, 1)))
    put_days(settings, 4)
    night(database, kept)
    with database.session(writes=False) as session:
        series = repository.forecasts_of_series(session, qsg="SQ03", structure="APP1", measure="entries")
        old_day = [] if is_done else [LAST - timedelta(days=30)]
        assert [each.made_on for each in series] == [LAST, *old_day]
        assert bool(scores_of(session, number)) is not is_done


# ---- one run at a time -----------------------------------------------------------------------------------------------


def test_second_run_is_not_started_while_one_is_queued_or_running(
    database: Database, settings: Settings
) -> None:
    queue(database)
    with database.session(writes=True) as session, pytest.raises(JobBusy, match="Nightly run 1"):
        service.queue(session, Trigger.COMMAND)
    assert settings.jobs_at_once == 1


def test_two_queued_runs_are_never_claimed_at_the_same_time(database: Database, settings: Settings) -> None:
    first = queue(database)
    with database.session(writes=True) as session:  # as if it had come in between
        second = jobs.queue(session, "night")
    claimed = []
    for job_id in (first.job.id, second.id):
        with database.session(writes=True) as session:
            claim = jobs.claim(session, job_id, owner=f"owner {job_id}", at_once=99)
            claimed.append(claim is not None)
    assert claimed == [True, False]


def test_run_waits_for_an_upload_only_with_one_job_at_a_time(database: Database, settings: Settings) -> None:
    with database.session(writes=True) as session:
        upload = jobs.queue(session, "ingest")
        assert jobs.claim(session, upload.id, owner="x", at_once=1) is not None
    run = queue(database)
    assert work(database, settings, run).job.state == JobState.QUEUED
    put_days(settings, 1)
    assert work(database, settings.model_copy(update={"jobs_at_once": 2}), run).job.state == JobState.DONE


# ---- cut off ---------------------------------------------------------------------------------------------------------


def test_run_interrupted_before_storing_is_completed_without_rerunning_the_job(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_days(settings, 4)
    run = queue(database)

    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(bringing, "store", kill)
        with pytest.raises(Killed):
            work(database, settings, run)
    assert read(database, run.id).job.state == JobState.RUNNING
    assert not any(results(database).values())
    let_go(database)
    assert work(database, settings, run).job.state == JobState.DONE
    assert times_run(settings) == 1
    assert len(results(database)["forecasts"]) == 1
    assert "storing the result of an earlier attempt" in log(database, run.job.id)
    assert not list(processes.work_dir(settings).glob("night-*"))


def test_run_taken_over_by_another_keeper_stores_nothing(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_days(settings, 3)
    run = queue(database)
    read_result = bringing.read_result

    def taken_over(path: Path) -> object:
        found = read_result(path)
        with database.engine.begin() as connection:
            connection.execute(text("UPDATE job_runs SET owner = 'another'"))
        return found

    monkeypatch.setattr(bringing, "read_result", taken_over)
    work(database, settings, run)
    assert read(database, run.id).job.state == JobState.RUNNING
    assert not any(results(database).values())


@on_sqlite
def test_incomplete_result_file_is_ignored(database: Database, settings: Settings) -> None:
    put_days(settings, 3)
    run = queue(database)
    folder = keeping.folder_of(processes.work_dir(settings), run.job.id)
    folder.mkdir(parents=True)
    (folder / keeping.RESULT).write_text('{"schema": 1, "days_tot', encoding="utf-8")
    assert work(database, settings, run).job.state == JobState.DONE
    assert times_run(settings) == 1


@on_sqlite
def test_application_error_fails_the_run_with_a_traceback_in_the_log(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object, **__: object) -> None:
        raise KeyError("days")

    put_days(settings, 3)
    with monkeypatch.context() as patch:
        patch.setattr(bringing, "store", faulty)
        run = night(database, settings)
    assert run.job.state == JobState.FAILED
    assert "error in cfplan" in run.job.sentence
    assert "in faulty" in log(database, run.job.id)
    assert not any(results(database).values())


def damage_the_plan(database: Database) -> None:
    with database.session(writes=True) as session:
        plans.save_plan(session, "P", plan())
        session.execute(text("UPDATE plan_versions SET document = substr(document, 1, 100)"))


@on_sqlite
def test_damaged_plan_fails_the_run_at_once_with_the_name_of_the_plan(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 3)
    damage_the_plan(database)
    run = night(database, settings)
    assert (run.job.state, run.job.attempts) == (JobState.FAILED, 1)
    assert run.job.sentence == (
        "Version 1 of the plan P cannot be read, because its data in the database is damaged. The operator may have to "
        "restore a backup."
    )
    assert "JSONDecodeError" in log(database, run.job.id)
    assert database.damage.is_found


@on_sqlite
def test_damage_that_the_process_of_a_job_finds_is_known_to_the_service(
    database: Database, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    put_days(settings, 3)
    damage_the_plan(database)
    run = queue(database)
    watcher = Watcher(database, settings)
    assert watcher.look() == 1
    assert watcher._children[run.job.id].wait(60) == processes.FOUND_DAMAGE
    was_known = database.damage.is_found
    assert watcher.look() == 0
    assert (was_known, database.damage.is_found) == (False, True)
    assert f"job {run.job.id} has found it" in caplog.text
    assert read(database, run.id).job.state == JobState.FAILED


@on_sqlite
def test_keeper_that_cannot_read_its_run_because_of_damage_reports_it(settings: Settings) -> None:
    path = settings.data_dir / "damaged.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"no database at all " * 400)
    damaged = settings.model_copy(update={"database_url": f"sqlite:///{path}"})
    with keeper_process(damaged, 1) as process:
        assert process.wait() == processes.FOUND_DAMAGE


# ---- the report ------------------------------------------------------------------------------------------------------


@on_sqlite
def test_report_is_written_to_the_data_folder_as_json_and_markdown(
    database: Database, settings: Settings
) -> None:
    put_days(settings, 4)
    put_day(settings, LAST, peak=990)
    night(database, settings)
    as_data, as_text = report.files_of(settings)
    found = json.loads(as_data.read_text(encoding="utf-8"))
    assert found["run"]["id"] == 1
    assert [each["code"] for each in found["night_findings"]] == ["STRUCTURE_FULL"]
    assert found["forecasts"][0]["earliest_crossing_day"] == (LAST + timedelta(days=10)).isoformat()
    text_of = as_text.read_text(encoding="utf-8")
    assert "## Warnings (1)\n\n- **SQ03/APP1**: APP1 was full. `STRUCTURE_FULL`\n" in text_of
    assert (
        f"| SQ03 | APP1 | entries | {LAST + timedelta(days=10)} | APP1 passes 85 % in 10 days. |" in text_of
    )
    assert "- Version 1, CF01, CFCC level not known: accepted" in text_of
    assert "simulated" not in text_of
    assert sorted(path.name for path in as_data.parent.iterdir()) == ["night.json", "night.md"]


@on_sqlite
def test_missing_report_file_is_written_later(database: Database, settings: Settings) -> None:
    assert report.complete(database, settings) is False
    put_days(settings, 3)
    night(database, settings)
    assert report.complete(database, settings) is False
    report.files_of(settings)[1].unlink()
    assert report.complete(database, settings) is True
    assert report.files_of(settings)[1].exists()


def test_no_keeper_is_started_while_a_run_of_its_kind_is_in_progress(
    database: Database, settings: Settings
) -> None:
    """Otherwise, the watcher would start a process with nothing to do every two seconds."""
    first = queue(database)
    with database.session(writes=True) as session:
        second = jobs.queue(session, "look_around")
        upload = jobs.queue(session, "ingest")
        assert job_rows.waiting(session) == [first.job.id, upload.id]
        assert jobs.claim(session, first.job.id, owner="x", at_once=9) is not None
        assert job_rows.waiting(session) == [upload.id]
        jobs.end(session, first.job.id, "x", JobState.DONE, log="")
        assert job_rows.waiting(session) == [second.id, upload.id]


@on_sqlite
def test_policies_are_compared_after_the_results_are_stored(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    put_days(settings, 3)
    entry = {"kind": "zosmf", "address": "https://127.0.0.1", "nightly_drift": True}
    file = write_file(tmp_path, {"PLEX1": entry})
    run = night(database, settings.model_copy(update={"connections_file": str(file)}))
    # No policy was applied yet, which is found before the server is asked, and does not make the run fail.
    assert run.job.state == JobState.DONE, run.job.sentence
    with database.session(writes=False) as session:
        (found,) = list_drifts(session, {"PLEX1": False}, limit=9)
    assert (found.outcome, found.is_verified) == ("failed", False)
    assert "cfplan has not applied a policy yet" in found.sentence
