"""The pages about sizing points: the list with the forms that add points, and the fit of one CFCC level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.errors import FieldsInvalid, NotFound
from app.fits import points
from app.fits.charts import fit_charts
from app.fits.fits import Fit
from app.fits.points import FitOfPoints, LeftOutDisplay, Point, PointGroup
from app.fits.points_lists import POINTS, TYPES
from app.running.form import GivenDep, RunningForm
from app.running.texts import invalid, printable
from app.web import chart_script
from app.web.body import BodyDep
from app.web.chart_plotly import ZoomedChart
from app.web.chart_script import ChartScript
from app.web.csv_files import Cell, csv_text
from app.web.field_values import digits_in, value_of
from app.web.forms import FormField, filled, read_pairs, sentence
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.web.tables import ListView
from planner_core.errors import InputInvalid, PlannerError
from planner_core.sizing.sizing_advice import SizingAdvice
from planner_core.sizing.sizing_points import Kind
from planner_core.texts.sizing_answers import (
    COLUMNS,
    HIGHEST_LEVEL,
    LOWEST_LEVEL,
    ORIGINS,
    read_details,
    read_point,
    values_of,
)

router = Router(include_in_schema=False)

PATH: Final = "/sizing-points"
SECTION: Final = "curves"
PER_PAGE: Final = 30
SHOWN_CHARACTERS: Final = 200_000
"""Maximum length of a pasted text that is shown again."""
LONGEST_VALUE: Final = 200
MOST_FIELDS: Final = 2_000
OF_DISPLAYS, OF_ANSWER = "display-", "answer-"
"""Prefixes of the fields of the two forms, which are on one page."""
COUNTED: Final = ("cfcc_level", "entries", "elements")
_MOST_SHOWN: Final = 20

ONE: Final = (
    FormField("cfcc_level", "CFCC level", "whole", required=True),
    FormField("structure_type", "Structure", "choice", value="application", options=tuple(TYPES.items())),
    FormField("ratio", "Ratio", "text", value="1:6", required=True, hint="Entries to elements, such as 1:6."),
    FormField("size", "SIZE", "size", required=True, hint="In K, or with a unit, such as 400M."),
    FormField("initsize", "INITSIZE", "size", required=True, hint="In K, or with a unit, such as 400M."),
    FormField("entries", "Entries", "whole", hint="Number of entries in INITSIZE."),
    FormField("elements", "Elements", "whole", hint="Number of elements in INITSIZE."),
    FormField("origin", "Origin", "choice", value="zosmf", options=tuple(ORIGINS.items())),
    FormField("release", "Release", "text", hint="Release of the service or of z/OS."),
    FormField("measured_by", "Measured by", "text"),
    FormField("measured_on", "Day", "text", hint="As YYYY-MM-DD."),
)
"""The fields of one answer."""
DETAILS: Final = (
    FormField(
        "cfcc_level",
        "CFCC level",
        "whole",
        hint="Needed if the level of the coupling facility is not stored.",
    ),
    FormField("ratio", "Ratio", "text", hint="Needed for DISPLAY CFSTATUS."),
    FormField("size", "SIZE", "size", hint="Needed for DISPLAY CFSTATUS."),
    FormField("release", "Release of z/OS", "text"),
    FormField("measured_by", "Displayed by", "text"),
    FormField("measured_on", "Day", "text", hint="As YYYY-MM-DD."),
)
"""The values that displays do not show."""
TEXT: Final = FormField(
    "text",
    "Text",
    "text",
    hint="A CSV file with the columns of the template; or D XCF,STR,STRNAME= or DISPLAY CFSTATUS of structures without data.",
)


@dataclass(frozen=True, kw_only=True)
class SizingPointsPage(Page):
    """The list of sizing points, and the fits of them."""

    groups: Annotated[tuple[PointGroup, ...], "CFCC levels and structures that have points"]
    shown: Annotated[ListView, "One page of points"]
    is_empty: Annotated[bool, "Whether there are no points yet"]
    said: Annotated[str, "Confirmation of the last action"]
    left_out: Annotated[tuple[LeftOutDisplay, ...], "Displays of the last text that give no point"]


@dataclass(frozen=True, kw_only=True)
class AddPointsPage(Page):
    """The forms that add sizing points: a text, or one answer."""

    text: Annotated[FormField, "The text to read"]
    details: Annotated[tuple[FormField, ...], "Values that displays do not show"]
    has_details: Annotated[bool, "Whether the fields of these values are open"]
    one: Annotated[tuple[FormField, ...], "The fields of one answer"]
    wrong: Annotated[tuple[str, ...], "Errors in the text"]
    wrong_one: Annotated[tuple[str, ...], "Errors in the answer"]
    files: Annotated[tuple[str, ...], "Names of uploaded files, which a form cannot send again"]


@dataclass(frozen=True, slots=True)
class PointLine:
    """A point compared with the fitted line."""

    point: Point
    fitted_bytes: float | None
    residual_bytes: float | None
    left_out: str


@dataclass(frozen=True, kw_only=True)
class PointsFitPage(Page):
    """The fit of the points of one CFCC level and kind of structure."""

    found: Annotated[FitOfPoints, "The fit with its findings"]
    fit: Annotated[Fit, "The fit in the form of fitted curves"]
    charts: Annotated[ZoomedChart | None, "The distance of each point from the curve"]
    lines: Annotated[tuple[PointLine, ...], "The points, compared with the line"]
    advice: Annotated[SizingAdvice, "The sizings to run next"]
    current: Annotated[Fit | None, "The current curve of these points; None if there is none"]
    can_save: Annotated[bool, "Whether the fit can be stored as a curve"]
    query: Annotated[str, "The parameters of this page"]
    script: Annotated[ChartScript, "The script that draws zoomable charts"]
    problem: Annotated[str, "Why the fit was not stored; otherwise empty"]


# ---- the list --------------------------------------------------------------------------------------------------------


@router.get(PATH)
def show(request: Request, session: SessionDep) -> Response:
    """Show the points, and the forms that add points."""
    return _page(request, session)


@router.get(f"{PATH}.csv")
def points_file(request: Request, session: SessionDep) -> Response:
    """Return all points that match the filter as a file that can be imported again."""
    asked = POINTS.file_request(request)
    found = points.all_points(session, search=asked.search, sort=asked.sort)
    return _file((tuple(values_of(each, each.structure).values()) for each in found), "sizing-points.csv")


@router.get(f"{PATH}/template.csv")
def template() -> Response:
    """Return a file with the columns and one example row."""
    return _file([tuple(column.example for column in COLUMNS)], "sizing-points-template.csv")


@router.get(f"{PATH}/add")
def add_form(request: Request) -> Response:
    """Show the forms that add points."""
    return _add_page(request)


@router.post(PATH)
def add_text(request: Request, session: SessionDep, given: GivenDep) -> Response:
    """Add the points of a CSV file or of displays."""
    texts = given.texts("text", "file")
    try:
        given.check_files()
        if not texts:
            invalid("", "Paste a text, or choose a file")
        details = read_details({field.name: given.value(OF_DISPLAYS + field.name) for field in DETAILS})
        # The file is last in the list and comes before the field, which may still contain an earlier text.
        read, left_out = points.read_text(session, texts[-1], details)
    except PlannerError as error:
        return _add_page(request, given=given, wrong=_told(error))
    added = points.add(session, read)
    if left_out:
        # Shown at once, because the text is not stored. Sending it again adds nothing.
        return _page(request, session, said=_added(added.added, added.known), left_out=left_out)
    return _see(request, f"{PATH}?{urlencode({'added': added.added, 'known': added.known})}")


@router.post(f"{PATH}/one")
def add_one(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Add one answer of a sizing service."""
    typed = {name: text[:LONGEST_VALUE] for name, text in read_pairs(body, most=MOST_FIELDS)}
    values = {field.name: typed.get(OF_ANSWER + field.name, "") for field in ONE}
    # Numbers may have been copied from a page that shows them with separators.
    numbers = {name: str(value_of("whole", values[name])) for name in COUNTED if values[name].strip()}
    try:
        added = points.add(session, [read_point(values | numbers)])
    except InputInvalid as error:
        wrong = {OF_ANSWER + each.field: f"{each.message.rstrip('.')}." for each in error.problems}
        return _add_page(request, typed=typed, wrong_one=wrong)
    return _see(request, f"{PATH}?{urlencode({'added': added.added, 'known': added.known})}")


@router.post(f"{PATH}/remove")
def remove(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Remove the selected points."""
    chosen = [digits_in(text) for name, text in read_pairs(body, most=MOST_FIELDS) if name == "remove"]
    numbers = sorted({number for number in chosen if number is not None})
    for number in numbers:
        points.remove(session, number)
    return _see(request, f"{PATH}?{urlencode({'removed': len(numbers)})}")


def _page(
    request: Request, session: Session, *, said: str = "", left_out: tuple[LeftOutDisplay, ...] = ()
) -> Response:
    asked = POINTS.request(request, per_page=PER_PAGE)
    found = points.list_points(session, asked.page, search=asked.search, sort=asked.sort)
    page = SizingPointsPage(
        title="Sizing points",
        section=SECTION,
        groups=points.groups(session),
        shown=POINTS.view(found, asked),
        is_empty=found.total == 0 and not asked.search,
        said=said or _said(request),
        left_out=left_out,
    )
    return render(request, "fits/points.html", page)


def _add_page(
    request: Request,
    *,
    given: RunningForm | None = None,
    typed: Mapping[str, str] | None = None,
    wrong: tuple[str, ...] = (),
    wrong_one: Mapping[str, str] | None = None,
) -> Response:
    texts = dict(given.typed) if given is not None else {}
    texts[TEXT.name] = printable(texts.get(TEXT.name, "")[:SHOWN_CHARACTERS])
    details = filled(DETAILS, texts, at=OF_DISPLAYS)
    one = filled(
        ONE, typed or {}, {name: sentence(why) for name, why in (wrong_one or {}).items()}, at=OF_ANSWER
    )
    names = {field.name: field.label for field in one}
    page = AddPointsPage(
        title="Add sizing points",
        section=SECTION,
        text=filled((TEXT,), texts)[0],
        details=details,
        has_details=any(field.value for field in details),
        one=one,
        wrong=wrong,
        wrong_one=tuple(f"{names.get(name, 'The answer')} {why}" for name, why in (wrong_one or {}).items()),
        files=given.names if given is not None else (),
    )
    return render(request, "fits/add_points.html", page, status_code=422 if wrong or wrong_one else 200)


# ---- the fit ---------------------------------------------------------------------------------------------------------


@router.get(f"{PATH}/fit")
def show_fit(request: Request, session: SessionDep) -> Response:
    """Show the fit of the points of one CFCC level and kind of structure."""
    level, kind = _group(request.query_params)
    return _fit_page(request, session, level, kind)


@router.post(f"{PATH}/fit")
def save_fit(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Store the fit as a curve that plans can name."""
    level, kind = _group(dict(read_pairs(body, most=MOST_FIELDS)))
    try:
        found = points.save(session, level, kind)
    except FieldsInvalid as error:
        return _fit_page(request, session, level, kind, problem=str(error))
    return _see(request, f"/curves/{found.version}")


@router.get(f"{PATH}/advice.txt")
def advice_file(request: Request, session: SessionDep) -> Response:
    """Return the sizings to run next as a text."""
    level, kind = _group(request.query_params)
    headers = {"content-disposition": f'attachment; filename="sizings-cfcc{level}-{kind}.txt"'}
    return Response(points.advice(session, level, kind).text, media_type="text/plain", headers=headers)


def _fit_page(request: Request, session: Session, level: int, kind: Kind, *, problem: str = "") -> Response:
    found = points.fit(session, level, kind)
    fit = points.preview(session, level, kind)
    group = next(each for each in points.groups(session) if (each.cfcc_level, each.kind) == (level, kind))
    page = PointsFitPage(
        title=f"Fit of sizing points, CFCC level {level}",
        section=SECTION,
        found=found,
        fit=fit,
        charts=fit_charts(fit),
        lines=_lines(found, points.points_of(session, level, kind)),
        advice=points.advice(session, level, kind),
        current=points.stored_curve(session, group.version),
        can_save=kind == "application" and found.state == points.FITTED,
        query=urlencode({"cfcc_level": level, "type": kind}),
        script=chart_script.of_page(),
        problem=problem,
    )
    return render(request, "fits/points_fit.html", page, status_code=422 if problem else 200)


def _lines(found: FitOfPoints, known: Sequence[Point]) -> tuple[PointLine, ...]:
    """Return all points, compared with the line where there is one, the largest first."""
    compared = {each.point: each for each in found.residuals}
    lines = [
        PointLine(
            point=point,
            fitted_bytes=compared[at].fitted_bytes if at in compared else None,
            residual_bytes=compared[at].residual_bytes if at in compared else None,
            left_out=(compared[at].left_out or "") if at in compared else "",
        )
        for at, point in enumerate(known)
    ]
    return tuple(sorted(lines, key=lambda line: -line.point.initsize_bytes))


# ---- parameters ------------------------------------------------------------------------------------------------------


def _group(values: Mapping[str, str]) -> tuple[int, Kind]:
    """Return the CFCC level and the kind of structure of an address or a form.

    Raises:
        NotFound: The level or the kind does not exist.
    """
    level = digits_in(values.get("cfcc_level", ""))
    kind = next((each for each in points.KINDS if each == values.get("type", "application")), None)
    if level is None or kind is None or not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
        message = f"The CFCC level (cfcc_level) must be a number between {LOWEST_LEVEL} and {HIGHEST_LEVEL}, and the type {' or '.join(points.KINDS)}."
        raise NotFound(message)
    return level, kind


def _told(error: PlannerError) -> tuple[str, ...]:
    """Return the errors of a text as sentences."""
    if not isinstance(error, InputInvalid):
        return (str(error),)
    words = [f"{each.field}: {each.message}".removeprefix(": ") for each in error.problems]
    more = [f"{len(words) - _MOST_SHOWN} more errors."] if len(words) > _MOST_SHOWN else []
    return (*(f"{each[0].upper()}{each[1:].rstrip('.')}." for each in words[:_MOST_SHOWN]), *more)


def _said(request: Request) -> str:
    added, known, removed = (
        digits_in(request.query_params.get(name, "")) for name in ("added", "known", "removed")
    )
    if added is not None:
        return _added(added, known or 0)
    return "" if removed is None else f"Removed {removed} {'point' if removed == 1 else 'points'}."


def _added(added: int, known: int) -> str:
    words = f"Added {added} {'point' if added == 1 else 'points'}."
    if not known:
        return words
    return (
        f"{words} {known} {'was' if known == 1 else 'were'} stored before or repeated, and not added again."
    )


def _file(rows: Iterable[Sequence[Cell]], name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    text = csv_text((tuple(column.name for column in COLUMNS), rows))
    return Response(text, media_type="text/csv", headers=headers)


def _see(request: Request, path: str) -> Response:
    # 303 makes the browser read the page with GET, so that reloading it does not send the form again.
    return RedirectResponse(root_path(request) + path, status_code=303)
