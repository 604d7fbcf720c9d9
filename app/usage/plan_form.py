"""The form for the details of a plan that measurements do not contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.usage.planning import PlanQuestion, QueueKey, Reckoning
from app.web.forms import Form, FormField, Options, filled, read_fields, read_pairs, sentence, sort_errors
from planner_core.errors import FieldProblem
from planner_core.wire import JsonObject

LONGEST = 200
P95 = "p95:"
"""Prefix of the field for the 95th percentile of a queue, followed by STRUCTURE/QUEUE."""
_BACKLOG: Options = (
    ("depth", "the highest measured depth"),
    ("rate", "the puts of the busiest measured hour, for an outage of"),
)
_SIZES: Options = (
    ("mean", "the measured mean: suitable for many messages of similar size"),
    ("largest", "the measured maximum: errs on the safe side"),
)
# Calculation methods have defaults, but facts have none, because a guess would look like a measurement.
HOW = (
    FormField("backlog", "Backlog", "choice", "depth", options=_BACKLOG),
    FormField("outage_minutes", "Longest outage", "decimal"),
    FormField("sizes", "Message sizes", "choice", "mean", options=_SIZES),
    FormField("persistent_when_unknown", "If persistence was not measured", "choice"),
)
FIELDS = (
    FormField("name", "Name of the plan"),
    FormField("queue_managers", "Queue managers", "managers", required=True),
    FormField("cfcc_level", "CFCC level", "whole", required=True),
    FormField("coupling_facilities", "Coupling facilities", "names"),
    *HOW,
)


@dataclass(frozen=True, slots=True)
class PlanForm(Form):
    """All fields as typed, and the ticked queues."""

    queues: frozenset[QueueKey] = frozenset()
    action: str = "check"

    def with_problem(self, name: str, message: str) -> PlanForm:
        """Return the form with an error next to a field, or above all fields if no field has that name."""
        field = self.fields.get(name)
        if field is None:
            return replace(self, errors=(*self.errors, f"{name}: {message}" if name else message))
        error = field.error or sentence(message)
        return replace(self, fields={**self.fields, name: replace(field, error=error)})


def blank(
    name: str, queues: frozenset[QueueKey], *, queue_managers: str = "", coupling_facilities: str = ""
) -> PlanForm:
    """Return the form as it is first shown, with the observed values filled in."""
    texts = {"name": name, "queue_managers": queue_managers, "coupling_facilities": coupling_facilities}
    return PlanForm({field.name: field for field in filled(FIELDS, texts)}, queues=queues)


def read(body: bytes) -> tuple[PlanForm, Mapping[str, str], list[str]]:
    """Return the submitted form, the parameters of its period, and the structures that it lists.

    Raises:
        HTTPException: The body is not a form.
    """
    pairs = read_pairs(body)
    plain = {key: text.strip()[:LONGEST] for key, text in pairs}
    p95 = (
        FormField(key, f"95th percentile of {key_of(key.removeprefix(P95))[1]}", "whole")
        for key, text in plain.items()
        if key.startswith(P95) and text
    )
    empty = {field.name: "" for field in FIELDS}
    form = PlanForm(
        {field.name: field for field in filled((*FIELDS, *p95), {**empty, **plain})},
        queues=frozenset(key_of(text) for key, text in pairs if key == "queue"),
        action=plain.get("do", "check"),
    )
    return form, plain, [text for key, text in pairs if key == "structure"]


def key_of(text: str) -> QueueKey:
    """Return the structure and the queue from `STRUCTURE/QUEUE`; a queue name may contain more slashes."""
    # The name of a structure cannot have a slash.
    structure, _, queue = text.partition("/")
    return structure, queue


def asked_of(form: PlanForm) -> tuple[PlanForm, PlanQuestion | None]:
    """Return the form with its errors, and the question that it asks, or None if it has errors."""
    form, values = _read(form, needs_outage=True)
    level = values["cfcc_level"]
    if isinstance(level, int) and not 1 <= level <= 99:  # noqa: PLR2004 - as the plan document has it
        form = form.with_problem("cfcc_level", "must be between 1 and 99")
    if form.has_errors:
        return form, None
    return form, PlanQuestion(
        queue_managers=values["queue_managers"],
        cfcc_level=level,
        coupling_facilities=tuple(values["coupling_facilities"] or ()),
        **_reckoning(form, values),
    )


def reckoning_of(form: PlanForm, *, needs_outage: bool) -> tuple[PlanForm, Reckoning | None]:
    """Return the form with its errors, and how to convert measured figures, or None if it has errors."""
    form, values = _read(form, needs_outage=needs_outage, of_plan=False)
    return form, None if form.has_errors else Reckoning(**_reckoning(form, values))


def _read(form: PlanForm, *, needs_outage: bool, of_plan: bool = True) -> tuple[PlanForm, dict[str, Any]]:
    by_rate = form["backlog"].value == "rate"
    outage = replace(form["outage_minutes"], required=needs_outage and by_rate)
    # Text left in the field of the method that was not chosen must not cause an error.
    fields = {**form.fields, outage.name: outage if by_rate else replace(outage, value="")}
    # The form for an existing plan does not have the fields whose values come from the plan.
    others = {field.name for field in FIELDS} - {field.name for field in HOW}
    values, errors = read_fields(field for name, field in fields.items() if of_plan or name not in others)
    if not form.queues:
        form = form.with_problem("", "Select at least one queue.")
    for name, message in errors.items():
        form = form.with_problem(name, message)
    for field in HOW:
        if field.options and values[field.name] not in dict(field.options):
            form = form.with_problem(field.name, "Choose one.")
    return form, values


def _reckoning(form: PlanForm, values: Mapping[str, Any]) -> dict[str, Any]:
    p95 = {key_of(name.removeprefix(P95)): value for name, value in values.items() if name.startswith(P95)}
    return {
        "backlog": values["backlog"],
        "outage_minutes": values["outage_minutes"],
        "sizes": values["sizes"],
        "persistent_when_unknown": {"yes": True, "no": False}.get(values["persistent_when_unknown"]),
        "p95_bytes": {key: value for key, value in p95.items() if key in form.queues},
    }


def with_document_problems(
    form: PlanForm, problems: Sequence[FieldProblem], structures: Sequence[JsonObject]
) -> PlanForm:
    """Return the form with the errors of the core next to the fields that caused them."""

    def field_of(pointer: str) -> str:
        parts = pointer.strip("/").split("/")
        if parts[0] == "structures" and "message_bytes" in parts:
            structure = structures[int(parts[1])]
            return f"{P95}{structure['name']}/{structure['queues'][int(parts[3])]['name']}"
        return parts[0] if parts[0] in form.fields else ""

    by_field, general = sort_errors(problems, field_of)
    for name, found in by_field.items():
        field = form.fields.get(name, FormField(name, f"95th percentile of {key_of(name)[1]}", "whole"))
        error = field.error or sentence(found[0].message)
        form = replace(form, fields={**form.fields, name: replace(field, error=error)})
    for problem in general:
        form = form.with_problem(
            "", f"{problem.field}: {problem.message}" if problem.field else problem.message
        )
    return form
