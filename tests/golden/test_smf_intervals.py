"""Intervals of SMF: z/OS 2.1, MVS Initialization and Tuning Reference, Parameters for SMFPRMxx, INTVAL."""

from __future__ import annotations

from planner_core import tables
from planner_core.questions import parameters
from planner_core.texts.collection_kit import CollectionKitQuestion
from spark_jobs.forecast.forecasting import LEAST_DAYS

DEFAULT_MINUTES, LONGEST_MINUTES = 30, 60
SYNCHRONIZED = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
"""The page lists these values as those that divide evenly into 60."""


def test_intervals_are_those_of_the_page() -> None:
    found = tables.constants("collected_data")
    assert found["default_interval_minutes"].value == DEFAULT_MINUTES
    assert found["longest_interval_minutes"].value == LONGEST_MINUTES


def test_kit_accepts_the_intervals_that_smf_synchronizes() -> None:
    accepted = []
    for minutes in range(62):
        question, _ = CollectionKitQuestion.check({"interval": [str(minutes)]})
        accepted += [minutes] if question is not None else []
    assert tuple(accepted) == SYNCHRONIZED
    assert int(parameters(CollectionKitQuestion)["interval"].default) in SYNCHRONIZED


def test_days_of_the_table_are_those_of_forecasts() -> None:
    assert tables.constants("collected_data")["least_forecast_days"].value == LEAST_DAYS
