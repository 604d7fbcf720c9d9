"""The decision: candidates go out step by step, until those remain that are equal.

Two orders. `seed` is that of IBM's article on re-allocation (eight eliminations); `ibm` is the algorithm of the
reference. Each step names who went out and by which value, so that the choice can be followed with the displays in
hand. docs/cluster-decisions.md has the sources and what is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from planner_core.cluster.model import Candidate, Dropped, Mode, Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Elimination:
    """A candidate that goes out in a step, and why."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: who came in, who stayed, who went out.

    `id` names what is looked at (`channel_rank`, `put`, `status` ...), the same in both modes; `number` is the step's
    in its source; `is_reached` is false where the choice was made before.
    """

    id: str
    number: str
    title: str
    attribute: str
    kept: tuple[Candidate, ...]
    eliminated: tuple[Elimination, ...] = ()
    note: str = ""
    is_reached: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one mode chooses. `chosen` are the equal destinations; nobody where the put fails.

    `deciding` is the last step that put somebody out; None where there was nothing to choose.
    """

    mode: Mode
    situation: Situation
    candidates: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    steps: tuple[Step, ...]
    chosen: tuple[Candidate, ...]
    put_fails: bool = False

    @property
    def deciding(self) -> Step | None:
        """The last step that put somebody out."""
        return next((step for step in reversed(self.steps) if step.eliminated), None)


def decide(situation: Situation, *, mode: Mode = "seed") -> Decision:
    """Choose among the instances of a queue.

    Args:
        situation: What the sending queue manager knows.
        mode: `seed` (the eight eliminations, in order) or `ibm` (the whole algorithm).
    """
    raise NotImplementedError
