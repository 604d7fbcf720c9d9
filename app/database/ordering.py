"""The order of lists that the database divides into pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

from app.paging import Sort

Expression: TypeAlias = "ColumnElement[Any] | InstrumentedAttribute[Any]"


def ordered_by(
    sort: Sort, expressions: Mapping[str, Expression], *, ties: Sequence[Expression]
) -> tuple[ColumnElement[Any], ...]:
    """Return the terms of ORDER BY for a requested order.

    Args:
        sort: The requested order. The page has refused unknown keys (`app.web.tables.sort_of`).
        expressions: The values by which the list can be sorted, by key.
        ties: Columns that are unique together. Without them, a row could be on two pages, or on none.
    """
    by = expressions[sort.key]
    # Without NULLS LAST, SQLite would list unmeasured values first, and PostgreSQL last.
    return ((by.desc() if sort.is_descending else by.asc()).nulls_last(), *(each.asc() for each in ties))
