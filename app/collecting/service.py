"""The names of a site, and the figures that its usage history lacks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from sqlalchemy.orm import Session

from app.collecting.answers import MissingData
from app.jobs import repository as job_rows
from app.uploads import qsg_map
from app.uploads.job_kind import INGEST
from app.usage import repository as usage_rows
from planner_core import names
from planner_core.checks.collected_data import StructureHistory, missing_in_history
from planner_core.contracts import tolerant
from planner_core.contracts.ingest import IngestReport
from planner_core.errors import NameSyntax
from planner_core.texts.collection_kit import MOST_NAMES, CollectionKitQuestion

MOST_REPORTS = 20
"""The number of reports that are searched for names, because a report may be megabytes long."""


def with_known_names(session: Session, question: CollectionKitQuestion) -> CollectionKitQuestion:
    """Return the question with the names known from uploads, where it names no systems or no queue managers."""
    if question.systems and question.queue_managers:
        return question
    systems, managers = known_names(session)
    return question.model_copy(
        update={
            "systems": question.systems or systems,
            "queue_managers": question.queue_managers or managers,
        }
    )


def known_names(session: Session) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return systems and queue managers from the map and the reports of the last uploads, in order."""
    systems: set[str] = set()
    managers: set[str] = set()
    places = [(each.system_id, each.queue_manager) for each in qsg_map.entries(session)]
    for system, manager in (*places, *_sources(session)):
        systems.add(system)
        managers.add(manager)
    return _usable(systems, names.system), _usable(managers, names.queue_manager)


def _usable(found: Iterable[str], check: Callable[[str], str]) -> tuple[str, ...]:
    """Return the names that a kit can have, in order: files may have any text in place of a name."""
    usable = []
    for name in sorted(found):
        with suppress(NameSyntax):
            usable.append(check(name))
    return tuple(usable[:MOST_NAMES])


def _sources(session: Session) -> Iterator[tuple[str, str]]:
    """Yield the systems and queue managers of reports; empty where not known."""
    for text in job_rows.last_reports(session, INGEST, most=MOST_REPORTS):
        for file in tolerant.read(IngestReport, json.loads(text)).files:
            for each in file.sources:
                yield each.system_id or "", each.queue_manager or ""
            for manager in file.queue_managers:
                yield manager.system_id or "", manager.queue_manager


def missing_data(session: Session) -> MissingData:
    """Return the figures that the usage history lacks."""
    rows = usage_rows.histories(session)
    found = [
        StructureHistory(
            qsg=row.qsg,
            structure=row.structure,
            first_at=row.first_hour,
            last_at=row.last_hour,
            has_use=row.last_use_hour is not None,
            has_limits=row.last_limits_hour is not None,
            # MQ's own structures have queues of MQ only, which have no records.
            has_queues=row.has_queues or row.structure in names.OWN_STRUCTURES,
        )
        for row in rows
    ]
    return MissingData(structures=len(found), findings=tuple(missing_in_history(found)))
