"""The stored form of forecasts of the nightly run, and of their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from planner_core.contracts.files import Stored
from planner_core.contracts.rollup import Few, Qsg, StructureName
from planner_core.wire import Answer

IsSimulated = Annotated[bool, Field(description="Whether it is based on simulated data.")]
ForecastState = Literal["forecast", "flat", "too_short", "out_of_date", "not_measured"]
CrossingState = Literal["within", "possible", "beyond", "already_crossed", "no_limit", "no_forecast"]
Quantiles = Mapping[str, float]
"""Values by quantile: `p10`, `p50` and `p90`."""
LevelKind = Literal["offload", "full_threshold", "full", "size"]


@dataclass(frozen=True, slots=True)
class QuantileDays(Answer):
    """Days after the day of the forecast; null means beyond the horizon."""

    p10: int | None = None
    p50: int | None = None
    p90: int | None = None


@dataclass(frozen=True, slots=True)
class QuantileDates(Answer):
    """The same days as dates."""

    p10: date | None = None
    p50: date | None = None
    p90: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing(Answer):
    """The time at which the daily peak first passes a level.

    `days` and `dates` assume ordinary days. `probability_with_exceptional_days` includes exceptional ones, such as a
    day with a stopped consumer.
    """

    level: str
    value: float | None = None
    reached: Stored[bool] = False
    """True if reaching the level counts as passing it, because no value can be above it."""
    state: CrossingState
    sentence: str
    probability_within_horizon: Annotated[
        float | None,
        Field(
            description="Share of forecast courses without exceptional days that pass the level. Null: not known."
        ),
    ] = None
    probability_with_exceptional_days: Annotated[
        float | None,
        Field(
            description="The same share if exceptional days remain as frequent as before. Null: not known."
        ),
    ] = None
    days: QuantileDays = QuantileDays()
    dates: QuantileDates = QuantileDates()
    # Usually later than `days.p50`, which depends on the busiest of many days.
    usual_day: Annotated[
        int | None, Field(description="The first day whose median estimate is above the level.")
    ] = None
    last_crossed: Annotated[date | None, Field(description="The last measured day above the level.")] = None
    days_crossed: Stored[int] = 0
    """The number of measured days of the forecast whose peak was above the level."""


@dataclass(frozen=True, slots=True)
class Resized(Answer):
    """The crossings of levels after an increase of the total."""

    name: str
    factor: float
    sentence: str
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True, slots=True)
class StraightLine:
    """The straight line through all measured peaks."""

    at_made_on: float
    per_day: float


@dataclass(frozen=True, slots=True)
class Baselines:
    """Forecasts of the simplest rules; scores compare the forecast with them."""

    last_value: float
    last_week: tuple[float, ...]
    """The last measured peak of each weekday, Monday first."""
    line: StraightLine


@dataclass(frozen=True, slots=True)
class ForecastLevel:
    """A level of a forecast, and its kind."""

    name: str
    kind: LevelKind
    percent: int | float
    value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Answer):
    """The future daily peaks of one measure of a structure, and the times at which they pass the levels."""

    schema: Stored[int] = 1
    qsg: Qsg
    structure: StructureName
    measure: Annotated[
        str,
        Field(min_length=1, max_length=12, description="`entries`, `elements` or `smds_blocks`."),
    ]
    queue_manager: Annotated[
        str | None,
        Field(max_length=4, description="The owner of a shared message data set; null for other objects."),
    ] = None
    unit: str = ""
    state: Annotated[
        ForecastState, Field(description="`forecast`, or the reason why there is none, such as `too_short`.")
    ]
    sentence: str = ""
    is_simulated: IsSimulated = False
    made_on: date
    first_day: date | None = None
    last_day: date | None = None
    days_measured: int = 0
    horizon_days: Few
    model: str | None = None
    growth_per_30_days: Stored[Quantiles | None] = None
    """The change of the usual peak in 30 days, as a share."""
    quantiles: Stored[Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    """The peak of each day by `p10`, `p50` and `p90`, from the day after `made_on`. Empty without a forecast."""
    highest: Stored[Quantiles | None] = None
    """The highest peak within the horizon."""
    crossings: tuple[Crossing, ...] = ()
    resizes: tuple[Resized, ...] = ()
    baselines: Stored[Baselines | None] = None
    notes: tuple[str, ...] = ()
    """Spikes, level shifts and gaps in the history that the forecast considers."""
    total: Stored[int | None] = None
    """The value at which the structure is full; None if it is not known."""
    levels: Stored[tuple[ForecastLevel, ...]] = ()


@dataclass(frozen=True, slots=True)
class CrossingScore(Answer):
    """A level of a forecast: the predicted day and the actual day."""

    level: str
    predicted: Annotated[
        int | None,
        Field(description="The median estimate, in days from the day on which the forecast was made."),
    ]
    actual: Annotated[
        int | None, Field(description="The first ordinary day above the level; null: not so far.")
    ]
    error_days: Annotated[
        int | None,
        Field(description="Predicted day minus actual day; null if either is not known."),
    ]
    in_interval: Annotated[
        bool | None, Field(description="Whether it fell within the 80 % interval; null: not yet known.")
    ]


Share = Annotated[float | None, Field(description="A share: 0.1 is ten percent. Null: not known.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Answer):
    """A forecast compared with the days that followed it."""

    forecast_id: Stored[int] = 0
    days_scored: Few = 0
    days_past: Stored[int] = 0
    """Days of the horizon up to the last measured day, including days without measurements."""
    complete: Stored[bool] = False
    """True if the whole horizon is in the past."""
    wape: Share = None
    """Sum of the absolute errors of p50 over the sum of the peaks."""
    pinball: float | None = None
    """Mean pinball loss of p10, p50 and p90 over the mean peak."""
    coverage80: Share = None
    """Share of the days whose peak is between p10 and p90."""
    wape_of_rules: Stored[Mapping[str, float]] = field(default_factory=dict)
    """WAPE of the simplest rules."""
    sentence: str = ""
    crossings: tuple[CrossingScore, ...] = ()


def first_crossing(crossings: Iterable[Crossing]) -> Crossing | None:
    """Return the level passed first: one already passed, or else the earliest by median estimate, or the likeliest."""
    known = tuple(crossings)
    crossed = [each for each in known if each.state == "already_crossed"]
    dated = [each for each in known if each.dates.p50 is not None]
    likely = [each for each in known if each.state == "possible"]
    if crossed:
        return crossed[-1]
    if dated:
        return min(dated, key=lambda each: each.dates.p50 or date.max)
    return max(likely, key=lambda each: each.probability_within_horizon or 0, default=None)
