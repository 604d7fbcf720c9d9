"""The forecast of one measure of a structure, and the limit that it passes first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy.orm import Session

from app.database.row_cache import RowCache
from app.fleet.answers import FleetLimit
from app.forecasts.limits import crossings_of
from app.forecasts.service import MEASURES
from app.nightly import repository as night_rows
from app.nightly.models import StoredForecast
from planner_core.contracts.forecasts import Crossing, first_crossing


@dataclass(frozen=True, slots=True)
class ForecastOutlook:
    """A forecast without its figures for each day."""

    limit: FleetLimit | None
    sentence: str
    made_on: date
    earliest_crossing_day: date | None
    horizon_days: int
    has_figures: bool


_OUTLOOKS = RowCache[int, ForecastOutlook](most=20_000)


def outlooks(session: Session, forecast_ids: Sequence[int]) -> Mapping[int, ForecastOutlook]:
    """Return the outlook of each forecast by its number."""

    def load(missing: Sequence[int]) -> Iterator[tuple[int, ForecastOutlook]]:
        for number, row in night_rows.forecasts_by_id(session, missing).items():
            yield number, _outlook(row)

    return _OUTLOOKS.read(session, forecast_ids, load)


def _outlook(row: StoredForecast) -> ForecastOutlook:
    written = json.loads(row.forecast)
    first = first_crossing(crossings_of(written))
    return ForecastOutlook(
        limit=None if first is None else _limit(row, first),
        sentence=str(written.get("sentence") or ""),
        made_on=row.made_on,
        earliest_crossing_day=row.earliest_crossing_day,
        horizon_days=row.horizon_days,
        has_figures=row.state in night_rows.FORECAST_STATES,
    )


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
