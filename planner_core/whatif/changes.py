"""The changes of a scenario, as a separate document, and their application to a plan document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, Field, ValidationError

from planner_core.document.model import Growth, OffloadRule, PlanDocument, Queue, Structure
from planner_core.document.problems import field_problems
from planner_core.document.reading import read_object
from planner_core.document.types import (
    MODEL,
    CfccLevel,
    CfName,
    CfstructName,
    Duplex,
    Percent,
    PrefList,
    SizeFactor,
    StructureSize,
    TargetPercent,
    Threshold,
)
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid
from planner_core.units import format_size
from planner_core.whatif.growth import raised
from planner_core.wire import Answer

WHAT = "The scenario"
Factor = Percent
"""A factor from 0 to 1000; the document type of percentages has the same bounds."""
_AS_KEPT = Context(prec=15)
"""The context that rounds results to the 15 digits of numbers in a plan document."""
_MOST_STRUCTURES = 512


class StructureChange(BaseModel):
    """Changes to one application structure; absent values stay the same."""

    model_config = MODEL
    name: CfstructName
    initsize: StructureSize | None = None
    size: StructureSize | None = None
    full_threshold: Threshold | None = None
    size_with_offload: bool | None = None
    duplex: Duplex | None = None
    preflist: PrefList | None = None
    offload_rules: Annotated[
        list[OffloadRule] | None,
        Field(max_length=3, description="All rules; they replace the plan's rules."),
    ] = None


class Changes(BaseModel):
    """Changes to a plan; absent values stay as in the plan."""

    model_config = MODEL
    cfcc_level: Annotated[CfccLevel | None, Field(description="CF control code level; not MQ's CFLEVEL.")] = (
        None
    )
    queue_managers: Annotated[
        Annotated[int, Field(ge=1, le=999)] | None,
        Field(description="Total queue managers defined to the group."),
    ] = None
    growth: Annotated[Growth | None, Field(description="Replaces the plan's growth.")] = None
    target_usage_percent: Annotated[
        TargetPercent | None,
        Field(description="Replaces the plan's target, and its headroom, if any."),
    ] = None
    headroom_percent: Percent | None = None
    size_factor: SizeFactor | None = None
    rate_factor: Annotated[
        Factor | None, Field(description="Factor applied to arrival rates and backlogs.")
    ] = None
    outage_factor: Annotated[Factor | None, Field(description="Factor applied to outages and backlogs.")] = (
        None
    )
    lost: Annotated[CfName | None, Field(description="The lost coupling facility.")] = None
    structures: Annotated[list[StructureChange], Field(max_length=_MOST_STRUCTURES)] = Field(
        default_factory=list
    )

    def as_json(self) -> dict[str, Any]:
        """Return only the changed values."""
        found = self.model_dump(mode="json", exclude_none=True)
        if not self.structures:
            del found["structures"]
        return found


@dataclass(frozen=True, slots=True)
class ScenarioChange(Answer):
    """The description of one change."""

    what: str
    structure: str | None
    pointer: Annotated[str, Field(description="JSON pointer to the field in the plan document.")]
    before: str
    after: str


def read_changes(changes: object) -> Changes:
    """Check the changes of a scenario.

    Raises:
        InputInvalid: Every problem with its JSON pointer, such as growth without a percentage.
    """
    if not isinstance(changes, dict):
        _refuse(FieldProblem("/changes", "must be an object, such as {'cfcc_level': 25}"))
    try:
        read = Changes.model_validate(changes)
    except ValidationError as error:
        found = field_problems(error, changes, model=Changes, what="a scenario's changes")
        _refuse(*(FieldProblem(f"/changes{each.field}", each.message) for each in found))
    if not read.as_json():
        _refuse(FieldProblem("/changes", "must have at least one change"))
    _check_growth(read.growth)
    return read


def _check_growth(growth: Growth | None) -> None:
    """Refuse growth with one of its two figures, because the default of the other, 0, would mean no growth."""
    if growth is None:
        return
    given = growth.model_fields_set
    if growth.years and "percent_per_year" not in given:
        message = "needs the annual growth in percent, such as 10; years alone do not change anything"
        _refuse(FieldProblem("/changes/growth/percent_per_year", message))
    if growth.percent_per_year and "years" not in given:
        message = "needs the number of years, such as 2; a percentage alone does not change anything"
        _refuse(FieldProblem("/changes/growth/years", message))


def applied(document: PlanDocument, changes: Changes) -> PlanDocument:
    """Return the plan document with the changes applied.

    Raises:
        InputInvalid: The changes do not fit the plan, or lead to an invalid document.
    """
    problems = tuple(_misfits(document, changes))
    if problems:
        _refuse(*problems)
    update: dict[str, object] = {
        key: value
        for key in ("queue_managers", "growth", "target_usage_percent", "headroom_percent", "size_factor")
        if (value := getattr(changes, key)) is not None
    }
    if changes.target_usage_percent is not None and changes.headroom_percent is None:
        update["headroom_percent"] = None  # A headroom would override the new target.
    if changes.cfcc_level is not None:
        update["cfcc_level"] = changes.cfcc_level
        update["coupling_facilities"] = [
            raised(each, changes.cfcc_level) for each in document.coupling_facilities
        ]
    by_name = {each.name: each for each in changes.structures}
    update["structures"] = [_structure(each, by_name.get(each.name), changes) for each in document.structures]
    update["clusters"] = [
        each.model_copy(
            update={
                "rate_per_s": _times(each.rate_per_s, changes.rate_factor),
                "outage_minutes": _times_or_none(each.outage_minutes, changes.outage_factor),
            }
        )
        for each in document.clusters
    ]
    changed = document.model_copy(update=update)
    # The queues of a large plan are almost all of it, and most changes do not concern them, so they are not checked again.
    same = [
        at
        for at, (old, new) in enumerate(zip(document.structures, changed.structures, strict=True))
        if old.queues is new.queues
    ]
    dumped = changed.model_dump(mode="json", exclude={"structures": {at: {"queues"} for at in same}})
    for at in same:
        dumped["structures"][at]["queues"] = changed.structures[at].queues
    try:
        # Each change may be valid alone and all of them together may not, such as INITSIZE and SIZE.
        checked = read_object(dumped)
    except DocumentInvalid as error:
        _refuse(*(_in_changes(each, changed, changes) for each in error.problems))
    # The lists themselves, so that evaluations of both plans can share what they know of their queues.
    structures = list(checked.structures)
    for at in same:
        structures[at] = structures[at].model_copy(update={"queues": document.structures[at].queues})
    return checked.model_copy(update={"structures": structures})


def _refuse(*problems: FieldProblem) -> NoReturn:
    raise InputInvalid(WHAT, problems) from None


def _misfits(document: PlanDocument, changes: Changes) -> Iterator[FieldProblem]:
    known = {each.name for each in document.structures}
    seen: set[str] = set()
    for index, each in enumerate(changes.structures):
        at = f"/changes/structures/{index}/name"
        if each.name not in known:
            yield FieldProblem(at, f"the plan has no application structure {each.name}")
        elif each.name in seen:
            yield FieldProblem(at, f"structure {each.name} appears twice")
        elif len(each.model_dump(exclude_none=True)) == 1:
            yield FieldProblem(at.removesuffix("/name"), f"does not change {each.name}")
        seen.add(each.name)
    if changes.lost is not None and changes.lost not in facilities_of(document):
        names = ", ".join(facilities_of(document)) or "none"
        yield FieldProblem("/changes/lost", f"the plan's coupling facilities are: {names}")


def facilities_of(document: PlanDocument) -> tuple[str, ...]:
    """Return the coupling facilities that a plan names: its own, and those of preference lists."""
    lists = [
        document.admin.preflist,
        document.system.preflist,
        *(each.preflist for each in document.structures),
    ]
    names = [
        *(each.name for each in document.coupling_facilities),
        *(name for each in lists for name in each),
    ]
    return tuple(dict.fromkeys(names))


def _in_changes(problem: FieldProblem, document: PlanDocument, changes: Changes) -> FieldProblem:
    """Return a problem of the changed document with the pointer of the scenario's value."""
    # The caller sent changes and not a document, so errors point into the changes.
    _, area, *rest = (*problem.field.split("/"), "")
    if area == "structures" and rest and rest[0].isdigit():
        name = document.structures[int(rest[0])].name
        for index, each in enumerate(changes.structures):
            if each.name == name:
                return FieldProblem(f"/changes/structures/{index}/{'/'.join(rest[1:-1])}", problem.message)
    return FieldProblem("/changes", f"in the changed plan {problem}")


def _times(value: Decimal, factor: Decimal | None) -> Decimal:
    # A product with more digits could not be stored in a plan document.
    return value if factor is None else _AS_KEPT.multiply(value, factor)


def _times_or_none(value: Decimal | None, factor: Decimal | None) -> Decimal | None:
    return None if value is None else _times(value, factor)


def _structure(structure: Structure, change: StructureChange | None, changes: Changes) -> Structure:
    update: dict[str, object] = {}
    if change is not None:
        update = {
            key: value
            for key in ("initsize", "size", "full_threshold", "size_with_offload", "duplex", "preflist")
            if (value := getattr(change, key)) is not None
        }
        if change.offload_rules is not None:
            update["offload"] = structure.offload.model_copy(update={"rules": change.offload_rules})
    if changes.rate_factor is not None or changes.outage_factor is not None:
        update["queues"] = [_queue(each, changes) for each in structure.queues]
    return structure.model_copy(update=update)


def _queue(queue: Queue, changes: Changes) -> Queue:
    """Return a queue with its put rate, outage or backlog multiplied; its get rate does not change."""
    rate, outage = changes.rate_factor, changes.outage_factor
    update: dict[str, object] = {
        "put_rate_per_s": _times_or_none(queue.put_rate_per_s, rate),
        "outage_minutes": _times_or_none(queue.outage_minutes, outage),
    }
    if queue.backlog is not None:
        # A stated backlog is rate times outage, so both factors multiply it.
        product = queue.backlog * (1 if rate is None else rate) * (1 if outage is None else outage)
        update["backlog"] = int(Decimal(product).to_integral_value(ROUND_CEILING))
    if queue.queue_manager_rates is not None:
        # Applications get as many messages as before (docs/explanation/assumptions.md, Scenarios).
        update["queue_manager_rates"] = {
            name: each.model_copy(update={"put_rate_per_s": _times(each.put_rate_per_s, rate)})
            for name, each in queue.queue_manager_rates.items()
        }
    return queue.model_copy(update=update)


def _number(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _growth(growth: Growth) -> str:
    if not growth.years or not growth.percent_per_year:
        return "none"
    years = _number(growth.years)
    return f"{_number(growth.percent_per_year)} % a year for {years} {'year' if years == '1' else 'years'}"


def rules_in_words(rules: list[OffloadRule]) -> str:
    """Return offload rules as text: `70 % over 32K, 80 % over 4K`."""
    said = [f"{each.usage_over} % over {format_size(each.size_over)}" for each in rules]
    return ", ".join(said) or "none"


def what_changes(document: PlanDocument, changes: Changes) -> Iterator[ScenarioChange]:
    """Yield a description of each change, with the value in the plan."""
    if changes.cfcc_level is not None:
        yield ScenarioChange(
            "CFCC level", None, "/cfcc_level", str(document.cfcc_level), str(changes.cfcc_level)
        )
    if changes.queue_managers is not None:
        yield ScenarioChange(
            "Queue managers",
            None,
            "/queue_managers",
            str(document.queue_manager_count),
            str(changes.queue_managers),
        )
    if changes.growth is not None:
        yield ScenarioChange("Growth", None, "/growth", _growth(document.growth), _growth(changes.growth))
    if changes.target_usage_percent is not None:
        now, then = _number(document.target_usage_percent), _number(changes.target_usage_percent)
        yield ScenarioChange(
            "Maximum usage at the backlog", None, "/target_usage_percent", f"{now} %", f"{then} %"
        )
    yield from _headroom_changes(document, changes)
    if changes.size_factor is not None:
        now, then = _number(document.size_factor), _number(changes.size_factor)
        yield ScenarioChange("SIZE as a multiple of INITSIZE", None, "/size_factor", now, then)
    for factor, what in (
        (changes.rate_factor, "Arrival rates and backlogs"),
        (changes.outage_factor, "Outages and backlogs"),
    ):
        if factor is not None:
            yield ScenarioChange(what, None, "/structures", "as planned", f"times {_number(factor)}")
    if changes.lost is not None:
        yield ScenarioChange("Lost coupling facility", None, "/coupling_facilities", "none", changes.lost)
    definitions = {each.name: (at, each) for at, each in enumerate(document.structures)}
    for change in changes.structures:
        index, structure = definitions[change.name]
        yield from _structure_changes(f"/structures/{index}", structure, change)


def _headroom_changes(document: PlanDocument, changes: Changes) -> Iterator[ScenarioChange]:
    """Yield the change of a headroom that a new target removes."""
    now, then = document.headroom_percent, changes.headroom_percent
    if then is not None or (now is not None and changes.target_usage_percent is not None):
        said = ("none" if each is None else f"{_number(each)} %" for each in (now, then))
        yield ScenarioChange("Headroom", None, "/headroom_percent", *said)


def _structure_changes(at: str, structure: Structure, change: StructureChange) -> Iterator[ScenarioChange]:
    def said(what: str, key: str, before: str, after: str) -> ScenarioChange:
        return ScenarioChange(what, structure.name, f"{at}/{key}", before, after)

    for key, word in (("initsize", "INITSIZE"), ("size", "SIZE")):
        then = getattr(change, key)
        if then is not None:
            now = getattr(structure, key)
            yield said(word, key, "computed" if now is None else format_size(now), format_size(then))
    if change.full_threshold is not None:
        now, then = structure.full_threshold, change.full_threshold
        yield said("FULLTHRESHOLD", "full_threshold", f"{now} %", f"{then} %")
    if change.size_with_offload is not None:
        words = {True: "active offload rules", False: "the entire backlog in the CF"}
        yield said(
            "Meet the need with",
            "size_with_offload",
            words[structure.size_with_offload],
            words[change.size_with_offload],
        )
    if change.duplex is not None:
        yield said("DUPLEX", "duplex", structure.duplex, change.duplex)
    if change.preflist is not None:
        now, then = (" ".join(each) or "all, in order" for each in (structure.preflist, change.preflist))
        yield said("PREFLIST", "preflist", now, then)
    if change.offload_rules is not None:
        yield said(
            "Offload rules",
            "offload/rules",
            rules_in_words(structure.offload.rules),
            rules_in_words(change.offload_rules),
        )
