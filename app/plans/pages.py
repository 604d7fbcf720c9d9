"""The pages of plans: list, structures, comparison of versions, printout, files."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Annotated

from fastapi import HTTPException, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.fits.kept import curves_for
from app.fits.resolve import curve_of, evaluate
from app.paging import ResultPage
from app.plans import approval, service
from app.plans.approval import Approval
from app.plans.changes_pages import ChangeRow, document_changes, result_changes
from app.plans.charts import fill_chart
from app.plans.depth_pages import Depths, advised, depths_of
from app.plans.finding_groups import FindingView, only_in
from app.plans.head import origin_of, path_of
from app.plans.lists import PLANS
from app.plans.measured import MeasuredLinks, measured_of
from app.plans.release import ReleaseDep
from app.plans.result_tables import TABLES
from app.plans.result_view import (
    MOST_FINDINGS,
    QUEUES_PER_PAGE,
    ROLES,
    Explanations,
    FacilityLine,
    QueueLine,
    StructureLine,
    facility_lines,
    figures_explained_at,
    figures_of,
    find_structure,
    findings_of,
    structure_lines,
    unplaced_of,
)
from app.plans.short_document import without_defaults
from app.plans.stored import DeletedPlan, StoredVersion
from app.plans.text_view import texts_of
from app.settings import Settings
from app.sizing.calculator.answer import Figure, OutputTextView
from app.sizing.description import OUTPUT_WORDS
from app.texts.yaml_text import yaml_text
from app.web.charts import ChartWithTable
from app.web.csv_files import csv_text
from app.web.field_values import digits_in
from app.web.paging import page_of_address
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListView
from planner_core.document.model import PlanDocument, Queue
from planner_core.errors import PlanRefused
from planner_core.findings import Finding
from planner_core.plan.sheet import ASSUMPTION
from planner_core.plan.splitting import Move, advise
from planner_core.texts.outputs import OUTPUT_KINDS
from planner_core.wire import JsonObject

router = Router(include_in_schema=False)

MOST_DIFFERENCES = 500
MOST_PRINTED_QUEUES = 2_000


@dataclass(frozen=True, kw_only=True)
class ListPage(Page):
    """The list of plans, or an introduction if there are none."""

    plans: Annotated[ListView, "One page of plans"]
    has_deleted: Annotated[bool, "Whether a plan can be restored"]
    undo: Annotated[DeletedPlan | None, "The plan that was just deleted"]
    kept: Annotated[timedelta, "How long a deleted plan can be restored"]
    is_empty: Annotated[bool, "Whether nothing has been saved yet"]


@dataclass(frozen=True, kw_only=True)
class StructurePage(Page):
    """A structure of a version."""

    version: Annotated[StoredVersion, "The version as stored"]
    at: Annotated[str, "Path of the pages of this version"]
    line: Annotated[StructureLine, "The structure"]
    role: Annotated[str, "Its purpose"]
    measured: Annotated[
        MeasuredLinks | None, "Addresses of its usage and forecast; None if it was not measured"
    ]
    figures: Annotated[tuple[Figure, ...], "Its figures, each with the address of its explanation"]
    chart: Annotated[ChartWithTable | None, "Chart of its usage as it fills; None if no messages are planned"]
    depths: Annotated[Depths | None, "Depths of its queues; None if there are no queues or no stored advice"]
    is_sent_to: Annotated[bool, "Whether clusters send to it"]
    findings: Annotated[tuple[FindingView, ...], "Its findings"]
    queues: Annotated[ResultPage[QueueLine], "One page of its queues"]
    previous: Annotated[str, "Former name of the structure; empty if there is none"]
    next: Annotated[str, "New name of the structure; empty if there is none"]


@dataclass(frozen=True, kw_only=True)
class StructureExplanationsPage(Page):
    """The explanations of all figures of a structure; the page of the structure loads them from here."""

    version: Annotated[StoredVersion, "The version as stored"]
    at: Annotated[str, "Path of the pages of this version"]
    structure: Annotated[str, "Name of the structure"]
    cfrm_name: Annotated[str, "Name of the structure in the policy"]
    figures: Annotated[tuple[Figure, ...], "Its figures, each with its explanation"]


@dataclass(frozen=True, kw_only=True)
class ComparePage(Page):
    """Two versions side by side."""

    name: Annotated[str, "Name of the plan"]
    before: Annotated[StoredVersion, "The first version of the comparison"]
    after: Annotated[StoredVersion, "The second version of the comparison"]
    numbers: Annotated[tuple[int, ...], "All versions, newest first"]
    structures: Annotated[
        tuple[tuple[str, StructureLine | None, StructureLine | None], ...], "Sizes, before and after"
    ]
    document: Annotated[tuple[ChangeRow, ...], "Differences in the input"]
    result: Annotated[tuple[ChangeRow, ...], "Differences in the result, without findings"]
    findings_gone: Annotated[tuple[Finding, ...], "Findings of the first version only"]
    findings_new: Annotated[tuple[Finding, ...], "Findings of the second version only"]
    omitted: Annotated[int, "Number of differences that are not shown"]


@dataclass(frozen=True, kw_only=True)
class PrintPage(Page):
    """A printable version of a plan, for its approval."""

    version: Annotated[StoredVersion, "The version as stored"]
    at: Annotated[str, "Path of the pages of this version"]
    structures: Annotated[tuple[StructureLine, ...], "The structures"]
    facilities: Annotated[tuple[FacilityLine, ...], "Storage of each coupling facility that they use"]
    unplaced: Annotated[tuple[str, ...], "Structures and second copies that cannot be placed"]
    assumption: Annotated[str, "How structures are counted in `facilities`"]
    findings: Annotated[tuple[FindingView, ...], "The findings"]
    findings_total: Annotated[int, "Number of all findings"]
    queues: Annotated[tuple[QueueLine, ...], "Queues; only the first if there are very many"]
    queues_total: Annotated[int, "Number of all queues"]
    changes: Annotated[tuple[ChangeRow, ...], "Changes since the previous version"]
    changes_total: Annotated[int, "Total number of changes"]
    approval: Annotated[Approval | None, "Its approval; None without one"]
    policy: Annotated[OutputTextView, "The policy, or the reason why there is none"]


@dataclass(frozen=True, kw_only=True)
class AdvicePage(Page):
    """Advice on queues that should have their own structure."""

    version: Annotated[StoredVersion, "The latest version"]
    moves: Annotated[tuple[tuple[str, tuple[Move, ...]], ...], "Moved queues, by new structure"]
    document: Annotated[str, "The proposed document"]
    rows: Annotated[
        tuple[tuple[str, int | None, int | None, int | None, int | None], ...], "Sizes before and after"
    ]
    totals: Annotated[tuple[int, int, int, int], "INITSIZE and SIZE before, and after"]
    refusal: Annotated[str, "Reason why there is no advice; otherwise empty"]


# ---- reading ---------------------------------------------------------------------------------------------------------


@router.get("/plans")
def plans(request: Request, session: SessionDep) -> Response:
    """List the plans."""
    asked = PLANS.request(request)
    found = service.list_plans(session, asked.page, search=asked.search, sort=asked.sort)
    deleted = service.list_deleted(session)
    undone = request.query_params.get("deleted", "")
    context = ListPage(
        title="Plans",
        section="plans",
        plans=PLANS.view(found, asked),
        has_deleted=bool(deleted),
        undo=next((item for item in deleted if item.name == undone), None),
        kept=timedelta(days=settings_of(request).deleted_days),
        # A search without results is not a first visit, nor is a list whose plans have all been deleted but can be
        # restored.
        is_empty=found.total == 0 and not asked.search and not deleted,
    )
    return render(request, "plans/list.html", context)


@router.get("/plans.csv")
def plans_file(request: Request, session: SessionDep) -> Response:
    """Return all plans that match the filter as a file."""
    asked = PLANS.file_request(request)
    return PLANS.file(service.list_plans(session, asked.page, search=asked.search, sort=asked.sort).items)


@router.get("/plans/{name}/versions/{number}/structures/{structure}")
def structure(request: Request, session: SessionDep, name: str, number: str, structure: str) -> Response:
    """Show a structure of a version."""
    stored, index, item = _structure_of(session, name, number, structure)
    lines = structure_lines(stored)
    definition = stored.structure(structure)
    queues = definition.queues if definition is not None else []
    asked = page_of_address(request, per_page=QUEUES_PER_PAGE)
    first, last = asked.offset, asked.offset + asked.per_page
    context = StructurePage(
        title=f"{item['cfrm_name']} in {name}",
        section="plans",
        version=stored,
        at=path_of(stored),
        line=lines[index],
        role=ROLES[item["role"]],
        measured=measured_of(session, stored).get(structure),
        # Loaded when they are opened: they are most of the page, and all of the version's have to be decompressed.
        figures=figures_explained_at(item, f"{path_of(stored)}/structures/{structure}/explanations"),
        chart=fill_chart(item, origin_of(stored, item["cfrm_name"])),
        depths=depths_of(advised(stored, item, curves_for(session)), first=first, most=QUEUES_PER_PAGE),
        is_sent_to=any(
            each["structure"] == structure for each in stored.result.get("clusters", {}).get("structures", ())
        ),
        findings=findings_of(
            stored, structure=structure, acknowledged=service.get_acknowledgments(session, stored)
        ),
        queues=ResultPage.of(
            [QueueLine(structure, queue) for queue in queues[first:last]], len(queues), asked
        ),
        previous=lines[index - 1].name if index else "",
        next=lines[index + 1].name if index + 1 < len(lines) else "",
    )
    return render(request, "plans/structure.html", context)


@router.get("/plans/{name}/versions/{number}/structures/{structure}/explanations")
def structure_explanations(
    request: Request, session: SessionDep, name: str, number: str, structure: str
) -> Response:
    """Show the formula, inputs and sources of every figure of a structure."""
    stored, index, item = _structure_of(session, name, number, structure)
    explanations = Explanations(service.get_explanations_of(session, stored, f"/structures/{index}"))
    context = StructureExplanationsPage(
        title=f"Sources of the figures of {item['cfrm_name']} in {name}",
        section="plans",
        version=stored,
        at=path_of(stored),
        structure=structure,
        cfrm_name=item["cfrm_name"],
        figures=figures_of(item, f"/structures/{index}", explanations),
    )
    return render(request, "plans/explanations.html", context)


def _structure_of(
    session: Session, name: str, number: str, structure: str
) -> tuple[StoredVersion, int, JsonObject]:
    """Return a version, and the position and result of one of its structures."""
    stored = service.get_version_at(session, name, number)
    found = find_structure(stored, structure)
    if found is None:
        raise HTTPException(
            404, f"Version {stored.number} of the plan {name} has no structure {structure[:40]}."
        )
    return stored, *found


@router.get("/plans/{name}/compare")
def compare(request: Request, session: SessionDep, name: str) -> Response:
    """Compare two versions, by default the latest with the previous one."""
    versions = service.list_versions(session, name)
    latest = versions[0].number
    last = _number(request.query_params.get("to", ""), otherwise=latest)
    first = _number(request.query_params.get("from", ""), otherwise=max(last - 1, 1))
    before, after = service.get_version(session, name, first), service.get_version(session, name, last)
    document = document_changes(before.comparable_object, after.comparable_object)
    results = result_changes(_compared(before.result), _compared(after.result))
    gone, new = only_in(before.findings, after.findings), only_in(after.findings, before.findings)
    old = {line.name: line for line in structure_lines(before)}
    fresh = {line.name: line for line in structure_lines(after)}
    page = ComparePage(
        title=f"{name}: version {first} and {last}",
        section="plans",
        name=name,
        before=before,
        after=after,
        numbers=tuple(item.number for item in versions),
        structures=tuple((each, old.get(each), fresh.get(each)) for each in dict.fromkeys((*old, *fresh))),
        document=document[:MOST_DIFFERENCES],
        result=results[:MOST_DIFFERENCES],
        findings_gone=gone[:MOST_DIFFERENCES],
        findings_new=new[:MOST_DIFFERENCES],
        omitted=sum(max(len(each) - MOST_DIFFERENCES, 0) for each in (document, results, gone, new)),
    )
    return render(request, "plans/compare.html", page)


@router.get("/plans/{name}/versions/{number}/print")
def on_paper(request: Request, session: SessionDep, name: str, number: str, release: ReleaseDep) -> Response:
    """Show a version for printing."""
    stored = service.get_version_at(session, name, number)
    structures = stored.document_object["structures"]
    # Only the queues on the page are validated, because reading all of a large document takes long.
    queues = islice(
        ((each["name"], queue) for each in structures for queue in each["queues"]), MOST_PRINTED_QUEUES
    )
    before = service.get_version(session, name, stored.number - 1) if stored.number > 1 else None
    changes = document_changes(before.comparable_object, stored.comparable_object) if before else ()
    page = PrintPage(
        title=f"{name}, version {stored.number}",
        section="plans",
        version=stored,
        at=path_of(stored),
        structures=structure_lines(stored),
        facilities=facility_lines(stored),
        unplaced=unplaced_of(stored),
        assumption=ASSUMPTION,
        findings=findings_of(stored, acknowledged=service.get_acknowledgments(session, stored))[
            :MOST_FINDINGS
        ],
        findings_total=len(stored.findings),
        queues=tuple(QueueLine(at, Queue.model_validate(queue)) for at, queue in queues),
        queues_total=sum(len(each["queues"]) for each in structures),
        changes=changes[:MOST_DIFFERENCES],
        changes_total=len(changes),
        # Complete, because an approval must cover the whole policy.
        approval=approval.approval_of(session, stored),
        policy=texts_of(session, stored, ("policy",), cut=False, release=release)[0],
    )
    return render(request, "plans/print.html", page)


@router.get("/plans/{name}/advice")
def advice(request: Request, session: SessionDep, name: str) -> Response:
    """Show advice on queues that should have their own structure."""
    stored = service.get_plan(session, name)
    curves = curves_for(session)
    refusal = ""
    moves: tuple[Move, ...] = ()
    proposed = stored.document
    after: JsonObject = stored.result
    try:
        found = advise(stored.document, curve=curve_of(stored.document, curves))
        proposed, moves = found.document, found.moves
        # Without the comparison of curves, which the page does not show.
        after = evaluate(proposed, curves, compares=False).as_json() if moves else stored.result
    except PlanRefused as error:
        refusal, proposed, moves = str(error), stored.document, ()
    groups: dict[str, list[Move]] = {}
    for move in moves:
        groups.setdefault(move.to_structure, []).append(move)
    old = {item["name"]: item for item in stored.result["structures"]}
    new = {item["name"]: item for item in after["structures"]}
    totals = (stored.result["totals"], after["totals"])
    page = AdvicePage(
        title=f"Splitting {name}",
        section="plans",
        version=stored,
        moves=tuple((to, tuple(items)) for to, items in groups.items()),
        # A hidden field carries the document to the editor, so it should be short.
        document=proposed.model_dump_json(exclude_defaults=True) if moves else "",
        rows=tuple(
            (
                each,
                *(side.get(each, {}).get(key) for side in (old, new) for key in ("initsize_kib", "size_kib")),
            )
            for each in dict.fromkeys((*old, *new))
        ),
        totals=(*(side[key] for side in totals for key in ("initsize_kib", "size_kib")),),
        refusal=refusal,
    )
    return render(request, "plans/advice.html", page)


@router.get("/plans/{name}/versions/{number}/files/{file}")
def download(session: SessionDep, name: str, number: str, file: str, release: ReleaseDep) -> Response:
    """Download a text, the document or a table."""
    stored = service.get_version_at(session, name, number)
    stem = f"{name}-v{stored.number}"
    if file in OUTPUT_KINDS:
        output = service.get_output(session, name, file, number=stored.number)
        release.check(session, name, output)
        release.record_version(name, output, {file: output.text})
        return _file(output.text, OUTPUT_WORDS[file].media_type, f"{stem}-{output.filename}")
    if file == "plan.json":
        return _file(_pretty(stored.document), "application/json", f"{name}.json")
    if file == "plan.yaml":
        return _file(
            yaml_text(without_defaults(stored)),
            "application/yaml",
            f"{name}.yaml",
        )
    if file == "tables.xlsx":
        from app.plans.result_workbook import xlsx_bytes

        sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        return _file(xlsx_bytes(stored), sheet, f"{stem}.xlsx")
    kind, _, suffix = file.rpartition(".")
    if suffix == "csv" and kind in TABLES:
        return _file(csv_text(TABLES[kind](stored)), "text/csv", f"{stem}-{kind}.csv")
    raise HTTPException(status_code=404, detail="There is no such file.")


@router.get("/export-plans")
def export(session: SessionDep) -> Response:
    """Download the latest version of every plan in one archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for item in service.all_plans(session):
            file.writestr(f"{item.name}.json", _pretty(service.get_plan(session, item.name).document))
    return _file(archive.getvalue(), "application/zip", "cfplan-plans.zip")


# ---- inside ----------------------------------------------------------------------------------------------------------


def _compared(found: JsonObject) -> JsonObject:
    """Return the part of a result that is compared: no findings, and only the identity and costs of the curve."""
    # Intervals and sources of a curve may change without any effect on sizes.
    curve = {key: found["curve"][key] for key in ("id", "base_bytes", "bundle_bytes", "header_bytes")}
    fitted = found["curve"].get("fitted") or {}
    costs = {key: fitted.get(key) for key in ("entry_bytes", "element_bytes")}
    kept = {
        key: value for key, value in found.items() if key not in ("findings", "finding_groups", "comparison")
    }
    return {**kept, "curve": {**curve, **costs}}


def _number(text: str, *, otherwise: int) -> int:
    number = digits_in(text)
    return otherwise if number is None else max(number, 1)


def settings_of(request: Request) -> Settings:
    """Return the settings of the service."""
    settings: Settings = request.app.state.settings
    return settings


def _file(content: str | bytes, media_type: str, filename: str) -> Response:
    return Response(
        content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{filename}"'}
    )


def _pretty(document: PlanDocument) -> str:
    return document.model_dump_json(indent=2, exclude_defaults=True) + "\n"
