"""The shapes of the REST answers about nights: runs, findings, the lists of curves and forecasts, the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.fits import fits
from app.fits.answers import CrossingAnswer, ScoreAnswer, crossing_answer, score_answer
from app.forecasts import service as forecasts
from app.nightly.models import NightFinding
from app.nightly.service import Run, RunPage
from app.web.answers import Answer
from planner_core.findings import Finding
from planner_core.urgency import Fullness

Simulated = Annotated[bool, Field(description="It rests on simulated data: no such site exists.")]
State = Literal["queued", "running", "done", "failed"]


# ---- runs ------------------------------------------------------------------------------------------------------------


class SeverityCounts(Answer):
    """How many findings of each severity."""

    error: int
    warning: int
    info: int


class BroughtCounts(Answer):
    """What a run brought."""

    curves: Annotated[int, Field(description="Fits that say something new.")]
    curves_unchanged: int
    forecasts: int
    forecasts_unchanged: int
    scores: int
    findings: int
    days: Annotated[int, Field(description="Days of structures whose peaks were stored anew.")]


class RunMembers(Answer):
    """A nightly run."""

    id: int
    trigger: Annotated[
        Literal["schedule", "request", "command", "simulation"],
        Field(
            description="What it was begun by: the hour, a request or a button, the command line, simulated data."
        ),
    ]
    due_on: Annotated[date | None, Field(description="The night that the schedule began it for.")]
    job_id: Annotated[
        int, Field(description="Its job: /api/v1/jobs/… has its log and, as events, its progress.")
    ]
    state: State
    stage: Annotated[str, Field(description="Such as `reducing` or `fitting`; empty before the first.")]
    done: Annotated[int, Field(description="How much of the stage is done.")]
    total: Annotated[int, Field(description="How much there is in the stage; 0 when that is not known.")]
    sentence: Annotated[str, Field(description="Where it is, or how it ended, in words.")]
    attempts: Annotated[int, Field(description="How often it was begun; more than once when it was cut off.")]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    duration_s: Annotated[float | None, Field(description="From its beginning to its end, or until now.")]
    first_day: Annotated[date | None, Field(description="First day of the usage history.")]
    last_day: date | None
    days_total: Annotated[int | None, Field(description="Days in the usage history; null before the end.")]
    days_reduced: Annotated[
        int | None, Field(description="Days that were new or touched since the last night.")
    ]
    rows_read: int | None
    seconds: Annotated[dict[str, float], Field(description="How long each stage took.")]
    brought: Annotated[BroughtCounts | None, Field(description="What was stored; null before the end.")]
    finding_counts: SeverityCounts


class NightFindingAnswer(Answer):
    """Something to know that a night found."""

    code: Annotated[str, Field(description="Stable name of the rule.")]
    severity: Literal["error", "warning", "info"]
    message: str
    source: Annotated[str, Field(description="On what the rule rests.")]
    qsg: str | None
    structure: str | None
    coupling_facility: str | None
    day: date | None
    figures: Annotated[dict[str, Any], Field(description="The figures of the sentence.")]
    is_simulated: Simulated


class NightlyRunAnswer(RunMembers):
    """A nightly run, asked for by its number, with what it found."""

    night_findings: Annotated[list[NightFindingAnswer], Field(description="Errors first.")]
    findings: list[Finding]


class NightlyRunsAnswer(Answer):
    """One page of the list of nightly runs, the newest first."""

    nightly_runs: list[RunMembers]
    total: Annotated[int, Field(description="Runs on all pages.")]
    page: int
    pages: int
    per_page: int
    findings: list[Finding]


def run_members(run: Run) -> dict[str, Any]:
    """The members of a run."""
    job = run.job
    return {
        "id": run.id,
        "trigger": run.trigger.value,
        "due_on": run.due_on,
        "job_id": job.id,
        "state": job.state.value,
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
        "sentence": job.sentence,
        "attempts": job.attempts,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "duration_s": None if run.duration is None else round(run.duration.total_seconds(), 3),
        "first_day": run.first_day,
        "last_day": run.last_day,
        "days_total": run.days_total,
        "days_reduced": run.days_reduced,
        "rows_read": run.rows_read,
        "seconds": dict(run.seconds),
        "brought": BroughtCounts(**run.counts) if run.counts else None,
        "finding_counts": SeverityCounts(**run.findings),
    }


def run_answer(run: Run, found: Sequence[NightFinding]) -> NightlyRunAnswer:
    """A run as an answer of its own."""
    return NightlyRunAnswer(
        **run_members(run), night_findings=[finding_answer(each) for each in found], findings=[]
    )


def runs_answer(page: RunPage) -> NightlyRunsAnswer:
    """One page of the list."""
    return NightlyRunsAnswer(
        nightly_runs=[RunMembers(**run_members(run)) for run in page.items],
        total=page.total,
        page=page.page,
        pages=page.pages,
        per_page=page.per_page,
        findings=[],
    )


def finding_answer(found: NightFinding) -> NightFindingAnswer:
    """A finding of a night."""
    members = NightFindingAnswer.model_fields
    return NightFindingAnswer(**{name: getattr(found, name) for name in members})


# ---- fitted curves ---------------------------------------------------------------------------------------------------


class EstimateAnswer(Answer):
    """A figure in bytes, and the interval that holds the true one with the fit's confidence."""

    value: float
    low: float
    high: float


Estimated = Annotated[EstimateAnswer | None, Field(description="Null where the data do not tell it.")]


class LeftOutAnswer(Answer):
    """Why observations are not in a fit, and how many days of a structure they are."""

    why: str
    count: int


class CutAnswer(Answer):
    """Where the series of a structure was cut, and why."""

    structure: str
    day: date
    why: str


class FittedCurveMembers(Answer):
    """What a coupling facility charges, fitted to its own allocations."""

    version: Annotated[int, Field(description="What plans name: `{fitted: 17}`.")]
    run_id: Annotated[int, Field(description="The nightly run that made it.")]
    made_at: datetime
    coupling_facility: str
    cfcc_level: Annotated[int | None, Field(description="Null: nobody says it; see /api/v1/cf-levels.")]
    state: Annotated[
        Literal["accepted", "rejected", "too_little"],
        Field(description="Plans may name an accepted one only."),
    ]
    is_current: Annotated[
        bool, Field(description="The last accepted one of its coupling facility and CFCC level.")
    ]
    is_simulated: Simulated
    reason: Annotated[str | None, Field(description="Why it was rejected, or what there is too little of.")]
    kind: Annotated[
        Literal["two_costs", "bundle"] | None,
        Field(
            description="`two_costs` where the data hold several ratios of entries to elements; `bundle` where they hold one."
        ),
    ]
    note: str | None
    confidence: Annotated[float, Field(description="Of the intervals: 0.9 is ninety percent.")]
    base_bytes: Estimated
    entry_bytes: Estimated
    element_bytes: Estimated
    bundle_bytes: Annotated[
        EstimateAnswer | None, Field(description="An entry with its elements, at `ratio`.")
    ]
    ratio: Annotated[list[int], Field(description="Entries to elements of the bundle.")]
    qsgs: list[str]
    structures: int
    points_used: int
    points_left_out: list[LeftOutAnswer]
    first_day: date | None
    last_day: date | None


class FittedCurveAnswer(FittedCurveMembers):
    """One version, with where its series were cut."""

    cuts: list[CutAnswer]
    findings: list[Finding]


class FittedCurvesAnswer(Answer):
    """One page of the fitted curves, the newest first."""

    curves: list[FittedCurveMembers]
    total: Annotated[int, Field(description="Curves on all pages.")]
    page: int
    pages: int
    per_page: int
    findings: list[Finding]


def curve_members(fit: fits.Fit) -> dict[str, Any]:
    """The members of a fitted curve."""
    return {
        "version": fit.version,
        "run_id": fit.run_id,
        "made_at": fit.made_at,
        "coupling_facility": fit.coupling_facility,
        "cfcc_level": fit.cfcc_level,
        "state": fit.state.value,
        "is_current": fit.is_current,
        "is_simulated": fit.is_simulated,
        "reason": fit.reason or None,
        "kind": fit.kind or None,
        "note": fit.note or None,
        "confidence": fit.confidence_percent / 100,
        "base_bytes": _estimate(fit.base),
        "entry_bytes": _estimate(fit.entry),
        "element_bytes": _estimate(fit.element),
        "bundle_bytes": _estimate(fit.bundle),
        "ratio": list(fit.ratio),
        "qsgs": list(fit.qsgs),
        "structures": fit.structures,
        "points_used": fit.points_used,
        "points_left_out": [LeftOutAnswer(why=why, count=count) for why, count in fit.left_out],
        "first_day": fit.first_day,
        "last_day": fit.last_day,
    }


def curve_answer(fit: fits.Fit) -> FittedCurveAnswer:
    """One version as an answer of its own."""
    cuts = [
        CutAnswer(structure=cut.structure, day=date.fromisoformat(cut.day), why=cut.why) for cut in fit.cuts
    ]
    return FittedCurveAnswer(**curve_members(fit), cuts=cuts, findings=[])


def curves_answer(page: fits.FitPage, *, per_page: int) -> FittedCurvesAnswer:
    """One page of the list."""
    return FittedCurvesAnswer(
        curves=[FittedCurveMembers(**curve_members(fit)) for fit in page.items],
        total=page.total,
        page=page.page,
        pages=page.pages,
        per_page=per_page,
        findings=[],
    )


def _estimate(found: fits.Estimate | None) -> EstimateAnswer | None:
    return None if found is None else EstimateAnswer(value=found.value, low=found.low, high=found.high)


# ---- forecasts -------------------------------------------------------------------------------------------------------


class FullnessAnswer(Answer):
    """That a structure, or a shared message data set, is full or was in the last 7 days of its group's records."""

    state: Annotated[
        Literal["full_now", "was_full"],
        Field(description="`full_now`: all of it was in use on the last day with records."),
    ]
    count: Annotated[
        int, Field(description="Structure-full conditions that were counted; 0 where only the use shows it.")
    ]
    days: Annotated[int, Field(description="Days on which it was full.")]
    since: Annotated[date, Field(description="The first of these days.")]
    last: Annotated[date, Field(description="The last of these days.")]
    sentence: str


class ForecastMembers(Answer):
    """The latest forecast of one measure of a structure."""

    id: int
    run_id: int
    qsg: str
    structure: str
    measure: Annotated[str, Field(description="`entries`, `elements` or `smds_blocks`.")]
    queue_manager: Annotated[
        str | None, Field(description="The owner of a shared message data set; null for the others.")
    ]
    unit: str
    state: Annotated[str, Field(description="`forecast`; or why there is none, such as `too_short`.")]
    sentence: str
    is_simulated: Simulated
    made_on: date
    first_day: date | None
    last_day: date | None
    days_measured: int
    horizon_days: int
    fullness: Annotated[FullnessAnswer | None, Field(description="Null: it was not full in the last 7 days.")]
    crossings: list[CrossingAnswer]
    score: Annotated[
        ScoreAnswer | None, Field(description="Of the newest earlier forecast that could be scored.")
    ]


class ForecastsAnswer(Answer):
    """One page of the forecasts: full structures first, then those that run out soonest."""

    forecasts: list[ForecastMembers]
    total: Annotated[int, Field(description="Forecasts on all pages.")]
    page: int
    pages: int
    per_page: int
    findings: list[Finding]


def fullness_answer(full: Fullness | None) -> FullnessAnswer | None:
    """That a structure is or was full."""
    if full is None:
        return None
    return FullnessAnswer(
        state=full.state,
        count=full.count,
        days=full.days,
        since=full.since,
        last=full.last,
        sentence=full.words,
    )


def forecast_members(found: forecasts.StructureForecast, score: forecasts.Score | None) -> dict[str, Any]:
    """The members of a forecast."""
    names = (
        "id", "run_id", "qsg", "structure", "measure", "unit", "state", "sentence", "is_simulated", "made_on",
        "first_day", "last_day", "days_measured", "horizon_days",
    )  # fmt: skip
    return {name: getattr(found, name) for name in names} | {
        "queue_manager": found.queue_manager or None,
        "fullness": fullness_answer(found.full),
        "crossings": [crossing_answer(each) for each in found.crossings],
        "score": score_answer(score),
    }


def forecasts_answer(page: forecasts.ForecastPage, *, per_page: int) -> ForecastsAnswer:
    """One page of the list."""
    return ForecastsAnswer(
        forecasts=[ForecastMembers(**forecast_members(found, score)) for found, score in page.items],
        total=page.total,
        page=page.page,
        pages=page.pages,
        per_page=per_page,
        findings=[],
    )


# ---- the report ------------------------------------------------------------------------------------------------------


class ReportRun(Answer):
    """The run that a report is of."""

    id: int
    trigger: str
    stored_at: datetime
    first_day: date | None
    last_day: date | None
    days_total: int
    days_reduced: int
    rows_read: int
    seconds: dict[str, float]
    counts: BroughtCounts
    sentence: str


class ReportForecast(Answer):
    """A structure that runs out."""

    id: int
    qsg: str
    structure: str
    measure: str
    queue_manager: str | None
    made_on: date
    earliest_crossing_day: date
    sentence: str
    is_simulated: Simulated


class ReportCurve(Answer):
    """A fit of the night."""

    version: int
    coupling_facility: str
    cfcc_level: int | None
    state: str
    is_current: bool
    reason: str | None
    is_simulated: Simulated


class NightReportAnswer(Answer):
    """What the newest night is worth telling; the same as the file night.json in the data folder."""

    report_schema: Annotated[Literal[1], Field(alias="schema")]
    run: ReportRun
    is_simulated: Annotated[bool, Field(description="Whether any of it rests on simulated data.")]
    counts: SeverityCounts
    night_findings: list[NightFindingAnswer]
    forecasts: Annotated[
        list[ReportForecast], Field(description="At most fifty, those first that run out first.")
    ]
    curves: Annotated[list[ReportCurve], Field(description="Fits that this night brought.")]
    findings: list[Finding]


def report_answer(report: Mapping[str, Any]) -> NightReportAnswer:
    """The report as an answer."""
    return NightReportAnswer.model_validate({**report, "findings": []})
