"""All SQL about measured usage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Delete,
    Select,
    String,
    Subquery,
    Table,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app.database.ordering import Expression, ordered_by
from app.database.portions import portions
from app.database.transactions import hold_lock
from app.database.types import AnyRow, Base, PageOfRows
from app.paging import Sort
from app.plans.models import Plan, PlanVersion, StoredPlanName
from app.plans.names import STRUCTURE
from app.usage.models import (
    HourlyQueueUsage,
    HourlySmdsUsage,
    HourlyStructureUsage,
    MeasuredQueue,
    StoredMeasuredStructure,
)

ALL_OF_IT = 100
"""The percentage at which a structure is full."""

Rows: TypeAlias = Sequence[Mapping[str, Any]]
StructureKey: TypeAlias = tuple[str, str]
QueueKey: TypeAlias = tuple[str, str, str]
Figures: TypeAlias = Mapping[str, ColumnElement[Any]]
Insert: TypeAlias = sqlite.Insert | postgresql.Insert
Listed: TypeAlias = MeasuredQueue | StoredMeasuredStructure
DAYS_OF_WEEK = 7
USAGE_LOCK = 0x636670757367  # "cfpusg"


# ---- writing ---------------------------------------------------------------------------------------------------------


def hold_usage(session: Session) -> None:
    """Prevent other transactions from changing hours and lists until this one ends.

    Otherwise, two of them could wait for each other's rows of the lists, or update a list without the other's hours.
    """
    hold_lock(session, USAGE_LOCK)


def put(session: Session, kind: type[Base], rows: Rows) -> None:
    """Store rows of a table, replacing existing ones with the same key."""
    if rows:
        session.execute(_replacing_rows(kind, _dialect(session)), list(rows))


# Statements are built once for each table: building one takes SQLAlchemy longer than the database takes to execute it
# for a small file.


@cache
def _replacing_rows(kind: type[Base], dialect: str) -> Insert:
    table = _table(kind)
    return _replacing(_insert(dialect, table), table)


def _table(kind: type[Base]) -> Table:
    table = kind.__table__
    assert isinstance(table, Table)  # noqa: S101 - for the type checker
    return table


def _dialect(session: Session) -> str:
    return session.get_bind().dialect.name


def _insert(dialect: str, table: Table) -> Insert:
    # SQLAlchemy has ON CONFLICT only in the dialects; both databases understand the same clause.
    return (sqlite if dialect == "sqlite" else postgresql).insert(table)


def _replacing(insert: Insert, table: Table) -> Insert:
    """Return the statement with a clause that replaces existing rows with the same key."""
    keys = [column.name for column in table.primary_key]
    others = {
        column.name: insert.excluded[column.name] for column in table.columns if column.name not in keys
    }
    return insert.on_conflict_do_update(index_elements=keys, set_=others)


def remove_days(session: Session, days: Iterable[date]) -> tuple[set[StructureKey], set[QueueKey]]:
    """Remove all hours of these UTC days; return their structures and queues."""
    gone: set[StructureKey] = set()
    gone_queues: set[QueueKey] = set()
    names, names_of_queues, removals = _of_a_day()
    for day in days:
        first = datetime.combine(day, time(), UTC)
        within = {"first": first, "past": first + timedelta(days=1)}
        for query in names:
            gone.update((row[0], row[1]) for row in session.execute(query, within))
        gone_queues.update((row[0], row[1], row[2]) for row in session.execute(names_of_queues, within))
        for removal in removals:
            session.execute(removal, within, execution_options={"synchronize_session": False})
    return gone, gone_queues


@cache
def _of_a_day() -> tuple[Sequence[Select[str, str]], Select[str, str, str], Sequence[Delete]]:
    """Return the queries for the structures and the queues of a day, and the statements that remove its hours."""
    structures, smds, queues = HourlyStructureUsage, HourlySmdsUsage, HourlyQueueUsage

    def within(table: type[HourlyStructureUsage | HourlySmdsUsage | HourlyQueueUsage]) -> ColumnElement[bool]:
        first, past = (bindparam(name, type_=table.hour.type) for name in ("first", "past"))
        return and_(table.hour >= first, table.hour < past)

    return (
        [select(table.qsg, table.structure).where(within(table)).distinct() for table in (structures, smds)],
        select(queues.qsg, queues.structure, queues.queue).where(within(queues)).distinct(),
        [delete(table).where(within(table)) for table in (structures, smds, queues)],
    )


def remove_before(session: Session, day: date) -> int:
    """Remove all hours before this UTC day and update the lists; return the number of hours."""
    hold_usage(session)
    past = datetime.combine(day, time(), UTC)
    structures, smds, queues = HourlyStructureUsage, HourlySmdsUsage, HourlyQueueUsage
    gone: set[StructureKey] = set()
    gone_queues: set[QueueKey] = set()
    kept, kept_queues = StoredMeasuredStructure, MeasuredQueue
    of_structures = select(kept.qsg, kept.structure).where(kept.first_hour < past)
    gone.update((row[0], row[1]) for row in session.execute(of_structures))
    of_queues = select(kept_queues.qsg, kept_queues.structure, kept_queues.queue)
    found = session.execute(of_queues.where(kept_queues.first_hour < past))
    gone_queues.update((row[0], row[1], row[2]) for row in found)
    if not gone and not gone_queues:
        return 0
    removed = 0
    for each in (structures, smds, queues):
        old = session.scalars(select(func.count()).select_from(each).where(each.hour < past)).one()
        session.execute(
            delete(each).where(each.hour < past), execution_options={"synchronize_session": False}
        )
        removed += old
    update_lists(session, structures=gone, queues=gone_queues)
    return removed


def update_lists(session: Session, *, structures: Iterable[StructureKey], queues: Iterable[QueueKey]) -> None:
    """Update the lists of structures and queues from the stored hours."""
    # Queues first: the hours of a structure include those of its queues.
    _update_list(session, MeasuredQueue, sorted(queues))
    with_queues = {(qsg, structure) for qsg, structure, _ in queues if structure}
    _update_list(session, StoredMeasuredStructure, sorted({*structures, *with_queues}))


def _update_list(session: Session, kind: type[Listed], keys: Sequence[StructureKey | QueueKey]) -> None:
    """Update the rows with these keys, and remove those without hours."""
    if not keys:
        return
    names = [column.name for column in _table(kind).primary_key]
    of_all = [{_key(name).key: value for name, value in zip(names, key, strict=True)} for key in keys]
    for statement in _updates_of_list(kind, _dialect(session)):
        session.execute(statement, of_all)


@cache
def _updates_of_list(kind: type[Listed], dialect: str) -> tuple[Delete, Insert]:
    """Return the statements that remove or replace the row of a list whose key is in the parameters."""
    table = _table(kind)
    figures = _figures_of_queue() if kind is MeasuredQueue else _figures_of_structure()
    names = [column.name for column in table.primary_key]
    is_it = (table.columns[name] == _key(name) for name in names)
    found = select(*(figure.label(name) for name, figure in figures.items())).subquery()
    rows = select(*map(_key, names), *found.columns).where(found.columns["first_hour"].is_not(None))
    return (
        delete(table).where(*is_it, figures["first_hour"].is_(None)),
        _replacing(_insert(dialect, table).from_select([*names, *figures], rows), table),
    )


def _key(name: str) -> BindParameter[str]:
    """Return the parameter for a column of the key."""
    return bindparam(f"key_{name}", type_=String)


def _figures_of_queue() -> Figures:
    """Return the columns of the list of queues for the queue that the parameters name."""
    hours = HourlyQueueUsage
    of_it = and_(hours.qsg == _key("qsg"), hours.structure == _key("structure"), hours.queue == _key("queue"))
    return {"first_hour": _first(hours.hour, of_it), "last_hour": _last(hours.hour, of_it)}


def _figures_of_structure() -> Figures:
    """Return the columns of the list of structures for the structure that the parameters name."""
    hours, smds, queues = HourlyStructureUsage, HourlySmdsUsage, MeasuredQueue
    of_it, of_smds, of_queues = (
        and_(table.qsg == _key("qsg"), table.structure == _key("structure"))
        for table in (hours, smds, queues)
    )
    in_use = (
        hours.entries_in_use_max,
        hours.elements_in_use_max,
        hours.entries_in_use_pct_max,
        hours.elements_in_use_pct_max,
    )
    with_entries = _last(hours.hour, of_it, hours.entries_total.is_not(None))
    with_elements = _last(hours.hour, of_it, hours.elements_total.is_not(None))
    first_of_queues = select(func.min(queues.first_hour)).where(of_queues).scalar_subquery()
    last_of_queues = select(func.max(queues.last_hour)).where(of_queues).scalar_subquery()
    return {
        "first_hour": _one_of(
            func.min, _first(hours.hour, of_it), _first(smds.hour, of_smds), first_of_queues
        ),
        "last_hour": _one_of(func.max, _last(hours.hour, of_it), _last(smds.hour, of_smds), last_of_queues),
        "last_use_hour": _last(hours.hour, of_it, or_(*(column.is_not(None) for column in in_use))),
        "last_limits_hour": _one_of(func.max, with_entries, with_elements),
        "last_entries_limit_hour": with_entries,
        "last_elements_limit_hour": with_elements,
        "last_full_hour": _last(hours.hour, of_it, hours.structure_full_count > 0),
    }


def _first(hour: InstrumentedAttribute[datetime], *conditions: ColumnElement[bool]) -> ColumnElement[Any]:
    """Return the first hour that meets the conditions. Reading the index finds it quickly."""
    return select(hour).where(*conditions).order_by(hour).limit(1).scalar_subquery()


def _last(hour: InstrumentedAttribute[datetime], *conditions: ColumnElement[bool]) -> ColumnElement[Any]:
    """Return the last hour that meets the conditions. Reading the index backwards finds it quickly."""
    return select(hour).where(*conditions).order_by(hour.desc()).limit(1).scalar_subquery()


def _one_of(function: Callable[..., ColumnElement[Any]], *hours: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the first or the last of hours. The databases have no common function that ignores nulls among them."""
    rows = union_all(*(select(hour.label("hour")) for hour in hours)).subquery()
    return select(function(rows.columns.hour)).scalar_subquery()


# ---- reading ---------------------------------------------------------------------------------------------------------

STRUCTURE_COLUMNS = tuple(HourlyStructureUsage.__table__.columns)
QUEUE_COLUMNS = tuple(HourlyQueueUsage.__table__.columns)


def page_of_structures(
    session: Session, *, search: str | None, sort: Sort | None, offset: int, limit: int
) -> PageOfRows:
    """Return measured structures with their latest figures and their number of queues.

    Without a requested order, they are sorted by group and name. `SORT_KEYS` has the keys of orders.
    """
    kept = StoredMeasuredStructure
    query, expressions = _structures_with_figures()
    counted = select(func.count()).select_from(kept)
    if search:
        query, counted = query.where(_has_name(search)), counted.where(_has_name(search))
    names = (kept.qsg, kept.structure)
    order = names if sort is None else ordered_by(sort, expressions, ties=names)
    total = session.scalars(counted).one()
    return PageOfRows(session.execute(query.order_by(*order).offset(offset).limit(limit)).all(), total)


SORT_KEYS = (
    "structure",
    "qsg",
    "entries_percent",
    "elements_percent",
    "last_full_hour",
    "use_hour",
    "queues",
)
"""The keys by which the database can sort measured structures."""


def structures_by_key(session: Session, keys: Sequence[StructureKey]) -> Sequence[AnyRow]:
    """Return measured structures with these groups and names, in the same order, with their latest figures."""
    kept = StoredMeasuredStructure
    query, _ = _structures_with_figures()
    found = {
        (row.qsg, row.structure): row
        for qsg, names in _names_by_group(keys)
        for row in session.execute(query.where(kept.qsg == qsg, kept.structure.in_(names)))
    }
    return [found[key] for key in keys if key in found]


def _names_by_group(keys: Iterable[StructureKey]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each group with some of its structures. SQLite would not use an index for a list of pairs."""
    of_groups: dict[str, list[str]] = {}
    for qsg, structure in keys:
        of_groups.setdefault(qsg, []).append(structure)
    for qsg, names in of_groups.items():
        for some in portions(names):
            yield qsg, some


def latest_use(session: Session, *, search: str | None) -> Sequence[AnyRow]:
    """Return the columns of all measured structures that their urgency depends on, with their latest figures."""
    query, _ = _structures_with_figures()
    needed = query.with_only_columns(
        *(column for column in query.selected_columns if column.key in _URGENCY_COLUMNS)
    )
    return session.execute(needed.where(_has_name(search)) if search else needed).all()


_URGENCY_COLUMNS = frozenset(
    {
        "qsg", "structure", "last_hour", "last_use_hour", "last_full_hour", "entries_in_use_max", "elements_in_use_max",
        "entries_in_use_pct_max", "elements_in_use_pct_max", "entries_total", "elements_total",
    }
)  # fmt: skip


def last_measured_hours(session: Session) -> dict[str, datetime]:
    """Return the last measured hour of every group."""
    kept = StoredMeasuredStructure
    rows = session.execute(select(kept.qsg, func.max(kept.last_hour)).group_by(kept.qsg))
    return {row[0]: row[1] for row in rows}


def full_counts_since(session: Session, first: datetime, keys: Sequence[StructureKey]) -> Sequence[AnyRow]:
    """Return the hours, from `first` on, in which these structures were found full, with their counts."""
    hours = HourlyStructureUsage
    query = select(hours.qsg, hours.structure, hours.hour, hours.structure_full_count)
    found: list[AnyRow] = []
    for qsg, names in _names_by_group(keys):
        of_it = (hours.qsg == qsg, hours.structure.in_(names), hours.hour >= first)
        found += session.execute(query.where(*of_it, hours.structure_full_count > 0))
    return found


def _has_name(search: str) -> ColumnElement[bool]:
    kept = StoredMeasuredStructure
    return or_(
        # Without escaping, the underscore of CSQ_ADMIN would match any character.
        *(
            func.lower(column).contains(search.lower(), autoescape=True)
            for column in (kept.qsg, kept.structure)
        )
    )


@cache  # building the query takes longer than reading a page
def _structures_with_figures() -> tuple[Select[Any], Mapping[str, Expression]]:
    """Return the query for measured structures with their latest figures, and its values by sort key."""
    kept = StoredMeasuredStructure
    # Each kind of figure has its own last hour; five joins on the primary key are faster than a window over all hours.
    use, entries, elements, limits, last = (aliased(HourlyStructureUsage) for _ in range(5))
    # A join would repeat a structure for each of its queues.
    queues = (
        select(func.count())
        .where(MeasuredQueue.qsg == kept.qsg, MeasuredQueue.structure == kept.structure)
        .scalar_subquery()
    )
    query = select(
        *kept.__table__.columns, use.entries_in_use_max, use.elements_in_use_max, use.entries_in_use_pct_max,
        use.elements_in_use_pct_max, entries.entries_total, elements.elements_total,
        func.coalesce(limits.size_bytes, last.size_bytes).label("size_bytes"), queues.label("queues"),
    )  # fmt: skip
    for hours, at in (
        (use, kept.last_use_hour),
        (entries, kept.last_entries_limit_hour),
        (elements, kept.last_elements_limit_hour),
        (limits, kept.last_limits_hour),
        (last, kept.last_hour),
    ):
        query = query.outerjoin(
            hours, and_(hours.qsg == kept.qsg, hours.structure == kept.structure, hours.hour == at)
        )
    return query, {
        "structure": kept.structure,
        "qsg": kept.qsg,
        # The same rule as `share` of app/usage/measured.py: calculated if both figures are known, otherwise as reported.
        "entries_percent": func.coalesce(
            100.0 * use.entries_in_use_max / func.nullif(entries.entries_total, 0), use.entries_in_use_pct_max
        ),
        "elements_percent": func.coalesce(
            100.0 * use.elements_in_use_max / func.nullif(elements.elements_total, 0),
            use.elements_in_use_pct_max,
        ),
        "last_full_hour": kept.last_full_hour,
        "use_hour": func.coalesce(kept.last_use_hour, kept.last_hour),
        "queues": queues,
    }


def find_structure(session: Session, qsg: str, structure: str) -> StoredMeasuredStructure | None:
    """Return the structure, or None if it was never measured."""
    kept = StoredMeasuredStructure
    return session.scalars(select(kept).where(kept.qsg == qsg, kept.structure == structure)).one_or_none()


def find_queue(session: Session, qsg: str, structure: str, queue: str) -> MeasuredQueue | None:
    """Return the queue, or None if it was never measured in this structure."""
    kept = MeasuredQueue
    return session.scalars(
        select(kept).where(kept.qsg == qsg, kept.structure == structure, kept.queue == queue)
    ).one_or_none()


def structures_of_group(session: Session, qsg: str) -> Sequence[StoredMeasuredStructure]:
    """Return all measured structures of a group."""
    kept = StoredMeasuredStructure
    return session.scalars(select(kept).where(kept.qsg == qsg).order_by(kept.structure)).all()


def histories(session: Session) -> Sequence[AnyRow]:
    """Return every structure with its first and last hour, its kinds of figures, and whether it has queues."""
    of, queue = StoredMeasuredStructure, MeasuredQueue
    has_queues = exists().where(queue.qsg == of.qsg, queue.structure == of.structure)
    query = select(
        of.qsg, of.structure, of.first_hour, of.last_hour, of.last_use_hour, of.last_limits_hour,
        has_queues.label("has_queues"),
    )  # fmt: skip
    return session.execute(query.order_by(of.qsg, of.structure)).all()


def queue_counts(session: Session, qsg: str) -> dict[str, int]:
    """Return the number of measured queues, keyed by structure."""
    kept = MeasuredQueue
    query = select(kept.structure, func.count()).where(kept.qsg == qsg).group_by(kept.structure)
    return {row[0]: row[1] for row in session.execute(query).all()}


def structure_hours(
    session: Session, qsg: str, structure: str, *, first: datetime, past: datetime
) -> Sequence[AnyRow]:
    """Return the hours of a structure in order."""
    hours = HourlyStructureUsage
    query = select(*STRUCTURE_COLUMNS).where(
        hours.qsg == qsg, hours.structure == structure, hours.hour >= first, hours.hour < past
    )
    return session.execute(query.order_by(hours.hour)).all()


class LastLimits(NamedTuple):
    """The limits of a structure as last observed, each with the hour of its observation."""

    entries: int | None
    entries_hour: datetime | None
    elements: int | None
    elements_hour: datetime | None


def limits_before(session: Session, qsg: str, structure: str, before: datetime) -> LastLimits | None:
    """Return the last limits before a time; entries and elements may be from different hours."""
    hours = HourlyStructureUsage
    found: list[Any] = []
    for total in (hours.entries_total, hours.elements_total):
        query = select(total, hours.hour).where(
            hours.qsg == qsg, hours.structure == structure, hours.hour < before, total.is_not(None)
        )
        row = session.execute(query.order_by(hours.hour.desc()).limit(1)).one_or_none()
        found += (None, None) if row is None else (row[0], row[1])
    return None if found[1] is None and found[3] is None else LastLimits(*found)


def full_hours(
    session: Session, qsg: str, structure: str, *, first: datetime, past: datetime
) -> tuple[int, datetime, datetime] | None:
    """Return how often a structure was full in a period, with the first and the last such hour; None if never."""
    hours = HourlyStructureUsage
    query = select(func.sum(hours.structure_full_count), func.min(hours.hour), func.max(hours.hour)).where(
        hours.qsg == qsg,
        hours.structure == structure,
        hours.hour >= first,
        hours.hour < past,
        # Some sources do not count structure-full conditions; they show them only by the percentage in use.
        or_(
            hours.structure_full_count > 0,
            hours.entries_in_use_pct_max >= ALL_OF_IT,
            hours.elements_in_use_pct_max >= ALL_OF_IT,
        ),
    )
    count, begin, end = session.execute(query).one()
    return None if begin is None else (int(count or 0), begin, end)


def last_allocations(session: Session, qsg: str, before: datetime) -> dict[str, tuple[int, datetime]]:
    """Return the last observed size of each structure of a group before a time, with its hour."""
    hours = HourlyStructureUsage
    last = _last_hours(qsg, before, hours.size_bytes)
    query = select(hours.structure, hours.size_bytes, hours.hour).join(
        last, (hours.structure == last.c.structure) & (hours.hour == last.c.hour)
    )
    return {
        structure: (size_bytes, hour)
        for structure, size_bytes, hour in session.execute(query.where(hours.qsg == qsg))
        if size_bytes
    }


class LastPlacement(NamedTuple):
    """An observation of a placement, with its hour and its source."""

    hour: datetime
    coupling_facilities: str | None
    is_duplexed: bool | None
    policy_duplex: str | None
    placed_by: str | None


def last_placements(session: Session, qsg: str, before: datetime) -> dict[str, LastPlacement]:
    """Return, for each structure of a group, the last hour before `before` that names its coupling facilities."""
    return _last_placements(session, qsg, before, HourlyStructureUsage.coupling_facilities)


def last_policies(session: Session, qsg: str, before: datetime) -> dict[str, LastPlacement]:
    """Return, for each structure of a group, the last hour before `before` with a display of DUPLEX."""
    return _last_placements(session, qsg, before, HourlyStructureUsage.policy_duplex)


def _last_placements(
    session: Session, qsg: str, before: datetime, told: InstrumentedAttribute[str | None]
) -> dict[str, LastPlacement]:
    hours = HourlyStructureUsage
    last = _last_hours(qsg, before, told)
    query = select(
        hours.structure,
        hours.hour,
        hours.coupling_facilities,
        hours.is_duplexed,
        hours.policy_duplex,
        hours.placed_by,
    ).join(last, (hours.structure == last.c.structure) & (hours.hour == last.c.hour))
    return {row[0]: LastPlacement(*row[1:]) for row in session.execute(query.where(hours.qsg == qsg))}


def _last_hours(qsg: str, before: datetime, told: InstrumentedAttribute[Any]) -> Subquery:
    """Return, for each structure of a group, the last hour before `before` in which the column is not null."""
    hours = HourlyStructureUsage
    return (
        select(hours.structure, func.max(hours.hour).label("hour"))
        .where(hours.qsg == qsg, hours.hour < before, told.is_not(None))
        .group_by(hours.structure)
        .subquery()
    )


def queue_managers_of_data_sets(session: Session, qsg: str) -> Sequence[str]:
    """Return the queue managers of a group whose shared message data sets were measured."""
    query = select(HourlySmdsUsage.queue_manager).where(HourlySmdsUsage.qsg == qsg).distinct()
    return session.scalars(query).all()


def queue_hours(
    session: Session, qsg: str, structure: str, queue: str, *, first: datetime, past: datetime
) -> Sequence[AnyRow]:
    """Return the hours of a queue in order."""
    hours = HourlyQueueUsage
    query = select(*QUEUE_COLUMNS).where(
        hours.qsg == qsg,
        hours.structure == structure,
        hours.queue == queue,
        hours.hour >= first,
        hours.hour < past,
    )
    return session.execute(query.order_by(hours.hour)).all()


def queue_figures(
    session: Session, qsg: str, structure: str, *, first: datetime, past: datetime
) -> Sequence[AnyRow]:
    """Return sums and extremes for every queue of a structure over a period."""
    hours = HourlyQueueUsage
    query = select(
        hours.structure,
        hours.queue,
        func.count().label("hours"),
        func.min(hours.hour).label("first_hour"),
        func.max(hours.hour).label("last_hour"),
        func.sum(hours.puts).label("puts"),
        func.sum(hours.put_bytes).label("put_bytes"),
        # Puts of hours without byte counts must not lower the mean size.
        func.sum(case((hours.put_bytes.is_not(None), hours.puts))).label("puts_with_bytes"),
        func.min(hours.put_size_min_bytes).label("size_min_bytes"),
        func.max(hours.put_size_max_bytes).label("size_max_bytes"),
        func.sum(hours.persistent_puts).label("persistent_puts"),
        func.sum(case((hours.persistent_puts.is_not(None), hours.puts))).label("persistent_of"),
        func.max(hours.puts).label("busiest_hour_puts"),
        func.max(hours.depth_max).label("depth_max"),
    ).where(*_of_structure(qsg, structure, first, past))
    return session.execute(query.group_by(hours.structure, hours.queue).order_by(hours.queue)).all()


def put_bands(
    session: Session,
    qsg: str,
    structure: str,
    *,
    first: datetime,
    past: datetime,
    edges: Sequence[int],
    header_bytes: int,
    element_bytes: int,
) -> Sequence[AnyRow]:
    """Return the puts of a structure and their list elements, by hour and by band of the mean message size.

    Band 0 has sizes up to the first edge; the last band those above the last edge. Elements are those of messages whose
    data stays in the coupling facility: whole elements if all messages of a queue's hour have one size, otherwise the
    most that messages with this mean can take.
    """
    hours = HourlyQueueUsage
    # Products instead of quotients, because a quotient of integers would be rounded down to an edge.
    band = case(
        *((hours.put_bytes <= hours.puts * edge, place) for place, edge in enumerate(edges)), else_=len(edges)
    )
    single = (hours.put_size_min_bytes + (header_bytes + element_bytes - 1)) // element_bytes
    elements = case(
        (hours.put_size_min_bytes == hours.put_size_max_bytes, hours.puts * single),
        else_=(hours.put_bytes + hours.puts * (header_bytes + element_bytes - 1)) / (element_bytes * 1.0),
    )
    query = select(
        hours.hour,
        band.label("band"),
        func.sum(hours.puts).label("puts"),
        func.sum(elements).label("elements"),
        func.sum(case((hours.put_bytes.is_(None), hours.puts), else_=0)).label("puts_without_bytes"),
    ).where(*_of_structure(qsg, structure, first, past), hours.puts.is_not(None))
    return session.execute(query.group_by(hours.hour, band).order_by(hours.hour)).all()


def hours_of_extremes(
    session: Session, qsg: str, structure: str, *, first: datetime, past: datetime
) -> tuple[dict[str, datetime], dict[str, datetime]]:
    """Return, by queue, the first of its busiest hours, and the first hour with its highest depth."""
    return (
        _first_highest(session, HourlyQueueUsage.puts, qsg, structure, first, past),
        _first_highest(session, HourlyQueueUsage.depth_max, qsg, structure, first, past),
    )


def _first_highest(
    session: Session,
    column: InstrumentedAttribute[int | None],
    qsg: str,
    structure: str,
    first: datetime,
    past: datetime,
) -> dict[str, datetime]:
    hours = HourlyQueueUsage
    of_it = _of_structure(qsg, structure, first, past)
    most = select(hours.queue, func.max(column).label("most")).where(*of_it).group_by(hours.queue).subquery()
    query = select(hours.queue, func.min(hours.hour).label("hour")).where(
        *of_it, hours.queue == most.c.queue, column == most.c.most
    )
    return {row.queue: row.hour for row in session.execute(query.group_by(hours.queue)).all()}


def _of_structure(
    qsg: str, structure: str, first: datetime, past: datetime
) -> tuple[ColumnElement[bool], ...]:
    """Return conditions for the hours of a structure's queues. Naming the queues lets the index serve the period too."""
    hours, kept = HourlyQueueUsage, MeasuredQueue
    names = select(kept.queue).where(
        kept.qsg == qsg, kept.structure == structure, kept.last_hour >= first, kept.first_hour < past
    )
    return (
        hours.qsg == qsg,
        hours.structure == structure,
        hours.queue.in_(names),
        hours.hour >= first,
        hours.hour < past,
    )


def smds_figures(
    session: Session, qsg: str, structure: str, *, first: datetime, past: datetime
) -> Sequence[AnyRow]:
    """Return extremes for every shared message data set of a structure over a period."""
    hours = HourlySmdsUsage
    query = select(
        hours.queue_manager,
        func.max(hours.blocks_data).label("blocks_data"),
        func.max(hours.blocks_in_use_max).label("blocks_in_use_max"),
        func.max(hours.messages_max).label("messages_max"),
        func.sum(hours.failed_allocates).label("failed_allocates"),
    ).where(hours.qsg == qsg, hours.structure == structure, hours.hour >= first, hours.hour < past)
    return session.execute(query.group_by(hours.queue_manager).order_by(hours.queue_manager)).all()


def latest_plans(session: Session, qsgs: Iterable[str]) -> Sequence[AnyRow]:
    """Return the plans of these groups that are not deleted, each with the result of its latest version."""
    query = (
        select(Plan.name, PlanVersion.number, PlanVersion.qsg, PlanVersion.result)
        .join(PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest))
        .where(Plan.deleted_at.is_(None), PlanVersion.qsg.in_(tuple(qsgs)))
    )
    return session.execute(query.order_by(func.lower(Plan.name), Plan.name)).all()


def first_plan_with(session: Session, qsg: str, structure: str) -> AnyRow | None:
    """Return the first plan, by name, whose latest version has this application structure, with its document."""
    names = StoredPlanName
    query = (
        select(Plan.name, PlanVersion.number, PlanVersion.document)
        .join(PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest))
        .join(names, names.plan_id == Plan.id)
        .where(Plan.deleted_at.is_(None), names.qsg == qsg)
        .where(names.kind == STRUCTURE, names.name == structure)
    )
    return session.execute(query.order_by(func.lower(Plan.name), Plan.name).limit(1)).one_or_none()


class Most(NamedTuple):
    """The highest figures of a structure in any hour of a period."""

    entries: int | None
    elements: int | None
    queue_managers: int | None


def most_in_use_of_week(
    session: Session, rows: Sequence[AnyRow]
) -> dict[StructureKey, tuple[int | None, int | None]]:
    """Return the highest numbers of entries and elements in the seven days up to the last hour of each structure."""
    hours = HourlyStructureUsage
    # Most structures of a group have the same last hour, so that few queries are enough.
    of_hours: dict[datetime, list[StructureKey]] = {}
    for row in rows:
        of_hours.setdefault(row.last_hour, []).append((row.qsg, row.structure))
    most = func.max(hours.entries_in_use_max), func.max(hours.elements_in_use_max)
    query = select(hours.qsg, hours.structure, *most).group_by(hours.qsg, hours.structure)
    return {
        (qsg, structure): (entries, elements)
        for last_hour, keys in of_hours.items()
        for group, names in _names_by_group(keys)
        for qsg, structure, entries, elements in session.execute(
            query.where(
                hours.qsg == group,
                hours.structure.in_(names),
                hours.hour > last_hour - timedelta(days=DAYS_OF_WEEK),
                hours.hour <= last_hour,
            )
        )
    }


def written(
    session: Session, qsg: str, structure: str, *, first: datetime, past: datetime
) -> tuple[int, int] | None:
    """Return the entries written with data in a period, and their elements; None if no hour has both counts."""
    hours = HourlyStructureUsage
    query = select(func.sum(hours.entries_written), func.sum(hours.elements_written)).where(
        hours.qsg == qsg,
        hours.structure == structure,
        hours.hour >= first,
        hours.hour < past,
        hours.entries_written.is_not(None),
        hours.elements_written.is_not(None),
    )
    entries, elements = session.execute(query).one()
    return None if entries is None or elements is None else (int(entries), int(elements))


def most_in_use(session: Session, qsg: str, structure: str, *, first: datetime, past: datetime) -> Most:
    """Return the highest numbers of entries, elements and reporting queue managers in any hour of a period."""
    hours = HourlyStructureUsage
    columns = (hours.entries_in_use_max, hours.elements_in_use_max, hours.queue_managers)
    query = select(*(func.max(column) for column in columns)).where(
        hours.qsg == qsg, hours.structure == structure, hours.hour >= first, hours.hour < past
    )
    found = session.execute(query).one()
    return Most(found[0], found[1], found[2])
