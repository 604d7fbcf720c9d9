"""Explanations of the figures on queue depth events, as formulas over named inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from planner_core import tables
from planner_core.document.model import PlanDocument, Queue, Structure
from planner_core.limits import limit
from planner_core.provenance import Basis, Explanation, Input, Number, Step
from planner_core.sizing.demand import Demand, QueueDemand, growth_factor
from planner_core.sizing.depth_advice import (
    PERCENT,
    SECONDS_PER_DAY,
    SETS_PER_CYCLE,
    DepthAdvice,
    QueueAdvice,
    QueueThresholds,
)
from planner_core.sizing.depth_advising import (
    PARTS,
    Members,
    QueueAdvisor,
    level_rule,
    members_rates,
    rates_of,
)
from planner_core.sizing.explain_filling import Phases, bundle_steps, phases_of
from planner_core.sizing.structure_result import Load, StructureResult
from planner_core.units import ceil_fraction

Parts = tuple[tuple[Input, ...], tuple[Step, ...]]
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_HUNDREDTHS = "ceil(10000 * {}) / 100"
_MAXDEPTH = (
    "min(floor(full_part * messages), max(messages, floor(threshold_part * messages)), "
    f"{limit('largest_maxdepth')})"
)
_QDEPTHHI = f"min({limit('default_qdepthhi_percent')}, floor(100 * floor(action_part * messages) / maxdepth))"
_QDEPTHLO = f"floor(qdepthhi * {limit('default_qdepthlo_percent')} / {limit('default_qdepthhi_percent')})"


def explain_depth_events(
    at: str, structure: StructureResult, document: PlanDocument, *, depths: bool
) -> Iterator[Explanation]:
    """Yield one explanation for each number in the JSON of `DepthAdvice`; with `depths`, also for every queue."""
    advice, load, definition = structure.depth_events, structure.load, structure.definition
    if advice is None or load is None or not isinstance(definition, Structure):
        return
    explainer = _Explainer(f"{at}/depth_events", structure, document, advice, load, definition)
    yield from explainer.all_queues_at_once()
    if depths:
        yield from explainer.each_queue()


# Most queues of a structure have the same formulas.
@lru_cache(maxsize=64)
def _names_in(formulas: str) -> frozenset[str]:
    return frozenset(_NAME.findall(formulas))


class _Explainer:
    def __init__(
        self,
        at: str,
        structure: StructureResult,
        document: PlanDocument,
        advice: DepthAdvice,
        load: Load,
        definition: Structure,
    ) -> None:
        self.at, self.structure, self.document = at, structure, document
        self.advice, self.load, self.definition = advice, load, definition
        self.members = Members.of(document)
        self.advisor = QueueAdvisor.of(document, definition, load, structure.queues, structure.curve)
        self.source = tables.source("project", "Queue depths")
        self.held = {
            "initsize": self.bare("bundles_in_initsize", load.bundles_in_initsize, "bundles"),
            "size": self.bare("bundles_in_size", load.bundles_in_size, "bundles"),
        }

    def all_queues_at_once(self) -> Iterator[Explanation]:
        yield from self.levels()
        if self.advice.together is not None:
            yield from self.together()
        if self.advice.lead is not None:
            yield from self.lead()

    def each_queue(self) -> Iterator[Explanation]:
        shared = self.shared()
        for number, (each, demand, queue) in enumerate(
            zip(self.advice.queues, self.structure.queues, self.definition.queues, strict=True)
        ):
            at = f"{self.at}/queues/{number}"
            yield from self.advised(at, each, demand, shared)
            if each.planned is not None:
                yield from self.planned(at, number, each.planned, queue, shared)

    def made(
        self,
        figure: str,
        value: Number,
        unit: str,
        formula: str,
        inputs: Iterable[Input],
        steps: Sequence[Step] = (),
    ) -> Explanation:
        return Explanation(
            figure, value, unit, formula, tuple(inputs), Basis.ASSUMED, self.source, tuple(steps)
        )

    def derived(self, name: str, value: Number, unit: str) -> Input:
        return Input(name, value, unit, Basis.DERIVED, self.source)

    def bare(self, name: str, value: Number, unit: str) -> Input:
        """Return an input without a source."""
        # Plans have thousands of queues, and the explanation itself names the source.
        return Input(name, value, unit, Basis.DERIVED)

    def phases(self, demand: Demand, *, offload: bool) -> Phases:
        percents = {self.advice.action_percent, self.advice.threshold_percent}
        marks = [level_rule(percent) for percent in sorted(percents) if percent < PERCENT]
        return phases_of(
            demand, rules=self.load.rules if offload else (), pools=self.advisor.pools, marks=marks
        )

    def share(self, phases: Phases, percent: int) -> str:
        return phases.at[level_rule(percent)] if percent < PERCENT else phases.names[-1]

    def bundles(self, *, size: bool = False) -> Parts:
        sizes = self.structure.sizes
        return bundle_steps(
            self.structure.curve,
            size_bytes=sizes.size_bytes if size else sizes.initsize_bytes,
            ratio=self.load.ratio,
            given=sizes.size_is_given if size else sizes.initsize_is_given,
        )

    # ---- the structure -----------------------------------------------------------------------------------------------

    def levels(self) -> Iterator[Explanation]:
        levels = {
            "full_threshold": self.definition.full_threshold,
            "event_target_percent": self.definition.event_target_percent,
        }
        levels |= {
            f"offload_threshold_{n}": rule.threshold for n, rule in enumerate(self.load.rules, start=1)
        }
        name = {"FULLTHRESHOLD": "full_threshold", "full": "100"}.get(self.advice.action, self.advice.action)
        if name.startswith("OFFLD"):
            name = f"offload_threshold_{name[5]}"
        inputs = [
            Input(key, value, "percent", Basis.GIVEN) for key, value in levels.items() if value is not None
        ]
        yield self.made(f"{self.at}/action_percent", self.advice.action_percent, "percent", name, inputs)
        if self.advice.event_messages is not None:
            enabled = Input("enabled", self.advice.event_messages, "queue managers", Basis.GIVEN)
            figure = f"{self.at}/event_messages_per_event"
            yield self.made(figure, self.advice.event_messages, "messages", "enabled", (enabled,))
        if self.advice.action_messages is None:
            return
        # The advice is calculated from the rounded share, so the formula rounds it too.
        phases, (inputs_of_size, steps) = self.phases(self.load.demand, offload=True), self.bundles()
        yield self.made(
            f"{self.at}/action_messages",
            self.advice.action_messages,
            "messages",
            f"floor(floor({self.share(phases, self.advice.action_percent)} * bundles * {PARTS}) / {PARTS} * messages)",
            (*inputs_of_size, *phases.inputs),
            (*steps, *phases.steps),
        )

    def shared(self) -> Mapping[str, Input]:
        """Return the inputs that the figures of all queues share."""
        found = {
            "action_part": self.advice.action_part,
            "threshold_part": self.advice.threshold_part,
            "full_part": self.advice.full_part,
        }
        return {name: self.bare(name, value, "") for name, value in found.items() if value is not None}

    # ---- a queue -----------------------------------------------------------------------------------------------------

    def advised(
        self, at: str, each: QueueAdvice, demand: QueueDemand, shared: Mapping[str, Input]
    ) -> Iterator[Explanation]:
        if each.maxdepth is None:
            return
        messages = Input("messages", demand.messages, "messages", Basis.DERIVED)
        depth = (messages, shared["full_part"], shared["threshold_part"])
        yield self.made(f"{at}/maxdepth", each.maxdepth, "messages", _MAXDEPTH, depth)
        known = Input("maxdepth", each.maxdepth, "messages", Basis.DERIVED)
        if each.qdepthhi is not None:
            yield self.high(f"{at}/qdepthhi", each.qdepthhi, messages, known, shared)
        if each.qdepthlo is not None and each.qdepthhi is not None:
            yield self.low(f"{at}/qdepthlo", each.qdepthlo, each.qdepthhi)

    def high(
        self, figure: str, value: int, messages: Input, maxdepth: Input, shared: Mapping[str, Input]
    ) -> Explanation:
        return self.made(figure, value, "percent", _QDEPTHHI, (messages, maxdepth, shared["action_part"]))

    def low(self, figure: str, value: int, high: int) -> Explanation:
        return self.made(
            figure, value, "percent", _QDEPTHLO, (Input("qdepthhi", high, "percent", Basis.DERIVED),)
        )

    def planned(
        self, at: str, place: int, planned: QueueThresholds, queue: Queue, shared: Mapping[str, Input]
    ) -> Iterator[Explanation]:
        at = f"{at}/planned"
        force, demand = planned, self.structure.queues[place]
        messages = Input("messages", demand.messages, "messages", Basis.DERIVED)
        basis = Basis.GIVEN if "maxdepth" in planned.given else Basis.DERIVED
        maxdepth = Input("maxdepth", force.maxdepth or 0, "messages", basis)
        high = Input("qdepthhi", force.qdepthhi or 0, "percent", Basis.DERIVED)
        low = Input("qdepthlo", force.qdepthlo or 0, "percent", Basis.DERIVED)
        if force.maxdepth is not None:
            yield self.made(f"{at}/maxdepth", force.maxdepth, "messages", "maxdepth", (maxdepth,))
        if force.qdepthhi is not None:
            figure = f"{at}/qdepthhi"
            if "qdepthhi" in planned.given:
                yield self.made(figure, force.qdepthhi, "percent", "qdepthhi", (high,))
            else:
                yield self.high(figure, force.qdepthhi, messages, maxdepth, shared)
        if force.qdepthlo is not None:
            figure = f"{at}/qdepthlo"
            if "qdepthlo" in planned.given:
                yield self.made(figure, force.qdepthlo, "percent", "qdepthlo", (low,))
            else:
                yield self.low(figure, force.qdepthlo, force.qdepthhi or 0)
        if force.high_at is not None:
            formula = "ceil(maxdepth * qdepthhi / 100)"
            yield self.made(f"{at}/high_at_messages", force.high_at, "messages", formula, (maxdepth, high))
        if force.low_at is not None:
            formula = "floor(maxdepth * qdepthlo / 100)"
            yield self.made(f"{at}/low_at_messages", force.low_at, "messages", formula, (maxdepth, low))
        yield from self.alone(at, place, planned)
        yield from self.rates(at, planned, queue, maxdepth)
        yield from self.silent(at, planned, queue)

    def alone(self, at: str, place: int, planned: QueueThresholds) -> Iterator[Explanation]:
        """Explain the capacity for one queue alone."""
        # Explanations of the largest plan took 84 MB (docs/decisions/0019): the filling is explained once, with the first
        # figure, and unused inputs and the sources of inputs are left out.
        phases = self.phases(self.advisor.units.one(place), offload=True)
        used = _names_in(" ".join([step.formula for step in phases.steps]))
        inputs = [
            Input(each.name, each.value, each.unit, each.basis) for each in phases.inputs if each.name in used
        ]
        action, full = self.share(phases, self.advice.action_percent), phases.names[-1]
        known = {step.name: step.value for step in phases.steps}
        shares = {name: self.bare(name, known[name], "backlogs") for name in (action, full)}
        initsize, size = self.held["initsize"], self.held["size"]
        yield self.made(
            f"{at}/alone_in_initsize_messages",
            planned.alone.in_initsize,
            "messages",
            f"floor({full} * {initsize.name})",
            (*inputs, initsize),
            phases.steps,
        )
        for name, value, share, held in (
            ("alone_at_action_messages", planned.alone.at_action, action, initsize),
            ("alone_in_size_messages", planned.alone.in_size, full, size),
        ):
            formula = f"floor({share} * {held.name})"
            yield self.made(f"{at}/{name}", value, "messages", formula, (shares[share], held))

    def rates(
        self, at: str, planned: QueueThresholds, queue: Queue, maxdepth: Input
    ) -> Iterator[Explanation]:
        growth = self.document.growth
        factor = Input(
            "growth_factor",
            growth_factor(percent_per_year=growth.percent_per_year, years=growth.years),
            "",
            Basis.GIVEN,
        )
        for name, now, value in zip(
            ("put_rate_per_s", "get_rate_per_s"),
            rates_of(queue),
            (planned.put_rate_per_s, planned.get_rate_per_s),
            strict=True,
        ):
            if value is not None and now is not None:
                given = Input(f"given_{name}", now, "messages/s", Basis.GIVEN)
                yield self.made(
                    f"{at}/{name}", value, "messages/s", f"given_{name} * growth_factor", (given, factor)
                )
        put = Input("put_rate", planned.put_rate_per_s or 0, "messages/s", Basis.GIVEN)
        get = Input("get_rate", planned.get_rate_per_s or 0, "messages/s", Basis.GIVEN)
        high = self.derived("high_at", planned.high_at or 0, "messages")
        low = self.derived("low_at", planned.low_at or 0, "messages")
        ends = (
            ("to_maxdepth_s", maxdepth),
            ("to_action_s", self.derived("alone_at_action", planned.alone.at_action, "messages")),
            ("to_full_s", self.derived("alone_in_initsize", planned.alone.in_initsize, "messages")),
        )
        speeds: tuple[tuple[str, Fraction | None, str, tuple[Input, ...]], ...] = (
            ("at_net_rate", planned.net_rate, "(put_rate - get_rate)", (put, get)),
            ("when_nothing_gets", planned.put_rate_per_s, "put_rate", (put,)),
        )
        for member, rate, words, rated in speeds:
            lead = planned.lead(rate)
            if lead is None:
                continue
            times = (lead.to_maxdepth_s, lead.to_action_s, lead.to_full_s)
            for (name, end), seconds in zip(ends, times, strict=True):
                formula = f"floor(({end.name} - high_at) / {words})"
                yield self.made(f"{at}/{member}/{name}", seconds, "s", formula, (end, high, *rated))
        if planned.high_to_low_s is not None:
            formula = "ceil((high_at - low_at) / (get_rate - put_rate))"
            yield self.made(f"{at}/high_to_low_s", planned.high_to_low_s, "s", formula, (high, low, put, get))
        if planned.most_event_messages_per_day is not None:
            enabled = Input("enabled", planned.event_messages or 0, "queue managers", Basis.GIVEN)
            cycle = "((high_at - low_at) / put_rate + (high_at - low_at) / get_rate)"
            yield self.made(
                f"{at}/most_event_messages_per_day",
                planned.most_event_messages_per_day,
                "messages",
                f"ceil({SETS_PER_CYCLE} * enabled * {SECONDS_PER_DAY} / {cycle})",
                (enabled, high, low, put, get),
            )

    def silent(self, at: str, planned: QueueThresholds, queue: Queue) -> Iterator[Explanation]:
        cases: tuple[tuple[str, Fraction | None, Literal["put_rate_per_s", "get_rate_per_s"]], ...] = (
            ("silent_high_percent", planned.silent_high, "put_rate_per_s"),
            ("silent_low_percent", planned.silent_low, "get_rate_per_s"),
        )
        for name, value, key in cases:
            if value is None:
                continue
            heard, total, unit = self.members.heard(members_rates(queue, key))
            yield self.made(
                f"{at}/{name}",
                _rounded(value),
                "percent",
                _HUNDREDTHS.format("(1 - heard / together)"),
                (Input("heard", heard, unit, Basis.GIVEN), Input("together", total, unit, Basis.GIVEN)),
            )

    # ---- all queues --------------------------------------------------------------------------------------------------

    def together(self) -> Iterator[Explanation]:
        together = self.advice.together
        if together is None:
            return
        in_force = self.advice.advisor.in_force
        high = self.advisor.units.demand([each.high_at or 0 for each in in_force])
        full = self.advisor.units.demand([each.maxdepth or 0 for each in in_force])
        at = f"{self.at}/together"
        yield self.taken(f"{at}/all_high_percent", together.at_high, self.filled(high, offload=False))
        # INITSIZE and SIZE have the same bundles, in other numbers, so they are filled in the same phases.
        filled = {offload: self.filled(full, offload=offload) for offload in (False, True)}
        for name, part, offload, size in (
            ("initsize", together.in_initsize, False, False),
            ("initsize_with_offload", together.in_initsize_with_offload, True, False),
            ("size", together.in_size, False, True),
            ("size_with_offload", together.in_size_with_offload, True, True),
        ):
            yield self.taken(f"{at}/all_full_percent_of_{name}", part, filled[offload], size=size)

    def filled(self, demand: Demand, *, offload: bool) -> Phases | None:
        """Return the phases of filling a bundle with a backlog; None if it is empty."""
        return self.phases(demand, offload=offload) if demand.messages else None

    def taken(
        self, figure: str, value: Fraction, phases: Phases | None, *, size: bool = False
    ) -> Explanation:
        """Explain the part of a structure that a backlog uses, which fills a bundle in these phases."""
        if phases is None:
            return self.made(figure, 0, "percent", "0", ())
        inputs, steps = self.bundles(size=size)
        formula = _HUNDREDTHS.format(f"1 / ({phases.names[-1]} * bundles)")
        return self.made(
            figure, _rounded(value), "percent", formula, (*inputs, *phases.inputs), (*steps, *phases.steps)
        )

    def lead(self) -> Iterator[Explanation]:
        lead = self.advice.lead
        if lead is None:
            return
        phases = self.phases(lead.demand, offload=True)
        inputs, steps = self.bundles()
        seconds = self.derived("seconds", lead.per_s, "s")
        of_levels = (*inputs, *phases.inputs, seconds)
        named = {
            "action": self.share(phases, self.advice.action_percent),
            "full_threshold": self.share(phases, self.advice.threshold_percent),
            "full": phases.names[-1],
        }
        shown = lead.as_json()
        at, all_steps = f"{self.at}/lead", (*steps, *phases.steps)
        for level, share in named.items():
            formula = f"floor({share} * bundles * seconds)"
            yield self.made(f"{at}/to_{level}_s", shown[f"to_{level}_s"], "s", formula, of_levels, all_steps)
        if lead.first_high is None:
            return
        first = self.derived("first_high", lead.first_high, "s")
        yield self.made(f"{at}/first_high_s", shown["first_high_s"], "s", "floor(first_high)", (first,))
        for level in ("action", "full"):
            formula = f"floor({named[level]} * bundles * seconds - first_high)"
            figure = f"lead_to_{level}_s"
            yield self.made(f"{at}/{figure}", shown[figure], "s", formula, (*of_levels, first), all_steps)


def _rounded(part: Fraction) -> Fraction:
    """Return a part of a whole as a percentage, rounded up to a hundredth."""
    return Fraction(ceil_fraction(part * PERCENT * PERCENT), PERCENT)
