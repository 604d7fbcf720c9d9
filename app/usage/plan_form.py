"""The form that asks for what measurements do not say: typed text → what a plan is made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import cast
from urllib.parse import parse_qsl

from fastapi import HTTPException

from app.plans.editor.typed import value_of
from app.sizing.calculator.form import CalculatorField
from app.usage.planning import Backlog, PlanQuestion, QueueKey, Reckoning, Sizes
from planner_core.errors import FieldProblem

MOST_PARAMETERS = 60_000
LONGEST = 200
LABELS: Mapping[str, str] = {
    "name": "Name of the plan",
    "queue_managers": "Queue managers",
    "cfcc_level": "CFCC level",
    "coupling_facilities": "Coupling facilities",
    "backlog": "Backlog",
    "outage_minutes": "Longest outage",
    "sizes": "Message sizes",
    "persistent_when_unknown": "Where persistence was not measured",
}
DEFAULTS: Mapping[str, str] = {"backlog": "depth", "sizes": "mean"}
"""Ways to reckon, not figures: whatever stands for a fact begins empty."""
P95 = "p95:"


@dataclass(frozen=True, slots=True)
class PlanForm:
    """All fields as typed, and which queues are ticked."""

    fields: Mapping[str, CalculatorField]
    queues: frozenset[QueueKey]
    p95: Mapping[QueueKey, str]
    wrong_p95: Mapping[QueueKey, str]
    errors: tuple[str, ...] = ()
    action: str = "check"

    def __getitem__(self, name: str) -> CalculatorField:
        return self.fields[name]

    @property
    def wrong(self) -> tuple[CalculatorField, ...]:
        """The fields that must be mended."""
        return tuple(field for field in self.fields.values() if field.error)

    @property
    def has_errors(self) -> bool:
        """Whether anything must be mended before there can be a plan."""
        return bool(self.errors or self.wrong or self.wrong_p95)

    def with_problem(self, name: str, message: str) -> PlanForm:
        """The same with what is wrong with a field."""
        field = self.fields.get(name)
        if field is None:
            return replace(self, errors=(*self.errors, f"{name}: {message}" if name else message))
        return replace(self, fields={**self.fields, name: replace(field, error=field.error or message)})


def blank(
    name: str, queues: frozenset[QueueKey], *, queue_managers: str = "", coupling_facilities: str = ""
) -> PlanForm:
    """The form as it is first shown, with what was observed."""
    given = {
        **DEFAULTS,
        "name": name,
        "queue_managers": queue_managers,
        "coupling_facilities": coupling_facilities,
    }
    return PlanForm(
        fields={key: CalculatorField(key, label, given.get(key, "")) for key, label in LABELS.items()},
        queues=queues,
        p95={},
        wrong_p95={},
    )


def read(body: bytes) -> tuple[PlanForm, Mapping[str, str], list[str]]:
    """The form as it was sent, the parameters of its period, and the structures that it lists.

    Raises:
        HTTPException: It is no form.
    """
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_PARAMETERS, errors="strict"
        )
    except (UnicodeDecodeError, ValueError):
        raise HTTPException(status_code=422, detail="The form cannot be read.") from None
    plain = {key: text.strip()[:LONGEST] for key, text in pairs}
    p95 = {
        key_of(key.removeprefix(P95)): text.strip()[:LONGEST]
        for key, text in pairs
        if key.startswith(P95) and text.strip()
    }
    form = PlanForm(
        fields={key: CalculatorField(key, label, plain.get(key, "")) for key, label in LABELS.items()},
        queues=frozenset(key_of(text) for key, text in pairs if key == "queue"),
        p95=p95,
        wrong_p95={},
        action=plain.get("do", "check"),
    )
    return form, plain, [text for key, text in pairs if key == "structure"]


def key_of(text: str) -> QueueKey:
    """`STRUCTURE/QUEUE`; a queue's name may have more slashes."""
    structure, _, queue = text.partition("/")
    return structure, queue


def asked_of(form: PlanForm) -> tuple[PlanForm, PlanQuestion | None]:
    """What the form asks for; None when something must be mended, which the form then says."""
    form, managers = _read(form, "queue_managers", "managers", "a number, or names with blanks between them")
    form, level = _read(form, "cfcc_level", "whole", "a whole number, such as 25")
    if isinstance(level, int) and not 1 <= level <= 99:  # noqa: PLR2004 - as the plan document has it
        form = form.with_problem("cfcc_level", "must be between 1 and 99")
    form, how = reckoning_of(form, needs_outage=True)
    if how is None:
        return form, None
    named = form["coupling_facilities"].value
    facilities = value_of("names", named) if named else []
    return form, PlanQuestion(
        queue_managers=cast("int | list[str]", managers),
        cfcc_level=cast("int", level),
        coupling_facilities=tuple(cast("list[str]", facilities)),
        backlog=how.backlog,
        outage_minutes=how.outage_minutes,
        sizes=how.sizes,
        persistent_when_unknown=how.persistent_when_unknown,
        p95_bytes=how.p95_bytes,
    )


def reckoning_of(form: PlanForm, *, needs_outage: bool) -> tuple[PlanForm, Reckoning | None]:
    """How the form has measured figures become those of a plan; None when anything in it must be mended."""
    values = {key: field.value for key, field in form.fields.items()}
    if not form.queues:
        form = form.with_problem("", "Tick at least one queue.")
    outage: Decimal | None = None
    if values["backlog"] == "rate" and (needs_outage or values["outage_minutes"]):
        form, minutes = _read(form, "outage_minutes", "decimal", "a number of minutes")
        outage = Decimal(str(minutes)) if isinstance(minutes, (int, Decimal)) else None
    p95: dict[QueueKey, int] = {}
    wrong: dict[QueueKey, str] = {}
    for key, text in form.p95.items():
        read_p95 = value_of("whole", text)
        if isinstance(read_p95, int) and read_p95 >= 0:
            p95[key] = read_p95
        else:
            wrong[key] = "a whole number of bytes"
    form = replace(form, wrong_p95=wrong)
    for name, choices in (("backlog", ("depth", "rate")), ("sizes", ("mean", "largest"))):
        if values[name] not in choices:
            form = form.with_problem(name, "choose one")
    if form.has_errors:
        return form, None
    return form, Reckoning(
        backlog=cast("Backlog", values["backlog"]),
        outage_minutes=outage,
        sizes=cast("Sizes", values["sizes"]),
        persistent_when_unknown={"yes": True, "no": False}.get(values["persistent_when_unknown"]),
        p95_bytes={key: value for key, value in p95.items() if key in form.queues},
    )


def _read(form: PlanForm, name: str, kind: str, wanted: str) -> tuple[PlanForm, object]:
    text = form[name].value
    if not text:
        return form.with_problem(name, f"is needed: {wanted}"), None
    value = value_of(kind, text)  # type: ignore[arg-type]
    if isinstance(value, str):
        return form.with_problem(name, f"must be {wanted}"), None
    return form, value


def with_document_problems(
    form: PlanForm, problems: tuple[FieldProblem, ...], structures: list[dict[str, object]]
) -> PlanForm:
    """The same form with what the core found wrong, beside the fields that it came from."""
    for problem in problems:
        parts = problem.field.strip("/").split("/")
        if parts[0] == "structures" and "message_bytes" in parts:
            at = structures[int(parts[1])]
            queues = cast("list[dict[str, str]]", at["queues"])
            key = (str(at["name"]), queues[int(parts[3])]["name"])
            form = replace(form, wrong_p95={**form.wrong_p95, key: problem.message})
        elif parts[0] in form.fields:
            form = form.with_problem(parts[0], problem.message)
        else:
            form = form.with_problem(
                "", f"{problem.field}: {problem.message}" if problem.field else problem.message
            )
    return form
