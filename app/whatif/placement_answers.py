"""The shapes of the what-if answers, for their description in OpenAPI; tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.web.answers import Answer
from planner_core.findings import Finding
from planner_core.sizing.structure_size import CurveSummary

Role = Literal["admin", "application", "system"]
Assumptions = Annotated[list[str], Field(description="What is taken for granted where nothing is published.")]


class SizesAnswer(Answer):
    """Need, INITSIZE and SIZE."""

    need_bytes: int
    initsize_kib: int
    size_kib: int


class StructureSizesAnswer(SizesAnswer):
    """Those of one structure."""

    structure: str
    name: str
    role: Role


class ChangedStructureAnswer(Answer):
    """One structure before and after a step."""

    structure: str
    name: str
    role: Role
    before: SizesAnswer
    after: SizesAnswer
    difference: SizesAnswer
    given_size_replaced: Annotated[
        bool, Field(description="The plan gives a size that does not hold the need after the step.")
    ]
    initsize_before_holds_before: Annotated[
        int | None,
        Field(description="Messages that INITSIZE of before holds before; null without a backlog."),
    ]
    initsize_before_holds_after: Annotated[
        int | None, Field(description="Messages that the same INITSIZE holds after the step.")
    ]


class UpgradeTotalsAnswer(Answer):
    """Sums over all structures."""

    before: SizesAnswer
    after: SizesAnswer
    difference: SizesAnswer


class UpgradeChangeAnswer(Answer):
    """What a step changes."""

    cfcc_level: int | None
    more_queue_managers: int
    growth_percent_per_year: float
    years: int


class UnplacedAfterLossAnswer(Answer):
    """Structures without a place after a loss, with the step made."""

    lost: str
    structures: list[str]


class UpgradeStepAnswer(Answer):
    """The plan after one change."""

    step: Annotated[str, Field(examples=["cfcc-25"])]
    title: str
    change: UpgradeChangeAnswer
    refused: Annotated[str | None, Field(description="Why no such plan can exist; then nothing is computed.")]
    structures: list[ChangedStructureAnswer]
    totals: UpgradeTotalsAnswer
    curve_before: CurveSummary
    curve_after: CurveSummary | None
    unplaced: list[str]
    unplaced_after_loss: list[UnplacedAfterLossAnswer]
    fragment: Annotated[
        str,
        Field(
            description="CFRM statements for the plan after the step; empty where that plan does not exist or has errors."
        ),
    ]
    findings: Annotated[list[Finding], Field(description="Findings that the plan did not have before.")]


class UpgradeBeforeAnswer(Answer):
    """The plan as it is."""

    cfcc_level: int
    queue_managers: int
    growth_percent_per_year: float
    years: float
    curve: CurveSummary
    structures: list[StructureSizesAnswer]


class UpgradeAnswerShape(Answer):
    """The plan before and after each change."""

    qsg: str
    before: UpgradeBeforeAnswer
    steps: list[UpgradeStepAnswer]
    assumptions: Assumptions
    findings: list[Finding]
