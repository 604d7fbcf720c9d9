"""The choices that go with a question about one structure: read alike from options, addresses and forms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal

from planner_core.errors import FieldProblem, InputInvalid, PlannerError
from planner_core.units import parse_size

if TYPE_CHECKING:
    from planner_core.sizing.offload import Rule

Kind = Literal["number", "whole", "size", "rule_size", "choice", "rules", "name"]
_LONGEST = 30
_MOST_DIGITS = 15
_MOST_RULES = 3
_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)
_SIZE = re.compile(r"[0-9]{1,9}[KMGT]", re.ASCII)
_RULE_SIZE = re.compile(r"([0-9]|[1-5][0-9]|6[0-3])K", re.ASCII)
_RULE = re.compile(r"(100|[1-9]?[0-9]):([0-9]|[1-5][0-9]|6[0-4])K", re.ASCII)
_MOST_UNKNOWN = 50
_LARGEST_SIZE = parse_size("16T")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One choice: how it is written, within which bounds, and what it means."""

    name: str
    kind: Kind
    about: str
    lowest: int = 0
    highest: int = 10**12
    choices: tuple[str, ...] = ()
    metavar: str = "N"
    required: bool = False

    @property
    def option(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    def read(self, text: str) -> Any:  # noqa: ANN401 - what the kind says
        """The value.

        Raises:
            ValueError: With what is wrong, as the end of a sentence that begins with the name.
        """
        plain = text.strip()
        if len(plain) > _LONGEST:
            message = f"must not have more than {_LONGEST} characters"
            raise ValueError(message)
        if self.kind == "number":
            return self._number(plain)
        if self.kind == "whole":
            return self._whole(plain)
        if self.kind in ("size", "rule_size"):
            return self._size(plain.upper())
        if self.kind == "choice" and plain not in self.choices:
            message = f"must be {' or '.join(self.choices)}"
            raise ValueError(message)
        if not plain:
            message = "is required"
            raise ValueError(message)
        return plain

    def read_all(self, texts: Sequence[str]) -> tuple[Rule, ...]:
        """The rules of a structure.

        Raises:
            ValueError: As for `read`.
        """
        from planner_core.sizing.offload import parse_rule

        if len(texts) > _MOST_RULES:
            message = f"can be given {_MOST_RULES} times at most"
            raise ValueError(message)
        found = []
        for text in texts:
            if not _RULE.fullmatch(text.strip().upper()):
                message = "must be a percentage and a size from 0K to 64K, such as 70:32K"
                raise ValueError(message)
            found.append(parse_rule(text.strip().upper()))
        return tuple(found)

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema, for the description of the address."""
        if self.kind == "number":
            return {"type": "number", "minimum": self.lowest, "maximum": self.highest}
        if self.kind == "whole":
            return {"type": "integer", "minimum": self.lowest, "maximum": self.highest}
        if self.kind == "choice":
            return {"type": "string", "enum": list(self.choices)}
        if self.kind == "rules":
            rule = {"type": "string", "pattern": f"^({_RULE.pattern})$"}
            return {"type": "array", "items": rule, "maxItems": _MOST_RULES}
        if self.kind == "name":
            return {"type": "string", "minLength": 1, "maxLength": _LONGEST}
        pattern = _SIZE if self.kind == "size" else _RULE_SIZE
        return {"type": "string", "pattern": f"^({pattern.pattern})$"}

    def described(self) -> dict[str, Any]:
        """Itself as OpenAPI describes a parameter in the address."""
        return {
            "name": self.name,
            "in": "query",
            "required": self.required,
            "schema": self.schema(),
            "description": self.about[:1].upper() + self.about[1:] + ".",
        }

    def _number(self, plain: str) -> Decimal:
        try:
            value = Decimal(plain if plain.isascii() and "_" not in plain else "none")
        except InvalidOperation:
            message = "must be a number"
            raise ValueError(message) from None
        if not value.is_finite() or not self.lowest <= value <= self.highest:
            message = f"must be between {self.lowest} and {self.highest}"
            raise ValueError(message)
        if len(value.normalize().as_tuple().digits) > _MOST_DIGITS or (
            value and value.adjusted() < -_MOST_DIGITS
        ):
            message = f"must not have more than {_MOST_DIGITS} digits"
            raise ValueError(message)
        return value

    def _whole(self, plain: str) -> int:
        if not _WHOLE.fullmatch(plain):
            message = "must be a whole number"
            raise ValueError(message)
        if not self.lowest <= int(plain) <= self.highest:
            message = f"must be between {self.lowest} and {self.highest}"
            raise ValueError(message)
        return int(plain)

    def _size(self, plain: str) -> int:
        if self.kind == "rule_size":
            if not _RULE_SIZE.fullmatch(plain):
                message = "must be a whole number of K from 0K to 63K, such as 32K"
                raise ValueError(message)
        elif not _SIZE.fullmatch(plain) or not 0 < parse_size(plain) <= _LARGEST_SIZE:
            message = "must be a size of at most 16T with K, M, G or T, such as 512M"
            raise ValueError(message)
        return parse_size(plain)


def read_values(
    parameters: Sequence[Parameter], given: Mapping[str, Sequence[str]], *, what: str
) -> dict[str, Any]:
    """The values of those that are given, by name.

    Args:
        parameters: All there are.
        given: Texts by name; a name that is no parameter is refused.
        what: What the sentence of a refusal begins with.

    Raises:
        InputInvalid: With every parameter at fault.
    """
    values, errors = check_values(parameters, given)
    if errors:
        raise InputInvalid(what, tuple(FieldProblem(name, message) for name, message in errors.items()))
    return values


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    from planner_core.document.problems import did_you_mean  # the commands start without it

    return f"is not a parameter of this question{did_you_mean(name, known)}"


def check_values(
    parameters: Sequence[Parameter], given: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values that can be read, and what is wrong with the others, by name."""
    known = {each.name: each for each in parameters}
    unknown = [name for name in given if name not in known][:_MOST_UNKNOWN]
    errors = {name[:40]: _unknown(name, known) for name in unknown}
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        texts = given.get(name, ())
        if not texts:
            if parameter.required:
                errors[name] = "is required"
            continue
        if parameter.kind != "rules" and len(texts) > 1:
            errors[name] = "is given twice"
            continue
        try:
            values[name] = (
                parameter.read_all(texts) if parameter.kind == "rules" else parameter.read(texts[0])
            )
        except (ValueError, PlannerError) as error:
            errors[name] = str(error)
    return values, errors


STORAGES = ("initsize", "size")
_STRUCTURE = Parameter(
    "structure",
    "name",
    "the application structure, as its CFSTRUCT is named; absent: the plan's only one",
    metavar="S",
)
FILLING = (
    _STRUCTURE,
    Parameter("at", "choice", "the storage that fills: INITSIZE, or SIZE after an alter", choices=STORAGES),
    Parameter(
        "outage_minutes",
        "number",
        "one outage for all queues; absent: each queue's own",
        highest=10**6,
        metavar="MINUTES",
    ),
    Parameter(
        "rate_percent", "number", "arrival rates, in percent of the planned ones", highest=10**5, metavar="P"
    ),
    Parameter(
        "larger_percent",
        "number",
        "share of the messages that come to the queues with the larger messages; absent: as planned",
        highest=100,
        metavar="P",
    ),
    Parameter(
        "rule",
        "rules",
        "an offload rule in the place of the plan's, such as 70:32K; up to three",
        metavar="TH:SZ",
    ),
    Parameter(
        "data_set_size",
        "size",
        "space of each shared message data set, to see whether it suffices",
        metavar="SIZE",
    ),
)
"""What `filling` is asked."""
THRESHOLDS = (
    _STRUCTURE,
    Parameter("at", "choice", "the storage that the rules are for: INITSIZE, or SIZE", choices=STORAGES),
    Parameter("hold", "whole", "messages that must be held; absent: the planned backlog", lowest=1),
    Parameter(
        "typical", "whole", "messages that are there in normal running; absent: not known, taken as none"
    ),
    Parameter(
        "margin_percent",
        "number",
        "part of the space not counted on; absent: IBM's 10 %, as far as IBM's examples keep it",
        highest=99,
        metavar="P",
    ),
    Parameter(
        "cheap_over",
        "rule_size",
        "messages over this size cost about the same offloaded as kept: they are offloaded always",
        metavar="SIZE",
    ),
    Parameter(
        "costly_up_to",
        "rule_size",
        "messages up to this size are costly to offload: larger ones are offloaded earlier",
        metavar="SIZE",
    ),
)
"""What `thresholds` is asked."""
RECOVERY = (
    Parameter(
        "recovery_minutes",
        "number",
        "in how long a structure must be back; absent: 60",
        highest=10**5,
        metavar="MINUTES",
    ),
    Parameter(
        "interval_minutes",
        "number",
        "how often structures are backed up; absent: 60, IBM's least",
        highest=10**5,
        metavar="MINUTES",
    ),
    Parameter(
        "log_read_mb_per_s",
        "number",
        "at what rate your logs are read; absent: 2.7, IBM's example",
        lowest=1,
        highest=10**6,
        metavar="MB",
    ),
    Parameter(
        "backup_overhead_bytes",
        "whole",
        "what a message takes in a backup beside its data; absent: 512, assumed",
        highest=10**6,
        metavar="BYTES",
    ),
    Parameter(
        "fill_percent",
        "number",
        "how much of the planned backlog is there when a structure is lost; absent: 100",
        highest=100,
        metavar="P",
    ),
)
"""What `recovery` is asked."""
SMDS_JOB = (
    Parameter(
        "for",
        "choice",
        "what each data set is allocated for: the planned backlog, with space for an overload, or a structure that is full at SIZE; absent: backlog",
        choices=("backlog", "size"),
    ),
)
"""What `smds-job` is asked."""
