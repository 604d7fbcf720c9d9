"""Save, read, delete and restore plans. The session of the request commits, not this module.

A change names the version it is based on (`if_match`) and locks the plan's row (PostgreSQL) or the whole database
(SQLite). If two users edit a plan at once, the second one to save gets an error, and nothing is overwritten.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.actor import SERVICE, current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.database.damage import reading_stored
from app.database.parts import PartedText
from app.database.types import AnyRow
from app.errors import Conflict, Gone, NameTaken, PreconditionRequired
from app.fits.kept import curves_for
from app.paging import MOST_PER_PAGE, PageRequest, Sort
from app.plans import repository
from app.plans.computed import ComparedDocuments, ComputedPlan, canonical, compute
from app.plans.errors import (
    PlanNameInvalid,
    PlanNotFound,
    StoredOutputRefused,
    plan_conflict,
    plan_gone,
)
from app.plans.models import LONGEST_COMMENT, Plan, PlanOutput, PlanVersion
from app.plans.stored import (
    NAME_PATTERN,
    DeletedPlan,
    Figures,
    PlanList,
    PlanSummary,
    SaveOutcome,
    StoredOutput,
    StoredText,
    StoredVersion,
    VersionSummary,
    etag,
    reading_version,
    stored_document,
)
from app.plans.trail import (
    PLAN,
    Before,
    StoredAcknowledgment,
    acknowledgments,
    plan_object,
    record_version,
)
from app.web.field_values import digits_in
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding
from planner_core.wire import JsonObject, adapter

__all__ = [
    "Conflict", "Gone", "NameTaken", "PlanNameInvalid", "PlanNotFound", "PlanSummary",
    "PreconditionRequired", "SaveOutcome", "StoredOutput", "StoredOutputRefused", "StoredVersion", "VersionSummary",
    "check_name", "copy_plan", "delete_plan", "find_document", "get_acknowledgments", "get_explanations_json", "get_explanations_of", "get_output", "get_plan", "get_texts", "get_version", "get_version_at", "list_deleted", "list_plans",
    "list_versions", "names_in_use", "purge_deleted", "rename_plan", "restore_plan", "save_plan",
]  # fmt: skip

NAME = re.compile(NAME_PATTERN)
_FIGURES = tuple(Figures.__dataclass_fields__)


def check_name(name: str) -> str:
    """Return the name of a plan after checking it.

    Raises:
        PlanNameInvalid: The name is not valid.
    """
    if not NAME.fullmatch(name):
        raise PlanNameInvalid(name)
    return name


# ---- reading ---------------------------------------------------------------------------------------------------------


FIRST_PAGE = PageRequest()


SORT_KEYS = tuple(repository.SORTED_BY)
"""The keys by which plans can be sorted."""


def list_plans(
    session: Session,
    asked: PageRequest = FIRST_PAGE,
    *,
    search: str | None = None,
    sort: Sort | None = None,
) -> PlanList:
    """Return one page of plans; `search` matches part of a plan's or its group's name.

    Without a requested order, they are sorted by name.
    """
    rows, total = repository.page_of_plans(
        session, search=_one_line(search), sort=sort, offset=asked.offset, limit=asked.per_page
    )
    items = [
        PlanSummary(
            name=row.name,
            version=row.latest,
            etag=etag(row.id, row.latest),
            created_at=row.created_at,
            updated_at=row.updated_at,
            **_figures(row),
        )
        for row in rows
    ]
    return PlanList.of(items, total, asked)


def all_plans(session: Session, *, search: str | None = None) -> Iterator[PlanSummary]:
    """Yield every plan, sorted by name and read page by page."""
    for number in itertools.count(1):
        found = list_plans(session, PageRequest(number, MOST_PER_PAGE), search=search)
        yield from found.items
        if number >= found.pages:
            return


def plan_names(session: Session) -> tuple[str, ...]:
    """Return the plan names for a selection list, or only the first ones if there are very many."""
    return tuple(item.name for item in list_plans(session, PageRequest(per_page=MOST_PER_PAGE)).items)


def get_plan(session: Session, name: str) -> StoredVersion:
    """Return the latest version of a plan.

    Raises:
        PlanNotFound: There is no plan with this name.
    """
    plan = living_plan(session, name)
    return _stored(session, plan, plan.latest)


def living_plan(session: Session, name: str, *, lock: bool = False) -> Plan:
    """Return the row of a plan that is not deleted.

    Raises:
        PlanNotFound: There is no such plan.
    """
    plan = repository.find_living(session, name, lock=lock) if NAME.fullmatch(name) else None
    if plan is None:
        raise PlanNotFound(name)
    return plan


def get_version(session: Session, name: str, number: int) -> StoredVersion:
    """Return one version of a plan.

    Raises:
        PlanNotFound: There is no such plan, or no such version of it.
    """
    return _stored(session, living_plan(session, name), number)


def get_version_at(session: Session, name: str, number: str) -> StoredVersion:
    """Return the version of a plan whose number is in an address.

    Raises:
        PlanNotFound: There is no such plan, or no such version of it.
    """
    # A version has one address: 01 is not found.
    found = None if number.startswith("0") else digits_in(number)
    if found is None:
        get_plan(session, name)  # reports a missing plan, which is the more useful message
        raise PlanNotFound(name, number[:20])
    return get_version(session, name, found)


def list_versions(session: Session, name: str) -> tuple[VersionSummary, ...]:
    """Return all versions of a plan, newest first.

    Raises:
        PlanNotFound: There is no plan with this name.
    """
    plan = living_plan(session, name)
    return tuple(
        VersionSummary(
            number=row.number,
            etag=etag(plan.id, row.number),
            created_at=row.created_at,
            comment=row.comment,
            core_version=row.core_version,
            is_latest=row.number == plan.latest,
            author=row.author,
            approver=row.approver,
            approved_at=row.approved_at,
            **_figures(row),
        )
        for row in repository.list_versions(session, plan)
    )


def find_document(session: Session, plan_id: int, number: int) -> JsonObject | None:
    """Return the document of a version by the id of its plan, which may be deleted; None if it is not stored."""
    text = repository.read_document(session, plan_id, number)
    if text is None:
        return None
    with reading_stored(f"Version {number} of this plan"):
        return stored_document(text)


def get_explanations_json(session: Session, version: StoredVersion) -> str:
    """Return the explanations of a version as they were stored: a JSON object keyed by the pointer of the figure."""
    return _explanations(session, version).text


def get_explanations_of(session: Session, version: StoredVersion, area: str) -> str:
    """Return the explanations of one area of the result, `/totals` or `/structures/3`, as a JSON object.

    Versions that were saved by an earlier release have all explanations in one text, which is then returned.
    """
    stored = _explanations(session, version)
    found = stored.part(area)
    return stored.text if found is None else "{" + found[1:] + "}"


def _explanations(session: Session, version: StoredVersion) -> PartedText:
    found = repository.read_explanations(session, version.plan_id, version.number)
    if found is None:  # removed permanently since the version was read
        raise PlanNotFound(version.name, version.number)
    return found


def get_acknowledgments(session: Session, version: StoredVersion) -> tuple[StoredAcknowledgment, ...]:
    """Return the acknowledged findings of a version with their authors, in the order of its document."""
    return acknowledgments(session, version.plan_id, version.number, version.acknowledged)


def get_output(session: Session, name: str, kind: str, *, number: int | None = None) -> StoredOutput:
    """Return a z/OS text of a version as it was saved, by default of the latest version.

    Raises:
        PlanNotFound: There is no such plan or version.
        StoredOutputRefused: This version does not have the text; the error contains the findings.
    """
    plan = living_plan(session, name)
    row = repository.read_output(session, plan.id, number or plan.latest, kind)
    if row is None:
        _stored(session, plan, number or plan.latest)
        raise _saved_before(kind)
    if row.text is None:
        raise _refusal(row.refusal)
    return StoredOutput(
        plan_id=plan.id,
        number=number or plan.latest,
        kind=kind,
        text=row.text,
        filename=row.filename,
        etag=etag(plan.id, number or plan.latest, kind),
        findings=f"error={row.errors}, warning={row.warnings}, info={row.infos}",
    )


def get_texts(
    session: Session, version: StoredVersion, kinds: Sequence[str]
) -> dict[str, StoredText | StoredOutputRefused]:
    """Return z/OS texts of a version by kind, or the error that `get_output` would raise."""
    found = {row.kind: row for row in repository.read_texts(session, version.plan_id, version.number, kinds)}
    texts: dict[str, StoredText | StoredOutputRefused] = {}
    if not found:  # removed permanently since the version was read
        raise PlanNotFound(version.name, version.number)
    for kind in kinds:
        row = found.get(kind)
        if row is None:
            texts[kind] = _saved_before(kind)
        else:
            texts[kind] = _refusal(row.refusal) if row.text is None else StoredText(row.text, row.filename)
    return texts


def list_deleted(session: Session) -> tuple[DeletedPlan, ...]:
    """Return plans that can be restored, most recently deleted first."""
    return tuple(
        DeletedPlan(
            id=row.id,
            name=row.name,
            version=row.latest,
            qsg=row.qsg,
            saved_at=row.created_at,
            comment=row.comment,
            deleted_at=row.deleted_at,
        )
        for row in repository.list_deleted(session)
    )


def names_in_use(session: Session) -> frozenset[str]:
    """Return the names of deleted plans that current plans also have."""
    return frozenset(repository.names_in_use(session))


# ---- changing --------------------------------------------------------------------------------------------------------


def save_plan(
    session: Session,
    name: str,
    document: PlanDocument | ComputedPlan,
    *,
    if_match: str | None = None,
    if_none_match: str | None = None,
    create_only: bool = False,
    comment: str | None = None,
) -> SaveOutcome:
    """Save a document under a name, as a new plan or a new version; an identical one is not saved again.

    Args:
        session: The session of the request.
        name: Name of the plan.
        document: The document to save; already computed if the transaction is open.
        if_match: One or several ETags of the version on which the change is based, as in the header.
        if_none_match: ETags of versions that must not be the latest, as in the header.
        create_only: Refuse to save if a plan with this name exists.
        comment: A comment for the history.

    Raises:
        PlanNameInvalid: The name is not valid.
        PlanRefused: The plan is impossible.
        Conflict: The plan has been changed since (`current` is the new version), or already exists, or its version is
            the one that `if_none_match` names.
        Gone: The plan that `if_match` names no longer exists.
        PreconditionRequired: The plan exists and would be changed, and `if_match` is missing.
    """
    check_name(name)
    # Calculated before the first statement, so that no lock is held meanwhile.
    computed = document if isinstance(document, ComputedPlan) else compute(document, curves_for(session))
    while (plan := repository.find_living(session, name, lock=True)) is None:
        if if_match is not None:
            # This includes `*`, which requires that the plan exists (RFC 9110).
            raise plan_gone(name)
        created = _create(session, name, computed, comment)
        if created is not None:
            return SaveOutcome(created, "created")
        # Another request has created or restored the plan in the meantime, and may delete it again, so it is looked up
        # again.
    current = _stored(session, plan, plan.latest)
    if create_only:
        raise plan_conflict(
            current, f"A plan called {current.name} already exists; its version is {current.number}."
        )
    if if_none_match is not None and matches(if_none_match.replace("W/", ""), current.etag):
        message = (
            f"If-None-Match names version {current.number} of the plan {current.name}, which is its latest. Nothing was "
            "changed. To change that version, name it in If-Match."
        )
        raise plan_conflict(current, message)
    # Checked before If-Match, so that a request that is sent twice succeeds without a new version.
    with reading_version(current.name, current.number):
        compared = computed.texts.compared_with(current.document_json)
    if _is_same(current, computed, compared):
        return SaveOutcome(current, "identical")
    if if_match is None:
        message = (
            f"The plan {current.name} exists (version {current.number}) and this request would change it. Send If-Match with "
            "the ETag of the version on which the change is based, so that no one's work is lost."
        )
        raise PreconditionRequired(current, message)
    if not matches(if_match, current.etag):
        raise plan_conflict(current)
    before = Before(current, compared)
    return SaveOutcome(_add_version(session, plan, computed, comment, at=utc_now(), before=before), "changed")


def delete_plan(session: Session, name: str, *, if_match: str | None = None) -> DeletedPlan:
    """Delete a plan; it can be restored for CFPLAN_DELETED_DAYS days.

    Raises:
        PlanNotFound: There is no plan with this name.
        Conflict: The plan has been changed since the version that `if_match` names.
    """
    plan = living_plan(session, name, lock=True)
    current = _stored(session, plan, plan.latest)
    if if_match is not None and not matches(if_match, current.etag):
        raise plan_conflict(current)
    plan.deleted_at = deleted_at = utc_now()
    record(session, Action.PLAN_DELETED, plan_object(plan, plan.latest))
    session.flush()
    return DeletedPlan(
        id=plan.id,
        name=name,
        version=plan.latest,
        qsg=current.result["qsg"],
        saved_at=current.created_at,
        comment=current.comment,
        deleted_at=deleted_at,
    )


def restore_plan(
    session: Session, name: str, *, plan_id: int | None = None, new_name: str | None = None
) -> StoredVersion:
    """Restore a deleted plan with all its versions.

    Args:
        session: The session of the request.
        name: Name of the plan.
        plan_id: Its number, if several deleted plans had the name; by default the one that was deleted last.
        new_name: Its new name, if the old one is in use.

    Raises:
        PlanNotFound: There is no such deleted plan, or it has been removed permanently.
        PlanNameInvalid: The new name is not valid.
        NameTaken: A plan with this name exists.
    """
    wanted = check_name(new_name) if new_name else name
    deleted = repository.find_deleted(session, name, plan_id) if NAME.fullmatch(name) else None
    if deleted is None:
        raise PlanNotFound(name, is_deleted=True)
    # This covers only the usual case; the unique index also refuses a plan that is created at this moment.
    if repository.find_living(session, wanted) is not None:
        raise _taken(wanted, "Restore the deleted plan under another name.")
    try:
        with session.begin_nested():
            deleted.name = wanted
            deleted.deleted_at = None
    except IntegrityError:
        raise _taken(wanted, "Restore the deleted plan under another name.") from None
    details = {"before": name, "after": wanted} if wanted != name else None
    record(session, Action.PLAN_RESTORED, plan_object(deleted, deleted.latest), details)
    return _stored(session, deleted, deleted.latest)


def rename_plan(session: Session, name: str, new_name: str, *, if_match: str | None = None) -> StoredVersion:
    """Rename a plan; it keeps its versions.

    Raises:
        PlanNotFound: There is no plan with the old name.
        PlanNameInvalid: The new name is not valid.
        NameTaken: Another plan has this name.
        Conflict: The plan has been changed since the version that `if_match` names.
    """
    check_name(new_name)
    plan = living_plan(session, name, lock=True)
    current = _stored(session, plan, plan.latest)
    if if_match is not None and not matches(if_match, current.etag):
        raise plan_conflict(current)
    if new_name != name and repository.find_living(session, new_name) is not None:
        raise _taken(new_name)
    try:
        with session.begin_nested():
            plan.name = new_name
            plan.updated_at = utc_now()
    except IntegrityError:
        raise _taken(new_name) from None
    if new_name != name:
        record(session, Action.PLAN_RENAMED, plan_object(plan), {"before": name, "after": new_name})
    return _stored(session, plan, plan.latest)


def copy_plan(session: Session, name: str, new_name: str) -> StoredVersion:
    """Save the latest version of a plan as a new plan.

    Raises:
        PlanNotFound: There is no plan with the old name.
        PlanNameInvalid: The new name is not valid.
        NameTaken: Another plan has this name.
    """
    source = get_plan(session, name)
    try:
        comment = f"Copied from {name}, version {source.number}"
        return save_plan(session, new_name, source.document, create_only=True, comment=comment).version
    except Conflict:
        raise _taken(new_name) from None


def purge_deleted(session: Session, older_than: timedelta) -> int:
    """Permanently remove plans that were deleted longer ago than this, and return their number."""
    removed = repository.remove_deleted_before(session, utc_now() - older_than)
    for row in removed:
        # The service acts, because any request can be the first one after the period.
        about = AuditObject(PLAN, row.name, id=row.id, version=row.latest)
        record(session, Action.PLAN_PURGED, about, {"deleted_days": older_than.days}, actor=SERVICE)
    return len(removed)


def matches(if_match: str, current: str) -> bool:
    """Return whether an If-Match header matches the current ETag (strong comparison, RFC 9110)."""
    return if_match.strip() == "*" or current in (tag.strip() for tag in if_match.split(","))


# ---- inside ----------------------------------------------------------------------------------------------------------


def _taken(name: str, advice: str = "Choose another name.") -> NameTaken:
    return NameTaken(f"A plan called {name} already exists. {advice}")


def _refusal(text: str) -> StoredOutputRefused:
    refusal = json.loads(text)
    findings = adapter(tuple[Finding, ...]).validate_python(refusal["findings"])
    return StoredOutputRefused(refusal["message"], findings)


def _saved_before(kind: str) -> StoredOutputRefused:
    """Return the refusal of a kind of text that cfplan did not have yet when the version was saved."""
    message = (
        f"This version was saved before cfplan had the output {kind}, and versions do not change: send its document to "
        f"POST /api/v1/{kind}, or save a new version."
    )
    return StoredOutputRefused(message, ())


def _figures(row: AnyRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _FIGURES}


def _stored(session: Session, plan: Plan, number: int) -> StoredVersion:
    row = repository.read_version(session, plan, number)
    if row is None:
        raise PlanNotFound(plan.name, number)
    return _of_row(plan, row)


def _of_row(plan: Plan, row: AnyRow | PlanVersion) -> StoredVersion:
    return StoredVersion(
        plan_id=plan.id,
        name=plan.name,
        number=row.number,
        latest=plan.latest,
        created_at=row.created_at,
        comment=row.comment,
        core_version=row.core_version,
        document_json=row.document,
        curve_json=row.curve,
        result_json=row.result,
        author=row.author,
    )


def _one_line(comment: str | None) -> str | None:
    """Return a comment as one line without control characters."""
    # PostgreSQL refuses NUL, and a terminal would execute escape sequences.
    plain = "".join(c if c.isprintable() else " " for c in comment or "")
    return " ".join(plain.split())[:LONGEST_COMMENT] or None


def _is_same(current: StoredVersion, computed: ComputedPlan, compared: ComparedDocuments) -> bool:
    """Return whether a document means the same as the stored one."""
    if current.document_json == computed.document:
        return True
    # Reading the largest plan again takes a fifth of its save, and most changes are seen without.
    if _surely_differs(*compared):
        return False
    # Reading adds the defaults of new keys and writes each value as this release does: a new release must not make a new
    # version of every plan.
    return canonical(current.document) == computed.document


def _surely_differs(stored: object, new: object) -> bool:
    """Return whether two JSON values differ by a number, or by the length of a list, which no notation explains."""
    if stored == new:
        return False
    if isinstance(stored, dict) and isinstance(new, dict):
        return any(_surely_differs(stored[key], new[key]) for key in stored.keys() & new.keys())
    if isinstance(stored, list) and isinstance(new, list):
        return len(stored) != len(new) or any(map(_surely_differs, stored, new))
    return isinstance(stored, (int, float)) and isinstance(new, (int, float))


def _create(session: Session, name: str, computed: ComputedPlan, comment: str | None) -> StoredVersion | None:
    """Return the first version of a new plan, or None if another request has just created one with this name."""
    at = utc_now()
    plan = Plan(name=name, latest=0, created_at=at, updated_at=at)
    try:
        # Without a savepoint, the error would end the transaction of the whole request.
        with session.begin_nested():
            session.add(plan)
    except IntegrityError:
        return None
    return _add_version(session, plan, computed, comment, at=at)


def _add_version(
    session: Session,
    plan: Plan,
    computed: ComputedPlan,
    comment: str | None,
    *,
    at: datetime,
    before: Before | None = None,
) -> StoredVersion:
    plan.latest += 1
    # Clocks of several servers differ, but the times of a history must not decrease.
    plan.updated_at = max(at, plan.updated_at)
    version = PlanVersion(
        plan_id=plan.id,
        number=plan.latest,
        created_at=plan.updated_at,
        comment=_one_line(comment),
        schema_version=computed.schema_version,
        core_version=computed.core_version,
        document=computed.document,
        curve=computed.curve,
        result=computed.result,
        explanations=computed.explanations,
        author=current_actor().name,
        **{name: getattr(computed, name) for name in _FIGURES},
    )
    outputs = [
        PlanOutput(kind=output.kind, filename=output.filename, text=output.text, refusal=output.refusal)
        for output in computed.outputs
    ]
    repository.add_version(session, version, outputs)
    repository.put_names(session, plan.id, computed.qsg, computed.names)
    record_version(
        session,
        plan,
        before=before,
        after=computed,
        comment=version.comment,
        at=plan.updated_at,
    )
    # Not read again, because a document can have many megabytes.
    return _of_row(plan, version)
