"""The list of the scenarios of a plan."""

from __future__ import annotations

from collections.abc import Collection

from app.paging import Sort
from app.scenarios.stored import ScenarioSummary
from app.web.rendering import kib_bare, kib_signed
from app.web.tables import Column, ListTable, TableCell
from app.web.urgency import findings_cell


def scenarios_of(plan: str, *, ticked: Collection[str] = ()) -> ListTable[ScenarioSummary]:
    """Return the list of the scenarios of a plan, sorted by name.

    Args:
        plan: The name of the plan, which is safe in addresses.
        ticked: The names of the scenarios that are selected for a comparison at first.
    """
    at = f"/plans/{plan}/scenarios"

    def tick(each: ScenarioSummary) -> TableCell:
        return TableCell(value=each.name, text=f"Compare {each.name}", is_ticked=each.name in ticked)

    return ListTable[ScenarioSummary](
        name=f"scenarios of {plan}",
        path=at,
        columns=(
            Column(key="of", title="Compare", kind="tick", can_sort=False, read=tick),
            Column(key="name", title="Scenario", read=lambda each: TableCell(value=each.name, href=f"{at}/{each.name}/report")),
            Column(key="changes", title="Changes", kind="words", can_sort=False, read=lambda each: "; ".join(each.what_changes)),
            Column(key="initsize_kib", title="INITSIZE", unit="MiB", kind="number", read=lambda each: TableCell(value=each.initsize_kib_after, text=kib_bare(each.initsize_kib_after))),
            Column(key="more_initsize_kib", title="More INITSIZE", unit="MiB", kind="number", read=_more),
            Column(key="size_kib", title="SIZE", unit="MiB", kind="number", read=lambda each: TableCell(value=each.size_kib_after, text=kib_bare(each.size_kib_after))),
            Column(key="findings", title="Findings", kind="urgency", place="page", read=lambda each: findings_cell(errors=each.errors, warnings=each.warnings)),
            Column(key="errors", title="Errors", place="file", read=lambda each: each.errors),
            Column(key="warnings", title="Warnings", place="file", read=lambda each: each.warnings),
            Column(key="commands", title="Commands", kind="number", read=lambda each: each.commands),
            Column(key="version", title="Version", kind="number", read=lambda each: TableCell(value=each.version, note="" if each.is_of_latest else "old")),
            Column(key="updated_at", title="Saved", unit="UTC", kind="date", read=lambda each: each.updated_at),
        ),
        sort=Sort("name"),
    )  # fmt: skip


def _more(each: ScenarioSummary) -> TableCell:
    more_kib = each.initsize_kib_after - each.initsize_kib_before
    return TableCell(value=more_kib, text=kib_signed(more_kib))
