"""Histories for the tests of nightly runs, written by hand or generated from a seed."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from planner_core.names import cfrm_structure_name
from spark_jobs.history import staging
from spark_jobs.history.schema import (
    ALLOCATION,
    QUEUE_USAGE,
    SMDS_USAGE,
    STRUCTURE_USAGE,
    row_schema,
)
from spark_jobs.history.staging import Source
from spark_jobs.history.store import Committed, FileFacts, History, new_commit_id
from tests.spark_jobs.history.support import sha256

MIDNIGHT = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
"""A Monday."""
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
MIB = 2**20

Rows = dict[str, list[dict[str, Any]]]


def commit(history: History, name: str, rows: Rows, *, qsgs: list[str] | None = None) -> Committed:
    """Commit rows as a file with this name."""
    source = Source(new_commit_id(), name, sha256(name))
    stage = history.stage(source)
    for table, of_table in rows.items():
        stage.add(table, pa.Table.from_pylist(of_table, schema=row_schema(table)))
    groups = {row["qsg"] for of_table in rows.values() for row in of_table if row.get("qsg")}
    return history.commit(source, stage.finish(), FileFacts(1, "smf", {}, qsgs=qsgs or sorted(groups)))


def interval(end: dt.datetime, length: dt.timedelta = HOUR) -> dict[str, Any]:
    return {
        "origin": "binary",
        "file_offset": 0,
        "file_record": 0,
        "piece": 0,
        "system_id": "SYSA",
        "written_at": end,
        "interval_start": end - length,
        "interval_end": end,
        "interval_us": length // dt.timedelta(microseconds=1),
    }


def named(structure: str, qsg: str = "SQ03") -> dict[str, Any]:
    return {
        "qsg": qsg,
        "structure": structure,
        "xcf_structure": cfrm_structure_name(qsg_name=qsg, cfstruct_name=structure),
    }


def qest(end: dt.datetime, structure: str = "APP1", **values: object) -> dict[str, Any]:
    """Return structure usage as reported by a queue manager."""
    return {
        **interval(end), **named(structure), "source": "115-2 QEST", "queue_manager": "MQ01",
        "in_use_kind": "interval_maximum", "structure_full_count": 0, "entries_in_use": 1000, "elements_in_use": 6000,
        "ixllste_calls": 900, "ixllste_redrives": 90, "ixllstm_calls": 100, "ixllstm_redrives": 10, **values,
    }  # fmt: skip


def r744(end: dt.datetime, structure: str = "APP1", **values: object) -> dict[str, Any]:
    """Return structure usage as reported by RMF, which knows no group."""
    return {
        **interval(end), **named(structure), "qsg": None, "structure": None, "source": "74-4 R744SREQ", "sysplex": "PLEX1",
        "coupling_facility": "CF01", "allocated_at": MIDNIGHT - 30 * DAY, "in_use_kind": "at_end", "size_bytes": 512 * MIB,
        "size_max_bytes": 1024 * MIB, "entries_total": 200_000, "elements_total": 1_200_000, "entries_in_use": 900,
        "elements_in_use": 5500, "sync_requests": 1000, "sync_us": 20_000, "async_requests": 500, "async_us": 100_000,
        "changed_requests": 15, "queued_requests": 15, **values,
    }  # fmt: skip


def qesd(end: dt.datetime, structure: str = "APP1", **values: object) -> dict[str, Any]:
    """Return usage of a shared message data set."""
    return {
        **interval(end), **named(structure), "source": "115-2 QESD", "queue_manager": "MQ01", "blocks_total": 1000,
        "blocks_data": 990, "blocks_in_use": 10, "blocks_in_use_max": 20, "messages_max": 50, "failed_allocates": 0,
        "pool_waits": 0, "buffer_waits": 0, **values,
    }  # fmt: skip


def qqst(end: dt.datetime, queue: str = "Q1", structure: str = "APP1", **values: object) -> dict[str, Any]:
    """Return usage of a queue by a whole queue manager."""
    return {
        **interval(end), **named(structure), "source": "115-216 QQST", "queue_manager": "MQ01", "queue": queue,
        "puts": 100, "put_bytes": 100_000, "put_size_min_bytes": 100, "put_size_max_bytes": 5000, "persistent_puts": 50,
        "depth_max": 70, **values,
    }  # fmt: skip


def wq(end: dt.datetime, queue: str = "Q1", structure: str = "APP1", **values: object) -> dict[str, Any]:
    """Return usage of a queue by one task."""
    return {
        **qqst(end, queue, structure), "source": "116-1 WQ", "piece": 10_000, "correlation": "0" * 32,
        "opened_at": end - HOUR, "open_queue": queue, "puts_to_waiting_getter": 3, "get_readlists": 100,
        "get_moves": 90, **values,
    }  # fmt: skip


def displayed(at: dt.datetime, structure: str = "APP1", **values: object) -> dict[str, Any]:
    """Return an allocation as displayed by D XCF."""
    return {
        **interval(at, dt.timedelta(0)), **named(structure), "origin": "display", "source": "display XCF", "interval_start": None,
        "written_at": None, "system_id": None, "qsg": None, "structure": None, "coupling_facility": "CF01",
        "allocated_at": MIDNIGHT - 30 * DAY, "policy_size_bytes": 1024 * MIB, "policy_initsize_bytes": 512 * MIB,
        "full_threshold_pct": 85, "size_bytes": 512 * MIB, "entries_in_use": 800, "entries_total": 200_000,
        "elements_in_use": 5000, "elements_total": 1_200_000, **values,
    }  # fmt: skip


def usual_day(number: int, *, structures: int = 3, hours: int = 24, seed: int = 1, every: int = 4) -> Rows:
    """Return one day of all kinds of rows, with one interval `every` so many hours."""
    chance = random.Random(1000 * seed + number)
    begin = MIDNIGHT + number * DAY
    rows: Rows = {STRUCTURE_USAGE: [], SMDS_USAGE: [], QUEUE_USAGE: [], ALLOCATION: []}
    for hour in range(0, hours, every):
        end = begin + (hour + every) * HOUR
        for place in range(structures):
            name = f"APP{place + 1}"
            used = 20_000 * (place + 1) + 150 * number + chance.randrange(3000)
            rest = {"interval_start": end - every * HOUR}
            for manager in ("MQ01", "MQ02"):
                rows[STRUCTURE_USAGE].append(
                    qest(
                        end,
                        name,
                        queue_manager=manager,
                        entries_in_use=used - 7,
                        elements_in_use=5 * used,
                        **rest,
                    )
                )
            total = 200_000 * (place + 1)
            rows[STRUCTURE_USAGE].append(
                r744(
                    end, name, entries_in_use=used, elements_in_use=5 * used - 100, entries_total=total,
                    elements_total=6 * total, size_bytes=22 * MIB + total * 2196, **rest,
                )
            )  # fmt: skip
            rows[SMDS_USAGE].append(
                qesd(end, name, blocks_in_use_max=10 + number + chance.randrange(9), **rest)
            )
            for queue in range(2):
                puts = chance.randrange(5000)
                rows[QUEUE_USAGE].append(
                    qqst(
                        end,
                        f"{name}.Q{queue}",
                        name,
                        puts=puts,
                        put_bytes=puts * chance.randrange(100, 9000),
                        **rest,
                    )
                )
    return rows


@contextlib.contextmanager
def older_release() -> Iterator[None]:
    """Write files without the sums of their rows, so that nightly runs and roll-ups read the rows."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(staging, "footer_of", lambda *_: {})
        yield


def make_history(folder: Path, days: range, **values: int) -> History:
    """Write a history of ordinary days, each from its own file."""
    history = History.open(str(folder), create=True)
    for number in days:
        commit(history, f"day-{number}.smf", usual_day(number, **values))
    return history


def history_at_once(folder: Path, days: range, **values: int) -> History:
    """Write the same history from one file, which is faster."""
    history = History.open(str(folder), create=True)
    rows: Rows = {}
    for number in days:
        for table, of_day in usual_day(number, **values).items():
            rows.setdefault(table, []).extend(of_day)
    commit(history, "all.smf", rows)
    return history
