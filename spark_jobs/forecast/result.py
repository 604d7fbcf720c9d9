"""What a forecast says, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from spark_jobs.forecast.peaks import iso

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = 1
QUANTILES = (0.1, 0.5, 0.9)
NAMES = ("p10", "p50", "p90")
DIGITS = 6
"""Significant digits of what is written down."""

State = Literal["forecast", "flat", "too_short", "out_of_date", "not_measured"]
CrossingState = Literal["within", "possible", "beyond", "already_crossed", "no_limit", "no_forecast"]


@dataclass(frozen=True, slots=True)
class Crossing:
    """When the daily peak first passes a level.

    Days are counted from the day the forecast was made on; None stands for a day beyond the horizon. They are those of
    ordinary days: what a day far out of the ordinary would do (a consumer that stood still) is told by
    `probability_with_exceptional_days`. `last_crossed` is the last measured day that passed the level.
    """

    level: str
    value: float | None
    reached: bool
    state: CrossingState
    sentence: str
    probability_within_horizon: float | None = None
    probability_with_exceptional_days: float | None = None
    """The same when days as exceptional as those of the history are as frequent as they were."""
    p10: int | None = None
    p50: int | None = None
    p90: int | None = None
    usual: int | None = None
    """The first day whose p50 is above the level: later than `p50` of the crossing, which the busiest of many days decides."""
    last_crossed: int | None = None
    days_crossed: int = 0
    """Measured days above the level, of all that the forecast is made from."""

    def as_json(self, *, made_on: int) -> dict[str, Any]:
        """JSON-ready; with the dates that the days stand for."""
        days = {name: getattr(self, name) for name in NAMES}
        return {
            "level": self.level,
            "value": self.value,
            "reached": self.reached,
            "state": self.state,
            "sentence": self.sentence,
            "probability_within_horizon": rounded(self.probability_within_horizon),
            "probability_with_exceptional_days": rounded(self.probability_with_exceptional_days),
            "days": days,
            "dates": {name: None if day is None else iso(made_on + day) for name, day in days.items()},
            "usual_day": self.usual,
            "last_crossed": None if self.last_crossed is None else iso(self.last_crossed),
            "days_crossed": self.days_crossed,
        }


@dataclass(frozen=True, slots=True)
class Resized:
    """What a larger total would buy: the crossings of its levels."""

    name: str
    factor: float
    sentence: str
    crossings: tuple[Crossing, ...]

    def as_json(self, *, made_on: int) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "name": self.name,
            "factor": self.factor,
            "sentence": self.sentence,
            "crossings": [crossing.as_json(made_on=made_on) for crossing in self.crossings],
        }


@dataclass(frozen=True, slots=True)
class Baselines:
    """What the simplest rules would have said, so that the score can tell whether the forecast was worth having."""

    last_value: float
    last_week: tuple[float, ...]
    """The last measured peak of each weekday, Monday first."""
    line_at_made_on: float
    line_per_day: float

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "last_value": rounded(self.last_value),
            "last_week": [rounded(value) for value in self.last_week],
            "line": {"at_made_on": rounded(self.line_at_made_on), "per_day": rounded(self.line_per_day)},
        }


@dataclass(frozen=True, slots=True)
class Forecast:
    """One measure's peaks over the days to come, and when they pass the levels."""

    qsg: str
    structure: str
    measure: str
    queue_manager: str | None
    unit: str
    state: State
    sentence: str
    made_on: int
    horizon_days: int
    first_day: int | None
    last_day: int | None
    days_measured: int
    model: str | None
    growth_per_30_days: tuple[float, float, float] | None = None
    """How much the usual peak changes in 30 days, as a share: p10, p50, p90."""
    quantiles: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """p10, p50 and p90 of the peak of each day, from the day after `made_on`."""
    highest: tuple[float, float, float] | None = None
    """p10, p50 and p90 of the highest peak within the horizon."""
    crossings: tuple[Crossing, ...] = ()
    resizes: tuple[Resized, ...] = ()
    baselines: Baselines | None = None
    notes: tuple[str, ...] = ()
    """What was seen in the history and taken into account: spikes, shifts of level, gaps."""

    def as_json(self) -> dict[str, Any]:
        """JSON-ready: what is stored, and what `score` takes."""
        return {
            "schema": SCHEMA,
            "qsg": self.qsg,
            "structure": self.structure,
            "measure": self.measure,
            "queue_manager": self.queue_manager,
            "unit": self.unit,
            "state": self.state,
            "sentence": self.sentence,
            "made_on": iso(self.made_on),
            "horizon_days": self.horizon_days,
            "first_day": None if self.first_day is None else iso(self.first_day),
            "last_day": None if self.last_day is None else iso(self.last_day),
            "days_measured": self.days_measured,
            "model": self.model,
            "growth_per_30_days": named(self.growth_per_30_days),
            "quantiles": {
                name: [rounded(value) for value in values] for name, values in self.quantiles.items()
            },
            "highest": named(self.highest),
            "crossings": [crossing.as_json(made_on=self.made_on) for crossing in self.crossings],
            "resizes": [resized.as_json(made_on=self.made_on) for resized in self.resizes],
            "baselines": None if self.baselines is None else self.baselines.as_json(),
            "notes": list(self.notes),
        }


def rounded(value: float | None) -> float | None:
    """To as many digits as are worth storing; always finite."""
    return None if value is None else float(f"{value:.{DIGITS}g}")


def named(values: Sequence[float] | None) -> dict[str, float | None] | None:
    """Quantiles with their names."""
    return (
        None if values is None else {name: rounded(value) for name, value in zip(NAMES, values, strict=True)}
    )
