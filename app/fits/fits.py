"""Fitted curves of nightly runs and of sizing answers, as pages, REST and plans read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeVar

from pydantic import Field
from sqlalchemy.orm import Session

from app.database.types import LARGEST_KEY
from app.errors import NotFound
from app.nightly import repository
from app.nightly.models import FitState, FitVersion
from app.paging import MOST_PER_PAGE, PageRequest, ResultPage, Sort
from planner_core.contracts.files import parsed
from planner_core.contracts.fits import CurveFit, Cut, Estimate, FitPoint
from planner_core.contracts.forecasts import IsSimulated
from planner_core.findings import Finding
from planner_core.sizing.structure_size import Curve, published_curve, published_curves
from planner_core.wire import Answer

FIRST_PAGE = PageRequest()

AnyFit = TypeVar("AnyFit", bound=CurveFit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit(CurveFit):
    """The cost of structures on a coupling facility, fitted to its own allocations."""

    version: Annotated[int, Field(description="The number that plans name: `{fitted: 17}`.")]
    run_id: Annotated[
        int | None,
        Field(description="The nightly run that produced the fit; null for a fit of sizing answers."),
    ]
    made_at: datetime
    coupling_facility: str
    state: Annotated[FitState, Field(description="Plans may name only accepted fits.")]
    is_current: Annotated[
        bool, Field(description="The latest accepted fit of its coupling facility and CFCC level.")
    ]
    is_simulated: IsSimulated

    @property
    def is_usable(self) -> bool:
        """Whether plans may use this fit: it is accepted, and the cost of an entry at the allocation ratio is known."""
        return self.state is FitState.ACCEPTED and not self.is_of_other_ratio

    @property
    def is_of_other_ratio(self) -> bool:
        """Whether the cost of an entry with its elements is known only at a ratio other than the allocation ratio."""
        initial = published_curves()[-1]
        ratio = (initial.ratio_entries, initial.ratio_elements)
        return self.bundle_bytes is not None and self.element_bytes is None and self.ratio != ratio

    @property
    def has_size_cost(self) -> bool:
        """Whether the control storage for SIZE is a figure of its own."""
        return self.answers is not None and self.answers.size_cost is not None

    @property
    def origin(self) -> str:
        """The coupling facility, or the kind of data if the fit is of none."""
        if self.answers is not None:
            return "sizing answers"
        return self.coupling_facility or "an unnamed coupling facility"

    @property
    def published(self) -> Curve | None:
        """The published curve of the same CFCC level; None if the level is not known."""
        return None if self.cfcc_level is None else published_curve(cfcc_level=self.cfcc_level).curve


@dataclass(frozen=True, slots=True, kw_only=True)
class FitDetails(Fit):
    """One version of a fitted curve, with the breaks in its series."""

    cuts: tuple[Cut, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FitPoints(Answer):
    """The points of a fitted curve."""

    version: int
    coupling_facility: str
    cfcc_level: int | None
    state: FitState
    is_simulated: bool
    base_bytes: float | None
    bundle_bytes: float | None
    entry_bytes: Annotated[float | None, Field(description="Null if the data contains only one ratio.")]
    element_bytes: Annotated[float | None, Field(description="Null if the data contains only one ratio.")]
    published_base_bytes: Annotated[
        float | None,
        Field(description="Base of the published curve for the level; null if the level is not known."),
    ]
    published_bundle_bytes: Annotated[
        float | None,
        Field(
            description="Cost of one entry with six elements on the published curve for the level; null if the level is not known."
        ),
    ]
    points: tuple[FitPoint, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class FitPage(ResultPage[Fit]):
    """One page of fitted curves, newest first."""

    items: Annotated[tuple[Fit, ...], Field(serialization_alias="curves")]


def list_fits(
    session: Session,
    asked: PageRequest = FIRST_PAGE,
    *,
    current_only: bool = False,
    search: str = "",
    sort: Sort | None = None,
) -> FitPage:
    """Return one page of fits; with `current_only`, only the last accepted one of each facility and level.

    Without a requested order, the newest are first. `search` is a part of the coupling facility's name.
    """
    rows, total = repository.page_of_curves(
        session,
        offset=asked.offset,
        limit=asked.per_page,
        current_only=current_only,
        search=search,
        sort=sort,
    )
    return FitPage.of(tuple(map(_fit, rows)), total, asked)


def all_fits(session: Session, *, search: str = "", sort: Sort | None = None) -> Iterator[Fit]:
    """Yield all fits that match. Only one page of them is in memory at a time, because each has its points."""
    asked = PageRequest(per_page=MOST_PER_PAGE)
    while (found := list_fits(session, asked, search=search, sort=sort)).items:
        yield from found.items
        if found.page >= found.pages:
            break
        asked = asked._replace(page=asked.page + 1)


def current_fits(session: Session) -> tuple[Fit, ...]:
    """Return the last accepted fit of each coupling facility and level, sorted by name."""
    return tuple(map(_fit, repository.current_curves(session)))


def newest_fits(session: Session) -> tuple[Fit, ...]:
    """Return the newest fit of every coupling facility, including rejected ones, whose observations are still valid."""
    return tuple(map(_fit, repository.newest_curves(session)))


def fits_of_run(session: Session, run_id: int) -> tuple[Fit, ...]:
    """Return the new fits of a run, in the order in which the run stored them."""
    return tuple(map(_fit, repository.curves_of_run(session, run_id)))


def get_fit(session: Session, version: int) -> Fit:
    """Return one version.

    Raises:
        NotFound: There is no such version.
    """
    return _fit(_find(session, version))


def other_fits(session: Session, fit: Fit, *, most: int = 20) -> tuple[Fit, ...]:
    """Return the other fits of the same coupling facility and level, newest first."""
    row = repository.find_curve(session, fit.version)
    if row is None:
        return ()
    # One more, because the fit itself is among them.
    rows = repository.curves_of_scope(session, row.scope, limit=most + 1)
    return tuple(_fit(each) for each in rows if each.id != fit.version)[:most]


def details(session: Session, version: int) -> FitDetails:
    """Return one version with the breaks in its series.

    Raises:
        NotFound: There is no such version.
    """
    return _read(FitDetails, _find(session, version))


def points(session: Session, version: int) -> FitPoints:
    """Return the points of one version, with the figures of its curve.

    Raises:
        NotFound: There is no such version.
    """
    fit = get_fit(session, version)
    published = fit.published
    return FitPoints(
        version=fit.version,
        coupling_facility=fit.coupling_facility,
        cfcc_level=fit.cfcc_level,
        state=fit.state,
        is_simulated=fit.is_simulated,
        base_bytes=_value(fit.base_bytes),
        bundle_bytes=_value(fit.bundle_bytes),
        entry_bytes=_value(fit.entry_bytes),
        element_bytes=_value(fit.element_bytes),
        published_base_bytes=None if published is None else float(published.base),
        published_bundle_bytes=None if published is None else float(published.bundle),
        points=fit.points,
    )


def find_fit(session: Session, version: int) -> Fit | None:
    """Return one version, or None if it does not exist."""
    try:
        return get_fit(session, version)
    except NotFound:
        return None


def _find(session: Session, version: int) -> FitVersion:
    row = repository.find_curve(session, version) if 0 < version <= LARGEST_KEY else None
    if row is None:
        message = f"There is no fitted curve {version}."
        raise NotFound(message)
    return row


def _fit(row: FitVersion) -> Fit:
    return _read(Fit, row)


def _read(kind: type[AnyFit], row: FitVersion) -> AnyFit:
    # The columns of the row take precedence: the application decides what is accepted, current and simulated.
    return parsed(
        kind,
        json.loads(row.fit)
        | {
            "version": row.id,
            "run_id": row.run_id,
            "made_at": row.made_at,
            "coupling_facility": row.coupling_facility,
            "cfcc_level": row.cfcc_level,
            "state": row.state,
            "is_current": row.is_current,
            "is_simulated": row.is_simulated,
            "reason": row.reason or None,
        },
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
