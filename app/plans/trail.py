"""Entries of the audit trail about plans, and who acknowledged which finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from sqlalchemy.orm import Session

from app.actor import current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.plans import repository
from app.plans.computed import ComparedDocuments, ComputedPlan
from app.plans.models import Plan, PlanAcknowledgment
from app.plans.stored import StoredVersion
from planner_core.checks import index_of
from planner_core.document.compare import Difference, differences
from planner_core.document.model import Acknowledgment
from planner_core.document.schema import with_new_keys
from planner_core.findings import Finding
from planner_core.wire import Answer, JsonObject

PLAN = "plan"
MOST_FIELDS = 40
"""Changed fields that an entry names; it always states their number."""
LONGEST_VALUE = 80
"""Characters of the JSON text of a value before or after a change; longer values are left out."""


@dataclass(frozen=True, slots=True)
class StoredAcknowledgment(Answer):
    """An acknowledged finding of a document, and who acknowledged it."""

    code: str
    structure: str | None
    message: str | None
    reason: str
    author: Annotated[
        str | None,
        Field(
            description="Who saved the first version with this entry; null if the service did not record it yet."
        ),
    ]
    acknowledged_at: datetime | None


class Before(NamedTuple):
    """The version before a saved one, and the documents of both for comparisons."""

    version: StoredVersion
    compared: ComparedDocuments


def plan_object(plan: Plan, number: int | None = None, *, name: str = "") -> AuditObject:
    """Return a plan as the object of an action, and the version if the action concerns only one."""
    return AuditObject(PLAN, name or plan.name, id=plan.id, version=number)


def record_version(
    session: Session,
    plan: Plan,
    *,
    before: Before | None,
    after: ComputedPlan,
    comment: str | None,
    at: datetime,
) -> None:
    """Record a saved version, and the findings that it acknowledges or reopens.

    Args:
        session: The session that saves the version.
        plan: The plan, whose latest version is the saved one.
        before: The version before it and both documents; None for the first version.
        after: The contents of the version.
        comment: The comment of the version.
        at: The time of the version.
    """
    about = plan_object(plan, plan.latest)
    if before is None:
        details = {
            "after": plan.latest,
            "comment": comment,
            "qsg": after.qsg,
            "structures": after.application_structures,
        }
        record(session, Action.PLAN_CREATED, about, details)
    else:
        details = {
            "before": plan.latest - 1,
            "after": plan.latest,
            "comment": comment,
            **changed_fields(with_new_keys(before.compared.stored), before.compared.new),
        }
        record(session, Action.PLAN_SAVED, about, details)
    old = () if before is None else before.version.acknowledged
    accepted, reopened = _only_in(after.accepted, old), _only_in(old, after.accepted)
    for action, entries in ((Action.FINDING_ACKNOWLEDGED, accepted), (Action.FINDING_REOPENED, reopened)):
        # One entry for each code: a code can have a finding for each of 32 000 queues.
        for code in dict.fromkeys(each["code"] for each in entries):
            of_code = [
                {key: each[key] for key in ("structure", "message", "reason")}
                for each in entries
                if each["code"] == code
            ]
            found = {"code": code, "findings": len(of_code), "first": of_code[:MOST_FIELDS]}
            record(session, action, about, found)
    author = current_actor().name
    repository.add_acknowledgments(
        session,
        [
            {
                "plan_id": plan.id,
                "number": plan.latest,
                "digest": digest,
                "author": author,
                "acknowledged_at": at,
            }
            for digest in dict.fromkeys(map(_digest_of, accepted))
        ],
    )


def changed_fields(old: JsonObject, new: JsonObject) -> JsonObject:
    """Return the number of differences between two documents, and the first ones with short values."""
    found = differences(old, new)
    return {"changes": len(found), "fields": [_field(each) for each in found[:MOST_FIELDS]]}


def acknowledgments(
    session: Session, plan_id: int, number: int, entries: Sequence[JsonObject]
) -> tuple[StoredAcknowledgment, ...]:
    """Return the acknowledgments of the document of a version, with their authors, in its order."""
    if not entries:
        return ()
    rows = repository.read_acknowledgments(session, plan_id, number)
    authors: Mapping[str, PlanAcknowledgment] = {
        row.digest: row for row in rows
    }  # the last one of each digest
    found = []
    for entry in entries:
        row = authors.get(_digest_of(entry))
        found.append(
            StoredAcknowledgment(
                code=entry["code"],
                structure=entry["structure"],
                message=entry["message"],
                reason=entry["reason"],
                author=None if row is None else row.author,
                acknowledged_at=None if row is None else row.acknowledged_at,
            )
        )
    return tuple(found)


def acknowledgment_of(entries: Sequence[StoredAcknowledgment], item: Finding) -> StoredAcknowledgment | None:
    """Return the entry that acknowledges a finding; None if the finding is open."""
    if not item.acknowledged:
        return None
    read = [
        Acknowledgment(code=each.code, structure=each.structure, message=each.message, reason=each.reason)
        for each in entries
    ]
    index = index_of(read, item)
    return None if index is None else entries[index]


def _only_in(here: Sequence[JsonObject], there: Sequence[JsonObject]) -> list[JsonObject]:
    known = {_digest_of(each) for each in there}
    return [each for each in here if _digest_of(each) not in known]


def _digest_of(entry: Mapping[str, Any]) -> str:
    members = [entry[key] for key in ("code", "structure", "message", "reason")]
    return hashlib.sha256(json.dumps(members).encode("ascii")).hexdigest()


def _field(found: Difference) -> JsonObject:
    """Return a difference with its values, if they are short."""
    values = {}
    for side in ("before", "after"):
        value = getattr(found, side)
        if value is not None and len(json.dumps(value)) <= LONGEST_VALUE:
            values[side] = value
    return {"at": found.pointer, "kind": found.kind, **values}
