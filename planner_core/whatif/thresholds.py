"""Three offload rules for a structure: they do not act in normal running, leave a cushion, and hold the backlog.

IBM describes the purposes of the rules (performance, cushioned transition, capacity) and gives four examples, but not
the distance between thresholds, nor how low "fairly low" is. Those figures are in tables/whatif_filling.toml and in
docs/explanation/assumptions.md. `filling.py` calculates the capacity of a setting, as for every plan; IBM's own
arithmetic of 0.75 KB for each offloaded message limits the last threshold.

Lower thresholds never reduce capacity: an offloaded message takes at most the elements that it would take in the
structure. So thresholds are lowered step by step until the backlog fits. If it does not fit with the lowest thresholds
that do not act in normal running, no thresholds are sufficient at this size.

If even the lowest thresholds hold no more than a structure without rules (entries run out first, as with messages up
to 1164 bytes at 1:6), IBM's default thresholds are kept, and a finding reports that they gain nothing. IBM's arithmetic
relies on automatic alter: with ALLOWAUTOALT(YES), the advice then also follows it if messages take more elements when
kept than when offloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal, get_args

from pydantic import Field, PlainSerializer, computed_field

from planner_core import tables
from planner_core.document.model import PlanDocument
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.provenance import Assumption, Basis, Explanation
from planner_core.questions import Absent, Explained, Label, Metavar, Number, RuleSize, StructureName, Whole
from planner_core.sizing.demand import Demand, QueueDemand, band_edges, demand_of
from planner_core.sizing.explain_filling import bundle_steps, model_source, phases_of
from planner_core.sizing.filling import Fill, Pool, Snapshot, fill, two_pools
from planner_core.sizing.offload import RULE_OFF_BYTES, Reserve, Rule, default_rules, firing, reserve_for
from planner_core.sizing.shared_findings import offload_needs_cflevel_5, usage_measure_assumed
from planner_core.sizing.smds import data_set_bytes, lob_bytes, message_header_bytes, page_bytes
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve, bundles_in, model_constant
from planner_core.units import KIB, MIB, Kib, ceil_div, floor_fraction, format_mib, format_size, hundredths
from planner_core.whatif.filling_up import (
    Percent,
    Storage,
    TenthsDown,
    mean_bytes,
    only_structure,
    parts_of,
    structure_of,
    tenths_down,
)
from planner_core.wire import Answer, Omittable, Unchecked

Purpose = Literal["performance", "cushioned transition", "capacity"]
SettingName = Literal["advised", "plan", "defaults", "none"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
SETTING_NAMES: dict[SettingName, str] = {
    "advised": "advised",
    "plan": "the plan's",
    "defaults": "IBM's defaults",
    "none": "without rules",
}
_FULL = 100


Rounded = Annotated[
    Fraction, Unchecked(), PlainSerializer(lambda value: float(round(value, 2)), return_type=float)
]


class ThresholdQuestion(Explained):
    """The aims of offload rules; without any parameter, those for the planned backlog."""

    structure: StructureName = Field(
        None, description="CFSTRUCT name of the application structure; absent: the only one in the plan"
    )
    at: Annotated[Storage, Label("Storage")] = Field(
        "initsize", description="the storage for which the rules are chosen: INITSIZE, or SIZE"
    )
    hold: Annotated[
        int | Absent, Whole(lowest=1), Label("To be held", "messages", "If empty, the planned backlog.")
    ] = Field(None, description="messages that must be held; absent: the planned backlog")
    typical: Annotated[
        int | Absent,
        Whole(),
        Label("In normal running", "messages", "No rule should begin below this depth. If empty, none."),
    ] = Field(None, description="messages on the structure in normal running; absent: assumed to be none")
    margin_percent: Annotated[
        Decimal | Absent,
        Number(highest=99),
        Metavar("P"),
        Label("Margin", "%", "If empty, IBM's 10 %, reduced as in IBM's examples."),
    ] = Field(
        None,
        description="share of the space kept as a margin; absent: IBM's 10 %, reduced as in IBM's examples",
    )
    cheap_over: Annotated[
        int | Absent,
        RuleSize(),
        Metavar("SIZE"),
        Label(
            "Cheap to offload over",
            hint="A size such as 32K: larger messages are always offloaded. If empty, none.",
        ),
    ] = Field(
        None,
        description="messages over this size cost about the same offloaded as kept: they are always offloaded",
    )
    costly_up_to: Annotated[
        int | Absent,
        RuleSize(),
        Metavar("SIZE"),
        Label(
            "Costly to offload up to",
            hint="A size such as 2K: larger messages are offloaded earlier, to leave room.",
        ),
    ] = Field(
        None,
        description="messages up to this size are costly to offload: larger ones are offloaded earlier",
    )


@dataclass(frozen=True, slots=True)
class AdvisedRule(Rule):
    """One of the three rules, with the members of an offload step and the keys of a rule in a plan document."""

    purpose: Annotated[Purpose, Field(description="The purpose of this rule in IBM's text.")]
    why: str
    at_messages: Annotated[
        int | None, Field(description="Number of messages when it begins; null if none can meet it.")
    ]

    @computed_field
    @property
    def usage_over(self) -> int:
        """The threshold, named as in a plan document."""
        return self.threshold

    @computed_field(examples=["32K"])
    @property
    def size_over(self) -> str:
        """The size, written as in a plan document."""
        return format_size(self.size_bytes)


@dataclass(frozen=True, slots=True)
class ThresholdStep(Rule):
    """A rule, and the number of messages at which it begins."""

    at_messages: int


@dataclass(frozen=True, slots=True)
class RulesInUse(Answer):
    """The structure with one set of rules and the messages that it must hold."""

    capacity: Annotated[int, Field(description="Messages held with these rules.")]
    holds: Annotated[bool, Field(description="Whether that is enough.")]
    usage_percent: Percent
    offloaded: Annotated[int, Field(description="Messages whose data is offloaded.")]
    offload_bytes: int


@dataclass(frozen=True, slots=True)
class Setting(RulesInUse):
    """One of the compared sets of rules."""

    name: SettingName
    rules: tuple[Rule, ...]
    offload_steps: tuple[ThresholdStep, ...]
    offloads_in_normal_running: bool


@dataclass(frozen=True, slots=True)
class IbmArithmetic(Answer):
    """IBM's arithmetic of 0.75 KB for each offloaded message; without a threshold if they use all of the structure."""

    reserved_bytes: int
    reserved_percent: Percent
    highest_threshold: int | None
    with_margin: Rounded | None
    threshold: Annotated[int | None, Field(description="The threshold that is used, rounded down.")]


@dataclass(frozen=True, slots=True)
class Shortfall(Answer):
    """A larger structure, or a shorter outage, with which the messages would fit."""

    size_bytes: Annotated[Kib | None, Field(alias="size_kib")]
    more_bytes: Annotated[Kib | None, Field(alias="more_kib")]
    is_within_size: Annotated[bool, Field(description="Whether the plan's SIZE is at least as large.")]
    messages: Annotated[int, Field(description="Messages that the current storage holds.")]
    share_percent: Rounded
    outage_minutes: Annotated[
        TenthsDown | None,
        Field(description="The outage that it survives."),
    ]


@dataclass(frozen=True, slots=True)
class ThresholdAdvice(RulesInUse):
    """Three offload rules for a structure."""

    structure: str
    cfrm_name: str
    at: Storage
    size_bytes: Annotated[Kib, Field(alias="size_kib")]
    hold: int
    typical: int
    typical_usage_percent: Percent
    lowest_threshold: Annotated[
        int,
        Field(description="The lowest threshold that does not affect normal running, including a reserve."),
    ]
    rules: tuple[AdvisedRule, ...]
    is_within_margin: bool
    ibm: IbmArithmetic
    compared: tuple[Setting, ...]
    shortfall: Shortfall | None
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]
    explanations: Omittable[dict[str, Explanation]] = None

    @computed_field
    @property
    def mqsc(self) -> str:
        """ALTER CFSTRUCT with the rules, to issue on one queue manager of the group."""
        keywords = " +\n".join(
            f"       OFFLD{number}TH({rule.threshold}) OFFLD{number}SZ({rule.size_over})"
            for number, rule in enumerate(self.rules, start=1)
        )
        return f"ALTER CFSTRUCT({self.structure}) +\n{keywords}\n"

    def lines(self) -> Iterator[str]:
        """Yield the advised rules, and a table of the compared ones."""
        storage = "INITSIZE" if self.at == "initsize" else "SIZE"
        yield f"{self.cfrm_name}, {storage} {format_mib(self.size_bytes)}, to hold {self.hold} messages:"
        for number, each in enumerate(self.rules, start=1):
            yield f"OFFLD{number}TH({each.threshold}) OFFLD{number}SZ({each.size_over})  {each.purpose}"
            yield f"  {each.why}"
        yield ""
        yield f"{'':<16}{'holds':>12}{'usage':>10}{'offloaded':>12}  thresholds"
        for setting in self.compared:
            rules = (
                ", ".join(f"{rule.threshold} % {format_size(rule.size_bytes)}" for rule in setting.rules)
                or "none"
            )
            yield f"{SETTING_NAMES[setting.name]:<16}{setting.capacity:>12}{hundredths(setting.usage_percent):>9g} %{setting.offloaded:>12}  {rules}"


def advise(
    document: PlanDocument, asked: ThresholdQuestion | None = None, *, curve: Curve | None = None
) -> ThresholdAdvice:
    """Return three rules for one application structure of a plan.

    Args:
        document: The plan.
        asked: The structure, unless the plan has only one; the messages to hold, the depth in normal running, and the
            cost of offloading.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        InputInvalid: The plan has no such application structure, several while none is named, or nothing is planned
            for it.
        PlanRefused: No such plan can exist.
    """
    asked = asked or ThresholdQuestion()
    name = asked.structure or only_structure(document)
    structure, said = structure_of(document, name, curve=curve)
    load, _ = parts_of(structure)
    if not load.demand.messages:
        message = (
            f"{name} has no backlog: its mix of messages is not known, so cfplan cannot advise thresholds"
        )
        raise InputInvalid(ThresholdQuestion.what, (FieldProblem("structure", message),))
    size = structure.sizes.initsize_bytes if asked.at == "initsize" else structure.sizes.size_bytes
    bench = _Bench(structure, asked)
    chosen = bench.choose(size)
    return _answer(bench, chosen, said)


# ---- trying rules ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Rules for one size, their capacity, and whether it suffices within the margin."""

    rules: tuple[Rule, ...]
    size_bytes: int
    bundles: Fraction
    typical_percent: Fraction
    lowest: int
    ibm_threshold: int | None
    reserve: Reserve
    capacity: int
    is_within_margin: bool
    keeps_defaults: bool
    """True if offload does not increase the number of messages at this ratio, and nothing alters the ratio."""


class _Bench:
    """A structure on which rules and sizes are tried."""

    def __init__(self, structure: StructureResult, asked: ThresholdQuestion) -> None:
        load, _ = parts_of(structure)
        self.structure, self.asked, self.queues, self.curve = (
            structure,
            asked,
            structure.queues,
            structure.curve,
        )
        self.ratio = load.ratio
        self.planned = load.demand.messages
        self.hold = self.planned if asked.hold is None else asked.hold
        self.typical = asked.typical or 0
        self.pools: tuple[Pool, ...] = two_pools(self.curve.bundle_at(self.ratio)[1])
        self.choices = {name: row.value for name, row in tables.constants("whatif_filling").items()}
        margin = asked.margin_percent
        self.margin = Fraction(self.choices["margin_percent"]) if margin is None else Fraction(margin)
        self.sizes, self.between = self._sizes()
        self._demands: dict[tuple[int, ...], Demand] = {}
        self._fills: dict[tuple[Rule, ...], Fill] = {}

    def curve_for(self, size_bytes: int) -> Curve:
        """Return the curve for an INITSIZE; one above SIZE needs a larger SIZE, with its control storage."""
        return self.curve.at_size(max(size_bytes, self.structure.sizes.size_bytes))

    def demand(self, rules: Sequence[Rule]) -> Demand:
        """Return the planned backlog in bands cut at the rules' sizes."""
        # Hundreds of settings are tried, and most of them differ in thresholds only.
        edges = band_edges([rule.size_bytes for rule in rules])
        if edges not in self._demands:
            self._demands[edges] = demand_of(
                self.queues,
                edges=edges,
                header_bytes=self.curve.header_bytes,
                page_bytes=page_bytes(),
                page_header_bytes=message_header_bytes(),
            )
        return self._demands[edges]

    def met(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return the rules that these messages can meet."""
        demand = self.demand(rules)
        return tuple(firing(rules, demand))

    def fill(self, rules: Sequence[Rule]) -> Fill:
        """Return the course of one bundle that fills with these rules."""
        key = tuple(rules)
        if key not in self._fills:
            self._fills[key] = fill(self.demand(rules), rules=self.met(rules), pools=self.pools)
        return self._fills[key]

    def at(self, messages: int, rules: Sequence[Rule], bundles: Fraction) -> Snapshot:
        """Return the state of the structure with these messages of the planned mix; full if they do not fit."""
        if not messages or not bundles:
            return Snapshot(0, 0, Fraction(_FULL if messages else 0))
        return self.fill(rules).at_backlog(bundles, messages=messages)

    def capacity(self, rules: Sequence[Rule], bundles: Fraction) -> int:
        """Return the number of messages of the planned mix that fit."""
        return self.fill(rules).capacity(bundles)

    def _sizes(self) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """Return the sizes of the first and second rule, and the two message sizes that the second one separates, if any."""
        defaults = default_rules()
        first = defaults[0].size_bytes if self.asked.cheap_over is None else self.asked.cheap_over
        if self.asked.costly_up_to is not None:
            return (first, min(self.asked.costly_up_to, first)), None
        between = _gap(
            self.queues, self.choices["lowest_share_of_a_size_percent"], defaults[1].size_bytes, first
        )
        if between is not None:
            return (first, _round_size(*between)), between
        return (first, min(defaults[1].size_bytes, first)), None

    def choose(self, size_bytes: int) -> _Chosen:
        """Return the rules for a size, with thresholds as high as the backlog allows and never below normal running."""
        bundles = bundles_in(size_bytes, curve=self.curve_for(size_bytes), ratio=self.ratio)
        reserve = reserve_for(size_bytes=size_bytes, messages=self.hold)
        ibm = self._ibm_threshold(reserve)
        step = self.choices["threshold_step_percent"]
        # A rule with a threshold of 0 % also acts in normal running.
        first_only = (Rule(0, self.sizes[0]),) if self.asked.cheap_over is not None else ()
        typical = self.at(self.typical, first_only, bundles).usage_percent
        cushion = self.choices["cushion_above_typical_percent"]
        lowest = min(_FULL - step, ceil_div(typical.numerator, typical.denominator) + cushion)
        # Steps of 5 reproduce IBM's rounding in both of its examples.
        lowest = min(_FULL - step, ceil_div(lowest, step) * step)
        highest = self.choices["highest_capacity_threshold"]
        third = max(lowest, highest if ibm is None else min(highest, ibm))
        keeps = not self._may_gain(lowest, bundles)
        ladder = iter([self._defaults(lowest)]) if keeps else self._ladder(third, lowest)
        best: _Chosen | None = None
        for thresholds in ladder:
            rules = self._rules(thresholds)
            capacity = self.capacity(rules, bundles)
            usage = self.at(self.hold, rules, bundles).usage_percent
            is_within = capacity >= self.hold and usage <= _FULL - self.margin
            # Without a step within the margin, the largest capacity counts; among equals, the highest thresholds.
            if best is None or is_within or capacity > best.capacity:
                best = _Chosen(
                    rules, size_bytes, bundles, typical, lowest, ibm, reserve, capacity, is_within, keeps
                )
            if is_within:
                break
        if best is None:  # the ladder has a first step
            raise AssertionError
        return best

    def _may_gain(self, lowest: int, bundles: Fraction) -> bool:
        """Return whether any thresholds hold more messages than no rules, at this ratio or at one that z/OS may alter it to."""
        # An offloaded message never takes more elements than one that is kept, so the lowest thresholds hold the most
        # messages (docs/decisions/0017).
        bottom = self._rules((0 if self.asked.cheap_over is not None else lowest, lowest, lowest))
        if not bundles or self.capacity(bottom, bundles) > self.capacity((), bundles):
            return True
        return self.frees_elements and parts_of(self.structure)[1].allow_auto_alter

    @property
    def frees_elements(self) -> bool:
        """Return whether some of the messages need more elements when kept than when offloaded."""
        kept = self.demand(()).bands[0]
        return kept.elements > kept.messages * model_constant("offloaded_message_elements")

    def _defaults(self, lowest: int) -> tuple[int, int, int]:
        """Return IBM's default thresholds, or normal running plus the cushion if that is higher."""
        first, second, third = (max(lowest, rule.threshold) for rule in default_rules())
        return (first if self.asked.cheap_over is None else 0), second, third

    def _ladder(self, third: int, lowest: int) -> Iterator[tuple[int, int, int]]:
        """Yield thresholds from the highest down to those just above normal running."""
        step, apart = self.choices["threshold_step_percent"], self.choices["rule_distance_percent"]
        fixed = self.asked.cheap_over is not None

        def steps(third: int, second: int) -> tuple[int, int, int]:
            second = max(lowest, second)
            return (0 if fixed else max(lowest, second - apart)), second, max(lowest, third)

        fairly_low = max(lowest, self.choices["fairly_low_threshold_percent"])
        early = min(third - apart, fairly_low)
        if self.asked.costly_up_to is not None:
            # Larger messages are offloaded progressively earlier, before the small ones are.
            for second in range(early, lowest, -step):
                yield steps(third, second)
            early = lowest
        is_early = self.between is not None or self.asked.costly_up_to is not None
        for last in range(third, lowest - 1, -step):
            yield steps(last, min(last - apart, early) if is_early else last - apart)

    def _rules(self, thresholds: tuple[int, int, int]) -> tuple[Rule, ...]:
        first, second = self.sizes
        if not first:  # everything is offloaded always: there is nothing left for the others
            off = Rule(_FULL, RULE_OFF_BYTES)
            return Rule(thresholds[0], 0), off, off
        if second >= first:
            return Rule(thresholds[0], first), Rule(thresholds[1], RULE_OFF_BYTES), Rule(thresholds[2], 0)
        return Rule(thresholds[0], first), Rule(thresholds[1], second), Rule(thresholds[2], 0)

    def _ibm_threshold(self, reserve: Reserve) -> int | None:
        """Return the threshold of IBM's arithmetic, rounded down as IBM does; None if the messages do not fit by it.

        IBM's two examples give "around 80": 10 GB and 1 M messages with the margin (82.7), 4 GB
        and 1 M messages without it (81.25; with it 71.25). So the margin is kept down to 80.
        """
        reserved, step = reserve.reserved_percent, self.choices["threshold_step_percent"]
        if reserved >= _FULL:
            return None

        def rounded(threshold: Fraction) -> int:
            return max(0, floor_fraction(threshold) // step * step)

        with_margin = rounded(_FULL - self.margin - reserved)
        if self.asked.margin_percent is not None:
            return with_margin
        return max(with_margin, min(self.choices["threshold_without_margin"], rounded(_FULL - reserved)))

    def _held(self, rules: tuple[Rule, ...], bundles: Fraction) -> Snapshot:
        """Return the state of the structure with the messages that it must hold.

        Without rules, elements suffice for any shape of message sizes; with rules, the assumed shape applies. IBM's
        default rules make no difference while none of them acts, so the usage without rules is then the same.
        """
        defaults = default_rules()
        if not self.met(rules) and self.met(defaults):
            expected = self.at(self.hold, defaults, bundles)
            if expected.usage_percent <= min(rule.threshold for rule in self.met(defaults)):
                return expected
        return self.at(self.hold, rules, bundles)

    def setting(self, name: SettingName, rules: tuple[Rule, ...], bundles: Fraction) -> Setting:
        """Return the state of the structure with one set of rules."""
        filled, capacity = self.fill(rules), self.capacity(rules, bundles)
        held = self._held(rules, bundles)
        steps = tuple(
            ThresholdStep(point.rule.threshold, point.rule.size_bytes, filled.messages_at(point, bundles))
            for point in filled.starts
            if point.rule is not None and bundles
        )
        definition = parts_of(self.structure)[1]
        uses_db2 = self.structure.db2 is not None
        return Setting(
            name=name,
            rules=rules,
            capacity=capacity,
            holds=capacity >= self.hold,
            usage_percent=held.usage_percent,
            offloaded=held.offloaded,
            offload_bytes=lob_bytes(held.pages)
            if uses_db2
            else data_set_bytes(
                held.pages, dsblock_bytes=definition.offload.dsblock, queues=len(definition.queues)
            ),
            offload_steps=steps,
            # A rule with a threshold of 0 % only limits the size of messages.
            offloads_in_normal_running=any(
                step.threshold and step.at_messages < self.typical for step in steps
            ),
        )


_CLOSE = Fraction(3, 2)
"""Message sizes with a smaller ratio between them count as one kind."""


def _gap(
    queues: Sequence[QueueDemand], lowest_percent: int, over_bytes: int, up_to_bytes: int
) -> tuple[int, int] | None:
    """Return the widest gap between two frequent kinds of messages of intermediate size; None if there are not two."""
    together = sum(queue.messages for queue in queues)
    sized = sorted((Fraction(*mean_bytes(queue)), queue.messages) for queue in queues if queue.messages)
    kinds: list[list[tuple[Fraction, int]]] = []
    for size, messages in sized:
        if over_bytes < size <= up_to_bytes:
            if kinds and size < kinds[-1][-1][0] * _CLOSE:
                kinds[-1].append((size, messages))
            else:
                kinds.append([(size, messages)])
    many = [
        kind for kind in kinds if sum(messages for _, messages in kind) * _FULL >= lowest_percent * together
    ]
    gaps = [(below[-1][0], above[0][0]) for below, above in pairwise(many)]
    if not gaps:
        return None
    low, high = max(gaps, key=lambda gap: (gap[1] / gap[0], gap))
    return -floor_fraction(-low), floor_fraction(high)


def _round_size(low: int, high: int) -> int:
    """Return a round size from `low` to below `high`: the largest power of two in K, or a whole K near the middle."""
    power = KIB
    # A power of two, as IBM's default sizes are.
    while power * 2 < high:
        power *= 2
    if power >= low:
        return power
    middle = (low + high) // 2 // KIB * KIB
    return middle if low <= middle < high else ceil_div(low, KIB) * KIB


# ---- the advice --------------------------------------------------------------------------------------------


def _answer(bench: _Bench, chosen: _Chosen, said: Sequence[Finding]) -> ThresholdAdvice:
    structure, asked = bench.structure, bench.asked
    _, definition = parts_of(structure)
    setting = bench.setting("advised", chosen.rules, chosen.bundles)
    given = tuple(Rule(rule.usage_over, rule.size_over) for rule in definition.offload.rules)
    compared = (
        setting,
        bench.setting("plan", given, chosen.bundles),
        bench.setting("defaults", default_rules(definition.offload.to), chosen.bundles),
        bench.setting("none", (), chosen.bundles),
    )
    shortfall = None if setting.holds else _shortfall(bench, chosen, setting)
    begins = {(step.threshold, step.size_bytes): step.at_messages for step in setting.offload_steps}
    rules = tuple(
        AdvisedRule(
            rule.threshold, rule.size_bytes, purpose, why, begins.get((rule.threshold, rule.size_bytes))
        )
        for rule, purpose, why in zip(chosen.rules, PURPOSES, _whys(bench, chosen), strict=True)
    )
    reserve, fits = chosen.reserve, chosen.reserve.reserved_percent <= _FULL
    ibm = IbmArithmetic(
        reserve.reserved_bytes,
        reserve.reserved_percent,
        highest_threshold=reserve.highest_threshold if fits else None,
        with_margin=reserve.advised_threshold if fits else None,
        threshold=chosen.ibm_threshold,
    )
    advice = ThresholdAdvice(
        structure=structure.name,
        cfrm_name=structure.cfrm_name,
        at=asked.at,
        size_bytes=chosen.size_bytes,
        hold=bench.hold,
        typical=bench.typical,
        typical_usage_percent=chosen.typical_percent,
        lowest_threshold=chosen.lowest,
        rules=rules,
        capacity=setting.capacity,
        holds=setting.holds,
        is_within_margin=chosen.is_within_margin,
        usage_percent=setting.usage_percent,
        offloaded=setting.offloaded,
        offload_bytes=setting.offload_bytes,
        ibm=ibm,
        compared=compared,
        shortfall=shortfall,
        assumptions=tuple(_assumptions(bench)),
        findings=(),
        explanations={"/capacity": _explain_capacity(bench, chosen)} if asked.explain else None,
    )
    return replace(advice, findings=in_order([*said, *_findings(bench, chosen, advice)]))


def _shortfall(bench: _Bench, chosen: _Chosen, setting: Setting) -> Shortfall:
    """Return the smallest size that holds the backlog within the margin, and the share that this size holds."""
    increment = bench.curve.increment_bytes
    low, high = chosen.size_bytes // increment, limit("largest_policy_size_mib") * MIB // increment
    size = None
    # Each size gets its own advice, because normal running takes a smaller share of a larger structure.
    if bench.choose(high * increment).is_within_margin:
        while high - low > 1:
            middle = (low + high) // 2
            if bench.choose(middle * increment).is_within_margin:
                high = middle
            else:
                low = middle
        size = high * increment
    share = Fraction(setting.capacity * _FULL, bench.hold)
    _, definition = parts_of(bench.structure)
    outages = {queue.outage_minutes for queue in definition.queues}
    # Queues with different outages, or a given number of messages, have no common outage.
    outage = next(iter(outages)) if len(outages) == 1 and bench.asked.hold is None else None
    return Shortfall(
        size_bytes=size,
        more_bytes=None if size is None else size - chosen.size_bytes,
        is_within_size=size is not None and size <= bench.structure.sizes.size_bytes,
        messages=setting.capacity,
        share_percent=share,
        outage_minutes=None if outage is None else Fraction(outage) * share / _FULL,
    )


def _whys(bench: _Bench, chosen: _Chosen) -> tuple[str, str, str]:
    """Return the reason for each rule, in IBM's terms."""
    asked, (first, second), lowest = bench.asked, bench.sizes, chosen.lowest
    one, two, three = chosen.rules
    normal = f"normal running takes {hundredths(chosen.typical_percent):g} %"
    if asked.cheap_over is not None:
        performance = (
            f"Messages over {format_size(first)} cost about the same offloaded as kept, so they are always offloaded, "
            "which leaves the space to other messages."
        )
    else:
        performance = (
            f"Below {one.threshold} %, only messages that are too large for the structure are offloaded ({normal}); above "
            "it, messages "
            f"over {format_size(first)} are not worth the space they take."
        )
    if not two.is_on:
        transition = "No smaller size is left to offload earlier: the rule is off."
    elif asked.costly_up_to is not None:
        transition = (
            f"Messages up to {format_size(second)} are costly to offload: larger messages are offloaded from {two.threshold} % on, "
            "which leaves the space to the smaller ones."
        )
    elif bench.between is not None:
        transition = (
            f"Many messages have {_kib(bench.between[0])} and many have {_kib(bench.between[1])}: from {two.threshold} % on, the "
            "larger ones are offloaded, which saves the most space, and the smaller ones stay in the structure."
        )
    else:
        transition = (
            f"From {two.threshold} % on, messages over {format_size(second)} are offloaded, so that space is used up more slowly and "
            "automatic alter has time to adapt."
        )
    if not three.is_on:
        capacity = "All messages are already offloaded: the rule is off."
    else:
        share = hundredths(chosen.reserve.reserved_percent)
        capacity = (
            f"From {three.threshold} % on, all data is offloaded. {bench.hold} messages of 0.75 KB take {share:g} % of "
            f"{format_size(chosen.size_bytes)}"
        )
        if chosen.keeps_defaults:
            asks = (
                "more than is available"
                if chosen.ibm_threshold is None
                else f"which would make it {chosen.ibm_threshold} %"
            )
            stands = (
                "the default is kept"
                if three.threshold == bench.choices["highest_capacity_threshold"]
                else f"{normal}, so {lowest} % is the lowest"
            )
            capacity += f" by IBM's formula, {asks}; but offload does not increase the number of these messages, and {stands}."
        elif chosen.ibm_threshold is None:
            capacity += ", more than is available by IBM's formula; the fill model decides."
        elif three.threshold > chosen.ibm_threshold:
            capacity += f", so IBM's formula requires {chosen.ibm_threshold} %; {normal}, so {lowest} % is the lowest."
        elif three.threshold == chosen.ibm_threshold:
            capacity += ", so this is the result of IBM's formula, rounded down."
        else:
            capacity += f"; IBM's formula would allow {chosen.ibm_threshold} %, " + (
                "the default is not exceeded."
                if three.threshold == bench.choices["highest_capacity_threshold"]
                else "the fill model needs less."
            )
    return performance, transition, capacity


def _kib(size_bytes: int) -> str:
    return f"{round(size_bytes / KIB, 1):g} KB"


def _explain_capacity(bench: _Bench, chosen: _Chosen) -> Explanation:
    """Explain the capacity with the advised rules."""
    curve = bench.curve_for(chosen.size_bytes)
    inputs, steps = bundle_steps(curve, size_bytes=chosen.size_bytes, ratio=bench.ratio, given=False)
    demand = bench.demand(chosen.rules)
    phases = phases_of(demand, rules=bench.met(chosen.rules), pools=bench.pools)
    return Explanation(
        figure="/capacity",
        value=bench.capacity(chosen.rules, chosen.bundles),
        unit="messages",
        formula=f"floor({phases.names[-1]} * messages * bundles)",
        inputs=(*inputs, *phases.inputs),
        steps=(*steps, *phases.steps),
        basis=Basis.ASSUMED,
        source=model_source(),
    )


def _assumptions(bench: _Bench) -> Iterator[Assumption]:
    place = tables.source("project", "Threshold advice")
    choices = bench.choices
    yield Assumption(
        f"Thresholds are multiples of {choices['threshold_step_percent']} %, {choices['rule_distance_percent']} % apart as "
        f"IBM's defaults are, and at least {choices['cushion_above_typical_percent']} % above normal running.",
        Basis.ASSUMED,
        place,
    )
    if bench.asked.margin_percent is None:
        yield Assumption(
            f"IBM's margin of {choices['margin_percent']} % is reduced if it would lower the last threshold below "
            f"{choices['threshold_without_margin']} %, as in IBM's two examples.",
            Basis.DERIVED,
            tables.source("mq_offload", "Capacity"),
        )
    yield Assumption(
        "The messages to hold, and those in normal running, have the same mix as the planned backlog.",
        Basis.ASSUMED,
        place,
    )
    yield Assumption(
        "Entries and elements are two pools at a fixed ratio, and the usage is that of the fuller one.",
        Basis.ASSUMED,
        model_source(),
    )


def _findings(bench: _Bench, chosen: _Chosen, advice: ThresholdAdvice) -> Iterator[Finding]:
    structure, name, at = bench.structure, bench.structure.name, bench.structure.pointer
    _, definition = parts_of(structure)
    keyword = "INITSIZE" if bench.asked.at == "initsize" else "SIZE"
    if advice.shortfall is not None:
        short = advice.shortfall
        larger = (
            f"{keyword} {format_size(short.size_bytes)} would hold them in {float(_FULL - bench.margin):g} % of its space"
            if short.size_bytes is not None
            else "no size that a policy allows would hold them"
        )
        shorter = (
            f", and this one would hold those of an outage of {tenths_down(short.outage_minutes):g} minutes"
            if short.outage_minutes is not None
            else ""
        )
        yield finding(
            "BACKLOG_DOES_NOT_FIT",
            f"{keyword} {format_size(chosen.size_bytes)} of {name} holds {short.messages} of {bench.hold} messages, whatever the "
            f"thresholds above normal running: {larger}{shorter}.",
            field=f"{at}/{keyword.lower()}",
            structure=name,
        )
    elif not chosen.is_within_margin:
        yield finding(
            "BACKLOG_USES_LAST_TENTH",
            f"{name} is {hundredths(advice.usage_percent):g} % full with {bench.hold} messages; IBM advises using "
            f"no more than {float(_FULL - bench.margin):g} %, because one pool may run out before the other.",
            field=f"{at}/{keyword.lower()}",
            structure=name,
        )
    if bench.asked.typical is None:
        yield finding(
            "TYPICAL_DEPTH_NOT_GIVEN",
            f"The number of messages that {name} holds in normal running is not specified and is assumed to be zero: thresholds "
            "could be below it.",
            field=f"{at}/queues",
            structure=name,
        )
    if chosen.typical_percent + bench.choices["cushion_above_typical_percent"] > chosen.lowest:
        yield finding(
            "NORMAL_RUNNING_NEARLY_FULL",
            f"Normal running takes {hundredths(chosen.typical_percent):g} % of {name}: there is no room for a cushion "
            "before offload starts, and hardly any for a backlog.",
            field=f"{at}/{keyword.lower()}",
            structure=name,
        )
    now = advice.compared[1]
    if now.offloads_in_normal_running:
        first = min(step.at_messages for step in now.offload_steps if step.threshold)
        yield finding(
            "OFFLOADS_IN_NORMAL_RUNNING",
            f"The plan's rules for {name} start at {first} messages, but normal running already holds {bench.typical}.",
            field=f"{at}/offload/rules",
            structure=name,
        )
    yield from _margin_given_up(bench, chosen, name, at)
    if chosen.bundles and advice.capacity == advice.compared[-1].capacity:
        yield finding(
            "OFFLOAD_GAINS_NOTHING",
            _gains_nothing(bench, chosen, name),
            field=f"{at}/offload/rules",
            structure=name,
        )
    yield from offload_needs_cflevel_5(
        name, definition.cflevel, "the advised rules", structure=name, field=f"{at}/cflevel"
    )
    yield usage_measure_assumed(structure=name)


def _gains_nothing(bench: _Bench, chosen: _Chosen, name: str) -> str:
    """Return the reason why the rules hold no more messages, and the consequence for the advice."""
    if not bench.met(chosen.rules):
        return f"The rules do not let {name} hold more messages of this mix: its messages are offloaded, or kept, regardless of the rules."
    if not chosen.keeps_defaults:
        return (
            f"At the current ratio of entries to elements, offload does not let {name} hold more messages of this mix: "
            "entries run out before elements. IBM's formula relies on automatic alter to turn the elements that offload "
            "frees into entries."
        )
    why = (
        "entries run out before elements, and ALLOWAUTOALT(NO) keeps the ratio"
        if bench.frees_elements
        else "they take as many elements offloaded as in the structure"
    )
    asks = (
        "would reserve all of the space"
        if chosen.ibm_threshold is None
        else f"would require OFFLD3TH({chosen.ibm_threshold})"
    )
    return (
        f"Offload does not let {name} hold more messages of this mix: {why}. Therefore IBM's default thresholds are kept, "
        f"and no lower ones are advised; IBM's formula, which relies on automatic alter, {asks}."
    )


def _margin_given_up(bench: _Bench, chosen: _Chosen, name: str, at: str) -> Iterator[Finding]:
    """Report a margin that is only partly kept, as in IBM's example of 4 GB."""
    last, whole = chosen.rules[-1], chosen.reserve.advised_threshold
    fits = chosen.ibm_threshold is not None and not chosen.keeps_defaults
    if bench.asked.margin_percent is None and fits and last.is_on and last.threshold > whole:
        if chosen.ibm_threshold is not None and last.threshold > chosen.ibm_threshold:
            why = "because normal running allows no lower one"
        elif chosen.capacity < bench.hold:
            why = "because a lower one would not hold the backlog either"
        else:
            why = "as in IBM's 4 GB example, because the fill model holds the backlog this way"
        yield finding(
            "IBM_MARGIN_NOT_KEPT",
            f"With IBM's margin of {bench.choices['margin_percent']} %, the highest OFFLD3TH of {name} would be {float(whole):.1f}. It stays at "
            f"{last.threshold}, {why}.",
            field=f"{at}/offload/rules",
            structure=name,
        )
