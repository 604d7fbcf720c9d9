"""Forecasts: daily peaks of entries, elements and blocks, and the day on which they pass a level.

With numpy and scipy, without Spark. docs/explanation/forecasts.md describes the results, docs/decisions/0011-*.md has the
reasons for the method.
"""

from __future__ import annotations

from planner_core.contracts.forecasts import Crossing, Forecast, Resized, Score
from spark_jobs.forecast.forecasting import HORIZON_DAYS, LEAST_DAYS, forecast
from spark_jobs.forecast.peaks import DailyPeaks, Level, Resize
from spark_jobs.forecast.scoring import score

__all__ = [
    "HORIZON_DAYS", "LEAST_DAYS", "Crossing", "DailyPeaks", "Forecast", "Level", "Resize", "Resized", "Score", "forecast",
    "score",
]  # fmt: skip
