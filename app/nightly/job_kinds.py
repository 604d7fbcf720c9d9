"""The kinds of jobs for nightly runs: a plain one, one over simulated data, and the removal of simulated data."""

from __future__ import annotations

from app.jobs.kinds import declare

STAGES = {
    "summing": "Aggregating by hour",
    "simulating": "Simulating",
    "forgetting": "Removing the simulated data",
    "ingesting": "Reading the simulated data",
    "looking": "Finding changed days",
    "starting": "Starting Spark",
    "reducing": "Reducing the days",
    "collecting": "Collecting the daily figures",
    "fitting": "Fitting curves",
    "forecasting": "Forecasting",
    "scoring": "Scoring earlier forecasts",
    "writing": "Writing the results",
    "storing": "Storing the results",
}
_BEGINS = "The job is starting; Spark needs a few seconds."

NIGHT, LOOK_AROUND = (
    # Both compare active policies with what cfplan expects.
    declare(name, stages=STAGES, begins=_BEGINS, is_alone=True, connections=("zosmf",))
    for name in ("night", "look_around")
)
FORGET_SIMULATED = declare("forget_simulated", stages=STAGES, begins=_BEGINS, is_alone=True)
