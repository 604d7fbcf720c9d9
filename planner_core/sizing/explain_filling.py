"""The arithmetic of filling a structure, as formulas for explanations.

A structure of `bundles` bundles is filled as one bundle: `share_n` is the part of the
planned backlog that one bundle holds when phase n ends, which is when the next rule starts
or when the first pool is full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from planner_core import tables
from planner_core.provenance import Basis, Input, Source, Step
from planner_core.sizing.demand import Band, Demand
from planner_core.sizing.filling import Pool, order, rates_over
from planner_core.sizing.offload import Rule, firing
from planner_core.sizing.structure_size import Curve, bundles_in, curve_inputs

_FULL = 100


def model_source() -> Source:
    """Return the source that describes the two pools."""
    return tables.source("project", "Two pools")


@dataclass(frozen=True, slots=True)
class Phases:
    """The steps of filling one bundle, their inputs, and the name of the share at the end of each phase."""

    inputs: tuple[Input, ...] = ()
    steps: tuple[Step, ...] = ()
    names: tuple[str, ...] = ()
    at: Mapping[Rule, str] = field(default_factory=dict)
    """The name of the share at which each rule starts."""

    def until_backlog(self, what: str) -> str:
        """Return the formula for a quantity (`elements`, `offloaded`, `pages`) up to the planned backlog or a full structure."""
        terms = []
        for number, name in enumerate(self.names, start=1):
            before = f"min(1, bundles * {self.names[number - 2]})" if number > 1 else "0"
            terms.append(f"(min(1, bundles * {name}) - {before}) * {what}_in_phase_{number}")
        return " + ".join(terms) or "0"

    def until_full(self, what: str) -> str:
        """Return the formula of the quantity in a full structure."""
        terms = []
        for number, name in enumerate(self.names, start=1):
            before = self.names[number - 2] if number > 1 else "0"
            terms.append(f"bundles * ({name} - {before}) * {what}_in_phase_{number}")
        return " + ".join(terms) or "0"


def bundle_steps(
    curve: Curve, *, size_bytes: Fraction | int, ratio: tuple[int, int] | None, given: bool
) -> tuple[tuple[Input, ...], tuple[Step, ...]]:
    """Explain the number of bundles in a size: inputs and steps."""
    bundle = curve.bundle_at(ratio)[0]
    inputs = [
        *curve_inputs(curve),
        Input("size_bytes", size_bytes, "bytes", Basis.GIVEN if given else Basis.DERIVED),
    ]
    if bundle == curve.bundle:
        step = Step("bundle_bytes", curve.bundle_formula, bundle)
    else:
        inputs.append(
            Input(
                "bundle_at_ratio_bytes",
                bundle,
                "bytes",
                curve.split_basis,
                curve.split_source,
            )
        )
        step = Step("bundle_bytes", "bundle_at_ratio_bytes", bundle)
    bundles = bundles_in(size_bytes, curve=curve, ratio=ratio)
    return tuple(inputs), (
        step,
        Step("bundles", f"max(0, (size_bytes - {curve.base_formula}) / bundle_bytes)", bundles),
    )


def phases_of(
    demand: Demand,
    *,
    rules: Sequence[Rule],
    pools: tuple[Pool, ...],
    assumed: bool = False,
    marks: Sequence[Rule] = (),
) -> Phases:
    """Explain the filling of one bundle, phase by phase; `marks` are rules that offload nothing and only end phases."""
    basis = Basis.ASSUMED if assumed else Basis.DERIVED
    inputs = [Input("messages", demand.messages, "messages", Basis.DERIVED)]
    for number, pool in enumerate(pools, start=1):
        for name, value in (
            ("entry_cost", pool.entry_cost),
            ("element_cost", pool.element_cost),
            ("pool", pool.total),
        ):
            inputs.append(Input(f"{name}_{number}", value, "", basis, model_source()))
    met = sorted((*firing(rules, demand), *marks), key=order)
    limit = demand.bands[-1].over_bytes
    beyond = 0 if firing(met, demand) else demand.beyond
    # The phases are calculated again, in fractions: `fill` keeps no values between its moments, and a test compares both.
    used, share = [Fraction(0)] * len(pools), Fraction(0)
    steps: list[Step] = []
    if demand.scale != 1:
        inputs += _bands(demand, beyond=beyond)
    names: list[str] = []
    for phase, rule in enumerate((*met, None), start=1):
        goal = rule.threshold if rule else _FULL
        elements, offloaded, pages = rates_over(demand.bands, limit)
        rates = [Fraction(rate, demand.scale) for rate in (elements + beyond, offloaded, pages)]
        for name, rate in zip(("elements", "offloaded", "pages"), rates, strict=True):
            # Without distributions a rate is a plain count of the backlog; with them it is a sum over bands to be shown.
            if demand.scale == 1:
                inputs.append(Input(f"{name}_in_phase_{phase}", rate, name, Basis.DERIVED, model_source()))
            else:
                formula = _of_bands(name, demand, limit, beyond=beyond)
                steps.append(Step(f"{name}_in_phase_{phase}", formula, rate))
        inputs.append(Input(f"percent_{phase}", goal, "percent", Basis.GIVEN))
        share = _add_phase(
            steps,
            phase,
            pools,
            goal=goal,
            arriving=(demand.messages * demand.scale, elements + beyond, demand.scale),
            used=used,
            share=share,
        )
        names.append(f"share_{phase}")
        if rule:
            limit = min(limit, rule.size_bytes)
    return Phases(tuple(inputs), tuple(steps), tuple(names), dict(zip(met, names, strict=False)))


def _add_phase(
    steps: list[Step],
    phase: int,
    pools: tuple[Pool, ...],
    *,
    goal: int,
    arriving: tuple[int, int, int],
    used: list[Fraction],
    share: Fraction,
) -> Fraction:
    """Add the steps of one phase, update `used`, and return the new share.

    `arriving` has the entries and elements of the whole backlog in this phase, and the scale by which both are multiplied.
    """
    before = f"share_{phase - 1}" if phase > 1 else "0"
    entries, elements, scale = arriving
    parts, rates, least = [], [], (0, 1)
    # Integers between the steps: an answer about a large plan has thousands of phases, and fractions would be reduced each
    # time.
    for number, pool in enumerate(pools, start=1):
        entry_cost, element_cost, total = pool.whole
        rate = Fraction(entry_cost * entries + element_cost * elements, pool.common * scale)
        formula = f"entry_cost_{number} * messages + element_cost_{number} * elements_in_phase_{phase}"
        steps.append(Step(f"rate_{number}_{phase}", formula, rate))
        rates.append(rate)
        used_before = f"used_{number}_{phase - 1}" if phase > 1 else "0"
        parts.append(f"(percent_{phase} / 100 * pool_{number} - {used_before}) / rate_{number}_{phase}")
        part, of = used[number - 1].as_integer_ratio()
        room = (goal * total * of - _FULL * pool.common * part) * rate.denominator
        per = _FULL * pool.common * of * rate.numerator
        if number == 1 or room * least[1] < least[0] * per:
            least = room, per
    run = Fraction(*least) if least[0] > 0 else Fraction(0)
    now = share + run
    smallest = f"min({', '.join(parts)})" if len(parts) > 1 else parts[0]
    steps.append(Step(f"share_{phase}", f"{before} + max(0, {smallest})", now))
    for number, rate in enumerate(rates, start=1):
        used[number - 1] += run * rate
        used_before = f"used_{number}_{phase - 1}" if phase > 1 else "0"
        formula = f"{used_before} + (share_{phase} - {before}) * rate_{number}_{phase}"
        steps.append(Step(f"used_{number}_{phase}", formula, used[number - 1]))
    return now


def _bands(demand: Demand, *, beyond: int) -> Iterator[Input]:
    """Yield the messages, elements in the CF and pages of a distribution in each band of sizes."""
    source, scale = tables.source("project", "Message size distributions"), demand.scale
    yield tables.constants("element_model")["offloaded_message_elements"].as_input()
    for band in demand.bands:
        for name, count in (("messages", band.messages), ("elements", band.elements), ("pages", band.pages)):
            yield Input(_in_band(name, band), Fraction(count, scale), name, Basis.ASSUMED, source)
    if beyond:
        yield Input("elements_for_any_shape", Fraction(beyond, scale), "elements", Basis.ASSUMED, source)


def _in_band(name: str, band: Band) -> str:
    return f"{name}_from_0_bytes" if band.over_bytes < 0 else f"{name}_over_{band.over_bytes}_bytes"


def _of_bands(name: str, demand: Demand, limit: int, *, beyond: int) -> str:
    """Return the formula that adds up a quantity of a phase over the bands, with data over `limit` offloaded."""
    gone = [band for band in demand.bands if band.over_bytes >= limit]
    if name != "elements":
        return " + ".join(_in_band("pages" if name == "pages" else "messages", band) for band in gone)
    parts = [_in_band(name, band) for band in demand.bands if band.over_bytes < limit]
    parts += ["elements_for_any_shape"] if beyond else []
    messages = " + ".join(_in_band("messages", band) for band in gone)
    return " + ".join([*parts, f"offloaded_message_elements * ({messages})"])
