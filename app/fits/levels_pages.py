"""The page for the CFCC levels of coupling facilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.errors import FieldsInvalid
from app.fits import levels
from app.fits.levels import FacilityLevel
from app.web.body import BodyDep
from app.web.forms import FormField, filled
from app.web.rendering import Page, render, root_path
from app.web.router import Router

router = Router(include_in_schema=False)

PATH = "/cf-levels"
SAID = {
    "put": "Saved. Later fits use this level; existing fits keep theirs.",
    "removed": "Removed.",
}
_MOST_FIELDS = 20


@dataclass(frozen=True, kw_only=True)
class CfLevelsPage(Page):
    """The CFCC level of each coupling facility."""

    facilities: Annotated[
        tuple[FacilityLevel, ...], "Every coupling facility that an entry, a plan or a fit names"
    ]
    boxes: Annotated[tuple[FormField, ...], "The fields for a new entry"]
    wrong: Annotated[tuple[str, ...], "Errors in the form"]
    said: Annotated[str, "Confirmation of the last action"]


@router.get(PATH)
def show(request: Request, session: SessionDep) -> Response:
    """Show the levels, and a form to add one."""
    return _page(request, session, {}, {})


@router.post(PATH)
def put(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Set the level of a coupling facility."""
    typed = _typed(body)
    try:
        levels.put(session, typed.get("coupling_facility", ""), typed.get("cfcc_level", ""))
    except FieldsInvalid as error:
        return _page(request, session, typed, {each.field: each.message for each in error.problems})
    return _see(request, f"{PATH}?said=put")


@router.post(f"{PATH}/remove")
def remove(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Remove the level of a coupling facility."""
    levels.remove(session, _typed(body).get("coupling_facility", ""))
    return _see(request, f"{PATH}?said=removed")


_FIELDS = (
    FormField(
        "coupling_facility", "Coupling facility", "name", hint="The name in the CFRM policy.", required=True
    ),
    FormField(
        "cfcc_level",
        "CFCC level",
        "whole",
        hint="As shown by D CF; not the CFLEVEL of MQ.",
        required=True,
    ),
)


def _page(request: Request, session: Session, typed: Mapping[str, str], wrong: Mapping[str, str]) -> Response:
    page = CfLevelsPage(
        title="CFCC levels",
        section="levels",
        facilities=levels.facilities(session),
        boxes=filled(_FIELDS, {name: text[:200] for name, text in typed.items()}, wrong),
        wrong=tuple(wrong.values()),
        said=SAID.get(request.query_params.get("said", ""), ""),
    )
    return render(request, "fits/levels.html", page, status_code=422 if wrong else 200)


def _typed(body: bytes) -> dict[str, str]:
    try:
        # Two fields are expected; without a limit, a request could contain millions.
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise HTTPException(status_code=422, detail="The form cannot be read.") from None


def _see(request: Request, path: str) -> Response:
    # 303 makes the browser read the page with GET, so that reloading it does not send the form again.
    return RedirectResponse(root_path(request) + path, status_code=303)
