"""The structures of the overview, arranged for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from app.fleet.answers import FleetStructure
from app.fleet.charts import Sparkline, sparkline
from app.fleet.service import DayUse, address_of

ByName = Mapping[tuple[str, str], tuple[DayUse, ...]]
_NEVER = datetime.min.replace(tzinfo=UTC)


def _days(each: FleetStructure) -> float:
    limit = each.next_limit
    if limit is None:
        return float("inf")
    return -1.0 if limit.is_passed else float("inf") if limit.days.p50 is None else float(limit.days.p50)


ORDERS: Mapping[str, tuple[str, Callable[[FleetStructure], object]]] = {
    "urgency": ("Urgency", lambda each: 0),
    "structure": ("Structure", lambda each: (each.structure, each.qsg)),
    "group": ("Group", lambda each: (each.qsg, each.structure)),
    "used": ("Used now", lambda each: 1.0 if each.used_percent is None else -each.used_percent),
    "limit": ("Next limit", _days),
    "full": ("Last full", lambda each: _NEVER - (each.last_full_hour or _NEVER)),
}
"""The orders of the table by their names in the address. Structures that are equal in one stay sorted by urgency."""


@dataclass(frozen=True, slots=True)
class StructureLine:
    """A structure with the address of its page, and its last 90 days."""

    structure: FleetStructure
    href: str
    spark: Sparkline | None


def lines(structures: Sequence[FleetStructure], use: ByName) -> tuple[StructureLine, ...]:
    """Return a line for each structure."""
    last = max((days[-1].day for days in use.values() if days), default=date.min)
    return tuple(
        StructureLine(each, address_of(each), sparkline(use.get((each.qsg, each.structure), ()), last=last))
        for each in structures
    )


def ordered(structures: Sequence[FleetStructure], order: str) -> list[FleetStructure]:
    """Return structures in an order of `ORDERS`."""
    key = ORDERS[order][1]
    return sorted(structures, key=key)  # type: ignore[arg-type]
