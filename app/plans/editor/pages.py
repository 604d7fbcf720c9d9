"""The pages of the editor: a new plan, a changed plan, and the conflict of two changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.errors import Conflict, Gone, PreconditionRequired
from app.fits.kept import curves_in
from app.plans import service
from app.plans.editor.folding import UNFOLD, FoldedQueues, ReferenceUnknown, folded_form, unfold
from app.plans.editor.form import (
    CheckedForm,
    Typed,
    blank_group,
    change,
    check,
    read_typed,
    take_pastes,
    typed_of,
)
from app.plans.editor.merge import ConflictRow, conflict_rows, merged
from app.plans.editor.panel import Panel, panel_of, panel_of_version
from app.plans.editor.settings import summaries
from app.plans.editor.view import EditorForm, label_of, show
from app.plans.errors import PlanNameInvalid, PlanNotFound, plan_gone
from app.plans.stored import StoredVersion
from app.sizing.calculator.form import read_form
from app.texts.documents import example_text, read_text
from app.web.body import DocumentFormDep
from app.web.field_values import digits_in
from app.web.forms import FormField, read_pairs
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from planner_core.bounds import MOST_STRUCTURES_READ
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_json, read_object
from planner_core.errors import DocumentInvalid, PlanRefused
from planner_core.units import MIB, ceil_fraction, format_size, round_up

router = Router(include_in_schema=False)

MOST_TIMES = 16
_STRUCTURE_ROW = re.compile(r"/structures/([0-9]{1,9})/")
_TIMES = re.compile(r"\d{1,2}(?:\.\d{1,4})?", re.ASCII)
CHECK = "check"
"""Id of the button that checks the form."""
RESTORE = "restore"
"""The action with which the script sends a draft that the browser has kept."""


@dataclass(frozen=True, kw_only=True)
class EditorPage(Page):
    """The form with its result."""

    name: Annotated[str, "Name of the plan; empty for one that is not yet saved"]
    name_field: Annotated[FormField, "The field for the name of a new plan"]
    action: Annotated[str, "Address to which the form is sent"]
    preview: Annotated[str, "Address of the result, for the script"]
    etag: Annotated[str, "ETag of the version on which the change is based"]
    base: Annotated[str, "The number of that version"]
    comment: Annotated[str, "Description of the change"]
    form: Annotated[EditorForm, "The fields with their errors"]
    panel: Annotated[Panel, "The result next to the form"]
    lead: Annotated[str, "The sentence above the list of errors"]
    notes: Annotated[tuple[str, ...], "Messages about the last action"]
    is_unsaved: Annotated[bool, "Whether the form has changes that a reload would lose"]


@dataclass(frozen=True, kw_only=True)
class PanelPage(Page):
    """The result alone, for the script."""

    panel: Annotated[Panel, "The result next to the form"]
    problems: Annotated[tuple[FormField, ...], "Errors by field"]
    form_is_wrong: Annotated[bool, "Whether the form has errors"]
    settings: Annotated[Mapping[str, str], "Values of collapsed fields, by the pointer of their part"]


@dataclass(frozen=True, kw_only=True)
class ConflictPage(Page):
    """The other version, the user's version, and the one that both are based on."""

    name: Annotated[str, "Name of the plan"]
    theirs: Annotated[StoredVersion, "The current version"]
    base: Annotated[str, "The version on which both changes are based; empty if unknown"]
    rows: Annotated[tuple[ConflictRow, ...], "Every field that either version changed"]
    typed: Annotated[Mapping[str, str], "The user's form, to be submitted again"]
    comment: Annotated[str, "The user's description of the change"]


@dataclass(frozen=True, slots=True)
class SubmittedPlan:
    """A submitted form with its action and the version it is based on."""

    typed: Typed
    action: str = "check"
    name: str = ""
    etag: str = ""
    base: str = ""
    comment: str = ""
    name_error: str = ""
    notes: tuple[str, ...] = field(default=())
    lead: str = ""
    focus: str = ""
    folded: Mapping[str, FoldedQueues] = field(default_factory=dict)
    """Structures whose queues the form refers to, by pointer."""


def read_body(body: bytes) -> SubmittedPlan:
    """Read the parameters of a form.

    Raises:
        HTTPException: The form has too many parameters or structures, or is not valid text.
    """
    pairs = read_pairs(body)
    # Counted before the fields are completed, which takes time and memory for each structure.
    rows = {found[1] for key, _ in pairs if (found := _STRUCTURE_ROW.match(key))}
    if len(rows) > MOST_STRUCTURES_READ:
        msg = f"The form has {len(rows):,} structures; at most {MOST_STRUCTURES_READ:,} are read."
        raise HTTPException(status_code=422, detail=msg)
    plain = {key: text for key, text in pairs if not key.startswith("/")}
    return SubmittedPlan(
        typed=read_typed((key, text.replace("\r\n", "\n")) for key, text in pairs if key.startswith("/")),
        action=plain.get("do", "check"),
        name=plain.get("name", "").strip()[:200],
        etag=plain.get("etag", "")[:200],
        base=plain.get("base", "")[:12],
        comment=plain.get("comment", "").strip()[:500],
        focus=plain.get("focus", "")[:100],
    )


def _unfolded(session: Session, asked: SubmittedPlan) -> SubmittedPlan:
    """Return a submitted form with all of its queues.

    Raises:
        HTTPException: The form refers to queues that are not stored.
    """
    try:
        typed, folded = unfold(asked.typed, partial(service.find_document, session))
    except ReferenceUnknown as error:
        msg = (
            f"The form refers to queues that are not stored ({error}); their plan may have been removed permanently. "
            "Nothing was saved. Go back and edit a plan that exists."
        )
        raise HTTPException(status_code=422, detail=msg) from None
    return replace(asked, typed=typed, folded=folded)


@router.get("/new-plan")
def new(request: Request, session: SessionDep) -> Response:
    """Show an empty form, or one filled with the example, the calculator's answer or another plan."""
    start, name = request.query_params.get("from", ""), request.query_params.get("name", "")[:64]
    document: PlanDocument | None = None
    notes: tuple[str, ...] = ()
    if start == "example":
        document, name = read_text(example_text().encode()), name or "SQ03"
        notes = ("An example with the figures from IBM's own pages. Nothing is stored until you save it.",)
    elif start == "calculator":
        _, document = read_form(request.query_params)
        name = name or (document.qsg if document else "")
        notes = ("Copied from the calculator. Nothing is stored until you save it.",)
    elif start == "copy":
        version = service.get_plan(session, name)
        typed, folded = folded_form(version)
        note = f"A copy of {name}. Nothing is stored until you save it."
        copied = SubmittedPlan(typed, name=f"{name}-copy"[:64], notes=(note,), folded=folded)
        return _editor(request, copied, "", is_asked=True, unchanged=version)
    if document is not None:
        return _editor(request, SubmittedPlan(typed_of(document), name=name, notes=notes), "", is_asked=True)
    typed = read_typed(_blank_plan().items())
    return _editor(request, SubmittedPlan(typed, name=name), "", is_asked=False)


def _blank_plan() -> Typed:
    typed = change(dict(blank_group()), "add:/structures").typed
    return {**typed, "/qsg": "", "/queue_managers": ""}


@router.post("/new-plan")
def create(request: Request, session: SessionDep, body: DocumentFormDep) -> Response:
    """Save a new plan, or carry out the action of another button."""
    asked = _unfolded(session, read_body(body))
    if asked.action != "save":
        return _changed(request, asked, "")
    asked = _with_name_checked(asked)
    ready, refused = _ready(request, asked, "")
    if refused is not None:
        return refused
    try:
        outcome = service.save_plan(
            session, asked.name, ready, create_only=True, comment=asked.comment or None
        )
    except PlanRefused:  # the panel shows the reason
        return _editor(request, asked, "", is_asked=True, status_code=422)
    except (PlanNameInvalid, Conflict) as error:
        return _editor(request, replace(asked, name_error=str(error)), "", is_asked=True, status_code=422)
    return RedirectResponse(_url(request, f"/plans/{outcome.version.name}?saved=created"), status_code=303)


@router.get("/plans/{name}/edit")
def edit(request: Request, session: SessionDep, name: str) -> Response:
    """Show the form filled with the latest version."""
    version = service.get_plan(session, name)
    typed, folded = folded_form(version)
    asked = SubmittedPlan(typed, name=name, etag=version.etag, base=str(version.number), folded=folded)
    if request.query_params.get("made") and version.comment:
        note = "Values that were not measured have the defaults of a new plan. Review them, and then save."
        asked = replace(asked, notes=(version.comment, note))
    if wanted := request.query_params.get("resize"):
        asked = _resized(asked, version, wanted, request.query_params.get("times", ""))
    return _editor(request, asked, name, is_asked=True, focus=asked.focus, unchanged=version)


def _resized(asked: SubmittedPlan, version: StoredVersion, structure: str, times: str) -> SubmittedPlan:
    """Return the form with INITSIZE and SIZE of a structure multiplied by a factor."""
    found = next((each for each in version.structures if each.name == structure), None)
    if found is None or not _TIMES.fullmatch(times) or not 0 < Fraction(times) <= MOST_TIMES:
        note = f"The structure {structure[:16]!r} cannot be made {times[:8]!r} times as large."
        return replace(asked, notes=(*asked.notes, note))
    at = next(
        (
            f"/structures/{nth}"
            for nth, each in enumerate(version.document_object["structures"])
            if each["name"] == structure
        ),
        f"/{found.role}",
    )
    sizes = {
        key: format_size(round_up(ceil_fraction(size_bytes * Fraction(times)), multiple=MIB))
        for key, size_bytes in (("initsize", found.initsize_bytes), ("size", found.size_bytes))
    }
    note = (
        f"INITSIZE and SIZE of {structure} are {times} times those of version {version.number}: {sizes['initsize']} and "
        f"{sizes['size']}. They are now set in the plan instead of calculated. Review them, and then save."
    )
    typed = {**asked.typed, **{f"{at}/{key}": text for key, text in sizes.items()}}
    comment = asked.comment or f"{structure} {times} times as large"
    return replace(asked, typed=typed, notes=(*asked.notes, note), comment=comment, focus=f"{at}/initsize")


@router.post("/plans/{name}/edit")
def save(request: Request, session: SessionDep, name: str, body: DocumentFormDep) -> Response:
    """Save a change, or carry out the action of another button."""
    asked = _unfolded(session, read_body(body))
    if asked.action == "merge":
        return _merge(request, session, name, asked)
    if asked.action != "save":
        return _changed(request, asked, name)
    ready, refused = _ready(request, asked, name)
    if refused is not None:
        return refused
    try:
        outcome = service.save_plan(
            session, name, ready, if_match=asked.etag or None, comment=asked.comment or None
        )
    except PlanRefused:  # the panel shows the reason
        return _editor(request, asked, name, is_asked=True, status_code=422)
    except (Conflict, PreconditionRequired) as error:
        return _conflict(request, session, name, asked, ready, error.current)
    except Gone as error:
        return _gone(request, name, asked, error)
    return RedirectResponse(_url(request, f"/plans/{name}?saved={outcome.status}"), status_code=303)


@router.post("/plan-preview")
def preview(request: Request, session: SessionDep, body: DocumentFormDep) -> Response:
    """Show the result of an unsaved form, for the script that runs while the user types."""
    asked = _unfolded(session, read_body(body))
    typed = asked.typed
    panel, checked = panel_of(typed, check(typed, asked.folded), curves_in(request.app.state.database))
    page = PanelPage(
        title="Result",
        section="plans",
        panel=panel,
        problems=tuple(
            FormField(at, label_of(at, typed), error=words) for at, words in checked.errors.items()
        )
        + tuple(FormField("", "", error=words) for words in checked.general),
        form_is_wrong=bool(checked.errors or checked.general),
        settings=summaries(typed),
    )
    return render(request, "plans/panel.html", page)


@router.post("/plans/{name}/take-over")
def take_over(request: Request, name: str, body: DocumentFormDep) -> Response:
    """Show a proposed document in the editor, as a change to the version it is based on."""
    asked = read_body(body)
    text = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)).get("document", "")
    note = "The proposal, as a change to the saved plan. Review it, and then save; the history can compare the two."
    filled = replace(
        asked, typed=typed_of(read_json(text)), notes=(note,), comment="Split as proposed", action="check"
    )
    return _editor(request, filled, name, is_asked=True)


def _ready(
    request: Request, asked: SubmittedPlan, name: str
) -> tuple[PlanDocument, None] | tuple[Any, Response]:
    """Return the document to save, or the form with its errors."""
    taken = take_pastes(asked.typed)
    asked = replace(asked, typed=taken.typed, notes=(*asked.notes, *taken.notes))
    checked = check(asked.typed, asked.folded)
    lead = ""
    if any(text.strip() for key, text in asked.typed.items() if key.endswith("/paste")):
        lead = "Not saved: some pasted lines could not be read. Correct or delete them."
    elif taken.has_remarks:
        lead = "Not saved yet. Review the remarks about the pasted text above, and then save."
    if lead:
        return None, _editor(request, replace(asked, lead=lead), name, is_asked=True, status_code=422)
    if checked.document is None or asked.name_error:
        return None, _editor(request, asked, name, is_asked=True, status_code=422)
    return checked.document, None


def _with_name_checked(asked: SubmittedPlan) -> SubmittedPlan:
    """Return the form, including any error in the name of a new plan, so that all errors are shown together."""
    try:
        service.check_name(asked.name)
    except PlanNameInvalid as error:
        return replace(asked, name_error=str(error))
    return asked


def _gone(request: Request, name: str, asked: SubmittedPlan, error: Exception) -> Response:
    """Show the form as one for a new plan, because its plan no longer exists."""
    notes = (f"{error} To keep what you have typed, save it as a new plan.",)
    gone = replace(asked, action="check", name=name, etag="", base="", notes=notes)
    return _editor(request, gone, "", is_asked=True, status_code=409)


def _changed(request: Request, asked: SubmittedPlan, name: str) -> Response:
    """Carry out the action of a button other than Save, and show the form again."""
    if asked.action == RESTORE:
        # The draft carries the version it is based on: if a later version exists, saving shows both changes.
        based = f", based on version {asked.base}" if asked.base else ""
        note = f"The draft is restored{based}. Nothing is stored until you save it."
        # Pasted text stays in its field, as it was when the draft was kept.
        return _editor(request, replace(asked, notes=(note,)), name, is_asked=bool(name))
    if asked.action.startswith(UNFOLD):
        at = asked.action.removeprefix(UNFOLD)
        kept = {key: each for key, each in asked.folded.items() if key != at}
        return _editor(request, replace(asked, folded=kept), name, is_asked=False, focus=f"{at}/queues")
    if asked.action != "check":
        taken = change(asked.typed, asked.action)
        after = replace(asked, typed=taken.typed, notes=taken.notes)
        return _editor(request, after, name, is_asked=False, focus=taken.focus)
    taken = take_pastes(asked.typed)
    after = replace(asked if name else _with_name_checked(asked), typed=taken.typed, notes=taken.notes)
    return _editor(request, after, name, is_asked=True, focus=taken.focus or asked.focus)


def _editor(
    request: Request,
    asked: SubmittedPlan,
    name: str,
    *,
    is_asked: bool,
    focus: str = "",
    status_code: int = 200,
    unchanged: StoredVersion | None = None,
) -> Response:
    """Show the form with its result; `unchanged` is the version whose form it is, which is not checked again if it is large."""
    if unchanged is not None and asked.folded:
        panel, checked = panel_of_version(unchanged, asked.typed)
    else:
        curves = curves_in(request.app.state.database)
        panel, checked = panel_of(
            asked.typed,
            check(asked.typed, asked.folded),
            curves,
            is_asked=is_asked,
            is_saved=asked.action == "save",
        )
    shown: CheckedForm | None = checked if is_asked else None
    path = f"/plans/{name}/edit" if name else "/new-plan"
    name_field = FormField("name", "Name", value=asked.name, error=asked.name_error)
    form = show(asked.typed, shown, focus=focus, folded=asked.folded)
    if asked.name_error:
        form = replace(form, wrong=(FormField("name", "Name", error=asked.name_error), *form.wrong))
    if asked.lead:
        form = replace(form, general=(asked.lead, *form.general))
    # The button that was pressed keeps the focus, unless there is a list of errors to read first.
    if focus == CHECK and (form.wrong or form.general):
        form = replace(form, focus="")
    page = EditorPage(
        title=f"Edit {name}" if name else "New plan",
        section="plans",
        name=name,
        name_field=name_field,
        action=path,
        preview="/plan-preview",
        etag=asked.etag,
        base=asked.base,
        comment=asked.comment,
        form=form,
        panel=panel,
        lead="Not saved. Fix these fields:" if asked.action == "save" else "Fix these fields:",
        notes=asked.notes,
        is_unsaved=request.method == "POST",
    )
    return render(request, "plans/editor.html", page, status_code=status_code)


def _conflict(
    request: Request,
    session: Session,
    name: str,
    asked: SubmittedPlan,
    mine: PlanDocument,
    theirs: StoredVersion,
) -> Response:
    base = _base(session, name, asked.base) or theirs
    page = ConflictPage(
        title=f"{name} has changed in the meantime",
        section="plans",
        name=name,
        theirs=theirs,
        base=asked.base if base is not theirs else "",
        rows=conflict_rows(
            base.document.model_dump(mode="json"),
            theirs.document.model_dump(mode="json"),
            mine.model_dump(mode="json"),
        ),
        # The page of a conflict has no boxes for pasted text, which would be lost.
        typed=take_pastes(asked.typed).typed,
        comment=asked.comment,
    )
    return render(request, "plans/conflict.html", page, status_code=409)


def _base(session: Session, name: str, number: str) -> StoredVersion | None:
    base = digits_in(number)
    try:
        return None if base is None else service.get_version(session, name, base)
    except PlanNotFound:
        return None


def _merge(request: Request, session: Session, name: str, asked: SubmittedPlan) -> Response:
    """Show both changes merged in one form, based on the current version, for review."""
    try:
        theirs = service.get_plan(session, name)
    except PlanNotFound:
        return _gone(request, name, asked, plan_gone(name))
    base = _base(session, name, asked.base) or theirs
    # A form with errors has no document to merge: it is shown again, based on the current version.
    mine = check(asked.typed, asked.folded).document
    # With the ETag of the current version, saving after the review is not a conflict.
    on_top = replace(asked, etag=theirs.etag, base=str(theirs.number), action="check")
    if mine is not None:
        versions = (version.model_dump(mode="json") for version in (base.document, theirs.document, mine))
        try:
            both = read_object(merged(*versions))
        except DocumentInvalid as error:
            note = f"The two changes cannot be merged, so the form contains only yours. {error}"
            return _editor(request, replace(on_top, notes=(note,)), name, is_asked=True)
        note = f"Your changes, applied to version {theirs.number}. Review them, and then save."
        return _editor(request, replace(on_top, typed=typed_of(both), notes=(note,)), name, is_asked=True)
    return _editor(request, on_top, name, is_asked=True)


def _url(request: Request, path: str) -> str:
    return root_path(request) + path
