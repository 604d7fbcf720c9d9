"""Daily allocation statistics, and the points of a fit that are made from them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AllocationPoint:
    """How often one instance of a structure was seen on one day with these totals: a row for each distinct triple.

    Rows of one instance, day and triple from several systems are added up in `observations`; nothing else is added.
    """

    qsg: str | None
    structure: str
    xcf_structure: str | None
    coupling_facility: str | None
    cfcc_level: int | None
    day: dt.date
    allocated_at: dt.datetime | None
    size_bytes: int
    entries_total: int
    elements_total: int
    observations: int
