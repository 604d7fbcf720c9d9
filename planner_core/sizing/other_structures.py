"""Structures of the sysplex that are not the group's, such as those of Db2: counted in coupling facilities, never sized.

Their sizes are those that the document states. They are placed like the group's structures, by their PREFLIST.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from planner_core.document.model import OtherStructure
from planner_core.sizing.structure_result import Placement

_DB2: Final = re.compile(r"(?P<group>[A-Z][A-Z0-9$#@]{0,7})_(?P<kind>LOCK1|SCA|GBP[0-9K]{1,5})")
"""Names of the structures of a Db2 data-sharing group: the group name, and LOCK1, SCA or the name of a buffer pool."""


@dataclass(frozen=True, slots=True)
class OtherResult:
    """A structure that the document lists next to those of the group."""

    definition: OtherStructure
    pointer: str
    placement: Placement
    role: Literal["other"] = "other"

    @property
    def name(self) -> str:
        """Return its name in the CFRM policy: it has no other."""
        return self.definition.name

    @property
    def cfrm_name(self) -> str:
        """Return its name in the CFRM policy."""
        return self.definition.name

    @property
    def initsize_bytes(self) -> int:
        """Return the storage that it takes: its current size if that is stated, otherwise INITSIZE, otherwise SIZE."""
        found = self.definition
        return found.allocated or found.initsize or found.size

    @property
    def size_bytes(self) -> int:
        """Return SIZE, to which it may grow, or the current size if a pending change has reduced SIZE below it."""
        return max(self.definition.size, self.definition.allocated or 0)


def other_results(others: Iterable[OtherStructure], facilities: Sequence[str]) -> tuple[OtherResult, ...]:
    """Return the other structures of a document.

    Args:
        others: The structures.
        facilities: All coupling facilities of the document, for a structure without a PREFLIST.
    """
    return tuple(
        OtherResult(
            each,
            f"/other_structures/{index}",
            Placement(
                preflist=tuple(each.preflist or facilities),
                exclist=tuple(each.exclist),
                duplex=each.duplex,
                full_threshold=0,
                allow_auto_alter=False,
                duplex_site=each.duplex_site,
                enforce_order=each.enforce_order,
            ),
        )
        for index, each in enumerate(others)
    )


def db2_structure(cfrm_name: str) -> tuple[str, str] | None:
    """Return the Db2 data-sharing group and the kind of a structure; None if its name is not that of one.

    >>> db2_structure("DSNDB0A_LOCK1"), db2_structure("SQ03APP1")
    (('DSNDB0A', 'LOCK1'), None)
    """
    found = _DB2.fullmatch(cfrm_name)
    return (found["group"], found["kind"]) if found else None
