"""Hourly roll-ups are removed when the history no longer has their days, and only then."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select

from app.database.engine import Database
from app.uploads.ingest_keeper import read_report
from app.usage import repository
from app.usage.models import (
    HourlyQueueUsage,
    HourlySmdsUsage,
    HourlyStructureUsage,
    MeasuredQueue,
    StoredMeasuredStructure,
)
from app.usage.retention import drop_what_history_dropped
from app.usage.rollups import store_rollups
from tests.app.usage.support import MONDAY, at, output, queue_hour, smds_hour, structure_hour

TUESDAY = (MONDAY + timedelta(days=1)).date().isoformat()
HOURS = [
    *(structure_hour(hours, entries_total=100) for hours in (0, 23, 24, 30)),
    *(smds_hour(hours) for hours in (23, 24)),
    *(queue_hour(hours) for hours in (1, 24)),
    queue_hour(2, queue="ONLY.MONDAY"),
    structure_hour(3, structure="GONE"),
]
HOURS.sort(key=lambda line: ("structure_hour", "smds_hour", "queue_hour").index(line["event"]))


@pytest.fixture
def filled(database: Database) -> Database:
    with database.session(writes=True) as session:
        store_rollups(session, output(*HOURS))
    return database


def hours(database: Database) -> dict[str, list[Any]]:
    with database.session(writes=False) as session:
        return {
            table.__tablename__: list(session.scalars(select(table.hour).order_by(table.hour)))
            for table in (HourlyStructureUsage, HourlySmdsUsage, HourlyQueueUsage)
        }


def test_hours_before_the_first_kept_day_are_removed_from_data_and_lists(filled: Database) -> None:
    assert drop_what_history_dropped(filled, read_report({"kept_from": TUESDAY})) == 6
    assert hours(filled) == {
        "hourly_structure_usage": [at(24), at(30)],
        "hourly_smds_usage": [at(24)],
        "hourly_queue_usage": [at(24)],
    }
    with filled.session(writes=False) as session:
        kept = session.scalars(select(StoredMeasuredStructure)).all()
        assert [(each.structure, each.first_hour) for each in kept] == [("APPLICATION1", at(24))]
        assert [each.queue for each in session.scalars(select(MeasuredQueue))] == ["PAYMENTS.IN"]


def test_repeated_removal_changes_nothing(filled: Database) -> None:
    drop_what_history_dropped(filled, read_report({"kept_from": TUESDAY}))
    before = hours(filled)
    assert drop_what_history_dropped(filled, read_report({"kept_from": TUESDAY})) == 0
    assert hours(filled) == before


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"kept_from": None},
        {"kept_from": None, "dropped_days": ["2026-11-16"]},
        {"kept_from": "2026-11-16"},
    ],
)
def test_hours_still_in_the_history_are_not_removed(filled: Database, report: dict[str, Any]) -> None:
    before = hours(filled)
    assert drop_what_history_dropped(filled, read_report(report)) == 0
    assert hours(filled) == before


def test_hours_are_removed_together_or_not_at_all(filled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The removal has its own transaction: one that fails halfway removes nothing."""
    before = hours(filled)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    commits: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(repository, "update_lists", fails)
        with pytest.raises(RuntimeError):
            drop_what_history_dropped(filled, read_report({"kept_from": TUESDAY}))
    assert hours(filled) == before
    event.listen(filled._writing, "commit", lambda connection: commits.append(connection))
    drop_what_history_dropped(filled, read_report({"kept_from": TUESDAY}))
    assert len(commits) == 1
    with filled.session(writes=False) as session:
        assert session.scalars(select(func.count()).select_from(HourlyStructureUsage)).one() == 2
