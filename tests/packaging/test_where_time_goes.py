"""The time of a test run by kind of test, and the order in which workers take the files."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.conftest import OF_ONE_SPARK_SESSION, START_FIRST, Scheduling, pytest_collection_modifyitems
from tests.cpu_of_tests import PROC, cpu_seconds
from tests.packaging.pins import ROOT
from tests.where_time_goes import OTHER, kind_of, longest_files, main, read_junit

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="tests.browser.plans.test_plans" name="test_a" time="3.0"><properties><property name="cpu" value="0.5" /></properties></testcase>
<testcase classname="tests.browser.plans.test_plans" name="test_b" time="1.5" />
<testcase classname="tests.app.plans.test_killed" name="test_c" time="1.0"><properties><property name="x" value="-" /><property name="cpu" value="1.5" /></properties><failure message="no">no</failure></testcase>
<testcase classname="tests.planner_core.test_units" name="test_d" time="0.5" />
</testsuite></testsuites>
"""


@pytest.fixture
def junit(tmp_path: Path) -> Path:
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT, encoding="utf-8")
    return path


def test_times_are_added_up_by_kind_with_most_cpu_time_first(
    junit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(junit)]) == 0
    assert capsys.readouterr().out.splitlines()[:6] == [
        "| kind | tests | seconds | CPU seconds | share of CPU |",
        "|---|--:|--:|--:|--:|",
        "| killed processes | 1 | 1 | 2 | 75 % |",
        "| browser | 2 | 4 | 0 | 25 % |",
        "| core | 1 | 0 | 0 | 0 % |",
        "| all | 4 | 6 | 2 | 100 % |",
    ]


def test_several_files_are_added_up(junit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(junit), str(junit)]) == 0
    assert "| all | 8 | 12 | 4 | 100 % |" in capsys.readouterr().out


def test_longest_files_are_listed_with_their_time(junit: Path) -> None:
    assert longest_files(read_junit(junit), most=2).splitlines() == [
        "    1.0 s     1.5 s of CPU  tests.app.plans.test_killed",
        "    4.5 s     0.5 s of CPU  tests.browser.plans.test_plans",
    ]


def test_files_without_cpu_time_are_listed_by_time(junit: Path) -> None:
    junit.write_text(JUNIT.replace('"cpu"', '"y"'), encoding="utf-8")
    first, second = longest_files(read_junit(junit), most=2).splitlines()
    assert (first.split()[0], second.split()[0]) == ("4.5", "1.0")


BUSY = """
import time
while time.process_time() < 0.3:
    pass
print("done", flush=True)
input()
"""


TWO_TESTS = """
import time

def test_busy():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass

def test_idle():
    pass
"""


@pytest.mark.skipif(not PROC.exists(), reason="this system has no /proc")
def test_cpu_time_of_a_process_counts_while_it_runs_and_afterwards() -> None:
    before = cpu_seconds()
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as busy:
        assert busy.stdout is not None
        assert busy.stdout.readline() == "done\n"
        running = cpu_seconds() - before
        busy.communicate("\n")
    assert running > 0.2
    assert cpu_seconds() - before > 0.2


def test_plugin_writes_the_cpu_time_of_each_test_to_the_junit_file(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(TWO_TESTS, encoding="utf-8")
    junit = tmp_path / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.cpu_of_tests", f"--junitxml={junit}"]
    where = [f"--rootdir={tmp_path}", "-c", "/dev/null", "--noconftest", str(tmp_path)]
    # Options for the run of this test itself may name plugins that the run below does not load.
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    subprocess.run([*command, *where], check=True, cwd=ROOT, env=alone, capture_output=True)
    busy, idle = read_junit(junit)
    assert busy.cpu_seconds > 0.2
    assert busy.cpu_seconds > idle.cpu_seconds


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        ("tests.browser.plans.test_plans", "browser"),
        ("tests.spark_jobs.night.test_kills", "killed processes"),
        ("tests.spark_jobs.night.test_daily", "Spark and history"),
        ("tests.app.plans.test_rest", "pages and REST"),
        ("tests.packaging.test_pins", OTHER),
    ],
)
def test_kind_of_a_module_is_the_first_that_matches(module: str, kind: str) -> None:
    assert kind_of(module) == kind


def _item(file: str, marker: str = "") -> Any:  # noqa: ANN401 - a stand-in for pytest.Item
    return SimpleNamespace(path=Path(file), get_closest_marker=lambda name: (name == marker) or None)


@pytest.mark.parametrize("marker", START_FIRST)
def test_files_with_long_tests_come_first_in_workers_only(marker: str) -> None:
    collected = [_item("a"), _item("b"), _item("b", marker), _item("c"), _item("d", marker)]
    items = list(collected)
    pytest_collection_modifyitems(SimpleNamespace(), items)  # type: ignore[arg-type]
    assert items == collected
    pytest_collection_modifyitems(SimpleNamespace(workerinput={}), items)  # type: ignore[arg-type]
    assert [item.path.name for item in items] == ["b", "b", "d", "a", "c"]


class _Worker:
    """A stand-in for the controller's side of a worker, which records the tests that it is given."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, positions: list[int]) -> None:
        self.given += positions

    def shutdown(self) -> None:
        self.shutting_down = True


FILES = {
    "tests/a.py": 1,
    "tests/b.py": 40,
    "tests/c.py": 2,
    "tests/d.py": 3,
    "tests/e.py": 1,
    "tests/f.py": 30,
}
COLLECTED = [f"{file}::test_{number}" for file, tests in FILES.items() for number in range(tests)]


def _scheduled(scheduling: type[LoadFileScheduling]) -> tuple[LoadFileScheduling, list[Any]]:
    config: Any = SimpleNamespace(
        getvalue=lambda _: ["popen", "popen"], option=SimpleNamespace(loadscopereorder=False)
    )
    scheduler = scheduling(config, Producer("tests", enabled=False))
    workers: list[Any] = [_Worker("first"), _Worker("second")]
    for worker in workers:
        scheduler.add_node(worker)
    for worker in workers:
        scheduler.add_node_collection(worker, list(COLLECTED))
    scheduler.schedule()
    return scheduler, workers


def _run(scheduler: LoadFileScheduling, workers: list[Any]) -> list[list[int]]:
    """Run all tests, two on the first worker for each on the second one, and return the tests of each worker."""
    finished = {worker.gateway.id: 0 for worker in workers}
    for worker in cycle([workers[0], *workers]):
        if scheduler.tests_finished and not scheduler.has_pending:
            return [worker.given for worker in workers]
        if finished[worker.gateway.id] < len(worker.given):
            scheduler.mark_test_complete(worker, worker.given[finished[worker.gateway.id]])
            finished[worker.gateway.id] += 1
    raise AssertionError


def test_workers_get_the_same_files_as_from_the_scheduler_of_xdist() -> None:
    tests = _run(*_scheduled(Scheduling))
    assert tests == _run(*_scheduled(LoadFileScheduling))
    assert sorted(tests[0] + tests[1]) == list(range(len(COLLECTED)))


def test_finished_files_are_forgotten() -> None:
    scheduler, workers = _scheduled(Scheduling)
    _run(scheduler, workers)
    assert [len(files) for files in scheduler.assigned_work.values()] == [1, 1]


def test_other_worker_gets_the_remaining_tests_of_one_that_ended() -> None:
    scheduler, (first, second) = _scheduled(Scheduling)
    scheduler.mark_test_complete(first, first.given[0])
    scheduler.mark_test_complete(first, first.given[1])
    assert scheduler.remove_node(first) == COLLECTED[first.given[2]]
    _run(scheduler, [second, second])
    assert sorted(second.given + first.given[:2]) == list(range(len(COLLECTED)))


def test_other_worker_does_not_get_the_finished_files_of_one_that_ended() -> None:
    scheduler, (first, second) = _scheduled(Scheduling)
    scheduler.mark_test_complete(first, first.given[0])
    scheduler.remove_node(first)
    assert "tests/a.py" not in scheduler.workqueue
    assert list(scheduler.assigned_work) == [second]


def test_files_of_the_spark_session_are_one_unit() -> None:
    units = {
        Scheduling._split_scope(Scheduling.__new__(Scheduling), f"{file}::test")
        for file in OF_ONE_SPARK_SESSION
    }
    assert len(units) == 1
