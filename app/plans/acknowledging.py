"""Acknowledge findings of a stored plan, each with its message, so that a finding with a changed message is open.

An acknowledgment can be withdrawn, which opens its findings again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from app.database.engine import Database
from app.fits.kept import curves_in
from app.plans import service
from app.plans.computed import compute
from app.plans.errors import NothingToAcknowledge, NothingToWithdraw, plan_conflict
from app.plans.stored import StoredVersion
from planner_core.checks import entry_of
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.findings import Finding
from planner_core.wire import JsonObject


class AcknowledgmentOutcome(NamedTuple):
    """The new version, and the number of findings that were acknowledged or opened again."""

    version: StoredVersion
    findings: int


def acknowledge(
    database: Database,
    name: str,
    *,
    code: str,
    reason: str,
    severity: str | None = None,
    structure: str | None = None,
    message: str | None = None,
    if_match: str | None = None,
) -> AcknowledgmentOutcome:
    """Save a version that acknowledges open findings with a code: all, or those of a severity, structure or message.

    Raises:
        PlanNotFound: There is no such plan.
        Conflict: The plan has been changed since the version that `if_match` names, or during this call.
        NothingToAcknowledge: The plan has no such open finding.
        DocumentInvalid: The reason is not valid.
    """

    def accept(version: StoredVersion) -> PlanDocument:
        return acknowledged(
            version, code=code, reason=reason, severity=severity, structure=structure, message=message
        )

    return _save(database, name, accept, if_match=if_match, comment=f"Acknowledged {code}")


def withdraw(
    database: Database,
    name: str,
    *,
    code: str,
    severity: str | None = None,
    structure: str | None = None,
    message: str | None = None,
    if_match: str | None = None,
) -> AcknowledgmentOutcome:
    """Save a version that opens acknowledged findings with a code: all, or those of a severity, structure or message.

    Raises:
        PlanNotFound: There is no such plan.
        Conflict: The plan has been changed since the version that `if_match` names, or during this call.
        NothingToWithdraw: The plan has no such acknowledged finding.
    """

    def reopen(version: StoredVersion) -> PlanDocument:
        return withdrawn(version, code=code, severity=severity, structure=structure, message=message)

    return _save(database, name, reopen, if_match=if_match, comment=f"Withdrew the acknowledgment of {code}")


def _save(
    database: Database,
    name: str,
    change: Callable[[StoredVersion], PlanDocument],
    *,
    if_match: str | None,
    comment: str,
) -> AcknowledgmentOutcome:
    """Save the changed document of the latest version."""
    with database.session(writes=False) as session:
        version = service.get_plan(session, name)
    if if_match is not None and not service.matches(if_match, version.etag):
        raise plan_conflict(version)
    # Calculated between two transactions, so that others can save meanwhile; the ETag below detects their changes.
    computed = compute(change(version), curves_in(database))
    with database.session(writes=True) as session:
        saved = service.save_plan(session, name, computed, if_match=version.etag, comment=comment).version
    changed = _acknowledged_count(saved.findings) - _acknowledged_count(version.findings)
    return AcknowledgmentOutcome(saved, abs(changed))


def _acknowledged_count(findings: Iterable[Finding]) -> int:
    return sum(each.acknowledged is not None for each in findings)


def acknowledged(
    version: StoredVersion,
    *,
    code: str,
    reason: str,
    severity: str | None = None,
    structure: str | None = None,
    message: str | None = None,
) -> PlanDocument:
    """Return the document of a version with its open findings of a code acknowledged, as `acknowledge` selects them.

    An existing entry with the same code, made for an earlier message of such a finding, is replaced.

    Raises:
        NothingToAcknowledge: The version has no such open finding.
        DocumentInvalid: The reason is not valid.
    """
    accepted = [
        {"code": code, "structure": item.structure, "message": item.message, "reason": reason}
        for item in version.findings
        if item.code == code
        and item.severity != "error"
        and not item.acknowledged
        and severity in (None, item.severity)
        and structure in (None, item.structure)
        and message in (None, item.message)
    ]
    if not accepted:
        raise NothingToAcknowledge(version, code, structure)
    raw = version.document.model_dump(mode="json")
    about = {(item["code"], item["structure"]) for item in accepted}
    # An entry that matches no finding was made for an earlier message; if it stayed, it would be reported as unused
    # forever.
    unused = {item.field for item in version.findings if item.code == "ACKNOWLEDGEMENT_UNUSED"}
    kept: list[JsonObject] = [
        item
        for number, item in enumerate(raw["acknowledged"])
        if not (
            f"/acknowledged/{number}" in unused
            and item["message"]
            and (item["code"], item["structure"]) in about
        )
    ]
    return read_object({**raw, "acknowledged": [*kept, *accepted]})


def withdrawn(
    version: StoredVersion,
    *,
    code: str,
    severity: str | None = None,
    structure: str | None = None,
    message: str | None = None,
) -> PlanDocument:
    """Return the document of a version with acknowledged findings of a code open again.

    An entry that also accepts other findings is replaced by an entry for each of those.

    Raises:
        NothingToWithdraw: The version has no such acknowledged finding.
    """
    document = version.document
    reopened: set[int] = set()
    accepted: dict[int, list[JsonObject]] = {}
    for item in version.findings:
        index = entry_of(document, item) if item.code == code and item.acknowledged else None
        if index is None:
            continue
        if (
            severity in (None, item.severity)
            and structure in (None, item.structure)
            and message in (None, item.message)
        ):
            reopened.add(index)
        else:
            entry = {"code": code, "structure": item.structure, "message": item.message}
            accepted.setdefault(index, []).append({**entry, "reason": item.acknowledged})
    if not reopened:
        raise NothingToWithdraw(version, code, structure)
    raw = document.model_dump(mode="json")
    entries: list[JsonObject] = []
    for index, entry in enumerate(raw["acknowledged"]):
        entries += accepted.get(index, []) if index in reopened else [entry]
    return read_object({**raw, "acknowledged": entries})
