"""The limits of forecasts, without the figures of each day."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy.orm import Session

from app.database.portions import portions
from app.database.row_cache import RowCache
from app.nightly import repository as night_rows
from planner_core.contracts.files import parsed
from planner_core.contracts.forecasts import Crossing, QuantileDates
from planner_core.wire import JsonObject


@dataclass(frozen=True, slots=True)
class ExpectedLimit:
    """A limit of one measure that is passed already, or that may be passed within the horizon of the forecast."""

    level: str
    value: float | None
    """The value of the measure at the limit."""
    is_passed: bool
    dates: QuantileDates
    """The 80 % interval and the median; None is beyond the horizon."""


@dataclass(frozen=True, slots=True)
class ForecastLimits:
    """All limits of a forecast, including those that it does not expect to be passed."""

    made_on: date
    last_day: date | None
    """The last day of its data."""
    horizon_days: int
    limits: tuple[ExpectedLimit, ...]


# Not the cache of the overview, which reads one forecast of each structure: each would discard what only the other needs.
_LIMITS = RowCache[int, ForecastLimits](most=60_000)


def limits_of(session: Session, forecast_ids: Sequence[int]) -> Mapping[int, ForecastLimits]:
    """Return the limits of each forecast by its number."""

    def load(missing: Sequence[int]) -> Iterator[tuple[int, ForecastLimits]]:
        for some in portions(missing):
            for number, row in night_rows.forecasts_by_id(session, some).items():
                limits = tuple(
                    ExpectedLimit(each.level, each.value, each.state == "already_crossed", each.dates)
                    for each in crossings_of(json.loads(row.forecast))
                )
                yield number, ForecastLimits(row.made_on, row.last_day, row.horizon_days, limits)

    return _LIMITS.read(session, forecast_ids, load)


def crossings_of(written: JsonObject) -> tuple[Crossing, ...]:
    """Return the crossings of a stored forecast."""
    # Only the crossings are validated: the quantiles of all days, which are most of a forecast, are not shown.
    return tuple(parsed(Crossing, each) for each in written.get("crossings") or ())
