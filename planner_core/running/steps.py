"""Differences between the running system and the plan, and the commands that remove them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from planner_core.provenance import BasisWords, SourceText
from planner_core.wire import Answer

TakesEffect = Literal["at once", "pending until rebuild", "needs an outage"]
Layer = Literal["cfrm", "cfstruct", "queue"]
StepKind = Literal["policy", "setxcf", "job", "mqsc"]
# The answer of `/api/v1/diff` contains these words.
NOW: Final[TakesEffect] = "at once"
OUTAGE: Final[TakesEffect] = "needs an outage"


@dataclass(frozen=True, slots=True)
class RunningDifference(Answer):
    """A keyword whose value differs from the plan, and when its change takes effect."""

    layer: Layer
    keyword: str
    today: str | None
    planned: str
    takes_effect: TakesEffect
    basis: BasisWords
    source: SourceText


@dataclass(frozen=True, slots=True)
class QueueDifference(RunningDifference):
    """An attribute of a queue whose value differs from the plan."""

    queue: str


@dataclass(frozen=True, slots=True)
class CommandStep(Answer):
    """A command, when it takes effect, and the reason for it."""

    number: int = field(default=0, kw_only=True)
    """The position of the command among all commands, from 1; assigned after all commands are known."""
    kind: StepKind
    command: str
    structure: str | None
    takes_effect: TakesEffect
    why: str
    basis: BasisWords
    source: SourceText
