"""All SQL about measured usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Table, delete, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.usage.models import (
    HourlyQueueUsage,
    HourlySmdsUsage,
    HourlyStructureUsage,
    MeasuredQueue,
    MeasuredStructure,
)

Rows: TypeAlias = Sequence[Mapping[str, Any]]
StructureKey: TypeAlias = tuple[str, str]
QueueKey: TypeAlias = tuple[str, str, str]


class Gone(NamedTuple):
    """Whose hours were removed."""

    structures: set[StructureKey]
    queues: set[QueueKey]


# ---- writing ---------------------------------------------------------------------------------------------------------


def put_structure_hours(session: Session, rows: Rows) -> None:
    """Store hours of structures; an hour that is there is replaced."""
    _put(session, HourlyStructureUsage.__table__, rows)


def put_smds_hours(session: Session, rows: Rows) -> None:
    """Store hours of shared message data sets; an hour that is there is replaced."""
    _put(session, HourlySmdsUsage.__table__, rows)


def put_queue_hours(session: Session, rows: Rows) -> None:
    """Store hours of queues; an hour that is there is replaced."""
    _put(session, HourlyQueueUsage.__table__, rows)


def remove_days(session: Session, days: Iterable[date]) -> Gone:
    """Remove all hours of these UTC days; returns whose they were."""
    gone = Gone(set(), set())
    structures, queues = HourlyStructureUsage, HourlyQueueUsage
    for day in days:
        first = datetime.combine(day, time(), UTC)
        past = first + timedelta(days=1)
        of_structures = select(structures.qsg, structures.structure)
        of_queues = select(queues.qsg, queues.structure, queues.queue)
        within = (structures.hour >= first) & (structures.hour < past)
        gone.structures.update(
            (row[0], row[1]) for row in session.execute(of_structures.where(within).distinct())
        )
        within = (queues.hour >= first) & (queues.hour < past)
        gone.queues.update(
            (row[0], row[1], row[2]) for row in session.execute(of_queues.where(within).distinct())
        )
        for table in (structures, queues, HourlySmdsUsage):
            session.execute(
                delete(table).where(table.hour >= first, table.hour < past),
                execution_options={"synchronize_session": False},
            )
    return gone


def count_anew(session: Session, *, structures: Iterable[StructureKey], queues: Iterable[QueueKey]) -> None:
    """Bring the lists of structures and queues up to what is stored of them now."""
    for qsg, structure in sorted(structures):
        _count_structure(session, qsg, structure)
    for key in sorted(queues):
        _count_queue(session, *key)


def _count_structure(session: Session, qsg: str, structure: str) -> None:
    hours = HourlyStructureUsage
    of_it = (hours.qsg == qsg) & (hours.structure == structure)
    first, last = _ends(session, hours.hour, of_it)
    if last is None:
        is_it = (MeasuredStructure.qsg == qsg) & (MeasuredStructure.structure == structure)
        session.execute(delete(MeasuredStructure).where(is_it))
        return
    in_use = (
        hours.entries_in_use_max,
        hours.elements_in_use_max,
        hours.entries_in_use_pct_max,
        hours.elements_in_use_pct_max,
    )
    row = {
        "qsg": qsg,
        "structure": structure,
        "first_hour": first,
        "last_hour": last,
        "last_use_hour": _last(session, of_it, or_(*(column.is_not(None) for column in in_use))),
        "last_limits_hour": _last(
            session, of_it, or_(hours.entries_total.is_not(None), hours.elements_total.is_not(None))
        ),
        "last_full_hour": _last(session, of_it, hours.structure_full_count > 0),
    }
    _put(session, MeasuredStructure.__table__, [row])


def _last(session: Session, *conditions: ColumnElement[bool]) -> datetime | None:
    """The last hour of a structure for which this holds; read backwards, so that it is found soon."""
    hour = HourlyStructureUsage.hour
    return session.scalars(select(hour).where(*conditions).order_by(hour.desc()).limit(1)).one_or_none()


def _count_queue(session: Session, qsg: str, structure: str, queue: str) -> None:
    hours, kept = HourlyQueueUsage, MeasuredQueue
    of_it = (hours.qsg == qsg) & (hours.structure == structure) & (hours.queue == queue)
    first, last = _ends(session, hours.hour, of_it)
    if last is None:
        session.execute(delete(kept).where(kept.qsg == qsg, kept.structure == structure, kept.queue == queue))
        return
    row = {"qsg": qsg, "structure": structure, "queue": queue, "first_hour": first, "last_hour": last}
    _put(session, kept.__table__, [row])


def _ends(
    session: Session, hour: InstrumentedAttribute[datetime], of_it: ColumnElement[bool]
) -> tuple[datetime | None, datetime | None]:
    first, last = session.execute(select(func.min(hour), func.max(hour)).where(of_it)).one()
    return first, last


def _put(session: Session, table: Any, rows: Rows) -> None:  # noqa: ANN401 - typed as FromClause by the mapping
    if not rows:
        return
    assert isinstance(table, Table)  # noqa: S101 - for the type checker
    insert = (sqlite if session.get_bind().dialect.name == "sqlite" else postgresql).insert(table)
    keys = [column.name for column in table.primary_key]
    others = {
        column.name: insert.excluded[column.name] for column in table.columns if column.name not in keys
    }
    session.execute(insert.on_conflict_do_update(index_elements=keys, set_=others), list(rows))
