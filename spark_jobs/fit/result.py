"""What a fit says: its figures with intervals, what it rests on, and what was left out and why."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["fitted", "rejected", "too_little"]
Kind = Literal["two_costs", "bundle"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and the interval that holds the true one with the fit's confidence [bytes]."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the series of a structure was cut."""

    structure: str
    day: dt.date
    why: str
    """As a sentence without its full stop: `allocated anew with 512 MiB`."""


@dataclass(frozen=True, slots=True)
class FitPoint:
    """One allocation as long as it stayed as it was: one point of the fit."""

    qsg: str | None
    structure: str
    allocated_at: dt.datetime | None
    first_day: dt.date
    last_day: dt.date
    days: int
    observations: int
    size_bytes: float
    entries: float
    elements: float
    fitted_bytes: float | None
    """What the curve gives for these entries and elements; None without a curve."""
    left_out: str | None
    """Why the point is not in the fit; None: it is."""

    @property
    def residual_bytes(self) -> float | None:
        """The size less what the curve gives."""
        return None if self.fitted_bytes is None else self.size_bytes - self.fitted_bytes


@dataclass(frozen=True, slots=True)
class Ratio:
    """Elements for each entry that occur, and at how many points of the fit."""

    elements_per_entry: float
    points: int


@dataclass(frozen=True, slots=True)
class Residuals:
    """How far the points used are from the curve [bytes, and as a share of the size]."""

    deviation_bytes: float
    largest_bytes: float
    largest_share: float


@dataclass(frozen=True, slots=True)
class CurveFit:
    """What structures cost on one coupling facility, fitted to its own allocations.

    `state` is `fitted`; `rejected` where the figures contradict what elements are, with the figures and `reason`; or
    `too_little` where there are no figures, with `reason`.
    """

    state: State
    reason: str | None
    coupling_facility: str | None
    cfcc_level: int | None
    qsgs: tuple[str, ...]
    confidence: float
    kind: Kind | None
    """`two_costs` where the data hold several ratios; `bundle` where they hold one; None without figures."""
    note: str | None
    """What a planner should know of the fit: that entries and elements cannot be told apart, for one."""
    base_bytes: Estimate | None
    entry_bytes: Estimate | None
    element_bytes: Estimate | None
    bundle_bytes: Estimate | None
    """One entry with its elements, at `ratio`."""
    ratio: tuple[int, int]
    """Entries to elements of the bundle: (1, 6), or the only ratio that the data hold."""
    ratios: tuple[Ratio, ...]
    structures: int
    points_used: int
    points_left_out: tuple[tuple[str, int], ...]
    """Why, and how many days of a structure."""
    cuts: tuple[Cut, ...]
    first_day: dt.date | None
    last_day: dt.date | None
    residuals: Residuals | None
    points: tuple[FitPoint, ...]

    def as_json(self) -> dict[str, Any]:
        """JSON-ready: days as YYYY-MM-DD, times in ISO 8601."""
        return {
            "state": self.state,
            "reason": self.reason,
            "coupling_facility": self.coupling_facility,
            "cfcc_level": self.cfcc_level,
            "qsgs": list(self.qsgs),
            "confidence": self.confidence,
            "kind": self.kind,
            "note": self.note,
            "base_bytes": estimate_json(self.base_bytes),
            "entry_bytes": estimate_json(self.entry_bytes),
            "element_bytes": estimate_json(self.element_bytes),
            "bundle_bytes": estimate_json(self.bundle_bytes),
            "ratio": list(self.ratio),
            "ratios": [asdict(ratio) for ratio in self.ratios],
            "structures": self.structures,
            "points_used": self.points_used,
            "points_left_out": [{"why": why, "count": count} for why, count in self.points_left_out],
            "cuts": [{"structure": c.structure, "day": c.day.isoformat(), "why": c.why} for c in self.cuts],
            "first_day": _iso(self.first_day),
            "last_day": _iso(self.last_day),
            "residuals": asdict(self.residuals) if self.residuals else None,
            "points": [_point(point) for point in self.points],
        }


def estimate_json(estimate: Estimate | None) -> dict[str, float] | None:
    """An estimate as JSON."""
    if estimate is None:
        return None
    return {"value": round(estimate.value, 3), "low": round(estimate.low, 3), "high": round(estimate.high, 3)}


def _iso(moment: dt.date | dt.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _point(point: FitPoint) -> dict[str, Any]:
    found = asdict(point)
    found["allocated_at"] = _iso(point.allocated_at)
    found["first_day"], found["last_day"] = point.first_day.isoformat(), point.last_day.isoformat()
    residual = point.residual_bytes
    found["residual_bytes"] = None if residual is None else round(residual, 1)
    found["fitted_bytes"] = None if point.fitted_bytes is None else round(point.fitted_bytes, 1)
    return found
