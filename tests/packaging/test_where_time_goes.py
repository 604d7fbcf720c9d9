"""The time of a test run by kind of test, and the order in which workers take the files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import START_FIRST, pytest_collection_modifyitems
from tests.where_time_goes import OTHER, kind_of, longest_files, main, read_junit

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="tests.browser.plans.test_plans" name="test_a" time="3.0" />
<testcase classname="tests.browser.plans.test_plans" name="test_b" time="1.5" />
<testcase classname="tests.app.plans.test_killed" name="test_c" time="1.0"><failure message="no">no</failure></testcase>
<testcase classname="tests.planner_core.test_units" name="test_d" time="0.5" />
</testsuite></testsuites>
"""


@pytest.fixture
def junit(tmp_path: Path) -> Path:
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT, encoding="utf-8")
    return path


def test_times_are_added_up_by_kind_with_the_longest_first(
    junit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(junit)]) == 0
    assert capsys.readouterr().out.splitlines()[:6] == [
        "| kind | tests | seconds | share |",
        "|---|--:|--:|--:|",
        "| browser | 2 | 4 | 75 % |",
        "| killed processes | 1 | 1 | 17 % |",
        "| core | 1 | 0 | 8 % |",
        "| all | 4 | 6 | 100 % |",
    ]


def test_longest_files_are_listed_with_their_time(junit: Path) -> None:
    assert longest_files(read_junit(junit), most=2).splitlines() == [
        "    4.5 s  tests.browser.plans.test_plans",
        "    1.0 s  tests.app.plans.test_killed",
    ]


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
