"""The urgency of measured structures, from nightly runs and from later hours, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from app.usage.measured import StructureUrgency
from app.usage.urgency import urgency_of_structures
from planner_core.urgency import NextLimit
from tests.app.fits.support import MADE_ON, crossing_json, daily, forecast_json, store_night
from tests.app.plans.support import app_on
from tests.app.usage.support import store, structure_hour

LAST_HOUR = 4 * 24 + 12
"""Noon of the day of the nightly run, 2026-11-20."""
TOTALS = {"entries_total": 1000, "elements_total": 6000}
CROSSES_NOTHING = [crossing_json("SIZE", 131_072, None, None, None)]


@pytest.fixture
def app(url: URL) -> Iterator[FastAPI]:
    made = app_on(url)
    yield made
    made.state.database.close()


def urgency(app: FastAPI) -> dict[str, StructureUrgency]:
    """Return the urgency of each structure, the most urgent first."""
    with app.state.database.session(writes=False) as session:
        found = urgency_of_structures(session)
    return {each.key[1]: each for each in sorted(found, key=lambda each: each.order)}


def hour(hours: int, structure: str, **members: object) -> dict[str, object]:
    return structure_hour(
        hours,
        structure=structure,
        **{"entries_in_use_max": 100, "elements_in_use_max": 60, **TOTALS, **members},
    )


def full_on(structure: str, day: date) -> list[dict[str, object]]:
    """Return the daily peaks of a structure that was full four times on one day."""
    return [
        each | ({"full_count": 4} if each["day"] == day.isoformat() else {})
        for each in daily(structure=structure, days=10)
    ]


def test_next_limit_is_the_earliest_of_entries_and_elements(app: FastAPI) -> None:
    store(app, [hour(LAST_HOUR, "SOON"), hour(LAST_HOUR, "LATER"), hour(LAST_HOUR, "NEVER"), hour(0, "NEW")])
    store_night(
        app.state.database,
        forecasts=[
            forecast_json(structure="SOON", measure="entries", middle=20),
            forecast_json(structure="SOON", crossings=CROSSES_NOTHING),
            forecast_json(structure="LATER", middle=90),
            forecast_json(structure="LATER", measure="smds_blocks", queue_manager="CSQ1", middle=3),
            forecast_json(structure="NEVER", crossings=CROSSES_NOTHING),
            forecast_json(structure="NEW", state="too_short"),
        ],
    )
    found = urgency(app)
    # 30 days is the lowest level of the sample forecasts, 70 %.
    assert {name: each.limit for name, each in found.items()} == {
        "SOON": NextLimit(MADE_ON, 180, MADE_ON + timedelta(days=20)),
        "LATER": NextLimit(MADE_ON, 180, MADE_ON + timedelta(days=30)),
        "NEVER": NextLimit(MADE_ON, 180, None),
        "NEW": None,
    }
    assert list(found)[:2] == ["SOON", "LATER"]


def test_days_of_the_nightly_run_and_later_hours_are_counted_once(app: FastAPI) -> None:
    store(
        app,
        [
            hour(LAST_HOUR, "FULL", structure_full_count=4),  # the nightly run has read this day
            hour(LAST_HOUR + 24, "FULL", structure_full_count=2),
            hour(LAST_HOUR + 24, "STILL", entries_in_use_max=1000),
            hour(LAST_HOUR + 24, "QUIET"),
        ],
    )
    store_night(
        app.state.database,
        forecasts=[],
        days=[*full_on("FULL", MADE_ON), *daily(structure="QUIET", days=10)],
    )
    found = urgency(app)
    assert list(found) == ["STILL", "FULL", "QUIET"]
    assert found["QUIET"].full is None
    assert found["FULL"].full is not None
    assert found["FULL"].full.sentence == "Full 6 times since 2026-11-20"
    assert found["STILL"].full is not None
    assert found["STILL"].full.state == "full_now"


def test_structure_full_over_a_week_ago_is_not_full(app: FastAPI) -> None:
    store(app, [hour(0, "OLD", structure_full_count=1), hour(8 * 24, "OLD")])
    assert urgency(app)["OLD"].full is None
