"""Specimens of the pages about fitted curves and forecasts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from app.fits.charts import fit_charts
from app.fits.fits import Estimate, Fit, FitPoint
from app.forecasts.charts import outlook_chart
from app.forecasts.service import Band, Crossing, Outlook, Peak, Score, StructureForecast
from app.nightly.models import FitState
from app.usage.observed import ComparedSize
from app.web.charts import Chart
from planner_core.document.model import PlanDocument
from planner_core.plan.evaluate import compare_curves
from planner_core.sizing.fitted import fitted_curve
from planner_core.units import MIB
from planner_core.urgency import Fullness

_MADE_ON = date(2026, 11, 20)
_ALLOCATED_AT = datetime(2026, 11, 20, 23, tzinfo=UTC)
_BUNDLE = 2100.0


@dataclass(frozen=True, slots=True)
class AheadSpecimens:
    """Something for every component of those pages."""

    fits: tuple[Fit, ...]
    fit_chart: Chart
    outlook_chart: Chart
    crossings: tuple[Crossing, ...]
    horizon_days: int
    score: Score
    comparison: Mapping[str, Any]
    full: StructureForecast
    sizes: tuple[ComparedSize, ...]


def ahead(document: PlanDocument) -> AheadSpecimens:
    """Invented figures, and the comparison of a plan under an invented curve."""
    fit = _fit()
    outlook = Outlook(_forecast(), tuple(_peaks()), None, ())
    drawn = outlook_chart(outlook)
    fitted = fit_charts(fit)
    if drawn is None or fitted is None:
        message = "a specimen of a forecast or of a fit has no days"
        raise RuntimeError(message)
    return AheadSpecimens(
        fits=(
            fit,
            replace(fit, is_current=False),
            replace(fit, state=FitState.REJECTED),
            replace(fit, state=FitState.TOO_LITTLE),
        ),
        fit_chart=fitted.charts[1],
        outlook_chart=drawn.charts[0],
        crossings=outlook.forecast.crossings,
        horizon_days=outlook.forecast.horizon_days,
        score=Score(28, 0.081, 210.0, 0.79, "Over 28 days 8.1 % off on average."),
        comparison=_comparison(document),
        full=replace(_forecast(), full=Fullness("was_full", 102, 2, _MADE_ON - timedelta(days=2), _MADE_ON)),
        sizes=tuple(
            ComparedSize("MYDATA", "SQ03MYDATA", 65_536, 98_304, allocated, at)
            for allocated, at in ((131_072, _ALLOCATED_AT), (32_768, _ALLOCATED_AT), (None, None))
        ),
    )


def _comparison(document: PlanDocument) -> Mapping[str, Any]:
    def estimate(value: float) -> dict[str, float]:
        return {"value": value, "low": value * 0.99, "high": value * 1.01}

    fit = {
        "state": "fitted", "coupling_facility": "CF01", "cfcc_level": 25, "confidence": 0.9, "first_day": "2026-09-01",
        "last_day": "2026-11-19", "ratio": [1, 6], "base_bytes": estimate(20 * MIB), "bundle_bytes": estimate(_BUNDLE),
        "entry_bytes": None, "element_bytes": None,
    }  # fmt: skip
    return compare_curves(document, fitted_curve(version=17, fit=fit)).as_json()


def _fit() -> Fit:
    base = 20.0 * MIB
    points = []
    for nth in range(7):
        size, away = 64.0 * MIB * 2**nth, 200_000 * math.sin(nth)
        entries = round((size - base - away) / _BUNDLE)
        out = "seen on one day only" if nth == 5 else None  # noqa: PLR2004 - one of them
        points.append(
            FitPoint("SQ03", f"APPL{nth}", "2026-09-01", "2026-11-19", 80, 7680, size, entries, 6 * entries, size - away, away, out)
        )  # fmt: skip
    return Fit(
        version=17, run_id=42, coupling_facility="CF01", cfcc_level=25, state=FitState.ACCEPTED, reason="", is_current=True,
        is_simulated=True, made_at=datetime(2026, 11, 21, 2, tzinfo=UTC), first_day=date(2026, 9, 1),
        last_day=date(2026, 11, 19), qsgs=("SQ03",), confidence_percent=90.0, kind="bundle", note="",
        base=Estimate(base, 0.95 * base, 1.05 * base), entry=None, element=None,
        bundle=Estimate(_BUNDLE, 0.99 * _BUNDLE, 1.01 * _BUNDLE), ratio=(1, 6), ratios=((6.0, 7),), structures=7,
        points_used=6, left_out=(("seen on one day only", 1),), cuts=(), deviation_bytes=130_000.0, largest_bytes=200_000.0,
        largest_share=0.002, points=tuple(points),
    )  # fmt: skip


def _forecast() -> StructureForecast:
    bands = [
        Band(_MADE_ON + timedelta(days=nth), 700.0 + 2 * nth, 800.0 + 3 * nth, 900.0 + 4 * nth)
        for nth in range(1, 61)
    ]
    made = (
        ("offload at 70 %", 700.0, "already_crossed", None, _MADE_ON - timedelta(days=3)),
        ("FULLTHRESHOLD 85 %", 850.0, "within", (12, 30, 55), None),
        ("SIZE", 1000.0, "possible", (41, None, None), None),
        ("another", 1100.0, "beyond", None, None),
        ("of no known limit", None, "no_limit", None, None),
        ("without a forecast", 1200.0, "no_forecast", None, None),
    )
    return StructureForecast(
        id=1, run_id=42, qsg="SQ03", structure="APPLICATION1", measure="entries", queue_manager="", state="forecast",
        is_simulated=True, sentence="", made_on=_MADE_ON, first_day=_MADE_ON - timedelta(days=59), last_day=_MADE_ON,
        days_measured=60, horizon_days=60, model="", growth=(0.02, 0.08, 0.14), bands=tuple(bands), highest=None,
        crossings=tuple(_crossing(*each) for each in made), resizes=(), notes=(),
    )  # fmt: skip


def _crossing(
    level: str,
    value: float | None,
    state: str,
    days: tuple[int | None, int | None, int | None] | None,
    last: date | None,
) -> Crossing:
    p10, p50, p90 = days or (None, None, None)
    return Crossing(
        level=level,
        value=value,
        state=state,
        sentence="",
        probability=None if value is None else 0.42,
        days=(p10, p50, p90),
        dates=(_date(p10), _date(p50), _date(p90)),
        last_crossed=last,
    )


def _date(days: int | None) -> date | None:
    return None if days is None else _MADE_ON + timedelta(days=days)


def _peaks() -> list[Peak]:
    first = _MADE_ON - timedelta(days=59)
    return [
        Peak(first + timedelta(days=nth), None if nth in (20, 22) else 600 + 3 * nth, 1000)
        for nth in range(60)
    ]
