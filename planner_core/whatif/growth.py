"""Upgrades and growth: the plan before and after a higher CFCC level, more queue managers, or years of growth.

Each step evaluates the whole plan again with one change, so each figure of a step is the figure of a plan with that
change. A given size is kept if it holds the need after the step, and computed otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, TypeVar

from pydantic import Field, computed_field

from planner_core.document.model import Admin, CouplingFacility, Growth, PlanDocument, Structure, System
from planner_core.errors import OutOfRange, OutputRefused, PlanRefused
from planner_core.findings import Finding, in_order
from planner_core.limits import limit
from planner_core.names import Role
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult, Purpose
from planner_core.questions import Absent, Label, ListOf, Metavar, Number, Question, Whole
from planner_core.sizing.known_queues import KnownQueues
from planner_core.sizing.levels import lowest_level
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve, CurveSummary, bundles_in, published_curves
from planner_core.texts.outputs import render_output
from planner_core.texts.tables import table_lines
from planner_core.units import bytes_to_kib_ceil
from planner_core.whatif.loss import losses_of
from planner_core.wire import Answer, Exact, Hidden

T = TypeVar("T", Admin, System, Structure)
DEFAULT_PERCENT = Decimal(10)
DEFAULT_YEARS = (1, 2, 3)
MOST_STEPS = 12
MOST_QUEUES_WITH_DEPTHS = 50_000
"""The number of queues in all evaluations of a question up to which their depths are judged: about one second of a processor."""
MOST_YEARS, MOST_MORE, HIGHEST_LEVEL = 50, 31, 99
ASSUMPTIONS: tuple[str, ...] = (
    "A given INITSIZE or SIZE is kept if it still meets the target or the headroom; otherwise it is computed and reported "
    "as replaced.",
    "A step to a higher CFCC level raises every coupling facility that has a lower level.",
    "Growth is compounded on top of the plan's own horizon, at the same rate for every queue.",
)
_FITTED = (
    "The plan names a fitted curve, which covers one CFCC level. Steps to other levels compare the published figures of both "
    "levels instead."
)
_WITHOUT_DEPTHS = (
    "Findings about queue depths are left out, except errors, because this plan has {queues} queues and is evaluated {times} "
    "times. Choose a single change to see them."
)
_DEFAULTED = "No growth rate was specified: 10 percent per year is used as an example."


class UpgradeQuestion(Question):
    """Changes that a plan is compared with: CFCC levels, more queue managers, years of growth."""

    cfcc: Annotated[
        tuple[int, ...] | Absent,
        ListOf(Whole(1, HIGHEST_LEVEL)),
        Metavar("L"),
        Label("CFCC levels", hint="If empty, the levels with published figures."),
    ] = Field(
        None,
        description="a CFCC level to evaluate; repeatable; absent: the levels above the plan's with published figures",
    )
    queue_managers: Annotated[int, Whole(0, MOST_MORE), Label("More queue managers")] = Field(
        1, description="number of additional queue managers; absent: 1"
    )
    growth: Annotated[
        Decimal | Absent,
        Number(-99, 1000),
        Metavar("P"),
        Label("Annual growth", "%", "If empty, the plan's own, or 10."),
    ] = Field(
        None,
        description="growth on top of the plan's horizon, in percent per year; absent: the plan's own, or 10",
    )
    years: Annotated[tuple[int, ...], ListOf(Whole(0, MOST_YEARS)), Label("After years")] = Field(
        DEFAULT_YEARS,
        description="number of years to evaluate; repeatable; absent: 1, 2 and 3; 0: no growth",
    )


@dataclass(frozen=True, slots=True)
class UpgradeChange(Answer):
    """The change that a step makes to the plan."""

    key: Hidden[str]
    title: Hidden[str]
    cfcc_level: int | None = None
    more_queue_managers: int = 0
    percent_per_year: Annotated[Exact[Decimal], Field(alias="growth_percent_per_year")] = Decimal(0)
    years: int = 0


@dataclass(frozen=True, slots=True)
class SizeFigures(Answer):
    """Need, INITSIZE and SIZE."""

    need_bytes: int
    initsize_kib: int
    size_kib: int

    def __sub__(self, other: SizeFigures) -> SizeFigures:
        return SizeFigures(
            self.need_bytes - other.need_bytes,
            self.initsize_kib - other.initsize_kib,
            self.size_kib - other.size_kib,
        )


@dataclass(frozen=True, slots=True)
class StructureSizes(SizeFigures):
    """Need, INITSIZE and SIZE of one structure."""

    structure: str
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class GrownStructure(Answer):
    """One structure before and after a step."""

    before: Hidden[StructureResult]
    after: Hidden[StructureResult]
    is_replaced: Annotated[
        bool,
        Field(
            alias="given_size_replaced",
            description="The plan gives a size that is too small for the need after the step.",
        ),
    ]
    was_too_small: Annotated[
        bool,
        Field(
            alias="given_size_was_too_small",
            description="The size that the plan gives is too small without the step, too.",
        ),
    ]

    @computed_field
    @property
    def structure(self) -> str:
        """The name of the structure in the CFRM policy."""
        return self.after.cfrm_name

    @computed_field
    @property
    def name(self) -> str:
        """The CFSTRUCT name."""
        return self.after.name

    @computed_field
    @property
    def role(self) -> Role:
        """The role of the structure."""
        return self.after.role

    @computed_field(alias="before")
    @property
    def figures_before(self) -> SizeFigures:
        """The sizes in the plan."""
        return _figures([self.before])

    @computed_field(alias="after")
    @property
    def figures_after(self) -> SizeFigures:
        """The sizes after the step."""
        return _figures([self.after])

    @computed_field
    @property
    def difference(self) -> SizeFigures:
        """The sizes after the step minus those of the plan."""
        return self.figures_after - self.figures_before

    @computed_field(alias="initsize_before_holds_before")
    @property
    def holds_before(self) -> int | None:
        """Messages of the planned mix that the old INITSIZE holds before the step, without offload; null without a backlog."""
        load = self.before.load
        return (
            load.messages_in_initsize(offload=False) if load is not None and load.plain is not None else None
        )

    @computed_field(alias="initsize_before_holds_after")
    @property
    def old_holds_after(self) -> int | None:
        """Messages that the old INITSIZE holds after the step."""
        load = self.after.load
        if load is None or load.plain is None:
            return None
        # A size holds fewer messages at a higher CFCC level, which is the reason to compare.
        before = self.before.sizes
        curve = self.after.curve.at_size(before.size_bytes)
        bundles = bundles_in(before.initsize_bytes, curve=curve, ratio=load.ratio)
        return load.plain.capacity(bundles)


def _figures(structures: Iterable[StructureResult]) -> SizeFigures:
    sizes = [each.sizes for each in structures]
    return SizeFigures(
        sum(each.need_bytes for each in sizes),
        sum(bytes_to_kib_ceil(each.initsize_bytes) for each in sizes),
        sum(bytes_to_kib_ceil(each.size_bytes) for each in sizes),
    )


@dataclass(frozen=True, slots=True)
class UpgradeTotals(Answer):
    """Sums over all structures."""

    before: SizeFigures
    after: SizeFigures
    difference: SizeFigures


@dataclass(frozen=True, slots=True)
class UnplacedAfterLoss(Answer):
    """Structures that cannot be placed after a loss in the changed plan."""

    lost: str
    structures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpgradeStep(Answer):
    """The plan after one change, or the reason why there is none."""

    change: UpgradeChange
    before: Hidden[PlanResult]
    after: Hidden[PlanResult | None]
    structures: tuple[GrownStructure, ...]
    findings: Annotated[tuple[Finding, ...], Field(description="Findings that the plan did not have before.")]
    unplaced: tuple[str, ...]
    unplaced_after_loss: tuple[UnplacedAfterLoss, ...]
    refused: Annotated[
        str | None,
        Field(description="Reason why no such plan can exist; in that case, nothing is calculated."),
    ] = None

    @computed_field(alias="step", examples=["cfcc-25"])
    @property
    def key(self) -> str:
        """The name of the step."""
        return self.change.key

    @computed_field
    @property
    def title(self) -> str:
        """A description of the change."""
        return self.change.title

    @computed_field
    @property
    def totals(self) -> UpgradeTotals:
        """Sums over all structures."""
        before = _figures(each.before for each in self.structures)
        after = _figures(each.after for each in self.structures)
        return UpgradeTotals(before, after, after - before)

    @computed_field
    @property
    def curve_before(self) -> CurveSummary:
        """The curve of the plan."""
        return self.before.curve.summary

    @computed_field
    @property
    def curve_after(self) -> CurveSummary | None:
        """The curve after the step."""
        return self.after.curve.summary if self.after is not None else None

    @computed_field
    @property
    def fragment(self) -> str:
        """CFRM statements for the plan after the step; empty if there is no such plan, or it has errors."""
        try:
            return self.statements()
        except OutputRefused:
            return ""

    def statements(self) -> str:
        """Return CFRM statements for the plan after the step; empty if there is no such plan.

        Raises:
            OutputRefused: The plan after the step has errors.
        """
        return render_output("policy", self.after).text if self.after is not None else ""


@dataclass(frozen=True, slots=True)
class UpgradePlan(Answer):
    """The plan before any change."""

    cfcc_level: int
    queue_managers: int
    growth_percent_per_year: Exact[Decimal]
    years: Exact[Decimal]
    curve: CurveSummary
    structures: tuple[StructureSizes, ...]


@dataclass(frozen=True, slots=True)
class UpgradeAnswer(Answer):
    """The plan before and after each change."""

    before: Hidden[PlanResult]
    steps: tuple[UpgradeStep, ...]
    assumptions: Annotated[tuple[str, ...], Field(description="Assumptions where no figures are published.")]
    findings: tuple[Finding, ...]

    @computed_field
    @property
    def qsg(self) -> str:
        """The queue-sharing group."""
        return self.before.document.qsg

    @computed_field(alias="before")
    @property
    def plan(self) -> UpgradePlan:
        """The plan before any change."""
        document = self.before.document
        return UpgradePlan(
            cfcc_level=document.cfcc_level,
            queue_managers=document.queue_manager_count,
            growth_percent_per_year=document.growth.percent_per_year,
            years=document.growth.years,
            curve=self.before.curve.summary,
            structures=tuple(
                StructureSizes(
                    each.sizes.need_bytes,
                    bytes_to_kib_ceil(each.sizes.initsize_bytes),
                    bytes_to_kib_ceil(each.sizes.size_bytes),
                    structure=each.cfrm_name,
                    name=each.name,
                    role=each.role,
                )
                for each in self.before.structures
            ),
        )

    def lines(self) -> Iterator[str]:
        """Yield the sizes of every structure before and after each step."""
        for step in self.steps:
            yield f"{step.title} ({step.key})"
            if step.refused:
                yield f"  {step.refused}"
                yield ""
                continue
            rows: list[tuple[str, ...]] = [("  structure", "INITSIZE K", "after", "", "SIZE K", "after", "")]
            rows += [
                (
                    f"  {each.structure}{_mark(each)}",
                    *_sizes(each.figures_before, each.figures_after),
                )
                for each in step.structures
            ]
            rows.append(("  together", *_sizes(step.totals.before, step.totals.after)))
            yield from table_lines(rows)
            if any(each.is_replaced and not each.was_too_small for each in step.structures):
                yield "  *  The given size becomes too small and was recalculated."
            if any(each.is_replaced and each.was_too_small for each in step.structures):
                yield "  ** The given size was too small before this change, too, and was recalculated."
            for each in step.unplaced_after_loss:
                yield f"  Without {each.lost}, these cannot be placed: {', '.join(each.structures)}."
            if step.unplaced:
                yield f"  Cannot be placed: {', '.join(step.unplaced)}."
            yield ""


def _mark(structure: GrownStructure) -> str:
    if not structure.is_replaced:
        return ""
    return " **" if structure.was_too_small else " *"


def _sizes(before: SizeFigures, after: SizeFigures) -> tuple[str, ...]:
    difference = after - before
    return (
        str(before.initsize_kib),
        str(after.initsize_kib),
        f"{difference.initsize_kib:+}",
        str(before.size_kib),
        str(after.size_kib),
        f"{difference.size_kib:+}",
    )


def levels_above(level: int) -> tuple[int, ...]:
    """Return the CFCC levels above a level that have their own published figures: the highest of each range."""
    return tuple(curve.cfcc_to for curve in published_curves() if curve.cfcc_to > level)


def upgrades(
    document: PlanDocument, question: UpgradeQuestion | None = None, *, curve: Curve | None = None
) -> UpgradeAnswer:
    """Evaluate a plan before and after each change, and after all of them together.

    Args:
        document: The plan.
        question: The changes.
        curve: The fitted curve that the plan names; None for published figures.

    Raises:
        PlanRefused: No such plan can exist as it is.
        OutOfRange: A level is not above the plan's, there are too many steps, or the rate differs from the plan's.
    """
    asked = question or UpgradeQuestion()
    levels = levels_above(lowest_level(document)) if asked.cfcc is None else tuple(sorted(set(asked.cfcc)))
    # Forms and URLs can ask for no growth only as 0 years.
    years = tuple(sorted({each for each in asked.years if each}))
    _check(document, levels, asked.queue_managers, asked.growth, years)
    own = document.growth.percent_per_year if document.growth.years else Decimal(0)
    percent = asked.growth if asked.growth is not None else own or DEFAULT_PERCENT
    changes = _changes(levels, asked.queue_managers, percent, years)
    assumptions = list(ASSUMPTIONS)
    purpose, count = _purpose_of(document, changes)
    if purpose == "sizes":
        assumptions.append(_WITHOUT_DEPTHS.format(queues=count, times=len(changes) + 1))
    queues = KnownQueues()
    before = evaluate(document, curve=curve, purpose=purpose, queues=queues)
    steps = tuple(_step(before, change, curve, queues) for change in changes)
    if curve is not None and levels:
        assumptions.append(_FITTED)
    if asked.growth is None and not own and years:
        assumptions.append(_DEFAULTED)
    found = in_order([*before.findings, *(each for step in steps for each in step.findings)])
    return UpgradeAnswer(before, steps, tuple(assumptions), found)


def _purpose_of(document: PlanDocument, changes: Sequence[UpgradeChange]) -> tuple[Purpose, int]:
    """Return what the evaluations of the steps are used for, and the number of queues in the plan."""
    queues = sum(len(structure.queues) for structure in document.structures)
    is_long = len(changes) > 1 and queues * (len(changes) + 1) > MOST_QUEUES_WITH_DEPTHS
    return ("sizes" if is_long else "result"), queues


def _check(
    document: PlanDocument,
    levels: Sequence[int],
    more: int,
    percent: Decimal | None,
    years: Sequence[int],
) -> None:
    lowest = lowest_level(document)
    for level in levels:
        if not lowest < level <= HIGHEST_LEVEL:
            raise OutOfRange(
                field="cfcc_level",
                value=level,
                lowest=lowest + 1,
                highest=HIGHEST_LEVEL,
                advice=f"The plan is at level {lowest}.",
            )
    if not 0 <= more <= MOST_MORE:
        raise OutOfRange(field="queue_managers", value=more, lowest=0, highest=MOST_MORE)
    for year in years:
        if not 1 <= year <= MOST_YEARS:
            raise OutOfRange(field="years", value=year, lowest=1, highest=MOST_YEARS)
    if len(levels) + len(years) > MOST_STEPS:
        raise OutOfRange(field="steps", value=len(levels) + len(years), lowest=0, highest=MOST_STEPS)
    growth = document.growth
    if percent is None:
        return
    if not -99 <= percent <= 1000:  # noqa: PLR2004 - the bounds of the document
        raise OutOfRange(field="growth", value=percent, lowest=-99, highest=1000)
    # A document has one growth rate, so more years can only continue the plan's own.
    if growth.years and growth.percent_per_year and percent != growth.percent_per_year:
        raise OutOfRange(
            field="growth",
            value=percent,
            lowest=growth.percent_per_year,
            highest=growth.percent_per_year,
            advice=f"The plan grows by {growth.percent_per_year} % a year already; for another rate, remove growth from the plan.",
        )


def _changes(levels: Sequence[int], more: int, percent: Decimal, years: Sequence[int]) -> list[UpgradeChange]:
    found = [UpgradeChange(f"cfcc-{level}", f"CFCC level {level}", cfcc_level=level) for level in levels]
    if more:
        words = "One more queue manager" if more == 1 else f"{more} more queue managers"
        found.append(UpgradeChange(f"queue-managers-{more}", words, more_queue_managers=more))
    rate = f"{percent.normalize():f}"
    for year in years:
        words = f"{rate} % a year for {year} {'year' if year == 1 else 'years'}"
        found.append(UpgradeChange(f"growth-{year}", words, percent_per_year=percent, years=year))
    kinds = bool(levels) + bool(more) + bool(years)
    if kinds > 1:
        together = UpgradeChange(
            "together",
            "All together",
            cfcc_level=levels[-1] if levels else None,
            more_queue_managers=more,
            percent_per_year=percent if years else Decimal(0),
            years=years[-1] if years else 0,
        )
        found.append(together)
    return found


def _step(plan: PlanResult, change: UpgradeChange, curve: Curve | None, queues: KnownQueues) -> UpgradeStep:
    document, used, before = plan.document, curve, plan
    if change.cfcc_level is not None and curve is not None:
        # A fitted curve holds for one CFCC level, so both sides use the published figures.
        document = document.model_copy(update={"curve": "published"})
        used, before = None, evaluate(document, purpose=plan.purpose, queues=queues)
    changed = _applied(document, change)
    if changed.queue_manager_count > limit("queue_managers_per_group"):
        return _refused(before, change, changed, used)
    after, replaced = evaluated_with_sizes(changed, curve=used, purpose=plan.purpose, queues=queues)
    # Messages contain figures: a finding whose figures changed is a new one.
    known = {(each.code, each.structure, each.message) for each in before.findings}
    answer = losses_of([(document.qsg, after)])
    losses = tuple(
        UnplacedAfterLoss(loss.name, tuple(each.wanted.structure for each in loss.unplaced))
        for loss in answer.losses
        if loss.kind == "coupling_facility" and loss.unplaced
    )
    return UpgradeStep(
        change=change,
        before=before,
        after=after,
        structures=tuple(
            GrownStructure(was, now, now.pointer in replaced, _is_given_too_small(was))
            for was, now in zip(before.structures, after.structures, strict=True)
        ),
        findings=tuple(
            each for each in after.findings if (each.code, each.structure, each.message) not in known
        ),
        unplaced=tuple(each.wanted.structure for each in answer.normal if not each.now),
        unplaced_after_loss=losses,
    )


def _refused(
    before: PlanResult, change: UpgradeChange, changed: PlanDocument, curve: Curve | None
) -> UpgradeStep:
    try:
        # The error of `evaluate` states why the plan is refused.
        evaluate(changed, curve=curve)
    except PlanRefused as error:
        return UpgradeStep(change, before, None, (), error.findings, (), (), refused=str(error))
    message = f"{changed.queue_manager_count} queue managers were not refused."
    raise AssertionError(message)


def _applied(document: PlanDocument, change: UpgradeChange) -> PlanDocument:
    update: dict[str, object] = {}
    if change.cfcc_level is not None:
        update["cfcc_level"] = change.cfcc_level
        update["coupling_facilities"] = [
            raised(each, change.cfcc_level) for each in document.coupling_facilities
        ]
    if change.more_queue_managers:
        update["queue_managers"] = document.queue_manager_count + change.more_queue_managers
    if change.years:
        own = document.growth.years if document.growth.percent_per_year else Decimal(0)
        update["growth"] = Growth.model_construct(
            percent_per_year=change.percent_per_year, years=own + change.years
        )
    return document.model_copy(update=update)


def raised(facility: CouplingFacility, level: int) -> CouplingFacility:
    """Return a coupling facility raised to a level, if its stated level is lower."""
    if facility.cfcc_level is None or facility.cfcc_level >= level:
        return facility
    return facility.model_copy(update={"cfcc_level": level})


def evaluated_with_sizes(
    document: PlanDocument,
    *,
    curve: Curve | None,
    kept: frozenset[str] = frozenset(),
    purpose: Purpose = "result",
    queues: KnownQueues | None = None,
) -> tuple[PlanResult, frozenset[str]]:
    """Return the plan with the given sizes that suffice, and the pointers of structures whose sizes were replaced.

    Structures at `kept` always keep their sizes. `purpose` and `queues` are those of `evaluate`.
    """
    given = evaluate(document, curve=curve, purpose=purpose, queues=queues)
    short = frozenset(
        each.pointer for each in given.structures if each.pointer not in kept and _is_given_too_small(each)
    )
    if not short:
        return given, short
    free: dict[str, Admin | System | Structure | list[Structure]] = {}
    if "/admin" in short:
        free["admin"] = _freed(document.admin)
    if "/system" in short:
        free["system"] = _freed(document.system)
    free["structures"] = [
        _freed(each) if f"/structures/{number}" in short else each
        for number, each in enumerate(document.structures)
    ]
    freed = document.model_copy(update=free)
    return evaluate(freed, curve=curve, purpose=purpose, queues=queues), short


def _is_given_too_small(structure: StructureResult) -> bool:
    """Return whether the plan gives a size that does not hold what its target or headroom requires."""
    sizes = structure.sizes
    return (
        (sizes.initsize_is_given or sizes.size_is_given)
        # Structures are allocated at INITSIZE, so that is the size that must suffice.
        and sizes.initsize_bytes < max(sizes.wanted_bytes, sizes.minimum_bytes)
    )


def _freed(definition: T) -> T:
    # Both, because a SIZE that stays could be below the computed INITSIZE.
    return definition.model_copy(update={"initsize": None, "size": None})
