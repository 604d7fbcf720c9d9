"""The list of nightly runs."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from app.jobs.models import JobState
from app.nightly.service import Run
from app.nightly.view import STATES, TRIGGERS, duration_words
from app.paging import Sort
from app.web.rendering import count
from app.web.tables import Column, ListTable, TableCell
from app.web.urgency import findings_cell

_NUMBER = Markup('<span class="vh">Run </span>{}')
"""A link that is only a number says nothing in a list of links."""


def _state(run: Run) -> TableCell:
    return TableCell(
        value=STATES[run.job.state], severity="error" if run.job.state == JobState.FAILED else ""
    )


def _days(run: Run) -> TableCell:
    if run.days_reduced is None or run.days_total is None:
        return TableCell()
    text = Markup("{} of {}").format(count(run.days_reduced), count(run.days_total))
    return TableCell(value=run.days_reduced, text=text)


def _findings(run: Run) -> TableCell:
    """Return the number of findings of each severity; a run without results was not evaluated."""
    if run.stored_at is None:
        return TableCell()
    counts = run.finding_counts
    return findings_cell(errors=counts.error, warnings=counts.warning, remarks=counts.info, otherwise="none")


RUNS: Final = ListTable[Run](
    name="nightly runs",
    path="/nights",
    columns=(
        Column(key="run", title="Run", kind="number", read=lambda run: TableCell(value=run.id, text=_NUMBER.format(run.id), href=f"/nights/{run.id}")),
        Column(key="state", title="State", kind="urgency", read=_state),
        Column(key="started_at", title="Started", unit="UTC", kind="date", read=lambda run: run.job.started_at or run.job.created_at),
        Column(key="trigger", title="By", read=lambda run: TRIGGERS[run.trigger]),
        Column(key="duration_s", title="Duration", kind="number", read=lambda run: TableCell(value=run.duration_s, text=duration_words(run.duration))),
        Column(key="days_reduced", title="Days read", kind="number", read=_days),
        Column(key="days_total", title="Days", place="file", read=lambda run: run.days_total),
        Column(key="findings", title="Findings", kind="urgency", place="page", read=_findings),
        Column(key="errors", title="Errors", place="file", read=lambda run: run.finding_counts.error),
        Column(key="warnings", title="Warnings", place="file", read=lambda run: run.finding_counts.warning),
        Column(key="remarks", title="Remarks", place="file", read=lambda run: run.finding_counts.info),
        Column(key="summary", title="Summary", kind="words", can_sort=False, read=lambda run: run.job.sentence or None),
    ),
    sort=Sort("run", is_descending=True),
    anchor="#h-runs",
)  # fmt: skip
