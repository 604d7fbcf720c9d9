"""The measured usage of a structure for the probability of surviving an outage: hourly roll-ups and the latest forecast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from app.errors import NotFound
from app.forecasts.service import growth_of
from app.usage import repository, service
from planner_core.sizing.structure_size import model_constant
from planner_core.whatif.survival_answer import (
    MeasuredGrowth,
    MeasuredHour,
    MeasuredUsage,
    Measurements,
    no_measurements,
)

if TYPE_CHECKING:
    from app.database.engine import Database

_EXTRA_DAYS = 30
"""Calendar days before the last ones that are read as well, because incomplete days are left out."""


def measurements_for(session: Session) -> Measurements:
    """Return a lookup in the database of a session."""

    def find(
        qsg: str, structure: str, *, edges: Sequence[int], header_bytes: int, most_days: int
    ) -> MeasuredUsage | None:
        try:
            span = service.span_of(session, qsg, structure)
        except NotFound:
            return None
        past = span.last_hour + timedelta(hours=1)
        first = max(span.first_hour, past - timedelta(days=most_days + _EXTRA_DAYS))
        limits = service.last_limits(session, qsg, structure, past)
        growth = growth_of(session, qsg, structure)
        return MeasuredUsage(
            hours=tuple(_hours(session, qsg, structure, first, past, edges, header_bytes)),
            entries_total=limits.entries_total if limits else None,
            elements_total=limits.elements_total if limits else None,
            growth=None if growth is None else MeasuredGrowth(*growth),
        )

    return find


def _hours(
    session: Session,
    qsg: str,
    structure: str,
    first: datetime,
    past: datetime,
    edges: Sequence[int],
    header_bytes: int,
) -> Iterator[MeasuredHour]:
    """Yield the hours with puts or a fill, in order."""
    fills = {
        row.hour: (row.entries_in_use_max, row.elements_in_use_max)
        for row in repository.structure_hours(session, qsg, structure, first=first, past=past)
    }
    bands = len(edges) + 1
    puts: dict[datetime, list[float]] = {}
    elements: dict[datetime, list[float]] = {}
    unsized = set()
    for row in repository.put_bands(
        session,
        qsg,
        structure,
        first=first,
        past=past,
        edges=edges,
        header_bytes=header_bytes,
        element_bytes=model_constant("element_bytes"),
    ):
        # PostgreSQL returns sums of bigint as Decimal.
        puts.setdefault(row.hour, [0.0] * bands)[row.band] += float(row.puts)
        elements.setdefault(row.hour, [0.0] * bands)[row.band] += float(row.elements or 0)
        if row.puts_without_bytes:
            # Without their sizes, the elements of these puts are not known.
            unsized.add(row.hour)
    for hour in sorted({*fills, *puts}):
        is_known = hour in puts and hour not in unsized
        yield MeasuredHour(
            hour,
            tuple(puts[hour]) if is_known else None,
            tuple(elements[hour]) if is_known else (),
            *fills.get(hour, (None, None)),
        )


def measurements_in(database: Database) -> Measurements:
    """Return a lookup in a database. Each call is a short transaction of its own."""

    def find(
        qsg: str, structure: str, *, edges: Sequence[int], header_bytes: int, most_days: int
    ) -> MeasuredUsage | None:
        with database.session(writes=False) as session:
            return measurements_for(session)(
                qsg, structure, edges=edges, header_bytes=header_bytes, most_days=most_days
            )

    return find


def measurements_of_settings(
    qsg: str, structure: str, *, edges: Sequence[int], header_bytes: int, most_days: int
) -> MeasuredUsage | None:
    """Return the measured usage from the database in the settings; None if there is no database.

    Raises:
        DatabaseUnusable: The database has another schema version, is damaged, or does not answer.
    """
    from app.database.engine import open_database

    # A command that only answers a question must not create or change the database of a running service.
    with open_database(migrates=False) as (database, _):
        found = no_measurements if database.is_missing else measurements_in(database)
        return found(qsg, structure, edges=edges, header_bytes=header_bytes, most_days=most_days)
