"""Differences between what runs and what is planned, and the drafts of the commands that remove them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from planner_core.provenance import Basis, Source

TakesEffect = Literal["at once", "pending until rebuild", "needs an outage"]
Layer = Literal["cfrm", "cfstruct", "queue"]
StepKind = Literal["policy", "setxcf", "job", "mqsc"]
NOW: Final[TakesEffect] = "at once"
OUTAGE: Final[TakesEffect] = "needs an outage"


@dataclass(frozen=True, slots=True)
class RunningDifference:
    """One thing that is another today than planned, and when its change takes effect."""

    layer: Layer
    keyword: str
    today: str | None
    planned: str
    takes_effect: TakesEffect
    basis: Basis
    source: Source

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "layer": self.layer,
            "keyword": self.keyword,
            "today": self.today,
            "planned": self.planned,
            "takes_effect": self.takes_effect,
            "basis": self.basis.words,
            "source": str(self.source),
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """A command without its number."""

    kind: StepKind
    command: str
    structure: str | None
    takes_effect: TakesEffect
    why: str
    basis: Basis
    source: Source
