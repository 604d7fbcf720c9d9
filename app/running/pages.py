"""The pages about the running system: check a text, merge a plan into a policy, compare a plan, create a plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Final, TypedDict

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.audit.recording import AuditObject
from app.database.session import SessionDep
from app.fits.dependencies import curves_of
from app.fits.resolve import evaluate
from app.plans.release import DOCUMENT, release_of
from app.plans.stored import StoredVersion
from app.plans.trail import PLAN
from app.running import service
from app.running.form import (
    SHOWN_CHARACTERS,
    ChosenPlan,
    GivenDep,
    RunningForm,
    choose,
    comes_back,
    example_given,
    newline_of,
    read_chosen,
    result_of,
)
from app.running.texts import bytes_of, invalid, printable, running_example
from app.running.view import (
    ComparisonView,
    LintView,
    MergeView,
    comparison_view,
    filename_of,
    lint_view,
    merge_view,
    refused_findings,
    workflow_filename,
)
from app.web.field_values import Kind
from app.web.file_names import file_name
from app.web.forms import FormField
from app.web.question_links import QuestionLink
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.errors import DocumentInvalid, InputInvalid, OutputRefused, PlannerError, PlanRefused
from planner_core.running.exported import SIZE_UNITS
from planner_core.running.line_findings import LineFinding
from planner_core.running.merge import MergeRefused
from planner_core.running.unstated import DEFAULT_UNSTATED, UNSTATED, Unstated
from planner_core.texts.cfrm.policy_json import SizeUnit

router = Router(include_in_schema=False)

_MOST_WRONG: Final = 20


QUESTIONS: tuple[QuestionLink, ...] = (
    QuestionLink(
        "/running", "Compare with a plan",
        "The current, needed and planned size of each structure, and the SETXCF and MQSC commands that change it, in order, each with the "
        "time when it takes effect.",
        "how-to/what-runs-today", "cfplan diff PLAN --current FILE...",
    ),
    QuestionLink(
        "/merge", "Merge a plan into a policy",
        "Paste the complete current CFRM policy and get the complete merged policy. All other statements stay unchanged, byte for byte.",
        "how-to/merging-a-policy", "cfplan merge PLAN --policy FILE",
    ),
    QuestionLink(
        "/lint", "Check a text",
        "Check a CFRM policy, MQSC or displays without a plan: syntax, limits and advice, each finding with its line.",
        "how-to/linting-a-policy", "cfplan lint FILE",
    ),
    QuestionLink(
        "/plan-from-running", "Create a plan from the running system",
        "Create a plan document that matches the running system, from a policy, displays and definitions.",
        "how-to/what-runs-today", "cfplan from-running FILE...",
    ),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WhatRunsPage(Page):
    """The page with links to the four pages."""

    questions: Annotated[tuple[QuestionLink, ...], "The four pages"]


class FormPageContext(TypedDict):
    """Values of every page with a form."""

    title: str
    section: str
    wrong: tuple[str, ...]
    files: tuple[str, ...]
    is_example: bool


@dataclass(frozen=True, kw_only=True)
class WithForm:
    """Fields of every page with a form."""

    wrong: Annotated[tuple[str, ...], "Errors in the form"]
    files: Annotated[tuple[str, ...], "Names of uploaded files, which a form cannot send again"]
    is_example: Annotated[bool, "Whether the example is shown"]


@dataclass(frozen=True, kw_only=True)
class LintPage(WithForm, Page):
    """The page that checks a text."""

    boxes: Annotated[tuple[FormField, ...], "Small fields of the form"]
    text: Annotated[FormField, "The text to check"]
    shown: Annotated[LintView | None, "The findings; None before the first check"]


@dataclass(frozen=True, kw_only=True)
class MergePage(WithForm, Page):
    """The page that merges a plan into a policy."""

    boxes: Annotated[tuple[FormField, ...], "Small fields of the form"]
    plan: Annotated[ChosenPlan, "The chosen plan"]
    wrong_plan: Annotated[str, "Error in the choice of the plan; otherwise empty"]
    document: Annotated[FormField, "A plan document"]
    policy: Annotated[FormField, "The current policy"]
    displays: Annotated[FormField, "Displays of the structures"]
    newline: Annotated[str, "Its line endings, because a form changes them"]
    is_kept: Annotated[bool, "Whether the form can send the same policy again, byte for byte"]
    shown: Annotated[MergeView | None, "The merged policy; None if there is none"]
    against: Annotated[tuple[LineFinding, ...], "Errors that prevent the merge"]


@dataclass(frozen=True, kw_only=True)
class RunningPage(WithForm, Page):
    """The page that compares a plan with the running system."""

    boxes: Annotated[tuple[FormField, ...], "Small fields of the form"]
    plan: Annotated[ChosenPlan, "The chosen plan"]
    wrong_plan: Annotated[str, "Error in the choice of the plan; otherwise empty"]
    document: Annotated[FormField, "A plan document"]
    current: Annotated[FormField, "All texts about the running system, in one field"]
    shown: Annotated[ComparisonView | None, "The comparison; None if there is none"]


@dataclass(frozen=True, kw_only=True)
class FromRunningPage(WithForm, Page):
    """The page that creates a plan from the running system."""

    boxes: Annotated[tuple[FormField, ...], "Small fields of the form"]
    current: Annotated[FormField, "All texts about the running system, in one field"]
    made: Annotated[str, "The plan document as JSON; empty if there is none"]
    findings: Annotated[tuple[LineFinding, ...], "Values that no display shows"]


@router.get("/what-runs")
def what_runs(request: Request) -> Response:
    """Show links to the four pages."""
    page = WhatRunsPage(title="Running system", section="running", questions=QUESTIONS)
    return render(request, "running/contents.html", page)


def _start(request: Request) -> RunningForm:
    """Return an empty form, or the example if the address asks for it."""
    plan = request.query_params.get("plan", "")[:64]
    return example_given(plan) if "example" in request.query_params else RunningForm({"plan": plan}, {})


def _begin(
    request: Request, answer: Callable[[RunningForm], Response], form: Callable[[RunningForm], Response]
) -> Response:
    """Answer a GET with the empty form, or with the answer to the example."""
    given = _start(request)
    return answer(given) if given.is_example else form(given)


def _asked(
    title: str,
    given: RunningForm,
    faults: Mapping[str, str],
    boxes: tuple[FormField, ...],
    *,
    section: str = "running",
) -> FormPageContext:
    return {
        "title": title,
        "section": section,
        "wrong": _told(faults, boxes),
        "files": given.names,
        "is_example": given.is_example,
    }


def _page(
    request: Request, template: str, page: LintPage | MergePage | RunningPage | FromRunningPage
) -> Response:
    return render(request, f"running/{template}.html", page, status_code=422 if page.wrong else 200)


# ---- check a text ------------------------------------------------------------------------------------------


@router.get("/lint")
def lint_form(request: Request) -> Response:
    """Show the form, empty or with the example."""
    return _begin(request, partial(_lint, request), partial(_lint_page, request))


@router.post("/lint")
def lint(request: Request, given: GivenDep) -> Response:
    """Check the pasted text or a file."""
    return _lint(request, given)


def _lint(request: Request, given: RunningForm) -> Response:
    texts = given.texts("text", "file")
    # The file is last in the list and comes before the field, which may still contain the example or an earlier text.
    text = texts[-1] if texts else ""
    try:
        given.check_files()
        found = service.checked(
            text,
            cfcc_level=given.whole("cfcc", 1, 99),
            queue_managers=given.whole("queue_managers", 1, 32),
            qsg=given.value("qsg") or None,
            size_unit=_size_unit(given),
        )
    except InputInvalid as error:
        return _lint_page(request, given, wrong=_faults(error))
    return _lint_page(request, given, shown=lint_view(found, text), text=text)


def _lint_page(
    request: Request,
    given: RunningForm,
    *,
    wrong: Mapping[str, str] | None = None,
    shown: LintView | None = None,
    text: str | None = None,
) -> Response:
    faults = wrong or {}
    boxes = (
        _small(given, faults, "cfcc", "CFCC level", "whole", "Of the coupling facilities, if known."),
        _small(
            given,
            faults,
            "queue_managers",
            "Queue managers",
            "whole",
            "Defined to the group, if known.",
        ),
        _small(given, faults, "qsg", "Group", "name", "If no CSQ_ADMIN in the text names it."),
        _size_unit_box(given, faults),
    )
    box = _large(
        "text",
        "CFRM policy, MQSC or displays",
        text if text is not None else given.typed.get("text", ""),
        faults,
    )
    page = LintPage(
        **_asked("Check a policy, MQSC or displays", given, faults, (box, *boxes), section="lint"),
        boxes=boxes,
        text=box,
        shown=shown,
    )
    return _page(request, "lint", page)


# ---- merge a plan ------------------------------------------------------------------------------------------


@router.get("/merge")
def merge_form(request: Request, session: SessionDep) -> Response:
    """Show the form, empty or with the example."""

    def answer(given: RunningForm) -> Response:
        displays = {"current": running_example().displays}
        return _merge(request, session, replace(given, typed={**given.typed, **displays}))

    return _begin(request, answer, partial(_merge_page, request, session))


@router.post("/merge")
def merge(request: Request, session: SessionDep, given: GivenDep) -> Response:
    """Merge a plan into a policy; with `as`, return only the merged policy, byte for byte, or only its workflow."""
    return _merge(request, session, given)


def _merge(request: Request, session: SessionDep, given: RunningForm) -> Response:
    texts = given.texts("policy", "policy_file")
    policy = texts[-1] if texts else ""
    kind = given.value("as")
    workflow_name = given.value("workflow_name")
    try:
        given.check_files()
        if not policy:
            invalid("/policy", "is required: the input of IXCMIAPU")
        if kind == "workflow" and not workflow_name:
            invalid("/workflow_name", "is required for a workflow: the name of the policy that it defines")
        chosen = choose(session, given)
        document, stored = read_chosen(session, chosen)
        result = evaluate(document, curves_of(request), compares=False, purpose="sizes")
        about = _released(request, session, stored, document.qsg)
        found = service.merged(
            result,
            policy,
            unstated=_unstated(given),
            policy_name=given.value("policy_name") or None,
            current=given.texts("current", "current_files"),
            size_unit=_size_unit(given),
            # A download of the policy needs no workflow, so no reason against one prevents it.
            workflow_name=None if kind == "file" else workflow_name or None,
        )
    except MergeRefused as refused:
        wrong = {"policy": str(refused).partition(" Line ")[0].removesuffix(".")}
        # The page lists the damaged lines, so the message leaves them out.
        against = refused_findings(refused.line_findings)
        return _merge_page(request, session, given, wrong=wrong, policy=policy, against=against)
    except PlannerError as error:
        return _merge_page(request, session, given, wrong=_faults(error), policy=policy)
    released = service.released_texts(found)
    if kind == "workflow":
        del released[service.MERGED_POLICY]
    release_of(request).record(
        about,
        released,
        is_shown=kind not in {"file", "workflow"},
        # The example is shown in answer to GET, whose session only reads.
        session=session if request.method == "POST" else None,
    )
    if kind == "file":
        return _file(bytes_of(found.policy), "text/plain", filename_of(found))
    if kind == "workflow":
        return _file(found.workflow or "", "application/xml", workflow_filename(workflow_name))
    return _merge_page(request, session, given, shown=merge_view(found, workflow_name), policy=policy)


def _released(request: Request, session: Session, stored: StoredVersion | None, qsg: str) -> AuditObject:
    """Return the object of the entry about a merged policy, whose plan may need an approval.

    Raises:
        ApprovalMissing: The version of a stored plan needs an approval and has none.
    """
    if stored is None:
        return AuditObject(DOCUMENT, qsg)
    release_of(request).check(session, stored.name, stored)
    return AuditObject(PLAN, stored.name, id=stored.plan_id, version=stored.number)


def _file(content: bytes | str, media_type: str, filename: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{filename}"'}
    return Response(content, media_type=media_type, headers=headers)


def _merge_page(
    request: Request,
    session: SessionDep,
    given: RunningForm,
    *,
    wrong: Mapping[str, str] | None = None,
    shown: MergeView | None = None,
    policy: str | None = None,
    against: tuple[LineFinding, ...] = (),
) -> Response:
    faults = wrong or {}
    text = policy if policy is not None else given.typed.get("policy", "")
    boxes = (
        _unstated_box(given, faults),
        _small(given, faults, "policy_name", "Name of the policy", "name", "If the text has several."),
        _size_unit_box(given, faults),
        _small(
            given, faults, "workflow_name", "New policy name for a workflow", "name",
            "Optional: also create a z/OSMF workflow that defines the merged policy under this name.",
        ),
    )  # fmt: skip
    is_kept = comes_back(text)
    box = _large(
        "policy",
        "Current policy",
        # Sent back by a form, this text would change without notice, so the file must be chosen again.
        text if is_kept else "",
        faults,
        hint="Input of IXCMIAPU, with or without its job, or JSON of z/OSMF.",
    )
    document = _document(given, faults)
    displays = _large(
        "current",
        "Displays of the structures",
        given.typed.get("current", ""),
        faults,
        hint="Optional: D XCF,STR,STRNAME= of each structure. A smaller size is compared with the storage in use.",
    )
    page = MergePage(
        **_asked(
            "Merge a plan into a policy", given, faults, (box, document, displays, *boxes), section="merge"
        ),
        boxes=boxes,
        plan=choose(session, given),
        wrong_plan=_sentence(faults.get("plan", "")),
        document=document,
        policy=box,
        displays=displays,
        newline=newline_of(text),
        is_kept=is_kept,
        shown=shown,
        against=against,
    )
    return _page(request, "merge", page)


# ---- compare with a plan -------------------------------------------------------------------------------------


@router.get("/running")
def running_form(request: Request, session: SessionDep) -> Response:
    """Show the form, empty or with the example."""
    return _begin(request, partial(_running, request, session), partial(_running_page, request, session))


@router.post("/running")
def running(request: Request, session: SessionDep, given: GivenDep) -> Response:
    """Compare a plan with the pasted texts and files."""
    return _running(request, session, given)


def _running(request: Request, session: SessionDep, given: RunningForm) -> Response:
    try:
        given.check_files()
        result = result_of(session, choose(session, given), curves_of(request))
        found = service.compared(
            result,
            given.texts("current", "current_files"),
            unstated=_unstated(given),
            size_unit=_size_unit(given),
        )
    except PlannerError as error:
        return _running_page(request, session, given, wrong=_faults(error))
    return _running_page(request, session, given, shown=comparison_view(found))


def _running_page(
    request: Request,
    session: SessionDep,
    given: RunningForm,
    *,
    wrong: Mapping[str, str] | None = None,
    shown: ComparisonView | None = None,
) -> Response:
    faults = wrong or {}
    box = _current(given, faults)
    document = _document(given, faults)
    boxes = (_unstated_box(given, faults), _size_unit_box(given, faults))
    page = RunningPage(
        **_asked("Compare the running system with a plan", given, faults, (box, document, *boxes)),
        boxes=boxes,
        plan=choose(session, given),
        wrong_plan=_sentence(faults.get("plan", "")),
        document=document,
        current=box,
        shown=shown,
    )
    return _page(request, "compare", page)


# ---- create a plan --------------------------------------------------------------------------------------------


@router.get("/plan-from-running")
def from_running_form(request: Request) -> Response:
    """Show the form, empty or with the example."""
    return _begin(request, partial(_from_running, request), partial(_from_running_page, request))


@router.post("/plan-from-running")
def from_running(request: Request, given: GivenDep) -> Response:
    """Create a plan document; with `as`, return only the document."""
    return _from_running(request, given)


def _from_running(request: Request, given: RunningForm) -> Response:
    try:
        given.check_files()
        made = service.made(
            given.texts("current", "current_files"),
            qsg=given.value("qsg") or None,
            queue_managers=given.whole("queue_managers", 1, 32),
            message_bytes=given.message_bytes(),
            size_unit=_size_unit(given),
        )
    except PlannerError as error:
        return _from_running_page(request, given, wrong=_faults(error))
    text = json.dumps(made.document, indent=2) + "\n"
    if given.value("as") == "file":
        headers = {"content-disposition": f'attachment; filename="{file_name(made.plan.qsg)}.json"'}
        return Response(text, media_type="application/json", headers=headers)
    return _from_running_page(request, given, made=text, findings=refused_findings(made.findings))


def _from_running_page(
    request: Request,
    given: RunningForm,
    *,
    wrong: Mapping[str, str] | None = None,
    made: str = "",
    findings: tuple[LineFinding, ...] = (),
) -> Response:
    faults = wrong or {}
    boxes = (
        _small(
            given, faults, "qsg", "Group", "name", "Required if structures of several groups are allocated."
        ),
        _small(
            given,
            faults,
            "queue_managers",
            "Queue managers",
            "whole",
            "Used if the texts do not include DISPLAY GROUP.",
        ),
        _small(
            given,
            faults,
            "message_bytes",
            "Message size",
            "bytes",
            "Bytes, or a size such as 2K, for all queues. If empty, queues are left out.",
        ),
        _size_unit_box(given, faults),
    )
    box = _current(given, faults)
    page = FromRunningPage(
        **_asked("Create a plan from the running system", given, faults, (box, *boxes)),
        boxes=boxes,
        current=box,
        made=made,
        findings=findings,
    )
    return _page(request, "made", page)


# ---- boxes -------------------------------------------------------------------------------------------------


def _faults(error: PlannerError) -> dict[str, str]:
    """Return the errors by field."""
    if isinstance(error, (DocumentInvalid, InputInvalid)):
        found: dict[str, str] = {}
        for each in error.problems[:_MOST_WRONG]:
            box, _, rest = each.field.lstrip("/").partition("/")
            where = f"/{rest}: " if rest else ""
            found[box] = "; ".join(filter(None, (found.get(box, ""), f"{where}{each.message}")))
        return found
    if isinstance(error, (OutputRefused, PlanRefused)):
        begin = (
            f"The {error.of} has errors: correct them first"
            if isinstance(error, OutputRefused)
            else "No such plan can exist"
        )
        wrong = [each.message for each in error.findings if each.severity == "error"]
        return {"": begin, **{f"#{number}": message for number, message in enumerate(wrong[:_MOST_WRONG])}}
    return {"": str(error).removesuffix(".")}


def _told(faults: Mapping[str, str], boxes: tuple[FormField, ...]) -> tuple[str, ...]:
    labels = {box.name: box.label for box in boxes} | {"plan": "Plan"}
    return tuple(
        f"{labels[name]}: {message.removesuffix('.')}." if name in labels else _sentence(message)
        for name, message in faults.items()
    )


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].removesuffix('.')}." if message else ""


def _unstated(given: RunningForm) -> Unstated:
    """Return the submitted choice for keywords that the plan does not state, or the default."""
    return next((each for each in UNSTATED if each == given.value("unstated")), DEFAULT_UNSTATED)


def _unstated_box(given: RunningForm, faults: Mapping[str, str]) -> FormField:
    return FormField(
        "unstated", "Keywords not stated in the plan", kind="choice", value=_unstated(given),
        error=_sentence(faults.get("unstated", "")), options=tuple(UNSTATED.items()),
    )  # fmt: skip


def _size_unit(given: RunningForm) -> SizeUnit | None:
    """Return the submitted unit of plain sizes in JSON, or None if none was chosen."""
    return next((each for each in SIZE_UNITS if each == given.value("size_unit")), None)


def _size_unit_box(given: RunningForm, faults: Mapping[str, str]) -> FormField:
    return FormField(
        "size_unit", "Unit of sizes in JSON", kind="choice", value=_size_unit(given) or "",
        error=_sentence(faults.get("size_unit", "")), hint="Of plain numbers in a policy that z/OSMF exported.",
        options=(("", "Not stated"), *((each, each) for each in SIZE_UNITS)),
    )  # fmt: skip


def _small(
    given: RunningForm,
    faults: Mapping[str, str],
    name: str,
    label: str,
    kind: Kind,
    hint: str,
    *,
    unit: str = "",
) -> FormField:
    return FormField(
        name,
        label,
        kind=kind,
        value=given.value(name),
        error=_sentence(faults.get(name, "")),
        unit=unit,
        hint=hint,
    )


def _large(name: str, label: str, value: str, faults: Mapping[str, str], *, hint: str = "") -> FormField:
    shown = value if len(value) <= SHOWN_CHARACTERS else ""
    return FormField(
        name, label, kind="text", value=printable(shown), error=_sentence(faults.get(name, "")), hint=hint
    )


def _document(given: RunningForm, faults: Mapping[str, str]) -> FormField:
    return _large("document", "Plan document, YAML or JSON", given.typed.get("document", ""), faults)


def _current(given: RunningForm, faults: Mapping[str, str]) -> FormField:
    hint = (
        "CFRM policy (also JSON of z/OSMF), D XCF,STR,STRNAME=, D XCF,CF, D CF, DISPLAY GROUP, CFSTATUS, CFSTRUCT, QLOCAL, DEFINE commands: any of them, in "
        "any order."
    )
    return _large("current", "Running system", given.typed.get("current", ""), faults, hint=hint)
