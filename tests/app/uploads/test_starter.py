"""Jobs started as forks of one process print, end and fail as jobs that are started alone."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from app.jobs import processes
from app.jobs.child import Child
from app.jobs.starter import Starter
from app.settings import Settings
from tests.app.uploads.support import DAY, READS, history, running_in, settings_for, wait_until
from tests.spark_jobs.history import dumps

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")

HANGS = "say decoding 1 2\nhang\n"
Ended = tuple[int, list[str], list[str]]
"""The exit code, and the lines of both streams."""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    found = settings_for(URL.create("sqlite"), tmp_path)
    for name, value in found.as_environment().items():
        monkeypatch.setenv(name, value)
    return found


@pytest.fixture
def starter() -> Iterator[Starter]:
    with Starter() as found:
        yield found


def reader(settings: Settings, content: str, name: str = "night.smf") -> list[str]:
    """Return the command that reads a file with this content."""
    path = settings.data_dir / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    return processes.ingest_command(settings, [path])


def outcome(command: list[str], starter: Starter | None) -> Ended:
    err: list[str] = []
    with Child(command, on_stderr=err.append, starter=starter) as child:
        out = [line for line in child.lines(every_s=60) if line is not None]
        return child.wait(), out, err


def server(starter: Starter) -> subprocess.Popen[bytes]:
    assert starter._process is not None
    return starter._process


@pytest.mark.parametrize(
    "content",
    [
        READS, f"ask\ndays {DAY}\n", "observe\n", "nothing\n", "noise\n", "fail 3\n", "fail 7\n", "fail x\n", "crash\n",
        "crash-at-exit\n",
    ],
)  # fmt: skip
def test_started_job_has_the_output_and_exit_code_of_its_own_process(
    content: str, settings: Settings, starter: Starter
) -> None:
    command = reader(settings, content)
    # A traceback also lists the functions that started the job.
    alone, started = (
        (code, out, err[-1:]) for code, out, err in (outcome(command, None), outcome(command, starter))
    )
    assert started == alone


def test_jobs_of_one_starter_have_one_parent_and_nothing_in_common(
    settings: Settings, starter: Starter
) -> None:
    for number, content in enumerate([READS, "fail 3\n", "fail x\n", f"{READS}# last\n"]):
        code, out, err = outcome(reader(settings, content, f"{number}.smf"), starter)
        assert (code, err[0]) == ({1: 3, 2: 1}.get(number, 0), f"reading {number}.smf")
        assert [json.loads(line)["event"] for line in out][-1:] == ([] if code == 1 else ["report"])
        if number == 0:
            process = server(starter)
        assert server(starter) is process
    days = processes.rollup_command(settings, [DAY])
    assert outcome(days, starter) == outcome(days, None)
    assert server(starter) is process


def test_long_arguments_and_names_that_are_no_text_are_passed_unchanged(
    settings: Settings, starter: Starter
) -> None:
    names = [os.fsdecode(b"night\xff.smf"), *(f"{number:05}" * 8 for number in range(10_000))]
    command = reader(settings, "days\n")
    end = command.index("--")
    code, _, _ = outcome([*command[:end], *(f"--name={name}" for name in names), *command[end:]], starter)
    assert code == 0
    called = history(settings, "days\n")
    assert called is not None
    assert called["names"] == names


def test_killed_job_is_reported_and_the_next_one_runs(settings: Settings, starter: Starter) -> None:
    assert outcome(reader(settings, READS), starter)[0] == 0
    before = server(starter).pid
    assert outcome(reader(settings, "crash\n"), starter)[0] == -signal.SIGKILL
    assert outcome(reader(settings, READS), starter)[0] == 0
    # Descendants of the killed job may be left, and end with the group.
    assert server(starter).pid != before


def test_stopped_job_ends_with_its_group(settings: Settings, starter: Starter, tmp_path: Path) -> None:
    with Child(reader(settings, HANGS), on_stderr=lambda _: None, starter=starter) as child:
        assert next(child.events(every_s=60)) is not None
        assert len(running_in(tmp_path)) == 2
    wait_until(lambda: not running_in(tmp_path))
    assert outcome(reader(settings, READS), starter)[0] == 0


def test_closed_socket_ends_the_job(settings: Settings, starter: Starter, tmp_path: Path) -> None:
    with Child(reader(settings, HANGS), on_stderr=lambda _: None, starter=starter) as child:
        assert next(child.events(every_s=60)) is not None
        assert starter._socket is not None
        starter._socket.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: server(starter).poll() is not None)
        assert list(child.lines(every_s=60)) == []
        assert not running_in(tmp_path)


def test_killed_starter_is_reported_by_its_job_and_replaced(settings: Settings, starter: Starter) -> None:
    with Child(
        reader(settings, "say decoding 1 2\nwait 1\n"), on_stderr=lambda _: None, starter=starter
    ) as child:
        assert next(child.events(every_s=60)) is not None
        server(starter).kill()
        assert child.wait() == -signal.SIGKILL
    assert outcome(reader(settings, READS), starter)[0] == 0
    server(starter).kill()
    server(starter).wait()
    assert outcome(reader(settings, READS), starter)[0] == 0


@pytest.mark.parametrize("is_launched_before", [False, True])
def test_import_that_fails_is_reported_by_the_job(
    is_launched_before: bool, settings: Settings, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "STARTED_OFTEN", (processes.INGEST, "spark_jobs.missing"))
    if is_launched_before:
        starter.launch()
    code, out, err = outcome(reader(settings, READS), starter)
    assert (code, out, err[-1]) == (1, [], "ModuleNotFoundError: No module named 'spark_jobs.missing'")


def test_process_launched_before_its_first_job_carries_it_out(settings: Settings, starter: Starter) -> None:
    starter.launch()
    launched = server(starter)
    assert outcome(reader(settings, READS), starter)[0] == 0
    assert server(starter) is launched


def test_job_is_carried_out_although_no_process_could_be_launched_before(
    settings: Settings, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError

    with monkeypatch.context() as patched:
        patched.setattr("app.jobs.starter.subprocess.Popen", refused)
        starter.launch()
    assert outcome(reader(settings, READS), starter)[0] == 0


def test_process_launched_without_a_job_ends_with_its_starter() -> None:
    with Starter() as found:
        found.launch()
        launched = server(found)
    assert launched.returncode == 0


def test_other_commands_and_inherited_files_need_their_own_process(
    settings: Settings, starter: Starter
) -> None:
    assert outcome([sys.executable, "-c", "print(1)"], starter) == (0, ["1"], [])
    with Child(reader(settings, READS), on_stderr=lambda _: None, kept_open=(0,), starter=starter) as child:
        assert child.wait() == 0
    assert starter._process is None


def test_real_jobs_store_and_print_the_same_in_forks(
    settings: Settings, starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")
    paths = [dumps.write(tmp_path / f"{number}.smf", range(number, number + 2)) for number in range(3)]
    groups = dumps.GROUPS[1::2]
    found = []
    for way in (None, starter):
        ours = settings.model_copy(update={"history_url": str(tmp_path / ("forks" if way else "alone"))})
        for name, value in ours.as_environment().items():  # a URL in the settings is not in the command
            monkeypatch.setenv(name, value)
        found.append(
            [
                outcome(processes.ingest_command(ours, paths[:1], qsg=groups), way),
                outcome(processes.ingest_command(ours, [*paths[1:], paths[0]], qsg=groups), way),
                outcome(processes.ingest_command(ours, paths), way),
                outcome(processes.rollup_command(ours, []), way),
            ]
        )
    alone, forks = ([(code, plain(out)) for code, out, _ in each] for each in found)
    assert forks == alone
    assert [code for code, _ in forks] == [0, 0, 0, 0]


def processes_of(starter: Starter) -> set[int]:
    """Return the numbers of the processes that a starter has forked and that still run."""
    number = server(starter).pid
    return {int(pid) for pid in Path(f"/proc/{number}/task/{number}/children").read_text().split()}


def test_process_carries_out_the_next_job_unless_the_job_before_ended_in_another_way(
    settings: Settings, starter: Starter
) -> None:
    def worker_after(content: str, expected: int) -> set[int]:
        assert (
            outcome(reader(settings, f"{content}leave\n# {secrets.token_hex(4)}\n"), starter)[0] == expected
        )
        return processes_of(starter)

    first = worker_after(READS, 0)
    assert len(first) == 1
    # Refused files and questions are ordinary results.
    assert worker_after("", 0) == worker_after("fail 3\n", 3) == worker_after("nothing\n", 1) == first
    assert worker_after("fail x\n", 1) == set()
    second = worker_after(READS, 0)
    assert second
    assert second != first
    assert worker_after("leave-process\n", 0) == set()
    assert worker_after(READS, 0) not in (set(), first, second)


def test_killed_idle_process_is_replaced_for_the_next_job(settings: Settings, starter: Starter) -> None:
    assert outcome(reader(settings, f"{READS}leave\n"), starter)[0] == 0
    (idle,) = processes_of(starter)
    os.kill(idle, signal.SIGKILL)
    wait_until(lambda: "State:\tZ" in Path(f"/proc/{idle}/status").read_text())
    assert outcome(reader(settings, f"{READS}leave\n# second\n"), starter)[0] == 0
    assert processes_of(starter) not in (set(), {idle})


@pytest.mark.parametrize(("limit", "jobs"), [("MOST_JOBS", 2), ("MOST_MEMORY_KIB", 1)])
def test_process_ends_at_its_limit_of_jobs_or_memory(
    settings: Settings, starter: Starter, monkeypatch: pytest.MonkeyPatch, limit: str, jobs: int
) -> None:
    monkeypatch.setenv(limit, str(jobs))
    for number in range(2 * jobs):
        assert outcome(reader(settings, f"{READS}leave\n# {number}\n"), starter)[0] == 0
        is_last = number % jobs == jobs - 1
        assert len(processes_of(starter)) == (0 if is_last else 1)


def test_process_ends_after_a_job_that_changed_the_environment(settings: Settings, starter: Starter) -> None:
    assert outcome(reader(settings, f"{READS}set-variable\nleave\n"), starter)[0] == 0
    assert processes_of(starter) == set()


def test_process_killed_during_its_second_job_is_reported_and_the_next_file_is_read(
    settings: Settings, starter: Starter
) -> None:
    assert outcome(reader(settings, f"{READS}leave\n"), starter)[0] == 0
    (worker,) = processes_of(starter)
    with Child(reader(settings, f"{HANGS}leave\n"), on_stderr=lambda _: None, starter=starter) as child:
        assert next(child.events(every_s=60)) is not None
        os.kill(worker, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert outcome(reader(settings, f"{READS}leave\n# next\n"), starter)[0] == 0
    assert processes_of(starter) not in (set(), {worker})


def plain(lines: list[str]) -> list[object]:
    """Return the events without progress, whose lines depend on the time, and without times and random identifiers."""
    events = [json.loads(line) for line in lines]
    for event in events:
        event.pop("history", None)
        for each in event.get("files", ()) if event["event"] == "report" else ():
            for name in ("seconds", "commit_id"):
                each.pop(name)
    return [event for event in events if event["event"] != "progress"]
