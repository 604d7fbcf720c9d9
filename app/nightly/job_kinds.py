"""The nightly run; simulated data with a nightly run over it; the removal of such data."""

from __future__ import annotations

from app.jobs.kinds import declare

STAGES = {
    "summing": "Summing up the hours",
    "simulating": "Simulating",
    "forgetting": "Removing what was simulated",
    "ingesting": "Reading what was simulated",
    "looking": "Looking for days that have changed",
    "starting": "Starting Spark",
    "reducing": "Reducing the days",
    "collecting": "Collecting the daily figures",
    "fitting": "Fitting curves",
    "forecasting": "Forecasting",
    "scoring": "Holding forecasts against what happened",
    "writing": "Writing the results",
    "storing": "Storing the results",
}
_BEGINS = "The job starts; Spark takes some seconds."

NIGHT, LOOK_AROUND, FORGET_SIMULATED = (
    declare(name, stages=STAGES, begins=_BEGINS, is_alone=True)
    for name in ("night", "look_around", "forget_simulated")
)
