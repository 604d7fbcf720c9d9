"""A site with a value for every metric about capacity."""

from __future__ import annotations

from fastapi import FastAPI

from tests.app.fits.support import crossing_json, fit_json, forecast_json, store_night
from tests.app.fleet.support import measure, save_plan


def fill(app: FastAPI) -> None:
    """Store structures, forecasts, fits and coupling facilities, so that every metric has a value."""
    facilities = [{"name": name, "size": "8G", "cfcc_level": 25} for name in ("CF01", "CF02")]
    save_plan(app, coupling_facilities=facilities)
    measure(app, "APPLICATION1", 60, coupling_facilities="CF01 CF02")
    measure(app, "FULL", 100)
    passed = {**crossing_json("75 %", 75_000, None, None, None), "state": "already_crossed"}
    crossings = [passed, crossing_json("85 %", 85_000, 5, 12, 40)]
    store_night(app.state.database, curves=[fit_json()], forecasts=[forecast_json(crossings=crossings)])
