"""Roll-ups of two queues over some weeks, whose puts follow the hour and the weekday."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from tests.app.usage.support import queue_hour, store, structure_hour

BUSY = (8, 18)
"""The first busy hour, and the first quiet one after it."""


def puts_of(hours: int) -> int:
    """Return the puts to PAYMENTS.IN in an hour after the start of Monday: ten times as many on working days."""
    hour, weekday = hours % 24, hours // 24 % 7
    return 400_000 if BUSY[0] <= hour < BUSY[1] and weekday < 5 else 40_000


def weeks(days: int, *, structure: str = "APP1", but: frozenset[int] = frozenset()) -> list[dict[str, Any]]:
    """Return the lines of these days, without puts in the hours `but`."""
    lines = []
    for hours in range(days * 24):
        lines.append(
            structure_hour(
                hours,
                structure=structure,
                entries_in_use_max=500,
                elements_in_use_max=4_500,
                entries_total=900_000,
                elements_total=5_400_000,
            )
        )
        if hours in but:
            continue
        puts = puts_of(hours)
        for name, size, share in (("PAYMENTS.IN", 2_048, 1), ("ORDERS.IN", 9_000, 4)):
            lines.append(
                queue_hour(
                    hours,
                    structure=structure,
                    queue=name,
                    puts=puts // share,
                    put_bytes=puts // share * size,
                    put_size_min_bytes=size if name == "PAYMENTS.IN" else 200,
                    put_size_max_bytes=size if name == "PAYMENTS.IN" else 60_000,
                )
            )
    return sorted(lines, key=lambda line: line["event"] == "queue_hour")


def store_weeks(app: FastAPI, days: int, *, but: frozenset[int] = frozenset()) -> None:
    """Store the hours of these days in the database of an application."""
    store(app, weeks(days, but=but))
