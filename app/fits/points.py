"""Sizing points: answers of sizing services that the site entered, the fit of them, and the sizings to run next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, cast, get_args

from pydantic import Field
from sqlalchemy.orm import Session

from app.actor import current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.database.types import LARGEST_KEY
from app.errors import FieldsInvalid, NotFound
from app.fits import fits, points_repository
from app.fits.fits import Fit
from app.fits.levels import levels
from app.fits.points_models import StoredPoint
from app.nightly import repository
from app.nightly.models import FitVersion
from app.nightly.results import STATES, store_fit
from app.paging import MOST_PER_PAGE, PageRequest, ResultPage, Sort
from planner_core.checks.sizing_points import check_points_fit
from planner_core.contracts.files import plain
from planner_core.contracts.fits import CurveFit
from planner_core.errors import FieldProblem
from planner_core.findings import Finding
from planner_core.names import Role
from planner_core.sizing.fitted import fit_of_answers
from planner_core.sizing.sizing_advice import SizingAdvice, advise
from planner_core.sizing.sizing_points import (
    Kind,
    Origin,
    PointsFit,
    SizingPoint,
    fit_points,
)
from planner_core.texts.console import LineProblem
from planner_core.texts.sizing_answers import ORIGINS, DisplayDetails, NamedPoint, read_points, source_words
from planner_core.wire import Answer, Omittable, copied

POINTS = "sizing points"
KINDS: tuple[Kind, ...] = get_args(Kind)
FIRST_PAGE = PageRequest()
FITTED = "fitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(SizingPoint):
    """A stored sizing point."""

    number: Annotated[int, Field(description="Number of the point.")]
    structure: Annotated[str, Field(description="Name of the structure in a display; otherwise empty.")]
    added_at: datetime
    author: Annotated[str | None, Field(description="Who added it.")]

    @property
    def label(self) -> str:
        """Its structure, or its origin and number."""
        return self.structure or f"{ORIGINS.get(self.origin, self.origin)} {self.number}"


@dataclass(frozen=True, slots=True)
class PointPage(ResultPage[Point]):
    """One page of sizing points, newest first."""

    items: Annotated[tuple[Point, ...], Field(serialization_alias="points")]


@dataclass(frozen=True, slots=True)
class LeftOutDisplay(Answer):
    """A display that gives no point."""

    line: Annotated[int, Field(description="Line of the text, from 1.")]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsAdded(Answer):
    """The result of an import."""

    added: Annotated[int, Field(description="Points that were stored.")]
    known: Annotated[
        int,
        Field(
            description="Points that were stored before, or are in the text twice; they were not added again."
        ),
    ]
    points: Annotated[tuple[Point, ...], Field(description="The points that were stored.")]
    left_out: Annotated[tuple[LeftOutDisplay, ...], Field(description="Displays that give no point.")] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PointGroup:
    """The points that are fitted together, and the current curve of them."""

    cfcc_level: int
    kind: Kind
    points: int
    version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOfPoints(PointsFit):
    """The fit of the points of one CFCC level and kind of structure."""

    points: Annotated[int, Field(description="Number of points of that level and kind.")]
    sources: Annotated[tuple[str, ...], Field(description="Origins of the points.")]
    version: Annotated[
        int | None, Field(description="The fitted curve that was stored; null if the fit was not stored.")
    ] = None
    added: Annotated[
        Omittable[int], Field(description="Points of the text that were stored, if they were.")
    ] = None
    known: Annotated[
        Omittable[int], Field(description="Points of the text that were stored before or are in it twice.")
    ] = None
    left_out: Annotated[
        tuple[LeftOutDisplay, ...], Field(description="Displays of the text that give no point.")
    ] = ()
    findings: tuple[Finding, ...] = ()


def list_points(
    session: Session, asked: PageRequest = FIRST_PAGE, *, search: str = "", sort: Sort | None = None
) -> PointPage:
    """Return one page of points; `search` is a part of origin, release, person or structure."""
    rows, total = points_repository.page_of_points(
        session, offset=asked.offset, limit=asked.per_page, search=search, sort=sort
    )
    return PointPage.of(tuple(map(_point, rows)), total, asked)


def all_points(session: Session, *, search: str = "", sort: Sort | None = None) -> Iterator[Point]:
    """Yield all points that match."""
    asked = PageRequest(per_page=MOST_PER_PAGE)
    while (found := list_points(session, asked, search=search, sort=sort)).items:
        yield from found.items
        if found.page >= found.pages:
            break
        asked = asked._replace(page=asked.page + 1)


def groups(session: Session) -> tuple[PointGroup, ...]:
    """Return the CFCC levels and kinds of structures that have points, with the current curve of each."""
    found = []
    for level, kind, number in points_repository.counts(session):
        last = _last_fit(session, level) if kind == "application" else None
        found.append(PointGroup(level, kind, number, None if last is None else last.id))
    return tuple(found)


def read_text(
    session: Session | None, text: str, details: DisplayDetails
) -> tuple[tuple[NamedPoint, ...], tuple[LeftOutDisplay, ...]]:
    """Return the points of a text; the CFCC levels that the site has set complete displays.

    Raises:
        InputInvalid: The text contains errors, or no points.
    """
    if session is not None:
        known = {each.coupling_facility: each.cfcc_level for each in levels(session)}
        details = replace(details, levels=known)
    found = read_points(text, details)
    return found.points, tuple(map(_left_out, found.left_out))


def add(
    session: Session, found: Sequence[NamedPoint], left_out: tuple[LeftOutDisplay, ...] = ()
) -> PointsAdded:
    """Store points that are not stored yet."""
    digests = [digest_of(each.point) for each in found]
    known = set(points_repository.known_digests(session, digests))
    rows = []
    for each, digest in zip(found, digests, strict=True):
        if digest not in known:
            known.add(digest)
            rows.append(_row(each, digest))
    session.add_all(rows)
    session.flush()
    added = tuple(map(_point, rows))
    if added:
        record(
            session,
            Action.POINTS_ADDED,
            AuditObject(
                POINTS, f"{added[0].number} to {added[-1].number}" if len(added) > 1 else f"{added[0].number}"
            ),
            {"points": len(added), "sources": list(source_words(added))},
        )
    return PointsAdded(added=len(added), known=len(found) - len(added), points=added, left_out=left_out)


def remove(session: Session, number: int) -> Point:
    """Remove a point, and return it. Fitted curves keep a copy of their points.

    Raises:
        NotFound: There is no such point.
    """
    row = points_repository.find_point(session, number) if 0 < number <= LARGEST_KEY else None
    if row is None:
        message = f"There is no sizing point {number}."
        raise NotFound(message)
    point = _point(row)
    session.delete(row)
    session.flush()
    record(
        session,
        Action.POINT_REMOVED,
        AuditObject(POINTS, str(number), id=number),
        {
            "before": {
                "cfcc_level": point.cfcc_level,
                "source": source_words([point])[0],
                "initsize_bytes": point.initsize_bytes,
            }
        },
    )
    return point


def points_of(session: Session, cfcc_level: int, kind: Kind) -> tuple[Point, ...]:
    """Return the stored points of a CFCC level and kind of structure, oldest first."""
    return tuple(map(_point, points_repository.points_of(session, cfcc_level, kind)))


def fit(session: Session, cfcc_level: int, kind: Kind) -> FitOfPoints:
    """Return the fit of the stored points of a CFCC level and kind of structure.

    Raises:
        NotFound: There are no such points.
    """
    return fit_of(_needed(session, cfcc_level, kind))


def fit_of(points: Sequence[SizingPoint]) -> FitOfPoints:
    """Return the fit of points that belong together."""
    found = fit_points(points)
    labels = [
        each.label if isinstance(each, Point) else f"point {place}"
        for place, each in enumerate(points, start=1)
    ]
    findings = tuple(check_points_fit(found, points, labels=labels))
    return copied(FitOfPoints, found, points=len(points), sources=source_words(points), findings=findings)


def preview(session: Session, cfcc_level: int, kind: Kind) -> Fit:
    """Return the fit of the stored points in the form of all fitted curves, for charts; its version is 0.

    Raises:
        NotFound: There are no such points.
    """
    curve = _curve(_needed(session, cfcc_level, kind))
    return copied(
        Fit, curve, version=0, run_id=None, made_at=utc_now(), coupling_facility="", is_current=False, is_simulated=False,
        state=STATES[curve.state],
    )  # fmt: skip


def save(session: Session, cfcc_level: int, kind: Kind) -> FitOfPoints:
    """Store the fit of the stored points as a fitted curve that plans can name. An unchanged fit is not stored again.

    Raises:
        NotFound: There are no such points.
        FieldsInvalid: The fit has no figures or impossible ones, or is of CSQ_ADMIN.
    """
    points = _needed(session, cfcc_level, kind)
    found = fit_of(points)
    if kind != "application":
        message = "A plan sizes CSQ_ADMIN with its published size, so the fit of its points is not stored as a curve."
        raise FieldsInvalid(FieldProblem("structure_type", message))
    if found.state != FITTED:
        message = f"The fit of the points at CFCC level {cfcc_level} has no curve that a plan can use: {found.reason or 'no reason was given'}"
        raise FieldsInvalid(FieldProblem("cfcc_level", message))
    curve = _curve(points)
    scope = scope_of(cfcc_level)
    text = json.dumps(plain(curve), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    last = _last_fit(session, cfcc_level)
    row = store_fit(session, curve, text, scope=scope, last=last, at=utc_now())
    if row is None and last is not None:
        return replace(found, version=last.id)
    if row is None:
        msg = "a fit without an earlier one is stored"
        raise RuntimeError(msg)
    record(
        session,
        Action.CURVE_FITTED,
        AuditObject("fitted curve", str(row.id), id=row.id),
        {"cfcc_level": cfcc_level, "points": found.points_used, "sources": list(found.sources)},
    )
    return replace(found, version=row.id)


def fit_and_save(session: Session, cfcc_level: int, kind: Kind) -> FitOfPoints:
    """Return the fit of the stored points, and store it if plans can use it.

    Raises:
        NotFound: There are no such points.
    """
    found = fit(session, cfcc_level, kind)
    return save(session, cfcc_level, kind) if kind == "application" and found.state == FITTED else found


def advice(session: Session, cfcc_level: int, kind: Kind) -> SizingAdvice:
    """Return the sizings to run next for a CFCC level, which need no stored points."""
    return advise(points_of(session, cfcc_level, kind), cfcc_level=cfcc_level, kind=kind)


def stored_curve(session: Session, version: int | None) -> Fit | None:
    """Return a stored curve by its version."""
    return None if version is None else fits.find_fit(session, version)


def scope_of(cfcc_level: int) -> str:
    """Return the scope of fitted curves of sizing answers.

    >>> scope_of(26)
    'answers@26'
    """
    return f"answers@{cfcc_level}"


def digest_of(point: SizingPoint) -> str:
    """Return the digest of an answer: a service gives the same answer to everyone who asks."""
    figures = (
        point.cfcc_level, point.structure_type, point.entry_ratio, point.element_ratio, point.size_bytes, point.initsize_bytes,
        point.entries, point.elements, point.origin, point.release,
    )  # fmt: skip
    return hashlib.sha256(json.dumps(figures).encode()).hexdigest()


def _last_fit(session: Session, cfcc_level: int) -> FitVersion | None:
    return next(iter(repository.curves_of_scope(session, scope_of(cfcc_level), limit=1)), None)


def _needed(session: Session, cfcc_level: int, kind: Kind) -> tuple[Point, ...]:
    found = points_of(session, cfcc_level, kind)
    if not found:
        of = "CSQ_ADMIN" if kind == "admin" else "application structures"
        message = f"There are no sizing points of {of} at CFCC level {cfcc_level}."
        raise NotFound(message)
    return found


def _curve(points: Sequence[Point]) -> CurveFit:
    return fit_of_answers(
        fit_points(points),
        points,
        labels=[each.label for each in points],
        sources=source_words(points),
        today=max(each.added_at for each in points).date(),
    )


def _row(each: NamedPoint, digest: str) -> StoredPoint:
    point = each.point
    return StoredPoint(
        digest=digest, cfcc_level=point.cfcc_level, kind=point.kind, structure_type=point.structure_type,
        entry_ratio=point.entry_ratio, element_ratio=point.element_ratio, size_bytes=point.size_bytes,
        initsize_bytes=point.initsize_bytes, entries=point.entries, elements=point.elements, origin=point.origin,
        release=point.release, structure=each.structure, measured_by=point.measured_by, measured_on=point.measured_on,
        added_at=utc_now(), author=current_actor().name,
    )  # fmt: skip


def _point(row: StoredPoint) -> Point:
    return Point(
        number=row.id, cfcc_level=row.cfcc_level, structure_type=cast("Role", row.structure_type), entry_ratio=row.entry_ratio,
        element_ratio=row.element_ratio, size_bytes=row.size_bytes, initsize_bytes=row.initsize_bytes, entries=row.entries,
        elements=row.elements, origin=cast("Origin", row.origin), release=row.release, structure=row.structure,
        measured_by=row.measured_by, measured_on=row.measured_on, added_at=row.added_at, author=row.author,
    )  # fmt: skip


def _left_out(problem: LineProblem) -> LeftOutDisplay:
    return LeftOutDisplay(problem.line, problem.message)
