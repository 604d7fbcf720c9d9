"""Reduction of days in plain Python, row by row: a reference for Spark's reduction, and its stand-in in tests without Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from planner_core.health import guidelines, level_of
from spark_jobs.history.schema import ALLOCATION, QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE
from spark_jobs.history.store import History, Snapshot
from spark_jobs.night.measures import MEASURED
from spark_jobs.night.reduce import Reduced
from spark_jobs.night.statistics import (
    FAMILIES,
    HEALTH,
    KINDS,
    OTHER_FAMILIES,
    POLICY,
    QUEUE,
    SMDS,
    STATISTICS,
    STRUCTURE,
    kept_schema,
    keys,
)

Row = dict[str, Any]
WEEK = dt.timedelta(days=7)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def reduce_days(
    session: object,
    history: History,
    snapshot: Snapshot,
    days: Sequence[str],
    *,
    work_dir: Path,
    began: Callable[[str], None] = lambda kind: None,
) -> Reduced:
    """Reduce days like `spark_jobs.night.reduce.reduce_days`."""
    rows = {
        table: [
            {**row, **_placed(row, dt.date.fromisoformat(day))}
            for day, found in history.read_days(table, snapshot=snapshot)
            if day in days
            for row in found.to_pylist()
            if row["qsg"] and row["structure"]
        ]
        for table in (STRUCTURE_USAGE, ALLOCATION, SMDS_USAGE, QUEUE_USAGE)
    }
    made = {
        STRUCTURE: _grouped(STRUCTURE, [_structure(row) for row in rows[STRUCTURE_USAGE] + rows[ALLOCATION]]),
        POLICY: _grouped(POLICY, [row for row in rows[ALLOCATION] if _has_policy(row)]),
        SMDS: _grouped(SMDS, [_data_set(row) for row in rows[SMDS_USAGE] if row["queue_manager"]]),
        QUEUE: _grouped(QUEUE, _queues([row for row in rows[QUEUE_USAGE] if row["queue"]])),
        HEALTH: _grouped(
            HEALTH, [line for table in MEASURED for row in rows[table] for line in _judged(table, row)]
        ),
    }
    for kind in KINDS:
        began(kind)
    read = dict.fromkeys(days, 0)
    for part in snapshot.parts:
        if part.day in read and part.table in rows:
            read[part.day] += part.rows
    return Reduced(made, read)


def _placed(row: Row, filed: dt.date) -> Row:
    end: dt.datetime = row["interval_end"]
    start: dt.datetime = row["interval_start"] or end
    if start > end or end - start > WEEK:
        start = end
    middle = start + (end - start) / 2
    return {
        "filed": filed,
        "day": middle.date(),
        "family": next(
            (place for place, name in enumerate(FAMILIES) if row["source"].startswith(name)), OTHER_FAMILIES
        ),
        "observations": 1,
        "first_at": start,
        "last_at": end,
        "hours": 1 << middle.hour,
        "is_simulated": int(row["file_name"].startswith("simulated-")),
    }


def _structure(row: Row) -> Row:
    entries, elements = row["entries_in_use"], row["elements_in_use"]
    return {
        **row,
        "entries_peak": entries,
        "elements_peak": elements,
        "entries_pct_peak": row.get("entries_in_use_pct"),
        "elements_pct_peak": row.get("elements_in_use_pct"),
        "fullest": None if entries is None or elements is None else (entries << 32) + elements,
        "full_count": row.get("structure_full_count"),
        "entries_written": row.get("entries_written"),
        "elements_written": row.get("elements_written"),
    }


def _has_policy(row: Row) -> bool:
    names = ("policy_size_bytes", "policy_initsize_bytes", "full_threshold_pct", "mq_offload_rules")
    return any(row[name] is not None for name in names)


def _data_set(row: Row) -> Row:
    return {
        **row,
        "blocks_peak": _most([row["blocks_in_use_max"], row["blocks_in_use"]]),
        "blocks_total": row["blocks_data"],
        "messages_peak": _most([row["messages_max"], row["messages"]]),
    }


def _queues(rows: list[Row]) -> list[Row]:
    first: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = (row["filed"], row["qsg"], row["structure"], row["queue"], row["queue_manager"])
        first[key] = min(first.get(key, row["family"]), row["family"])
    found = []
    for row in rows:
        key = (row["filed"], row["qsg"], row["structure"], row["queue"], row["queue_manager"])
        if row["family"] != first[key]:
            continue
        squares = None
        if row["puts"] and row["put_bytes"] is not None:
            squares = row["puts"] * (-(-row["put_bytes"] // (256 * row["puts"]))) ** 2
            squares = squares if squares < 2**63 else None  # no record says so much
        found.append({**row, "put_size_squares": squares, "depth_peak": row["depth_max"]})
    return found


def _judged(table: str, row: Row) -> list[Row]:
    found = []
    for each in MEASURED[table]:
        if not all(_is_plausible(row[name]) for name in (*each.parts, *each.wholes)):
            continue
        part, whole = (sum(row[name] for name in names) for names in (each.parts, each.wholes))
        whole = whole if each.wholes else 1
        reporter = row[each.reporter]
        if not row["source"].startswith(each.family) or reporter is None:
            continue
        level = level_of(each.measure, part, whole)
        value = min(100 * guidelines()[each.measure].scale * part // max(whole, 1), 2**31 - 1)
        second = int((row["last_at"] - EPOCH).total_seconds() // 1)
        found.append(
            {
                **row,
                "measure": each.measure,
                "reporter": reporter,
                "coupling_facility": row.get("coupling_facility"),
                "queue": row.get("queue"),
                "intervals": int(level is not None),
                "above_good": int(level in ("above_good", "above_limit")),
                "above_limit": int(level == "above_limit"),
                "worst": None if level is None else (value << 32) + second,
            }
        )
    return found


def _is_plausible(figure: int | None) -> bool:
    return figure is not None and 0 <= figure <= 2**48


def _grouped(kind: str, rows: list[Row]) -> pa.Table:
    names = ["filed", *keys(kind)]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    merged = [
        dict(zip(names, key, strict=True))
        | {
            one.name: _MERGES[one.merge]([row.get(one.name) for row in of_key])
            for one in STATISTICS[kind]
            if one.merge != "key"
        }
        for key, of_key in groups.items()
    ]
    return pa.Table.from_pylist(merged, schema=kept_schema(kind))


def _known(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _most(values: list[Any]) -> Any:  # noqa: ANN401 - of any column
    return max(_known(values), default=None)


def _or(values: list[int]) -> int:
    found = 0
    for value in values:
        found |= value
    return found


_MERGES: dict[str, Callable[[list[Any]], Any]] = {
    "max": _most,
    "fullest": _most,
    "min": lambda values: min(_known(values), default=None),
    "sum": lambda values: sum(_known(values)) if _known(values) else None,
    "or": _or,
}
