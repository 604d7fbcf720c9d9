"""RESULT.json, the results of a nightly run: checked, and stored in one transaction with the end of the run.

The row of the run decides who may store: a keeper that has lost the run stores nothing, and a run is stored once.
Storing the same results twice changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError
from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.nightly import repository
from app.nightly.models import (
    DailyStructureUsage,
    FitState,
    FitVersion,
    ForecastScore,
    NightlyRun,
    StoredFinding,
    StoredForecast,
    StoredHealth,
)
from planner_core.contracts.files import parsed, plain
from planner_core.contracts.fits import CurveFit
from planner_core.contracts.forecasts import Forecast, first_crossing
from planner_core.contracts.nightly import DailyFigures, NightlyFinding, NightlyResult
from planner_core.errors import PlannerError
from planner_core.wire import Answer, JsonObject

BATCH = 1_000
SCORED_AFTER_DAYS = (7, 28, 91, 182, 364)
"""Ages at which a forecast is scored, in addition to its horizon."""
GIVEN_UP_AFTER_DAYS = 30
"""Number of days after its horizon during which a forecast still waits for days that were not measured."""
STATES = {
    "fitted": FitState.ACCEPTED,
    "rejected": FitState.REJECTED,
    "too_little": FitState.TOO_LITTLE,
}

ADDED = frozenset({"answers"})
"""Members of results that were added after the first stored ones."""
DAILY = tuple(field.name for field in fields(DailyFigures))
Item = TypeVar("Item")


class ResultInvalid(PlannerError):
    """The file is not the result of a nightly run, because the job and the application have different versions."""

    def __init__(self, fault: str) -> None:
        """Include the error in the message."""
        super().__init__(
            f"The results of the nightly run cannot be stored: {fault}. Install the same version of the jobs and the service."
        )


@dataclass(frozen=True, slots=True)
class Result:
    """A validated result, and the JSON that it was read from."""

    checked: NightlyResult
    written: JsonObject

    def texts(self, kind: str) -> list[str]:
        """Return each member of a list as JSON text, always formatted in the same way."""
        # The digest of this text shows whether a fit or a forecast has changed, so it must not depend on the version of the
        # contract that read it.
        return [
            json.dumps(
                # A member that earlier versions did not write would change the digest of every unchanged fit.
                {name: value for name, value in each.items() if name not in ADDED or value is not None},
                ensure_ascii=False,
                sort_keys=True,
                separators=(",", ":"),
            )
            for each in self.written.get(kind) or ()
        ]


@dataclass(frozen=True, slots=True)
class StoredCounts(Answer):
    """The number of results that a run stored."""

    curves: Annotated[int, Field(description="Fits that differ from the previous one.")]
    curves_unchanged: int
    forecasts: int
    forecasts_unchanged: int
    scores: int
    findings: int
    days: Annotated[int, Field(description="Days of structures whose peaks were stored again.")]


def read_result(path: Path) -> Result:
    """Read the file that the job wrote.

    Raises:
        ResultInvalid: The file cannot be read, or is not a valid result.
    """
    try:
        written = json.loads(path.read_bytes())
        return Result(parsed(NightlyResult, written), written)
    except ValidationError as error:
        first = error.errors()[0]
        at = "/".join(map(str, first["loc"]))
        fault = f"{at}: {first['msg']}"
    except ValueError as error:
        fault = f"{path.name} is not JSON: {error}"
    except OSError as error:
        fault = f"{path.name} cannot be read: {error.strerror}"
    raise ResultInvalid(fault)


def store(session: Session, run: NightlyRun, result: Result, *, at: datetime) -> StoredCounts:
    """Store the results of a run; the caller commits them together with its end.

    Args:
        session: The session of the transaction that ends the run.
        run: The run.
        result: The results.
        at: The current time.
    """
    night = result.checked
    simulated = set(night.simulated)
    curves = _store_curves(session, run, result, simulated, at=at)
    forecasts = _store_forecasts(session, run, result, simulated)
    scores = _store_scores(session, run, result, at=at)
    findings = _store_findings(session, run, night.findings, simulated)
    days = _store_days(session, night)
    _store_health(session, run, result, simulated)
    stored = StoredCounts(
        curves,
        len(night.curves) - curves,
        forecasts,
        len(night.forecasts) - forecasts,
        scores,
        findings,
        days,
    )
    run.stored_at = at
    run.first_day, run.last_day = night.first_day, night.last_day
    run.days_total, run.days_reduced, run.rows_read = night.days_total, night.days_reduced, night.rows_read
    run.seconds, run.counts = dict(night.seconds), stored.as_json()
    run.mixes, run.published = (
        json.dumps(result.written.get("mixes") or []),
        json.dumps(dict(night.published)),
    )
    # `published` is as large as the history, and only that of the last run is compared.
    repository.drop_published(session, but=run.id)
    session.flush()
    return stored


# ---- curves ----------------------------------------------------------------------------------------------------------


def _store_curves(
    session: Session, run: NightlyRun, result: Result, simulated: set[str], *, at: datetime
) -> int:
    """Store fits that have changed. A rejected fit leaves the current one of its scope in place."""
    last = repository.last_curves(session)
    stored = 0
    for curve, fit in zip(result.checked.curves, result.texts("curves"), strict=True):
        scope = scope_of(curve.coupling_facility, curve.cfcc_level)
        is_simulated = bool(curve.qsgs) and simulated.issuperset(curve.qsgs)
        row = store_fit(
            session, curve, fit, scope=scope, last=last.get(scope), at=at, run_id=run.id, is_simulated=is_simulated
        )  # fmt: skip
        stored += row is not None
    return stored


def store_fit(
    session: Session, curve: CurveFit, text: str, *, scope: str, last: FitVersion | None, at: datetime,
    run_id: int | None = None, is_simulated: bool = False,
) -> FitVersion | None:  # fmt: skip
    """Store a fit as a new version, unless it equals the last one of its scope.

    Args:
        session: The session.
        curve: The fit.
        text: Its JSON.
        scope: Its key: fits with the same one replace each other as the current fit.
        last: The last fit of this scope.
        at: The current time.
        run_id: The nightly run that produced it, if any.
        is_simulated: Whether it was fitted to simulated data.
    """
    digest = _digest(text)
    if last is not None and last.digest == digest:
        return None
    state = STATES[curve.state]
    is_current = state == FitState.ACCEPTED
    if is_current:
        repository.unmark_current(session, scope)
    row = FitVersion(
        run_id=run_id, scope=scope, coupling_facility=curve.coupling_facility or "", digest=digest,
        cfcc_level=curve.cfcc_level, state=state, is_current=is_current, reason=curve.reason or "",
        is_simulated=is_simulated, first_day=curve.first_day, last_day=curve.last_day, made_at=at, fit=text,
        base_bytes=curve.base_bytes.value if curve.base_bytes else None,
        bundle_bytes=curve.bundle_bytes.value if curve.bundle_bytes else None,
        points=curve.points_used,
    )  # fmt: skip
    session.add(row)
    session.flush()  # the next fit of the same scope replaces it as the current one
    return row


def scope_of(coupling_facility: str | None, cfcc_level: int | None) -> str:
    """Return a coupling facility and a CFCC level as one key.

    >>> scope_of("CF01", 25), scope_of("CF01", None)
    ('CF01@25', 'CF01@?')
    """
    return f"{coupling_facility or '?'}@{'?' if cfcc_level is None else cfcc_level}"


# ---- forecasts -------------------------------------------------------------------------------------------------------


def _store_forecasts(session: Session, run: NightlyRun, result: Result, simulated: set[str]) -> int:
    """Store forecasts that have changed, and mark exactly the forecasts of this run as the latest.

    A series has at most one forecast a day: a new one replaces the one from an earlier run on the same day.
    """
    latest = {series_of(each): each for each in repository.latest_forecasts(session)}
    # Equal forecasts keep their row: a second run on a day with the same data must not lose scores.
    unchanged: set[int] = set()
    rows = []
    for each, forecast in zip(result.checked.forecasts, result.texts("forecasts"), strict=True):
        digest = _digest(forecast)
        known = latest.get(series_of(each))
        if known is not None and known.digest == digest:
            unchanged.add(known.id)
            continue
        crossing = first_crossing(each.crossings)
        rows.append(
            {
                "run_id": run.id, "qsg": each.qsg, "structure": each.structure, "measure": each.measure,
                "queue_manager": each.queue_manager or "", "state": each.state, "is_latest": True,
                "is_simulated": each.is_simulated or each.qsg in simulated, "made_on": each.made_on, "first_day": each.first_day,
                "last_day": each.last_day, "horizon_days": each.horizon_days,
                "earliest_crossing_day": earliest_crossing(each),
                "probability": crossing.probability_within_horizon if crossing else None,
                "growth_per_30_days": each.growth_per_30_days["p50"] if each.growth_per_30_days else None,
                "score_on": first_score_day(each),
                "digest": digest, "forecast": forecast,
            }
        )  # fmt: skip
    repository.unmark_latest(session, {each.id for each in latest.values()} - unchanged)
    replaced = {(*series_of(each), each.made_on) for each in result.checked.forecasts}
    repository.remove_forecasts(
        session,
        (
            number
            for number, *said in repository.forecasts_made_on(session, {each[-1] for each in replaced})
            if tuple(said) in replaced and number not in unchanged
        ),
    )
    for batch in _batches(rows, BATCH):
        session.execute(insert(StoredForecast), batch)
    return len(rows)


def series_of(forecast: StoredForecast | Forecast) -> tuple[str, str, str, str]:
    """Return the key of a forecast's series: group, structure, measure, and queue manager or an empty text."""
    return forecast.qsg, forecast.structure, forecast.measure, forecast.queue_manager or ""


def earliest_crossing(forecast: Forecast) -> date | None:
    """Return the first day on which the forecast passes one of its levels, by the median estimates.

    A level that has been passed counts as passed on the day of the forecast.
    """
    days = [
        forecast.made_on if each.state == "already_crossed" else each.dates.p50 for each in forecast.crossings
    ]
    return min(filter(None, days), default=None)


def next_score_day(made_on: date, horizon_days: int, *, known_to: date) -> date | None:
    """Return the next day on which a forecast is scored, after `known_to`; None after the last score.

    >>> next_score_day(date(2026, 1, 1), 30, known_to=date(2026, 1, 1)).isoformat()
    '2026-01-08'
    >>> next_score_day(date(2026, 1, 1), 30, known_to=date(2026, 1, 30)).isoformat()
    '2026-01-31'
    """
    ages = sorted({*(age for age in SCORED_AFTER_DAYS if age < horizon_days), horizon_days})
    days = (made_on + timedelta(days=age) for age in ages)
    return next((day for day in days if day > known_to), None)


def first_score_day(forecast: Forecast) -> date | None:
    """Return the first day on which a forecast is scored; None if it has no quantiles."""
    if not forecast.quantiles:
        return None
    return next_score_day(forecast.made_on, forecast.horizon_days, known_to=forecast.made_on)


# ---- scores ----------------------------------------------------------------------------------------------------------


def _store_scores(session: Session, run: NightlyRun, result: Result, *, at: datetime) -> int:
    scores, today = result.checked.scores, result.checked.last_day
    known = repository.forecasts_by_id(session, [each.forecast_id for each in scores])
    stored = 0
    for each, score in zip(scores, result.texts("scores"), strict=True):
        forecast = known.get(each.forecast_id)
        # The forecast was removed meanwhile, or its days are past but not measured yet; a later run scores those.
        if forecast is None or today is None or forecast.score_on is None or forecast.score_on > today:
            continue
        if each.days_scored:
            session.add(
                ForecastScore(
                    forecast_id=forecast.id, run_id=run.id, scored_at=at, days_scored=each.days_scored,
                    wape=each.wape, pinball=each.pinball, coverage80=each.coverage80, score=score,
                )
            )  # fmt: skip
            stored += 1
    if today is not None:
        _move_score_days(session, today)
    return stored


def _move_score_days(session: Session, today: date) -> None:
    """Set the next scoring day of forecasts that were due by today."""
    for forecast in repository.forecasts_to_score(session, today):
        given_up = forecast.made_on + timedelta(days=forecast.horizon_days + GIVEN_UP_AFTER_DAYS)
        following = next_score_day(forecast.made_on, forecast.horizon_days, known_to=today)
        forecast.score_on = None if today >= given_up else following


# ---- findings and days -----------------------------------------------------------------------------------------------


def _store_findings(
    session: Session, run: NightlyRun, findings: Sequence[NightlyFinding], simulated: set[str]
) -> int:
    rows = [
        {
            "run_id": run.id, "position": position, "code": each.code, "severity": each.severity,
            "message": each.message, "source": each.source, "qsg": each.qsg, "structure": each.structure,
            "coupling_facility": each.coupling_facility, "day": each.day, "figures": dict(each.figures),
            "is_simulated": each.is_simulated or each.qsg in simulated,
        }
        for position, each in enumerate(findings)
    ]  # fmt: skip
    for batch in _batches(rows, BATCH):
        session.execute(insert(StoredFinding), batch)
    return len(rows)


def _store_days(session: Session, night: NightlyResult) -> int:
    """Replace the days of this result; a day that is no longer in the history is removed."""
    repository.remove_days(session, {*night.days, *(each.day for each in night.daily)})
    for batch in _batches(map(_day_row, night.daily), BATCH):
        session.execute(insert(DailyStructureUsage), batch)
    return len(night.daily)


def _store_health(session: Session, run: NightlyRun, result: Result, simulated: set[str]) -> None:
    """Replace the health of all structures; a structure that is no longer in the history is removed."""
    repository.remove_health(session)
    rows = [
        {
            "qsg": each.qsg, "structure": each.structure, "run_id": run.id, "has_warning": bool(each.warnings),
            "is_simulated": each.is_simulated or each.qsg in simulated, "health": text,
        }
        for each, text in zip(result.checked.health, result.texts("health"), strict=True)
    ]  # fmt: skip
    for batch in _batches(rows, BATCH):
        session.execute(insert(StoredHealth), batch)


def _day_row(figures: DailyFigures) -> dict[str, Any]:
    return {name: getattr(figures, name) for name in DAILY} | {"smds": plain(figures.smds)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
