"""Forecasts of nightly runs, together with the days that they were made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, TypeVar

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.nightly import repository
from app.nightly.models import DailyStructureUsage, StoredForecast
from app.nightly.urgency import RankedForecast, RecentUsage, all_ranked_forecasts, ranked_forecasts
from app.paging import ListRequest, ResultPage
from planner_core.contracts.files import Stored, parsed, parsed_text
from planner_core.contracts.forecasts import Crossing, Forecast, Resized, Score, first_crossing
from planner_core.findings import Finding
from planner_core.urgency import Fullness
from planner_core.wire import Answer, Hidden

MEASURES: Mapping[str, str] = {
    "entries": "List entries",
    "elements": "List elements",
    "smds_blocks": "SMDS blocks",
}
"""Titles of the measures by their stored names, in the order of the page."""
MOST_EARLIER = 12
"""Maximum number of earlier forecasts of a series that are shown with their scores."""
MOST_HISTORY_DAYS = 730
ALL_FORECASTS = ListRequest()
LONGEST_QSG, LONGEST_STRUCTURE = 4, 16

AnyForecast = TypeVar("AnyForecast", bound=Forecast)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureForecast(Forecast):
    """The latest forecast of one measure of a structure."""

    id: int
    run_id: int
    model: Stored[str] = ""
    resizes: Stored[tuple[Resized, ...]] = ()
    notes: Stored[tuple[str, ...]] = ()
    fullness: Annotated[Fullness | None, Field(description="Null if it was not full in the last 7 days.")] = (
        None
    )
    score: Annotated[
        Score | None, Field(description="The score of the newest earlier forecast that could be scored.")
    ] = None
    used_percent: Stored[float | None] = None
    """The highest use in the last days with records, as a percentage of the total of its day; only in lists."""

    @property
    def title(self) -> str:
        """The title of the measure."""
        name = MEASURES.get(self.measure, self.measure)
        return f"{name} of {self.queue_manager}" if self.queue_manager else name

    @property
    def key(self) -> str:
        """A key that is unique among the measures of the structure, for addresses and identifiers."""
        return f"{self.measure}-{self.queue_manager}" if self.queue_manager else self.measure

    @property
    def has_forecast(self) -> bool:
        """False if the days measured so far do not allow a forecast, as its sentence explains."""
        return self.state in {"forecast", "flat"}

    @property
    def first_crossing(self) -> Crossing | None:
        """The level that the measure passes first; None if it passes none within the horizon."""
        return first_crossing(self.crossings)


@dataclass(frozen=True, slots=True)
class MeasuredDay(Answer):
    """The highest value of one day, and the total of that day. None means not measured."""

    day: date
    peak: Annotated[int | None, Field(description="Null if not measured.")]
    total: Annotated[int | None, Field(description="The total. Null if not measured.")]


@dataclass(frozen=True, slots=True)
class Band(Answer):
    """One day of the forecast."""

    day: date
    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class EarlierForecast(Answer):
    """An earlier forecast of the same measure, and its score."""

    id: int
    made_on: date
    crossings: Hidden[tuple[Crossing, ...]]
    score: Score | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook(StructureForecast):
    """One measure of a structure: its history, its forecast, and the scores of earlier forecasts."""

    qsg: Stored[str]
    structure: Stored[str]
    run_id: Stored[int]
    model: str = ""
    resizes: tuple[Resized, ...] = ()
    notes: tuple[str, ...] = ()
    fullness: Stored[Fullness | None] = None
    peaks: Annotated[tuple[MeasuredDay, ...], Field(description="Daily peaks of up to two years.")]
    earlier: tuple[EarlierForecast, ...]

    @computed_field(description="Quantiles of the peak of each future day.")
    @property
    def bands(self) -> tuple[Band, ...]:
        """The forecast by day."""
        rows = zip(*(self.quantiles.get(name, ()) for name in ("p10", "p50", "p90")), strict=True)
        return tuple(Band(self.made_on + timedelta(days=nth), *row) for nth, row in enumerate(rows, start=1))


@dataclass(frozen=True, slots=True)
class StructureOutlook(Answer):
    """All measures of a structure that have a forecast."""

    qsg: str
    structure: str
    forecasts: tuple[Outlook, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ForecastPage(ResultPage[StructureForecast]):
    """One page of the forecasts: full structures first, then those that run out soonest."""

    items: Annotated[tuple[StructureForecast, ...], Field(serialization_alias="forecasts")]


def list_forecasts(session: Session, asked: ListRequest = ALL_FORECASTS) -> ForecastPage:
    """Return the latest forecast of every series, each with the last score of an earlier one of the same series.

    Without a requested order, the most urgent forecasts are first.
    """
    rows, total = ranked_forecasts(session, asked)
    scores = _last_scores(session, [each.forecast for each in rows])
    items = tuple(_ranked(each, scores.get(each.forecast.id)) for each in rows)
    return ForecastPage.of(items, total, asked.page)


def all_forecasts(session: Session, asked: ListRequest = ALL_FORECASTS) -> Iterator[StructureForecast]:
    """Yield the latest forecast of every series in the requested order, without scores.

    Only a portion of the forecasts is in memory at a time.
    """
    return map(_ranked, all_ranked_forecasts(session, asked))


def outlooks(session: Session, qsg: str, structure: str) -> tuple[Outlook, ...]:
    """Return every measure of a structure, with its history and the scores of earlier forecasts.

    Raises:
        NotFound: The structure has no forecast.
    """
    # Longer names match nothing, and PostgreSQL rejects texts with a null character.
    rows: Sequence[StoredForecast] = ()
    if (
        0 < len(qsg) <= LONGEST_QSG
        and 0 < len(structure) <= LONGEST_STRUCTURE
        and "\0" not in qsg + structure
    ):
        rows, _ = repository.page_of_forecasts(session, offset=0, limit=200, qsg=qsg, structure=structure)
    if not rows:
        name = f"{structure[:LONGEST_STRUCTURE]} of group {qsg[:LONGEST_QSG]}"
        message = f"There is no forecast for structure {name}."
        raise NotFound(message)
    last = max(row.last_day or row.made_on for row in rows)
    days = repository.daily_usage(session, qsg, structure, begin=last - timedelta(days=MOST_HISTORY_DAYS))
    known = RecentUsage.of(session, qsg)
    order = list(MEASURES)
    ranked = sorted(rows, key=lambda row: (_rank(order, row.measure), row.queue_manager))
    return tuple(
        _outlook(session, row, days, known.full((qsg, structure), row.measure, row.queue_manager))
        for row in ranked
    )


def growth_of(session: Session, qsg: str, structure: str) -> tuple[float, float, float, date] | None:
    """Return the growth of the entries in use in 30 days, as quantiles p10, p50 and p90, and the day of the forecast.

    None if the structure has no forecast of entries with a growth.
    """
    rows, _ = repository.page_of_forecasts(session, offset=0, limit=200, qsg=qsg, structure=structure)
    for row in rows:
        if row.measure == "entries":
            growth = parsed_text(Forecast, row.forecast).growth_per_30_days
            if growth is not None:
                return growth["p10"], growth["p50"], growth["p90"], row.made_on
    return None


def _ranked(each: RankedForecast, score: Score | None = None) -> StructureForecast:
    return _read(
        StructureForecast,
        each.forecast,
        fullness=each.full,
        used_percent=each.used_percent,
        score=score,
    )


# ---- from rows -----------------------------------------------------------------------------------------------------


def _rank(order: Sequence[str], measure: str) -> int:
    return order.index(measure) if measure in order else len(order)


def _outlook(
    session: Session, row: StoredForecast, days: Sequence[DailyStructureUsage], full: Fullness | None
) -> Outlook:
    series, scores = _scored_series(session, row)
    earlier = tuple(
        EarlierForecast(
            each.id, each.made_on, parsed_text(Forecast, each.forecast).crossings, scores.get(each.id)
        )
        for each in series
        if each.id != row.id
    )[:MOST_EARLIER]
    score = next((each.score for each in earlier if each.score is not None), None)
    return _read(Outlook, row, fullness=full, score=score, earlier=earlier, peaks=tuple(_peaks(row, days)))


def _last_scores(session: Session, rows: Sequence[StoredForecast]) -> Mapping[int, Score]:
    """Return, by the number of a forecast, the score of the newest forecast of its series that has one."""
    series = {row.id: repository.numbers_of_series(session, row, limit=MOST_EARLIER + 1) for row in rows}
    scores = repository.last_scores(session, [number for numbers in series.values() for number in numbers])
    found = {}
    for number, numbers in series.items():
        newest = next((scores[each] for each in numbers if each in scores), None)
        if newest is not None:
            found[number] = parsed_text(Score, newest.score)
    return found


def _scored_series(
    session: Session, row: StoredForecast
) -> tuple[Sequence[StoredForecast], Mapping[int, Score]]:
    series = repository.forecasts_of_series(
        session, qsg=row.qsg, structure=row.structure, measure=row.measure, queue_manager=row.queue_manager,
        limit=MOST_EARLIER + 1,
    )  # fmt: skip
    scores = repository.last_scores(session, [each.id for each in series])
    return series, {number: parsed_text(Score, each.score) for number, each in scores.items()}


def _peaks(row: StoredForecast, days: Sequence[DailyStructureUsage]) -> Iterable[MeasuredDay]:
    for day in days:
        if row.measure == "smds_blocks":
            own = [each for each in day.smds or () if each.get("queue_manager") == row.queue_manager]
            if own:
                yield MeasuredDay(day.day, own[0].get("blocks_peak"), own[0].get("blocks_total"))
        elif row.measure == "entries":
            yield MeasuredDay(day.day, day.entries_peak, day.entries_total)
        else:
            yield MeasuredDay(day.day, day.elements_peak, day.elements_total)


def _read(kind: type[AnyForecast], row: StoredForecast, **members: object) -> AnyForecast:
    # The mark of simulated data is set for a whole group after the job has written its forecasts.
    found = json.loads(row.forecast)
    of_row = {"id": row.id, "run_id": row.run_id, "is_simulated": row.is_simulated}
    return parsed(kind, found | of_row | {"model": found.get("model") or ""} | members)
