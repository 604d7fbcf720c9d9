"""The list of structures on the overview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from app.fleet.answers import FleetLimit, FleetStructure
from app.fleet.service import address_of
from app.fleet.structures import DayUse
from app.paging import ListRequest, Sort, in_order
from app.usage.repository import StructureKey
from app.web.tables import Column, Link, ListTable, TableCell
from planner_core.units import MIB

Use = Mapping[StructureKey, Sequence[DayUse]]


@dataclass(frozen=True, slots=True)
class StructureRow:
    """A structure with its last 90 days, None for days that were not measured."""

    structure: FleetStructure
    days: Sequence[DayUse] = ()


def _peaks(row: StructureRow) -> TableCell:
    known = [(each.day, each.used_percent) for each in row.days if each.used_percent is not None]
    if not known:
        return TableCell()
    day, most = max(known, key=lambda pair: pair[1])
    text = (
        f"Daily peaks from {known[0][0].isoformat()} to {known[-1][0].isoformat()}: {known[0][1]:.0f} % at first, "
        f"{known[-1][1]:.0f} % at last, at most {most:.0f} % on {day.isoformat()}"
    )
    return TableCell(value=tuple(each.used_percent for each in row.days), text=text)


def _limit(row: StructureRow) -> TableCell:
    each, limit = row.structure, row.structure.next_limit
    if limit is None:
        text = each.outlook if each.urgency in ("unknown", "high") and each.outlook else ""
        return TableCell(
            text=text or (f"none within {each.horizon_days} days" if each.has_forecast else "no forecast")
        )
    if limit.is_passed:
        return TableCell(value=0, text=f"{limit.level} passed", note=limit.measure.lower())
    if limit.days.p50 is None:
        return TableCell(text=f"{limit.level} unlikely within {limit.horizon_days} days")
    days = f"{limit.days.p50} {'day' if limit.days.p50 == 1 else 'days'}"
    return TableCell(
        value=limit.days.p50,
        text=f"{limit.level} in {days}",
        note=f"{_interval(limit)}, {limit.measure.lower()}",
    )


def _last_full(row: StructureRow) -> TableCell:
    each = row.structure
    if each.last_full_hour is not None or not each.is_measured:
        return TableCell(value=each.last_full_hour)
    # The nightly run may know days whose hours are no longer stored.
    return TableCell(text="none seen" if each.full is None else each.full.last.isoformat())


def _places(row: StructureRow) -> TableCell:
    each = row.structure
    if each.coupling_facilities:
        return TableCell(value=" ".join(each.coupling_facilities))
    return TableCell(text="no place", severity="error") if each.plans else TableCell()


def _interval(limit: FleetLimit) -> str:
    first = 0 if limit.days.p10 is None else limit.days.p10
    return (
        f"{first} to beyond {limit.horizon_days}"
        if limit.days.p90 is None
        else f"{first}\N{EN DASH}{limit.days.p90}"
    )


def _of_limit(read: Callable[[FleetLimit], Any]) -> Callable[[StructureRow], Any]:
    return lambda row: None if row.structure.next_limit is None else read(row.structure.next_limit)


def _urgency(row: StructureRow) -> TableCell:
    each = row.structure
    return TableCell(
        value=each.urgency_text if each.severity else None, text=each.urgency_text, severity=each.severity
    )


def _plans(row: StructureRow) -> TableCell:
    names = row.structure.plans
    links = [Link(name, f"/plans/{quote(name, safe='')}") for name in names]
    return TableCell(value=" ".join(names) or None, text="" if names else "none", links=links)


STRUCTURES = ListTable[StructureRow](
    name="structures",
    path="/",
    columns=(
        Column(
            key="structure",
            title="Structure",
            kind="name",
            read=lambda row: TableCell(
                value=row.structure.structure,
                href=address_of(row.structure),
                tag="simulated" if row.structure.is_simulated else "",
            ),
        ),
        Column(key="group", title="Group", kind="name", read=lambda row: row.structure.qsg),
        Column(key="urgency", title="Urgency", kind="urgency", read=_urgency),
        Column(
            key="used",
            title="Used now",
            unit="%",
            kind="use",
            read=lambda row: TableCell(value=row.structure.used_percent, note=row.structure.used_pool or ""),
        ),
        Column(
            key="used_at", title="Used at", kind="date", place="file", read=lambda row: row.structure.used_at
        ),
        Column(
            key="days",
            title="Last 90 days",
            kind="sparkline",
            can_sort=False,
            highest=100,
            read=_peaks,
        ),
        Column(key="limit_days", title="Next limit", kind="urgency", read=_limit),
        Column(key="limit", title="Limit", place="file", read=_of_limit(lambda limit: limit.level)),
        Column(
            key="limit_days_p10", title="10 %", place="file", read=_of_limit(lambda limit: limit.days.p10)
        ),
        Column(
            key="limit_days_p90", title="90 %", place="file", read=_of_limit(lambda limit: limit.days.p90)
        ),
        Column(
            key="last_full",
            title="Last full",
            unit="UTC",
            kind="date",
            read=_last_full,
        ),
        Column(
            key="size_mib",
            title="Size",
            unit="MiB",
            kind="number",
            read=lambda row: None if row.structure.size_bytes is None else row.structure.size_bytes / MIB,
        ),
        Column(
            key="coupling_facilities",
            title="CF",
            kind="name",
            read=_places,
        ),
        Column(key="plans", title="Plans", can_sort=False, read=_plans),
    ),
    sort=Sort("urgency"),
    search_label="Name of structure or group",
    file_path="/fleet.csv",
    anchor="#structures",
)

_KEYS: Mapping[str, Callable[[FleetStructure], Any]] = {
    "structure": lambda each: (each.structure, each.qsg),
    "group": lambda each: (each.qsg, each.structure),
    "used": lambda each: each.used_percent,
    "limit_days": lambda each: _days(each.next_limit),
    "last_full": lambda each: each.last_full_hour,
    "size_mib": lambda each: each.size_bytes,
    "coupling_facilities": lambda each: each.coupling_facilities or None,
}


def _days(limit: FleetLimit | None) -> int | None:
    return None if limit is None else -1 if limit.is_passed else limit.days.p50


def chosen(structures: Sequence[FleetStructure], asked: ListRequest) -> list[FleetStructure]:
    """Return the structures whose names match, in the requested order. Equal ones stay sorted by urgency."""
    text = asked.search.lower()
    found = [each for each in structures if text in f"{each.structure} {each.qsg}".lower()]
    sort = asked.sort or STRUCTURES.sort
    if sort.key == "urgency":
        return found[::-1] if sort.is_descending else found
    return in_order(found, sort, _KEYS[sort.key])


def page_of(structures: Sequence[FleetStructure], asked: ListRequest) -> Sequence[FleetStructure]:
    """Return the part of the structures that the requested page shows."""
    return structures[asked.page.offset : asked.page.offset + asked.page.per_page]


def rows_of(structures: Sequence[FleetStructure], use: Use) -> tuple[StructureRow, ...]:
    """Return the structures with their last days."""
    return tuple(StructureRow(each, use.get((each.qsg, each.structure), ())) for each in structures)
