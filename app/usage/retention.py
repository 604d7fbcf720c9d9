"""The same retention for hourly roll-ups as for the usage history."""

from __future__ import annotations

from app.database.engine import Database
from app.usage import repository
from planner_core.contracts.ingest import IngestReport


def drop_what_history_dropped(database: Database, report: IngestReport) -> int:
    """Drop the hours before the first day that a report says the history keeps. Return the number of hours.

    It has a transaction of its own and may run again at any time: if an ingest was killed before it, the next ingest
    drops the hours.
    """
    if report.kept_from is None:
        return 0
    with database.session(writes=True) as session:
        return repository.remove_before(session, report.kept_from)
