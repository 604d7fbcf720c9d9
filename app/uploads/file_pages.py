"""The page of uploaded files without an upload, and of uploads without their file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from app.database.session import SessionDep
from app.errors import NotFound
from app.problem_types import UPLOAD_NOT_FOUND
from app.uploads import arrivals, service
from app.uploads.amounts import amount
from app.uploads.unregistered import FileCheck, check_files, is_digest
from app.web.body import BodyDep
from app.web.forms import read_pairs
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from planner_core.inputs import KIND_TITLES

router = Router(include_in_schema=False)

SECTION = "uploads"
MOST_PARAMETERS = 10
SAID = {"removed": "File removed."}


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file without an upload, in the list."""

    sha256: str
    short: str
    kind: str
    size: str
    modified_at: object
    state: str


@dataclass(frozen=True, kw_only=True)
class UploadFilesPage(Page):
    """Files without an upload, and uploads without their file."""

    check: Annotated[FileCheck, "The comparison of uploads and files"]
    lines: Annotated[tuple[FileRow, ...], "The files without an upload as table rows"]
    said: Annotated[str, "The last action"]


@router.get("/upload-files")
def upload_files(request: Request, session: SessionDep) -> Response:
    """Show the files and uploads that do not match."""
    found = check_files(session, data_dir=request.app.state.settings.data_dir)
    page = UploadFilesPage(
        title="Uploaded files",
        section=SECTION,
        check=found,
        lines=tuple(
            FileRow(
                each.sha256, each.sha256[:12], KIND_TITLES[each.detected_kind] if each.detected_kind else "",  # type: ignore[index]
                amount(each.size_bytes), each.modified_at, "Read before" if each.was_read else "No upload",
            )
            for each in found.unregistered
        ),
        said=SAID.get(request.query_params.get("said", ""), ""),
    )  # fmt: skip
    return render(request, "uploads/files.html", page)


@router.post("/upload-files/register")
def register(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Create an upload for a file, and read it."""
    stored = service.register(session, _digest(body), data_dir=request.app.state.settings.data_dir)
    arrivals.start_after_commit(request, session)
    return _see(request, f"/uploads/{stored.id}?said=registered")


@router.post("/upload-files/remove")
def remove(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Remove a file that no upload needs."""
    service.remove_unregistered(session, _digest(body), data_dir=request.app.state.settings.data_dir)
    return _see(request, "/upload-files?said=removed")


def _digest(body: bytes) -> str:
    given = dict(read_pairs(body, most=MOST_PARAMETERS)).get("sha256", "")
    # The digest is part of a path.
    if not is_digest(given):
        message = "The data folder has no uploaded file of this name."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    return given


def _see(request: Request, path: str) -> Response:
    return RedirectResponse(root_path(request) + path, status_code=303)
