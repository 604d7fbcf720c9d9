"""Sample results of nightly runs: fits, forecasts, daily peaks and scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import select

from app.database.engine import Database
from app.fits import points
from app.jobs.models import JobRun, JobState
from app.nightly import results
from app.nightly.models import FitVersion, StoredForecast, Trigger
from app.nightly.results import Result
from app.nightly.service import queue
from planner_core.contracts.files import parsed
from planner_core.contracts.nightly import NightlyResult
from planner_core.health import MEASURES
from planner_core.texts.sizing_answers import NamedPoint, read_points

AT = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
MADE_ON = date(2026, 11, 20)
MIB = 1024 * 1024
QSG, STRUCTURE = "SQ03", "APPLICATION1"


class PointCosts(NamedTuple):
    """Costs in bytes, from which answers are computed."""

    base: float = 22 * MIB
    entry: float = 323.0
    element: float = 312.0
    size: float = 0.004


GRID = (
    (100, 6, 1.0), (100, 6, 2.0), (400, 6, 1.0), (400, 2, 1.5), (1000, 6, 2.0), (1000, 2, 1.0), (1000, 20, 1.0), (4000, 6, 1.5),
    (4000, 2, 2.0), (4000, 20, 2.0),
)  # fmt: skip
"""INITSIZE, ratio and SIZE of ten sizings that separate all costs."""


# ---- fits ------------------------------------------------------------------------------------------------------------


def estimate(value: float, share: float = 0.01) -> dict[str, float]:
    """Return a figure with an interval of this share on both sides."""
    return {"value": value, "low": value * (1 - share), "high": value * (1 + share)}


def fit_json(
    *,
    coupling_facility: str | None = "CF01",
    cfcc_level: int | None = 25,
    state: str = "fitted",
    reason: str | None = None,
    base_mib: float = 20.0,
    bundle: float = 2100.0,
    element: float | None = None,
    points: int = 12,
    qsgs: Sequence[str] = ("SQ03",),
    **members: object,
) -> dict[str, Any]:
    """Return a fit as the job writes it; without an `element` cost, only the bundle is fitted."""
    entry = None if element is None else bundle - 6 * element
    has_figures = state != "too_little"
    made = [fit_point(nth, base_mib=base_mib, bundle=bundle) for nth in range(points)]
    if not has_figures:
        made = [{**each, "fitted_bytes": None, "residual_bytes": None} for each in made]
    return {
        "state": state,
        "reason": reason,
        "coupling_facility": coupling_facility,
        "cfcc_level": cfcc_level,
        "qsgs": list(qsgs),
        "confidence": 0.9,
        "kind": None if not has_figures else "bundle" if element is None else "two_costs",
        "note": "All points have one ratio, so that entries and elements are known together only."
        if element is None
        else None,
        "base_bytes": estimate(base_mib * MIB, 0.05) if has_figures else None,
        "entry_bytes": estimate(entry, 0.02) if entry is not None and has_figures else None,
        "element_bytes": estimate(element, 0.02) if element is not None and has_figures else None,
        "bundle_bytes": estimate(bundle) if has_figures else None,
        "ratio": [1, 6],
        "ratios": [{"elements_per_entry": 6.0, "points": points}],
        "structures": 5,
        "points_used": points - 1,
        "points_left_out": [{"why": "seen on one day only", "count": 1}],
        "cuts": [{"structure": "APPL001", "day": "2026-09-14", "why": "reallocated with 512M"}],
        "first_day": "2026-09-01",
        "last_day": "2026-11-19",
        "residuals": {"deviation_bytes": 260_000.0, "largest_bytes": 510_000.0, "largest_share": 0.002}
        if has_figures
        else None,
        "points": made,
        **members,
    }


def fit_point(nth: int, *, base_mib: float, bundle: float) -> dict[str, Any]:
    """Return a point near the curve; the fifth one is excluded."""
    size = 64 * MIB * 2 ** (nth % 8)
    residual = 200_000.0 * math.sin(nth)
    entries = round((size - base_mib * MIB - residual) / bundle)
    return {
        "qsg": "SQ03",
        "structure": f"APPL{nth % 5 + 1:03}",
        "allocated_at": "2026-08-30T04:11:00+00:00",
        "first_day": "2026-09-01",
        "last_day": "2026-11-19",
        "days": 80,
        "observations": 7680,
        "size_bytes": size,
        "entries": entries,
        "elements": entries * 6,
        "fitted_bytes": size - residual,
        "residual_bytes": residual,
        "left_out": "seen on one day only" if nth == 5 else None,
    }


# ---- forecasts -------------------------------------------------------------------------------------------------------


def crossing_json(
    level: str, value: float, p10: int | None, p50: int | None, p90: int | None
) -> dict[str, Any]:
    """Return the crossing of a level as the job writes it."""
    days = {"p10": p10, "p50": p50, "p90": p90}
    state = "within" if p50 is not None else "possible" if p10 is not None else "beyond"
    probability = 0.95 if p90 is not None else 0.6 if p50 is not None else 0.2 if p10 is not None else 0.001
    sentence = (
        f"{level} in {p50} days, 80 % interval {p10}-{p90}"
        if p50
        else f"not expected to reach {level} within 180 days"
    )
    return {
        "level": level,
        "value": value,
        "reached": False,
        "state": state,
        "sentence": sentence,
        "probability_within_horizon": probability,
        "probability_with_exceptional_days": min(1.0, probability + 0.04),
        "usual_day": None if p50 is None else p50 + 20,
        "days": days,
        "dates": {
            name: None if day is None else (MADE_ON + timedelta(days=day)).isoformat()
            for name, day in days.items()
        },
        "last_crossed": None,
        "days_crossed": 0,
    }


def forecast_json(
    *,
    qsg: str = QSG,
    structure: str = STRUCTURE,
    measure: str = "elements",
    queue_manager: str | None = None,
    made_on: date = MADE_ON,
    state: str = "forecast",
    middle: int | None = 43,
    horizon_days: int = 180,
    **members: object,
) -> dict[str, Any]:
    """Return a forecast as the job writes it: peaks that grow by 50 % in half a year, with a fan."""
    is_forecast = state == "forecast"
    days = range(1, horizon_days + 1) if is_forecast else range(0)
    grown = [80_000 * (1 + nth / 360) for nth in days]
    crossings = [
        crossing_json("70 %", 91_750, 12, 30, 55),
        crossing_json("85 %", 111_411, 31, middle, 70)
        if middle
        else crossing_json("85 %", 111_411, None, None, None),
        crossing_json("SIZE", 131_072, 99, None, None),
    ]
    resizes = [
        {
            "name": name,
            "factor": factor,
            "sentence": f"{name}: not expected to reach 85 % within 180 days",
            "crossings": [
                crossing_json(each["level"], each["value"] * factor, None, None, None) for each in crossings
            ],
        }
        for name, factor in (("1.5 times the size", 1.5), ("twice the size", 2.0))
    ]
    return {
        "schema": 1,
        "qsg": qsg,
        "structure": structure,
        "measure": measure,
        "queue_manager": queue_manager,
        "unit": "blocks" if measure == "smds_blocks" else measure,
        "state": state,
        "sentence": crossings[0]["sentence"] if is_forecast else "9 days measured: a forecast needs 42 days.",
        "made_on": made_on.isoformat(),
        "horizon_days": horizon_days,
        "first_day": (made_on - timedelta(days=119)).isoformat(),
        "last_day": made_on.isoformat(),
        "days_measured": 120,
        "model": "trend and weekly rhythm" if is_forecast else None,
        "growth_per_30_days": {"p10": 0.02, "p50": 0.081, "p90": 0.14} if is_forecast else None,
        "quantiles": {
            "p10": [0.8 * each for each in grown],
            "p50": grown,
            "p90": [1.25 * each for each in grown],
        },
        "highest": {"p10": 100_000, "p50": 121_000, "p90": 150_000} if is_forecast else None,
        "crossings": crossings if is_forecast else [],
        "resizes": resizes if is_forecast else [],
        "baselines": {
            "last_value": 40_000.0,
            "last_week": [70_000.0, 78_643.2, 40_000.0],
            "line": {"at_made_on": 0, "per_day": 0},
        },
        "total": 131_072,
        "notes": ["A level shift on 2026-09-14 was taken into account."] if is_forecast else [],
        **members,
    }


def daily(
    *,
    qsg: str = QSG,
    structure: str = STRUCTURE,
    days: int = 120,
    last: date = MADE_ON,
    is_simulated: bool = False,
) -> list[dict[str, Any]]:
    """Return daily peaks with a weekly rhythm; day 10 is not measured, and day 11 has no totals."""
    made = []
    for nth in range(days):
        day = last - timedelta(days=days - 1 - nth)
        entries = round(10_000 * (1 + nth / 360) * (0.6 if day.weekday() >= 5 else 1.0))
        if nth == 9:
            continue
        total = None if nth == 10 else 131_072
        made.append(
            {
                "qsg": qsg, "structure": structure, "day": day.isoformat(), "entries_peak": entries,
                "elements_peak": entries * 6, "entries_total": total and 21_845, "elements_total": total,
                "size_bytes": 64 * MIB, "full_count": 0,
                "smds": [{"queue_manager": "CSQ1", "blocks_peak": nth + 5, "blocks_total": 400}],
                "is_simulated": is_simulated,
            }
        )  # fmt: skip
    return made


def health_json(
    measures: Mapping[str, dict[str, Any]],
    *,
    qsg: str = QSG,
    structure: str = STRUCTURE,
    is_simulated: bool = False,
) -> dict[str, Any]:
    """Return the health of a structure; measures without figures are not measured."""
    usual = {
        "records": 700, "intervals": 672, "above_good": 0, "above_limit": 0, "worst": 12.5, "worst_at": "2026-11-18T14:15:00Z",
        "reporter": "SYSA", "coupling_facility": "CF01", "queue": None,
    }  # fmt: skip
    return {
        "qsg": qsg, "structure": structure, "first_day": "2026-11-14", "last_day": "2026-11-20",
        "measures": [
            {"measure": measure, **(usual | measures[measure] if measure in measures else {})} for measure in MEASURES
        ],
        "balance": {
            "entries_total": 200_000, "elements_total": 1_200_000, "entries_peak": 100_000, "elements_peak": 250_000,
            "is_far": True,
        },
        "is_simulated": is_simulated,
    }  # fmt: skip


TROUBLE: dict[str, dict[str, Any]] = {
    "redrives": {"above_good": 12, "above_limit": 12, "worst": 34.11, "reporter": "CSQ1", "coupling_facility": None},
    "structure_full": {"worst": 0.0, "reporter": "CSQ1", "coupling_facility": None},
    "sync_time": {"above_good": 90, "above_limit": 2, "worst": 71.5},
    "async_time": {"records": 700, "intervals": 0, "worst": None, "worst_at": None, "reporter": None, "coupling_facility": None},
    "changed": {"worst": 2.25},
    "read_lists": {
        "above_good": 3, "above_limit": 3, "worst": 412.0, "reporter": "CSQ2", "coupling_facility": None, "queue": "PAYMENTS.IN",
    },
    "pool_waits": {"above_good": 5, "above_limit": 5, "worst": 17.0, "reporter": "CSQ1", "coupling_facility": None},
}  # fmt: skip
"""Figures of a structure in trouble, in every state."""


# ---- storing ---------------------------------------------------------------------------------------------------------


def store_night(
    database: Database,
    *,
    curves: Iterable[dict[str, Any]] = (),
    forecasts: Iterable[dict[str, Any]] = (),
    days: Iterable[dict[str, Any]] = (),
    scores: Iterable[dict[str, Any]] = (),
    findings: Iterable[dict[str, Any]] = (),
    health: Iterable[dict[str, Any]] = (),
    simulated: Sequence[str] = (),
    last_day: date = MADE_ON,
) -> int:
    """Store the results of a nightly run as the service does, and return the number of the run."""
    daily_rows = list(days)
    written = {
        "schema": 1, "curves": list(curves), "forecasts": list(forecasts), "daily": daily_rows,
        "scores": list(scores), "findings": list(findings), "health": list(health), "simulated": list(simulated),
        "first_day": min((each["day"] for each in daily_rows), default="2024-01-01"), "last_day": last_day.isoformat(), "days_total": 80, "days_reduced": 80,
        "rows_read": 1000, "seconds": {"fit": 0.5},
    }  # fmt: skip
    with database.session(writes=True) as session:
        run = queue(session, Trigger.REQUEST)
        job = session.get(JobRun, run.job_id)
        assert job is not None
        results.store(session, run, Result(parsed(NightlyResult, written), written), at=AT)
        job.state = JobState.DONE
        session.flush()
        return run.id


def store_curve(database: Database, **members: Any) -> int:  # noqa: ANN401 - members of a fit
    """Store one fit and return its version."""
    store_night(database, curves=[fit_json(**members)])
    return versions(database)[-1]


def versions(database: Database) -> list[int]:
    """Return all versions of fitted curves."""
    with database.session(writes=False) as session:
        return list(session.scalars(select(FitVersion.id).order_by(FitVersion.id)))


def forecast_ids(database: Database) -> list[int]:
    """Return the numbers of all forecasts."""
    with database.session(writes=False) as session:
        return list(session.scalars(select(StoredForecast.id).order_by(StoredForecast.id)))


# ---- sizing points ---------------------------------------------------------------------------------------------------

ANSWERS = """\
cfcc_level,structure_type,ratio,size,initsize,entries,elements,origin,release,measured_by,measured_on
26,application,1:6,200M,100M,32143,192853,zosmf,z/OS 3.1,J. Doe,2026-11-03
26,application,1:6,400M,200M,80000,480000,zosmf,z/OS 3.1,J. Doe,2026-11-03
26,application,1:6,800M,400M,175000,1050000,zosmf,z/OS 3.1,J. Doe,2026-11-03
"""
"""Invented answers for CFCC level 26, at one ratio and with SIZE twice INITSIZE."""


def answers_of(costs: PointCosts, *, rows: Iterable[tuple[int, int, float]] = GRID) -> str:
    """Return answers as CSV whose INITSIZE, in MiB, follows exactly from known costs.

    Args:
        costs: Base, costs of an entry, an element and SIZE.
        rows: INITSIZE [MiB], elements for each entry, and SIZE as a multiple of INITSIZE.
    """
    lines = [ANSWERS.partition("\n")[0]]
    for mib, ratio, multiple in rows:
        initsize = mib * MIB
        room = initsize - costs.base - costs.size * initsize * multiple
        entries = int(room / (costs.entry + ratio * costs.element))
        lines.append(
            f"26,application,1:{ratio},{round(mib * multiple * 1024)},{mib}M,{entries},{entries * ratio},zosmf,z/OS 3.1,J. Doe,2026-11-03"
        )
    return "\n".join(lines) + "\n"


def known_points() -> tuple[NamedPoint, ...]:
    """Return the points of ANSWERS."""
    return read_points(ANSWERS).points


def store_points(database: Database, text: str = ANSWERS) -> None:
    """Store points."""
    with database.session(writes=True) as session:
        points.add(session, read_points(text).points)
