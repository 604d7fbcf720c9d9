"""How every figure of a result came about, so that a reader can work it out again.

The explanations do not repeat the code that made the figures: they state formulas over
named inputs, and a test evaluates those with a calculator of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from planner_core import tables
from planner_core.admin_structure import explain_admin
from planner_core.demand import SizeDistribution, band_edges, growth_factor, scaled_shares
from planner_core.document import Queue, Structure
from planner_core.offload import Rule, can_fire
from planner_core.plan import PlanResult, StructureResult, hundredths
from planner_core.provenance import Basis, Explanation, Input, Source, Step
from planner_core.smds import message_header_bytes, page_bytes
from planner_core.structure_size import Curve, curve_inputs, explain_size, model_constant
from planner_core.units import KIB, MIB, bytes_to_kib_ceil

_SCALE = 2**32
_PERCENT = 100


def _model_source() -> Source:
    return tables.source("project", "Two pools")


def explain_result(result: PlanResult) -> Iterator[Explanation]:
    """One explanation for each number in `PlanResult.as_json()`."""
    yield from _curve(result.curve)
    for index, structure in enumerate(result.structures):
        at = f"/structures/{index}"
        yield from _policy_sizes(at, structure)
        if structure.admin is not None:
            yield from _admin(at, structure)
        if structure.load is not None:
            yield from _counts(at, result, structure)
            yield _need(f"{at}/need_bytes", structure)
            yield from _capacities(at, structure)
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


def _kib(structure: StructureResult, key: str) -> int:
    sizes = structure.sizes
    return bytes_to_kib_ceil(sizes.initsize_bytes if key == "initsize_kib" else sizes.size_bytes)


def _curve(curve: Curve) -> Iterator[Explanation]:
    inputs = curve_inputs(curve)
    base = -(-curve.base.numerator // curve.base.denominator)
    yield Explanation(
        "/curve/base_bytes",
        base,
        "bytes",
        "ceil(base_mib * bytes_per_mib)",
        inputs,
        curve.base_basis,
        curve.base_source,
    )
    yield Explanation(
        "/curve/bundle_bytes",
        curve.bundle,
        "bytes",
        "factor * ratio_elements * element_bytes",
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


def _policy_sizes(at: str, structure: StructureResult) -> Iterator[Explanation]:
    sizes = structure.sizes
    step = Input(
        "increment_bytes",
        sizes.increment_bytes,
        "bytes",
        Basis.PUBLISHED,
        tables.table("storage_increments").source,
    )
    kib = Input("bytes_per_kib", KIB, "bytes", Basis.PUBLISHED)
    given_size = (
        (Input("given_size_bytes", sizes.size_bytes, "bytes", Basis.GIVEN),) if sizes.size_is_given else ()
    )
    if sizes.initsize_is_given:
        given = Input("given_initsize_bytes", sizes.initsize_bytes, "bytes", Basis.GIVEN)
        yield Explanation(
            f"{at}/initsize_kib",
            bytes_to_kib_ceil(sizes.initsize_bytes),
            "K",
            "ceil(given_initsize_bytes / bytes_per_kib)",
            (given, kib),
            Basis.GIVEN,
        )
    else:
        inputs = (
            Input("need_bytes", sizes.need_bytes, "bytes", Basis.DERIVED),
            Input("headroom_percent", Fraction(sizes.headroom_percent), "percent", Basis.GIVEN),
            _minimum(structure),
            step,
            kib,
            *given_size,
        )
        formula = (
            "round_up(max(ceil(need_bytes * (1 + headroom_percent / 100)), minimum_bytes), increment_bytes)"
        )
        if given_size:
            formula = f"min({formula}, given_size_bytes)"
        yield Explanation(
            f"{at}/initsize_kib",
            bytes_to_kib_ceil(sizes.initsize_bytes),
            "K",
            f"ceil({formula} / bytes_per_kib)",
            inputs,
            Basis.DERIVED,
        )
    if given_size:
        yield Explanation(
            f"{at}/size_kib",
            bytes_to_kib_ceil(sizes.size_bytes),
            "K",
            "ceil(given_size_bytes / bytes_per_kib)",
            (*given_size, kib),
            Basis.GIVEN,
        )
    else:
        inputs = (
            Input("initsize_bytes", sizes.initsize_bytes, "bytes", Basis.DERIVED),
            Input("size_factor", Fraction(sizes.size_factor), "", Basis.GIVEN),
            step,
            kib,
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
        given = Input("given_minsize_bytes", sizes.minsize_bytes, "bytes", Basis.GIVEN)
        yield Explanation(
            f"{at}/minsize_kib",
            bytes_to_kib_ceil(sizes.minsize_bytes),
            "K",
            "ceil(given_minsize_bytes / bytes_per_kib)",
            (given, kib),
            Basis.GIVEN,
        )
    threshold = Input("full_threshold", structure.placement.full_threshold, "percent", Basis.GIVEN)
    yield Explanation(
        f"{at}/full_threshold",
        structure.placement.full_threshold,
        "percent",
        "full_threshold",
        (threshold,),
        Basis.GIVEN,
    )


def _minimum(structure: StructureResult) -> Input:
    known = structure.system
    if known is None:
        return Input("minimum_bytes", structure.sizes.minimum_bytes, "bytes", Basis.DERIVED)
    source = known.start_source if known.start_bytes >= known.minimum_bytes else known.minimum_source
    return Input("minimum_bytes", structure.sizes.minimum_bytes, "bytes", Basis.PUBLISHED, source)


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
    entries = explain_admin(need)[1]
    yield replace(entries, figure=f"{at}{entries.figure}")


def _counts(at: str, result: PlanResult, structure: StructureResult) -> Iterator[Explanation]:
    """Messages, entries and elements, queue by queue."""
    load, curve = structure.load, structure.curve
    if load is None:
        return
    model = tables.constants("element_model")
    inputs: list[Input] = []
    steps: list[Step] = []
    element_inputs: list[Input] = [
        Input("header_bytes", curve.header_bytes, "bytes", Basis.DERIVED, model["header_bytes"].source),
        model["element_bytes"].as_input(),
        model["offloaded_message_elements"].as_input(),
    ]
    terms: list[str] = []
    largest, edges = (
        model_constant("largest_message_in_cf_bytes"),
        band_edges([rule.size_bytes for rule in load.rules]),
    )
    for number, demand in enumerate(structure.queues, start=1):
        steps.append(_messages_of(number, result, structure, inputs, demand.messages))
        if isinstance(demand.message_bytes, SizeDistribution):
            shares = scaled_shares(
                demand.message_bytes, edges, curve.header_bytes, page_bytes(), message_header_bytes()
            )
            mean = (
                sum(elements for _, elements, _ in shares[:-1])
                + shares[-1][0] * model["offloaded_message_elements"].value
            )
            element_inputs.append(
                Input(
                    f"mean_elements_{number}",
                    Fraction(mean, _SCALE),
                    "elements",
                    Basis.ASSUMED,
                    tables.source("project", "Message size distributions"),
                )
            )
            terms.append(f"messages_{number} * mean_elements_{number}")
        elif demand.message_bytes > largest:
            terms.append(f"messages_{number} * offloaded_message_elements")
        else:
            element_inputs.append(Input(f"bytes_{number}", demand.message_bytes, "bytes", Basis.GIVEN))
            terms.append(f"messages_{number} * ceil((bytes_{number} + header_bytes) / element_bytes)")
    total = " + ".join(step.name for step in steps) or "0"
    for key, unit in (("messages", "messages"), ("entries", "entries")):
        yield Explanation(
            f"{at}/{key}",
            load.demand.messages,
            unit,
            total,
            tuple(inputs),
            Basis.DERIVED,
            _model_source(),
            tuple(steps),
        )
    yield Explanation(
        f"{at}/elements",
        load.demand.elements,
        "elements",
        f"ceil({' + '.join(terms) or '0'})",
        (*inputs, *element_inputs),
        Basis.DERIVED,
        tables.source("project", "The element model"),
        tuple(steps),
    )


def _messages_of(
    number: int, result: PlanResult, structure: StructureResult, inputs: list[Input], messages: int
) -> Step:
    """The backlog of one queue at the horizon; its inputs are added to `inputs`."""
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
    growth = result.document.growth
    factor = growth_factor(percent_per_year=growth.percent_per_year, years=growth.years)
    if number == 1:
        inputs.append(Input("growth_factor", factor, "", Basis.GIVEN))
    queue: Queue = structure.definition.queues[number - 1]
    if queue.put_rate_per_s is not None and queue.outage_minutes is not None:
        inputs.append(
            Input(f"put_rate_per_s_{number}", Fraction(queue.put_rate_per_s), "messages/s", Basis.GIVEN)
        )
        inputs.append(
            Input(f"outage_minutes_{number}", Fraction(queue.outage_minutes), "minutes", Basis.GIVEN)
        )
        return Step(
            name, f"ceil(put_rate_per_s_{number} * outage_minutes_{number} * 60 * growth_factor)", messages
        )
    inputs.append(Input(f"backlog_{number}", queue.backlog or 0, "messages", Basis.GIVEN))
    return Step(name, f"ceil(backlog_{number} * growth_factor)", messages)


@dataclass(frozen=True, slots=True)
class _Phases:
    """The steps of a structure filling, phase by phase, and the inputs they use."""

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    names: tuple[str, ...]


def _rates(structure: StructureResult, limit: int) -> tuple[Fraction, Fraction, Fraction]:
    load = structure.load
    if load is None:
        raise AssertionError  # pragma: no cover - callers have a load
    two = model_constant("offloaded_message_elements")
    elements = offloaded = pages = 0
    for band in load.demand.bands:
        if band.over_bytes >= limit:
            elements, offloaded, pages = (
                elements + two * band.messages,
                offloaded + band.messages,
                pages + band.pages,
            )
        else:
            elements += band.elements
    scale = load.demand.scale
    return Fraction(elements, scale), Fraction(offloaded, scale), Fraction(pages, scale)


def _phases(
    structure: StructureResult, rules: tuple[Rule, ...], *, entries_total: str, size: tuple[Input, ...]
) -> _Phases:
    """One bundle count filling, as formulas: at which share of the backlog each rule starts."""
    load, curve = structure.load, structure.curve
    if load is None:
        raise AssertionError  # pragma: no cover - callers have a load
    bundle, per_entry = curve.bundle_at(load.ratio)
    inputs = [
        *curve_inputs(curve)[:1],
        Input("bytes_per_mib", MIB, "bytes", Basis.PUBLISHED),
        Input(
            "bundle_bytes",
            bundle,
            "bytes",
            curve.factor_basis if bundle == curve.bundle else Basis.ASSUMED,
            curve.factor_source,
        ),
        Input(
            "elements_per_entry",
            per_entry,
            "elements",
            Basis.DERIVED,
            tables.constants("element_model")["ratio_elements"].source,
        ),
        Input("messages", load.demand.messages, "messages", Basis.DERIVED),
        *size,
    ]
    values: dict[str, Fraction] = {item.name: Fraction(item.value) for item in inputs}
    steps: list[Step] = []

    def step(name: str, formula: str, value: Fraction) -> None:
        steps.append(Step(name, formula, value))
        values[name] = value

    total = Fraction(1)
    if entries_total != "1":
        total = max(Fraction(0), (values["size_bytes"] - curve.base) / bundle)
    step("entries_total", entries_total, total)
    step("elements_total", "entries_total * elements_per_entry", total * per_entry)
    active = sorted(
        (r for r in rules if r.is_on and can_fire(r, load.demand)), key=lambda r: (r.threshold, -r.size_bytes)
    )
    limit = load.demand.bands[-1].over_bytes
    names: list[str] = []
    share = used = Fraction(0)
    for phase, rule in enumerate((*active, None), start=1):
        goal = rule.threshold if rule else _PERCENT
        elements, offloaded, pages = _rates(structure, limit)
        for name, value in (("elements", elements), ("offloaded", offloaded), ("pages", pages)):
            inputs.append(Input(f"{name}_in_phase_{phase}", value, name, Basis.DERIVED, _model_source()))
        inputs.append(Input(f"percent_{phase}", goal, "percent", Basis.GIVEN))
        before, used_before = (f"share_{phase - 1}", f"used_{phase - 1}") if phase > 1 else ("0", "0")
        run = min(
            (goal * total / _PERCENT - share * load.demand.messages) / load.demand.messages,
            (goal * total * per_entry / _PERCENT - used) / elements,
        )
        now = share + max(Fraction(0), run)
        step(
            f"share_{phase}",
            f"{before} + max(0, min((percent_{phase} / 100 * entries_total - {before} * messages) / messages, "
            f"(percent_{phase} / 100 * elements_total - {used_before}) / elements_in_phase_{phase}))",
            now,
        )
        used += (now - share) * elements
        step(f"used_{phase}", f"{used_before} + (share_{phase} - {before}) * elements_in_phase_{phase}", used)
        share = now
        names.append(f"share_{phase}")
        if rule:
            limit = min(limit, rule.size_bytes)
    return _Phases(tuple(inputs), tuple(steps), tuple(names))


_IN_SIZE = "max(0, (size_bytes - base_mib * bytes_per_mib) / bundle_bytes)"


def _need(figure: str, structure: StructureResult) -> Explanation:
    load, definition = structure.load, structure.definition
    if load is None:
        raise AssertionError  # pragma: no cover - callers have a load
    if (
        load.with_offload is not None
        and isinstance(definition, Structure)
        and definition.size_with_offload
        and load.rules
    ):
        phases = _phases(structure, load.rules, entries_total="1", size=())
        return Explanation(
            figure,
            structure.sizes.need_bytes,
            "bytes",
            f"ceil(base_mib * bytes_per_mib + bundle_bytes / {phases.names[-1]})",
            phases.inputs,
            Basis.ASSUMED,
            _model_source(),
            phases.steps,
        )
    return explain_size(
        figure,
        entries=load.demand.entries,
        elements=load.demand.elements,
        curve=structure.curve,
        ratio=load.ratio,
        value=structure.sizes.need_bytes,
    )


def _capacities(at: str, structure: StructureResult) -> Iterator[Explanation]:
    load, sizes = structure.load, structure.sizes
    if load is None:
        return
    for key, value in (("initsize", sizes.initsize_bytes), ("size", sizes.size_bytes)):
        size = (
            Input(
                "size_bytes",
                value,
                "bytes",
                Basis.GIVEN if getattr(sizes, f"{key}_is_given") else Basis.DERIVED,
            ),
        )
        for offload in (False, True):
            figure = f"{at}/messages_in_{key}{'_with_offload' if offload else ''}"
            held = getattr(load, f"messages_in_{key}")(offload=offload)
            if load.plain is None:
                yield Explanation(figure, held, "messages", "0", (), Basis.DERIVED, _model_source())
                continue
            phases = _phases(structure, load.rules if offload else (), entries_total=_IN_SIZE, size=size)
            basis = Basis.ASSUMED if offload and len(phases.names) > 1 else Basis.DERIVED
            yield Explanation(
                figure,
                held,
                "messages",
                f"floor({phases.names[-1]} * messages)",
                phases.inputs,
                basis,
                _model_source(),
                phases.steps,
            )
    yield from _at_backlog(at, structure)


def _at_backlog(at: str, structure: StructureResult) -> Iterator[Explanation]:
    """Usage, offloaded messages and SMDS with the planned backlog in INITSIZE."""
    load, sizes = structure.load, structure.sizes
    if load is None:
        return
    peak = hundredths(structure.peak_usage_percent)
    if load.plain is None or structure.at_backlog is None:
        yield Explanation(
            f"{at}/peak_usage_percent",
            Fraction(peak),
            "percent",
            str(int(peak)),
            (),
            Basis.DERIVED,
            _model_source(),
        )
        yield Explanation(
            f"{at}/offloaded_at_backlog", 0, "messages", "0", (), Basis.DERIVED, _model_source()
        )
        phases = _Phases((), (), ())
    else:
        size = (Input("size_bytes", sizes.initsize_bytes, "bytes", Basis.DERIVED),)
        phases = _phases(structure, load.rules, entries_total=_IN_SIZE, size=size)
        used, offloaded = _until_backlog(phases, "elements"), _until_backlog(phases, "offloaded")
        yield Explanation(
            f"{at}/peak_usage_percent",
            Fraction(peak),
            "percent",
            f"ceil(10000 * max(min(1, {phases.names[-1]}) * messages / entries_total, ({used}) / elements_total)) / 100",
            phases.inputs,
            Basis.ASSUMED if load.rules else Basis.DERIVED,
            _model_source(),
            phases.steps,
        )
        yield Explanation(
            f"{at}/offloaded_at_backlog",
            structure.offloaded_at_backlog,
            "messages",
            f"ceil({offloaded})",
            phases.inputs,
            Basis.ASSUMED if load.rules else Basis.DERIVED,
            _model_source(),
            phases.steps,
        )
        for number, point in enumerate(load.with_offload.starts if load.with_offload else ()):
            yield Explanation(
                f"{at}/offload_steps/{number}/at_messages",
                load.with_offload.messages_at(point, load.bundles_in_initsize) if load.with_offload else 0,
                "messages",
                f"floor({phases.names[number]} * messages)",
                phases.inputs,
                Basis.ASSUMED,
                _model_source(),
                phases.steps,
            )
    if structure.smds is not None and isinstance(structure.definition, Structure):
        yield from _smds(at, structure, structure.definition, phases)


def _until_backlog(phases: _Phases, what: str) -> str:
    """A quantity summed over the phases up to the planned backlog, or until the structure is full."""
    terms = []
    for number, name in enumerate(phases.names, start=1):
        before = f"min(1, {phases.names[number - 2]})" if number > 1 else "0"
        terms.append(f"(min(1, {name}) - {before}) * {what}_in_phase_{number}")
    return " + ".join(terms) or "0"


def _smds(
    at: str, structure: StructureResult, definition: Structure, phases: _Phases
) -> Iterator[Explanation]:
    need, load, constants = structure.smds, structure.load, tables.constants("smds")
    if need is None or load is None:
        return
    source = tables.source("project", "SMDS space")
    space = (
        constants["page_bytes"].as_input(),
        constants["space_map_percent"].as_input(),
        Input("dsblock_bytes", definition.offload.dsblock, "bytes", Basis.GIVEN),
    )
    formula = "round_up(ceil(({}) * page_bytes * (1 + space_map_percent / 100)), dsblock_bytes)"
    pages = _until_backlog(phases, "pages")
    yield Explanation(
        f"{at}/smds/data_set_bytes_at_backlog",
        need.at_backlog_bytes,
        "bytes",
        formula.format(pages),
        (*phases.inputs, *space),
        Basis.ASSUMED,
        source,
        phases.steps,
    )
    if load.plain is None:
        when_full = _Phases((), (), ())
    else:
        size = (Input("size_bytes", structure.sizes.size_bytes, "bytes", Basis.DERIVED),)
        when_full = _phases(structure, load.rules, entries_total=_IN_SIZE, size=size)
    at_backlog = structure.at_backlog.pages if structure.at_backlog is not None else Fraction(0)
    all_pages = " + ".join(
        f"({name} - {when_full.names[number - 1] if number else '0'}) * pages_in_phase_{number + 1}"
        for number, name in enumerate(when_full.names)
    )
    yield Explanation(
        f"{at}/smds/data_set_bytes_when_full",
        need.when_full_bytes,
        "bytes",
        formula.format(f"max(pages_at_backlog, {all_pages or '0'})"),
        (*when_full.inputs, Input("pages_at_backlog", at_backlog, "pages", Basis.ASSUMED, source), *space),
        Basis.ASSUMED,
        source,
        when_full.steps,
    )
    buffers = Input("dsbufs", definition.offload.dsbufs, "buffers", Basis.GIVEN)
    yield Explanation(
        f"{at}/smds/buffer_bytes_per_queue_manager",
        need.buffers_bytes,
        "bytes",
        "dsbufs * dsblock_bytes",
        (buffers, space[2]),
        Basis.DERIVED,
        constants["default_dsbufs"].source,
    )
