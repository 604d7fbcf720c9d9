"""The list of measured structures."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from functools import partial
from urllib.parse import quote

from markupsafe import Markup

from app.paging import Sort
from app.usage.health import STATES, HealthEntry
from app.usage.measured import MeasuredStructure
from app.web.rendering import count, percent_bare
from app.web.tables import Column, Link, ListTable, TableCell
from app.web.urgency import urgency_cell
from planner_core.simulated import WORD, has_simulated_name

HEALTH = ListTable[HealthEntry](
    name="health measures",
    path="/usage/health",
    columns=(
        Column(key="structure", title="Structure", kind="name", read=lambda each: TableCell(value=each.structure, href=each.page)),
        Column(key="qsg", title="Group", kind="name", read=lambda each: TableCell(value=each.qsg, tag=WORD if each.is_simulated else "")),
        Column(key="urgency", title="Urgency", kind="urgency", read=lambda each: TableCell(value=STATES[each.state], severity=each.severity)),
        Column(key="measure", title="Measure", read=lambda each: each.title),
        Column(key="guideline", title="Guideline", can_sort=False, read=lambda each: each.guideline),
        Column(key="above_limit", title="Intervals above", kind="number", read=lambda each: each.above_limit),
        Column(key="sentence", title="Details", kind="words", can_sort=False, read=lambda each: each.sentence),
        Column(key="worst_at", title="Worst", unit="UTC", kind="date", read=lambda each: each.worst_at),
    ),
    sort=Sort("urgency"),
    search_label="Name of structure, group or measure",
)  # fmt: skip
_PART = Markup('<span class="part-of-note">{}</span>')


def measured_structures(*, lead_time_days: int) -> ListTable[MeasuredStructure]:
    """Return the list of measured structures, most urgent first.

    Args:
        lead_time_days: Days that the site needs to make a structure larger. A limit within them is a warning.
    """
    return ListTable[MeasuredStructure](
        name="measured structures",
        path="/usage",
        columns=(
            Column(key="structure", title="Structure", kind="name", read=_name),
            Column(key="qsg", title="Group", kind="name", read=_group),
            Column(key="urgency", title="Urgency", kind="urgency", read=partial(_urgency, lead_time_days)),
            Column(key="next_limit_day", title="Next limit", place="file", read=lambda each: each.urgency.limit.day if each.urgency and each.urgency.limit else None),
            Column(key="entries_in_use", title="Entries", place="file", read=lambda each: each.entries_in_use),
            Column(key="entries_total", title="Entries", place="file", read=lambda each: each.limits.entries_total if each.limits else None),
            Column(key="entries_percent", title="Entries in use", unit="%", kind="use", read=_entries),
            Column(key="entries_percent_of_week", title="Peak", place="file", read=lambda each: each.entries_percent_of_week),
            Column(key="elements_in_use", title="Elements", place="file", read=lambda each: each.elements_in_use),
            Column(key="elements_total", title="Elements", place="file", read=lambda each: each.limits.elements_total if each.limits else None),
            Column(key="elements_percent", title="Elements in use", unit="%", kind="use", read=_elements),
            Column(key="elements_percent_of_week", title="Peak", place="file", read=lambda each: each.elements_percent_of_week),
            Column(key="last_full_hour", title="Last full", unit="UTC", kind="date", read=_last_full),
            Column(key="use_hour", title="Last hour", unit="UTC", kind="date", read=lambda each: each.use_hour or each.last_hour),
            Column(key="queues", title="Queues", kind="number", read=lambda each: each.queues),
            Column(key="plans", title="Plans", can_sort=False, read=_plans),
        ),
        sort=Sort("urgency"),
        search_label="Name of structure or group",
    )  # fmt: skip


def _name(each: MeasuredStructure) -> TableCell:
    at = f"/usage/{quote(each.qsg, safe='')}/{quote(each.structure, safe='')}"
    return TableCell(value=each.structure, href=at)


def _group(each: MeasuredStructure) -> TableCell:
    return TableCell(value=each.qsg, tag=WORD if has_simulated_name(each.qsg) else "")


def _urgency(lead_time_days: int, each: MeasuredStructure) -> TableCell:
    known = each.urgency
    return urgency_cell(known.full, known.limit, lead_time_days=lead_time_days) if known else TableCell()


def _entries(each: MeasuredStructure) -> TableCell:
    limits = each.limits
    return _use(
        each,
        each.entries_percent,
        each.entries_percent_of_week,
        each.entries_in_use,
        limits.entries_total if limits else None,
        limits.entries_at if limits else None,
    )


def _elements(each: MeasuredStructure) -> TableCell:
    limits = each.limits
    return _use(
        each,
        each.elements_percent,
        each.elements_percent_of_week,
        each.elements_in_use,
        limits.elements_total if limits else None,
        limits.elements_at if limits else None,
    )


def _use(
    each: MeasuredStructure,
    percent: Fraction | float | None,
    of_week: Fraction | float | None,
    in_use: int | None,
    total: int | None,
    total_at: datetime | None,
) -> TableCell:
    """Return the use of a pool with its counts, the age of a limit that is older than a day, and the peak of the week."""
    parts: list[Markup | str] = []
    if in_use is not None and total is not None:
        parts.append(Markup("{} of {}").format(count(in_use), count(total)))
    elif in_use is not None:
        parts.append(Markup("{} in use").format(count(in_use)))
    elif total is not None:
        parts.append(Markup("of {}").format(count(total)))
    if total_at is not None and (days := (each.last_hour - total_at).days) >= 1:
        parts.append(f"limit {days} d old")
    if of_week is not None:
        parts.append(Markup("7 days: {} %").format(percent_bare(of_week)))
    return TableCell(value=percent, note=Markup(" ").join(_PART.format(part) for part in parts), peak=of_week)


def _last_full(each: MeasuredStructure) -> TableCell:
    if each.last_full_hour is None:
        return TableCell(text="none seen")
    return TableCell(value=each.last_full_hour)


def _plans(each: MeasuredStructure) -> TableCell:
    if not each.plans:
        return TableCell(text="none")
    return TableCell(value=", ".join(each.plans), links=[Link(plan, f"/plans/{plan}") for plan in each.plans])
