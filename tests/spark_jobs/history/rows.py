"""Rows for the history, written by hand: values that tests do not state are null."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa

from spark_jobs.history.schema import QUEUE_USAGE, STRUCTURE_USAGE, row_schema

MIDNIGHT = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
INTERVAL = dt.timedelta(minutes=30)


def qest(number: int = 0, **values: object) -> dict[str, Any]:
    """Return one row of structure usage as from a 115-2: the interval with this number on 2026-11-20."""
    end = MIDNIGHT + (number + 1) * INTERVAL
    return {
        "source": "115-2 QEST",
        "origin": "binary",
        "file_offset": 1000 * number,
        "file_record": number,
        "piece": 0,
        "system_id": "SYSA",
        "queue_manager": "CSQ1",
        "qsg": "SQ03",
        "structure": "APPLICATION1",
        "written_at": end + dt.timedelta(milliseconds=10),
        "interval_start": end - INTERVAL,
        "interval_end": end,
        "interval_us": 1_800_000_000,
        "ixllste_calls": 10 + number,
        "structure_full_count": 0,
        "in_use_kind": "interval_maximum",
        "entries_in_use": 100 + number,
        "elements_in_use": 600 + number,
        **values,
    }


def wq(number: int = 0, **values: object) -> dict[str, Any]:
    """Return one row of queue usage as from a 116-1."""
    end = MIDNIGHT + (number + 1) * INTERVAL
    return {
        "source": "116-1 WQ",
        "origin": "binary",
        "file_offset": 5000 * number,
        "file_record": number,
        "piece": 10000,
        "system_id": "SYSA",
        "queue_manager": "CSQ1",
        "qsg": "SQ03",
        "structure": "APPLICATION1",
        "written_at": end,
        "interval_start": end - INTERVAL,
        "interval_end": end,
        "interval_us": 1_800_000_000,
        "queue": "PAYMENTS.IN",
        "open_queue": "PAYMENTS.IN",
        "disposition": "SHARED",
        "correlation": f"{number:032X}",
        "opened_at": end - INTERVAL,
        "puts": 7,
        "put_bytes": 7000,
        **values,
    }


def structure_rows(*rows: dict[str, Any]) -> pa.Table:
    """Return a table of structure usage."""
    return pa.Table.from_pylist(list(rows), schema=row_schema(STRUCTURE_USAGE))


def queue_rows(*rows: dict[str, Any]) -> pa.Table:
    """Return a table of queue usage."""
    return pa.Table.from_pylist(list(rows), schema=row_schema(QUEUE_USAGE))
