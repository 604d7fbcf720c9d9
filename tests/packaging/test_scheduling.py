"""The files that each worker gets in a test run, their order, and the messages of workers."""

from __future__ import annotations

import socket
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.conftest import OF_ONE_SPARK_SESSION, START_FIRST, Scheduling, pytest_collection_modifyitems


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


def test_worker_does_not_wait_to_send_messages_about_repeated_tests(pytestconfig: pytest.Config) -> None:
    if not hasattr(pytestconfig, "workerinput"):
        pytest.skip("this run has no workers")
    connection = pytestconfig.failures_db.sock  # type: ignore[attr-defined]
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
