"""The records that an uploaded dump lacks."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.uploads import qsg_map
from planner_core.checks.collected_data import missing_in_file
from planner_core.contracts import tolerant
from planner_core.contracts.ingest import IngestReport, QueueManagerGroup
from planner_core.findings import Finding
from planner_core.wire import JsonObject


def members(session: Session) -> tuple[QueueManagerGroup, ...]:
    """Return the queue managers of the map that are in a group."""
    return tuple(
        QueueManagerGroup(each.system_id, each.queue_manager, each.qsg)
        for each in qsg_map.entries(session)
        if each.qsg
    )


def missing_in_report(
    report: JsonObject | None, known: Sequence[QueueManagerGroup]
) -> tuple[tuple[Finding, ...], ...]:
    """Return the records that each file of a report lacks."""
    files = tolerant.read(IngestReport, report or {}).files
    return tuple(tuple(missing_in_file(each, known)) for each in files)
