"""What all tests share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import spark_jobs  # noqa: F401 - before numpy is loaded: its linear algebra is to use one thread, as in the jobs
from tests.chromium import WHAT_TO_DO, find_chromium

if TYPE_CHECKING:
    from pathlib import Path

# A property holds or it does not; how long an example takes says nothing about it.
settings.register_profile("cfplan", deadline=None)
settings.load_profile("cfplan")

# No application that a test builds, nor any process that it starts, begins a night by itself.
os.environ["CFPLAN_NIGHT_HOUR"] = "off"


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser's executable; the test is skipped where there is none."""
    found = find_chromium()
    if found is None:
        pytest.skip(WHAT_TO_DO)
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report for report in terminalreporter.stats.get("skipped", []) if WHAT_TO_DO in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.section("BROWSER TESTS DID NOT RUN", red=True, bold=True)
        terminalreporter.line(f"{len(skipped)} skipped: {WHAT_TO_DO}")
