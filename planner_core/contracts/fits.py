"""The stored form of curves and message mixes that the nightly run fits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer

from planner_core.contracts.files import Stored
from planner_core.wire import Answer, Omittable

FitKind = Literal["two_costs", "bundle"]

# The job writes whole numbers where an allocation did not change, and files keep them that way; answers have floats.
Figure = Annotated[int | float, PlainSerializer(float, return_type=float)]


@dataclass(frozen=True, slots=True)
class Estimate(Answer):
    """A figure in bytes, and the interval that contains the true figure with the confidence of the fit."""

    value: float
    low: float
    high: float


def rounded(estimate: Estimate | None) -> Estimate | None:
    """Return an estimate rounded as it is stored."""
    if estimate is None:
        return None
    return Estimate(round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3))


Estimated = Annotated[Estimate | None, Field(description="Null if the data do not determine it.")]


@dataclass(frozen=True, slots=True)
class Cut(Answer):
    """A day on which the series of a structure was divided, and the reason."""

    structure: str
    day: date
    why: str
    """A sentence without its period: `reallocated with 512M`."""


@dataclass(frozen=True, slots=True)
class LeftOut(Answer):
    """A reason why observations are not used in a fit, and the number of structure days that it applies to."""

    why: str
    count: int


@dataclass(frozen=True, slots=True)
class RatioCount:
    """A number of elements per entry in the data, and the number of points that have it."""

    elements_per_entry: float
    points: int


@dataclass(frozen=True, slots=True)
class Residuals:
    """The distance of the used points from the curve [bytes, and as a share of the size]."""

    deviation_bytes: float
    largest_bytes: float
    largest_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FitPoint(Answer):
    """One point of the fit: an allocation over the days on which it did not change."""

    qsg: str | None = None
    structure: str
    allocated_at: Stored[datetime | None] = None
    first_day: date
    last_day: date
    days: int
    observations: int
    size_bytes: Figure
    entries: Figure
    elements: Figure
    fitted_bytes: Annotated[
        Figure | None, Field(description="Size on the curve for these entries and elements.")
    ] = None
    residual_bytes: Annotated[Figure | None, Field(description="The size minus the size on the curve.")] = (
        None
    )
    left_out: Annotated[str | None, Field(description="Why the point is not in the fit; null if it is.")] = (
        None
    )

    @property
    def elements_per_entry(self) -> float | None:
        """Return the ratio of elements to entries; None if there are no entries."""
        return self.elements / self.entries if self.entries else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingAnswers(Answer):
    """The sizing answers that a curve was fitted to, and the figures that only such answers determine."""

    sources: Annotated[
        tuple[str, ...],
        Field(description="Origin of the points: the sizing service and its release, who measured, when."),
    ]
    size_cost: Annotated[
        Estimate | None,
        Field(
            description="Bytes of control storage in INITSIZE for each byte of SIZE; null if not determined."
        ),
    ] = None
    size_multiple: Annotated[
        float | None,
        Field(
            description="SIZE as a multiple of INITSIZE, up to which the curve includes the control storage for SIZE; null if "
            "`size_cost` or `largest_size_bytes` states it."
        ),
    ] = None
    largest_size_bytes: Annotated[
        int | None,
        Field(
            description="The SIZE of all points, if it is the same: the base includes the control storage for it."
        ),
    ] = None
    not_separable: Annotated[
        tuple[str, ...], Field(description="Figures that the points do not determine, each with the reason.")
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveFit(Answer):
    """The cost of structures on one coupling facility, fitted to its own allocations, or to sizing answers.

    `state` is `fitted`; `rejected` if the figures contradict the definition of elements, with the figures and
    `reason`; or `too_little` if there are no figures, with `reason`.
    """

    # Not a Literal: the application narrows it to the states that it stores.
    state: Annotated[str, Field(pattern="^(fitted|rejected|too_little)$")]
    reason: Annotated[
        str | None, Field(description="Why the fit was rejected, or which data are missing.")
    ] = None
    coupling_facility: Annotated[str | None, Field(max_length=8)] = None
    cfcc_level: Annotated[int | None, Field(ge=0, le=999)] = None
    qsgs: tuple[str, ...] = ()
    confidence: Annotated[
        float, Field(description="Confidence level of the intervals: 0.9 is 90 percent.")
    ] = 0.9
    kind: Annotated[
        FitKind | None,
        Field(
            description="`two_costs` if the data hold several ratios of entries to elements; `bundle` if they hold one."
        ),
    ] = None
    note: str | None = None
    """A remark for planners, such as that entries and elements cannot be separated."""
    base_bytes: Estimated = None
    entry_bytes: Estimated = None
    element_bytes: Estimated = None
    bundle_bytes: Annotated[Estimate | None, Field(description="An entry with its elements, at `ratio`.")] = (
        None
    )
    ratio: Annotated[tuple[int, int], Field(description="Ratio of entries to elements in the bundle.")] = (
        1,
        6,
    )
    """(1, 6), or the only ratio in the data."""
    ratios: Stored[tuple[RatioCount, ...]] = ()
    structures: int = 0
    points_used: int = 0
    points_left_out: tuple[LeftOut, ...] = ()
    cuts: Stored[tuple[Cut, ...]] = ()
    first_day: date | None = None
    last_day: date | None = None
    residuals: Stored[Residuals | None] = None
    points: Stored[tuple[FitPoint, ...]] = ()
    answers: Annotated[
        Omittable[SizingAnswers], Field(description="For a curve fitted to sizing answers: their origin.")
    ] = None


@dataclass(frozen=True, slots=True)
class QueueMix:
    """A queue of a mix, its messages and their mean size."""

    queue: str
    puts: int
    mean_bytes: float


@dataclass(frozen=True, slots=True)
class MixFit:
    """The messages of one structure. If the data does not determine `header_bytes`, `header_note` states the reason."""

    qsg: str | None
    structure: str
    first_day: date
    last_day: date
    days: int
    puts: int
    mean_bytes: float
    p50_bytes: float
    p95_bytes: float
    """Quantiles over messages, each with the mean size of its queue and day: no record has the sizes of individual
    messages."""
    smallest_bytes: int | None
    largest_bytes: int | None
    persistent_share: float | None
    queues: tuple[QueueMix, ...]
    """The queues, those with the most bytes first."""
    header_bytes: Estimate | None
    """Its interval is the range in which the most days agree; it is not a confidence interval."""
    header_note: str
    elements_per_message: float | None = None
    """Mean number of elements of the entries that were written with data; None if no source counts them."""
