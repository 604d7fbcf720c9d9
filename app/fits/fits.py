"""Fits as pages and answers show them: what the nightly run stored, read into plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.fits.errors import CurveNotFound
from app.nightly import repository
from app.nightly.models import FitState, FitVersion
from planner_core.sizing.structure_size import Curve, published_curve, published_curves
from planner_core.units import ceil_div

MOST_PER_PAGE = 200
LARGEST_VERSION = 2**62


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and the interval that holds the true one with the fit's confidence [bytes]."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FitPoint:
    """An allocation as long as it stayed as it was."""

    qsg: str | None
    structure: str
    first_day: str
    last_day: str
    days: int
    observations: int
    size_bytes: float
    entries: float
    elements: float
    fitted_bytes: float | None
    residual_bytes: float | None
    left_out: str | None

    @property
    def elements_per_entry(self) -> float | None:
        """The ratio; None where there are no entries."""
        return self.elements / self.entries if self.entries else None


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the series of a structure was cut, and why."""

    structure: str
    day: str
    why: str


@dataclass(frozen=True, slots=True)
class Fit:
    """One version: what a coupling facility charges, how sure that is, and what it rests on."""

    version: int
    run_id: int
    coupling_facility: str
    cfcc_level: int | None
    state: FitState
    reason: str
    is_current: bool
    is_simulated: bool
    made_at: datetime
    first_day: date | None
    last_day: date | None
    qsgs: tuple[str, ...]
    confidence_percent: float
    kind: str
    note: str
    base: Estimate | None
    entry: Estimate | None
    element: Estimate | None
    bundle: Estimate | None
    ratio: tuple[int, int]
    ratios: tuple[tuple[float, int], ...]
    """Elements for each entry, and at how many points."""
    structures: int
    points_used: int
    left_out: tuple[tuple[str, int], ...]
    cuts: tuple[Cut, ...]
    deviation_bytes: float | None
    largest_bytes: float | None
    largest_share: float | None
    points: tuple[FitPoint, ...]

    @property
    def is_usable(self) -> bool:
        """Whether plans may name it: it was accepted, and tells what an entry costs at the ratio of allocation."""
        return self.state is FitState.ACCEPTED and not self.is_of_other_ratio

    @property
    def is_of_other_ratio(self) -> bool:
        """Whether it knows an entry with its elements at one ratio only, which is not that of allocation."""
        initial = published_curves()[-1]
        ratio = (initial.ratio_entries, initial.ratio_elements)
        return self.bundle is not None and self.element is None and self.ratio != ratio

    @property
    def published(self) -> Curve | None:
        """The published curve of the same CFCC level; None where the level is not known."""
        return None if self.cfcc_level is None else published_curve(cfcc_level=self.cfcc_level).curve


@dataclass(frozen=True, slots=True)
class FitPage:
    """One page of a list."""

    items: tuple[Fit, ...]
    total: int
    page: int
    pages: int


def list_fits(session: Session, *, page: int = 1, per_page: int = 50, current_only: bool = False) -> FitPage:
    """Fits, the newest first; `current_only`: of each coupling facility and level the last accepted one."""
    rows, total = repository.page_of_curves(
        session, offset=(page - 1) * per_page, limit=per_page, current_only=current_only
    )
    return FitPage(tuple(map(_fit, rows)), total, page, max(1, ceil_div(total, per_page)))


def current_fits(session: Session) -> tuple[Fit, ...]:
    """The last accepted fit of each coupling facility and level, by their names."""
    return tuple(map(_fit, repository.current_curves(session)))


def newest_fits(session: Session) -> tuple[Fit, ...]:
    """The newest fit of every coupling facility, also those that were rejected: their observations hold all the same."""
    return tuple(map(_fit, repository.newest_curves(session)))


def fits_of_run(session: Session, run_id: int) -> tuple[Fit, ...]:
    """What a night brought, in its order."""
    return tuple(map(_fit, repository.curves_of_run(session, run_id)))


def get_fit(session: Session, version: int) -> Fit:
    """One version.

    Raises:
        CurveNotFound: There is none.
    """
    row = repository.find_curve(session, version) if 0 < version <= LARGEST_VERSION else None
    if row is None:
        raise CurveNotFound(version)
    return _fit(row)


def other_fits(session: Session, fit: Fit, *, most: int = 20) -> tuple[Fit, ...]:
    """The other fits of the same coupling facility and level, the newest first."""
    row = repository.find_curve(session, fit.version)
    if row is None:
        return ()
    rows = repository.curves_of_scope(session, row.scope, limit=most + 1)
    return tuple(_fit(each) for each in rows if each.id != fit.version)[:most]


def _fit(row: FitVersion) -> Fit:
    found: Mapping[str, Any] = json.loads(row.fit)
    residuals = found.get("residuals") or {}
    return Fit(
        version=row.id,
        run_id=row.run_id,
        coupling_facility=row.coupling_facility,
        cfcc_level=row.cfcc_level,
        state=FitState(row.state),
        reason=row.reason,
        is_current=row.is_current,
        is_simulated=row.is_simulated,
        made_at=row.made_at,
        first_day=row.first_day,
        last_day=row.last_day,
        qsgs=tuple(found.get("qsgs") or ()),
        confidence_percent=100 * float(found.get("confidence", 0.9)),
        kind=found.get("kind") or "",
        note=found.get("note") or "",
        base=_estimate(found.get("base_bytes")),
        entry=_estimate(found.get("entry_bytes")),
        element=_estimate(found.get("element_bytes")),
        bundle=_estimate(found.get("bundle_bytes")),
        ratio=_ratio(found.get("ratio") or (1, 6)),
        ratios=tuple((each["elements_per_entry"], each["points"]) for each in found.get("ratios") or ()),
        structures=found.get("structures") or 0,
        points_used=found.get("points_used") or 0,
        left_out=tuple((each["why"], each["count"]) for each in found.get("points_left_out") or ()),
        cuts=tuple(Cut(each["structure"], each["day"], each["why"]) for each in found.get("cuts") or ()),
        deviation_bytes=residuals.get("deviation_bytes"),
        largest_bytes=residuals.get("largest_bytes"),
        largest_share=residuals.get("largest_share"),
        points=tuple(map(_point, found.get("points") or ())),
    )


def _estimate(found: Mapping[str, float] | None) -> Estimate | None:
    return None if found is None else Estimate(found["value"], found["low"], found["high"])


def _ratio(found: Sequence[int]) -> tuple[int, int]:
    return int(found[0]), int(found[1])


def _point(found: Mapping[str, Any]) -> FitPoint:
    return FitPoint(
        qsg=found.get("qsg"),
        structure=found["structure"],
        first_day=found["first_day"],
        last_day=found["last_day"],
        days=found["days"],
        observations=found["observations"],
        size_bytes=found["size_bytes"],
        entries=found["entries"],
        elements=found["elements"],
        fitted_bytes=found.get("fitted_bytes"),
        residual_bytes=found.get("residual_bytes"),
        left_out=found.get("left_out"),
    )
