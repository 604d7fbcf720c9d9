"""The list of plans."""

from __future__ import annotations

from typing import Final

from app.paging import Sort
from app.plans.stored import PlanSummary
from app.web.rendering import kib_bare
from app.web.tables import Column, ListTable, TableCell


def _findings(plan: PlanSummary) -> TableCell:
    """Return the number of open errors and warnings."""
    errors = _counted(plan.errors, "error")
    warnings = _counted(plan.warnings, "warning")
    if errors:
        return TableCell(value=errors, note=warnings, severity="error")
    if warnings:
        return TableCell(value=warnings, severity="warning")
    return TableCell(text="none open")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""


PLANS: Final = ListTable[PlanSummary](
    name="plans",
    path="/plans",
    columns=(
        Column(key="plan", title="On the sheet", kind="tick", can_sort=False, read=lambda plan: TableCell(value=plan.name, text=f"Add {plan.name} to the sheet")),
        Column(key="name", title="Plan", read=lambda plan: TableCell(value=plan.name, href=f"/plans/{plan.name}")),
        Column(key="qsg", title="Group", kind="name", read=lambda plan: plan.qsg),
        Column(key="structures", title="Structures", kind="number", read=lambda plan: plan.structures),
        Column(key="initsize_kib", title="INITSIZE", unit="MiB", kind="number", read=lambda plan: TableCell(value=plan.initsize_kib, text=kib_bare(plan.initsize_kib))),
        Column(key="size_kib", title="SIZE", unit="MiB", kind="number", read=lambda plan: TableCell(value=plan.size_kib, text=kib_bare(plan.size_kib))),
        Column(key="findings", title="Findings", kind="urgency", place="page", read=_findings),
        Column(key="errors", title="Errors", place="file", read=lambda plan: plan.errors),
        Column(key="warnings", title="Warnings", place="file", read=lambda plan: plan.warnings),
        Column(key="version", title="Version", kind="number", read=lambda plan: TableCell(value=plan.version, href=f"/plans/{plan.name}/history")),
        Column(key="updated_at", title="Saved", unit="UTC", kind="date", read=lambda plan: plan.updated_at),
    ),
    sort=Sort("name"),
    search_label="Name of plan or group",
)  # fmt: skip
