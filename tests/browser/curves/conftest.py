from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.fits import points
from app.main import create_app
from app.plans import service
from app.settings import Settings
from tests.app.fits.support import (
    ANSWERS,
    MADE_ON,
    PointCosts,
    answers_of,
    daily,
    fit_json,
    forecast_json,
    store_night,
    store_points,
)
from tests.app.plans.support import plan
from tests.serving import served


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an application after a nightly run: two curves, a year of daily peaks with forecasts, and a plan."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    four_weeks_ago = MADE_ON - timedelta(days=28)
    store_night(
        app.state.database,
        curves=[fit_json(element=290.0), fit_json(coupling_facility="CF02", cfcc_level=None)],
        forecasts=[
            forecast_json(made_on=four_weeks_ago),
            forecast_json(measure="entries", made_on=four_weeks_ago),
            forecast_json(structure="TINY", state="too_short", made_on=four_weeks_ago),
        ],
        days=daily(days=366),
        last_day=four_weeks_ago,
    )
    store_night(
        app.state.database,
        curves=[
            fit_json(state="rejected", reason="An element costs 231.4 bytes, but holds 256 bytes of data.")
        ],
        forecasts=[forecast_json(notes=["again"]), forecast_json(measure="entries", notes=["again"])],
    )
    store_points(app.state.database, answers_of(PointCosts()))
    store_points(app.state.database, ANSWERS.replace("26,app", "25,app"))
    with app.state.database.session(writes=True) as session:
        points.save(session, 26, "application")
        service.save_plan(session, "FITTED", plan(curve={"fitted": 1}))
    with served(app) as address:
        yield address
