"""Apply the retention of the usage history to its hourly roll-ups."""

from __future__ import annotations

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.database.engine import Database
from app.usage import repository
from planner_core.contracts.ingest import IngestReport


def drop_what_history_dropped(database: Database, report: IngestReport) -> int:
    """Delete the hours before the first day that the history keeps according to a report. Return their number.

    It runs in its own transaction and can be repeated at any time: if an ingest was killed before this step, the next
    ingest deletes the hours.
    """
    if report.kept_from is None:
        return 0
    with database.session(writes=True) as session:
        removed = repository.remove_before(session, report.kept_from)
        if removed:
            details = {"before_day": str(report.kept_from), "hours": removed}
            record(session, Action.HISTORY_SHORTENED, AuditObject("usage", "Hourly usage"), details)
        return removed
