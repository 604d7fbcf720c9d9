"""Several plans of one sysplex: the storage that they use in each coupling facility, before and after the changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.plans import service
from app.plans.result_view import FacilityLine, facility_line, in_words, stored_group
from app.plans.stored import StoredVersion
from app.web.charts import BarChart, Origin
from app.web.csv_files import csv_text
from app.web.field_values import digits_in
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.size_charts import SizedBar, SizedGroup, sizes_chart
from planner_core.plan.sheet import Sheet, SheetFacility, sheet
from planner_core.sizing.placement import FacilityUse

router = Router(include_in_schema=False)

MOST_PLANS = 40


@dataclass(frozen=True, slots=True)
class PlanOnSheet:
    """One plan and its versions before and after."""

    name: str
    qsg: str
    after: int
    before: int
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """A coupling facility before and after; zero where it does not exist [K]."""

    name: str
    before_initsize_kib: int
    before_size_kib: int
    initsize_kib: int
    size_kib: int


@dataclass(frozen=True, kw_only=True)
class SheetPage(Page):
    """Context of the sheet: storage of coupling facilities over several plans."""

    plans: Annotated[tuple[PlanOnSheet, ...], "The plans on the sheet"]
    others: Annotated[tuple[str, ...], "Plans that can be added"]
    unknown: Annotated[tuple[str, ...], "Names in the address that are not names of plans"]
    sums: Annotated[tuple[Sums, ...], "Each coupling facility before and after"]
    together: Annotated[Sums, "All coupling facilities together"]
    chart: Annotated[BarChart | None, "The coupling facilities before and after; None if nothing changes"]
    lines: Annotated[tuple[FacilityLine, ...], "Storage of each coupling facility"]
    unplaced: Annotated[tuple[str, ...], "Structures and second copies that cannot be placed"]
    without_preflist: Annotated[tuple[str, ...], "Structures that name no coupling facility"]
    facilities: Annotated[tuple[SheetFacility, ...], "Structures by coupling facility"]
    same_names: Annotated[tuple[str, ...], "Structures in more than one plan"]
    assumption: Annotated[str, "How structures are counted"]
    csv: Annotated[str, "Address of the table as a file"]


@router.get("/sheet")
def show(request: Request, session: SessionDep) -> Response:
    """Show the sheet of the plans that the address names."""
    names = list(dict.fromkeys(request.query_params.getlist("plan")))[:MOST_PLANS]
    everything = service.plan_names(session)
    known: list[PlanOnSheet] = []
    before: list[StoredVersion] = []
    after: list[StoredVersion] = []
    unknown: list[str] = []
    for name in names:
        try:
            latest = service.get_plan(session, name)
        except service.PlanNotFound:
            unknown.append(name[:64])
            continue
        number = _before(request.query_params, latest)
        after.append(latest)
        if number:
            before.append(service.get_version(session, name, number))
        # Version numbers have no gaps, so they need no query.
        versions = tuple(range(latest.number, 0, -1))
        known.append(PlanOnSheet(name, latest.result["qsg"], latest.number, number, versions))
    old, new = _sheet(before), _sheet(after)
    sums = sums_of(old, new)
    if request.query_params.get("as") == "csv":
        return _csv(new)
    page = SheetPage(
        title="Several groups on one sheet",
        section="plans",
        plans=tuple(known),
        others=tuple(name for name in everything if name not in names),
        unknown=tuple(unknown),
        sums=sums,
        together=_together(sums),
        chart=before_and_after_chart(sums, new, known),
        lines=tuple(facility_line(each.use.storage(), len(each.rows)) for each in new.facilities),
        unplaced=in_words((row.structure, row.is_second_copy) for row in new.unplaced),
        without_preflist=tuple(row.structure for row in new.without_preflist),
        facilities=new.facilities,
        same_names=new.same_names,
        assumption=new.assumption,
        csv=f"/sheet?{request.url.query}&as=csv",
    )
    return render(request, "sheet/sheet.html", page)


def _before(query: Mapping[str, str], latest: StoredVersion) -> int:
    """Return the number of the version before the change, or 0 if there is none."""
    number = digits_in(query.get(f"before-{latest.name}", ""))
    return latest.number - 1 if number is None else min(number, latest.number)


def _sheet(versions: Sequence[StoredVersion]) -> Sheet:
    """Return the sheet of the stored sizes, without evaluating any plan again."""
    return sheet([stored_group(version) for version in versions])


def sums_of(old: Sheet, new: Sheet) -> tuple[Sums, ...]:
    """Return INITSIZE and SIZE of each coupling facility before and after, with second copies."""
    before = {facility.name: facility.use for facility in old.facilities}
    after = {facility.name: facility.use for facility in new.facilities}
    return tuple(
        Sums(name, *_taken(before.get(name)), *_taken(after.get(name))) for name in sorted({*before, *after})
    )


def before_and_after_chart(sums: Sequence[Sums], new: Sheet, plans: Sequence[PlanOnSheet]) -> BarChart | None:
    """Return INITSIZE and SIZE of each coupling facility before and after, within the storage left for them."""
    storage = {each.name: _available_kib(each.use) for each in new.facilities}
    groups = [
        SizedGroup(
            each.name,
            (
                SizedBar("before", each.before_initsize_kib, each.before_size_kib),
                SizedBar("after", each.initsize_kib, each.size_kib),
            ),
            storage.get(each.name),
        )
        for each in sums
    ]
    names = ", ".join(f"{plan.name} version {plan.after}" for plan in plans)
    origin = Origin(f"plans {names}", "", "stored plans")
    return sizes_chart(
        "facilities",
        "Coupling facilities before and after",
        groups,
        whole_name="storage available to the plans",
        origin=origin,
    )


def _available_kib(use: FacilityUse) -> int | None:
    """Return the storage without dump space and structures of others, which the bars do not include [K]."""
    found = use.storage()
    if found.size_kib is None:
        return None
    return max(found.size_kib - found.occupied_kib - found.dumpspace_kib, 0)


def _taken(use: FacilityUse | None) -> tuple[int, int]:
    if use is None:
        return 0, 0
    found = use.storage()
    return (
        found.planned_initsize_kib + found.second_copies_kib + (found.other_structures_kib or 0),
        found.planned_size_kib + found.second_copies_size_kib + (found.other_structures_size_kib or 0),
    )


def _together(sums: Sequence[Sums]) -> Sums:
    return Sums(
        name="Total",
        before_initsize_kib=sum(each.before_initsize_kib for each in sums),
        before_size_kib=sum(each.before_size_kib for each in sums),
        initsize_kib=sum(each.initsize_kib for each in sums),
        size_kib=sum(each.size_kib for each in sums),
    )


def _csv(found: Sheet) -> Response:
    heading = ("coupling_facility", "plan", "structure", "role", "second_copy", "initsize_kib", "size_kib")
    rows = [
        (row.facility, row.plan, row.structure, row.role, "yes" if row.is_second_copy else "no", row.initsize_kib, row.size_kib)
        for row in (
            *(row for facility in found.facilities for row in facility.rows), *found.unplaced, *found.without_preflist,
        )
    ]  # fmt: skip
    headers = {"Content-Disposition": 'attachment; filename="cfplan-sheet.csv"'}
    return Response(csv_text((heading, list(rows))), media_type="text/csv", headers=headers)
