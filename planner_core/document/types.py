"""The types of the fields of a plan document: sizes, numbers and names, checked when they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from planner_core import names
from planner_core.errors import NameSyntax, SizeSyntax
from planner_core.limits import limit
from planner_core.typed_numbers import ambiguity, separator_problem, typed_size
from planner_core.units import KIB, MIB, format_size, kib_to_bytes

MODEL = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)
_MOST_DIGITS = 15
"""The maximum number of digits that a JSON number keeps exactly."""
_MOST_KNOWN, _LONGEST_KNOWN = 1000, 64
"""The number of accepted texts that a check keeps, because the queues of a plan often state the same label or rate; and
the length of the longest of them."""


def refuse(message: str) -> NoReturn:
    """Raise an error for a field with this sentence."""
    # Not a ValueError: pydantic would write "Value error, " in front of the sentence.
    msg = "cfplan"
    raise PydanticCustomError(msg, "{message}", {"message": message})


def checked_by(check: Callable[[str], str], *, example: str) -> Any:  # noqa: ANN401 - an annotation for pydantic
    """Return the annotation of a text that is checked by a function of `names`."""
    known = lru_cache(_MOST_KNOWN)(check)

    def validate(value: object) -> str:
        if not isinstance(value, str):
            refuse(f"must be text in quotes, such as {example!r}")
        try:
            return known(value) if len(value) <= _LONGEST_KNOWN else check(value)
        except NameSyntax as error:
            refuse(str(error))

    return BeforeValidator(validate)


def hardware_code(label: str, *, longest: int, alphabet: str, example: str, exact: bool = False) -> Any:  # noqa: ANN401
    """Return the annotation of a code of letters and digits that identifies hardware."""

    def validate(value: object) -> str:
        if not isinstance(value, str):
            refuse(f"must be text in quotes, such as {example!r}: leading zeros are significant")
        fits = len(value) == longest if exact else 1 <= len(value) <= longest
        if not fits or any(character not in alphabet for character in value):
            count, letters = f"{longest}" if exact else f"1 to {longest}", alphabet.rstrip("0123456789")
            refuse(
                f"{label} has {count} characters of {letters[0]}-{letters[-1]} and digits, such as {example!r}"
            )
        return value

    return BeforeValidator(validate)


# Digits last: the error names the first and the last letter.
HEX = "ABCDEF0123456789"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _size(*, lowest_kib: int, highest_bytes: int, bare: str | None = "K") -> Any:  # noqa: ANN401
    def validate(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            refuse("must be a size such as '512M' or a number of K")
        try:
            size = typed_size(value, default_unit=bare)
        except SizeSyntax as error:
            refuse(str(error))
        if size % KIB:
            refuse(f"{format_size(size)} is not a whole number of K")
        if not kib_to_bytes(lowest_kib) <= size <= highest_bytes:
            refuse(f"must be between {lowest_kib}K and {format_size(highest_bytes)}")
        return size

    return BeforeValidator(validate)


# `1.500G` may be 1500G, so one to three digits and exactly three decimals are refused (`typed_numbers`).
_SIZE_TEXT = r"^ *([0-9]{1,15}(\.([0-9]{1,2}|[0-9]{4,9}))?|(0[0-9]{0,14}|[0-9]{4,15})\.[0-9]{3}) *"
_SIZE_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "pattern": rf"{_SIZE_TEXT}([KMGTkmgt]([Ii]?[Bb])?|[Bb])? *$"},
            {"type": "integer", "minimum": 0},
        ],
        "description": "A number with K, M, G or T (1024-based); without a unit, K as in a CFRM policy.",
    }
)
_SIZE_WITH_UNIT_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "pattern": rf"{_SIZE_TEXT}([KMGTkmgt]([Ii]?[Bb])?|[Bb]) *$|^ *0{{1,15}} *$"},
            {"type": "integer", "const": 0},
        ],
        "description": "A number with K or M (1024-based), as MQSC writes it; only 0 needs no unit.",
    }
)
_AS_SIZE = PlainSerializer(format_size, return_type=str, when_used="json-unless-none")
_LARGEST_STRUCTURE = limit("largest_policy_size_mib") * MIB
_LARGEST_CF = 64 * _LARGEST_STRUCTURE
_LARGEST_SCM = 16 * _LARGEST_STRUCTURE
LARGEST_MESSAGE_BYTES = limit("largest_message_bytes")

StructureSize = Annotated[int, _size(lowest_kib=1, highest_bytes=_LARGEST_STRUCTURE), _AS_SIZE, _SIZE_SCHEMA]
MinSize = Annotated[int, _size(lowest_kib=0, highest_bytes=_LARGEST_STRUCTURE), _AS_SIZE, _SIZE_SCHEMA]
FacilitySize = Annotated[int, _size(lowest_kib=1, highest_bytes=_LARGEST_CF), _AS_SIZE, _SIZE_SCHEMA]
Occupied = Annotated[int, _size(lowest_kib=0, highest_bytes=_LARGEST_CF), _AS_SIZE, _SIZE_SCHEMA]
ScmSize = Annotated[int, _size(lowest_kib=1, highest_bytes=_LARGEST_SCM), _AS_SIZE, _SIZE_SCHEMA]
RULE_OFF_BYTES = 64 * KIB
RuleSize = Annotated[
    int, _size(lowest_kib=0, highest_bytes=RULE_OFF_BYTES, bare=None), _AS_SIZE, _SIZE_WITH_UNIT_SCHEMA
]
BlockSize = Annotated[
    int, _size(lowest_kib=8, highest_bytes=MIB, bare=None), _AS_SIZE, _SIZE_WITH_UNIT_SCHEMA
]


def number_between(*, lowest: int, highest: int) -> Any:  # noqa: ANN401
    """Return the annotation of an exact number within bounds."""
    return BeforeValidator(_number_check(lowest, highest))


def _number_check(lowest: int, highest: int) -> Callable[[object], Decimal]:
    """Return the function that reads a number within bounds."""

    def validate(value: object) -> Decimal:
        if type(value) is int and lowest <= value <= highest:
            return Decimal(value)
        # By its text, because 1.50 and 1.5 are equal, and findings show a number as it was entered.
        if type(value) is Decimal and len(text := str(value)) <= _LONGEST_KNOWN:
            return known(text)
        return check(value)

    def check(value: object) -> Decimal:
        if isinstance(value, str) and (problem := separator_problem(value)):
            refuse(problem)
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            refuse("must be a number")
        if isinstance(value, float) and not math.isfinite(value):
            refuse("must be a finite number")
        # Converted through its text, because the float 0.1 is not exactly a tenth.
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if not number.is_finite() or not lowest <= number <= highest:
            refuse(f"must be between {lowest} and {highest}")
        # Stored documents are JSON, whose numbers are floats to most readers; more digits would come back changed.
        # The digits of a short text need not be counted.
        if (len(str(number)) > _MOST_DIGITS and len(number.normalize().as_tuple().digits) > _MOST_DIGITS) or (
            number.adjusted() < -_MOST_DIGITS and number
        ):
            refuse(f"must not have more than {_MOST_DIGITS} digits")
        return number

    known = lru_cache(_MOST_KNOWN)(lambda text: check(Decimal(text)))
    return validate


# Equal decimals are the same number, however many zeros were entered.
@lru_cache(_MOST_KNOWN)
def _as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


AS_NUMBER = PlainSerializer(_as_number, when_used="json-unless-none")


def number_schema(lowest: int, highest: int) -> WithJsonSchema:
    """Return the JSON Schema of `number_between`."""
    return WithJsonSchema({"type": "number", "minimum": lowest, "maximum": highest})


_ONE_MESSAGE_SIZE = r" *[0-9]{1,15}(\.[0-9]{1,9})? *([KMGTkmgt]([Ii]?[Bb])?|[Bb])? *"
# As many digits as a stored mean can have, because a form sends back the text it shows.
_DECIMAL_TEXT = re.compile(r"(?=.{2,32}\Z)\d*\.\d+", re.ASCII)
_WHOLE_BYTES: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": LARGEST_MESSAGE_BYTES}
_MESSAGE_SIZE_SCHEMA: dict[str, Any] = {
    "type": "string",
    "pattern": f"^{_ONE_MESSAGE_SIZE}$",
    "description": "A number of bytes, or a number with K or M (1024-based), such as 2K.",
}
MESSAGE_SIZES_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _WHOLE_BYTES,
        {
            "type": "string",
            "pattern": f"^{_ONE_MESSAGE_SIZE}(/{_ONE_MESSAGE_SIZE}/{_ONE_MESSAGE_SIZE})?$",
            "description": "A size with its unit, such as 2K, or mean/p95/max, such as 3500/12K/60K.",
        },
    ]
}


def bytes_of(value: str | int) -> int:
    """Read a number of bytes, or a size such as `2K`, without a limit [bytes].

    Raises:
        SizeSyntax: The text is not a size.
    """
    return typed_size(value, default_unit="B")


def message_bytes(value: str | int) -> int:
    """Read a message size: a number of bytes, or a size such as `2K` [bytes].

    Raises:
        SizeSyntax: The text is not a size.
        ValueError: The size is larger than any message.
    """
    size = bytes_of(value)
    if size > LARGEST_MESSAGE_BYTES:
        message = f"must be between 0 and {LARGEST_MESSAGE_BYTES} bytes (100 MB)"
        raise ValueError(message)
    return size


def one_message_size(value: object) -> object:
    """Read a size that is given as text; the field checks other values."""
    if not isinstance(value, str):
        return value
    try:
        return message_bytes(value)
    except (SizeSyntax, ValueError) as error:
        refuse(str(error))


def mean_message_size(value: object) -> object:
    """Read a mean, which may have decimals: `3500.5`.

    Text such as `1.024` is refused: it is typed, and some spreadsheets write 1024 so. `1.0240` is read.
    """
    if isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value):
        if problem := ambiguity(value):
            refuse(problem)
        return Decimal(value)
    # Checks other texts for ambiguity as well.
    return one_message_size(value)


_mean_number = _number_check(0, LARGEST_MESSAGE_BYTES)


def _mean_bytes(value: object) -> Decimal:
    """Read a mean as a text or a number."""
    # One function: another call for each queue takes a tenth of the time to validate a plan.
    return _mean_number(mean_message_size(value) if isinstance(value, str) else value)


MessageBytes = Annotated[
    int,
    Field(ge=0, le=LARGEST_MESSAGE_BYTES),
    BeforeValidator(one_message_size),
    WithJsonSchema({"anyOf": [_WHOLE_BYTES, _MESSAGE_SIZE_SCHEMA]}),
]
Percent = Annotated[Decimal, number_between(lowest=0, highest=1000), AS_NUMBER, number_schema(0, 1000)]
TargetPercent = Annotated[Decimal, number_between(lowest=1, highest=100), AS_NUMBER, number_schema(1, 100)]
GrowthPercent = Annotated[
    Decimal, number_between(lowest=-99, highest=1000), AS_NUMBER, number_schema(-99, 1000)
]
Years = Annotated[Decimal, number_between(lowest=0, highest=50), AS_NUMBER, number_schema(0, 50)]
SizeFactor = Annotated[Decimal, number_between(lowest=1, highest=2), AS_NUMBER, number_schema(1, 2)]
Rate = Annotated[Decimal, number_between(lowest=0, highest=10**9), AS_NUMBER, number_schema(0, 10**9)]
Minutes = Annotated[Decimal, number_between(lowest=0, highest=10**6), AS_NUMBER, number_schema(0, 10**6)]
MeanBytes = Annotated[
    Decimal,
    BeforeValidator(_mean_bytes),
    AS_NUMBER,
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0, "maximum": LARGEST_MESSAGE_BYTES}, _MESSAGE_SIZE_SCHEMA]}
    ),
]

QsgName = Annotated[str, Field(min_length=1, max_length=4), checked_by(names.qsg, example="SQ03")]
CfstructName = Annotated[
    str, Field(min_length=1, max_length=12), checked_by(names.cfstruct, example="APPLICATION1")
]
CfName = Annotated[
    str, Field(min_length=1, max_length=8), checked_by(names.coupling_facility, example="CF01")
]
StructureName = Annotated[
    str, Field(min_length=1, max_length=16), checked_by(names.structure, example="DB2GBP1")
]
Db2GroupName = Annotated[
    str, Field(min_length=1, max_length=8), checked_by(names.db2_group, example="DSNDB0A")
]
PolicyName = Annotated[str, Field(min_length=1, max_length=8), checked_by(names.policy, example="POLICY1")]
# A pattern is checked faster than a function, and a plan can have 32,000 queues.
QueueName = Annotated[str, Field(pattern=rf"^{names.QUEUE_PATTERN}$")]
QueueManagerName = Annotated[
    str, Field(min_length=1, max_length=4), checked_by(names.queue_manager, example="QM01")
]
DsGroup = Annotated[
    str, Field(min_length=1, max_length=44), checked_by(names.dsgroup, example="MQ.SMDS.*.APP1")
]
Count = Annotated[int, Field(ge=0, le=10**12)]
CfccLevel = Annotated[int, Field(ge=1, le=99)]
Threshold = Annotated[int, Field(ge=0, le=100)]
PrefList = Annotated[list[CfName], Field(max_length=8)]
ExclList = Annotated[list[StructureName], Field(max_length=8)]
Duplex = Literal["DISABLED", "ALLOWED", "ENABLED"]
Switch = Literal["ENABLED", "DISABLED"]
MaxDepth = Annotated[int, Field(ge=0, le=limit("largest_maxdepth"))]
DuplexSite = Literal["ANYSITE", "SAMESITE", "SAMESITEONLY", "CROSSSITE"]


def not_boolean(value: object) -> object:
    """Refuse true and false where a whole number is required."""
    # Python treats them as 1 and 0, and True equals the only version of the schema.
    if isinstance(value, bool):
        refuse("must be a whole number")
    return value
