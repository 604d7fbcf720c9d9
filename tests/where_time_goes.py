"""Worker time of a test run by kind of test, from the JUnit file that pytest writes.

make test ARGS=--junitxml=junit.xml
python -m tests.where_time_goes junit.xml
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

KINDS = (
    ("browser", ("tests.browser", "tests.app.web.test_api_page_in_browser")),
    ("killed processes", ("killed", "test_kills", "tests.spark_jobs.cluster")),
    ("hostile input", ("tests.hostile", "test_damage", "test_bad_input", "test_wrong_input")),
    ("generated requests", ("test_schemathesis",)),
    ("Spark and history", ("tests.spark_jobs", "tests.app.nightly.test_real")),
    ("examples in the docs", ("tests.docs",)),
    ("pages and REST", ("tests.app",)),
    ("command line and contracts", ("tests.contract",)),
    ("core", ("tests.planner_core", "tests.golden")),
    ("migrations", ("tests.migrations",)),
)
"""Kinds of tests with parts of the names of their modules; the first kind that matches is used."""
OTHER = "packaging and benchmarks"
LONG_FILES = 20


@dataclass(frozen=True)
class TimedTest:
    """A test of a run, with the seconds that its worker spent on it, including its fixtures."""

    module: str
    seconds: float


def read_junit(path: Path) -> list[TimedTest]:
    """Return the tests of a JUnit file."""
    root = ElementTree.parse(path).getroot()  # noqa: S314 - the file is our own
    return [
        TimedTest(case.get("classname", ""), float(case.get("time", "0"))) for case in root.iter("testcase")
    ]


def kind_of(module: str) -> str:
    """Return the kind of the tests of a module."""
    return next((kind for kind, parts in KINDS if any(part in module for part in parts)), OTHER)


def table(tests: Sequence[TimedTest]) -> str:
    """Return a table in Markdown of the number of tests, time and share of each kind."""
    times = _times((kind_of(test.module), test.seconds) for test in tests)
    total = sum(test.seconds for test in tests)
    rows = [
        f"| {name} | {len(found)} | {sum(found):.0f} | {_share(sum(found), total)} |"
        for name, found in (*times, ("all", [test.seconds for test in tests]))
    ]
    return "\n".join(["| kind | tests | seconds | share |", "|---|--:|--:|--:|", *rows])


def longest_files(tests: Sequence[TimedTest], most: int = LONG_FILES) -> str:
    """Return the test modules that take longest, with their seconds."""
    times = _times((test.module, test.seconds) for test in tests)
    return "\n".join(f"{sum(found):7.1f} s  {module}" for module, found in times[:most])


def _times(named: Iterable[tuple[str, float]]) -> list[tuple[str, list[float]]]:
    """Return the times of each name, the name with the longest time in total first."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for name, seconds in named:
        times[name].append(seconds)
    return sorted(times.items(), key=lambda item: sum(item[1]), reverse=True)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the time by kind of test and the longest files."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.where_time_goes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("junit", type=Path, help="the file that pytest wrote with --junitxml")
    tests = read_junit(parser.parse_args(arguments).junit)
    print(table(tests))
    print()
    print(longest_files(tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
