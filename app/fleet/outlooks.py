"""The forecast of one measure of a structure, and the limit that it passes first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy.orm import Session

from app.database.portions import portions
from app.fleet.answers import FleetLimit
from app.fleet.row_cache import RowCache
from app.forecasts.service import MEASURES
from app.nightly import repository as night_rows
from app.nightly.models import StoredForecast
from planner_core.contracts.files import parsed
from planner_core.contracts.forecasts import Crossing, QuantileDates, first_crossing
from planner_core.wire import JsonObject


@dataclass(frozen=True, slots=True)
class ForecastOutlook:
    """A forecast without its figures for each day."""

    limit: FleetLimit | None
    sentence: str
    made_on: date
    earliest_crossing_day: date | None
    horizon_days: int
    has_figures: bool


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
    limits: tuple[ExpectedLimit, ...]


# Two caches, because the overview reads one forecast of each structure, and the metrics read all of them: in one cache,
# each would discard what only the other needs.
_OUTLOOKS = RowCache[int, ForecastOutlook](most=20_000)


def outlooks(session: Session, forecast_ids: Sequence[int]) -> Mapping[int, ForecastOutlook]:
    """Return the outlook of each forecast by its number."""

    def load(missing: Sequence[int]) -> Iterator[tuple[int, ForecastOutlook]]:
        for number, row in night_rows.forecasts_by_id(session, missing).items():
            yield number, _outlook(row)

    return _OUTLOOKS.read(session, forecast_ids, load)


_LIMITS = RowCache[int, ForecastLimits](most=60_000)


def limits_of(session: Session, forecast_ids: Sequence[int]) -> Mapping[int, ForecastLimits]:
    """Return the limits of each forecast by its number."""

    def load(missing: Sequence[int]) -> Iterator[tuple[int, ForecastLimits]]:
        for some in portions(missing):
            for number, row in night_rows.forecasts_by_id(session, some).items():
                crossings = _crossings(row)
                limits = tuple(
                    ExpectedLimit(each.level, each.value, each.state == "already_crossed", each.dates)
                    for each in crossings
                )
                yield number, ForecastLimits(row.made_on, row.last_day, limits)

    return _LIMITS.read(session, forecast_ids, load)


def _outlook(row: StoredForecast) -> ForecastOutlook:
    written = json.loads(row.forecast)
    first = first_crossing(_parsed_crossings(written))
    return ForecastOutlook(
        limit=None if first is None else _limit(row, first),
        sentence=str(written.get("sentence") or ""),
        made_on=row.made_on,
        earliest_crossing_day=row.earliest_crossing_day,
        horizon_days=row.horizon_days,
        has_figures=row.state in night_rows.FORECAST_STATES,
    )


def _crossings(row: StoredForecast) -> tuple[Crossing, ...]:
    return _parsed_crossings(json.loads(row.forecast))


def _parsed_crossings(written: JsonObject) -> tuple[Crossing, ...]:
    # Only the crossings are validated: the quantiles of all days, which are most of a forecast, are not shown.
    return tuple(parsed(Crossing, each) for each in written.get("crossings") or ())


def _limit(row: StoredForecast, first: Crossing) -> FleetLimit:
    title = MEASURES.get(row.measure, row.measure)
    return FleetLimit(
        measure=f"{title} of {row.queue_manager}" if row.queue_manager else title,
        level=first.level,
        is_passed=first.state == "already_crossed",
        days=first.days,
        dates=first.dates,
        made_on=row.made_on,
        horizon_days=row.horizon_days,
    )
