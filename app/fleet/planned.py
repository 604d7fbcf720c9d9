"""The structures and coupling facilities of stored plans, read once for each version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.fleet import repository
from app.fleet.facilities import PlannedGroup
from planner_core.document.model import CouplingFacility
from planner_core.sizing.placement import AllocationGroup
from planner_core.sizing.structure_answer import stored_structures

Version = tuple[int, int]
MOST_KEPT = 500
"""Maximum number of versions of one database whose structures are kept in memory."""

_kept: WeakKeyDictionary[Engine, dict[Version, PlannedGroup]] = WeakKeyDictionary()


def planned_groups(session: Session, versions: Sequence[AnyRow]) -> list[PlannedGroup]:
    """Return the structures and coupling facilities of these versions, in the same order.

    A version never changes and ids of plans are never reused, so each version is parsed once in a process.
    """
    engine = session.get_bind().engine
    kept = _kept.get(engine, {})
    wanted = [(each.id, each.latest) for each in versions]
    known = {key: kept[key] for key in wanted if key in kept}
    names = {each.id: each.name for each in versions}
    for row in repository.contents(session, [key for key in wanted if key not in known]):
        known[row.plan_id, row.number] = _group(names[row.plan_id], row)
    # Replaced as a whole, because requests run in several threads; versions that are not the latest are dropped.
    _kept[engine] = dict(list(known.items())[:MOST_KEPT])
    # A plan that was saved while this request read the list may be missing.
    return [known[key] for key in wanted if key in known]


def _group(name: str, row: AnyRow) -> PlannedGroup:
    result = json.loads(row.result)
    return AllocationGroup(
        plan=name,
        cfcc_level=result["cfcc_level"],
        coupling_facilities=tuple(
            map(CouplingFacility.model_validate, json.loads(row.document)["coupling_facilities"])
        ),
        structures=stored_structures(result),
    )
