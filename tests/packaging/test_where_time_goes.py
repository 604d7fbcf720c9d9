"""The time of a test run by kind of test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
