"""One ingest run from its claim to its end; the reader is a stand-in that follows orders in the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from app.database.engine import Database
from app.jobs import processes, service
from app.jobs.keeper import StepFailed
from app.jobs.models import JobState
from app.jobs.service import Job
from app.settings import Settings
from app.uploads import files, ingest_keeper, qsg_map
from app.uploads import service as uploads
from app.uploads.job_kind import INGEST
from app.uploads.service import UploadDetails
from app.uploads.service import report as report_of
from tests.app.uploads.support import (
    DAY,
    READS,
    history,
    job,
    job_id_of,
    keep,
    log,
    run_keeper,
    settings_for,
    times_read,
    wait_until,
)
from tests.prepared import commands


@pytest.fixture
def settings(url: URL, tmp_path: Path) -> Settings:
    return settings_for(url, tmp_path)


def read(database: Database, settings: Settings, content: str, said: UploadDetails = UploadDetails()) -> Job:  # noqa: B008 - frozen
    outcome = keep(database, settings.data_dir, content, said=said)
    return run_keeper(database, settings, job_id_of(outcome))


def last_run(database: Database, upload_id: int) -> Job:
    with database.session(writes=False) as session:
        found = uploads.get(session, upload_id).job
    assert found is not None
    return found


def hours(database: Database) -> int:
    with database.engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM hourly_structure_usage")).scalar_one()


def test_file_is_read_and_its_hours_are_stored(database: Database, settings: Settings) -> None:
    done = read(database, settings, READS)
    assert (done.state, done.attempts, done.sentence) == (JobState.DONE, 1, "342 rows were stored.")
    assert history(settings, READS) is not None
    assert hours(database) == 1
    assert done.upload_id is not None
    with database.session(writes=False) as session:
        report = report_of(session, done.upload_id)
    assert report["files"][0]["days"] == [DAY]
    said = log(database, done.id)
    assert "reading night.smf" in said
    assert "spark_jobs.rollup" in said
    assert list(processes.work_dir(settings).glob("*.jsonl")) == []


def test_reader_receives_details_from_the_user_and_from_the_map(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://127.0.0.1:7077")
    with database.session(writes=True) as session:
        qsg_map.put(session, "SYSA", "CSQ1", "SQ03")
        qsg_map.put(session, "SYSB", "CSQ2", "")
    said = UploadDetails(kind="cfstatus", observed_at="2024-11-21T09:30", zone="-05:00")
    assert (
        read(database, settings.model_copy(update={"history_days": 400}), "days\n", said).state
        == JobState.DONE
    )
    assert history(settings, "days\n") == {
        "kind": "cfstatus", "observed_at": "2024-11-21T14:30:00Z", "zone": "-05:00", "names": ["night.smf"],
        "qsg": ["SYSA:CSQ1=SQ03", "SYSB:CSQ2="], "retention_days": "400", "master": "spark://127.0.0.1:7077",
        "max_unpacked": str(settings.max_unpacked_bytes), "max_ratio": str(settings.max_unpacked_ratio),
    }  # fmt: skip


def test_run_with_questions_stores_nothing_and_continues_with_the_answers(
    database: Database, settings: Settings
) -> None:
    content = f"ask\ndays {DAY}\n"
    asked = read(database, settings, content)
    assert asked.state == JobState.ASKS
    assert asked.asks is not None
    assert [each.queue_manager for each in asked.asks.unknown_qsg] == ["CSQ1", "CSQ2"]
    assert history(settings, content) is None
    assert hours(database) == 0
    assert asked.upload_id is not None
    with database.session(writes=True) as session:
        found = uploads.read_again(
            session,
            asked.upload_id,
            UploadDetails(),
            data_dir=settings.data_dir,
            qsg={("SYSA", "CSQ1"): "SQ03"},
        )
    assert found.job is not None
    assert run_keeper(database, settings, found.job.id).state == JobState.DONE
    assert hours(database) == 1


def test_map_in_a_file_reads_the_files_that_waited_for_it(database: Database, settings: Settings) -> None:
    asked = read(database, settings, f"ask\ndays {DAY}\n")
    assert asked.upload_id is not None
    for entry, state in (("SYSA:CSQ1=SQ03", JobState.ASKS), ("SYSB:CSQ2=", JobState.QUEUED)):
        assert read(database, settings, f"map {entry}\n").state == JobState.DONE
        assert last_run(database, asked.upload_id).state == state
    assert run_keeper(database, settings, last_run(database, asked.upload_id).id).state == JobState.DONE


def test_display_that_names_no_system_is_read_after_an_answer_for_a_system(
    database: Database, settings: Settings
) -> None:
    asked = read(database, settings, f"display\ndays {DAY}\n")
    assert asked.upload_id is not None
    for groups, count in ((("SQ03", "SQ04"), 0), (("SQ03", "SQ03"), 1)):
        with database.session(writes=True) as session:
            for system, group in zip(("SYSA", "SYSB"), groups, strict=True):
                qsg_map.put(session, system, "CSQ1", group)
            assert uploads.read_answered_again(session) == count, groups
    assert run_keeper(database, settings, last_run(database, asked.upload_id).id).state == JobState.DONE


def test_file_that_is_not_a_dump_fails_with_the_message_of_the_reader(
    database: Database, settings: Settings
) -> None:
    failed = read(database, settings, "fail 3\n")
    assert (failed.state, failed.sentence) == (JobState.FAILED, "This is no SMF dump: transfer it in binary.")


def test_file_without_rows_for_the_history_has_a_report(database: Database, settings: Settings) -> None:
    assert read(database, settings, "nothing\n").state == JobState.DONE


def test_file_that_a_full_disk_kept_out_of_the_history_is_read_again_when_it_is_sent_again(
    database: Database, settings: Settings
) -> None:
    content = "full\n"
    failed = read(database, settings, content)
    assert (failed.state, "No space left" in failed.sentence) == (JobState.FAILED, True)
    assert failed.upload_id is not None
    with database.session(writes=False) as session:
        assert report_of(session, failed.upload_id)["status"] == "not_stored"
    again = keep(database, settings.data_dir, content)
    assert not again.is_new
    assert last_run(database, failed.upload_id).state == JobState.QUEUED
    assert job_id_of(again) != failed.id


def test_failed_reader_is_reported_with_its_last_message(database: Database, settings: Settings) -> None:
    failed = read(database, settings, "fail 7\n")
    assert failed.state == JobState.FAILED
    assert "exit code 7" in failed.sentence
    assert "Last message: reading night.smf" in failed.sentence


def test_killed_reader_is_reported_as_killed(database: Database, settings: Settings) -> None:
    failed = read(database, settings, "crash\n")
    assert failed.state == JobState.FAILED
    assert "signal 9" in failed.sentence


def test_message_on_the_wrong_stream_is_only_logged(database: Database, settings: Settings) -> None:
    done = read(database, settings, "noise\n")
    assert done.state == JobState.DONE
    assert "a library says something" in log(database, done.id)


def test_truncated_rollups_are_not_stored(database: Database, settings: Settings) -> None:
    failed = read(database, settings, "days 2026-01-02\n")
    assert failed.state == JobState.FAILED
    assert "before their output was complete" in failed.sentence
    assert hours(database) == 0


def test_job_that_crashes_after_its_last_line_counts_as_succeeded(
    database: Database, settings: Settings
) -> None:
    done = read(database, settings, "crash-at-exit\ndays 2026-01-03\n")
    assert done.state == JobState.DONE
    assert hours(database) == 1
    assert "after its report" in log(database, done.id)


def test_missing_file_is_reported(database: Database, settings: Settings) -> None:
    outcome = keep(database, settings.data_dir, READS)
    files.remove(settings.data_dir, outcome.upload.sha256)
    failed = run_keeper(database, settings, job_id_of(outcome))
    assert failed.state == JobState.FAILED
    assert "not in the data folder" in failed.sentence


def test_run_interrupted_after_reading_does_not_read_its_file_again(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cut(BaseException):
        """Simulate a kill, after which nothing is cleaned up in the database."""

    def cut(*_: object) -> None:
        raise Cut

    job_id = job_id_of(keep(database, settings.data_dir, READS))
    with monkeypatch.context() as patch:
        patch.setattr(ingest_keeper, "store_rollups", cut)
        with pytest.raises(Cut):
            run_keeper(database, settings, job_id)
    assert job(database, job_id).state == JobState.RUNNING
    assert hours(database) == 0
    let_go(database, job_id)
    resumed = run_keeper(database, settings, job_id)
    assert (resumed.state, resumed.attempts) == (JobState.DONE, 2)
    assert hours(database) == 1
    assert times_read(settings) == 1
    assert "resumed" in log(database, job_id)


def let_go(database: Database, job_id: int) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE job_runs SET heartbeat_at = NULL WHERE id = :id"), {"id": job_id})


def test_keeper_that_lost_its_run_ends_its_reader_and_stops_writing(
    database: Database, settings: Settings
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, "say decoding 1 10\nhang\n"))
    keeper = threading.Thread(target=lambda: run_keeper(database, settings, job_id))
    keeper.start()
    wait_until(lambda: job(database, job_id).stage == "decoding")
    with database.engine.begin() as connection:
        connection.execute(
            text("UPDATE job_runs SET owner = 'another', sentence = 'mine' WHERE id = :id"), {"id": job_id}
        )
    keeper.join()  # it ends, though its reader never would have
    found = job(database, job_id)
    assert (found.state, found.sentence) == (JobState.RUNNING, "mine")


class FailingKeeper(ingest_keeper.IngestKeeper):
    """A keeper that fails while another one has its run."""

    def _work(self, claimed: Job) -> None:
        with self._database.engine.begin() as connection:
            connection.execute(text("UPDATE job_runs SET owner = 'another', sentence = 'mine'"))
        raise StepFailed(f"job {claimed.id} fails")


def test_failure_of_a_keeper_that_lost_its_run_is_not_stored(
    database: Database, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, READS))
    assert not FailingKeeper(database, settings, job_id).run()
    found = job(database, job_id)
    assert (found.state, found.sentence) == (JobState.RUNNING, "mine")
    assert "ends" not in caplog.text


def test_stopped_keeper_returns_its_run_to_the_queue(database: Database, settings: Settings) -> None:
    job_id = job_id_of(keep(database, settings.data_dir, "say decoding 1 10\nhang\n"))
    environment = {**os.environ, **settings.as_environment()}
    with commands().start("app.keeper", str(job_id), environment=environment) as process:
        wait_until(lambda: job(database, job_id).stage == "decoding")
        process.send_signal(signal.SIGTERM)
        process.wait()
        _, errors = process.texts()
    assert process.returncode == 0
    # The log has the beginning of the job, and neither an error nor a traceback.
    assert all(f" INFO cfplan.jobs job={job_id} " in line for line in errors.splitlines()), errors
    found = job(database, job_id)
    assert (found.state, found.attempts) == (JobState.QUEUED, 0)


@pytest.mark.parametrize("arguments", [[], ["x"], ["1", "ingest", "2"]])
def test_keeper_command_requires_one_number(arguments: list[str]) -> None:
    done = commands().run("app.keeper", *arguments, environment=os.environ)
    assert done.returncode == 2
    assert "one run" in done.stderr
    assert "Traceback" not in done.stderr


def test_keeper_of_a_missing_run_ends_without_an_error(database: Database, settings: Settings) -> None:
    environment = {**os.environ, **settings.as_environment()}
    done = commands().run("app.keeper", "999", environment=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_settings_are_passed_to_a_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given = Settings(
        data_dir=Path("here"),
        allowed_hosts=("a.example", ".b.example"),
        port=0,
        history_url="s3://bucket/usage",
    )
    program = "import json; from app.settings import Settings; print(Settings().model_dump_json())"
    printed = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **given.as_environment()}, cwd="/", capture_output=True,
        check=True,
    )  # fmt: skip
    assert Settings(**json.loads(printed.stdout)) == given.model_copy(update={"data_dir": tmp_path / "here"})


def test_no_password_appears_in_a_command(url: URL, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url="postgresql://u:secret@db/x")
    assert "secret" not in " ".join(
        processes.keeper_command(1, INGEST) + processes.ingest_command(settings, [tmp_path])
    )
    assert url


def test_every_final_job_state_has_an_exit_status() -> None:
    assert set(service.RESTS) | {JobState.QUEUED, JobState.RUNNING} == set(JobState)
