"""A fleet in the database of an application: plans, measured hours, and the results of a nightly run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import FastAPI
from sqlalchemy import insert

from app.jobs.models import JobRun, JobState
from app.nightly.models import Trigger
from app.nightly.service import queue
from app.texts.documents import example_text, read_text
from app.usage import repository
from app.usage.models import HourlyStructureUsage
from planner_core.units import MIB
from tests.app.fits.support import MADE_ON
from tests.app.web.support import get, send_json

ENTRIES, ELEMENTS = 20_000, 120_000
LAST_HOUR = datetime(MADE_ON.year, MADE_ON.month, MADE_ON.day, 23, tzinfo=UTC)
"""The last hour of the last day that a nightly run has read."""
DISK_FULL = "The usage history cannot be read: the disk is full."


def save_plan(app: FastAPI, name: str = "SQ03", **changes: Any) -> None:  # noqa: ANN401 - members of a document
    """Save the example plan with changes."""
    document = read_text(example_text().encode()).model_dump(mode="json") | changes
    tag = get(app, f"/api/v1/plans/{name}").headers.get("etag")
    answer = send_json(
        app, "PUT", f"/api/v1/plans/{name}", document, **({} if tag is None else {"if_match": tag})
    )
    assert answer.status in (200, 201), answer.text


def measure(
    app: FastAPI,
    structure: str,
    percent: float,
    *,
    qsg: str = "SQ03",
    coupling_facilities: str | None = None,
    is_duplexed: bool | None = None,
    size_mib: int = 512,
    full_hours_ago: int | None = None,
    hours: int = 48,
) -> None:
    """Store hours of a structure whose elements are used up to this percentage."""
    rows = [
        {
            "qsg": qsg,
            "structure": structure,
            "hour": LAST_HOUR - timedelta(hours=ago),
            "entries_in_use_max": 10,
            "elements_in_use_max": round(ELEMENTS * percent / 100),
            "entries_total": ENTRIES,
            "elements_total": ELEMENTS,
            "size_bytes": size_mib * MIB,
            "structure_full_count": int(ago == full_hours_ago),
            "coupling_facilities": coupling_facilities,
            "is_duplexed": is_duplexed,
            "sources": "115-2 QEST",
        }
        for ago in range(hours)
    ]
    with app.state.database.session(writes=True) as session:
        session.execute(insert(HourlyStructureUsage), rows)
        repository.update_lists(session, structures={(qsg, structure)}, queues=())


def fail_run(app: FastAPI) -> int:
    """Store a failed nightly run and return its number."""
    with app.state.database.session(writes=True) as session:
        run = queue(session, Trigger.REQUEST)
        job = session.get(JobRun, run.job_id)
        assert job is not None
        job.state, job.sentence, job.ended_at = JobState.FAILED, DISK_FULL, LAST_HOUR
        return run.id


def start_run(app: FastAPI) -> int:
    """Store a nightly run that reads bytes, and return its number."""
    with app.state.database.session(writes=True) as session:
        run = queue(session, Trigger.REQUEST)
        job = session.get(JobRun, run.job_id)
        assert job is not None
        job.state, job.stage, job.sentence = JobState.RUNNING, "ingesting", "Reading the simulated data."
        job.done, job.total = 4_060_805, 16_243_220
        return run.id


def names(structures: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of structures in a list of the answer."""
    return [each["structure"] for each in structures]
