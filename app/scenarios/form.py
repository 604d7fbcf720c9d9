"""The form of a scenario: it reads changes from texts, and assigns errors of the core to fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from app.web.forms import (
    FormField,
    Options,
    field_at,
    filled,
    places_of,
    sentence,
    sort_errors,
    texts_of,
    values_of,
)
from planner_core.document.model import PlanDocument, Structure
from planner_core.errors import FieldProblem
from planner_core.typed_numbers import unambiguous
from planner_core.units import format_size
from planner_core.whatif.changes import facilities_of, rules_in_words
from planner_core.wire import JsonObject

_DUPLEX: Options = tuple((each, each) for each in ("DISABLED", "ALLOWED", "ENABLED"))
_MET_WITH: Options = (("no", "the entire backlog in the CF"), ("yes", "offloading by the rules"))
_LONGEST = 200
_ABOUT = (FormField("name", "Name"), FormField("note", "Reason"))
_PLAN_FIELDS = (
    FormField("cfcc_level", "CFCC level", "whole"),
    FormField("queue_managers", "Queue managers in total", "whole"),
    FormField("growth_percent", "Annual growth", "decimal", unit="%", place="growth/percent_per_year"),
    FormField("growth_years", "Growth for", "decimal", unit="years", place="growth/years"),
    FormField("target_usage_percent", "Maximum usage at the backlog", "decimal", unit="%"),
    FormField("headroom_percent", "Headroom instead", "decimal", unit="%"),
    FormField("size_factor", "SIZE as a multiple of INITSIZE", "decimal"),
    FormField("rate_factor", "Factor for arrival rates and backlogs", "decimal"),
    FormField("outage_factor", "Factor for outages and backlogs", "decimal"),
    FormField("lost", "Lost coupling facility", "choice"),
)
_STRUCTURE_FIELDS = (
    FormField("initsize", "INITSIZE", "size"),
    FormField("size", "SIZE", "size"),
    FormField("full_threshold", "FULLTHRESHOLD", "whole", unit="%"),
    FormField("rules", "Offload rules", "rules", place="offload_rules"),
    FormField("preflist", "PREFLIST", "names"),
    FormField("duplex", "DUPLEX", "choice", options=_DUPLEX),
    FormField("met", "Meet the need with", "yes_no", options=_MET_WITH, place="size_with_offload"),
)


@dataclass(frozen=True, slots=True)
class StructurePart:
    """The fields of one structure."""

    name: str
    fields: tuple[FormField, ...]

    @property
    def is_open(self) -> bool:
        """Whether a field is filled in or has an error."""
        return any(each.value or each.error for each in self.fields)


@dataclass(frozen=True, slots=True)
class ScenarioForm:
    """All fields, and the errors that belong to none of them."""

    name: FormField
    note: FormField
    version: int
    fields: tuple[FormField, ...]
    structures: tuple[StructurePart, ...]
    errors: tuple[str, ...]


def scenario_form(
    document: PlanDocument, texts: Mapping[str, str], *, version: int, problems: Sequence[FieldProblem] = ()
) -> ScenarioForm:
    """Return the form as it was filled in, with errors and the values of the plan next to its fields."""
    places = _places(document, texts)
    by_field, general = sort_errors(problems, lambda pointer: field_at(pointer, places))
    errors = {name: _words(found[0]) for name, found in by_field.items()}
    name, note = filled(_ABOUT, texts, errors)
    current = _current(document)
    facilities: Options = tuple((each, each) for each in facilities_of(document))
    return ScenarioForm(
        name=name,
        note=note,
        version=version,
        fields=tuple(
            replace(field, current=current[field.name], options=facilities if field.name == "lost" else ())
            for field in filled(_PLAN_FIELDS, texts, errors)
            if facilities or field.name != "lost"
        ),
        structures=tuple(_part(each, texts, errors) for each in document.structures),
        errors=tuple(_words(each) for each in general),
    )


def left_over(document: PlanDocument, texts: Mapping[str, str]) -> tuple[FieldProblem, ...]:
    """Return a problem for each text about a structure that is not in this version of the plan."""
    # The form has no fields for these structures, so their texts would be lost without notice.
    known = {each.name for each in document.structures}
    labels = {field.name: field.label for field in _STRUCTURE_FIELDS}
    return tuple(
        FieldProblem(
            "/changes/structures",
            f"{labels[key]} {text.strip()} of {structure} was left out because this version of the plan has no such structure",
        )
        for name, text in texts.items()
        for structure, dot, key in (name.partition("."),)
        if dot and text.strip() and key in labels and structure not in known
    )


def changes_of(document: PlanDocument, texts: Mapping[str, str]) -> JsonObject:
    """Return the changes that the texts describe; the core checks them."""
    found = values_of(_PLAN_FIELDS, texts)
    if "growth" in found:
        # A change replaces the whole growth, so an empty field needs the value of the plan, if the plan has one.
        planned = {name: value for name, value in document.growth.model_dump().items() if value}
        found["growth"] = {**planned, **found["growth"]}
    parts = [
        {"name": each.name, **values}
        for each in document.structures
        if (values := values_of(_STRUCTURE_FIELDS, texts, at=f"{each.name}."))
    ]
    return {**found, "structures": parts} if parts else found


def texts_of_changes(changes: JsonObject, *, name: str, note: str) -> dict[str, str]:
    """Return the texts of the form for a saved scenario."""
    texts = {"name": name, "note": note, **texts_of(_PLAN_FIELDS, changes)}
    for part in changes.get("structures", ()):
        texts |= texts_of(_STRUCTURE_FIELDS, part, at=f"{part['name']}.")
    return texts


def shortened(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts cut to the length of a field, except the note, whose length the service checks."""
    return {key: text if key == "note" else text[:_LONGEST] for key, text in texts.items()}


def _places(document: PlanDocument, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the fields that supply the value at each pointer into a scenario."""
    # The core counts only the structures in the changes, while the form has all structures of the plan.
    changed = [part["name"] for part in changes_of(document, texts).get("structures", ())]
    places = {"/name": "name", "/note": "note", **places_of(_PLAN_FIELDS, "/changes")}
    places["/changes/growth"] = "growth_percent"
    for index, name in enumerate(changed):
        at = f"/changes/structures/{index}"
        # If the rules do not fit the plan, the core reports an error of its OFFLOAD.
        places |= {f"{at}/offload": f"{name}.rules", **places_of(_STRUCTURE_FIELDS, at, of=f"{name}.")}
    return places


def _words(problem: FieldProblem) -> str:
    if problem.field == "/changes":  # an empty form
        return "Enter at least one change."
    if problem.message in ("must be a list", "must be text in quotes, such as 'CF01'"):
        # The core's message mentions lists and quotes, which the fields of this form do not have.
        return "Use the format of the current value below."
    return sentence(problem.message)


def _current(document: PlanDocument) -> dict[str, str]:
    """Return the plan's value of each field."""

    def plain(value: Decimal) -> str:
        # As the fields read it: a reader may enter what the page shows.
        return unambiguous(value.normalize())

    return {
        "cfcc_level": str(document.cfcc_level),
        "queue_managers": str(document.queue_manager_count),
        "growth_percent": plain(document.growth.percent_per_year),
        "growth_years": plain(document.growth.years),
        "target_usage_percent": plain(document.target_usage_percent),
        "headroom_percent": "none" if document.headroom_percent is None else plain(document.headroom_percent),
        "size_factor": plain(document.size_factor),
        "rate_factor": "1",
        "outage_factor": "1",
        "lost": "none",
    }


def _part(structure: Structure, texts: Mapping[str, str], errors: Mapping[str, str]) -> StructurePart:
    shown = filled(_STRUCTURE_FIELDS, texts, errors, at=f"{structure.name}.")
    pairs = zip(shown, _current_of(structure), strict=True)
    return StructurePart(structure.name, tuple(replace(field, current=current) for field, current in pairs))


def _current_of(structure: Structure) -> Iterator[str]:
    """Yield the plan's value of each field of a structure."""
    yield "computed" if structure.initsize is None else format_size(structure.initsize)
    yield "computed" if structure.size is None else format_size(structure.size)
    yield str(structure.full_threshold)
    yield rules_in_words(structure.offload.rules)
    yield " ".join(structure.preflist) or "all, in order"
    yield structure.duplex
    yield dict(_MET_WITH)["yes" if structure.size_with_offload else "no"]
