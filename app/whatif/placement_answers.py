"""The shapes of the what-if answers, for their description in OpenAPI; tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.sizing.answers import CurveAnswer
from app.web.answers import Answer
from planner_core.findings import Finding

Role = Literal["admin", "application", "system"]
RuleName = Annotated[str, Field(description="The rule that decides, one of `rules`.", examples=["space"])]
Assumptions = Annotated[list[str], Field(description="What is taken for granted where nothing is published.")]


class CandidateFacility(Answer):
    """A coupling facility of a PREFLIST as XCF sees it, in the order of its choice."""

    coupling_facility: str
    position: Annotated[int, Field(description="Its place in PREFLIST, from 1.")]
    free_mib: Annotated[float | None, Field(description="What is free there; null where that is not known.")]
    not_met: Annotated[list[str], Field(description="Criteria that it does not meet.")]
    ruled_out: Annotated[str | None, Field(description="Why it cannot be taken at all.")]


class StorageClassMemoryAnswer(Answer):
    """Storage-class memory of a structure where it is."""

    asked_mib: Annotated[float, Field(description="SCMMAXSIZE.")]
    usable_mib: Annotated[
        float | None,
        Field(
            description="What it can use there, the least of its copies; null where that is not known.",
        ),
    ]
    augmented_mib: Annotated[
        float | None,
        Field(description="CF storage that is counted for it in `size_mib`; null where it is not stated."),
    ]


class PlacementAnswer(Answer):
    """A structure and where it is."""

    structure: Annotated[str, Field(description="As the CFRM policy calls it.")]
    name: str
    plan: str
    role: Role
    size_mib: Annotated[float, Field(description="What one copy takes, augmented space included.")]
    before: Annotated[list[str], Field(description="Where it was before the loss, the first copy first.")]
    coupling_facility: str
    second_copy: str | None
    action: Literal["allocated", "stays", "moves", "switches", "duplexed_again", "loses_second_copy"]
    rule: RuleName | None
    reason: str | None
    candidates: list[CandidateFacility]
    second_copy_rule: RuleName | None
    second_copy_reason: str | None
    storage_class_memory: Annotated[
        StorageClassMemoryAnswer | None, Field(description="Null without SCMMAXSIZE.")
    ]


class UnplacedAnswer(Answer):
    """A structure that no coupling facility can take."""

    structure: str
    name: str
    plan: str
    role: Role
    size_mib: float
    before: list[str]
    rule: Literal["none"]
    reason: str | None
    candidates: list[CandidateFacility]
    most_room_in: Annotated[str | None, Field(description="Where XCF would allocate it smaller.")]
    short_by_mib: Annotated[float | None, Field(description="What is missing there.")]


class RemainingAnswer(Answer):
    """A coupling facility that is left."""

    coupling_facility: str
    arrives_mib: Annotated[float, Field(description="What is allocated there anew.")]
    used_mib: float
    free_mib: float | None


class LostMessagesAnswer(Answer):
    """What of a structure's planned backlog is gone with its only copy."""

    structure: str
    plan: str
    non_persistent_messages: int
    persistent_messages: int
    persistent_come_back: bool
    messages_gone: int
    recovers_by_itself: Annotated[
        bool | None,
        Field(description="Without an operator; null where the plan does not define the CFSTRUCT."),
    ]
    what_happens: str


class EndingAnswer(Answer):
    """Queue managers of a plan that end because they lose a structure."""

    plan: str
    qsg: str
    count: int
    names: Annotated[list[str], Field(description="Empty where the plan names no queue managers.")]
    because_of: list[str]
    is_assumed: Annotated[bool, Field(description="The plan does not state CFCONLOS of the queue managers.")]
    what_happens: str


class LossAnswerShape(Answer):
    """One loss, played through."""

    kind: Literal["coupling_facility", "machine", "site"]
    lost: Annotated[
        str, Field(description="The coupling facility, the SEQUENCE of the machine, or the site.")
    ]
    coupling_facilities: list[str]
    placements: list[PlacementAnswer]
    unplaced: list[UnplacedAnswer]
    white_space_mib: Annotated[
        float,
        Field(description="What must be free elsewhere so that all that lost its only copy finds a place."),
    ]
    missing_mib: Annotated[float, Field(description="What of it finds none.")]
    second_copies_mib: Annotated[float, Field(description="What new second copies take on top.")]
    remaining: list[RemainingAnswer]
    messages: list[LostMessagesAnswer]
    queue_managers_end: list[EndingAnswer]
    order_matters: Annotated[
        bool, Field(description="In another order of allocation, other structures find no place.")
    ]


class WhiteSpaceAnswer(Answer):
    """A coupling facility, and what it must keep free for the worst loss of another one."""

    coupling_facility: str
    storage_mib: float | None
    taken_by_others_mib: float
    cfcc_level: int
    site: str | None
    volatile: bool
    failure_isolated: bool
    used_mib: float
    free_mib: float | None
    white_space_mib: Annotated[
        float,
        Field(
            description="What structures without a copy need there at worst; new second copies are not in it."
        ),
    ]
    because_of: str | None
    is_enough: bool | None


class PlacementRuleAnswer(Answer):
    """A rule of choice and where it stands."""

    rule: str
    words: str
    basis: str
    source: str


class CfLossAnswer(Answer):
    """Where structures are, and what each loss makes of it."""

    counted_at: Literal["initsize", "size"]
    plans: list[str]
    coupling_facilities: list[WhiteSpaceAnswer]
    placements: list[PlacementAnswer]
    unplaced: list[UnplacedAnswer]
    losses: list[LossAnswerShape]
    rules: list[PlacementRuleAnswer]
    assumptions: Assumptions
    findings: list[Finding]


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
    curve_before: CurveAnswer
    curve_after: CurveAnswer | None
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
    curve: CurveAnswer
    structures: list[StructureSizesAnswer]


class UpgradeAnswerShape(Answer):
    """The plan before and after each change."""

    qsg: str
    before: UpgradeBeforeAnswer
    steps: list[UpgradeStepAnswer]
    assumptions: Assumptions
    findings: list[Finding]
