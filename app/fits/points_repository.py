"""All SQL about sizing points."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from app.database.ordering import Expression, ordered_by
from app.database.portions import portions
from app.database.transactions import hold_lock
from app.database.types import AnyRow
from app.fits.points_models import StoredPoint
from app.paging import Sort

POINTS_LOCK: Final = 0x6366706C706F696E  # "cfplpoin"
"""Advisory lock on PostgreSQL of a transaction that adds points, so that two of them never add the same one."""
SORTED_BY: Final[Mapping[str, Expression]] = {
    "number": StoredPoint.id,
    "cfcc_level": StoredPoint.cfcc_level,
    "structure_type": StoredPoint.structure_type,
    "initsize_bytes": StoredPoint.initsize_bytes,
    "size_bytes": StoredPoint.size_bytes,
    "entries": StoredPoint.entries,
    "elements": StoredPoint.elements,
    "origin": StoredPoint.origin,
    "release": func.nullif(StoredPoint.release, ""),
    "measured_by": func.nullif(StoredPoint.measured_by, ""),
    "measured_on": StoredPoint.measured_on,
}
"""The values by which points can be sorted, by key."""


def page_of_points(
    session: Session, *, offset: int, limit: int, search: str = "", sort: Sort | None = None
) -> tuple[Sequence[StoredPoint], int]:
    """Return points, and the number of all that match; `search` is a part of origin, release, person or structure.

    Without a requested order, the newest are first.
    """
    query = select(StoredPoint)
    if search:
        texts = (StoredPoint.origin, StoredPoint.release, StoredPoint.measured_by, StoredPoint.structure)
        query = query.where(
            or_(*(func.lower(text).contains(search.lower(), autoescape=True) for text in texts))
        )
    total = session.scalars(select(func.count()).select_from(query.subquery())).one()
    order = (StoredPoint.id.desc(),) if sort is None else ordered_by(sort, SORTED_BY, ties=(-StoredPoint.id,))
    return session.scalars(query.order_by(*order).offset(offset).limit(limit)).all(), total


def points_of(session: Session, cfcc_level: int, kind: str) -> Sequence[StoredPoint]:
    """Return all points of a CFCC level and kind of structure, oldest first."""
    query = select(StoredPoint).where(StoredPoint.cfcc_level == cfcc_level, StoredPoint.kind == kind)
    return session.scalars(query.order_by(StoredPoint.id)).all()


def counts(session: Session) -> Sequence[AnyRow]:
    """Return the number of points of each CFCC level and kind of structure."""
    keys = (StoredPoint.cfcc_level, StoredPoint.kind)
    return session.execute(select(*keys, func.count()).group_by(*keys).order_by(*keys)).all()


def find_point(session: Session, number: int) -> StoredPoint | None:
    """Return a point by its number."""
    return session.get(StoredPoint, number)


def known_digests(session: Session, digests: Collection[str]) -> frozenset[str]:
    """Return those digests that are stored; until the transaction ends, no other transaction adds points."""
    hold_lock(session, POINTS_LOCK)
    return frozenset(
        digest
        for portion in portions(digests)
        for digest in session.scalars(select(StoredPoint.digest).where(StoredPoint.digest.in_(portion)))
    )
