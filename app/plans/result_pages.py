"""The tabs of a plan: sizes, findings, policy and commands, queues of a version; the history of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.audit.filters import AuditFilter
from app.audit.lists import OF_ONE_OBJECT, view_of
from app.audit.service import list_entries
from app.clusters.load_view import MOST_CHOSEN, ClusterLoadView, clusters_shown, stored_load
from app.database.session import SessionDep
from app.paging import PageRequest, ResultPage
from app.plans import approval, service
from app.plans.approval import ApprovalState
from app.plans.charts import MOST_STRUCTURES, structures_chart
from app.plans.editor.view import in_the_editor
from app.plans.errors import ApprovalMissing
from app.plans.finding_groups import (
    FindingFilter,
    FindingGroupView,
    findings_shown,
    grouped_findings,
    read_filter,
)
from app.plans.head import FINDINGS, POLICY, QUEUES, SIZES, PlanHead, RefusedAction, origin_of, plan_head
from app.plans.measured import MeasuredLinks, measured_of
from app.plans.release import release_of
from app.plans.result_tables import TABLES
from app.plans.result_view import (
    MOST_FINDINGS,
    QUEUES_PER_PAGE,
    Explanations,
    FacilityLine,
    QueueLine,
    StructureLine,
    facility_lines,
    figures_of,
    structure_lines,
    unplaced_of,
)
from app.plans.stored import StoredVersion, VersionSummary
from app.plans.text_view import texts_of
from app.plans.trail import PLAN
from app.sizing.calculator.answer import Figure, OutputTextView
from app.web.charts import BarChart
from app.web.field_values import digits_in
from app.web.paging import page_of_address
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListView
from planner_core.document.model import Queue
from planner_core.plan.sheet import ASSUMPTION

router = Router(include_in_schema=False)

MOST_ENTRIES = 25
"""Entries of the audit trail on the page of the history."""
MOST_DIGITS = 18
MOST_GROUPS = 14
"""Maximum number of groups of findings next to the sizes; the tab of the findings lists all of them."""


@dataclass(frozen=True, kw_only=True)
class PlanSizesPage(Page):
    """The first tab of a version: pictures, sizes, coupling facilities."""

    head: Annotated[PlanHead, "The head of the page"]
    chart: Annotated[BarChart, "The structures by INITSIZE and SIZE"]
    undrawn: Annotated[int, "Number of structures that the chart does not show"]
    groups: Annotated[tuple[FindingGroupView, ...], "Groups of findings, only the first if there are many"]
    groups_omitted: Annotated[int, "Number of groups that are not listed"]
    structures: Annotated[tuple[StructureLine, ...], "The structures"]
    measured: Annotated[Mapping[str, MeasuredLinks], "Usage and forecasts of the structures, by name"]
    facilities: Annotated[tuple[FacilityLine, ...], "Storage of each coupling facility that they use"]
    unplaced: Annotated[tuple[str, ...], "Structures and second copies that cannot be placed"]
    assumption: Annotated[str, "How structures are counted in `facilities`"]
    totals: Annotated[Mapping[str, Figure], "Sums over the group, with their explanations"]
    clusters: Annotated[
        ClusterLoadView | None, "Load of clusters on the structures; None if the plan has no clusters"
    ]
    kept_days: Annotated[int, "Days for which the plan can be restored after it is deleted"]


@dataclass(frozen=True, kw_only=True)
class PlanFindingsPage(Page):
    """The findings of a version, grouped by code."""

    head: Annotated[PlanHead, "The head of the page"]
    groups: Annotated[tuple[FindingGroupView, ...], "The groups of findings"]
    asked: Annotated[FindingFilter, "The findings that the page shows"]
    shown: Annotated[int, "Number of findings in the groups"]
    total: Annotated[int, "Number of all findings of the version"]
    omitted: Annotated[int, "Number of findings that are counted but not listed"]
    structures: Annotated[tuple[str, ...], "Structures with findings"]


@dataclass(frozen=True, kw_only=True)
class PlanTextsPage(Page):
    """The texts for z/OS of a version, and its files."""

    head: Annotated[PlanHead, "The head of the page"]
    approval: Annotated[ApprovalState, "Whether the version is approved, and whether its texts need that"]
    refusal: Annotated[str, "Why the user cannot approve it; empty if this is possible"]
    texts: Annotated[tuple[OutputTextView, ...], "Texts to copy or download, in order"]
    tables: Annotated[tuple[str, ...], "Names of the tables with a CSV file"]


@dataclass(frozen=True, kw_only=True)
class PlanQueuesPage(Page):
    """The queues of a version."""

    head: Annotated[PlanHead, "The head of the page"]
    queues: Annotated[ResultPage[QueueLine], "One page of the queues"]
    search: Annotated[str, "Search text"]
    total: Annotated[int, "Number of all queues of the version"]
    query: Annotated[Mapping[str, str], "Parameters of the address for the other pages"]


@dataclass(frozen=True, kw_only=True)
class HistoryPage(Page):
    """All versions of a plan."""

    head: Annotated[PlanHead, "The head of the page"]
    versions: Annotated[tuple[VersionSummary, ...], "All versions, newest first"]
    entries: Annotated[ListView, "Entries of the audit trail about the plan, newest first"]
    older: Annotated[str, "Address of older entries; empty if there are none"]


@router.get("/plans/{name}")
def latest(request: Request, session: SessionDep, name: str) -> Response:
    """Show a tab of the latest version."""
    return result_page(request, session, service.get_plan(session, name))


@router.get("/plans/{name}/versions/{number}")
def version(request: Request, session: SessionDep, name: str, number: str) -> Response:
    """Show a tab of one version."""
    return result_page(request, session, service.get_version_at(session, name, number))


@router.get("/plans/{name}/history")
def history(request: Request, session: SessionDep, name: str) -> Response:
    """List all versions."""
    stored = service.get_plan(session, name)
    before = digits_in(request.query_params.get("before", ""), most=MOST_DIGITS)
    about = AuditFilter(object_kind=PLAN, object_id=stored.plan_id)
    found = list_entries(session, about, before=before, limit=MOST_ENTRIES)
    page = HistoryPage(
        title=f"History of {name}",
        section="plans",
        head=plan_head(stored, "history"),
        versions=service.list_versions(session, name),
        entries=view_of(found.entries, OF_ONE_OBJECT),
        older="" if found.next is None else f"/plans/{name}/history?before={found.next}#h-trail",
    )
    return render(request, "plans/history.html", page)


def result_page(
    request: Request,
    session: Session,
    stored: StoredVersion,
    refused: RefusedAction | None = None,
    *,
    tab: str = "",
    status_code: int = 200,
) -> Response:
    """Return a tab of a version, by default the one in the address, including a request that was refused, if any."""
    key = tab or request.query_params.get("tab", "")
    make = _TABS.get(key)
    key = key if make else SIZES
    head = plan_head(stored, key, request=request, refused=refused)
    template, page = (make or _sizes)(request, session, head)
    return render(request, template, page, status_code=status_code)


def _sizes(request: Request, session: Session, head: PlanHead) -> tuple[str, Page]:
    stored = head.version
    explanations = Explanations(service.get_explanations_of(session, stored, "/totals"))
    totals = figures_of(stored.result["totals"], "/totals", explanations, prefix="together-")
    lines = structure_lines(stored)
    groups = grouped_findings(stored.findings, ())
    clusters = stored_load(stored.result)
    chosen = request.query_params.get("fail", "")[:MOST_CHOSEN]
    page = PlanSizesPage(
        title=_title(stored),
        section="plans",
        head=head,
        chart=structures_chart(lines, origin_of(stored)),
        undrawn=max(len(lines) - MOST_STRUCTURES, 0),
        groups=groups[:MOST_GROUPS],
        groups_omitted=max(len(groups) - MOST_GROUPS, 0),
        structures=lines,
        measured=measured_of(session, stored),
        facilities=facility_lines(stored),
        unplaced=unplaced_of(stored),
        assumption=ASSUMPTION,
        totals={figure.id.rpartition("-")[2]: figure for figure in totals},
        clusters=clusters_shown(clusters, chosen=chosen) if clusters else None,
        kept_days=request.app.state.settings.deleted_days,
    )
    return "plans/sizes.html", page


def _findings(request: Request, session: Session, head: PlanHead) -> tuple[str, Page]:
    stored, given = head.version, request.query_params
    asked = read_filter(given.get("severity", ""), given.get("structure", ""), given.get("code", ""))
    views = findings_shown(
        stored.findings, label_of=in_the_editor, acknowledged=service.get_acknowledgments(session, stored)
    )
    pairs = [(item, view) for item, view in zip(stored.findings, views, strict=True) if asked.includes(item)]
    items = [item for item, _ in pairs]
    page = PlanFindingsPage(
        title=f"Findings of {_title(stored)}",
        section="plans",
        head=head,
        groups=grouped_findings(
            items,
            [view for _, view in pairs[:MOST_FINDINGS]],
            is_expanded=bool(asked.code),
            expanded=head.refused.finding,
        ),
        asked=asked,
        shown=len(items),
        total=len(views),
        omitted=max(len(items) - MOST_FINDINGS, 0),
        structures=tuple(sorted({item.structure for item in stored.findings if item.structure})),
    )
    return "plans/findings.html", page


def _texts(request: Request, session: Session, head: PlanHead) -> tuple[str, Page]:
    version, release = head.version, release_of(request)
    state = approval.state_of(session, version.name, version.number, is_required=release.needs_approval)
    texts = texts_of(session, version, cut=True, release=release)
    if state.is_required and state.approval is None:
        # The page says once that the approval is missing; other reasons are shown with each text.
        missing = str(ApprovalMissing(version.name, version.number))
        texts = tuple(each for each in texts if each.refusal != missing)
    page = PlanTextsPage(
        title=f"Policy and commands of {_title(head.version)}",
        section="plans",
        head=head,
        approval=state,
        refusal=approval.refusal_of(state),
        texts=texts,
        tables=tuple(TABLES),
    )
    return "plans/texts.html", page


def _queues(request: Request, session: Session, head: PlanHead) -> tuple[str, Page]:
    del session
    search = request.query_params.get("search", "").strip()[:100]
    asked = page_of_address(request, per_page=QUEUES_PER_PAGE)
    queues, total = _queues_of(head.version, search, asked)
    page = PlanQueuesPage(
        title=f"Queues of {_title(head.version)}",
        section="plans",
        head=head,
        queues=queues,
        search=search,
        total=total,
        query={"tab": QUEUES, **({"search": search} if search else {})},
    )
    return "plans/queues.html", page


def _queues_of(stored: StoredVersion, search: str, asked: PageRequest) -> tuple[ResultPage[QueueLine], int]:
    """Return one page of the queues whose name or structure contains a text, and the number of all queues."""
    # Only the queues of the page are validated, because reading all of a large document takes long.
    every = [
        (each["name"], queue) for each in stored.document_object["structures"] for queue in each["queues"]
    ]
    wanted = search.upper()
    found = [pair for pair in every if wanted in pair[0].upper() or wanted in pair[1]["name"].upper()]
    page = found[asked.offset : asked.offset + asked.per_page]
    lines = [QueueLine(structure, Queue.model_validate(queue)) for structure, queue in page]
    return ResultPage.of(lines, len(found), asked), len(every)


def _title(stored: StoredVersion) -> str:
    return stored.name if stored.is_latest else f"{stored.name}, version {stored.number}"


_TABS = {FINDINGS: _findings, POLICY: _texts, QUEUES: _queues}
