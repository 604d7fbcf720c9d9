"""The list of plans."""

from __future__ import annotations

from typing import Final

from app.paging import Sort
from app.plans.stored import PlanSummary
from app.web.rendering import kib_bare
from app.web.tables import Column, ListTable, TableCell
from app.web.urgency import findings_cell

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
        Column(key="findings", title="Findings", kind="urgency", place="page", read=lambda plan: findings_cell(errors=plan.errors, warnings=plan.warnings)),
        Column(key="errors", title="Errors", place="file", read=lambda plan: plan.errors),
        Column(key="warnings", title="Warnings", place="file", read=lambda plan: plan.warnings),
        Column(key="version", title="Version", kind="number", read=lambda plan: TableCell(value=plan.version, href=f"/plans/{plan.name}/history")),
        Column(key="updated_at", title="Saved", unit="UTC", kind="date", read=lambda plan: plan.updated_at),
    ),
    sort=Sort("name"),
    search_label="Name of plan or group",
)  # fmt: skip
