"""`cfplan nightly`, `cfplan curves list`, `cfplan forecasts list`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.cli import main
from app.database.engine import Database
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.nightly.models import Trigger
from app.settings import Settings
from tests.app.nightly.support import LAST, measured, order, put_day, put_days, queue, read, times_run


@pytest.fixture(autouse=True)
def in_the_environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    assert main(list(words)) == code
    said = capsys.readouterr()
    return said.out, said.err


def as_json(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:  # noqa: ANN401
    return json.loads(run(capsys, *words, code=code)[0])


def test_nightly_run_prints_a_summary_and_returns_0(
    database: Database, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    put_days(settings, 4)
    put_day(settings, LAST, peak=990)
    out, err = run(capsys, "nightly")
    assert out.splitlines()[0].startswith("Nightly run 1: done")
    assert "1 finding; 1 new fit, 1 new forecast. 4 of 4 days of the history were read." in out
    assert "warning: APP1 was full." in out
    said = err.splitlines()
    assert said[:1] == ["Reducing 2025-11-17."]
    assert "Fitting curves." in said
    assert "Spark" not in err
    with database.session(writes=False) as session:
        assert "WARN a word of Spark" in jobs.log_of(session, read(database, 1).job.id)
    assert read(database, 1).trigger == Trigger.COMMAND


def test_errors_of_spark_are_printed_at_once(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    line = "26/11/21 16:29:31 ERROR TaskSchedulerImpl: Lost executor 0"
    put_days(settings, 1)
    order(settings, stderr=f"{line}\n26/11/21 16:29:31 WARN SparkConf: spark.local.dir\n")
    _, err = run(capsys, "nightly")
    assert line in err
    assert "SparkConf" not in err


def test_json_output_equals_the_rest_response(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    put_days(settings, 4)
    found = as_json(capsys, "nightly", "--json")
    assert (found["id"], found["state"], found["trigger"], found["days_total"]) == (1, "done", "command", 4)
    assert found["night_findings"] == []


def test_failed_run_prints_the_reason_and_returns_1(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    order(settings, fail="The history cannot be read.")
    out, err = run(capsys, "nightly", code=1)
    assert "failed" in out
    assert "The history cannot be read." in out
    assert err.splitlines()[0] == (
        "Nightly run 1 failed. The end of its log follows; the complete log is at /api/v1/jobs/1/log:"
    )
    assert "  WARN a word of Spark" in err.splitlines()
    assert err.splitlines()[-1] == "  failed: The history cannot be read."
    assert as_json(capsys, "nightly", "--json", code=1)["state"] == "failed"


def test_waiting_run_is_continued_and_not_started_twice(
    database: Database, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    put_days(settings, 2)
    waiting = queue(database, Trigger.SCHEDULE, due_on=LAST)
    out, err = run(capsys, "nightly")
    assert out.startswith(f"Nightly run {waiting.id}: done")
    assert "Continuing nightly run" in err
    assert times_run(settings) == 1


def test_nightly_command_does_not_wait_for_uploads(
    database: Database, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.session(writes=True) as session:
        upload = jobs.queue(session, "ingest")
        assert jobs.claim(session, upload.id, owner="x:1:y", at_once=1) is not None
    put_days(settings, 1)
    run(capsys, "nightly")
    assert read(database, 1).job.state == JobState.DONE


def test_json_lists_are_empty_before_the_first_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "curves", "list", "--json") == []
    assert as_json(capsys, "forecasts", "list", "--json") == []
    assert "cfplan nightly" in run(capsys, "curves", "list")[0]
    assert "cfplan nightly" in run(capsys, "forecasts", "list")[0]


def test_curves_and_forecasts_are_listed(
    database: Database, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    put_days(settings, 4)
    measured(database)
    run(capsys, "nightly")
    put_days(settings, 5)
    run(capsys, "nightly")
    curves = as_json(capsys, "curves", "list", "--json")
    assert [(each["version"], each["is_current"], each["coupling_facility"]) for each in curves] == [
        (2, True, "CF01"), (1, False, "CF01"),
    ]  # fmt: skip
    assert [each["version"] for each in as_json(capsys, "curves", "list", "--json", "--current")] == [2]
    (forecast,) = as_json(capsys, "forecasts", "list", "--json")
    assert (forecast["qsg"], forecast["structure"], forecast["measure"]) == ("SQ03", "APP1", "entries")
    assert forecast["crossings"][0]["days"]["p50"] == 10
    assert "CFCC level not known accepted, current" in run(capsys, "curves", "list")[0]
    assert "APP1 passes 85 % in 10 days." in run(capsys, "forecasts", "list")[0]


def test_missing_packages_are_reported_before_a_run_starts(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.jobs import processes
    from app.nightly import repository

    monkeypatch.setattr(processes, "missing_packages", lambda: ("pyspark",))
    _, err = run(capsys, "nightly", code=2)
    assert "requirements/spark.txt" in err
    with database.session(writes=False) as session:
        assert repository.page_of_runs(session, offset=0, limit=1)[1] == 0
