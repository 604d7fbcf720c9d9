"""Pages that change plans: importing, deleting, restoring and renaming plans, and acknowledging findings.

Files are read and plans computed before a transaction begins, so that others can save meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile

from app.database.engine import Database
from app.database.session import SessionDep, WriteTurn
from app.errors import Conflict, NameTaken
from app.fits.kept import curves_in
from app.plans import approval, service
from app.plans.acknowledging import acknowledge, withdraw
from app.plans.computed import compute
from app.plans.errors import NothingToAcknowledge, NothingToWithdraw, PlanNameInvalid
from app.plans.finding_groups import group_id
from app.plans.head import FINDINGS, POLICY, SIZES, RefusedAction, path_of
from app.plans.pages import settings_of
from app.plans.result_pages import result_page
from app.plans.result_view import findings_of
from app.plans.stored import DeletedPlan, StoredVersion
from app.texts.documents import read_text
from app.texts.places import in_the_text
from app.web.body import BodyDep
from app.web.field_values import digits_in
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.web.security.body import accept_document
from planner_core.errors import DocumentInvalid, FieldProblem, PlanRefused

router = Router(include_in_schema=False)

_MOST_FIELDS = 50
ENDINGS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class DeletedPage(Page):
    """Context of the list of deleted plans."""

    deleted: Annotated[
        tuple[tuple[DeletedPlan, str, str], ...],
        "Most recently deleted first, each with a new name if its own is in use, and the error in that name",
    ]
    kept: Annotated[timedelta, "Time after which they are removed permanently"]


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The result of importing one file."""

    filename: str
    name: str
    words: str
    is_saved: bool
    problems: tuple[FieldProblem, ...] = ()
    """Errors of the document by line and key."""


@dataclass(frozen=True, kw_only=True)
class ImportPage(Page):
    """The form for importing files, and the results."""

    results: Annotated[tuple[ImportOutcome, ...], "The result for each file"]
    error: Annotated[str, "Error in the choice of files; empty if there is none"]


# ---- files -----------------------------------------------------------------------------------------------------------


async def _files(request: Request) -> AsyncIterator[list[UploadFile]]:
    """Yield the chosen files."""
    accept_document(request)
    # If no file was chosen, browsers send one without a name.
    async with request.form() as form:
        yield [each for each in form.getlist("files") if isinstance(each, UploadFile) and each.filename]


@router.get("/import-plans")
def ask_for_files(request: Request) -> Response:
    """Show the form for files."""
    return _import_page(request)


@router.post("/import-plans", dependencies=[WriteTurn])
def import_files(request: Request, files: Annotated[list[UploadFile], Depends(_files)]) -> Response:
    """Save each file as a new plan; existing plans are not changed."""
    if not files:
        return _import_page(request, error="Choose one file or more.", status_code=422)
    return _import_page(request, tuple(_import(request.app.state.database, file) for file in files))


def _import_page(
    request: Request, results: tuple[ImportOutcome, ...] = (), *, error: str = "", status_code: int = 200
) -> Response:
    page = ImportPage(title="Import plans", section="plans", results=results, error=error)
    return render(request, "plans/import.html", page, status_code=status_code)


def _import(database: Database, file: UploadFile) -> ImportOutcome:
    """Read and compute a plan, then save it in a short transaction of its own."""
    filename = (file.filename or "")[:200]
    # Old browsers on Windows send full paths.
    path = PurePosixPath(filename.replace("\\", "/"))
    name = path.stem if path.suffix.lower() in ENDINGS else path.name
    try:
        # Checked before the calculation, which takes seconds for large plans.
        service.check_name(name)
        text = file.file.read()
        computed = compute(read_text(text), curves_in(database))
        with database.session(writes=True) as session:
            service.save_plan(session, name, computed, create_only=True, comment=f"Imported from {filename}")
    except Conflict:
        words = f"A plan called {name} already exists. Rename the file or the plan."
        return ImportOutcome(filename, "", words, is_saved=False)
    except DocumentInvalid as error:
        problems = in_the_text(error.problems, text.decode(errors="replace"))
        return ImportOutcome(
            filename, "", "Not imported. Fix these errors:", is_saved=False, problems=problems
        )
    except (PlanNameInvalid, PlanRefused) as error:
        return ImportOutcome(filename, "", str(error), is_saved=False)
    return ImportOutcome(filename, name, "Imported.", is_saved=True)


# ---- deletion and restoration ----------------------------------------------------------------------------------------


@router.get("/deleted-plans")
def deleted(request: Request, session: SessionDep) -> Response:
    """Show the deleted plans that can be restored."""
    return _deleted_page(request, session)


def _deleted_page(
    request: Request,
    session: Session,
    *,
    plan_id: int | None = None,
    new_name: str = "",
    error: str = "",
    status_code: int = 200,
) -> Response:
    taken = service.names_in_use(session)
    page = DeletedPage(
        title="Deleted plans",
        section="plans",
        deleted=tuple(
            (each, new_name, error)
            if each.id == plan_id
            else (each, f"{each.name[:55]}-restored" if each.name in taken else "", "")
            for each in service.list_deleted(session)
        ),
        kept=timedelta(days=settings_of(request).deleted_days),
    )
    return render(request, "plans/deleted.html", page, status_code=status_code)


@router.post("/plans/{name}/delete")
def delete(request: Request, session: SessionDep, name: str) -> Response:
    """Delete a plan; the list then offers to restore it."""
    service.delete_plan(session, name)
    service.purge_deleted(session, timedelta(days=settings_of(request).deleted_days))
    return _see(request, f"/plans?{urlencode({'deleted': name})}")


@router.post("/plans/{name}/restore")
def restore(request: Request, session: SessionDep, name: str, body: BodyDep) -> Response:
    """Restore a deleted plan, under another name if its own is in use."""
    asked = _fields(body)
    plan_id = digits_in(asked["id"], most=18)
    try:
        stored = service.restore_plan(session, name, plan_id=plan_id, new_name=asked["name"] or None)
    except (NameTaken, PlanNameInvalid) as error:
        if plan_id is None:
            plan_id = next(each.id for each in service.list_deleted(session) if each.name == name)
        wanted, status = (
            asked["name"] or f"{name[:55]}-restored",
            409 if isinstance(error, NameTaken) else 422,
        )
        return _deleted_page(
            request, session, plan_id=plan_id, new_name=wanted, error=str(error), status_code=status
        )
    return _see(request, f"/plans/{quote(stored.name)}?saved=restored")


# ---- approval -----------------------------------------------------------------------------------------------------


@router.post("/plans/{name}/versions/{number}/approve")
def approve(request: Request, session: SessionDep, name: str, number: str) -> Response:
    """Approve a version that another person saved."""
    stored = service.get_version_at(session, name, number)
    approval.approve(session, name, stored.number, is_required=settings_of(request).approval)
    return _see(request, f"{path_of(stored)}?tab={POLICY}&saved=approved")


@router.post("/plans/{name}/versions/{number}/withdraw-approval")
def withdraw_approval(request: Request, session: SessionDep, name: str, number: str) -> Response:
    """Withdraw the approval of a version."""
    stored = service.get_version_at(session, name, number)
    approval.withdraw(session, name, stored.number, is_required=settings_of(request).approval)
    return _see(request, f"{path_of(stored)}?tab={POLICY}&saved=approval-withdrawn")


# ---- on the page of a plan -------------------------------------------------------------------------------------------


@router.post("/plans/{name}/rename")
def rename(request: Request, session: SessionDep, name: str, body: BodyDep) -> Response:
    """Rename a plan."""
    asked = _fields(body)
    try:
        stored = service.rename_plan(session, name, asked["name"], if_match=asked["etag"] or None)
    except Conflict as error:
        words = f"Not renamed: someone has since saved version {error.current.number}. Review it first."
        refused = RefusedAction(words=words, new_name=asked["name"])
        return result_page(request, session, error.current, refused, tab=SIZES, status_code=409)
    except (NameTaken, PlanNameInvalid) as error:
        refused = RefusedAction(words="Not renamed.", name_error=str(error), new_name=asked["name"])
        status_code = 409 if isinstance(error, NameTaken) else 422
        current = service.get_plan(session, name)
        return result_page(request, session, current, refused, tab=SIZES, status_code=status_code)
    return _see(request, f"/plans/{stored.name}?saved=renamed")


@router.post("/plans/{name}/acknowledge", dependencies=[WriteTurn])
def accept(request: Request, name: str, body: BodyDep) -> Response:
    """Acknowledge a finding, or all findings with a code, with a reason, in a new version of the plan."""
    asked = _fields(body)
    database: Database = request.app.state.database
    try:
        done = acknowledge(
            database, name, code=asked["code"], severity=asked["severity"] or None, structure=asked["structure"] or None,
            message=asked["message"] or None, reason=asked["reason"], if_match=asked["etag"] or None,
        )  # fmt: skip
    except (Conflict, NothingToAcknowledge, DocumentInvalid) as error:
        with database.session(writes=False) as session:
            current = service.get_plan(session, name)
            words = {
                Conflict: f"Not acknowledged: someone has since saved version {current.number}. Review the finding again.",
                DocumentInvalid: "Not acknowledged: enter a reason of 1 to 500 characters on one line.",
            }.get(type(error), f"Not acknowledged. {error}")
            finding = _refused_finding(current, asked)
            # The finding is no longer listed, nor its form with the reason, so the message repeats the reason.
            if not finding and asked["reason"]:
                words += f" Your reason was: {asked['reason'][:500]}"
            refused = RefusedAction(words=words, finding=finding, reason=asked["reason"][:500])
            status_code = 409 if isinstance(error, Conflict) else 422
            return result_page(request, session, current, refused, tab=FINDINGS, status_code=status_code)
    return _see(request, f"/plans/{name}?tab={FINDINGS}&saved=acknowledged&findings={done.findings}")


def _refused_finding(current: StoredVersion, asked: Mapping[str, str]) -> str:
    """Return the id of the finding or group whose form was refused; empty if it is no longer open."""
    open_findings = [
        each
        for each in findings_of(current)
        if each.code == asked["code"] and not each.acknowledged and asked["severity"] in ("", each.severity)
    ]
    if not asked["message"]:
        return next((group_id(each.severity, each.code) for each in open_findings), "")
    same = (each.id for each in open_findings if (each.structure or "") == asked["structure"])
    return next(same, "")


@router.post("/plans/{name}/withdraw", dependencies=[WriteTurn])
def reopen(request: Request, name: str, body: BodyDep) -> Response:
    """Withdraw the acknowledgment of a finding, or of all findings with a code, in a new version of the plan."""
    asked = _fields(body)
    database: Database = request.app.state.database
    try:
        done = withdraw(
            database, name, code=asked["code"], severity=asked["severity"] or None, structure=asked["structure"] or None,
            message=asked["message"] or None, if_match=asked["etag"] or None,
        )  # fmt: skip
    except (Conflict, NothingToWithdraw, DocumentInvalid) as error:
        with database.session(writes=False) as session:
            current = service.get_plan(session, name)
            words = (
                f"Not withdrawn: someone has since saved version {current.number}. Review the findings again."
                if isinstance(error, Conflict)
                else f"Not withdrawn. {error}"
            )
            status_code = 409 if isinstance(error, Conflict) else 422
            refused = RefusedAction(words=words)
            return result_page(request, session, current, refused, tab=FINDINGS, status_code=status_code)
    return _see(request, f"/plans/{name}?tab={FINDINGS}&saved=withdrawn&findings={done.findings}")


def _fields(body: bytes) -> defaultdict[str, str]:
    """Return the parameters of a small form; missing ones are empty."""
    try:
        # An invalid character makes a name or reason invalid, which gives a better message than an unreadable form.
        pairs = parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise HTTPException(status_code=422, detail="The form cannot be read.") from None
    return defaultdict(str, {key: text.strip() for key, text in pairs})


def _see(request: Request, path: str) -> Response:
    return RedirectResponse(root_path(request) + path, status_code=303)
