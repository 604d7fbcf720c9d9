"""Explanations of every figure of a result, so that a reader can recalculate it.

The explanations do not repeat the code that calculates the figures: they state formulas over
named inputs, and a test evaluates these with its own calculator.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from planner_core import tables
from planner_core.document.model import Queue, Structure
from planner_core.document.size_distribution import SCALE, SizeDistribution
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.plan.explain_depth_advice import explain_depth_events
from planner_core.plan.result import PlanAnswer, PlanResult
from planner_core.provenance import Basis, Explanation, Input, Number, Source, Step, weakest
from planner_core.sizing.admin_structure import explain_admin
from planner_core.sizing.demand import growth_factor
from planner_core.sizing.explain_filling import Phases, bundle_steps, model_source, phases_of
from planner_core.sizing.offload import Rule
from planner_core.sizing.placement import AllocationRequest, PlannedResult
from planner_core.sizing.structure_result import Load, SmdsNeed, StructureResult, offload_steps
from planner_core.sizing.structure_size import (
    BYTES_PER_KIB,
    Curve,
    curve_inputs,
    explain_size,
    increment_input,
    model_constant,
)
from planner_core.units import KIB, as_fraction, bytes_to_kib_ceil, ceil_fraction, hundredths

_PERCENT = 100


WHAT = "The request"


def plan_answer(result: PlanResult, *, explain: bool = False, depths: bool = False) -> PlanAnswer:
    """Return the figures of a result; with `explain`, also the formula, inputs, steps, source and basis of each."""
    return result.answer(
        depths=depths, explanations=_explanations(result, depths=depths) if explain else None
    )


def plan_json(
    result: PlanResult, *, explain: bool = False, depths: bool = False, structure: str | None = None
) -> bytes:
    """Return the JSON text of `plan_answer`, which takes the same arguments.

    Args:
        result: The plan.
        explain: Whether to explain the figures.
        depths: Whether to add advice on the depths of each queue.
        structure: Explain and advise on only the structure with this name in MQ; the figures are those of the whole plan.

    Raises:
        InputInvalid: The plan has no such structure.
    """
    names = [each.name for each in result.structures]
    if structure is not None and structure not in names:
        message = f"the plan has no structure {structure[:20]!r}"
        raise InputInvalid(WHAT, (FieldProblem("structure", message),))
    only = None if structure is None else names.index(structure)
    explanations = _explanations(result, depths=depths, only=only) if explain else None
    return result.json_bytes(depths=depths, only=only, explanations=explanations)


def _explanations(result: PlanResult, *, depths: bool, only: int | None = None) -> dict[str, Explanation]:
    return {item.figure: item for item in explain_result(result, depths=depths, only=only)}


def explain_result(
    result: PlanResult, *, depths: bool = False, details: bool = True, only: int | None = None
) -> Iterator[Explanation]:
    """Yield one explanation for each number in `PlanAnswer`; its basis is never better than that of the figures it uses.

    With `only`, explain the figures of the structure at this place. With `details=False`, leave out entries, elements and
    the figures on depth events, on which no other figure rests. In a comparison only the published side is
    explained: the fitted side has the figures of the result, and the rest are differences and sums of both.
    """
    if only is not None:
        yield from explain_structure(result, only, depths=depths, details=details)
        return
    yield from explain_curve(result.curve)
    bases: dict[str, Basis] = {}
    for index in range(len(result.structures)):
        for each in explain_structure(result, index, depths=depths, details=details):
            bases[each.figure] = each.basis
            yield each
    yield from explain_totals(result, bases)


def explain_structure(
    result: PlanResult, index: int, *, depths: bool = False, details: bool = True
) -> list[Explanation]:
    """Return the explanations of the figures of the structure at this place.

    They rest on the result of this structure, and on the parts of the document that apply to the whole group.
    """
    explained = _explain_structure(
        f"/structures/{index}", result, result.structures[index], depths=depths, details=details
    )
    return _with_bases(explained, {})


def explain_totals(result: PlanResult, bases: Mapping[str, Basis]) -> list[Explanation]:
    """Return the explanations of all figures that are neither of the curve nor of a structure.

    Args:
        result: The plan.
        bases: The basis of each figure of its structures, by the pointer of the figure.
    """
    return _with_bases(_explain_totals(result), bases)


def _with_bases(explained: Iterable[Explanation], known: Mapping[str, Basis]) -> list[Explanation]:
    """Return explanations with the basis of the figures on which they rest; `known` has the figures without them."""
    # Each round carries the basis one figure further. Most inputs are not figures, so only the linked ones are visited.
    found = list(explained)
    bases = {**known, **{item.figure: item.basis for item in found}}
    links = {place: linked for place, item in enumerate(found) if (linked := _linked_inputs(item, bases))}
    for _ in range(_LONGEST_CHAIN):
        for place, linked in links.items():
            found[place] = _resting_on(found[place], bases, linked)
            bases[found[place].figure] = found[place].basis
    return found


_COMPARED = "comparison"
_LONGEST_CHAIN = 5
"""The longest chain of figures: need, INITSIZE, SIZE, planned SIZE in a coupling facility, free storage there."""
_FIGURES = {
    "need_bytes": "need_bytes",
    "initsize_bytes": "initsize_kib",
    "size_bytes": "size_kib",
}
"""Inputs that are figures of the same structure, and their names in a result."""
_WITH_OTHER_FIGURES = ("/totals/", "/coupling_facilities/")
"""Figures whose inputs can be figures with other names."""


def _figure(item: Explanation, name: str) -> str | None:
    """Return the pointer of an input that is itself a figure of the result, or None."""
    _, area, index, *_ = (*item.figure.split("/"), "")
    if area == _COMPARED:
        return f"{item.figure.rpartition('/')[0]}/{_FIGURES[name]}" if name in _FIGURES else None
    key, _, number = name.rpartition("_")
    if area in {"totals", "coupling_facilities"} and number.isdigit():
        return f"/structures/{int(number) - 1}/{key}"
    if area == "coupling_facilities":
        return f"{item.figure.rpartition('/')[0]}/{name}" if not item.figure.endswith(f"/{name}") else None
    if area == "totals":
        return None
    return f"/{area}/{index}/{_FIGURES[name]}" if name in _FIGURES else None


def _linked_inputs(item: Explanation, figures: Container[str]) -> dict[int, str]:
    """Return the inputs of an explanation that are figures of the result: their numbers, and the pointers of the figures."""
    linked = {}
    with_other_figures = item.figure.startswith(_WITH_OTHER_FIGURES)
    for number, given in enumerate(item.inputs):
        # A plan can have hundreds of thousands of inputs, and the names of most of them show that they are not figures.
        if with_other_figures or given.name in _FIGURES:
            figure = _figure(item, given.name)
            if figure is not None and figure in figures:
                linked[number] = figure
    return linked


def _resting_on(item: Explanation, bases: Mapping[str, Basis], linked: Mapping[int, str]) -> Explanation:
    """Return the explanation with the current basis of its inputs that are figures of the result."""
    inputs, has_changed = list(item.inputs), False
    for number, figure in linked.items():
        given = inputs[number]
        known = weakest((given.basis, bases[figure]))
        if known is not given.basis:
            inputs[number] = replace(given, basis=known)
            has_changed = True
    return replace(item, inputs=tuple(inputs)) if has_changed else item


def _explain_totals(result: PlanResult) -> Iterator[Explanation]:
    for key in ("initsize_kib", "size_kib"):
        values = [_kib(structure, key) for structure in result.structures]
        inputs = tuple(
            Input(f"{key}_{number}", value, "K", Basis.DERIVED)
            for number, value in enumerate(values, start=1)
        )
        yield Explanation(
            f"/totals/{key}", sum(values), "K", " + ".join(i.name for i in inputs), inputs, Basis.DERIVED
        )
    count = Input("structures", len(result.structures), "structures", Basis.GIVEN)
    yield Explanation(
        "/totals/structures", len(result.structures), "structures", "structures", (count,), Basis.GIVEN
    )
    yield from _facilities(result)
    if result.comparison is not None and result.comparison.plain is not None:
        yield from _under_published(result.comparison.plain)


def _explain_structure(
    at: str, result: PlanResult, structure: StructureResult, *, depths: bool, details: bool
) -> Iterator[Explanation]:
    fillings = _Fillings(structure)
    yield _level(at, structure)
    yield from _policy_sizes(at, structure, fillings)
    yield from _target(at, structure)
    if structure.admin is not None:
        yield from _admin(at, structure)
    if structure.load is not None:
        yield from _counts(at, result, structure, structure.load, details=details)
        yield _need(f"{at}/need_bytes", structure, structure.load, fillings)
        yield from _capacities(at, structure, structure.load, fillings)
        yield from _at_backlog(at, structure, structure.load, fillings)
        if details:
            yield from explain_depth_events(at, structure, result.document, depths=depths)


def _facilities(result: PlanResult) -> Iterator[Explanation]:
    """Explain the storage of each coupling facility, and the part of it that structures use."""
    assumed = tables.source("project", "Placement of structures")
    numbers = {each.cfrm_name: number for number, each in enumerate(result.structures, start=1)}
    for index, use in enumerate(result.allocation.facilities):
        at = f"/coupling_facilities/{index}"
        figures = {key: value for key, value in asdict(use.storage()).items() if isinstance(value, int)}
        for key in ("size_kib", "occupied_kib", "dumpspace_kib"):
            if key in figures:
                stated = Input(key, figures[key], "K", Basis.GIVEN)
                yield Explanation(f"{at}/{key}", figures[key], "K", key, (stated,), Basis.GIVEN)
        # Sums are assumed even if all sizes are published, because the place of each structure is.
        for key, counted, structures in (
            ("planned_initsize_kib", "initsize_kib", use.first),
            ("planned_size_kib", "size_kib", use.first),
            ("second_copies_kib", "initsize_kib", use.second),
            ("second_copies_size_kib", "size_kib", use.second),
        ):
            inputs = tuple(_inputs_of(structures, counted, numbers))
            formula = " + ".join(each.name for each in inputs) or "0"
            yield Explanation(f"{at}/{key}", figures[key], "K", formula, inputs, Basis.ASSUMED, assumed)
        for key, counted in (
            ("other_structures_kib", "initsize_kib"),
            ("other_structures_size_kib", "size_kib"),
        ):
            if key in figures:
                others = tuple(_inputs_of_others(use.others, counted))
                formula = " + ".join(each.name for each in others)
                yield Explanation(f"{at}/{key}", figures[key], "K", formula, others, Basis.ASSUMED, assumed)
        for key, taken in (
            ("free_kib", ("planned_initsize_kib", "second_copies_kib", "other_structures_kib")),
            ("free_at_size_kib", ("planned_size_kib", "second_copies_size_kib", "other_structures_size_kib")),
        ):
            if key in figures:
                names = (
                    "size_kib",
                    "occupied_kib",
                    "dumpspace_kib",
                    *(each for each in taken if each in figures),
                )
                inputs = tuple(Input(name, figures[name], "K", Basis.DERIVED) for name in names)
                yield Explanation(
                    f"{at}/{key}", figures[key], "K", " - ".join(names), inputs, Basis.ASSUMED, assumed
                )


def _inputs_of_others(structures: Sequence[AllocationRequest[PlannedResult]], key: str) -> Iterator[Input]:
    """Yield the sizes of structures that are not the group's."""
    for number, each in enumerate(structures, start=1):
        size = each.initsize_bytes if key == "initsize_kib" else each.size_bytes
        yield Input(f"other_{key}_{number}", bytes_to_kib_ceil(size), "K", Basis.GIVEN)


def _inputs_of(
    structures: Sequence[AllocationRequest[PlannedResult]], key: str, numbers: Mapping[str, int]
) -> Iterator[Input]:
    """Yield the sizes of structures, and their augmented space if they have any."""
    for each in structures:
        number = numbers[each.structure]
        yield Input(f"{key}_{number}", _kib(each.result, key), "K", Basis.DERIVED)
        if each.augmented_bytes:
            augmented = bytes_to_kib_ceil(each.augmented_bytes)
            yield Input(f"augmented_kib_{number}", augmented, "K", Basis.GIVEN)


def _under_published(plain: PlanResult) -> Iterator[Explanation]:
    """Explain the published side of a comparison: the curve, and three figures of each structure."""
    for item in explain_curve(plain.curve):
        yield replace(item, figure=item.figure.replace("/curve", f"/{_COMPARED}/published", 1))
    for index, structure in enumerate(plain.structures):
        at, fillings = f"/{_COMPARED}/structures/{index}/published", _Fillings(structure)
        # Every explanation must have its figure in the answer, and a comparison has only these three.
        compared = {f"{at}/{figure}" for figure in _FIGURES.values()}
        explained = [*_policy_sizes(at, structure, fillings)]
        if structure.admin is not None:
            explained += _admin(at, structure)
        if structure.load is not None:
            explained.append(_need(f"{at}/need_bytes", structure, structure.load, fillings))
        yield from (item for item in explained if item.figure in compared)


def _kib(structure: PlannedResult, key: str) -> int:
    return bytes_to_kib_ceil(structure.initsize_bytes if key == "initsize_kib" else structure.size_bytes)


def explain_curve(curve: Curve) -> Iterator[Explanation]:
    """Yield the explanations of the figures of a curve."""
    inputs = curve_inputs(curve)
    yield Explanation(
        "/curve/base_bytes",
        ceil_fraction(curve.base),
        "bytes",
        f"ceil({curve.base_formula})",
        inputs,
        curve.base_basis,
        curve.base_source,
    )
    yield Explanation(
        "/curve/bundle_bytes",
        curve.bundle,
        "bytes",
        curve.bundle_formula,
        inputs,
        curve.factor_basis,
        curve.factor_source,
    )
    header = tables.constants("element_model")["header_bytes"]
    yield Explanation(
        "/curve/header_bytes",
        curve.header_bytes,
        "bytes",
        "header_bytes",
        (header.as_input(),),
        header.basis,
        header.source,
    )
    increments = tables.table("storage_increments")
    step = Input("increment_kib", curve.increment_bytes // KIB, "KiB", increments.basis, increments.source)
    yield Explanation(
        "/curve/increment_kib",
        curve.increment_bytes // KIB,
        "KiB",
        "increment_kib",
        (step,),
        increments.basis,
        increments.source,
    )


def _level(at: str, structure: StructureResult) -> Explanation:
    """Explain the level that a structure is sized for: the highest in its PREFLIST."""
    inputs = tuple(
        Input(
            f"cfcc_level_{number}",
            level,
            "CFCC level",
            Basis.GIVEN,
            Source("The plan document", "cfcc_level" if name is None else f"coupling facility {name}", ""),
        )
        for number, (name, level) in enumerate(structure.level.stated, start=1)
    )
    names = [each.name for each in inputs]
    formula = names[0] if len(names) == 1 else f"max({', '.join(names)})"
    source = tables.source("project", "CFCC level of a structure")
    return Explanation(
        f"{at}/cfcc_level", structure.level.level, "CFCC level", formula, inputs, Basis.GIVEN, source
    )


def _given(at: str, key: str, size_bytes: int) -> Explanation:
    """Explain a size that the document gives."""
    given = Input(f"given_{key}_bytes", size_bytes, "bytes", Basis.GIVEN)
    return Explanation(
        f"{at}/{key}_kib",
        bytes_to_kib_ceil(size_bytes),
        "K",
        f"ceil({given.name} / bytes_per_kib)",
        (given, BYTES_PER_KIB),
        Basis.GIVEN,
    )


def _policy_sizes(at: str, structure: StructureResult, fillings: _Fillings) -> Iterator[Explanation]:
    sizes = structure.sizes
    step = increment_input(sizes.increment_bytes)
    given_size = (
        (Input("given_size_bytes", sizes.size_bytes, "bytes", Basis.GIVEN),) if sizes.size_is_given else ()
    )
    given_minsize = (
        (Input("given_minsize_bytes", sizes.minsize_bytes, "bytes", Basis.GIVEN),)
        if sizes.minsize_bytes is not None
        else ()
    )
    if sizes.initsize_is_given:
        yield _given(at, "initsize", sizes.initsize_bytes)
    else:
        wanted = _wanted(structure, fillings)
        inputs = (
            *wanted.inputs,
            _minimum(structure),
            step,
            BYTES_PER_KIB,
            *given_size,
            *given_minsize,
        )
        least = "minimum_bytes, given_minsize_bytes" if given_minsize else "minimum_bytes"
        formula = f"round_up(max({wanted.formula}, {least}), increment_bytes)"
        if given_size:
            formula = f"min({formula}, given_size_bytes)"
        yield Explanation(
            f"{at}/initsize_kib",
            bytes_to_kib_ceil(sizes.initsize_bytes),
            "K",
            f"ceil({formula} / bytes_per_kib)",
            inputs,
            wanted.basis,
            wanted.source,
            wanted.steps,
        )
    if given_size:
        yield _given(at, "size", sizes.size_bytes)
    else:
        inputs = (
            Input("initsize_bytes", sizes.initsize_bytes, "bytes", Basis.DERIVED),
            Input("size_factor", Fraction(sizes.size_factor), "", Basis.GIVEN),
            step,
            BYTES_PER_KIB,
        )
        yield Explanation(
            f"{at}/size_kib",
            bytes_to_kib_ceil(sizes.size_bytes),
            "K",
            "ceil(round_up(ceil(initsize_bytes * size_factor), increment_bytes) / bytes_per_kib)",
            inputs,
            Basis.DERIVED,
        )
    if sizes.minsize_bytes is not None:
        yield _given(at, "minsize", sizes.minsize_bytes)
    threshold = Input("full_threshold", structure.placement.full_threshold, "percent", Basis.GIVEN)
    yield Explanation(
        f"{at}/full_threshold",
        structure.placement.full_threshold,
        "percent",
        "full_threshold",
        (threshold,),
        Basis.GIVEN,
    )


def _wanted(structure: StructureResult, fillings: _Fillings) -> Explanation:
    """Explain the smallest possible computed INITSIZE: the need with the headroom, or the backlog at the target."""
    sizes = structure.sizes
    if sizes.target is None or structure.load is None:
        given = Input("need_bytes", sizes.need_bytes, "bytes", Basis.DERIVED)
        headroom = Input("headroom_percent", Fraction(sizes.headroom_percent or 0), "percent", Basis.GIVEN)
        formula = "ceil(need_bytes * (1 + headroom_percent / 100))"
        return Explanation("wanted", sizes.wanted_bytes, "bytes", formula, (given, headroom), Basis.DERIVED)
    need = _need("wanted", structure, structure.load, fillings)
    if not structure.load.demand.messages:
        formula = f"ceil({structure.curve.base_formula} + bundle_bytes)"
        return replace(need, value=sizes.wanted_bytes, formula=formula)
    # Inside of ceil, because the size is rounded once, and after the bundles, because the base holds no messages and does
    # not grow with a lower target.
    percent = Input("used_target_percent", sizes.target.percent, "percent", Basis.GIVEN, _target_source())
    return replace(
        need,
        value=sizes.wanted_bytes,
        formula=f"{need.formula.removesuffix(')')} * 100 / used_target_percent)",
        inputs=(*need.inputs, percent),
    )


def _target(at: str, structure: StructureResult) -> Iterator[Explanation]:
    """Explain the target usage for which INITSIZE is computed: the plan's target, or the threshold of a rule."""
    target = structure.sizes.target_in_use
    if target is None:
        return
    inputs = [Input("target_usage_percent", Fraction(target.asked), "percent", Basis.GIVEN, _target_source())]
    formula = "target_usage_percent"
    if target.rule is not None:
        name = f"offld{target.number}th"
        source = tables.table("offload_defaults").source
        inputs.append(Input(name, target.rule.threshold, "percent", Basis.GIVEN, source))
        formula = f"min(target_usage_percent, {name})"
    figure = "target_messages_percent" if target.with_offload else "target_usage_percent"
    yield Explanation(
        f"{at}/{figure}",
        target.percent,
        "percent",
        formula,
        tuple(inputs),
        Basis.GIVEN,
        _target_source(),
    )


def _target_source() -> Source:
    return tables.constants("sizing_choices")["target_usage_percent"].source


def _minimum(structure: StructureResult) -> Input:
    """Return the minimum INITSIZE: IBM's for CSQSYSAPPL; none is published for other structures."""
    minimum, known = structure.sizes.minimum_bytes, structure.system
    if not minimum or known is None:
        return Input("minimum_bytes", 0, "bytes", Basis.DERIVED, tables.source("project", "Minimum sizes"))
    source = known.start_source if known.start_bytes >= known.minimum_bytes else known.minimum_source
    return Input("minimum_bytes", minimum, "bytes", Basis.PUBLISHED, source)


def _admin(at: str, structure: StructureResult) -> Iterator[Explanation]:
    need = structure.admin
    if need is None:
        return
    figure = Input("published_bytes", need.published_bytes, "bytes", need.basis, need.source)
    yield Explanation(
        f"{at}/need_bytes",
        structure.sizes.need_bytes,
        "bytes",
        "published_bytes",
        (figure,),
        need.basis,
        need.source,
    )
    # The first of them is the size in K, which a plan has as INITSIZE.
    for counted in explain_admin(need)[1:]:
        yield replace(counted, figure=f"{at}{counted.figure}")


def _counts(
    at: str, result: PlanResult, structure: StructureResult, load: Load, *, details: bool
) -> Iterator[Explanation]:
    """Explain messages, entries and elements, queue by queue; without details, only messages."""
    inputs: list[Input] = []
    steps = [
        _messages_of(number, result, structure, inputs, demand.messages)
        for number, demand in enumerate(structure.queues, start=1)
    ]
    total = " + ".join(step.name for step in steps) or "0"
    given, backlogs = tuple(inputs), tuple(steps)
    for key in ("messages", "entries") if details else ("messages",):
        yield Explanation(
            f"{at}/{key}",
            load.demand.messages,
            key,
            total,
            given,
            Basis.DERIVED,
            model_source(),
            backlogs,
        )
    if details:
        element_inputs, terms = _elements(structure, load)
        yield Explanation(
            f"{at}/elements",
            load.demand.elements,
            "elements",
            f"ceil({' + '.join(terms) or '0'})",
            (*given, *element_inputs),
            # Stated here, because otherwise it would be searched for in formulas of hundreds of queues.
            Basis.ASSUMED if load.demand.mean_elements else Basis.DERIVED,
            tables.source("project", "The element model"),
            backlogs,
        )


def _elements(structure: StructureResult, load: Load) -> tuple[list[Input], list[str]]:
    """Return the inputs that explain the elements of all queues, besides those of their messages, and the term of each queue."""
    model = tables.constants("element_model")
    source = model["header_bytes"].source
    inputs = [
        Input("header_bytes", structure.curve.header_bytes, "bytes", Basis.DERIVED, source),
        model["element_bytes"].as_input(),
        model["offloaded_message_elements"].as_input(),
    ]
    terms: list[str] = []
    largest = model_constant("largest_message_in_cf_bytes")
    distributions = tables.source("project", "Message size distributions")
    for number, demand in enumerate(structure.queues, start=1):
        if isinstance(demand.message_bytes, SizeDistribution):
            mean = Fraction(load.demand.mean_elements[number - 1], SCALE)
            inputs.append(Input(f"mean_elements_{number}", mean, "elements", Basis.ASSUMED, distributions))
            terms.append(f"messages_{number} * mean_elements_{number}")
        elif demand.message_bytes > largest:
            terms.append(f"messages_{number} * offloaded_message_elements")
        else:
            inputs.append(Input(f"bytes_{number}", demand.message_bytes, "bytes", Basis.GIVEN))
            terms.append(f"messages_{number} * ceil((bytes_{number} + header_bytes) / element_bytes)")
    return inputs, terms


def _messages_of(
    number: int, result: PlanResult, structure: StructureResult, inputs: list[Input], messages: int
) -> Step:
    """Explain the backlog of one queue at the horizon; its inputs are added to `inputs`."""
    name = f"messages_{number}"
    if not isinstance(structure.definition, Structure):
        usage = tables.constants("system_structure_usage")
        if number == 1:
            inputs.append(
                Input("shared_channels", result.document.system.shared_channels, "channels", Basis.GIVEN)
            )
            inputs.append(usage["sync_messages_per_channel"].as_input())
            return Step(name, "shared_channels * sync_messages_per_channel", messages)
        inputs.append(Input("group_ur_messages", messages, "messages", Basis.GIVEN))
        return Step(name, "group_ur_messages", messages)
    # Once, with the first queue: all queues of a plan grow by the same factor.
    if number == 1:
        growth = result.document.growth
        factor = growth_factor(percent_per_year=growth.percent_per_year, years=growth.years)
        inputs.append(Input("growth_factor", factor, "", Basis.GIVEN))
    queue: Queue = structure.definition.queues[number - 1]
    if queue.put_rate_per_s is not None and queue.outage_minutes is not None:
        inputs.append(
            Input(f"put_rate_per_s_{number}", as_fraction(queue.put_rate_per_s), "messages/s", Basis.GIVEN)
        )
        inputs.append(
            Input(f"outage_minutes_{number}", as_fraction(queue.outage_minutes), "minutes", Basis.GIVEN)
        )
        return Step(
            name, f"ceil(put_rate_per_s_{number} * outage_minutes_{number} * 60 * growth_factor)", messages
        )
    inputs.append(Input(f"backlog_{number}", queue.backlog or 0, "messages", Basis.GIVEN))
    return Step(name, f"ceil(backlog_{number} * growth_factor)", messages)


class _Fillings:
    """The phases of filling one bundle of a structure with its backlog, calculated once for all figures that use them."""

    def __init__(self, structure: StructureResult) -> None:
        self._load = structure.load

    @cached_property
    def plain(self) -> Phases:
        """The phases without offload rules."""
        return self._phases(())

    @cached_property
    def with_offload(self) -> Phases:
        """The phases with the rules of the structure."""
        load = self._load
        return self.plain if load is None or load.with_offload is load.plain else self._phases(load.rules)

    def _phases(self, rules: Sequence[Rule]) -> Phases:
        load = self._load
        if load is None or load.plain is None:
            return Phases()
        return phases_of(load.demand, rules=rules, pools=load.plain.pools)


def _bundles(
    structure: StructureResult, size_bytes: int, *, given: bool
) -> tuple[tuple[Input, ...], tuple[Step, ...]]:
    ratio = structure.load.ratio if structure.load else None
    return bundle_steps(structure.curve, size_bytes=size_bytes, ratio=ratio, given=given)


def _need(figure: str, structure: StructureResult, load: Load, fillings: _Fillings) -> Explanation:
    definition = structure.definition
    has_rules = load.with_offload is not load.plain
    if isinstance(definition, Structure) and definition.size_with_offload and has_rules:
        phases = fillings.with_offload
        # Only the step `bundle_bytes`: `bundles` would calculate the need from itself.
        inputs, steps = _bundles(structure, structure.sizes.need_bytes, given=False)
        return Explanation(
            figure,
            structure.sizes.need_bytes,
            "bytes",
            f"ceil({structure.curve.base_formula} + bundle_bytes / {phases.names[-1]})",
            (*inputs, *phases.inputs),
            Basis.ASSUMED,
            model_source(),
            (steps[0], *phases.steps),
        )
    return explain_size(
        figure,
        entries=load.demand.entries,
        elements=load.demand.elements,
        curve=structure.curve,
        ratio=load.ratio,
        value=structure.sizes.need_bytes,
    )


def _capacities(
    at: str, structure: StructureResult, load: Load, fillings: _Fillings
) -> Iterator[Explanation]:
    sizes = structure.sizes
    stated = (
        ("initsize", sizes.initsize_bytes, sizes.initsize_is_given, load.messages_in_initsize),
        ("size", sizes.size_bytes, sizes.size_is_given, load.messages_in_size),
    )
    for (key, size_bytes, given, held), offload in product(stated, (False, True)):
        phases = fillings.with_offload if offload else fillings.plain
        inputs, steps = _bundles(structure, size_bytes, given=given)
        yield Explanation(
            f"{at}/messages_in_{key}{'_with_offload' if offload else ''}",
            held(offload=offload),
            "messages",
            f"floor({phases.names[-1]} * messages * bundles)" if phases.names else "0",
            (*inputs, *phases.inputs),
            Basis.ASSUMED if len(phases.names) > 1 else Basis.DERIVED,
            model_source(),
            (*steps, *phases.steps),
        )


def _at_backlog(
    at: str, structure: StructureResult, load: Load, fillings: _Fillings
) -> Iterator[Explanation]:
    """Explain usage, offloaded messages and SMDS with the planned backlog in INITSIZE."""
    sizes = structure.sizes
    phases = fillings.with_offload
    inputs, steps = _bundles(structure, sizes.initsize_bytes, given=sizes.initsize_is_given)
    basis = Basis.ASSUMED if load.rules else Basis.DERIVED

    def explained(figure: str, value: Number, unit: str, formula: str) -> Explanation:
        return Explanation(
            f"{at}/{figure}",
            value,
            unit,
            formula,
            (*inputs, *phases.inputs),
            basis,
            model_source(),
            (*steps, *phases.steps),
        )

    # The float of the result is only near a hundredth, and its explanation must be exact.
    peak = Fraction(hundredths(structure.peak_usage_percent)).limit_denominator(_PERCENT)
    if structure.at_backlog is None:
        yield explained("peak_usage_percent", peak, "percent", str(int(peak)))
        yield explained("offloaded_at_backlog", 0, "messages", "0")
    else:
        used = (
            f"(entry_cost_{number} * min(1, bundles * {phases.names[-1]}) * messages"
            f" + element_cost_{number} * ({phases.until_backlog('elements')})) / (pool_{number} * bundles)"
            for number in range(1, len(load.plain.pools if load.plain else ()) + 1)
        )
        yield explained("peak_usage_percent", peak, "percent", f"ceil(10000 * max({', '.join(used)})) / 100")
        yield explained(
            "offloaded_at_backlog",
            structure.offloaded_at_backlog,
            "messages",
            f"ceil({phases.until_backlog('offloaded')})",
        )
    for number, step in enumerate(offload_steps(load.with_offload, load.bundles_in_initsize)):
        formula = f"floor({phases.names[number]} * messages * bundles)"
        yield explained(f"offload_steps/{number}/at_messages", step.at_messages, "messages", formula)
    if structure.smds is not None and isinstance(structure.definition, Structure):
        yield from _smds(at, structure, structure.definition, structure.smds, fillings)
    if structure.db2 is not None:
        constants = tables.constants("smds")
        space = (constants["page_bytes"].as_input(), constants["space_map_percent"].as_input())
        need = structure.db2
        yield from _offloaded_space(
            f"{at}/db2/lob_bytes",
            structure,
            fillings,
            space,
            (need.lob_bytes_at_backlog, need.lob_bytes_when_full),
            "{space}",
            "Db2 LOB space",
        )


def _offloaded_space(
    figure: str,
    structure: StructureResult,
    fillings: _Fillings,
    space: tuple[Input, ...],
    values: tuple[int, int],
    rounded: str,
    section: str,
) -> Iterator[Explanation]:
    """Explain the space of offloaded data at the planned backlog and when SIZE is full.

    `rounded` is the formula over the names `space` and `pages`, in braces.
    """
    sizes, source = structure.sizes, tables.source("project", section)
    phases = fillings.with_offload
    at_backlog = structure.at_backlog.pages if structure.at_backlog is not None else 0
    pages = Input("pages_at_backlog", at_backlog, "pages", Basis.ASSUMED, source)
    until_backlog = phases.until_backlog("pages") if structure.at_backlog is not None else "0"
    cases = (
        ("at_backlog", values[0], sizes.initsize_bytes, sizes.initsize_is_given, until_backlog),
        (
            "when_full",
            values[1],
            sizes.size_bytes,
            sizes.size_is_given,
            f"max(pages_at_backlog, {phases.until_full('pages')})",
        ),
    )
    for name, value, size_bytes, given, what in cases:
        inputs, steps = _bundles(structure, size_bytes, given=given)
        needed = f"ceil(ceil({what}) * page_bytes * (1 + space_map_percent / 100))"
        yield Explanation(
            f"{figure}_{name}",
            value,
            "bytes",
            rounded.format(space=needed, pages=f"ceil({what})"),
            (*inputs, *phases.inputs, pages, *space),
            Basis.ASSUMED,
            source,
            (*steps, *phases.steps),
        )


def _smds(
    at: str, structure: StructureResult, definition: Structure, need: SmdsNeed, fillings: _Fillings
) -> Iterator[Explanation]:
    constants = tables.constants("smds")
    dsblock = Input("dsblock_bytes", definition.offload.dsblock, "bytes", Basis.GIVEN)
    queues = Input("queues", len(definition.queues), "queues", Basis.GIVEN)
    space = (constants["page_bytes"].as_input(), constants["space_map_percent"].as_input(), dsblock, queues)
    values = (need.data_set_bytes_at_backlog, need.data_set_bytes_when_full)
    yield from _offloaded_space(
        f"{at}/smds/data_set_bytes",
        structure,
        fillings,
        space,
        values,
        "round_up({space}, dsblock_bytes) + min(queues, {pages}) * dsblock_bytes",
        "SMDS space",
    )
    yield Explanation(
        f"{at}/smds/buffer_bytes_per_queue_manager",
        need.buffer_bytes_per_queue_manager,
        "bytes",
        "dsbufs * dsblock_bytes",
        (Input("dsbufs", definition.offload.dsbufs, "buffers", Basis.GIVEN), dsblock),
        Basis.DERIVED,
        constants["default_dsbufs"].source,
    )
