"""Worker time and CPU time of a test run by kind of test, from the JUnit files that pytest writes.

make test ARGS='-p tests.cpu_of_tests --junitxml=junit.xml'
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

from tests.cpu_of_tests import CPU

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
    cpu_seconds: float
    """Zero for a run without the plugin `tests.cpu_of_tests`."""


def read_junit(path: Path) -> list[TimedTest]:
    """Return the tests of a JUnit file."""
    root = ElementTree.parse(path).getroot()  # noqa: S314 - the file is our own
    return [
        TimedTest(case.get("classname", ""), float(case.get("time", "0")), _cpu_seconds(case))
        for case in root.iter("testcase")
    ]


def _cpu_seconds(case: ElementTree.Element) -> float:
    measured = case.find(f"properties/property[@name='{CPU}']")
    return 0.0 if measured is None else float(measured.get("value", "0"))


def kind_of(module: str) -> str:
    """Return the kind of the tests of a module."""
    return next((kind for kind, parts in KINDS if any(part in module for part in parts)), OTHER)


def table(tests: Sequence[TimedTest]) -> str:
    """Return a table in Markdown of the tests of each kind: number, worker time, CPU time, and its share."""
    kinds = _groups((kind_of(test.module), test) for test in tests)
    total_s = _cpu_of(tests)
    rows = [
        f"| {name} | {len(found)} | {_time_of(found):.0f} | {_cpu_of(found):.0f} | {_share(_cpu_of(found), total_s)} |"
        for name, found in (*kinds, ("all", list(tests)))
    ]
    return "\n".join(
        ["| kind | tests | seconds | CPU seconds | share of CPU |", "|---|--:|--:|--:|--:|", *rows]
    )


def longest_files(tests: Sequence[TimedTest], most: int = LONG_FILES) -> str:
    """Return the test modules that take longest, with their seconds and CPU seconds."""
    modules = _groups((test.module, test) for test in tests)
    return "\n".join(
        f"{_time_of(found):7.1f} s {_cpu_of(found):7.1f} s of CPU  {module}"
        for module, found in modules[:most]
    )


def _groups(named: Iterable[tuple[str, TimedTest]]) -> list[tuple[str, list[TimedTest]]]:
    """Return the tests of each name, the name with most CPU time first, or with most time if none was measured."""
    groups: defaultdict[str, list[TimedTest]] = defaultdict(list)
    for name, test in named:
        groups[name].append(test)
    return sorted(groups.items(), key=lambda item: (_cpu_of(item[1]), _time_of(item[1])), reverse=True)


def _time_of(tests: Sequence[TimedTest]) -> float:
    return sum(test.seconds for test in tests)


def _cpu_of(tests: Sequence[TimedTest]) -> float:
    return sum(test.cpu_seconds for test in tests)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the time by kind of test and the longest files."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.where_time_goes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("junit", type=Path, nargs="+", help="files that pytest wrote with --junitxml")
    tests = [test for file in parser.parse_args(arguments).junit for test in read_junit(file)]
    print(table(tests))
    print()
    print(longest_files(tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
