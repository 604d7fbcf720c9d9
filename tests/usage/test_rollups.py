"""Roll-ups are stored as they come, once, on both databases."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db import Database
from app.usage.models import HourlyQueueUsage, HourlyStructureUsage, MeasuredQueue, MeasuredStructure
from app.usage.rollups import RollupInvalid, store_rollups
from tests.usage.support import at, queue_hour, structure_hour

LINES = [*(structure_hour(hours) for hours in (0, 1, 30)), *(queue_hour(hours) for hours in (0, 30))]


def everything(session: Session) -> dict[str, list[dict[str, Any]]]:
    return {
        table.__tablename__: [
            {column.name: getattr(row, column.key) for column in table.__table__.columns}
            for row in session.scalars(select(table).order_by(*table.__table__.primary_key))
        ]
        for table in (HourlyStructureUsage, HourlyQueueUsage, MeasuredStructure, MeasuredQueue)
    }


def stored(database: Database, *batches: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    for lines in batches:
        with database.session(writes=True) as session:
            store_rollups(session, lines)
    with database.session(writes=False) as session:
        return everything(session)


def test_hours_are_stored_with_their_figures_and_their_period(database: Database) -> None:
    with database.session(writes=True) as session:
        counted = store_rollups(session, LINES)
    assert (counted.structure_hours, counted.queue_hours, counted.days) == (3, 2, 0)
    found = stored(database)
    hour = found["hourly_structure_usage"][1]
    assert (hour["hour"], hour["entries_in_use_max"], hour["sources"]) == (at(1), 1001, "smf115")
    assert hour["entries_total"] is None  # not measured is not nought
    assert found["measured_structures"] == [
        {
            "qsg": "SQ03",
            "structure": "APPLICATION1",
            "first_hour": at(0),
            "last_hour": at(30),
            "last_full_hour": None,
        }
    ]
    assert found["measured_queues"][0]["last_hour"] == at(30)


def test_the_same_lines_again_change_nothing(database: Database) -> None:
    assert stored(database, LINES) == stored(database, LINES, LINES[::-1])


def test_a_line_replaces_its_hour_whole(database: Database) -> None:
    again = structure_hour(1, elements_in_use_max=7, entries_in_use_max=None, structure_full_count=3)
    found = stored(database, LINES, [again])
    hour = found["hourly_structure_usage"][1]
    assert (hour["elements_in_use_max"], hour["entries_in_use_max"], hour["structure_full_count"]) == (
        7,
        None,
        3,
    )
    assert found["measured_structures"][0]["last_full_hour"] == at(1)


def test_days_that_are_given_anew_lose_what_is_no_longer_there(database: Database) -> None:
    other = structure_hour(2, qsg="SQ04")
    found = stored(database, [*LINES, other], [{"event": "days", "days": ["2026-11-16"]}, structure_hour(5)])
    assert [(row["qsg"], row["hour"]) for row in found["hourly_structure_usage"]] == [
        ("SQ03", at(5)),
        ("SQ03", at(30)),
    ]
    assert [(row["qsg"], row["first_hour"]) for row in found["measured_structures"]] == [("SQ03", at(5))]
    assert [(row["first_hour"], row["last_hour"]) for row in found["measured_queues"]] == [(at(30), at(30))]


def test_lines_of_other_events_are_passed_by(database: Database) -> None:
    others = [{"event": "progress", "done": 1, "total": 2}, {"event": "report", "structure_hours": 5}]
    assert stored(database, [*others, *LINES]) == stored(database, LINES)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (structure_hour(0, qsg=None), "qsg"),
        (structure_hour(0, hour="2026-11-16T10:30:00+00:00"), "first minute"),
        (structure_hour(0, hour="2026-11-16T10:00:00"), "hour"),
        (structure_hour(0, entries_in_use_max=-1), "entries_in_use_max"),
        (structure_hour(0, structure_full_count=2**63), "structure_full_count"),
        (queue_hour(0, queue="Q" * 49), "queue"),
        (queue_hour(0, peak_puts_per_s=float("nan")), "peak_puts_per_s"),
    ],
)
def test_a_line_that_cannot_be_stored_is_named_and_nothing_is_kept(
    database: Database, line: dict[str, Any], fault: str
) -> None:
    with pytest.raises(RollupInvalid, match=rf"Line 6 .*{fault}"):
        stored(database, [*LINES, line])
    assert not any(stored(database).values())
