"""Plugin of pytest that adds the CPU seconds of each test to the JUnit file, for `tests/where_time_goes.py`.

    make test ARGS='-p tests.cpu_of_tests --junitxml=junit.xml'

Time that other work on the machine takes does not count, unlike in the times that pytest writes. The time of processes
that a test starts counts; that of a process that outlives its test counts for the tests during which it ran. The
PostgreSQL server is not a descendant of a worker, so its time is missing.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

CPU = "cpu"
"""Name of the property in the JUnit file."""
PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_TICKS = slice(11, 15)
"""User and system time of a process and of its children that ended, among the fields after the name of the command."""


def cpu_seconds() -> float:
    """Return the CPU time of this process and of all its descendants so far."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(_running(os.getpid()))


def _running(process: int) -> Iterator[float]:
    """Return the CPU time of each running descendant, with that of its children that ended."""
    for task in _tasks(process):
        for child in _read(task / "children").split():
            fields = _read(PROC / child / "stat").rpartition(")")[2].split()
            yield sum(map(int, fields[_TICKS])) / _TICKS_PER_SECOND
            yield from _running(int(child))


def _tasks(process: int) -> list[Path]:
    """Return the folders of the threads of a process, or nothing if it has ended."""
    try:
        return list((PROC / str(process) / "task").iterdir())
    except OSError:
        return []


def _read(path: Path) -> str:
    """Return the content of a file, or nothing if its process has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


class _CpuOfTests:
    """Measures from the end of a test to the end of the next one, so that no fixture is left out."""

    def __init__(self) -> None:
        self._before = cpu_seconds()

    def pytest_collection_finish(self) -> None:
        self._before = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "teardown":
            now = cpu_seconds()
            report.user_properties.append((CPU, round(max(now - self._before, 0), 4)))
            self._before = now
        return report


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_CpuOfTests())
