"""The URL of the usage history may contain a key, which must not appear in command lines: every user can list those."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from app.jobs import processes
from app.jobs.models import JobState
from app.jobs.watcher import Watcher
from app.settings import Settings
from spark_jobs.night.__main__ import _parser
from tests.app.uploads.support import job, job_id_of, keep, settings_for, wait_until
from tests.connections_support.server import PASSWORD, write_file
from tests.process_tree import command_line, descendants, end_with_descendants

KEY = "geheim-3141"
HISTORY_URL = f"s3://name:{KEY}@bucket/history"


@pytest.mark.long
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_processes_of_a_job_do_not_show_the_key_or_inherit_passwords_of_connections(
    database: Database, url: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {
        "kind": "zosmf", "address": "https://zosmf.example.com", "user_variable": "PLEX1_USER",
        "password_variable": "PLEX1_PASSWORD",
    }  # fmt: skip
    monkeypatch.setenv("PLEX1_USER", "IBMUSER")
    monkeypatch.setenv("PLEX1_PASSWORD", PASSWORD)
    file = write_file(tmp_path, {"PLEX1": entry})
    settings = settings_for(url, tmp_path, history_url=HISTORY_URL, connections_file=str(file))
    job_id = job_id_of(keep(database, settings.data_dir, "say decoding 1 2\nhang\n"))
    watching = Watcher(database, settings)
    watching.look()
    keeper = watching._children[job_id]
    try:
        wait_until(lambda: job(database, job_id).stage == "decoding")
        assert job(database, job_id).state == JobState.RUNNING
        lines = [command_line(pid) for pid in (keeper.pid, *descendants(keeper.pid))]
        assert any("app.keeper" in line for line in lines)
        assert any(processes.STARTER in line or processes.INGEST in line for line in lines)
        assert not [line for line in lines if any(KEY in word for word in line)]
        # It reaches them in the environment, which only the owner of a process can read.
        children = list(descendants(keeper.pid))
        assert children
        for pid in (keeper.pid, *children):
            inherited = Path(f"/proc/{pid}/environ").read_bytes()
            assert f"CFPLAN_HISTORY_URL={HISTORY_URL}".encode() in inherited
            assert PASSWORD.encode() not in inherited
    finally:
        end_with_descendants(keeper)


def test_commands_of_all_jobs_are_without_the_key(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, history_url=HISTORY_URL)
    commands = [
        processes.ingest_command(settings, [tmp_path / "a.smf"]),
        processes.rollup_command(settings, ["2026-11-20"]),
        processes.night_command(settings, facts=tmp_path / "facts", out=tmp_path / "out"),
        processes.night_command(settings, facts=tmp_path / "facts", out=tmp_path / "out", by_spark=True),
        processes.history_command(settings, "maintain"),
    ]
    assert not [word for command in commands for word in command if KEY in word or "--history" in word]


@pytest.mark.parametrize(("by_spark", "rows"), [(False, None), (True, 0)])
def test_nightly_job_accepts_its_command(
    by_spark: bool, rows: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFPLAN_HISTORY_URL", str(tmp_path / "history"))
    settings = Settings(data_dir=tmp_path)
    facts, out = tmp_path / "facts", tmp_path / "out"
    command = processes.night_command(settings, facts=facts, out=out, by_spark=by_spark)
    arguments = _parser().parse_args(command[command.index(processes.NIGHT) + 1 :])
    assert (arguments.facts, arguments.out, arguments.in_process_below) == (facts, out, rows)


@pytest.mark.parametrize(
    "module", ["spark_jobs.rollup", "spark_jobs.history files", "spark_jobs.night", "spark_jobs.ingest x"]
)
def test_job_reads_the_history_from_the_environment(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))  # the real jobs

    def run() -> str:
        ran = subprocess.run(
            [sys.executable, "-m", *module.split()], capture_output=True, text=True, check=False
        )
        assert ran.returncode != 0
        return ran.stderr

    assert "--history" in run()
    monkeypatch.setenv("CFPLAN_HISTORY_URL", str(tmp_path / "nothing-here"))
    assert "--history" not in run().partition("error:")[2]
