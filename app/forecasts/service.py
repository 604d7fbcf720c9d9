"""Forecasts as pages and answers show them: what the nightly run stored, beside the days that it was made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.database.engine import Database, DatabaseUnusable
from app.fits.errors import ForecastNotFound
from app.nightly import repository
from app.nightly.models import DailyStructureUsage, Forecast, ForecastScore
from app.nightly.urgency import RecentUsage, most_urgent
from planner_core.units import ceil_div
from planner_core.urgency import Fullness

MEASURES: Mapping[str, str] = {
    "entries": "List entries",
    "elements": "List elements",
    "smds_blocks": "SMDS blocks",
}
"""By the word that is stored: how it is called. The order is that of a page."""
UNITS = {"entries": "entries", "elements": "elements", "smds_blocks": "blocks"}
MOST_EARLIER = 12
"""Earlier forecasts of a series whose scores are shown."""
MOST_HISTORY_DAYS = 730
MOST_LOOKED_AT = 50
LONGEST_QSG, LONGEST_STRUCTURE = 4, 16


@dataclass(frozen=True, slots=True)
class Crossing:
    """When the daily peak first passes a level. A date that is None lies beyond the horizon."""

    level: str
    value: float | None
    state: str
    sentence: str
    probability: float | None
    days: tuple[int | None, int | None, int | None]
    dates: tuple[date | None, date | None, date | None]
    last_crossed: date | None
    probability_with_exceptional: float | None = None
    """The same if exceptional days come as often as they did."""
    usual_day: int | None = None
    """The first day whose middle estimate is above the level."""


@dataclass(frozen=True, slots=True)
class Resized:
    """What a larger total would buy."""

    name: str
    factor: float
    sentence: str
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True, slots=True)
class Band:
    """One day of the forecast."""

    day: date
    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class CrossingScore:
    """A level: the day that was said and the day that came, both counted from the day the forecast was made on."""

    level: str
    predicted: int | None
    actual: int | None
    error_days: int | None
    in_interval: bool | None


@dataclass(frozen=True, slots=True)
class Score:
    """A forecast held against the days that followed it. Shares, not percentages."""

    days: int
    wape: float | None
    pinball: float | None
    coverage80: float | None
    sentence: str
    crossings: tuple[CrossingScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Earlier:
    """A forecast that was made before, and what became of it."""

    id: int
    made_on: date
    crossings: tuple[Crossing, ...]
    score: Score | None


@dataclass(frozen=True, slots=True)
class StructureForecast:
    """The forecast of one measure of a structure."""

    id: int
    run_id: int
    qsg: str
    structure: str
    measure: str
    queue_manager: str
    state: str
    is_simulated: bool
    sentence: str
    made_on: date
    first_day: date | None
    last_day: date | None
    days_measured: int
    horizon_days: int
    model: str
    growth: tuple[float, float, float] | None
    """Of the usual peak in 30 days, as a share: p10, p50, p90."""
    bands: tuple[Band, ...]
    highest: tuple[float, float, float] | None
    crossings: tuple[Crossing, ...]
    resizes: tuple[Resized, ...]
    notes: tuple[str, ...]
    week_peak: float | None = None
    """The highest of the last measured peak of each weekday."""
    total: float | None = None
    """How much there is of it now; None where no record says it."""
    full: Fullness | None = None
    """That the structure, or the data set of the queue manager, is full or was in the last days."""

    @property
    def week_percent(self) -> float | None:
        """The highest of the last week, of how much there is now."""
        if self.week_peak is None or not self.total:
            return None
        return 100 * self.week_peak / self.total

    @property
    def title(self) -> str:
        """What it is of, in words."""
        name = MEASURES.get(self.measure, self.measure)
        return f"{name} of {self.queue_manager}" if self.queue_manager else name

    @property
    def key(self) -> str:
        """What tells it from the other measures of the structure: in addresses and identifiers."""
        return f"{self.measure}-{self.queue_manager}" if self.queue_manager else self.measure

    @property
    def unit(self) -> str:
        """What its figures count."""
        return UNITS.get(self.measure, self.measure)

    @property
    def first_crossing(self) -> Crossing | None:
        """The level that is passed first: one that is passed already, else the one with the earliest middle estimate."""
        crossed = [each for each in self.crossings if each.state == "already_crossed"]
        dated = [each for each in self.crossings if each.dates[1] is not None]
        likely = [each for each in self.crossings if each.state == "possible"]
        if crossed:
            return crossed[-1]
        if dated:
            return min(dated, key=lambda each: each.dates[1] or date.max)
        return max(likely, key=lambda each: each.probability or 0, default=None)


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest value of one day, and what there was of it. None: not measured."""

    day: date
    value: int | None
    total: int | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """One measure of a structure: what was, what is to come, and how earlier forecasts did."""

    forecast: StructureForecast
    peaks: tuple[Peak, ...]
    score: Score | None
    earlier: tuple[Earlier, ...]


@dataclass(frozen=True, slots=True)
class ForecastPage:
    """One page of a list, the most urgent first."""

    items: tuple[tuple[StructureForecast, Score | None], ...]
    total: int
    page: int
    pages: int


def list_forecasts(session: Session, *, page: int = 1, per_page: int = 50) -> ForecastPage:
    """The latest forecast of every series; each with the last score of an earlier one of the same series."""
    rows, total = most_urgent(session, offset=(page - 1) * per_page, limit=per_page)
    items = tuple((_predicted(row.forecast, row.full), _last_score(session, row.forecast)) for row in rows)
    return ForecastPage(items, total, page, max(1, ceil_div(total, per_page)))


@dataclass(frozen=True, slots=True)
class ForecastSummary:
    """What all forecasts come to."""

    full: tuple[StructureForecast, ...]
    """A measure of each structure or data set that is or was full, the most urgent first."""
    first: StructureForecast | None
    """The measure of another structure whose level is passed first; None where none is within the horizon."""
    horizon_days: int


def outcome(database: Database) -> ForecastSummary | None:
    """For pages that need no database: None where there is no forecast, or where the database does not answer.

    Simulated structures are spoken of only where there are no others.
    """
    try:
        with database.session(writes=False) as session:
            rows, _ = most_urgent(session, offset=0, limit=MOST_LOOKED_AT, measured_only=True)
            if not rows:
                rows, _ = most_urgent(session, offset=0, limit=MOST_LOOKED_AT)
    except (DatabaseUnusable, OperationalError):
        return None
    if not rows:
        return None
    full: dict[tuple[str, ...], StructureForecast] = {}
    for row in rows:
        if row.full is not None:
            one = _predicted(row.forecast, row.full)
            full.setdefault((one.qsg, one.structure, one.queue_manager), one)
    is_full = {key[:2] for key in full}
    first = next(
        (
            found
            for row in rows
            if row.full is None
            and row.forecast.earliest_crossing_day is not None
            and (row.forecast.qsg, row.forecast.structure) not in is_full
            and (found := _predicted(row.forecast)).first_crossing is not None
        ),
        None,
    )
    return ForecastSummary(tuple(full.values()), first, rows[0].forecast.horizon_days)


def outlooks(session: Session, qsg: str, structure: str) -> tuple[Outlook, ...]:
    """Every measure of a structure, with its history and how earlier forecasts did.

    Raises:
        ForecastNotFound: There is no forecast of it.
    """
    rows: Sequence[Forecast] = ()
    if (
        0 < len(qsg) <= LONGEST_QSG
        and 0 < len(structure) <= LONGEST_STRUCTURE
        and "\0" not in qsg + structure
    ):
        rows, _ = repository.page_of_forecasts(session, offset=0, limit=200, qsg=qsg, structure=structure)
    if not rows:
        raise ForecastNotFound(qsg[:LONGEST_QSG], structure[:LONGEST_STRUCTURE])
    last = max(row.last_day or row.made_on for row in rows)
    days = repository.daily_usage(session, qsg, structure, begin=last - timedelta(days=MOST_HISTORY_DAYS))
    known = RecentUsage.of(session, qsg)
    order = list(MEASURES)
    ranked = sorted(rows, key=lambda row: (_rank(order, row.measure), row.queue_manager))
    return tuple(
        _outlook(session, row, days, known.full((qsg, structure), row.measure, row.queue_manager))
        for row in ranked
    )


# ---- out of rows -----------------------------------------------------------------------------------------------------


def _rank(order: Sequence[str], measure: str) -> int:
    return order.index(measure) if measure in order else len(order)


def _outlook(
    session: Session, row: Forecast, days: Sequence[DailyStructureUsage], full: Fullness | None
) -> Outlook:
    series = repository.forecasts_of_series(
        session, qsg=row.qsg, structure=row.structure, measure=row.measure, queue_manager=row.queue_manager,
        limit=MOST_EARLIER + 1,
    )  # fmt: skip
    scores = repository.last_scores(session, [each.id for each in series])
    earlier = [
        Earlier(
            each.id,
            each.made_on,
            _predicted(each).crossings,
            _score(scores[each.id]) if each.id in scores else None,
        )
        for each in series
        if each.id != row.id
    ][:MOST_EARLIER]
    score = next((each.score for each in earlier if each.score is not None), None)
    return Outlook(_predicted(row, full), tuple(_peaks(row, days)), score, tuple(earlier))


def _last_score(session: Session, row: Forecast) -> Score | None:
    """Of the newest earlier forecast of the series that was held against what followed."""
    series = repository.forecasts_of_series(
        session, qsg=row.qsg, structure=row.structure, measure=row.measure, queue_manager=row.queue_manager,
        limit=MOST_EARLIER + 1,
    )  # fmt: skip
    scores = repository.last_scores(session, [each.id for each in series])
    return next((_score(scores[each.id]) for each in series if each.id in scores), None)


def _peaks(row: Forecast, days: Sequence[DailyStructureUsage]) -> Iterable[Peak]:
    for day in days:
        if row.measure == "smds_blocks":
            of = [each for each in day.smds or () if each.get("queue_manager") == row.queue_manager]
            if of:
                yield Peak(day.day, of[0].get("blocks_peak"), of[0].get("blocks_total"))
        elif row.measure == "entries":
            yield Peak(day.day, day.entries_peak, day.entries_total)
        else:
            yield Peak(day.day, day.elements_peak, day.elements_total)


def _predicted(row: Forecast, full: Fullness | None = None) -> StructureForecast:
    found: Mapping[str, Any] = json.loads(row.forecast)
    quantiles = found.get("quantiles") or {}
    return StructureForecast(
        id=row.id,
        run_id=row.run_id,
        qsg=row.qsg,
        structure=row.structure,
        measure=row.measure,
        queue_manager=row.queue_manager,
        state=row.state,
        is_simulated=row.is_simulated,
        sentence=found.get("sentence") or "",
        made_on=row.made_on,
        first_day=row.first_day,
        last_day=row.last_day,
        days_measured=found.get("days_measured") or 0,
        horizon_days=row.horizon_days,
        model=found.get("model") or "",
        growth=_three(found.get("growth_per_30_days")),
        bands=tuple(
            Band(row.made_on + timedelta(days=nth), *each)
            for nth, each in enumerate(
                zip(*(quantiles.get(name) or () for name in ("p10", "p50", "p90")), strict=True), start=1
            )
        ),
        highest=_three(found.get("highest")),
        crossings=tuple(map(_crossing, found.get("crossings") or ())),
        resizes=tuple(
            Resized(each["name"], each["factor"], each["sentence"], tuple(map(_crossing, each["crossings"])))
            for each in found.get("resizes") or ()
        ),
        notes=tuple(found.get("notes") or ()),
        week_peak=max(((found.get("baselines") or {}).get("last_week") or ()), default=None),
        total=found.get("total"),
        full=full,
    )


def _crossing(found: Mapping[str, Any]) -> Crossing:
    days, dates = found.get("days") or {}, found.get("dates") or {}
    return Crossing(
        level=found["level"],
        value=found.get("value"),
        state=found["state"],
        sentence=found["sentence"],
        probability=found.get("probability_within_horizon"),
        days=(days.get("p10"), days.get("p50"), days.get("p90")),
        dates=(_day(dates.get("p10")), _day(dates.get("p50")), _day(dates.get("p90"))),
        last_crossed=_day(found.get("last_crossed")),
        probability_with_exceptional=found.get("probability_with_exceptional_days"),
        usual_day=found.get("usual_day"),
    )


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _three(found: Mapping[str, float] | None) -> tuple[float, float, float] | None:
    return None if found is None else (found["p10"], found["p50"], found["p90"])


def _score(row: ForecastScore) -> Score:
    found: Mapping[str, Any] = json.loads(row.score)
    return Score(
        row.days_scored,
        row.wape,
        row.pinball,
        row.coverage80,
        found.get("sentence") or "",
        tuple(
            CrossingScore(
                level=each["level"],
                predicted=each.get("predicted"),
                actual=each.get("actual"),
                error_days=each.get("error_days"),
                in_interval=each.get("in_interval"),
            )
            for each in found.get("crossings", ())
        ),
    )
