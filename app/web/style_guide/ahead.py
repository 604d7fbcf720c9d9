"""Specimens of the pages about fitted curves and forecasts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from app.fits.charts import fit_charts
from app.fits.fits import Fit
from app.forecasts.charts import outlook_chart
from app.forecasts.service import MeasuredDay, Outlook
from app.nightly.models import FitState
from app.usage.observed import ComparedSize
from planner_core.contracts.fits import Estimate, FitPoint, LeftOut, RatioCount, Residuals
from planner_core.contracts.forecasts import (
    Crossing,
    CrossingState,
    QuantileDates,
    QuantileDays,
    Score,
)
from planner_core.document.model import PlanDocument
from planner_core.plan.evaluate import compare_curves
from planner_core.sizing.fitted import fitted_curve
from planner_core.units import MIB
from planner_core.urgency import Fullness

_MADE_ON = date(2026, 11, 20)
_ALLOCATED_AT = datetime(2026, 11, 20, 23, tzinfo=UTC)
_BUNDLE = 2100.0


def ahead(document: PlanDocument) -> Mapping[str, object]:
    """Return invented figures, and the comparison of a plan under an invented curve."""
    fit = _fit()
    outlook = _outlook()
    drawn = outlook_chart(outlook)
    fitted = fit_charts(fit)
    if drawn is None or fitted is None:
        message = "a specimen of a forecast or of a fit has no days"
        raise RuntimeError(message)
    return {
        "fits": (
            fit,
            replace(fit, is_current=False),
            replace(fit, state=FitState.REJECTED),
            replace(fit, state=FitState.TOO_LITTLE),
        ),
        "fit_chart": fitted.charts[1],
        "outlook_chart": drawn.charts[0],
        "crossings": outlook.crossings,
        "horizon_days": outlook.horizon_days,
        "score": Score(
            days_scored=28,
            wape=0.081,
            pinball=0.1,
            coverage80=0.79,
            sentence="Over 28 days, 8.1 % error on average.",
        ),
        "comparison": compare_curves(document, fitted_curve(version=17, fit=fit)).as_json(),
        "full": replace(
            outlook, fullness=Fullness("was_full", 102, 2, _MADE_ON - timedelta(days=2), _MADE_ON)
        ),
        "sizes": tuple(
            ComparedSize("MYDATA", "SQ03MYDATA", 65_536, 98_304, allocated, at)
            for allocated, at in ((131_072, _ALLOCATED_AT), (32_768, _ALLOCATED_AT), (None, None))
        ),
    }


def _fit() -> Fit:
    base = 20.0 * MIB
    points = []
    for nth in range(7):
        size, away = 64.0 * MIB * 2**nth, 200_000 * math.sin(nth)
        entries = round((size - base - away) / _BUNDLE)
        out = "seen on one day only" if nth == 5 else None  # noqa: PLR2004 - an arbitrary one
        points.append(
            FitPoint(
                qsg="SQ03", structure=f"APPL{nth}", first_day=date(2026, 9, 1), last_day=date(2026, 11, 19), days=80,
                observations=7680, size_bytes=size, entries=entries, elements=6 * entries, fitted_bytes=size - away,
                residual_bytes=away, left_out=out,
            )
        )  # fmt: skip
    return Fit(
        version=17, run_id=42, coupling_facility="CF01", cfcc_level=25, state=FitState.ACCEPTED, is_current=True,
        is_simulated=True, made_at=datetime(2026, 11, 21, 2, tzinfo=UTC), first_day=date(2026, 9, 1),
        last_day=date(2026, 11, 19), qsgs=("SQ03",), kind="bundle", base_bytes=Estimate(base, 0.95 * base, 1.05 * base),
        bundle_bytes=Estimate(_BUNDLE, 0.99 * _BUNDLE, 1.01 * _BUNDLE), ratios=(RatioCount(6.0, 7),), structures=7,
        points_used=6, points_left_out=(LeftOut("seen on one day only", 1),),
        residuals=Residuals(130_000.0, 200_000.0, 0.002), points=tuple(points),
    )  # fmt: skip


def _outlook() -> Outlook:
    days = range(1, 61)
    made: tuple[tuple[str, float | None, CrossingState, QuantileDays, date | None], ...] = (
        ("offload at 70 %", 700.0, "already_crossed", QuantileDays(), _MADE_ON - timedelta(days=3)),
        ("FULLTHRESHOLD 85 %", 850.0, "within", QuantileDays(12, 30, 55), None),
        ("SIZE", 1000.0, "possible", QuantileDays(41), None),
        ("another", 1100.0, "beyond", QuantileDays(), None),
        ("of no known limit", None, "no_limit", QuantileDays(), None),
        ("without a forecast", 1200.0, "no_forecast", QuantileDays(), None),
    )
    return Outlook(
        id=1, run_id=42, qsg="SQ03", structure="APPLICATION1", measure="entries", unit="entries", state="forecast",
        is_simulated=True, made_on=_MADE_ON, first_day=_MADE_ON - timedelta(days=59), last_day=_MADE_ON,
        days_measured=60, horizon_days=60, growth_per_30_days={"p10": 0.02, "p50": 0.08, "p90": 0.14},
        quantiles={
            "p10": tuple(700.0 + 2 * nth for nth in days),
            "p50": tuple(800.0 + 3 * nth for nth in days),
            "p90": tuple(900.0 + 4 * nth for nth in days),
        },
        crossings=tuple(_crossing(*each) for each in made), peaks=tuple(_peaks()), earlier=(),
    )  # fmt: skip


def _crossing(
    level: str, value: float | None, state: CrossingState, days: QuantileDays, last: date | None
) -> Crossing:
    return Crossing(
        level=level,
        value=value,
        state=state,
        sentence="",
        probability_within_horizon=None if value is None else 0.42,
        days=days,
        dates=QuantileDates(_date(days.p10), _date(days.p50), _date(days.p90)),
        last_crossed=last,
    )


def _date(days: int | None) -> date | None:
    return None if days is None else _MADE_ON + timedelta(days=days)


def _peaks() -> list[MeasuredDay]:
    first = _MADE_ON - timedelta(days=59)
    return [
        MeasuredDay(first + timedelta(days=nth), None if nth in (20, 22) else 600 + 3 * nth, 1000)
        for nth in range(60)
    ]
