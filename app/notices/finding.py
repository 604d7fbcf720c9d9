"""Find events in stored results, and store a notice for each of them once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.forecasts.limits import ForecastLimits, limits_of
from app.forecasts.service import MEASURES
from app.jobs.models import JobState
from app.nightly.urgency import SMDS, RankedSeries, ranked_series
from app.notices import repository
from app.notices.models import LimitBaseline, Notice, NoticeKind, NoticeProgress
from app.notices.moves import Move, Reported, day_of, move_of, sentence_of, severity_of
from app.settings import Settings
from app.usage.urgency import urgency_of_structures
from planner_core.simulated import has_simulated_name
from planner_core.urgency import FULL_DAYS

OLDEST_EVENT: Final = timedelta(days=2)
"""Age from which the failure of a nightly run is no longer reported, for a service that was down for long."""
LONGEST_LINE: Final = 200
OLDEST_FULL_DAY: Final = timedelta(days=FULL_DAYS)
"""Age of the last full day from which a full structure is not reported, so that old dumps can be uploaded without alarm. As
long as the period of the overview, counted back from now instead of from the last records."""
_FULL_SOURCE = f"Measured: records of the last {FULL_DAYS} days of the group (SMF 115 and 74-4, displays), hourly and daily peaks."
_NIGHTLY_SOURCE = "The state of the job in cfplan's database."


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something to report."""

    key: str
    kind: NoticeKind
    severity: str
    title: str
    text: str
    source: str
    path: str
    qsg: str = ""
    structure: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


def find_events(session: Session, settings: Settings, now: datetime) -> int:
    """Store notices about events since the last look, and return their number; the caller commits.

    The first look only notes the dates of all limits, because none of them has moved.
    """
    events = [*_full_structures(session, now), *_nightly_events(session, settings, now)]
    known = repository.known_keys(session, [each.key for each in events])
    new = [each for each in events if each.key not in known]
    quiet = timedelta(hours=settings.notice_quiet_hours)
    for each in new:
        session.add(_notice(session, each, now=now, quiet=quiet))
        session.flush()  # the next event of the same structure must see it
    # A notice about an event that is still found must stay, because it would be stored and sent again.
    repository.purge(session, now - timedelta(days=settings.notice_days), keeps={each.key for each in events})
    return len(new)


def _notice(session: Session, event: Event, *, now: datetime, quiet: timedelta) -> Notice:
    last = repository.last_due(session, event.kind, event.qsg, event.structure)
    due = now
    if last is not None:
        # One that waits already takes the new one along. If the clock was set back, `last` may be far ahead.
        due = min(last, now + quiet) if last > now else max(now, last + quiet)
    return Notice(
        key=event.key, kind=event.kind.value, severity=event.severity, qsg=event.qsg, structure=event.structure,
        title=event.title[:LONGEST_LINE], text=event.text, source=event.source, path=event.path, figures=event.figures,
        created_at=now, due_at=due, message_id=None,
    )  # fmt: skip


# ---- full structures -------------------------------------------------------------------------------------------------


def _full_structures(session: Session, now: datetime) -> Iterator[Event]:
    oldest = (now - OLDEST_FULL_DAY).date()
    for each in urgency_of_structures(session):
        qsg, structure = each.key
        if each.full is not None and each.full.last >= oldest and not has_simulated_name(qsg):
            yield Event(
                key=f"full:{qsg}:{structure}::{each.full.last.isoformat()}",
                kind=NoticeKind.STRUCTURE_FULL,
                severity="error",
                qsg=qsg,
                structure=structure,
                title=f"Structure {structure} of {qsg} was full",
                text=f"{each.full.sentence}.",
                source=_FULL_SOURCE,
                path=f"/usage/{_in_address(qsg)}/{_in_address(structure)}",
                figures=each.full.as_json(),
            )
    for series in ranked_series(session):
        qsg, structure = series.structure
        if series.row.measure != SMDS or has_simulated_name(qsg):
            continue
        if series.full is not None and series.full.last >= oldest:
            owner = series.row.queue_manager
            yield Event(
                key=f"full:{qsg}:{structure}:{owner}:{series.full.last.isoformat()}",
                kind=NoticeKind.STRUCTURE_FULL,
                severity="error",
                qsg=qsg,
                structure=structure,
                title=f"Data set of {owner} for {structure} of {qsg} was full",
                text=f"Shared message data set of {owner}: {series.full.sentence}.",
                source=_FULL_SOURCE,
                path=_forecast_path(qsg, structure),
                figures={**series.full.as_json(), "queue_manager": owner},
            )


# ---- nightly runs ----------------------------------------------------------------------------------------------------


def _nightly_events(session: Session, settings: Settings, now: datetime) -> Iterator[Event]:
    progress = repository.progress(session)
    is_first = progress is None
    if progress is None:
        progress = NoticeProgress(id=1, last_run_id=0)
        session.add(progress)
    has_results = is_first
    for run in repository.runs_after(session, progress.last_run_id):
        if not repository.is_ended(run.state):
            break
        progress.last_run_id = run.id
        has_results = has_results or run.state == JobState.DONE
        is_recent = run.ended_at is not None and run.ended_at >= now - OLDEST_EVENT
        if run.state == JobState.FAILED and is_recent and not is_first:
            yield Event(
                key=f"nightly_failed:{run.id}",
                kind=NoticeKind.NIGHTLY_FAILED,
                severity="error",
                title=f"Nightly run {run.id} failed",
                text=f"{run.sentence}\nForecasts and findings are those of the last successful run.",
                source=_NIGHTLY_SOURCE,
                path=f"/nights/{run.id}",
                figures={"nightly_run": run.id},
            )
    if has_results:
        yield from _moves(session, settings, is_first=is_first)


def _moves(session: Session, settings: Settings, *, is_first: bool) -> Iterator[Event]:
    """Yield an event for each measure with limits that have moved, and note the dates that are reported."""
    series = [each for each in ranked_series(session) if not has_simulated_name(each.row.qsg)]
    forecasts = limits_of(session, [each.number for each in series])
    known = dict(repository.baselines(session))
    seen: set[tuple[str, ...]] = set()
    for each in series:
        forecast = forecasts.get(each.number)
        if forecast is None or not forecast.limits:
            continue
        seen.add((*each.structure, each.row.measure, each.row.queue_manager))
        moves = []
        for limit in forecast.limits:
            key = (*each.structure, each.row.measure, each.row.queue_manager, limit.level)
            baseline = known.pop(key, None)
            before = None if baseline is None else Reported(baseline.day, baseline.is_passed, baseline.value)
            move = move_of(limit, forecast, before, least_days=settings.notice_moved_days)
            if baseline is None:
                baseline = LimitBaseline(
                    **dict(zip(("qsg", "structure", "measure", "queue_manager", "level"), key, strict=True)),
                    day=None,
                    is_passed=False,
                    value=None,
                    made_on=forecast.made_on,
                )
                session.add(baseline)
                is_noted = True
            else:
                is_noted = move is not None
            if is_noted or limit.is_passed != baseline.is_passed:
                baseline.day = day_of(limit, forecast)
                baseline.is_passed, baseline.made_on = limit.is_passed, forecast.made_on
                baseline.value = limit.value
            if move is not None and not is_first:
                moves.append(move)
        if moves:
            yield _moved(each, forecast, moves)
    # A level that the forecast of its series no longer has, because a threshold was changed. A series without a forecast in
    # this run may only lack data for some days, and its date has not moved then.
    for row in known.values():
        if (row.qsg, row.structure, row.measure, row.queue_manager) in seen:
            session.delete(row)


def _moved(series: RankedSeries, forecast: ForecastLimits, moves: Sequence[Move]) -> Event:
    qsg, structure = series.structure
    measure, owner = series.row.measure, series.row.queue_manager
    title = MEASURES.get(measure, measure) + (f" of {owner}" if owner else "")
    first = moves[0]
    what = (
        "is expected within the horizon"
        if first.direction == "into the horizon"
        else f"moved {first.direction}"
    )
    if first.limit.is_passed:
        what = "is passed"
    return Event(
        key=f"moved:{qsg}:{structure}:{measure}:{owner}:{forecast.made_on.isoformat()}:{_digest(moves, forecast)}",
        kind=NoticeKind.DATE_MOVED,
        severity=severity_of(moves),
        qsg=qsg,
        structure=structure,
        title=f"{structure} of {qsg}: the date of {_few(each.limit.level for each in moves)} {what}",
        text="\n".join([f"{title}:", *(f"- {sentence_of(each, forecast)}" for each in moves)]),
        source=(
            f"Forecast of {forecast.made_on.isoformat()} from daily peaks"
            f"{f' until {forecast.last_day.isoformat()}' if forecast.last_day else ''}; estimates, not measurements."
        ),
        path=_forecast_path(qsg, structure),
        figures={
            "measure": measure,
            "queue_manager": owner or None,
            "made_on": forecast.made_on.isoformat(),
            "limits": [
                {
                    "level": each.limit.level,
                    "value": each.limit.value,
                    "value_before": None if each.before is None else each.before.value,
                    "is_passed": each.limit.is_passed,
                    "before": None
                    if each.before is None or each.before.day is None
                    else each.before.day.isoformat(),
                    "dates": each.limit.dates.as_json(),
                }
                for each in moves
            ],
        },
    )


def _digest(moves: Sequence[Move], forecast: ForecastLimits) -> str:
    """Return a text that differs if a second run on the same day moves dates once more."""
    text = ";".join(f"{each.limit.level}={day_of(each.limit, forecast)}" for each in moves)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _few(levels: Iterable[str]) -> str:
    names = list(levels)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more limits"


def _forecast_path(qsg: str, structure: str) -> str:
    return f"/forecasts/{_in_address(qsg)}/{_in_address(structure)}"


def _in_address(name: str) -> str:
    return quote(name, safe="")
