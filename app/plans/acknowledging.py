"""Acknowledge findings of a stored plan, each with its message, so that a finding with a changed message is open."""

from __future__ import annotations

from app.database.engine import Database
from app.fits.kept import curves_in
from app.plans import service
from app.plans.computed import compute
from app.plans.errors import NothingToAcknowledge, plan_conflict
from app.plans.stored import SaveOutcome, StoredVersion
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.wire import JsonObject


def acknowledge(
    database: Database,
    name: str,
    *,
    code: str,
    reason: str,
    structure: str | None = None,
    message: str | None = None,
    if_match: str | None = None,
) -> SaveOutcome:
    """Save a version that acknowledges open findings with a code: those of one structure, with one message, or all.

    Raises:
        PlanNotFound: There is no such plan.
        Conflict: The plan has been changed since the version that `if_match` names, or during this call.
        NothingToAcknowledge: The plan has no such open finding.
        DocumentInvalid: The reason is not valid.
    """
    with database.session(writes=False) as session:
        version = service.get_plan(session, name)
    if if_match is not None and not service.matches(if_match, version.etag):
        raise plan_conflict(version)
    document = acknowledged(version, code=code, reason=reason, structure=structure, message=message)
    # Calculated between two transactions, so that others can save meanwhile; the ETag below detects their changes.
    computed = compute(document, curves_in(database))
    with database.session(writes=True) as session:
        return service.save_plan(
            session, name, computed, if_match=version.etag, comment=f"Acknowledged {code}"
        )


def acknowledged(
    version: StoredVersion,
    *,
    code: str,
    reason: str,
    structure: str | None = None,
    message: str | None = None,
) -> PlanDocument:
    """Return the document of a version with its open findings of a code acknowledged.

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
