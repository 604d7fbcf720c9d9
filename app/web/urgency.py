"""The urgency of a structure as lists show it: when it was full, or when it is expected to pass a limit."""

from __future__ import annotations

from app.web.tables import TableCell
from planner_core.urgency import Fullness, NextLimit


def urgency_cell(full: Fullness | None, limit: NextLimit | None, *, lead_time_days: int) -> TableCell:
    """Return the cell of a structure, or of one of its measures.

    Args:
        full: When it was full in the last days; None if it was not.
        limit: The next limit of its forecasts; None if it has no forecast.
        lead_time_days: Days that the site needs to make a structure larger. A limit within them is a warning.
    """
    if full is not None:
        return TableCell(value=full.sentence, severity="error")
    if limit is None:
        return TableCell(text="no forecast")
    if limit.day is None or limit.days is None:
        return TableCell(value=f"no limit within {limit.horizon_days} days")
    if limit.days <= 0:
        return TableCell(value="limit passed", severity="warning")
    unit = "day" if limit.days == 1 else "days"
    return TableCell(
        value=f"limit in {limit.days} {unit}",
        note=limit.day.isoformat(),
        severity="warning" if limit.days <= lead_time_days else "",
    )
