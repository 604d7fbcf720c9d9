"""A scenario: a plan before and after a set of changes, calculated once and stored.

Before and after are calculated in the same way at the same time, so that only the changes make a difference.
Comparisons and reports use the stored result and never calculate it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field, PlainSerializer

from planner_core.document.model import FittedCurve, PlanDocument
from planner_core.errors import OutputRefused
from planner_core.findings import Finding, finding, in_order
from planner_core.names import Role
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.provenance import Basis, Explanation
from planner_core.running.compare import Comparison, compare
from planner_core.running.state import read_running
from planner_core.running.steps import CommandStep
from planner_core.sizing.known_queues import KnownQueues
from planner_core.sizing.placement import (
    Action,
    PlacedStructure,
    PlacementRule,
    PlannedResult,
)
from planner_core.sizing.structure_answer import structure_answer
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve, CurveSummary
from planner_core.texts.mqsc.qlocal import is_defined_alike
from planner_core.texts.mqsc.render import mqsc
from planner_core.texts.outputs import render_output
from planner_core.units import Mib, bytes_to_kib_ceil
from planner_core.whatif.changes import Changes, ScenarioChange, applied, facilities_of, what_changes
from planner_core.whatif.growth import evaluated_with_sizes
from planner_core.whatif.loss import Kind, LossAnswer, losses_of
from planner_core.wire import Answer, Hidden, Unchecked

FIGURES: Mapping[str, tuple[str, str]] = {
    "need_bytes": ("Need", "bytes"),
    "initsize_kib": ("INITSIZE", "K"),
    "size_kib": ("SIZE", "K"),
    "messages": ("Messages of the backlog", "messages"),
    "messages_in_initsize": ("Messages that INITSIZE holds", "messages"),
    "messages_in_initsize_with_offload": ("Messages that INITSIZE holds with offload", "messages"),
    "peak_usage_percent": ("Usage of INITSIZE at the backlog", "percent"),
    "offloaded_at_backlog": ("Messages offloaded at the backlog", "messages"),
}
"""Label and unit of each figure of a structure that a scenario shows."""
TOTALS = ("initsize_kib", "size_kib")
ASSUMPTIONS: tuple[str, ...] = (
    "A factor for rates or outages applies to every queue of the plan and to the messages that clusters send; stated "
    "backlogs are multiplied by both. Get rates stay the same.",
    "A new CFCC level applies to every coupling facility that has a lower level.",
    "A given INITSIZE or SIZE is kept if it still meets the target or the headroom; otherwise it is computed and reported "
    "as replaced. Sizes given in the scenario are kept.",
    "The commands change the system from the current plan to the scenario: the running configuration is assumed to match the plan.",
)
NO_FACILITIES = "The plan has no coupling facilities, so no loss was simulated."


Number = int | float | None


@dataclass(frozen=True, slots=True)
class ScenarioFigures(Answer):
    """Figures of a structure; null for those that it does not have."""

    need_bytes: int | None
    initsize_kib: int | None
    size_kib: int | None
    messages: int | None
    messages_in_initsize: int | None
    messages_in_initsize_with_offload: int | None
    peak_usage_percent: int | float | None
    offloaded_at_backlog: int | None


@dataclass(frozen=True, slots=True)
class ScenarioStructure(Answer):
    """One structure before and after."""

    structure: str
    name: str
    role: Role
    before: ScenarioFigures
    after: ScenarioFigures
    difference: ScenarioFigures
    given_size_replaced: bool


@dataclass(frozen=True, slots=True)
class ScenarioTotals(Answer):
    """Sums over all structures."""

    initsize_kib: int
    size_kib: int


@dataclass(frozen=True, slots=True)
class ScenarioPlan(Answer):
    """Settings of the plan, and its totals."""

    cfcc_level: int
    queue_managers: int
    growth_percent_per_year: int | float
    years: int | float
    target_usage_percent: int | float
    headroom_percent: int | float | None
    size_factor: int | float
    curve: CurveSummary
    totals: ScenarioTotals


@dataclass(frozen=True, slots=True)
class ScenarioPlacement(Answer):
    """A structure and its coupling facilities."""

    structure: str
    coupling_facility: str | None
    second_copy: str | None
    rule: str


@dataclass(frozen=True, slots=True)
class ScenarioMove(Answer):
    """A structure whose placement a loss changes."""

    structure: str
    size_bytes: Annotated[Mib, Field(alias="size_mib")]
    before: tuple[str, ...]
    coupling_facility: str | None
    second_copy: str | None
    action: Action
    rule: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ScenarioLoss(Answer):
    """One loss: only the structures that it moves."""

    kind: Kind
    lost: str
    is_the_scenario: bool
    moves: tuple[ScenarioMove, ...]
    unplaced: tuple[str, ...]
    white_space_bytes: Annotated[Mib, Field(alias="white_space_mib")]
    missing_bytes: Annotated[Mib, Field(alias="missing_mib")]
    messages_gone: int


@dataclass(frozen=True, slots=True)
class ScenarioWhiteSpace(Answer):
    """White space of a coupling facility."""

    coupling_facility: str
    used_bytes: Annotated[Mib, Field(alias="used_mib")]
    free_bytes: Annotated[Mib | None, Field(alias="free_mib")]
    keep_bytes: Annotated[Mib, Field(alias="white_space_mib")]
    because_of: str | None
    is_enough: bool | None


@dataclass(frozen=True, slots=True)
class ScenarioPlacements(Answer):
    """Placements before and after."""

    before: tuple[ScenarioPlacement, ...]
    after: tuple[ScenarioPlacement, ...]


@dataclass(frozen=True, slots=True)
class ScenarioLosses(Answer):
    """Losses before and after."""

    before: tuple[ScenarioLoss, ...]
    after: tuple[ScenarioLoss, ...]


@dataclass(frozen=True, slots=True)
class ScenarioWhiteSpaces(Answer):
    """White space before and after."""

    before: tuple[ScenarioWhiteSpace, ...]
    after: tuple[ScenarioWhiteSpace, ...]


@dataclass(frozen=True, slots=True)
class FigureOrigin(Answer):
    """Formula, basis and documents of a figure, with those of its inputs."""

    formula: str
    basis: Basis
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FigureOrigins(Answer):
    """Origins of the figures before and after, by JSON pointer."""

    before: dict[str, FigureOrigin]
    after: dict[str, FigureOrigin]


@dataclass(frozen=True, slots=True)
class ScenarioResult(Answer):
    """The effects of the changes, as they were when the scenario was saved."""

    qsg: str
    core_version: str
    changes: Annotated[Changes, Unchecked(), PlainSerializer(Changes.as_json, return_type=dict[str, Any])]
    what_changes: tuple[ScenarioChange, ...]
    lost: str | None
    before: ScenarioPlan
    after: ScenarioPlan
    structures: tuple[ScenarioStructure, ...]
    placements: ScenarioPlacements
    losses: ScenarioLosses
    white_space: ScenarioWhiteSpaces
    rules: tuple[PlacementRule, ...]
    origins: FigureOrigins
    commands: tuple[CommandStep, ...]
    commands_refused: str | None
    assumptions: tuple[str, ...]
    findings: tuple[Finding, ...]
    findings_new: tuple[Finding, ...]
    findings_gone: tuple[Finding, ...]
    findings_before: Hidden[tuple[Finding, ...]]
    """Findings on the plan and its losses."""


def figures_of(structure: StructureResult) -> ScenarioFigures:
    """Return the figures of a structure that scenarios show."""
    shown = structure_answer(structure)
    return ScenarioFigures(**{key: getattr(shown, key) for key in FIGURES})


def _pair(before: StructureResult, after: StructureResult, *, is_replaced: bool) -> ScenarioStructure:
    was, now = figures_of(before), figures_of(after)
    differences: dict[str, Any] = {key: difference(getattr(was, key), getattr(now, key)) for key in FIGURES}
    return ScenarioStructure(
        structure=after.cfrm_name,
        name=after.name,
        role=after.role,
        before=was,
        after=now,
        difference=ScenarioFigures(**differences),
        given_size_replaced=is_replaced,
    )


def difference(before: Number, after: Number) -> Number:
    """Return a figure after the changes minus the one before; None if one of them is absent."""
    return None if before is None or after is None else round(after - before, 2)


def scenario(
    document: PlanDocument,
    changes: Changes,
    *,
    curve: Curve | None = None,
    stored: Mapping[str, Any] | None = None,
) -> ScenarioResult:
    """Return a plan before and after changes.

    Args:
        document: The plan.
        changes: The changes.
        curve: The fitted curve that the plan names; None for published figures.
        stored: The result that was saved with the plan, to report if this version of the core gives different figures.

    Raises:
        InputInvalid: The changes do not fit the plan.
        PlanRefused: No such plan can exist, before or after.
    """
    changed = applied(document, changes)
    said = tuple(what_changes(document, changes))
    own = []
    if curve is not None and changed.cfcc_level != document.cfcc_level:
        # A fitted curve holds for one CFCC level, and a difference must come from the change only.
        own.append(_curve_changed(document, changed))
        document, changed = (each.model_copy(update={"curve": "published"}) for each in (document, changed))
        curve = None
        stored = None
    # Recalculated and not copied from the version: the figures of two cores differ without any change
    # (docs/decisions/0018).
    queues = KnownQueues()
    before = evaluate(document, curve=curve, queues=queues)
    if stored is not None and _differs(stored, before):
        own.append(
            finding(
                "SCENARIO_PLAN_OF_ANOTHER_CORE",
                "The figures saved with this version of the plan differ from those that the installed cfplan calculates. Before and after "
                "are both recalculated, so that they can be compared.",
            )
        )
    # A size that the scenario states is part of its question, so it stays even if it is too small.
    after, replaced = evaluated_with_sizes(changed, curve=curve, kept=_given(changed, changes), queues=queues)
    losses = None
    if facilities_of(changed):
        losses = losses_of([(document.qsg, before)]), losses_of([(document.qsg, after)])
    sides = losses or (None, None)
    commands, refused = _commands(before, after)
    findings_before = in_order([*before.findings, *_beyond(before, losses and losses[0])])
    findings = in_order([*own, *after.findings, *_beyond(after, losses and losses[1])])
    known, now = (set(map(_key, found)) for found in (findings_before, findings))
    return ScenarioResult(
        qsg=after.document.qsg,
        core_version=after.core_version,
        changes=changes,
        what_changes=said,
        lost=changes.lost,
        before=_plan(before),
        after=_plan(after),
        structures=tuple(
            _pair(was, is_now, is_replaced=is_now.pointer in replaced)
            for was, is_now in zip(before.structures, after.structures, strict=True)
        ),
        placements=ScenarioPlacements(*map(_placements, sides)),
        losses=ScenarioLosses(*(_losses(each, changes.lost) for each in sides)),
        white_space=ScenarioWhiteSpaces(*map(_white_space, sides)),
        rules=sides[1].rules if sides[1] is not None else (),
        origins=FigureOrigins(_origins(before), _origins(after)),
        commands=commands.commands if commands is not None else (),
        commands_refused=refused or None,
        assumptions=(
            *ASSUMPTIONS,
            *(sides[1].assumptions if sides[1] is not None else (NO_FACILITIES,)),
            *(commands.assumptions if commands is not None else ()),
        ),
        findings=findings,
        findings_new=tuple(each for each in findings if _key(each) not in known),
        findings_gone=tuple(each for each in findings_before if _key(each) not in now),
        findings_before=findings_before,
    )


def _beyond(result: PlanResult, losses: LossAnswer | None) -> list[Finding]:
    """Return the findings on losses that the plan itself does not have, including acknowledged ones."""
    known = {_key(each) for each in result.findings}
    return [each for each in (losses.findings if losses is not None else ()) if _key(each) not in known]


def _curve_changed(document: PlanDocument, changed: PlanDocument) -> Finding:
    fitted = document.curve.fitted if isinstance(document.curve, FittedCurve) else ""
    return finding(
        "SCENARIO_WITHOUT_FITTED_CURVE",
        f"The plan names the fitted curve {fitted}, which covers one CFCC level. Before, at {document.cfcc_level}, and "
        f"after, at {changed.cfcc_level}, are calculated with published figures instead.",
        field="/curve",
    )


def _differs(stored: Mapping[str, Any], result: PlanResult) -> bool:
    """Return whether a stored result has different figures."""
    saved = [[each.get(key) for key in FIGURES] for each in stored["structures"]]
    return saved != [list(astuple(figures_of(each))) for each in result.structures]


def _given(document: PlanDocument, changes: Changes) -> frozenset[str]:
    """Return the pointers of structures whose sizes the scenario states."""
    named = {each.name for each in changes.structures if each.initsize is not None or each.size is not None}
    return frozenset(f"/structures/{at}" for at, each in enumerate(document.structures) if each.name in named)


def _commands(before: PlanResult, after: PlanResult) -> tuple[Comparison | None, str]:
    """Return the commands that lead from one plan to the other, or the reason why there are none."""
    try:
        # The plan is assumed to be the running system (docs/explanation/assumptions.md, Scenarios).
        policy = render_output("policy", before).text
    except OutputRefused as refused:
        return None, f"The current plan cannot be evaluated: {refused}"
    queues = _redefined_queues(before, after)
    running = read_running([policy, mqsc(before, queues=queues)], are_of_plan=True)
    try:
        return compare(after, running, queues=queues), ""
    except OutputRefused as refused:
        return None, str(refused)


def _redefined_queues(before: PlanResult, after: PlanResult) -> frozenset[str]:
    """Return the names of the queues with another definition after the changes."""
    # A queue with the same definition needs no command. Most scenarios redefine none of up to 32 000 queues, and to read
    # and compare the definitions of all of them took two thirds of the time of a scenario. Changes neither add nor move
    # queues.
    return frozenset(
        queue.name
        for was, now in zip(before.document.structures, after.document.structures, strict=True)
        if was.queues is not now.queues
        for old, queue in zip(was.queues, now.queues, strict=True)
        if not is_defined_alike(old, queue)
    )


def _key(each: Finding) -> tuple[str, str | None, str]:
    # The message has the figures: if they change, the finding counts as new, and the old one as removed.
    return each.code, each.structure, each.message


def _plan(result: PlanResult) -> ScenarioPlan:
    document = result.document
    headroom = document.headroom_percent
    return ScenarioPlan(
        cfcc_level=document.cfcc_level,
        queue_managers=document.queue_manager_count,
        growth_percent_per_year=_number(document.growth.percent_per_year),
        years=_number(document.growth.years),
        target_usage_percent=_number(document.target_usage_percent),
        headroom_percent=None if headroom is None else _number(headroom),
        size_factor=_number(document.size_factor),
        curve=result.curve.summary,
        totals=ScenarioTotals(
            initsize_kib=sum(bytes_to_kib_ceil(each.sizes.initsize_bytes) for each in result.structures),
            size_kib=sum(bytes_to_kib_ceil(each.sizes.size_bytes) for each in result.structures),
        ),
    )


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


# ---- losses --------------------------------------------------------------------------------------------------


def _placements(answer: LossAnswer | None) -> tuple[ScenarioPlacement, ...]:
    return tuple(
        ScenarioPlacement(
            structure=each.wanted.structure,
            coupling_facility=each.now[0] if each.now else None,
            second_copy=each.now[1] if len(each.now) > 1 else None,
            rule=each.first.rule if each.first is not None else "none",
        )
        for each in (answer.normal if answer is not None else ())
    )


def _losses(answer: LossAnswer | None, lost: str | None) -> tuple[ScenarioLoss, ...]:
    """Return every loss; the one that the scenario is about comes first."""
    losses = answer.losses if answer is not None else ()
    ordered = sorted(losses, key=lambda each: (each.kind, each.name) != ("coupling_facility", lost))
    return tuple(
        ScenarioLoss(
            kind=loss.kind,
            lost=loss.name,
            is_the_scenario=loss.kind == "coupling_facility" and loss.name == lost,
            moves=tuple(_move(each) for each in loss.placed if each.action != "stays" and each.before),
            unplaced=tuple(each.wanted.structure for each in loss.unplaced),
            white_space_bytes=loss.white_space_bytes,
            missing_bytes=loss.missing_bytes,
            messages_gone=sum(each.gone for each in loss.lost),
        )
        for loss in ordered
    )


def _move(each: PlacedStructure[PlannedResult]) -> ScenarioMove:
    return ScenarioMove(
        structure=each.wanted.structure,
        size_bytes=each.wanted.bytes_wanted,
        before=each.before,
        coupling_facility=each.now[0] if each.now else None,
        second_copy=each.now[1] if len(each.now) > 1 else None,
        action=each.action,
        rule=each.first.rule if each.first is not None else None,
        reason=each.first.reason if each.first is not None else None,
    )


def _white_space(answer: LossAnswer | None) -> tuple[ScenarioWhiteSpace, ...]:
    return tuple(
        ScenarioWhiteSpace(
            coupling_facility=each.name,
            used_bytes=each.used_bytes,
            free_bytes=each.free_bytes,
            keep_bytes=each.keep_bytes,
            because_of=each.because,
            is_enough=each.is_enough,
        )
        for each in (answer.white_space if answer is not None else ())
    )


# ---- origins of figures ----------------------------------------------------------------------------------------


def _origins(result: PlanResult) -> dict[str, FigureOrigin]:
    """Return the origins of the figures that a scenario shows, by pointer."""
    # Steps are not stored: a reader who wants every step applies the change to the plan (docs/decisions/0018).
    wanted = {f"/structures/{at}/{key}" for at in range(len(result.structures)) for key in FIGURES}
    wanted |= {f"/totals/{key}" for key in TOTALS}
    explained = explain_result(result, details=False)
    return {each.figure: _origin(each) for each in explained if each.figure in wanted}


def _origin(each: Explanation) -> FigureOrigin:
    named = [each.source, *(given.source for given in each.inputs)]
    sources = dict.fromkeys(str(source) for source in named if source is not None)
    return FigureOrigin(each.formula, each.basis, tuple(sources))
