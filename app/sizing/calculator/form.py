"""The form of the quick calculator: it reads a plan document from texts, and assigns errors of the core to fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from app.web.forms import (
    Form,
    FormField,
    Options,
    field_at,
    filled,
    places_of,
    read_fields,
    sentence,
    sort_errors,
)
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, FieldProblem
from planner_core.units import ceil_fraction

_YES_NO: Options = (("yes", "yes"), ("no", "no"))
FIELDS = (
    FormField(
        "backlog_by",
        "How to enter the backlog",
        "choice",
        "messages",
        options=(
            ("messages", "number of messages"),
            ("rate", "messages per minute \N{MULTIPLICATION SIGN} outage minutes"),
        ),
    ),
    FormField(
        "messages", "Messages", "whole", "200000", required=True, place="structures/0/queues/0/backlog"
    ),
    FormField("rate_per_minute", "Arrival rate", "decimal", "600", required=True),
    FormField("outage_minutes", "Longest outage", "decimal", "60", required=True),
    FormField("overflow_minutes", "Overflow to storage-class memory", "decimal", "0", required=True),
    FormField(
        "message_bytes",
        "Message size",
        "bytes",
        "1024",
        required=True,
        place="structures/0/queues/0/message_bytes",
    ),
    FormField("persistent", "Persistence", "choice", "yes", options=_YES_NO),
    FormField("cfcc_level", "CFCC level", "whole", "25", required=True),
    FormField("queue_managers", "Queue managers", "whole", "5", required=True),
    FormField("qsg", "Queue-sharing group", "name", "SQ03", required=True),
    FormField("structure", "CFSTRUCT", "name", "APPLICATION1", required=True, place="structures/0/name"),
    FormField("queue", "Queue", "text", "APPLICATION1.IN", required=True, place="structures/0/queues/0/name"),
    FormField("coupling_facilities", "PREFLIST", "names", "CF01 CF02"),
    FormField("target_usage_percent", "Maximum usage at the backlog", "decimal", "80", required=True),
    FormField("headroom_percent", "Headroom in INITSIZE", "decimal"),
    FormField("size_factor", "SIZE as a multiple of INITSIZE", "decimal", "1.5", required=True),
    FormField(
        "full_threshold", "FULLTHRESHOLD", "whole", "85", required=True, place="structures/0/full_threshold"
    ),
    FormField("dsgroup", "DSGROUP", "name", place="structures/0/offload/dsgroup"),
    FormField("csqsysappl", "CSQSYSAPPL", "choice", "yes", options=_YES_NO),
    FormField(
        "shared_channels", "Shared channels", "whole", "500", required=True, place="system/shared_channels"
    ),
)
"""All fields in order, with the values of the example, which an address without parameters shows."""
DEFAULTS: Mapping[str, str] = {field.name: field.value for field in FIELDS}
FEWER_SEEN = (
    "target_usage_percent",
    "headroom_percent",
    "size_factor",
    "full_threshold",
    "dsgroup",
    "csqsysappl",
    "shared_channels",
)
"""Fields that are collapsed until one of them is used."""

LONGEST_KEPT = 500
"""Maximum number of characters of a field that are read and shown again."""

_PLACES = {
    **places_of(FIELDS, ""),
    # A document names the coupling facilities twice, and the form has one field for both places.
    "/structures/0/preflist": "coupling_facilities",
}
_BY_RATE = frozenset({"rate_per_minute", "outage_minutes", "overflow_minutes"})


@dataclass(frozen=True, slots=True)
class QuickForm(Form):
    """The fields as typed, and errors of the whole form."""

    is_example: bool = False
    overflow_messages: int = 0
    """Messages that arrive in the minutes for which storage-class memory is planned, after the outage."""

    @property
    def is_unfolded(self) -> bool:
        """Whether rarely used fields are shown, because one of them is in use or has an error."""
        return any(self[name].error or self[name].value != DEFAULTS[name] for name in FEWER_SEEN)

    @property
    def short_query(self) -> str:
        """The query string of an address that fills in the form again, without the fields that have their defaults."""
        return urlencode(
            {name: field.value for name, field in self.fields.items() if field.value != DEFAULTS[name]}
        )

    def with_problems(self, problems: Iterable[FieldProblem]) -> QuickForm:
        """Return the form with the errors of the core next to their fields."""
        by_field, general = sort_errors(problems, self.field_of)
        fields = {
            name: replace(field, error=field.error or sentence(by_field[name][0].message))
            if name in by_field
            else field
            for name, field in self.fields.items()
        }
        return replace(self, fields=fields, errors=(*self.errors, *(problem.message for problem in general)))

    def field_of(self, pointer: str | None) -> str:
        """Return the field that supplied a place of the plan document, or an empty text."""
        name = field_at(pointer, _PLACES)
        return "rate_per_minute" if name == "messages" and self["backlog_by"].value == "rate" else name


def read_form(query: Mapping[str, str]) -> tuple[QuickForm, PlanDocument | None]:
    """Return the form as typed, and its plan document, or None if a field has an error.

    Args:
        query: The parameters of the address; missing fields get their defaults.
    """
    texts = {name: query.get(name, default)[:LONGEST_KEPT].strip() for name, default in DEFAULTS.items()}
    for field in FIELDS:
        if field.options and texts[field.name] not in dict(field.options):
            texts[field.name] = field.value
    # Fields of the other method are not used, so errors in them must not prevent an answer.
    unused = {"messages"} if texts["backlog_by"] == "rate" else _BY_RATE
    values, errors = read_fields(field for field in filled(FIELDS, texts) if field.name not in unused)
    # A default replaces each unreadable text, so that the core can check the rest of the document.
    defaults, _ = read_fields(FIELDS)
    document = _document({**values, **{name: defaults[name] for name in errors}})
    form = QuickForm(
        {field.name: field for field in filled(FIELDS, texts, errors)},
        is_example=not any(name in query for name in DEFAULTS),
        overflow_messages=_arrived(values, "overflow_minutes")
        if texts["backlog_by"] == "rate" and not errors
        else 0,
    )
    try:
        plan = read_object(document)
    except DocumentInvalid as error:
        return form.with_problems(error.problems), None
    return form, None if form.has_errors else plan


def _arrived(values: Mapping[str, Any], minutes: str) -> int:
    """Return the messages that arrive in the minutes of a field."""
    # Rounded up, because part of a message needs the space of a whole one.
    return ceil_fraction(Fraction(values["rate_per_minute"]) * Fraction(values[minutes]))


def _document(values: Mapping[str, Any]) -> dict[str, object]:
    facilities = values["coupling_facilities"] or []
    has_system = values["csqsysappl"] == "yes"
    is_by_rate = values["backlog_by"] == "rate"
    backlog = _arrived(values, "outage_minutes") if is_by_rate else values["messages"]
    return {
        **{
            name: values[name]
            for name in (
                "qsg",
                "queue_managers",
                "cfcc_level",
                "target_usage_percent",
                "headroom_percent",
                "size_factor",
            )
        },
        "system": {
            "include": has_system,
            "shared_channels": values["shared_channels"],
            # The form has no field for group units of recovery, so none are planned without CSQSYSAPPL.
            **({} if has_system else {"group_ur_messages": 0}),
        },
        "coupling_facilities": [{"name": name} for name in facilities],
        "structures": [
            {
                "name": values["structure"],
                "full_threshold": values["full_threshold"],
                "preflist": facilities,
                "offload": {"dsgroup": values["dsgroup"]} if values["dsgroup"] else {},
                "queues": [
                    {
                        "name": values["queue"],
                        "message_bytes": values["message_bytes"],
                        "backlog": backlog,
                        "persistent": values["persistent"] == "yes",
                    }
                ],
            }
        ],
    }
