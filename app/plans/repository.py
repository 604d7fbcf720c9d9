"""Database queries about plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Final, TypeAlias

from sqlalchemy import Select, bindparam, delete, func, insert, or_, select
from sqlalchemy.orm import Session

from app.database.ordering import Expression, ordered_by
from app.database.parts import PartedText
from app.database.types import AnyRow, PageOfRows
from app.paging import Sort
from app.plans.models import Plan, PlanAcknowledgment, PlanApproval, PlanOutput, PlanVersion, StoredPlanName
from app.plans.names import PlanName

AnySelect: TypeAlias = Select[*tuple[Any, ...]]

SUMMARY = (
    PlanVersion.qsg, PlanVersion.structures, PlanVersion.initsize_kib, PlanVersion.size_kib, PlanVersion.errors,
    PlanVersion.warnings, PlanVersion.infos, PlanVersion.acknowledged,
)  # fmt: skip
CONTENTS = (
    PlanVersion.number, PlanVersion.created_at, PlanVersion.comment, PlanVersion.core_version, PlanVersion.document,
    PlanVersion.curve, PlanVersion.result, PlanVersion.author,
)  # fmt: skip


def find_living(session: Session, name: str, *, lock: bool = False) -> Plan | None:
    """Return the current plan with this name; `lock` locks its row until the transaction ends."""
    # SQLite has no row locks; there, a writing transaction locks the whole database.
    query = select(Plan).where(Plan.name == name, Plan.deleted_at.is_(None))
    if lock:
        # The session may have read the plan before it waited for the lock: its values must be those under the lock.
        query = query.with_for_update().execution_options(populate_existing=True)
    return session.scalars(query).one_or_none()


def find_deleted(session: Session, name: str, plan_id: int | None = None) -> Plan | None:
    """Return the deleted plan with this name and number; by default, the one that was deleted last."""
    query = select(Plan).where(Plan.name == name, Plan.deleted_at.is_not(None))
    if plan_id is not None:
        query = query.where(Plan.id == plan_id)
    return session.scalars(
        query.order_by(Plan.deleted_at.desc(), Plan.id.desc()).limit(1).with_for_update()
    ).one_or_none()


def read_version(session: Session, plan: Plan, number: int) -> AnyRow | None:
    """Return the contents of a version, without explanations and texts for z/OS."""
    query = select(*CONTENTS).where(PlanVersion.plan_id == plan.id, PlanVersion.number == number)
    return session.execute(query).one_or_none()


def read_document(session: Session, plan_id: int, number: int) -> str | None:
    """Return the stored document of a version; None if there is no such version."""
    query = select(PlanVersion.document).where(PlanVersion.plan_id == plan_id, PlanVersion.number == number)
    return session.scalars(query).one_or_none()


def read_explanations(session: Session, plan_id: int, number: int) -> PartedText | None:
    """Return the explanations of a version: a JSON object, in parts for structures and totals."""
    query = select(PlanVersion.explanations).where(
        PlanVersion.plan_id == plan_id, PlanVersion.number == number
    )
    return session.scalars(query).one_or_none()


def read_output(session: Session, plan_id: int, number: int, kind: str) -> AnyRow | None:
    """Return a text for z/OS of a version, with the figures of the version."""
    query = (
        select(PlanOutput.filename, PlanOutput.text, PlanOutput.refusal, *SUMMARY)
        .join(PlanVersion, PlanVersion.id == PlanOutput.version_id)
        .where(PlanVersion.plan_id == plan_id, PlanVersion.number == number, PlanOutput.kind == kind)
    )
    return session.execute(query).one_or_none()


def read_texts(session: Session, plan_id: int, number: int, kinds: Iterable[str]) -> Sequence[AnyRow]:
    """Return the z/OS texts of these kinds of a version, without its figures."""
    # The figures are stored after the document, and SQLite would read past megabytes to find them.
    query = (
        select(PlanOutput.kind, PlanOutput.filename, PlanOutput.text, PlanOutput.refusal)
        .join(PlanVersion, PlanVersion.id == PlanOutput.version_id)
        .where(
            PlanVersion.plan_id == plan_id, PlanVersion.number == number, PlanOutput.kind.in_(tuple(kinds))
        )
    )
    return session.execute(query).all()


_NAMES = (func.lower(Plan.name), Plan.name)
SORTED_BY: Final[Mapping[str, Expression]] = {
    "name": func.lower(Plan.name),
    "qsg": PlanVersion.qsg,
    "structures": PlanVersion.structures,
    "initsize_kib": PlanVersion.initsize_kib,
    "size_kib": PlanVersion.size_kib,
    # Any error is more urgent than any number of warnings.
    "findings": -(1_000_000 * PlanVersion.errors + PlanVersion.warnings),
    "version": Plan.latest,
    "updated_at": Plan.updated_at,
}
"""The values by which plans can be sorted, by key."""


def page_of_plans(
    session: Session, *, search: str | None, sort: Sort | None, offset: int, limit: int
) -> PageOfRows:
    """Return one page of current plans, each with the figures of its latest version.

    Without a requested order, they are sorted by name.
    """

    def narrowed(query: AnySelect) -> AnySelect:
        query = query.join(
            PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest)
        ).where(Plan.deleted_at.is_(None))
        if search:
            # LIKE ignores case on SQLite but not on PostgreSQL.
            found = (
                func.lower(column).contains(search.lower(), autoescape=True)
                for column in (Plan.name, PlanVersion.qsg)
            )
            query = query.where(or_(*found))
        return query

    total = session.scalars(narrowed(select(func.count(Plan.id)))).one()
    rows = narrowed(select(Plan.id, Plan.name, Plan.latest, Plan.created_at, Plan.updated_at, *SUMMARY))
    order = _NAMES if sort is None else ordered_by(sort, SORTED_BY, ties=_NAMES)
    ordered = rows.order_by(*order).offset(offset).limit(limit)
    return PageOfRows(session.execute(ordered).all(), total)


def latest_documents(session: Session) -> Sequence[AnyRow]:
    """Return the name, version and document of every current plan."""
    query = select(Plan.name, PlanVersion.number, PlanVersion.qsg, PlanVersion.document).join(
        PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest)
    )
    return session.execute(query.where(Plan.deleted_at.is_(None)).order_by(Plan.name)).all()


def latest_curves(session: Session) -> Sequence[AnyRow]:
    """Return the name, version and curve of every current plan."""
    query = select(Plan.name, PlanVersion.number, PlanVersion.curve).join(
        PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest)
    )
    return session.execute(query.where(Plan.deleted_at.is_(None)).order_by(Plan.name)).all()


def list_versions(session: Session, plan: Plan) -> Sequence[AnyRow]:
    """Return all versions of a plan, newest first, without their contents."""
    query = select(
        PlanVersion.number, PlanVersion.created_at, PlanVersion.comment, PlanVersion.core_version, PlanVersion.author,
        PlanApproval.approver, PlanApproval.approved_at, *SUMMARY,
    ).outerjoin(
        PlanApproval,
        (PlanApproval.plan_id == PlanVersion.plan_id) & (PlanApproval.number == PlanVersion.number),
    )  # fmt: skip
    return session.execute(
        query.where(PlanVersion.plan_id == plan.id).order_by(PlanVersion.number.desc())
    ).all()


def list_deleted(session: Session) -> Sequence[AnyRow]:
    """Return deleted plans, most recently deleted first."""
    query = select(
        Plan.id, Plan.name, Plan.latest, PlanVersion.qsg, PlanVersion.created_at, PlanVersion.comment, Plan.deleted_at
    ).join(PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest))  # fmt: skip
    return session.execute(
        query.where(Plan.deleted_at.is_not(None)).order_by(Plan.deleted_at.desc(), Plan.id.desc())
    ).all()


def names_in_use(session: Session) -> Sequence[str]:
    """Return the names of deleted plans that current plans also have."""
    deleted = select(Plan.name).where(Plan.deleted_at.is_not(None))
    return session.scalars(select(Plan.name).where(Plan.deleted_at.is_(None), Plan.name.in_(deleted))).all()


def add_version(session: Session, version: PlanVersion, outputs: Iterable[PlanOutput]) -> None:
    """Store a version and its texts."""
    session.add(version)
    session.flush()  # the texts refer to its number
    for output in outputs:
        output.version_id = version.id
        session.add(output)
    session.flush()


def put_names(session: Session, plan_id: int, qsg: str, names: AbstractSet[PlanName]) -> None:
    """Replace the names of a plan by those of its latest version."""
    kept = StoredPlanName
    columns = (kept.qsg, kept.kind, kept.name, kept.structure, kept.severity, kept.occurrences)
    rows = session.execute(select(*columns).where(kept.plan_id == plan_id))
    before = {tuple(row) for row in rows}
    after = {(qsg, *name) for name in names}
    keys = ("qsg", *PlanName._fields)
    # Only the differences: a plan can have 32 000 queues, of which most saves change none. They are in the order of the
    # key, in which SQLite finds the place of the next row faster.
    gone = [
        {f"old_{key}": value for key, value in zip(keys, row, strict=True)} for row in sorted(before - after)
    ]
    if gone:
        key = (kept.kind == bindparam("old_kind")) & (kept.name == bindparam("old_name"))
        key &= (kept.structure == bindparam("old_structure")) & (kept.plan_id == plan_id)
        session.connection().execute(delete(kept).where(key), gone)
    new = [{"plan_id": plan_id, **dict(zip(keys, row, strict=True))} for row in sorted(after - before)]
    if new:
        # The rows are many, and no object of the session shows them.
        session.connection().execute(insert(kept), new)


def remove_deleted_before(session: Session, before: datetime) -> Sequence[AnyRow]:
    """Remove plans that were deleted before this time, with all versions; return their ids, names and latest versions."""
    removed = session.execute(
        # The database cascades to versions, texts and scenarios, without loading megabytes to delete them.
        delete(Plan).where(Plan.deleted_at < before).returning(Plan.id, Plan.name, Plan.latest),
        execution_options={"synchronize_session": False},
    )
    return removed.all()


def author_of(session: Session, plan_id: int, number: int) -> AnyRow | None:
    """Return the row with the author of a version, who may be unknown; None if there is no such version."""
    query = select(PlanVersion.author).where(PlanVersion.plan_id == plan_id, PlanVersion.number == number)
    return session.execute(query).one_or_none()


def find_approval(session: Session, plan_id: int, number: int) -> PlanApproval | None:
    """Return the approval of a version."""
    return session.get(PlanApproval, (plan_id, number), populate_existing=True)


def remove_approval(session: Session, plan_id: int, number: int) -> None:
    """Remove the approval of a version."""
    session.execute(
        delete(PlanApproval).where(PlanApproval.plan_id == plan_id, PlanApproval.number == number)
    )


def add_acknowledgments(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store who acknowledged findings."""
    if rows:
        session.execute(insert(PlanAcknowledgment), list(rows))


def read_acknowledgments(session: Session, plan_id: int, number: int) -> Sequence[PlanAcknowledgment]:
    """Return the acknowledgments of a plan up to a version, oldest first."""
    query = select(PlanAcknowledgment).where(
        PlanAcknowledgment.plan_id == plan_id, PlanAcknowledgment.number <= number
    )
    return session.scalars(query.order_by(PlanAcknowledgment.number)).all()
