"""The fields of the quick calculator: typed text → plan document, and what is wrong with which field.

Everything is converted here, once: rates per minute and outages into a backlog, texts into numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from urllib.parse import urlencode

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, FieldProblem, SizeSyntax
from planner_core.units import ceil_fraction, parse_size

DEFAULTS: Mapping[str, str] = {
    "backlog_by": "messages",
    "messages": "200000",
    "rate_per_minute": "600",
    "outage_minutes": "60",
    "message_bytes": "1024",
    "persistent": "yes",
    "cfcc_level": "25",
    "queue_managers": "5",
    "qsg": "SQ03",
    "structure": "APPLICATION1",
    "queue": "APPLICATION1.IN",
    "coupling_facilities": "CF01 CF02",
    "target_usage_percent": "80",
    "headroom_percent": "",
    "size_factor": "1.5",
    "full_threshold": "85",
    "dsgroup": "",
    "csqsysappl": "yes",
    "shared_channels": "500",
}
"""Every field in its order, and the example that an empty address shows."""

LABELS: Mapping[str, str] = {
    "backlog_by": "How the backlog is given",
    "messages": "Messages",
    "rate_per_minute": "Arrival rate",
    "outage_minutes": "Longest outage",
    "message_bytes": "Message size",
    "persistent": "Persistence",
    "cfcc_level": "CFCC level",
    "queue_managers": "Queue managers",
    "qsg": "Queue-sharing group",
    "structure": "CFSTRUCT",
    "queue": "Queue",
    "coupling_facilities": "PREFLIST",
    "target_usage_percent": "Usage at the backlog, at most",
    "headroom_percent": "Headroom in INITSIZE",
    "size_factor": "SIZE is INITSIZE times",
    "full_threshold": "FULLTHRESHOLD",
    "dsgroup": "DSGROUP",
    "csqsysappl": "CSQSYSAPPL",
    "shared_channels": "Shared channels",
}

CHOICES: Mapping[str, tuple[str, ...]] = {
    "backlog_by": ("messages", "rate"),
    "persistent": ("yes", "no"),
    "csqsysappl": ("yes", "no"),
}
FEWER_SEEN = (
    "target_usage_percent",
    "headroom_percent",
    "size_factor",
    "full_threshold",
    "dsgroup",
    "csqsysappl",
    "shared_channels",
)
"""Fields that stay folded away until one of them is used."""

LONGEST_KEPT = 500
"""Characters of a field that are read and shown again."""
LONGEST_NUMBER = 24

_GROUPED = re.compile(r"\d{1,3}(?:([ ,_\u00a0\u2009\u202f'])\d{3})(?:\1\d{3})*")
_WHOLE = re.compile(r"\d+", re.ASCII)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?|\.\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class CalculatorField:
    """One field: its name, its label, the text in it, and what is wrong with that; empty when nothing is."""

    name: str
    label: str
    value: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class QuickForm:
    """All fields as typed, and what is wrong with the form as a whole."""

    fields: Mapping[str, CalculatorField]
    is_example: bool
    errors: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> CalculatorField:
        return self.fields[name]

    @property
    def has_errors(self) -> bool:
        """Whether anything must be mended before there can be an answer."""
        return bool(self.errors) or any(field.error for field in self.fields.values())

    @property
    def wrong(self) -> tuple[CalculatorField, ...]:
        """The fields that must be mended."""
        return tuple(field for field in self.fields.values() if field.error)

    @property
    def is_unfolded(self) -> bool:
        """Whether the fields that few need are shown: one of them is in use or wrong."""
        return any(self[name].error or self[name].value != DEFAULTS[name] for name in FEWER_SEEN)

    @property
    def query(self) -> str:
        """The fields as the query of an address that shows this answer again."""
        return urlencode({name: field.value for name, field in self.fields.items()})

    def with_problems(self, problems: Iterable[FieldProblem]) -> QuickForm:
        """The same form with what the core found wrong beside the fields it came from."""
        fields, errors = dict(self.fields), list(self.errors)
        for problem in problems:
            name = self.field_of(problem.field)
            if name is None:
                errors.append(problem.message)
            elif not fields[name].error:
                fields[name] = replace(fields[name], error=_sentence(problem.message))
        return replace(self, fields=fields, errors=tuple(errors))

    def field_of(self, pointer: str | None) -> str | None:
        """The field that a place in the plan document was filled from."""
        for pattern, name in _ORIGIN:
            if pattern.fullmatch(pointer or ""):
                if name == "messages" and self["backlog_by"].value == "rate":
                    return "rate_per_minute"
                return name
        return None


_ORIGIN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"/qsg", "qsg"),
        (r"/queue_managers", "queue_managers"),
        (r"/cfcc_level", "cfcc_level"),
        (r"/target_usage_percent", "target_usage_percent"),
        (r"/headroom_percent", "headroom_percent"),
        (r"/size_factor", "size_factor"),
        (r"/system/shared_channels", "shared_channels"),
        (r"/coupling_facilities.*", "coupling_facilities"),
        (r"/structures/0/name", "structure"),
        (r"/structures/0/preflist.*", "coupling_facilities"),
        (r"/structures/0/full_threshold", "full_threshold"),
        (r"/structures/0/offload/dsgroup", "dsgroup"),
        (r"/structures/0/queues/0/name", "queue"),
        (r"/structures/0/queues/0/message_bytes", "message_bytes"),
        (r"/structures/0/queues/0/backlog", "messages"),
    )
)


def read_form(query: Mapping[str, str]) -> tuple[QuickForm, PlanDocument | None]:
    """The form as typed, and the document it stands for when nothing is wrong with it.

    Args:
        query: The parameters of the address; a field that is missing has its default.
    """
    typed = {name: query.get(name, default)[:LONGEST_KEPT].strip() for name, default in DEFAULTS.items()}
    for name, allowed in CHOICES.items():
        if typed[name] not in allowed:
            typed[name] = DEFAULTS[name]
    reader = _Reader(typed)
    document = reader.document()
    form = QuickForm(
        fields={
            name: CalculatorField(name, LABELS[name], value, reader.errors.get(name, ""))
            for name, value in typed.items()
        },
        is_example=not any(name in query for name in DEFAULTS),
    )
    try:
        plan = read_object(document)
    except DocumentInvalid as error:
        return form.with_problems(error.problems), None
    return form, None if form.has_errors else plan


class _Reader:
    """Reads texts into the values of a document and keeps what is wrong, by field.

    For a text that cannot be read the default stands in, so that the rest of the document can be checked too.
    """

    def __init__(self, typed: Mapping[str, str]) -> None:
        self.typed = typed
        self.errors: dict[str, str] = {}

    def document(self) -> dict[str, object]:
        facilities = [
            name.upper() for name in re.split(r"[\s,;]+", self.typed["coupling_facilities"]) if name
        ]
        offload = {"dsgroup": self.typed["dsgroup"].upper()} if self.typed["dsgroup"] else {}
        return {
            "qsg": self._name("qsg"),
            "queue_managers": self._whole("queue_managers"),
            "cfcc_level": self._whole("cfcc_level"),
            "target_usage_percent": self._decimal("target_usage_percent"),
            "headroom_percent": self._decimal("headroom_percent") if self.typed["headroom_percent"] else None,
            "size_factor": self._decimal("size_factor"),
            "system": {
                "include": self.typed["csqsysappl"] == "yes",
                "shared_channels": self._whole("shared_channels"),
                # The form has no field for group units of recovery: without CSQSYSAPPL none are planned.
                **({"group_ur_messages": 0} if self.typed["csqsysappl"] != "yes" else {}),
            },
            "coupling_facilities": [{"name": name} for name in facilities],
            "structures": [
                {
                    "name": self._name("structure"),
                    "full_threshold": self._whole("full_threshold"),
                    "preflist": facilities,
                    "offload": offload,
                    "queues": [
                        {
                            "name": self._text("queue"),
                            "message_bytes": self._message_bytes(),
                            "backlog": self._backlog(),
                            "persistent": self.typed["persistent"] == "yes",
                        }
                    ],
                }
            ],
        }

    def _text(self, name: str) -> str:
        if not self.typed[name]:
            self.errors[name] = "A name is needed here."
        return self.typed[name] or DEFAULTS[name]

    def _name(self, name: str) -> str:
        return self._text(name).upper()

    def _backlog(self) -> int:
        if self.typed["backlog_by"] == "messages":
            return self._whole("messages")
        rate, minutes = self._decimal("rate_per_minute"), self._decimal("outage_minutes")
        return ceil_fraction(Fraction(rate) * Fraction(minutes))

    def _message_bytes(self) -> int:
        text = _ungrouped(self.typed["message_bytes"])
        if _WHOLE.fullmatch(text) or not text:
            return self._whole("message_bytes")
        try:
            return parse_size(text, default_unit="B")
        except SizeSyntax:
            self.errors["message_bytes"] = "Write a number of bytes, or a size such as 1K or 63K."
            return int(DEFAULTS["message_bytes"])

    def _whole(self, name: str) -> int:
        text = _ungrouped(self.typed[name])
        if not text:
            self.errors[name] = "A number is needed here."
        elif not _WHOLE.fullmatch(text):
            self.errors[name] = "Write a whole number, in digits only."
        elif len(text) > LONGEST_NUMBER:
            self.errors[name] = "That number is too long."
        else:
            return int(text)
        return int(DEFAULTS[name])

    def _decimal(self, name: str) -> Decimal:
        text = _ungrouped(self.typed[name])
        if not text:
            self.errors[name] = "A number is needed here."
        elif not _DECIMAL.fullmatch(text):
            self.errors[name] = "Write a number, with a point if it is not whole."
        elif len(text) > LONGEST_NUMBER:
            self.errors[name] = "That number is too long."
        else:
            return Decimal(text)
        return Decimal(DEFAULTS[name] or 0)


def _ungrouped(text: str) -> str:
    """The text without its thousands separators: blanks, commas, apostrophes; a point is never one."""
    return re.sub(r"\D", "", text) if _GROUPED.fullmatch(text) else text


def _sentence(text: str) -> str:
    if text.startswith("is "):  # the core speaks of the field, which here has its label above
        text = f"This {text}"
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else text + "."
