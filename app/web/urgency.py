"""Urgency as lists show it: when a structure was full or is expected to pass a limit, and open findings."""

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


def findings_cell(*, errors: int, warnings: int, remarks: int = 0, otherwise: str = "none open") -> TableCell:
    """Return the cell with the number of findings of each severity, the most severe first.

    Args:
        errors: Number of errors.
        warnings: Number of warnings.
        remarks: Number of findings that are neither.
        otherwise: The text if there are none.
    """
    counts = ((errors, "error"), (warnings, "warning"), (remarks, "remark"))
    parts = [f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts if number]
    if not parts:
        return TableCell(text=otherwise)
    return TableCell(
        value=parts[0],
        note=", ".join(parts[1:]),
        severity="error" if errors else "warning" if warnings else "",
    )
