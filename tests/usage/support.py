"""Roll-ups as the jobs write them, made up for the tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def at(hours: float) -> datetime:
    """So many hours after the Monday's beginning."""
    return MONDAY + timedelta(hours=hours)


def structure_hour(hours: int, **members: object) -> dict[str, Any]:
    """A line about APPLICATION1 of SQ03."""
    return {
        "event": "structure_hour", "qsg": "SQ03", "structure": "APPLICATION1", "hour": at(hours).isoformat(),
        "entries_in_use_max": 1000 + hours, "elements_in_use_max": 6000 + hours, "structure_full_count": 0,
        "intervals": 2, "sources": ["smf115"], **members,
    }  # fmt: skip


def queue_hour(hours: int, **members: object) -> dict[str, Any]:
    """A line about PAYMENTS.IN in it."""
    return {
        "event": "queue_hour", "qsg": "SQ03", "queue": "PAYMENTS.IN", "structure": "APPLICATION1",
        "hour": at(hours).isoformat(), "puts": 36_000, "put_bytes": 36_000_000, "persistent_puts": 36_000,
        "message_bytes_min": 200, "message_bytes_max": 4000, "depth_high": 500 + hours, "intervals": 2,
        "sources": ["smf115"], **members,
    }  # fmt: skip


def hours_of(lines: Iterable[dict[str, Any]]) -> list[str]:
    """The hours that lines are about."""
    return [line["hour"] for line in lines]
