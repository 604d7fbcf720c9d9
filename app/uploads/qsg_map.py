"""The site's map of queue managers to queue-sharing groups. Records before MQ 10 name no group, and cfplan never guesses one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.errors import NotFound
from app.problem_types import UPLOAD_NOT_FOUND
from app.uploads import repository
from app.uploads.errors import upload_invalid
from app.uploads.models import QsgMapping
from planner_core import names
from planner_core.contracts.ingest import IngestReport
from planner_core.errors import FieldProblem, NameSyntax
from planner_core.wire import Answer, copied

SYSTEM_PATTERN = names.SYSTEM_PATTERN
_SYSTEM = re.compile(SYSTEM_PATTERN)
ANY_SYSTEM = "ANY"
"""The system name used for texts that name only the queue manager."""


@dataclass(frozen=True, slots=True)
class GroupMapping(Answer):
    """The group of a queue manager."""

    system_id: Annotated[str, Field(description="The SMF identifier of the system.")]
    queue_manager: str
    qsg: Annotated[str, Field(description="Empty if the queue manager is in no group.")]
    updated_at: datetime


def entries(session: Session) -> Sequence[GroupMapping]:
    """Return all entries of the map, in order."""
    return [copied(GroupMapping, row) for row in repository.list_mappings(session)]


def is_known(known: Mapping[tuple[str, str], str], system_id: str, queue_manager: str) -> bool:
    """Return whether a map states the group of a queue manager, as the reader uses it.

    Displays do not name the system: without an entry for ANY, the entries for all systems must name the same group.
    """
    if (system_id, queue_manager) in known or system_id != ANY_SYSTEM:
        return (system_id, queue_manager) in known
    return len({group for (_, name), group in known.items() if name == queue_manager}) == 1


def as_arguments(session: Session) -> list[str]:
    """Return the map as arguments of the reader: SID:QMGR=QSG."""
    return [f"{row.system_id}:{row.queue_manager}={row.qsg}" for row in repository.list_mappings(session)]


def put(session: Session, system_id: str, queue_manager: str, qsg: str) -> GroupMapping:
    """Add or change an entry; an empty `qsg` means that the queue manager is in no group.

    Data already stored keeps its group. An entry that is the same already keeps its time.

    Raises:
        FieldsInvalid: A name is invalid.
    """
    system_id, queue_manager, qsg = checked(system_id, queue_manager, qsg)
    row = repository.find_mapping(session, system_id, queue_manager)
    before = None if row is None else row.qsg
    if row is None:
        row = QsgMapping(system_id=system_id, queue_manager=queue_manager)
        session.add(row)
    if qsg != before:
        row.qsg, row.updated_at = qsg, utc_now()
        session.flush()
        about = _object_of(system_id, queue_manager)
        record(session, Action.GROUP_ASSIGNED, about, {"before": before, "after": qsg})
    return copied(GroupMapping, row)


def remove(session: Session, system_id: str, queue_manager: str) -> None:
    """Remove an entry.

    Raises:
        NotFound: There is no such entry.
    """
    row = repository.find_mapping(session, system_id, queue_manager)
    if row is None or not repository.remove_mapping(session, system_id, queue_manager):
        message = f"The map has no entry for the queue manager {queue_manager} on the system {system_id}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    record(session, Action.GROUP_REMOVED, _object_of(system_id, queue_manager), {"before": row.qsg})


def _object_of(system_id: str, queue_manager: str) -> AuditObject:
    return AuditObject("queue manager", f"{system_id}:{queue_manager}")


def checked(system_id: str, queue_manager: str, qsg: str, *, at: str = "") -> tuple[str, str, str]:
    """Return the three names in upper case.

    Raises:
        FieldsInvalid: A name is invalid.
    """
    # On z/OS, these names are in upper case, however they were typed.
    found = tuple(text.strip().upper() for text in (system_id, queue_manager, qsg))
    problems = []
    if not _SYSTEM.fullmatch(found[0]):
        message = f"{found[0][:20]!a} is not a valid system name: use 1 to 4 of the characters A-Z 0-9 $ # @."
        problems.append(FieldProblem(at or "system_id", message))
    for name, text, check in (
        ("queue_manager", found[1], names.queue_manager),
        ("qsg", found[2], names.qsg if found[2] else str),
    ):
        try:
            check(text)
        except NameSyntax as error:
            problems.append(FieldProblem(at or name, str(error)))
    if problems:
        raise upload_invalid(*problems)
    return found[0], found[1], found[2]


def of_report(report: IngestReport) -> dict[tuple[str, str], str]:
    """Return the entries of all maps among the files of a report."""
    entries = (entry for file in report.files for entry in file.qsg_map)
    return {(entry.system_id or "", entry.queue_manager): entry.qsg or "" for entry in entries}


def gathered(entries: Iterable[tuple[str, str, str]], *, field: str = "qsg") -> dict[tuple[str, str], str]:
    """Return the checked entries, keyed by system and queue manager.

    Raises:
        FieldsInvalid: A name is invalid, or a queue manager has two groups.
    """
    found: dict[tuple[str, str], str] = {}
    problems: list[FieldProblem] = []
    for entry in entries:
        system_id, queue_manager, qsg = checked(*entry)
        before = found.setdefault((system_id, queue_manager), qsg)
        if before != qsg:
            message = (
                f"{queue_manager} on {system_id} is assigned to {before or 'no group'} and to {qsg or 'no group'}. "
                "Choose one of them."
            )
            problems.append(FieldProblem(field, message))
    if problems:
        raise upload_invalid(*problems)
    return found


def put_all(session: Session, answers: Mapping[tuple[str, str], str]) -> None:
    """Add or change several entries in sorted order, because transactions with different orders could deadlock."""
    for (system_id, queue_manager), qsg in sorted(answers.items()):
        put(session, system_id, queue_manager, qsg)
