"""The shapes of the REST answers about single curves, forecasts and CFCC levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.fits.fits import Fit
from app.fits.levels import HIGHEST, LOWEST, Level
from app.forecasts.service import Crossing, Outlook, Score
from app.web.answers import Answer
from planner_core.findings import Finding

Share = Annotated[float | None, Field(description="A share: 0.1 is ten percent. Null: not known.")]
Peak = Annotated[int | None, Field(description="Null: not measured.")]


class FitPointAnswer(Answer):
    """An allocation as long as it stayed as it was: one point of the fit."""

    qsg: str | None
    structure: str
    first_day: date
    last_day: date
    days: int
    observations: int
    size_bytes: float
    entries: float
    elements: float
    fitted_bytes: Annotated[
        float | None, Field(description="What the curve gives for these entries and elements.")
    ]
    residual_bytes: Annotated[float | None, Field(description="The size less what the curve gives.")]
    left_out: Annotated[str | None, Field(description="Why it is not in the fit; null: it is.")]


class FitPointsAnswer(Answer):
    """The points of a fitted curve."""

    version: int
    coupling_facility: str
    cfcc_level: int | None
    state: Literal["accepted", "rejected", "too_little"]
    is_simulated: bool
    base_bytes: float | None
    bundle_bytes: float | None
    entry_bytes: Annotated[float | None, Field(description="Null where the data hold one ratio only.")]
    element_bytes: Annotated[float | None, Field(description="Null where the data hold one ratio only.")]
    published_base_bytes: Annotated[
        float | None, Field(description="Of the published curve of the level; null where that is not known.")
    ]
    published_bundle_bytes: Annotated[
        float | None, Field(description="Of the published curve of the level, one entry and six elements.")
    ]
    points: list[FitPointAnswer]
    findings: list[Finding]


class QuantileDays(Answer):
    """Days after the forecast was made; null lies beyond the horizon."""

    p10: int | None
    p50: int | None
    p90: int | None


class QuantileDates(Answer):
    """The same as dates."""

    p10: date | None
    p50: date | None
    p90: date | None


class CrossingAnswer(Answer):
    """When the daily peak first passes a level."""

    level: str
    value: float | None
    state: str
    sentence: str
    probability_within_horizon: Annotated[
        float | None, Field(description="By ordinary days, as a share. Null: not known.")
    ]
    probability_with_exceptional_days: Annotated[
        float | None, Field(description="If exceptional days come as often as they did. Null: not known.")
    ]
    days: QuantileDays
    dates: QuantileDates
    usual_day: Annotated[
        int | None, Field(description="The first day whose middle estimate is above the level.")
    ]
    last_crossed: Annotated[date | None, Field(description="The last measured day above the level.")]


class ResizeAnswer(Answer):
    """What a larger total would buy."""

    name: str
    factor: float
    sentence: str
    crossings: list[CrossingAnswer]


class PeakAnswer(Answer):
    """One measured day."""

    day: date
    peak: Peak
    total: Annotated[int | None, Field(description="How much there was of it. Null: not measured.")]


class BandAnswer(Answer):
    """One day of the forecast."""

    day: date
    p10: float
    p50: float
    p90: float


class CrossingScoreAnswer(Answer):
    """A level of a forecast: what was said and what came."""

    level: str
    predicted: Annotated[
        int | None, Field(description="The middle estimate, in days from the day the forecast was made on.")
    ]
    actual: Annotated[
        int | None, Field(description="The first ordinary day above the level; null: not so far.")
    ]
    error_days: Annotated[
        int | None,
        Field(description="How much later it was predicted than it came; null: not both are known."),
    ]
    in_interval: Annotated[
        bool | None, Field(description="Whether it came in the 80 % interval; null: too early to tell.")
    ]


class ScoreAnswer(Answer):
    """A forecast held against the days that followed it."""

    days_scored: int
    wape: Share
    pinball: float | None
    coverage80: Share
    sentence: str
    crossings: list[CrossingScoreAnswer]


class EarlierAnswer(Answer):
    """An earlier forecast of the same measure, and what became of it."""

    id: int
    made_on: date
    score: ScoreAnswer | None


class OutlookAnswer(Answer):
    """One measure of a structure: what was, and what is to come."""

    id: int
    measure: str
    queue_manager: Annotated[
        str | None, Field(description="The owner of a shared message data set; null for the others.")
    ]
    unit: str
    state: str
    sentence: str
    is_simulated: bool
    made_on: date
    first_day: date | None
    last_day: date | None
    days_measured: int
    horizon_days: int
    model: str
    peaks: Annotated[list[PeakAnswer], Field(description="Daily peaks, up to two years of them.")]
    bands: Annotated[list[BandAnswer], Field(description="Quantiles of the peak of each day to come.")]
    crossings: list[CrossingAnswer]
    resizes: list[ResizeAnswer]
    notes: list[str]
    score: Annotated[
        ScoreAnswer | None, Field(description="Of the newest earlier forecast that could be scored.")
    ]
    earlier: list[EarlierAnswer]


class OutlooksAnswer(Answer):
    """All measures of a structure that are forecast."""

    qsg: str
    structure: str
    forecasts: list[OutlookAnswer]
    findings: list[Finding]


class LevelBody(BaseModel):
    """The CFCC level of a coupling facility."""

    model_config = ConfigDict(extra="forbid", strict=True)

    cfcc_level: Annotated[
        int, Field(ge=LOWEST, le=HIGHEST, description="As D CF shows it; not MQ's CFLEVEL.", examples=[25])
    ]


class LevelEntry(Answer):
    """One coupling facility."""

    coupling_facility: str
    cfcc_level: int
    source: Annotated[str, Field(description="Who says so.")]
    updated_at: datetime


class LevelAnswer(LevelEntry):
    """The entry as it is kept now."""

    findings: list[Finding]


class LevelsAnswer(Answer):
    """The whole map of coupling facilities to CFCC levels."""

    levels: list[LevelEntry]
    findings: list[Finding]


def points_answer(fit: Fit) -> FitPointsAnswer:
    """The points of a fit, with the figures of its curve."""
    published = fit.published
    return FitPointsAnswer(
        version=fit.version,
        coupling_facility=fit.coupling_facility,
        cfcc_level=fit.cfcc_level,
        state=fit.state.value,
        is_simulated=fit.is_simulated,
        base_bytes=fit.base.value if fit.base else None,
        bundle_bytes=fit.bundle.value if fit.bundle else None,
        entry_bytes=fit.entry.value if fit.entry else None,
        element_bytes=fit.element.value if fit.element else None,
        published_base_bytes=None if published is None else float(published.base),
        published_bundle_bytes=None if published is None else float(published.bundle),
        points=[
            FitPointAnswer(
                qsg=point.qsg,
                structure=point.structure,
                first_day=date.fromisoformat(point.first_day),
                last_day=date.fromisoformat(point.last_day),
                days=point.days,
                observations=point.observations,
                size_bytes=point.size_bytes,
                entries=point.entries,
                elements=point.elements,
                fitted_bytes=point.fitted_bytes,
                residual_bytes=point.residual_bytes,
                left_out=point.left_out,
            )
            for point in fit.points
        ],
        findings=[],
    )


def outlooks_answer(qsg: str, structure: str, outlooks: Iterable[Outlook]) -> OutlooksAnswer:
    """All measures of a structure."""
    return OutlooksAnswer(
        qsg=qsg, structure=structure, forecasts=[_outlook(each) for each in outlooks], findings=[]
    )


def levels_answer(found: Sequence[Level]) -> LevelsAnswer:
    """The whole map."""
    return LevelsAnswer(levels=[LevelEntry(**level_members(each)) for each in found], findings=[])


def level_members(level: Level) -> dict[str, Any]:
    """The members of an entry."""
    return {
        "coupling_facility": level.coupling_facility,
        "cfcc_level": level.cfcc_level,
        "source": level.source,
        "updated_at": level.updated_at,
    }


def _outlook(outlook: Outlook) -> OutlookAnswer:
    forecast = outlook.forecast
    return OutlookAnswer(
        id=forecast.id,
        measure=forecast.measure,
        queue_manager=forecast.queue_manager or None,
        unit=forecast.unit,
        state=forecast.state,
        sentence=forecast.sentence,
        is_simulated=forecast.is_simulated,
        made_on=forecast.made_on,
        first_day=forecast.first_day,
        last_day=forecast.last_day,
        days_measured=forecast.days_measured,
        horizon_days=forecast.horizon_days,
        model=forecast.model,
        peaks=[PeakAnswer(day=peak.day, peak=peak.value, total=peak.total) for peak in outlook.peaks],
        bands=[BandAnswer(day=band.day, p10=band.p10, p50=band.p50, p90=band.p90) for band in forecast.bands],
        crossings=[crossing_answer(each) for each in forecast.crossings],
        resizes=[
            ResizeAnswer(
                name=each.name,
                factor=each.factor,
                sentence=each.sentence,
                crossings=[crossing_answer(crossing) for crossing in each.crossings],
            )
            for each in forecast.resizes
        ],
        notes=list(forecast.notes),
        score=score_answer(outlook.score),
        earlier=[
            EarlierAnswer(id=each.id, made_on=each.made_on, score=score_answer(each.score))
            for each in outlook.earlier
        ],
    )


def crossing_answer(found: Crossing) -> CrossingAnswer:
    """When a level is passed."""
    names = ("p10", "p50", "p90")
    return CrossingAnswer(
        level=found.level,
        value=found.value,
        state=found.state,
        sentence=found.sentence,
        probability_within_horizon=found.probability,
        probability_with_exceptional_days=found.probability_with_exceptional,
        usual_day=found.usual_day,
        days=QuantileDays(**dict(zip(names, found.days, strict=True))),
        dates=QuantileDates(**dict(zip(names, found.dates, strict=True))),
        last_crossed=found.last_crossed,
    )


def score_answer(found: Score | None) -> ScoreAnswer | None:
    """A score; None where there is none yet."""
    if found is None:
        return None
    return ScoreAnswer(
        days_scored=found.days,
        wape=found.wape,
        pinball=found.pinball,
        coverage80=found.coverage80,
        sentence=found.sentence,
        crossings=[
            CrossingScoreAnswer(
                level=each.level,
                predicted=each.predicted,
                actual=each.actual,
                error_days=each.error_days,
                in_interval=each.in_interval,
            )
            for each in found.crossings
        ],
    )
