"""Check in displays whether CSQ_ADMIN has enough entries and elements for the group, and whether they are nearly used up.

Either pool can run out on its own. In APAR PH39578 elements were 99 % in use while entries were 12 %, and the queue
manager ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from planner_core import names
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.texts.xcf.displays import DisplayedInstance, FullEvent

_ALL_PERCENT: Final = 100


@dataclass(frozen=True, slots=True)
class AdminPools:
    """Entries and elements of one CSQ_ADMIN; None if no display shows them."""

    entries_in_use: int | None = None
    entries_total: int | None = None
    elements_in_use: int | None = None
    elements_total: int | None = None

    @classmethod
    def of(cls, shown: FullEvent | DisplayedInstance) -> AdminPools:
        """Return the counts that a display shows."""
        return cls(shown.entries_in_use, shown.entries_total, shown.elements_in_use, shown.elements_total)

    def completed(self, other: AdminPools) -> AdminPools:
        """Return these counts, with unknown pools filled in from the other display."""
        # In use and total come from one display: two displays are of different times.
        entries = self if self.entries_total is not None else other
        elements = self if self.elements_total is not None else other
        return AdminPools(
            entries.entries_in_use, entries.entries_total, elements.elements_in_use, elements.elements_total
        )


def nearly_full(cfrm_name: str, pools: AdminPools, *, threshold: int | None) -> Iterator[Finding]:
    """Yield a finding if one of the pools is at or above the full threshold.

    Args:
        cfrm_name: The name of the structure in CFRM, or CSQ_ADMIN.
        pools: Its entries and elements.
        threshold: FULLTHRESHOLD [percent]; None or 0 (monitoring off) for the value in IBM's examples.
    """
    # FULLTHRESHOLD(0) turns monitoring off, but the queue managers still end when a pool is full.
    level = threshold or limit("fullthreshold_in_examples")
    counted = (
        ("entries", pools.entries_in_use, pools.entries_total),
        ("elements", pools.elements_in_use, pools.elements_total),
    )
    known = [(name, used, total) for name, used, total in counted if used is not None and total]
    if not any(used * _ALL_PERCENT >= total * level for _, used, total in known):
        return
    said = " and ".join(
        f"{used} of {total} {name} ({_ALL_PERCENT * used // total} %)" for name, used, total in known
    )
    yield finding(
        "ADMIN_NEARLY_FULL",
        f"{cfrm_name} has {said} in use, at or above {level} %. Each pool can fill on its own, and queue managers end when "
        "one is full (00C51165, 00C510AB): let large units of work commit, and enlarge the structure.",
        structure=names.ADMIN_STRUCTURE,
    )
