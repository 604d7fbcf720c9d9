"""Database queries of searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    Subquery,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.database.types import AnyRow
from app.plans.models import Plan, StoredPlanName
from app.plans.names import FINDING, GROUP, QUEUE, STRUCTURE
from app.search.query import ESCAPE, SearchQuery
from app.usage.models import MeasuredQueue, StoredMeasuredStructure

Text: TypeAlias = ColumnElement[str] | InstrumentedAttribute[str]
AnySelect: TypeAlias = Select[*tuple[Any, ...]]


class Found(NamedTuple):
    """One page of matches, the number of matches, and the number of plans among all of them."""

    rows: Sequence[AnyRow]
    total: int
    plans: int


def find_plans(session: Session, query: SearchQuery, *, offset: int, limit: int) -> Found:
    """Return current plans whose name or group matches."""
    names = StoredPlanName
    found = _in_plans(GROUP).where(*_matching(query, Plan.name, names.qsg))
    # The name that is found and sorted by is that of the plan.
    return _page(session, found.with_only_columns(*_columns(Plan.name)), query, offset=offset, limit=limit)


def find_structures(session: Session, query: SearchQuery, *, offset: int, limit: int) -> Found:
    """Return structures in the latest versions of plans and in measured usage; CFRM names match too."""
    names, measured = StoredPlanName, StoredMeasuredStructure
    in_plans = _in_plans(STRUCTURE).where(*_matching(query, names.name, _cfrm_name(names.qsg, names.name)))
    of_usage = _measured(measured.structure, measured.structure, measured.qsg).where(
        *_matching(query, measured.structure, _cfrm_name(measured.qsg, measured.structure))
    )
    return _page(session, union_all(in_plans, of_usage).subquery(), query, offset=offset, limit=limit)


def find_queues(session: Session, query: SearchQuery, *, offset: int, limit: int) -> Found:
    """Return queues in the latest versions of plans and in measured usage."""
    in_plans = _in_plans(QUEUE).where(*_matching(query, StoredPlanName.name))
    measured = MeasuredQueue
    of_usage = _measured(measured.queue, measured.structure, measured.qsg).where(
        *_matching(query, measured.queue)
    )
    return _page(session, union_all(in_plans, of_usage).subquery(), query, offset=offset, limit=limit)


def find_open_findings(
    session: Session, query: SearchQuery, codes: Sequence[str], *, offset: int, limit: int
) -> Found:
    """Return the plans with open findings that have these codes or a code that matches."""
    name = StoredPlanName.name
    found = _in_plans(FINDING).where(or_(name.in_(codes), and_(*_matching(query, name))))
    return _page(session, found, query, offset=offset, limit=limit)


def open_codes(session: Session, codes: Sequence[str]) -> frozenset[str]:
    """Return the codes among these that are open in any current plan."""
    found = _in_plans(FINDING).where(StoredPlanName.name.in_(codes))
    return frozenset(session.scalars(found.with_only_columns(StoredPlanName.name).distinct()))


def _columns(name: Text) -> tuple[ColumnElement[Any], ...]:
    names = StoredPlanName
    return (
        name.label("name"), Plan.name.label("plan"), Plan.latest.label("version"), names.qsg.label("qsg"),
        names.structure.label("structure"), names.severity.label("severity"), names.occurrences.label("occurrences"),
    )  # fmt: skip


def _in_plans(kind: str) -> AnySelect:
    """Select the names of one kind in current plans."""
    names = StoredPlanName
    joined = select(*_columns(names.name)).join(Plan, Plan.id == names.plan_id)
    return joined.where(names.kind == kind, Plan.deleted_at.is_(None))


def _measured(name: Text, structure: Text, qsg: Text) -> AnySelect:
    """Select measured names with the columns of names in plans."""
    nothing, none = literal("", String), literal(0)
    return select(
        name.label("name"), nothing.label("plan"), none.label("version"), qsg.label("qsg"),
        structure.label("structure"), nothing.label("severity"), none.label("occurrences"),
    )  # fmt: skip


def _cfrm_name(qsg: Text, structure: Text) -> ColumnElement[str]:
    """Return the name in the CFRM policy: the group's name padded to four characters, then that of the structure."""
    return func.substr(qsg + "@@@", 1, 4) + structure


def _matching(query: SearchQuery, *names: Text) -> list[ColumnElement[bool]]:
    """Return the conditions that each word matches one of the names."""
    # LIKE ignores case on SQLite but not on PostgreSQL.
    return [or_(*(func.lower(name).like(word.like, escape=ESCAPE) for name in names)) for word in query.words]


def _page(
    session: Session, found: AnySelect | Subquery, query: SearchQuery, *, offset: int, limit: int
) -> Found:
    """Return one page: names that equal the search first, then those that begin with its first word, then the others."""
    rows = found if isinstance(found, Subquery) else found.subquery()
    total, plans = session.execute(
        select(func.count(), func.count(func.distinct(func.nullif(rows.c.plan, "")))).select_from(rows)
    ).one()
    if offset >= total:
        return Found((), total, plans)
    name = func.lower(rows.c.name)
    begins = name.like(query.words[0].like_beginning, escape=ESCAPE)
    rank = case((name == query.text.lower(), 0), (begins, 1), else_=2)
    # Plans come before measurements of the same name.
    is_measured = case((rows.c.plan == "", 1), else_=0)
    ordered = select(*rows.c).order_by(
        rank,
        name,
        rows.c.name,
        is_measured,
        func.lower(rows.c.plan),
        rows.c.plan,
        rows.c.qsg,
        rows.c.structure,
    )
    return Found(session.execute(ordered.offset(offset).limit(limit)).all(), total, plans)
