"""The same retention for hourly roll-ups as for the usage history: what the history has dropped is no longer shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from app.database.engine import Database
from app.usage import repository


def drop_what_history_dropped(database: Database, report: Mapping[str, Any]) -> int:
    """Drop the hours before the first day that an ingest's report says the history has kept, in a transaction of their own.

    Without such a day nothing is dropped. It may be done again at any time: an ingest that was killed in between leaves it
    to the next. Returns how many hours went.
    """
    told = report.get("kept_from")
    if not isinstance(told, str):
        return 0
    with database.session(writes=True) as session:
        return repository.remove_before(session, date.fromisoformat(told))
