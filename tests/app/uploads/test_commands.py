"""`cfplan ingest` and `cfplan history`: the same jobs at the terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import URL, text

from app.cli import main
from app.database.engine import Database
from app.jobs import processes
from app.uploads import qsg_map
from tests.app.uploads.support import DAY, READS, history, running_in, settings_for, wait_until


@pytest.fixture(autouse=True)
def settings_of_the_test(
    url: URL, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert database.revision()
    for name, value in settings_for(url, tmp_path).as_environment().items():
        monkeypatch.setenv(name, value)


def dump(folder: Path, content: str = READS) -> str:
    path = folder / "night.smf"
    path.write_text(content)
    return str(path)


def hours(database: Database) -> int:
    with database.engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM hourly_structure_usage")).scalar_one()


def test_file_is_read_and_reported_as_json(
    database: Database, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", dump(tmp_path)]) == 0
    out, err = capfd.readouterr()
    report = json.loads(out)
    assert (report["status"], report["files"][0]["message"]) == ("stored", "342 rows were stored.")
    assert "event" not in report
    assert "reading" in err
    assert "night.smf: stored. 342 rows were stored." in err.splitlines()
    assert (
        err.splitlines()[-1]
        == "cfplan collect-kit writes the settings and jobs that collect missing records."
    )
    assert hours(database) == 1


def test_questions_are_printed_with_the_options_that_answer_them(
    database: Database, url: URL, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    content = f"ask\ndays {DAY}\n"
    assert main(["ingest", dump(tmp_path, content)]) == 4
    out, err = capfd.readouterr()
    assert json.loads(out)["status"] == "needs_answers"
    assert "--qsg SYSA:CSQ1=QSG" in err
    assert "elsewhere: SQ03" in err
    assert hours(database) == 0
    assert main(["ingest", "--qsg", "sysa:csq1=sq03", "--qsg=SYSB:CSQ2=", dump(tmp_path, content)]) == 0
    called = history(settings_for(url, tmp_path), content)
    assert called is not None
    assert called["qsg"] == ["SYSA:CSQ1=SQ03", "SYSB:CSQ2="]
    with database.session(writes=False) as session:
        assert qsg_map.as_arguments(session) == called["qsg"]


def test_observation_time_in_the_suggested_option_is_accepted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = dump(tmp_path, "observe\ndays\n")
    assert main(["ingest", path]) == 4
    (line,) = [each for each in capfd.readouterr().err.splitlines() if "--observed-at" in each]
    assert main(["ingest", *line.split()[:2], path]) == 0


def test_result_of_each_file_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    report = {
        "event": "report", "status": "not_readable", "files": [
            {"file": "a.smf", "status": "already_stored", "message": "It was there."},
            {"file": "b.txt", "status": "not_readable", "message": "It is nothing."},
        ],
    }  # fmt: skip
    said = f"import sys; print({json.dumps(json.dumps(report))}); sys.exit(3)"
    monkeypatch.setattr(processes, "ingest_command", lambda *_, **__: [sys.executable, "-c", said])
    for name in ("a.smf", "b.txt"):
        (tmp_path / name).write_text("x")
    assert main(["ingest", str(tmp_path / "a.smf"), str(tmp_path / "b.txt")]) == 3
    err = capfd.readouterr().err
    assert "a.smf: already stored. It was there." in err
    assert "b.txt: not readable. It is nothing." in err


def test_details_of_a_display_are_passed_to_the_reader(url: URL, tmp_path: Path) -> None:
    said = ["--kind", "cfstatus", "--observed-at", "2024-11-21T09:30", "--zone=-05:00"]
    assert main(["ingest", *said, dump(tmp_path, "days\n")]) == 0
    called = history(settings_for(url, tmp_path), "days\n")
    assert called is not None
    assert (called["kind"], called["observed_at"], called["zone"]) == (
        "cfstatus",
        "2024-11-21T14:30:00Z",
        "-05:00",
    )


@pytest.mark.parametrize(("content", "code"), [("nothing\n", 1), ("fail 3\n", 3)])
def test_command_returns_the_exit_code_of_the_reader(
    tmp_path: Path, content: str, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", dump(tmp_path, content)]) == code
    assert json.loads(capfd.readouterr().out)["files"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ingest", "nowhere.smf"], "There is no file 'nowhere.smf'."),
        (["ingest", "."], "is a folder: specify the files in it"),
        (["ingest", "x", "/dev/null"], "/dev/null is a device. Only files are read."),
        (
            ["ingest", "--qsg", "SYSA:CSQ1=SQ03", "--qsg", "sysa:csq1=SQ04", "x"],
            "CSQ1 on SYSA is assigned to SQ03 and to SQ04",
        ),
        (
            ["ingest", "--observed-at", "2024-03-31T02:30", "--zone", "Europe/Berlin", "x"],
            "skipped that hour",
        ),
        (["ingest", "--observed-at", "2199-03-31T02:30Z", "x"], "is in the future"),
        (["ingest", "--qsg", "SYSA=SQ03", "x"], "does not have the form SID:QMGR=QSG"),
        (["ingest", "--qsg", "SYSA:CSQ1=SQ033", "x"], "1 to 4 characters"),
        (["ingest", "--observed-at", "2024-11-21T09:30", "x"], "time zone of that time"),
        (["ingest", "--kind", "vsam", "x"], "invalid choice"),
        (["history", "export", "--table", "usage"], "invalid choice"),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text(READS)
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert words in err
    assert "Traceback" not in err


def test_reader_that_ends_without_a_report_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", dump(tmp_path, "crash\n")]) == 2
    assert "without a report" in capfd.readouterr().err


def test_missing_packages_are_reported_before_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "NEEDED", ("a_package_that_nobody_has",))
    for arguments in (
        ["ingest", dump(tmp_path)],
        ["history", "export", "--table", "allocation"],
        ["history", "rollup"],
    ):
        assert main(arguments) == 2
        assert "make setup" in capfd.readouterr().err


def test_rollups_are_rebuilt(database: Database, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "rollup"]) == 0
    assert "0 hours of structures" in capfd.readouterr().out
    assert hours(database) == 0


def test_export_command_prints_the_export_of_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        called.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    asked = [
        "--table",
        "queue_usage",
        "--qsg",
        "SQ03",
        "--structure",
        "APP1",
        "--from",
        "2026-11-20",
        "--to",
        "2026-11-21",
    ]
    assert main(["history", "export", *asked]) == 0
    assert called[0][len(processes.PYTHON) :] == [
        "spark_jobs.history", "export", f"--history={tmp_path / 'data' / 'history'}", "--table=queue_usage", "--qsg=SQ03",
        "--structure=APP1", "--from=2026-11-20", "--to=2026-11-21", "--output=csv",
    ]  # fmt: skip


def test_export_ended_by_a_signal_is_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, -6)

    monkeypatch.setattr(subprocess, "run", run)
    assert main(["history", "export", "--table", "allocation"]) == 1
    assert "by signal 6" in capfd.readouterr().err


def test_pipe_is_refused_without_waiting(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert main(["ingest", str(path)]) == 2
    assert "is a pipe: write its output to a file first" in capfd.readouterr().err


def test_limits_on_compressed_files_are_passed_to_the_reader(
    url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFPLAN_MAX_UNPACKED_BYTES", "1000")
    monkeypatch.setenv("CFPLAN_MAX_UNPACKED_RATIO", "7")
    assert main(["ingest", dump(tmp_path)]) == 0
    called = history(settings_for(url, tmp_path), READS)
    assert called is not None
    assert (called["max_unpacked"], called["max_ratio"]) == ("1000", "7")


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_interrupted_command_leaves_no_reader_behind(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    path = dump(tmp_path, "say decoding 1 2\nhang\n")
    program = "import sys; from app.cli import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", program, "ingest", path],
        stderr=subprocess.PIPE,
        text=True,
        # A run in the background hands on that interrupts are ignored; a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        assert "reading" in process.stderr.readline()
        time.sleep(0.2)
        assert len(running_in(tmp_path)) > 1
        process.send_signal(number)
        process.communicate()
    assert process.returncode == code
    wait_until(lambda: not running_in(tmp_path))
