"""Sample roll-ups in the format that the jobs write."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import FastAPI

from app.usage.rollups import store_rollups

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def at(hours: float) -> datetime:
    """Return the time this many hours after the start of Monday."""
    return MONDAY + timedelta(hours=hours)


def moment(hours: float) -> str:
    """Return the same time as it is written in a line."""
    return at(hours).isoformat().replace("+00:00", "Z")


def structure_hour(hours: int, **members: object) -> dict[str, Any]:
    """Return a line on APPLICATION1 of SQ03 with all keys that the jobs write."""
    unknown = (
        "entries_total", "elements_total", "entries_in_use_pct_max", "elements_in_use_pct_max",
        "scm_entries_in_use_max", "scm_elements_in_use_max", "size_bytes", "size_max_bytes", "size_min_bytes",
        "size_used_bytes_max", "policy_size_bytes", "policy_initsize_bytes", "policy_minsize_bytes",
        "full_threshold_pct", "sync_requests", "sync_us", "async_requests", "async_us", "changed_requests",
        "queued_requests", "queued_us", "entries_written", "elements_written",
    )  # fmt: skip
    return {
        "event": "structure_hour", "qsg": "SQ03", "structure": "APPLICATION1", "hour": moment(hours),
        "entries_in_use_max": 1000 + hours, "elements_in_use_max": 6000 + hours, "structure_full_count": 0,
        **dict.fromkeys(unknown), "ixllste_calls": 7059, "ixllste_us": 1_030_000, "ixllste_redrives": 45,
        "ixllstm_calls": 2867, "ixllstm_us": 120_000, "ixllstm_redrives": 0, "queue_managers": 2, "observations": 4,
        "sources": ["115-2 QEST"], **members,
    }  # fmt: skip


def smds_hour(hours: int, **members: object) -> dict[str, Any]:
    """Return a line on the data set of queue manager CSQ1 for APPLICATION1."""
    return {
        "event": "smds_hour", "qsg": "SQ03", "structure": "APPLICATION1", "queue_manager": "CSQ1", "hour": moment(hours),
        "blocks_total": 402, "blocks_data": 400, "blocks_in_use_max": 10 + hours, "messages_max": 40,
        "failed_allocates": 0, "pages_allocated": 100, "pages_freed": 90, "buffers_total": 100, **members,
    }  # fmt: skip


def queue_hour(hours: int, **members: object) -> dict[str, Any]:
    """Return a line on PAYMENTS.IN in APPLICATION1."""
    return {
        "event": "queue_hour", "qsg": "SQ03", "queue": "PAYMENTS.IN", "structure": "APPLICATION1",
        "hour": moment(hours), "puts": 36_000, "put_bytes": 36_000_000, "put_size_min_bytes": 200,
        "put_size_max_bytes": 4000, "put_size_avg_bytes": 1000.0, "persistent_puts": 36_000,
        "puts_to_waiting_getter": 30_000, "gets": 36_000, "get_bytes": 36_000_000, "expired": 0, "depth_max": 500 + hours,
        "time_on_queue_max_us": 2_000_000, "size_buckets": [{"up_to_bytes": 1024, "puts": 36_000}],
        "queue_managers": 2, "source": "115-216", **members,
    }  # fmt: skip


def output(*lines: dict[str, Any], days: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the complete output of a roll-up with these hours."""
    counted = {
        f"{kind}_hours": sum(line["event"] == f"{kind}_hour" for line in lines)
        for kind in ("structure", "smds", "queue")
    }
    return [{"event": "days", "days": list(days)}, *lines, {"event": "end", **counted}]


def ten_days(*, days: int = 10) -> list[dict[str, Any]]:
    """Return ten days of a group: limits from day 3 on, four hours without records, full twice on day 9."""
    lines: list[dict[str, Any]] = []
    for hours in range(days * 24):
        load = 0.25 + 0.75 * max(0.0, math.sin((hours % 24 - 6) / 24 * 2 * math.pi))
        if 100 <= hours < 104:
            continue
        known = (
            {"entries_total": 131_072, "elements_total": 786_432, "size_bytes": 512 * 2**20}
            if hours >= 48
            else {}
        )
        full = 3 if hours in {203, 204} else 0
        burst = 5 if full else 1
        lines += [
            structure_hour(
                hours, entries_in_use_max=min(int(26_000 * load * burst), 131_072),
                elements_in_use_max=min(int(160_000 * load * burst), 786_432), structure_full_count=full,
                sources=["115-2 QEST", "74-4 R744SREQ"] if known else ["115-2 QEST"], **known,
            ),
            structure_hour(
                hours, structure="CSQ_ADMIN", entries_in_use_max=2_194, elements_in_use_max=2_570,
                entries_total=26_000, elements_total=25_800,
            ),
            structure_hour(hours, structure="PERSIST1", entries_in_use_max=None, elements_in_use_max=None),
            smds_hour(hours, blocks_in_use_max=int(100 * load)),
        ]  # fmt: skip
        for nth, (name, size) in enumerate(
            (("PAYMENTS.IN", 1_024), ("ORDERS.IN", 3_500), ("AUDIT.COPY", 700)), 1
        ):
            puts = int(36_000 * nth * load)
            lines.append(
                queue_hour(
                    hours, queue=name, puts=puts, put_bytes=puts * size, put_size_min_bytes=size // 4,
                    put_size_max_bytes=size * 9, persistent_puts=None if nth == 3 else puts * (2 - nth),
                    depth_max=int(8_000 * load * burst), size_buckets=[
                        {"up_to_bytes": 512, "puts": puts // 4}, {"up_to_bytes": 4096, "puts": puts - puts // 4},
                    ],
                )
            )  # fmt: skip
    return sorted(lines, key=lambda line: ("structure_hour", "smds_hour", "queue_hour").index(line["event"]))


def store(app: FastAPI, lines: Iterable[dict[str, Any]]) -> None:
    """Store the hours in the database of the application, as the job at the end of an upload does."""
    with app.state.database.session(writes=True) as session:
        store_rollups(session, output(*lines))
