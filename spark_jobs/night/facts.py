"""The facts that the application passes to the nightly run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from planner_core.contracts.files import parsed_text
from planner_core.contracts.nightly import NightlyFacts, PlannedStructure
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class FactsError(PlannerError):
    """Facts that cannot be read; the message gives the reason."""


def read_facts(path: Path) -> NightlyFacts:
    """Read the facts from a file.

    Raises:
        FactsError: The file cannot be read, or its contents are not valid facts.
    """
    try:
        return parsed_text(NightlyFacts, path.read_bytes())
    except OSError as error:
        message = f"The facts of the nightly run cannot be read: {error.strerror}."
    except ValidationError as error:
        first = error.errors()[0]
        at = "/".join(map(str, first["loc"]))
        message = f"The facts of the nightly run are invalid{f' at {at}' if at else ''}: {first['msg']}."
    raise FactsError(message)


def by_structure(plans: Iterable[PlannedStructure]) -> dict[tuple[str, str], tuple[PlannedStructure, ...]]:
    """Return the planned structures by group and name."""
    found: dict[tuple[str, str], tuple[PlannedStructure, ...]] = {}
    for plan in plans:
        key = plan.qsg, plan.structure
        found[key] = (*found.get(key, ()), plan)
    return found
