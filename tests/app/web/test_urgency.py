from __future__ import annotations

from datetime import date, timedelta

import pytest

from app.web.urgency import findings_cell, urgency_cell
from planner_core.urgency import Fullness, NextLimit

MADE_ON = date(2026, 11, 20)
FULL = Fullness(state="full_now", count=3, days=2, since=date(2026, 11, 18), last=MADE_ON)


def in_days(days: int | None) -> NextLimit:
    return NextLimit(MADE_ON, 180, None if days is None else MADE_ON + timedelta(days=days))


def test_full_structure_is_an_error_whatever_its_forecast() -> None:
    cell = urgency_cell(FULL, in_days(10), lead_time_days=60)
    assert (cell.value, cell.severity) == ("Full now, 3 times since 2026-11-18", "error")


@pytest.mark.parametrize(
    ("limit", "text", "severity"),
    [
        (None, "no forecast", ""),
        (in_days(None), "no limit within 180 days", ""),
        (in_days(0), "limit passed", "warning"),
        (in_days(1), "limit in 1 day", "warning"),
        (in_days(60), "limit in 60 days", "warning"),
        (in_days(61), "limit in 61 days", ""),
    ],
)
def test_limit_within_the_lead_time_is_a_warning(limit: NextLimit | None, text: str, severity: str) -> None:
    cell = urgency_cell(None, limit, lead_time_days=60)
    assert (cell.value or cell.text, cell.severity) == (text, severity)


@pytest.mark.parametrize(
    ("counts", "value", "note", "severity"),
    [
        ((1, 9, 2), "1 error", "9 warnings, 2 remarks", "error"),
        ((0, 2, 1), "2 warnings", "1 remark", "warning"),
        ((0, 0, 3), "3 remarks", "", ""),
    ],
)
def test_findings_cell_has_the_most_severe_findings_first(
    counts: tuple[int, int, int], value: str, note: str, severity: str
) -> None:
    errors, warnings, remarks = counts
    cell = findings_cell(errors=errors, warnings=warnings, remarks=remarks)
    assert (cell.value, cell.note, cell.severity) == (value, note, severity)


def test_findings_cell_without_findings_has_only_a_text() -> None:
    cell = findings_cell(errors=0, warnings=0, otherwise="none")
    assert (cell.value, cell.text, cell.severity) == (None, "none", "")
