"""Roll-ups are stored once and unchanged, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from random import Random
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.usage import rollups
from app.usage.models import (
    HourlyQueueUsage,
    HourlySmdsUsage,
    HourlyStructureUsage,
    MeasuredQueue,
    StoredMeasuredStructure,
)
from app.usage.rollups import RollupInvalid, StoredRollups, store_rollups
from tests.app.usage.support import at, output, queue_hour, smds_hour, structure_hour

HOURS = [
    *(structure_hour(hours) for hours in (0, 1, 30)),
    *(smds_hour(hours) for hours in (0, 30)),
    *(queue_hour(hours) for hours in (0, 30)),
]
LINES = output(*HOURS)


def everything(session: Session) -> dict[str, list[dict[str, Any]]]:
    return {
        table.__tablename__: [
            {column.name: getattr(row, column.key) for column in table.__table__.columns}
            for row in session.scalars(select(table).order_by(*table.__table__.primary_key))
        ]
        for table in (
            HourlyStructureUsage,
            HourlySmdsUsage,
            HourlyQueueUsage,
            StoredMeasuredStructure,
            MeasuredQueue,
        )
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
    assert counted == StoredRollups(structure_hours=3, smds_hours=2, queue_hours=2, days=0)
    found = stored(database)
    hour = found["hourly_structure_usage"][1]
    assert (hour["hour"], hour["entries_in_use_max"], hour["sources"]) == (at(1), 1001, "115-2 QEST")
    assert hour["entries_total"] is None  # not measured is not nought
    assert found["measured_structures"] == [
        {
            "qsg": "SQ03", "structure": "APPLICATION1", "first_hour": at(0), "last_hour": at(30),
            "last_use_hour": at(30), "last_limits_hour": None, "last_full_hour": None,
            "last_entries_limit_hour": None, "last_elements_limit_hour": None,
        }
    ]  # fmt: skip
    assert found["measured_queues"][0]["last_hour"] == at(30)
    assert found["hourly_queue_usage"][0]["size_buckets"] == [{"up_to_bytes": 1024, "puts": 36_000}]
    assert found["hourly_smds_usage"][1]["blocks_in_use_max"] == 40


def test_requests_redrives_and_waits_are_stored(database: Database) -> None:
    requests = {
        "sync_requests": 90, "sync_us": 2_700, "async_requests": 10, "async_us": 2_000, "changed_requests": 3,
        "queued_requests": 2, "queued_us": 50, "entries_written": 40, "elements_written": 200,
        "ixllste_calls": 70, "ixllste_redrives": 8, "ixllstm_calls": 30, "ixllstm_redrives": 9,
    }  # fmt: skip
    waits = {
        "write_requests": 7, "read_requests": 6, "other_read_requests": 5, "buffer_requests": 900, "pool_waits": 4,
        "pool_wait_us": 40, "buffer_waits": 3, "buffer_wait_us": 30,
    }  # fmt: skip
    gets = {"get_readlists": 31, "get_moves": 9}
    found = stored(
        database, output(structure_hour(0, **requests), smds_hour(0, **waits), queue_hour(0, **gets))
    )
    for table, figures in (
        ("hourly_structure_usage", requests),
        ("hourly_smds_usage", waits),
        ("hourly_queue_usage", gets),
    ):
        assert {name: found[table][0][name] for name in figures} == figures


def test_rollups_that_are_stored_at_the_same_time_are_all_in_the_lists(database: Database) -> None:
    with ThreadPoolExecutor(1) as other:
        with database.session(writes=True) as session:
            store_rollups(session, output(structure_hour(0), queue_hour(0)))
            waiting = other.submit(stored, database, output(structure_hour(1), queue_hour(1)))
            # Without the lock, the other transaction reads the hours now, before these are committed.
            wait([waiting], timeout=1)
            assert not waiting.done()
        found = waiting.result()
    for name in ("measured_structures", "measured_queues"):
        assert [(row["first_hour"], row["last_hour"]) for row in found[name]] == [(at(0), at(1))]


def test_hour_of_the_latest_figures_of_each_kind_is_stored(database: Database) -> None:
    blank = {"entries_in_use_max": None, "elements_in_use_max": None}
    lines = output(
        structure_hour(0, entries_total=5, structure_full_count=1),
        structure_hour(1, elements_total=5, **blank),
        structure_hour(2, elements_in_use_max=None),
        structure_hour(3, **blank, size_bytes=2**30),
    )
    (kept,) = stored(database, lines)["measured_structures"]
    assert [kept[f"last_{what}hour"] for what in ("full_", "limits_", "use_", "")] == [
        at(0),
        at(1),
        at(2),
        at(3),
    ]
    assert (kept["last_entries_limit_hour"], kept["last_elements_limit_hour"]) == (at(0), at(1))


def test_queue_that_moved_is_kept_in_both_structures(database: Database) -> None:
    moved = output(queue_hour(0), queue_hour(0, structure="APPLICATION2"), queue_hour(0, structure=None))
    found = stored(database, moved)
    assert [row["structure"] for row in found["hourly_queue_usage"]] == ["", "APPLICATION1", "APPLICATION2"]
    assert [row["structure"] for row in found["measured_queues"]] == ["", "APPLICATION1", "APPLICATION2"]


def test_structure_with_usage_of_queues_only_is_stored(database: Database) -> None:
    (kept,) = stored(database, output(queue_hour(3), queue_hour(5), queue_hour(9, structure=None)))[
        "measured_structures"
    ]
    assert (kept["first_hour"], kept["last_hour"], kept["last_use_hour"]) == (at(3), at(5), None)
    gone = output(days=["2026-11-16"])
    assert stored(database, gone)["measured_structures"] == []


def test_structure_with_usage_of_data_sets_only_is_stored(database: Database) -> None:
    (kept,) = stored(database, output(smds_hour(3), smds_hour(5, queue_manager="CSQ2")))[
        "measured_structures"
    ]
    assert (kept["first_hour"], kept["last_hour"], kept["last_use_hour"]) == (at(3), at(5), None)
    assert stored(database, output(days=["2026-11-16"]))["measured_structures"] == []


def test_repeated_lines_change_nothing(database: Database) -> None:
    assert stored(database, LINES) == stored(database, LINES, LINES)


def test_line_replaces_its_hour_completely(database: Database) -> None:
    again = structure_hour(1, elements_in_use_max=7, entries_in_use_max=None, structure_full_count=3)
    found = stored(database, LINES, output(again))
    hour = found["hourly_structure_usage"][1]
    assert (hour["elements_in_use_max"], hour["entries_in_use_max"], hour["structure_full_count"]) == (
        7,
        None,
        3,
    )
    assert found["measured_structures"][0]["last_full_hour"] == at(1)


def test_replaced_days_lose_hours_that_no_longer_exist(database: Database) -> None:
    before = output(*HOURS, structure_hour(2, qsg="SQ04"))
    found = stored(database, before, output(structure_hour(5), days=["2026-11-16"]))
    assert [(row["qsg"], row["hour"]) for row in found["hourly_structure_usage"]] == [
        ("SQ03", at(5)),
        ("SQ03", at(30)),
    ]
    assert [(row["qsg"], row["first_hour"]) for row in found["measured_structures"]] == [("SQ03", at(5))]
    assert [(row["first_hour"], row["last_hour"]) for row in found["measured_queues"]] == [(at(30), at(30))]
    assert [row["hour"] for row in found["hourly_smds_usage"]] == [at(30)]


def random_lines(random: Random) -> list[dict[str, Any]]:
    """Return hours of some structures, data sets and queues in four days, of which some days are replaced."""

    def maybe(*names: str) -> dict[str, int | None]:
        return {name: random.choice((None, 0, 7)) for name in names}

    named = [
        {"qsg": random.choice(("SQ03", "SQ04")), "structure": random.choice(("APPLICATION1", "APPLICATION2"))}
        for _ in range(random.randrange(12))
    ]
    hours: dict[tuple[object, ...], dict[str, Any]] = {}
    for names in named:
        hour = random.randrange(96)
        of_structure = maybe(
            "entries_in_use_max",
            "elements_in_use_max",
            "entries_total",
            "elements_total",
            "structure_full_count",
        )
        line = random.choice(
            (
                structure_hour(hour, **{**names, **of_structure}),
                smds_hour(hour, **names),
                queue_hour(hour, **names, queue=random.choice(("A", "B"))),
                queue_hour(hour, qsg=names["qsg"], structure=None, queue="A"),
            )
        )
        hours[line["event"], line["qsg"], line["structure"], line.get("queue"), hour] = line
    days = [f"2026-11-{day}" for day in range(16, 20) if random.random() < 0.3]
    return output(*hours.values(), days=days)


def ends(hours: list[datetime]) -> dict[str, datetime]:
    return {"first_hour": min(hours), "last_hour": max(hours)}


def listed(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Calculate both lists from the stored hours."""
    hours, smds = found["hourly_structure_usage"], found["hourly_smds_usage"]
    queues = [
        {"qsg": qsg, "structure": structure, "queue": queue, **ends([row["hour"] for row in rows])}
        for (qsg, structure, queue), rows in of_each(found["hourly_queue_usage"], "qsg", "structure", "queue")
    ]
    structures = []
    keys = {(row["qsg"], row["structure"]) for row in (*hours, *smds, *queues) if row["structure"]}
    for qsg, structure in sorted(keys):
        own, of_smds, of_queues = (
            [row for row in rows if (row["qsg"], row["structure"]) == (qsg, structure)]
            for rows in (hours, smds, queues)
        )

        def last(*names: str, rows: list[dict[str, Any]] = own) -> datetime | None:
            return max(
                (row["hour"] for row in rows if any(row[name] is not None for name in names)), default=None
            )

        entries, elements = last("entries_total"), last("elements_total")
        measured = [row["hour"] for row in (*own, *of_smds)]
        measured += [row[end] for row in of_queues for end in ("first_hour", "last_hour")]
        structures.append(
            {
                "qsg": qsg,
                "structure": structure,
                **ends(measured),
                "last_use_hour": last("entries_in_use_max", "elements_in_use_max"),
                "last_limits_hour": max((hour for hour in (entries, elements) if hour), default=None),
                "last_full_hour": max(
                    (row["hour"] for row in own if row["structure_full_count"]), default=None
                ),
                "last_entries_limit_hour": entries,
                "last_elements_limit_hour": elements,
            }
        )
    return {"measured_structures": structures, "measured_queues": queues}


def of_each(rows: list[dict[str, Any]], *names: str) -> list[tuple[tuple[Any, ...], list[dict[str, Any]]]]:
    """Return the rows of each key; rows are sorted by it."""
    return [(key, list(found)) for key, found in groupby(rows, itemgetter(*names))]


def test_lists_agree_with_the_hours_after_every_roll_up(database: Database) -> None:
    random = Random(20261124)
    for _ in range(25):
        found = stored(database, random_lines(random))
        assert {name: found[name] for name in ("measured_structures", "measured_queues")} == listed(found)


def test_lines_of_other_events_are_ignored(database: Database) -> None:
    assert stored(database, [{"event": "progress", "done": 1}, *LINES]) == stored(database, LINES)


def test_more_lines_than_one_batch_are_all_stored(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stored(database, LINES)
    monkeypatch.setattr(rollups, "BATCH", 2)
    assert stored(database, output(days=["2026-11-16", "2026-11-17"]), LINES) == whole


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (structure_hour(0, qsg=None), "qsg"),
        (structure_hour(0, hour="2026-11-16T10:30:00Z"), "start of an hour"),
        (structure_hour(0, hour="2026-11-16T10:00:00"), "hour"),
        (structure_hour(0, entries_in_use_max=-1), "entries_in_use_max"),
        (structure_hour(0, structure_full_count=2**63), "structure_full_count"),
        (smds_hour(0, queue_manager=""), "queue_manager"),
        (queue_hour(0, queue="Q" * 49), "queue"),
        (queue_hour(0, size_buckets=[{"up_to_bytes": 4}]), "size_buckets"),
        (
            {"event": "end", "structure_hours": 4, "smds_hours": 2, "queue_hours": 2},
            "structure_hours announces 4",
        ),
    ],
)
def test_line_that_cannot_be_stored_is_reported_and_nothing_is_stored(
    database: Database, line: dict[str, Any], fault: str
) -> None:
    with pytest.raises(RollupInvalid, match=rf"Line 9 .*{fault}"):
        stored(database, [*LINES[:-1], line, LINES[-1]])
    assert not any(stored(database).values())


def test_truncated_lines_are_refused(database: Database) -> None:
    with pytest.raises(RollupInvalid, match="run them again"):
        stored(database, LINES[:-1])
    assert not any(stored(database).values())
