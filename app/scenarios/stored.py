"""Values read from the database that can be used after the session ends. Long texts are parsed on first use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from app.database.damage import reading_stored
from app.plans.stored import stored_object
from planner_core.whatif.scenario_report import SavedScenario
from planner_core.wire import Answer, JsonObject


@dataclass(frozen=True)
class StoredScenario:
    """A scenario, as it was saved."""

    id: int
    plan: str
    name: str
    revision: int
    version: int
    created_at: datetime
    updated_at: datetime
    core_version: str
    note: str
    changes_json: str
    result_json: str
    author: str | None = None
    """Who saved it last; None if the service did not record authors yet."""

    @property
    def etag(self) -> str:
        """The strong ETag of this state, for If-Match."""
        return etag(self.id, self.revision)

    @property
    def number(self) -> int:
        """The number of this state, counted from 1."""
        return self.revision

    @cached_property
    def changes(self) -> JsonObject:
        """The changes to the plan."""
        with reading_scenario(self.name, self.plan):
            return stored_object(self.changes_json)

    @cached_property
    def result(self) -> JsonObject:
        """The stored result, which is never recalculated."""
        with reading_scenario(self.name, self.plan):
            return stored_object(self.result_json, ("findings", "before", "after"))

    @property
    def kept(self) -> SavedScenario:
        """The scenario in the form that comparisons and reports read."""
        return SavedScenario(name=self.name, version=self.version, note=self.note, result=self.result)


@dataclass(frozen=True, slots=True)
class ScenarioSummary(Answer):
    """A scenario in a list."""

    name: str
    version: Annotated[int, Field(description="Version of the plan.")]
    is_of_latest: Annotated[bool, Field(description="Whether that is the plan's latest version.")]
    etag: str
    created_at: datetime
    updated_at: datetime
    author: Annotated[
        str | None, Field(description="Who saved it last; null if the service did not record it yet.")
    ]
    core_version: str
    note: str
    what_changes: tuple[str, ...]
    initsize_kib_before: int
    initsize_kib_after: int
    size_kib_before: int
    size_kib_after: int
    errors: Annotated[int, Field(description="Findings after the changes that are not acknowledged.")]
    warnings: int
    commands: Annotated[int, Field(description="Commands that lead from the plan to the scenario.")]


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """The scenario after saving, and whether it is new, changed or identical."""

    scenario: StoredScenario
    status: Literal["created", "changed", "identical"]


def reading_scenario(name: str, plan: str) -> AbstractContextManager[None]:
    """Report stored texts of a scenario that cannot be read in the block as damaged data."""
    return reading_stored(f"The scenario {name} of the plan {plan}")


def etag(number: int, revision: int) -> str:
    """Return the strong ETag of a scenario's state. Ids of scenarios are never reused."""
    return f'"{number}.{revision}-scenario"'
