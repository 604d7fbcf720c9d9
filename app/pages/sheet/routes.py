"""Plans of one sysplex together: what they take of each coupling facility, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.db import SessionDep
from app.pages.plans.tables import csv_text
from app.plans import service
from app.plans.stored import StoredVersion
from app.templating import Page, render
from planner_core.plan import PlanResult
from planner_core.sheet import Facility, Sheet, sheet
from planner_core.units import kib_to_bytes

router = APIRouter(include_in_schema=False)

MOST_PLANS = 40
ALL = service.MOST_PER_PAGE


@dataclass(frozen=True, slots=True)
class PlanOnSheet:
    """One plan, and which of its versions stand for before and after."""

    name: str
    qsg: str
    after: int
    before: int
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """A coupling facility before and after; zero where it is not there [K]."""

    name: str
    storage_kib: int | None
    before_initsize_kib: int
    before_size_kib: int
    initsize_kib: int
    size_kib: int
    is_over: bool


@dataclass(frozen=True, kw_only=True)
class SheetPage(Page):
    """Storage per coupling facility over several plans."""

    plans: Annotated[tuple[PlanOnSheet, ...], "The plans on the sheet"]
    others: Annotated[tuple[str, ...], "Plans that could be put on it"]
    unknown: Annotated[tuple[str, ...], "Names in the address that no plan has"]
    sums: Annotated[tuple[Sums, ...], "Each coupling facility before and after"]
    together: Annotated[Sums, "All of them"]
    facilities: Annotated[tuple[Facility, ...], "Structures by coupling facility"]
    same_names: Annotated[tuple[str, ...], "Structures that more than one plan has"]
    assumption: Annotated[str, "How structures are counted"]
    csv: Annotated[str, "Address of the table as a file"]


@router.get("/sheet")
def show(request: Request, session: SessionDep) -> Response:
    """The sheet for the plans that the address names."""
    names = list(dict.fromkeys(request.query_params.getlist("plan")))[:MOST_PLANS]
    everything = [item.name for item in service.list_plans(session, per_page=ALL).items]
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
        versions = tuple(range(latest.number, 0, -1))
        known.append(PlanOnSheet(name, latest.result["qsg"], latest.number, number, versions))
    old, new = _sheet(before), _sheet(after)
    sums = _sums(old, new)
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
        facilities=new.facilities,
        same_names=new.same_names,
        assumption=new.assumption,
        csv=f"/sheet?{request.url.query}&as=csv",
    )
    return render(request, "sheet/sheet.html", page)


def _before(query: Mapping[str, str], latest: StoredVersion) -> int:
    """The number of the version that stands for before; 0 for none."""
    text = query.get(f"before-{latest.name}", "")
    if text.isascii() and text.isdigit() and len(text) < 8:  # noqa: PLR2004 - more digits than versions
        return min(int(text), latest.number)
    return latest.number - 1


def _sheet(versions: Sequence[StoredVersion]) -> Sheet:
    """The core's sheet over results as they were stored: nothing is computed anew."""
    return sheet([(version.name, cast(PlanResult, _stored(version))) for version in versions])


def _stored(version: StoredVersion) -> SimpleNamespace:
    return SimpleNamespace(
        document=SimpleNamespace(coupling_facilities=version.coupling_facilities),
        structures=tuple(_structure(item) for item in version.result["structures"]),
    )


def _structure(item: Mapping[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(
        cfrm_name=item["cfrm_name"],
        role=item["role"],
        placement=SimpleNamespace(preflist=tuple(item["preflist"]), duplex=item["duplex"]),
        sizes=SimpleNamespace(
            initsize_bytes=kib_to_bytes(item["initsize_kib"]), size_bytes=kib_to_bytes(item["size_kib"])
        ),
    )


def _sums(old: Sheet, new: Sheet) -> tuple[Sums, ...]:
    before = {facility.name: facility for facility in old.facilities}
    after = {facility.name: facility for facility in new.facilities}
    found = []
    for name in sorted({*before, *after}, key=lambda name: (not name, name)):
        was, now = before.get(name), after.get(name)
        storage = now.storage_kib if now else was.storage_kib if was else None
        found.append(
            Sums(
                name=name,
                storage_kib=storage,
                before_initsize_kib=was.initsize_kib if was else 0,
                before_size_kib=was.size_kib if was else 0,
                initsize_kib=now.initsize_kib if now else 0,
                size_kib=now.size_kib if now else 0,
                is_over=bool(now and storage is not None and now.size_kib > storage),
            )
        )
    return tuple(found)


def _together(sums: Sequence[Sums]) -> Sums:
    return Sums(
        name="Together",
        storage_kib=None,
        before_initsize_kib=sum(each.before_initsize_kib for each in sums),
        before_size_kib=sum(each.before_size_kib for each in sums),
        initsize_kib=sum(each.initsize_kib for each in sums),
        size_kib=sum(each.size_kib for each in sums),
        is_over=False,
    )


def _csv(found: Sheet) -> Response:
    heading = ("coupling_facility", "plan", "structure", "role", "second_copy", "initsize_kib", "size_kib")
    rows = [
        (row.facility, row.plan, row.structure, row.role, "yes" if row.is_second_copy else "no", row.initsize_kib, row.size_kib)
        for facility in found.facilities
        for row in facility.rows
    ]  # fmt: skip
    headers = {"Content-Disposition": 'attachment; filename="cfplan-sheet.csv"'}
    return Response(csv_text((heading, list(rows))), media_type="text/csv", headers=headers)
