"""The structures and coupling facilities of stored plans, read once for each version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from app.database.row_cache import RowCache
from app.database.types import AnyRow
from app.fleet import repository
from app.fleet.facilities import PlannedGroup
from app.plans.stored import others_of, reading_version, stored_document, stored_result
from planner_core.document.model import CouplingFacility
from planner_core.sizing.placement import AllocationGroup
from planner_core.sizing.structure_answer import stored_structures

Version = tuple[int, int]
"""The id of a plan, which is never reused, and the number of a version, which never changes."""
_GROUPS = RowCache[Version, PlannedGroup](most=500)


def planned_groups(session: Session, versions: Sequence[AnyRow]) -> list[PlannedGroup]:
    """Return the structures and coupling facilities of these versions, in the same order."""
    names = {each.id: each.name for each in versions}

    def load(missing: Sequence[Version]) -> Iterator[tuple[Version, PlannedGroup]]:
        for row in repository.contents(session, missing):
            yield (row.plan_id, row.number), _group(names[row.plan_id], row)

    wanted = [(each.id, each.latest) for each in versions]
    known = _GROUPS.read(session, wanted, load)
    # A plan may have been renamed since its version was read.
    return [replace(known[key], plan=names[key[0]]) for key in wanted if key in known]


def _group(name: str, row: AnyRow) -> PlannedGroup:
    with reading_version(name, row.number):
        result, document = stored_result(row.result), stored_document(row.document)
        return AllocationGroup(
            plan=name,
            cfcc_level=result["cfcc_level"],
            coupling_facilities=tuple(map(CouplingFacility.model_validate, document["coupling_facilities"])),
            structures=(*others_of(document), *stored_structures(result)),
        )
