"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import socket
from itertools import takewhile
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import spark_jobs  # noqa: F401 - before numpy is loaded: its linear algebra is to use one thread, as in the jobs
from tests.chromium import DRIVER_WHAT_TO_DO, WHAT_TO_DO, driver_starts, find_chromium
from tests.computed_plans import plans_are_computed_once
from tests.databases import (
    commits_do_not_wait_for_the_disk,
    database,
    empty_url,
    migrated_file,
    migrated_template,
    migrations_run_once,
    postgres_server,
    url,
)
from tests.prepared import OPENED
from tests.serving import authorities_are_read_once, background_threads, threads_left

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import SupportsIndex

    from pyspark.sql import SparkSession
    from xdist.workermanage import WorkerController

__all__ = [
    "authorities_are_read_once", "commits_do_not_wait_for_the_disk", "database", "empty_url", "migrated_file", "migrated_template",
    "migrations_run_once", "plans_are_computed_once", "postgres_server", "url",
]  # fmt: skip
"""Fixtures for all folders, so that all tests share one server."""

# A property holds or it does not; how long an example takes says nothing about it.
settings.register_profile("cfplan", deadline=None)
settings.load_profile("cfplan")

# No application that a test builds, nor any process that it starts, begins a night by itself.
os.environ["CFPLAN_NIGHT_HOUR"] = "off"
# Checking a password is expensive on purpose; tests use the lowest costs that the settings permit.
os.environ["CFPLAN_PASSWORD_MEMORY_KIB"] = "7168"
os.environ["CFPLAN_PASSWORD_PASSES"] = "1"


REQUESTS_OF_ROLES = 10_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option for a soak test that can run for as long as there is time."""
    parser.addoption(
        "--requests-of-roles",
        type=int,
        default=REQUESTS_OF_ROLES,
        help=f"distinct generated requests of all roles together in the soak test (default: {REQUESTS_OF_ROLES})",
    )


@pytest.fixture(scope="session", autouse=True)
def end_of_commands() -> Iterator[None]:
    """End the process from which commands are forked, if a test has started it."""
    yield
    OPENED.close()


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Return the executable of the browser; skip the test if there is none."""
    found = find_chromium()
    if found is None:
        pytest.skip(WHAT_TO_DO)
    if not driver_starts():
        pytest.skip(DRIVER_WHAT_TO_DO)
    return found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return a session for tests without their own process, because a Java virtual machine takes seconds to start."""
    from spark_jobs.session import SMALL_DATA_CONF, build_session

    folder = tmp_path_factory.mktemp("spark")
    before = dict(os.environ)
    found = build_session("tests", work_dir=folder, master="local[2]", conf=SMALL_DATA_CONF)
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)
    yield found
    found.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two workers for each core, because many tests wait for processes that they started."""
    return 2 * (os.cpu_count() or 1)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let pytest-rerunfailures send its messages at once.

    Its worker sends two messages for each test through a socket, one after the other. TCP would hold the second one until
    the first is acknowledged, which the receiver delays by 40 ms: four minutes of a complete run.
    """
    statuses = getattr(session.config, "failures_db", None)
    if hasattr(session.config, "workerinput") and (connection := getattr(statuses, "sock", None)):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


OF_ONE_SPARK_SESSION = frozenset(
    f"tests/spark_jobs/{name}.py"
    for name in ("history/test_by_spark", "history/test_days", "night/test_health", "night/test_reduce")
)
"""Files whose tests use the fixture `spark`."""


class _CollectedTests(list[str]):
    """The tests that a worker has collected. It finds the position of each without a search."""

    def __init__(self, tests: Iterable[str]) -> None:
        super().__init__(tests)
        self._positions = {test: position for position, test in enumerate(self)}

    def index(self, value: str, *bounds: SupportsIndex) -> int:
        return super().index(value, *bounds) if bounds else self._positions[value]


class Scheduling(LoadFileScheduling):
    """Gives a file to one worker, and all files that use a Spark session to the same one.

    Otherwise, each worker would start a Java virtual machine, whose first queries take seconds.

    After each test, xdist counts all tests of all files that the worker got, and it searches all collected tests for each
    test that it gives to a worker. With 25,000 tests, both took 4.2 of the 4.5 s of CPU time that the controller needs for it.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "files of one Spark session" if file in OF_ONE_SPARK_SESSION else file

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = _CollectedTests(collection)

    def remove_node(self, node: WorkerController) -> str | None:
        """Give the files that a worker has not finished to the others, and return the test during which it crashed.

        xdist would give them the finished files, too. A worker that gets only such a file has no test to run, reports
        nothing, and therefore never gets the next file.
        """
        files = self.assigned_work[node]
        for finished in [file for file, tests in files.items() if all(tests.values())]:
            del files[finished]
        return super().remove_node(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget the files that the worker has finished, and give it the next one if it has almost finished this one.

        A worker runs its files one after another, so those before the file of this test are finished.
        """
        files = self.assigned_work[node]
        current = self._split_scope(self.registered_collections[node][item_index])
        for earlier in list(takewhile(lambda file: file != current, files)):
            if all(files[earlier].values()):
                del files[earlier]
        super().mark_test_complete(node, item_index, duration)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Return the scheduler for --dist=loadfile."""
    # Without a log of its own, it would print one line for each test.
    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


START_FIRST = ("browser", "spark", "long")
"""Markers of tests that take long, by themselves or with the processes that they start."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with the files of long tests, so that no worker is busy long after the others have finished."""
    users = {item.nodeid.partition("::")[0] for item in items if "spark" in getattr(item, "fixturenames", ())}
    if others := sorted(users - OF_ONE_SPARK_SESSION):
        message = f"Add {', '.join(others)} to OF_ONE_SPARK_SESSION in tests/conftest.py."
        raise pytest.UsageError(message)
    if hasattr(config, "workerinput"):
        long_files = {item.path for item in items if any(map(item.get_closest_marker, START_FIRST))}
        items.sort(key=lambda item: item.path not in long_files)


RARELY = (5_000, 10, 20)
"""Thresholds of garbage collection. With Python's own, it takes a seventh of the CPU time of tests of the application."""
OLDEST_GENERATION = 2


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exclude what is collected from garbage collection, as `app.main.keep_what_is_loaded` does in the service.

    These objects live as long as the process; looking for garbage among them takes a quarter of the CPU time of
    collection. The few objects that remain would make full garbage collections more frequent, so `RARELY` limits them.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.callbacks.append(_note_full_collection)
        gc.set_threshold(*RARELY)
        gc.enable()


_full_collections: list[int] = []


def _note_full_collection(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == OLDEST_GENERATION:
        _full_collections.append(1)


def pytest_runtest_logfinish() -> None:
    """Exempt what has survived a full collection during a test from the next ones, after this test.

    Most of it are caches and what tests share: millions of objects after some hundred tests, which each full collection
    would search for a second. What a test has created is released before.
    """
    if _full_collections:
        _full_collections.clear()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Fail the last test of a file if a service that ran in this process has left a thread.

    Such a thread starts jobs and writes log lines during later tests. Within a file, tests may share a service.
    """
    yield
    is_last = nextitem is None or nextitem.path != item.path
    if is_last and background_threads() and (left := threads_left()):
        pytest.fail(
            f"Threads of a service are still running after this file: {', '.join(left)}.", pytrace=False
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reason in (WHAT_TO_DO, DRIVER_WHAT_TO_DO):
        skipped = [
            report for report in terminalreporter.stats.get("skipped", []) if reason in str(report.longrepr)
        ]
        if skipped:
            terminalreporter.section("BROWSER TESTS DID NOT RUN", red=True, bold=True)
            terminalreporter.line(f"{len(skipped)} skipped: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what cannot be encoded in captured output: workers send reports in UTF-8, and some tests log lone surrogates."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
