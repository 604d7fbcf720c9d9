"""The plan document: what form, REST, command line and file all speak.

It is closed (an unknown key is refused) and complete with defaults. Sizes are read once,
here, into bytes; names are checked here, so that nothing a user typed can reach a
statement except as the one value it stands for.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import cache
from itertools import chain
from typing import Annotated, Any, Literal, NoReturn, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from planner_core import names, tables
from planner_core.bounds import MOST_KEYS, MOST_STRUCTURES_READ, UntilManyErrors, first_problems, is_too_deep
from planner_core.document.cluster_entries import (
    ChannelEntry,
    InstanceEntry,
    MqName,
    check_instances,
    check_sender,
    choice,
)
from planner_core.document.size_distribution import SizeDistribution
from planner_core.errors import DocumentInvalid, FieldProblem, NameSyntax, NotJson, SizeSyntax
from planner_core.limits import limit
from planner_core.units import KIB, MIB, format_size, kib_to_bytes, parse_size

_MODEL = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)
_LONGEST_NUMBER = 40
_SHOWN = 20
_MOST_DIGITS = 15
"""A number that is kept as JSON keeps it: more digits would be lost."""
_MOST_SUGGESTIONS = 50
_LONGEST_SUGGESTED = 40
"""Comparing an unknown key with the known ones costs time, so only this many keys of at most this length are compared."""
_NOTHING = object()
_MOST_CLUSTER_CHANNELS = 200
"""In all clusters of a plan: what each of them brings when it fails is worked out."""


def _refuse(message: str) -> NoReturn:
    msg = "cfplan"
    raise PydanticCustomError(msg, "{message}", {"message": message})


def _named(check: Callable[[str], str], *, example: str) -> Any:  # noqa: ANN401 - an annotation for pydantic
    def validate(value: object) -> str:
        if not isinstance(value, str):
            _refuse(f"must be text in quotes, such as {example!r}")
        try:
            return check(value)
        except NameSyntax as error:
            _refuse(str(error))

    return BeforeValidator(validate)


def _coded(label: str, *, longest: int, alphabet: str, example: str, exact: bool = False) -> Any:  # noqa: ANN401
    def validate(value: object) -> str:
        if not isinstance(value, str):
            _refuse(f"must be text in quotes, such as {example!r}: leading zeros count")
        fits = len(value) == longest if exact else 1 <= len(value) <= longest
        if not fits or any(character not in alphabet for character in value):
            count, letters = f"{longest}" if exact else f"1 to {longest}", alphabet.rstrip("0123456789")
            _refuse(
                f"{label} has {count} characters of {letters[0]}-{letters[-1]} and digits, such as {example!r}"
            )
        return value

    return BeforeValidator(validate)


_HEX = "ABCDEF0123456789"
_ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _size(*, lowest_kib: int, highest_bytes: int, bare: str | None = "K") -> Any:  # noqa: ANN401
    def validate(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            _refuse("must be a size such as '512M' or a number of K")
        try:
            size = parse_size(value, default_unit=bare)
        except SizeSyntax as error:
            _refuse(str(error))
        if size % KIB:
            _refuse(f"{format_size(size)} is no whole number of K")
        if not kib_to_bytes(lowest_kib) <= size <= highest_bytes:
            _refuse(f"must be between {lowest_kib}K and {format_size(highest_bytes)}")
        return size

    return BeforeValidator(validate)


_SIZE_TEXT = r"^ *[0-9]{1,15}(\.[0-9]{1,9})? *"
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
            {"type": "string", "pattern": rf"{_SIZE_TEXT}([KMGTkmgt]([Ii]?[Bb])?|[Bb]) *$|^ *0 *$"},
            {"type": "integer", "const": 0},
        ],
        "description": "A number with K or M (1024-based), as MQSC writes it; only 0 needs no unit.",
    }
)
_AS_SIZE = PlainSerializer(format_size, return_type=str, when_used="json-unless-none")
_LARGEST_STRUCTURE = limit("largest_policy_size_mib") * MIB
_LARGEST_CF = 64 * _LARGEST_STRUCTURE
_LARGEST_SCM = 16 * _LARGEST_STRUCTURE
_LARGEST_MESSAGE = limit("largest_message_bytes")
_SMALLEST_CF = limit("smallest_cf_mib") * MIB
_MOST_GIB_MEANT = 1023
"""Larger numbers are meant as M."""

StructureSize = Annotated[int, _size(lowest_kib=1, highest_bytes=_LARGEST_STRUCTURE), _AS_SIZE, _SIZE_SCHEMA]
MinSize = Annotated[int, _size(lowest_kib=0, highest_bytes=_LARGEST_STRUCTURE), _AS_SIZE, _SIZE_SCHEMA]
FacilitySize = Annotated[int, _size(lowest_kib=1, highest_bytes=_LARGEST_CF), _AS_SIZE, _SIZE_SCHEMA]
Occupied = Annotated[int, _size(lowest_kib=0, highest_bytes=_LARGEST_CF), _AS_SIZE, _SIZE_SCHEMA]
ScmSize = Annotated[int, _size(lowest_kib=1, highest_bytes=_LARGEST_SCM), _AS_SIZE, _SIZE_SCHEMA]
_RULE_OFF = 64 * KIB
RuleSize = Annotated[
    int, _size(lowest_kib=0, highest_bytes=_RULE_OFF, bare=None), _AS_SIZE, _SIZE_WITH_UNIT_SCHEMA
]
BlockSize = Annotated[
    int, _size(lowest_kib=8, highest_bytes=MIB, bare=None), _AS_SIZE, _SIZE_WITH_UNIT_SCHEMA
]


def _number(*, lowest: int, highest: int) -> Any:  # noqa: ANN401
    def validate(value: object) -> Decimal:
        if type(value) is int and lowest <= value <= highest:
            return Decimal(value)
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            _refuse("must be a number")
        if isinstance(value, float) and not math.isfinite(value):
            _refuse("must be a finite number")
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if not number.is_finite() or not lowest <= number <= highest:
            _refuse(f"must be between {lowest} and {highest}")
        if len(number.normalize().as_tuple().digits) > _MOST_DIGITS or (
            number.adjusted() < -_MOST_DIGITS and number
        ):
            _refuse(f"must not have more than {_MOST_DIGITS} digits")
        return number

    return BeforeValidator(validate)


def _as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


_AS_NUMBER = PlainSerializer(_as_number, when_used="json-unless-none")


def _number_schema(lowest: int, highest: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "number", "minimum": lowest, "maximum": highest})


_ONE_MESSAGE_SIZE = r" *[0-9]{1,15}(\.[0-9]{1,9})? *([KMGTkmgt]([Ii]?[Bb])?|[Bb])? *"
_DECIMAL_TEXT = re.compile(r"\d{1,15}\.\d{1,9}", re.ASCII)
_WHOLE_BYTES: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": _LARGEST_MESSAGE}
_MESSAGE_SIZE_SCHEMA: dict[str, Any] = {
    "type": "string",
    "pattern": f"^{_ONE_MESSAGE_SIZE}$",
    "description": "A number of bytes, or a number with K or M (1024-based), such as 2K.",
}
_MESSAGE_SIZES_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _WHOLE_BYTES,
        {
            "type": "string",
            "pattern": f"^{_ONE_MESSAGE_SIZE}(/{_ONE_MESSAGE_SIZE}/{_ONE_MESSAGE_SIZE})?$",
            "description": "A size with its unit, such as 2K, or mean/p95/max, such as 3500/12K/60K.",
        },
    ]
}


def message_bytes(value: str | int) -> int:
    """A message size as people type it: a number of bytes, or a size such as `2K` [bytes].

    Raises:
        ValueError: It is no size, or no message is as large.
    """
    size = parse_size(value, default_unit="B")
    if size > _LARGEST_MESSAGE:
        message = f"must be between 0 and {_LARGEST_MESSAGE} bytes (100 MB)"
        raise ValueError(message)
    return size


def _one_message_size(value: object) -> object:
    """The bytes of a size in text; what is no text is left to the field."""
    if not isinstance(value, str):
        return value
    try:
        return message_bytes(value)
    except (SizeSyntax, ValueError) as error:
        _refuse(str(error))


def _mean_size(value: object) -> object:
    """A mean may also have decimals: `3500.5`."""
    if isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value):
        return Decimal(value)
    return _one_message_size(value)


MessageBytes = Annotated[
    int,
    BeforeValidator(_one_message_size),
    Field(ge=0, le=_LARGEST_MESSAGE),
    WithJsonSchema({"anyOf": [_WHOLE_BYTES, _MESSAGE_SIZE_SCHEMA]}),
]
Percent = Annotated[Decimal, _number(lowest=0, highest=1000), _AS_NUMBER, _number_schema(0, 1000)]
TargetPercent = Annotated[Decimal, _number(lowest=1, highest=100), _AS_NUMBER, _number_schema(1, 100)]
GrowthPercent = Annotated[Decimal, _number(lowest=-99, highest=1000), _AS_NUMBER, _number_schema(-99, 1000)]
Years = Annotated[Decimal, _number(lowest=0, highest=50), _AS_NUMBER, _number_schema(0, 50)]
SizeFactor = Annotated[Decimal, _number(lowest=1, highest=2), _AS_NUMBER, _number_schema(1, 2)]
Rate = Annotated[Decimal, _number(lowest=0, highest=10**9), _AS_NUMBER, _number_schema(0, 10**9)]
Minutes = Annotated[Decimal, _number(lowest=0, highest=10**6), _AS_NUMBER, _number_schema(0, 10**6)]
MeanBytes = Annotated[
    Decimal,
    _number(lowest=0, highest=_LARGEST_MESSAGE),
    BeforeValidator(_mean_size),
    _AS_NUMBER,
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0, "maximum": _LARGEST_MESSAGE}, _MESSAGE_SIZE_SCHEMA]}
    ),
]

QsgName = Annotated[str, _named(names.qsg, example="SQ03"), Field(min_length=1, max_length=4)]
CfstructName = Annotated[
    str, _named(names.cfstruct, example="APPLICATION1"), Field(min_length=1, max_length=12)
]
CfName = Annotated[str, _named(names.coupling_facility, example="CF01"), Field(min_length=1, max_length=8)]
StructureName = Annotated[str, _named(names.structure, example="DB2GBP1"), Field(min_length=1, max_length=16)]
PolicyName = Annotated[str, _named(names.policy, example="POLICY1"), Field(min_length=1, max_length=8)]
QueueName = Annotated[str, Field(pattern=rf"^{names.QUEUE_PATTERN}$")]
"""By pattern, not by function as the others: a plan may have 32 000 queues."""
QueueManagerName = Annotated[
    str, _named(names.queue_manager, example="QM01"), Field(min_length=1, max_length=4)
]
DsGroup = Annotated[str, _named(names.dsgroup, example="MQ.SMDS.*.APP1"), Field(min_length=1, max_length=44)]
Count = Annotated[int, Field(ge=0, le=10**12)]
CfccLevel = Annotated[int, Field(ge=1, le=99)]
Threshold = Annotated[int, Field(ge=0, le=100)]
PrefList = Annotated[list[CfName], Field(max_length=8)]
ExclList = Annotated[list[StructureName], Field(max_length=8)]
Duplex = Literal["DISABLED", "ALLOWED", "ENABLED"]
Switch = Literal["ENABLED", "DISABLED"]
MaxDepth = Annotated[int, Field(ge=0, le=limit("largest_maxdepth"))]
DuplexSite = Literal["ANYSITE", "SAMESITE", "SAMESITEONLY", "CROSSSITE"]


def _not_boolean(value: object) -> object:
    if isinstance(value, bool):
        _refuse("must be a whole number")
    return value


class FittedCurve(BaseModel):
    """A curve fitted to this site, pinned by its version."""

    model_config = _MODEL
    fitted: Annotated[int, Field(ge=1, le=10**9)]


class Growth(BaseModel):
    """Compound growth of rates and backlogs up to the horizon."""

    model_config = _MODEL
    percent_per_year: GrowthPercent = Decimal(0)
    years: Years = Decimal(0)


class GivenStructure(BaseModel):
    """What may be set for the two structures that are always generated."""

    model_config = _MODEL
    initsize: StructureSize | None = None
    size: StructureSize | None = None
    minsize: MinSize | None = None
    full_threshold: Threshold = limit("fullthreshold_in_examples")
    allow_auto_alter: bool = False
    preflist: PrefList = Field(
        default_factory=list, description="Absent: all coupling facilities of the plan, in order."
    )
    exclist: ExclList = Field(default_factory=list)
    duplex: Duplex = "DISABLED"
    duplex_site: Annotated[
        DuplexSite | None, Field(description="Second value of DUPLEX: the site of the second copy.")
    ] = None
    enforce_order: Annotated[bool, Field(description="ENFORCEORDER(YES): PREFLIST is not reordered.")] = False


class Admin(GivenStructure):
    """CSQ_ADMIN: room for large units of work, and the entries and elements that displays show today."""

    headroom_percent: Percent = Decimal(0)
    entsmax: Annotated[Count | None, Field(description="ENTSMAX from DISPLAY CFSTATUS(CSQ_ADMIN).")] = None
    elements_total: Annotated[
        Count | None, Field(description="Total of elements of CSQ_ADMIN, from D XCF,STR or IXC585E.")
    ] = None


class System(GivenStructure):
    """CSQSYSAPPL: shared channels and group units of recovery."""

    include: bool = True
    shared_channels: Annotated[int, Field(ge=0, le=10**7)] = 500
    group_ur_messages: Annotated[int, Field(ge=0, le=10**9)] = tables.constants("system_structure_usage")[
        "ur_messages"
    ].value


class Policy(BaseModel):
    """The CFRM policy; `job` asks for the complete job."""

    model_config = _MODEL
    name: PolicyName | None = None
    job: bool = False
    replace: Annotated[
        bool, Field(description="REPLACE(YES) in the job; it replaces the whole policy of that name.")
    ] = False


class CouplingFacility(BaseModel):
    """One coupling facility; the hardware fields are needed for the complete job only."""

    model_config = _MODEL
    name: CfName
    size: FacilitySize | None = None
    cfcc_level: CfccLevel | None = None
    site: Literal["SITE1", "SITE2"] | None = None
    volatile: bool = False
    failure_isolated: bool = True
    type: Annotated[str, _coded("TYPE", longest=6, alphabet=_ALNUM, example="003931", exact=True)] | None = (
        None
    )
    mfg: Annotated[str, _coded("MFG", longest=3, alphabet=_ALNUM, example="IBM")] | None = None
    plant: Annotated[str, _coded("PLANT", longest=2, alphabet=_ALNUM, example="02")] | None = None
    sequence: (
        Annotated[str, _coded("SEQUENCE", longest=12, alphabet=_ALNUM, example="0000000A1B2C", exact=True)]
        | None
    ) = None
    partition: Annotated[str, _coded("PARTITION", longest=2, alphabet=_HEX, example="0F")] | None = None
    cpcid: Annotated[str, _coded("CPCID", longest=2, alphabet=_HEX, example="00")] | None = None
    dumpspace: FacilitySize | None = None
    occupied: Annotated[
        Occupied | None, Field(description="Storage that structures outside of this plan take.")
    ] = None
    scm: Annotated[
        Occupied | None, Field(description="Storage-class memory of the CF; 0 where it has none.")
    ] = None


class Scm(BaseModel):
    """Storage-class memory of a structure: how much it may use, and the CF storage that this takes beside it."""

    model_config = _MODEL
    max_size: Annotated[ScmSize | None, Field(description="SCMMAXSIZE.")] = None
    algorithm: Annotated[Literal["KEYPRIORITY1"], Field(description="SCMALGORITHM.")] = "KEYPRIORITY1"
    augmented: Annotated[
        Occupied | None,
        Field(
            description="CF storage for augmented space when all of it is used, from CFSizer or D XCF,STR."
        ),
    ] = None


class OffloadRule(BaseModel):
    """Offload data of messages over a size when the structure is more than a percentage full."""

    model_config = _MODEL
    usage_over: Threshold
    size_over: RuleSize


@cache
def _rules_of_ibm(*, is_off: bool) -> tuple[OffloadRule, ...]:
    return tuple(
        OffloadRule.model_construct(
            usage_over=int(row["usage_over_percent"]),
            size_over=_RULE_OFF if is_off else kib_to_bytes(int(row["size_over_kb"])),
        )
        for row in tables.table("offload_defaults").records()
    )


def _default_rules(offload: dict[str, Any]) -> list[OffloadRule]:
    """IBM's for where data goes: OFFLD1SZ(32K/64K) in the syntax of DEFINE CFSTRUCT is 32K with SMDS, and 64K, off, with DB2.

    The rules are built once: a document with thousands of structures would otherwise spend its time on them.
    """
    return list(_rules_of_ibm(is_off=offload.get("to") == "DB2"))


class Offload(BaseModel):
    """Where and when message data leaves the CF. Rules that are not given are off (64K)."""

    model_config = _MODEL
    to: Literal["SMDS", "DB2"] = "SMDS"
    rules: Annotated[list[OffloadRule], Field(max_length=3)] = Field(
        default_factory=_default_rules,
        description="The defaults are IBM's: as shown with SMDS, and 64K each, which is off, with DB2.",
    )
    dsgroup: DsGroup | None = None
    dsblock: BlockSize = kib_to_bytes(tables.constants("smds")["default_dsblock_kib"].value)
    dsbufs: Annotated[
        int,
        Field(
            ge=tables.constants("smds")["lowest_dsbufs"].value,
            le=tables.constants("smds")["highest_dsbufs"].value,
        ),
    ] = tables.constants("smds")["default_dsbufs"].value
    dsexpand: Annotated[bool, Field(description="DSEXPAND: MQ expands a data set that is nearly full.")] = (
        True
    )


class MessageSizes(BaseModel):
    """Message sizes of a queue [bytes]: user data and MQ headers except the MQMD."""

    model_config = _MODEL
    mean: MeanBytes
    p95: MessageBytes
    max: MessageBytes

    def distribution(self) -> SizeDistribution | int:
        """As the core computes with it; one size where mean, p95 and max are the same."""
        numerator, denominator = self.mean.as_integer_ratio()
        if self.max * denominator == self.p95 * denominator == numerator:
            return self.max
        return SizeDistribution(mean=numerator, mean_of=denominator, p95=self.p95, maximum=self.max)


_DISTRIBUTION = ("mean", "p95", "max")


def _message_bytes(value: object) -> object:
    """One size or three, as numbers or in text: 1024, `1K`, `3500/12K/60K`."""
    if isinstance(value, str):
        parts = value.split("/", len(_DISTRIBUTION))
        if len(parts) == len(_DISTRIBUTION):
            return dict(zip(_DISTRIBUTION, (part.strip() for part in parts), strict=True))
        try:
            return message_bytes(value)
        except SizeSyntax:
            _refuse("must be one size, such as 1024 or 4K, or mean/p95/max, such as 3500/12000/60000")
        except ValueError as error:
            _refuse(str(error))
    if isinstance(value, bool) or not isinstance(value, (int, dict, MessageSizes)):
        _refuse("must be a whole number of bytes, or an object with mean, p95 and max")
    if isinstance(value, int) and not 0 <= value <= _LARGEST_MESSAGE:
        _refuse(f"must be between 0 and {_LARGEST_MESSAGE} bytes (100 MB)")
    return value


class QueueManagerRates(BaseModel):
    """What one queue manager puts on a queue and gets from it in normal times [messages/s]."""

    model_config = _MODEL
    put_rate_per_s: Rate = Decimal(0)
    get_rate_per_s: Rate = Decimal(0)


_RatesByName = Annotated[
    dict[QueueManagerName, QueueManagerRates] | None,
    Field(max_length=limit("queue_managers_per_group")),
]


class Queue(BaseModel):
    """A shared queue, with its backlog or the rate and outage that make it."""

    model_config = _MODEL
    name: QueueName
    message_bytes: Annotated[
        Annotated[int, Field(ge=0, le=_LARGEST_MESSAGE), WithJsonSchema(_MESSAGE_SIZES_SCHEMA)]
        | MessageSizes,
        BeforeValidator(_message_bytes),
    ]
    backlog: Count | None = None
    put_rate_per_s: Rate | None = None
    outage_minutes: Minutes | None = None
    persistent: bool = False
    selector_reads: Annotated[
        bool,
        Field(
            description="Read by selectors, or searched deep: such gets slow down every queue of the structure."
        ),
    ] = False
    isolation: Annotated[
        Annotated[str, _named(names.label, example="PCI"), Field(min_length=1, max_length=32)] | None,
        Field(description="A label; queues with different labels must not share a structure or a CF."),
    ] = None
    maxdepth: MaxDepth | None = None
    qdepthhi: Annotated[Threshold | None, Field(description="Percent of MAXDEPTH.")] = None
    qdepthlo: Annotated[Threshold | None, Field(description="Percent of MAXDEPTH.")] = None
    qdphiev: Switch | None = None
    qdploev: Switch | None = None
    qdpmaxev: Switch | None = None
    qsvciev: Annotated[
        Literal["NONE", "OK", "HIGH"] | None, Field(description="Has no effect on a shared queue.")
    ] = None
    share: Annotated[
        bool, Field(description="SHARE: several applications may get from the queue; false is NOSHARE.")
    ] = True
    default_share_option: Annotated[
        Literal["SHARED", "EXCL"] | None,
        Field(description="DEFSOPT; absent: SHARED with `share`, EXCL without."),
    ] = None
    index_type: Annotated[
        Literal["NONE", "MSGID", "CORRELID", "GROUPID"] | None,
        Field(description="INDXTYPE. MQ refuses MSGTOKEN for shared queues."),
    ] = None
    max_message_length: Annotated[
        Annotated[int, Field(ge=0, le=_LARGEST_MESSAGE)] | None,
        Field(description="MAXMSGL [bytes], with all headers of the message."),
    ] = None
    backout_threshold: Annotated[
        Annotated[int, Field(ge=0, le=limit("largest_backout_threshold"))] | None,
        Field(description="BOTHRESH."),
    ] = None
    backout_queue: Annotated[QueueName | None, Field(description="BOQNAME.")] = None
    curdepth: Annotated[MaxDepth | None, Field(description="CURDEPTH when the switches were displayed.")] = (
        None
    )
    get_rate_per_s: Annotated[
        Rate | None, Field(description="Messages got in normal times; with put_rate_per_s.")
    ] = None
    queue_manager_rates: Annotated[
        _RatesByName, Field(description="Puts and gets by queue manager, as measured.")
    ] = None


class Structure(BaseModel):
    """An application structure. INITSIZE and SIZE, when given, are checked and never overwritten."""

    model_config = _MODEL
    name: CfstructName
    cflevel: Annotated[int, Field(ge=1, le=5)] = 5
    recover: bool = True
    cfconlos: Annotated[
        Literal["ASQMGR", "TERMINATE", "TOLERATE"],
        Field(description="CFCONLOS: what a queue manager does that loses its connection to the structure."),
    ] = "ASQMGR"
    recauto: Annotated[bool, Field(description="RECAUTO: MQ recovers the structure without an operator.")] = (
        True
    )
    initsize: StructureSize | None = None
    size: StructureSize | None = None
    minsize: MinSize | None = None
    allow_auto_alter: bool = False
    entry_to_element_ratio: Annotated[
        list[Annotated[int, Field(ge=1, le=65535)]] | None, Field(min_length=2, max_length=2)
    ] = None
    full_threshold: Threshold = limit("fullthreshold_in_examples")
    preflist: PrefList = Field(
        default_factory=list, description="Absent: all coupling facilities of the plan, in order."
    )
    exclist: ExclList = Field(default_factory=list)
    duplex: Duplex = "DISABLED"
    duplex_site: Annotated[
        DuplexSite | None, Field(description="Second value of DUPLEX: the site of the second copy.")
    ] = None
    enforce_order: Annotated[bool, Field(description="ENFORCEORDER(YES): PREFLIST is not reordered.")] = False
    scm: Scm = Field(default_factory=Scm)
    offload: Offload = Field(default_factory=Offload)
    size_with_offload: bool = False
    event_target_percent: Annotated[
        Annotated[int, Field(ge=1, le=100)] | None,
        Field(description="Queue Depth High events are to come before the structure is this full."),
    ] = None
    queues: Annotated[list[Queue], UntilManyErrors] = Field(default_factory=list)


class Acknowledgement(BaseModel):
    """A warning or note that the planners have seen and accept, and why."""

    model_config = _MODEL
    code: Annotated[
        str, _named(names.finding_code, example="INITSIZE_BELOW_NEED"), Field(min_length=1, max_length=64)
    ]
    structure: Annotated[
        Annotated[str, _named(names.structure, example="APPLICATION1"), Field(min_length=1, max_length=16)]
        | None,
        Field(description="Name of the structure without the group's; absent: every finding of that code."),
    ] = None
    message: Annotated[
        Annotated[
            str,
            _named(names.finding_message, example="SIZE is below INITSIZE."),
            Field(min_length=1, max_length=20_000),
        ]
        | None,
        Field(description="The sentence that is accepted; absent: whatever the finding says."),
    ] = None
    reason: Annotated[str, _named(names.reason, example="agreed"), Field(min_length=1, max_length=500)]


class ClusteredInstance(InstanceEntry):
    """An instance of a clustered queue, and what its consumers take."""

    shared: Annotated[bool, Field(description="It is a shared queue of this group.")] = False
    get_rate_per_s: Annotated[
        Rate | None, Field(description="What the consumers at this queue manager take at most.")
    ] = None


class Cluster(BaseModel):
    """What one sender puts to a clustered queue, and who hosts the queue."""

    model_config = _MODEL
    name: Annotated[MqName, Field(description="Name of the cluster.")]
    queue: QueueName
    sender: Annotated[MqName | None, Field(description="Queue manager that chooses.")] = None
    rate_per_s: Rate
    not_fixed_percent: Annotated[
        Decimal,
        _number(lowest=0, highest=100),
        _AS_NUMBER,
        _number_schema(0, 100),
        Field(description="Messages that are not bound to their destination."),
    ] = Decimal(100)
    mode: Literal["seed", "ibm"] = "seed"
    clwluseq: Annotated[
        Literal["LOCAL", "ANY"], choice("LOCAL", "ANY"), Field(description="Of the sender's own instance.")
    ] = "LOCAL"
    hbint: Annotated[int, Field(ge=0, le=999_999, description="Heartbeat interval of the channels.")] = 300
    detect_seconds: Annotated[
        Annotated[int, Field(ge=0, le=10**6)] | None,
        Field(description="Until a failed channel is noticed; absent: from HBINT."),
    ] = None
    outage_minutes: Annotated[
        Minutes | None, Field(description="How long a destination is away; absent: that of the queue.")
    ] = None
    return_rate_per_s: Annotated[
        Rate | None, Field(description="Rate at which a channel that is back delivers what waited.")
    ] = None
    instances: Annotated[list[ClusteredInstance], Field(min_length=1, max_length=64)]


class PlanDocument(BaseModel):
    """The plan of one queue-sharing group."""

    model_config = _MODEL
    schema_version: Annotated[Literal[1], BeforeValidator(_not_boolean)] = 1
    qsg: QsgName
    queue_managers: Annotated[
        Annotated[int, Field(ge=1, le=999)]
        | Annotated[list[QueueManagerName], UntilManyErrors, Field(min_length=1)],
        Field(
            description="Queue managers DEFINED to the group (CSQ5PQSG, DISPLAY GROUP): a number, or their names."
        ),
    ]
    cfcc_level: Annotated[CfccLevel, Field(description="CF control code level; not MQ's CFLEVEL.")] = 25
    perfmev: Annotated[
        Switch | dict[QueueManagerName, Switch] | None,
        Field(description="PERFMEV of all queue managers, or of each by name."),
    ] = None
    cfconlos: Annotated[
        Literal["TERMINATE", "TOLERATE"] | None,
        Field(
            description="CFCONLOS of the queue managers: for CSQ_ADMIN and structures with ASQMGR. Absent: not planned."
        ),
    ] = None
    curve: Literal["published"] | FittedCurve = "published"
    growth: Growth = Field(default_factory=Growth)
    target_usage_percent: Annotated[
        TargetPercent,
        Field(description="Share of the fuller pool that the planned backlog may take of INITSIZE."),
    ] = Decimal(tables.constants("sizing_choices")["target_usage_percent"].value)
    headroom_percent: Annotated[
        Percent | None,
        Field(description="INITSIZE is the need with so much on top; replaces target_usage_percent."),
    ] = None
    size_factor: SizeFactor = Decimal("1.5")
    admin: Admin = Field(default_factory=Admin)
    system: System = Field(default_factory=System)
    policy: Policy = Field(default_factory=Policy)
    coupling_facilities: Annotated[list[CouplingFacility], Field(max_length=64)] = Field(default_factory=list)
    structures: Annotated[list[Structure], UntilManyErrors] = Field(default_factory=list)
    acknowledged: Annotated[list[Acknowledgement], Field(max_length=1000)] = Field(default_factory=list)
    clusters: Annotated[list[Cluster], Field(max_length=32)] = Field(
        default_factory=list, description="Clusters that send to the group's shared queues."
    )

    @property
    def queue_manager_count(self) -> int:
        """Queue managers defined to the group."""
        return self.queue_managers if isinstance(self.queue_managers, int) else len(self.queue_managers)


_MODELS: tuple[type[BaseModel], ...] = (
    Growth,
    Admin,
    System,
    Policy,
    CouplingFacility,
    Scm,
    Offload,
    QueueManagerRates,
    Queue,
    Structure,
    ChannelEntry,
    ClusteredInstance,
    Cluster,
    PlanDocument,
)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the plan document (draft 2020-12), with defaults as a document writes them."""
    schema = PlanDocument.model_json_schema(mode="validation")
    for model in _MODELS:
        place = schema if model is PlanDocument else schema["$defs"][model.__name__]
        for name, default in model.model_construct().model_dump(mode="json", warnings=False).items():
            place["properties"][name]["default"] = default
    branches = schema["$defs"]["Queue"]["properties"]["message_bytes"]
    # Text is a second form of the number, so pydantic writes one list of branches into the other.
    branches["anyOf"] = [part for each in branches["anyOf"] for part in each.get("anyOf", [each])]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return {**head, "title": "cfplan plan document"}


def with_new_keys(document: dict[str, Any]) -> dict[str, Any]:
    """A document as it was stored, with the keys that came later at their defaults.

    So that an old document and a new one differ in what somebody wrote, and in nothing else. It is not checked again.
    """
    schema = _schema_once()
    found = _filled(document, schema, schema["$defs"])
    return found if isinstance(found, dict) else document


@cache
def _schema_once() -> dict[str, Any]:
    return json_schema()


def _filled(value: object, schema: dict[str, Any], known: dict[str, Any]) -> object:
    """A value with what its schema has defaults for."""
    branches = [schema, *schema.get("anyOf", ())]
    if isinstance(value, dict):
        named = next((each["$ref"] for each in branches if "$ref" in each), None)
        shape = known[named.rpartition("/")[2]] if named else schema
        properties = shape.get("properties")
        if properties is None:  # a map whose keys are names
            return value
        found = {key: _filled(each, properties.get(key, {}), known) for key, each in value.items()}
        missing = {key: each for key, each in properties.items() if key not in value and "default" in each}
        return found | {key: copy.deepcopy(each["default"]) for key, each in missing.items()}
    if isinstance(value, list):
        items: dict[str, Any] = next((each["items"] for each in branches if "items" in each), {})
        return [_filled(each, items, known) for each in value] if items else value
    return value


def read_json(text: bytes | str, *, is_stored: bool = False) -> PlanDocument:
    """Read a plan document from JSON text; `is_stored` as for `read_object`.

    Raises:
        DocumentInvalid: Not UTF-8, not JSON, a key twice, or a field that is wrong; every
            problem with its JSON pointer.
    """
    return read_object(parse_json(text), is_stored=is_stored)


@dataclass(frozen=True, slots=True)
class _Unusable:
    """Stands in a parsed document for what cannot be read, so that its field can be named."""

    message: str


def parse_json(text: bytes | str) -> object:
    """JSON text → object, stricter than the standard library: no key twice, no NaN, numbers exact.

    Raises:
        DocumentInvalid: Not UTF-8, not JSON; or each number and object that cannot be read,
            with its JSON pointer.
    """
    reader = _JsonReader()
    try:
        parsed = reader.read(text if isinstance(text, str) else text.decode("utf-8"))
        if is_too_deep(parsed):
            raise RecursionError
        problems = first_problems(_unusable(parsed, "")) if reader.met_unusable else ()
    except UnicodeDecodeError as error:
        _invalid(f"The text is not UTF-8: byte {error.start} cannot be read.")
    except json.JSONDecodeError as error:
        message = f"The text is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        raise NotJson((FieldProblem("", message),)) from None
    except RecursionError:
        _invalid("The text is nested too deeply.")
    if problems:
        raise DocumentInvalid(problems)
    return parsed


class _JsonReader:
    """The standard library's reader, with what it would let through marked."""

    def __init__(self) -> None:
        self.met_unusable = False

    def read(self, text: str) -> object:
        return json.loads(
            text,
            object_pairs_hook=self._once,
            parse_float=self._decimal,
            parse_int=self._integer,
            parse_constant=lambda name: self._mark(f"{name} is not a number that JSON knows."),
        )

    def _mark(self, message: str) -> _Unusable:
        self.met_unusable = True
        return _Unusable(message)

    def _once(self, pairs: list[tuple[str, object]]) -> dict[str, object] | _Unusable:
        if len(pairs) > MOST_KEYS:
            return self._mark(f"The object has {len(pairs)} keys: at most {MOST_KEYS} are allowed.")
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            return self._mark(f"The key {twice!r} stands twice in one object.")
        return found

    def _decimal(self, text: str) -> Decimal | _Unusable:
        if len(text) > _LONGEST_NUMBER:
            return self._too_long(text)
        try:
            return Decimal(text)
        except InvalidOperation:  # an exponent beyond what a computer can hold
            return self._mark(f"The number {text} is beyond every range.")

    def _integer(self, text: str) -> int | _Unusable:
        return self._too_long(text) if len(text) > _LONGEST_NUMBER else int(text)

    def _too_long(self, text: str) -> _Unusable:
        return self._mark(f"The number {text[:_SHOWN]}... is too long: at most {_LONGEST_NUMBER} characters.")


def _unusable(value: object, pointer: str) -> Iterator[FieldProblem]:
    if isinstance(value, _Unusable):
        yield FieldProblem(pointer, value.message)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unusable(item, f"{pointer}/{escape_pointer(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unusable(item, f"{pointer}/{index}")


def _invalid(message: str, field: str = "") -> NoReturn:
    raise DocumentInvalid((FieldProblem(field, message),)) from None


def read_object(document: object, *, is_stored: bool = False) -> PlanDocument:
    """Check an already parsed document.

    Args:
        document: What was parsed.
        is_stored: It was accepted and stored before, perhaps by an earlier version: sizes that are only implausible
            are accepted.

    Raises:
        DocumentInvalid: Every problem with its JSON pointer.
    """
    if not isinstance(document, dict):
        _invalid("A plan document is an object with the keys qsg, queue_managers, structures and so on.")
    structures = document.get("structures")
    if (
        isinstance(structures, list)
        and sum(isinstance(each, dict) for each in structures) > MOST_STRUCTURES_READ
    ):
        message = (
            f"has {len(structures)} structures: a group has at most {limit('structures_per_group')}, and more than "
            f"{MOST_STRUCTURES_READ} are not read"
        )
        raise DocumentInvalid((FieldProblem("/structures", message),))
    try:
        plan = PlanDocument.model_validate(document)
    except ValidationError as error:
        raise DocumentInvalid(field_problems(error, document, model=PlanDocument)) from None
    except RecursionError:
        _invalid("The document is nested too deeply.")
    problems = first_problems(chain(_cross_checks(plan), () if is_stored else _implausible_sizes(plan)))
    if problems:
        raise DocumentInvalid(problems)
    return plan


def _implausible_sizes(plan: PlanDocument) -> Iterator[FieldProblem]:
    """Coupling facilities so small that a unit is missing or wrong: a bare number counts K, as in a CFRM policy."""
    for index, facility in enumerate(plan.coupling_facilities):
        if facility.size is None or facility.size >= _SMALLEST_CF:
            continue
        size = format_size(facility.size)
        number = int(size[:-1])
        meant = " or ".join(
            f"{number}{unit}"
            for unit, fits in (("M", number >= _SMALLEST_CF // MIB), ("G", number <= _MOST_GIB_MEANT))
            if fits
        )
        yield FieldProblem(
            f"/coupling_facilities/{index}/size",
            f"is {size}, too small for a coupling facility, which has at least {format_size(_SMALLEST_CF)} "
            f"(a number without a unit counts K): did you mean {meant}?",
        )


_SENTENCES = {
    "missing": "is required",
    "string_pattern_mismatch": "is not allowed here: a queue has 1 to 48 characters A-Z a-z 0-9 . / _ %",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
}


def field_problems(
    error: ValidationError,
    document: object,
    *,
    model: type[BaseModel],
    what: str = "the plan document",
    sentences: Mapping[str, str] | None = None,
) -> tuple[FieldProblem, ...]:
    """One problem a field, with pydantic's branch labels taken out of the location; the first when there are many.

    `model` is the document's shape, whose keys are suggested for unknown ones; `what` names the document; `sentences`
    adds words for kinds of errors that only that document has.
    """
    known = {**_SENTENCES, "extra_forbidden": f"is not a key of {what}", **(sentences or {})}
    by_field: dict[str, list[str]] = {}
    suggestions = 0
    errors = [
        (_pointer(item["loc"], document, missing=item["type"] == "missing"), item)
        for item in error.errors(include_url=False, include_input=False)
    ]
    around = _around(pointer for pointer, _ in errors)
    for pointer, item in errors:
        if _is_other_branch(item["type"]) and pointer in around:
            continue  # what is wrong stands deeper: the plain form of the field was not meant
        message = (
            known.get(item["type"])
            or _of_length(item)
            or item["msg"].removeprefix("Input ").removeprefix("Value error, ")
        )
        if item["type"] == "extra_forbidden" and suggestions < _MOST_SUGGESTIONS:
            suggestions += 1
            message += did_you_mean(str(item["loc"][-1]), _keys_at(model, item["loc"][:-1]))
        messages = by_field.setdefault(pointer, [])
        if message not in messages:
            messages.append(message)
    return first_problems(
        FieldProblem(pointer, ", or ".join(messages)) for pointer, messages in by_field.items()
    )


def _around(pointers: Iterable[str]) -> set[str]:
    """The pointers of every list and object that holds one of these fields."""
    found: set[str] = set()
    for pointer in pointers:
        here = pointer
        while here:
            here = here.rpartition("/")[0]
            if here in found:
                break
            found.add(here)
    return found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that refuses a word: the closest known one, or nothing."""
    if len(word) > _LONGEST_SUGGESTED:
        return ""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    found = get_close_matches(plain, list(known), n=1)
    return f": did you mean {found[0]}?" if found else ""


def _keys_at(model: type[BaseModel], location: Iterable[int | str]) -> list[str]:
    """The keys of the object at a place in a document of this shape; of all shapes that it may have there."""
    here: tuple[type[BaseModel], ...] = (model,)
    for item in location:
        deeper = [
            found
            for each in here
            for name, field in each.model_fields.items()
            if item in (name, field.alias)
            for found in _models_in(field.annotation)
        ]
        # An index, the name of a queue manager and the label of a union's branch lead no deeper in the model.
        here = tuple(deeper) or here
    return sorted({field.alias or name for each in here for name, field in each.model_fields.items()})


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The models in an annotation, through unions, lists, maps and their constraints."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _of_length(item: ErrorDetails) -> str | None:
    """What is wrong with the length of a list, an object or a text; None where it is something else."""
    told = item.get("ctx", {})
    least, most, has = told.get("min_length"), told.get("max_length"), told.get("actual_length")
    kind = item["type"]
    if kind in ("too_short", "string_too_short") and (has == 0 or (kind != "too_short" and least == 1)):
        return f"is empty: it needs at least {_count(least, 'item' if kind == 'too_short' else 'character')}"
    if kind == "too_short":
        return f"has {_count(has, 'item')}: it needs at least {_count(least, 'item')}"
    if kind == "too_long":
        return f"has {_count(has, 'item')}: at most {_count(most, 'item')} are allowed"
    if kind == "string_too_short":
        return f"must have at least {_count(least, 'character')}"
    if kind == "string_too_long":
        return f"must have at most {_count(most, 'character')}"
    return None


def _count(number: object, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _is_other_branch(kind: str) -> bool:
    """Whether the error says only that a value is of another kind than one branch of a union wants."""
    return kind.endswith("_type") or kind == "literal_error"


def _pointer(location: tuple[int | str, ...], document: object, *, missing: bool) -> str:
    parts: list[str] = []
    here = document
    for index, item in enumerate(location):
        step = _child(here, item)
        if step is not _NOTHING:
            here = step
        elif not (missing and index == len(location) - 1):
            # The label of a union's branch, no part of the document.
            continue
        parts.append(escape_pointer(str(item)))
    return "".join(f"/{part}" for part in parts)


def _child(here: object, item: int | str) -> object:
    """What stands under a key or index, or _NOTHING."""
    if isinstance(here, dict):
        return here.get(item, _NOTHING)
    if isinstance(here, list) and isinstance(item, int) and item < len(here):
        return here[item]
    return _NOTHING


def escape_pointer(part: str) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return part.replace("~", "~0").replace("/", "~1")


def _cross_checks(plan: PlanDocument) -> Iterator[FieldProblem]:
    """What no single field shows."""
    members = plan.queue_managers if isinstance(plan.queue_managers, int) else set(plan.queue_managers)
    if isinstance(plan.perfmev, dict):
        yield from _check_members("/perfmev", plan.perfmev, members)
    if isinstance(plan.queue_managers, list):
        yield from _twice("/queue_managers", plan.queue_managers, "queue manager")
        if plan.qsg in plan.queue_managers:
            at = f"/queue_managers/{plan.queue_managers.index(plan.qsg)}"
            yield FieldProblem(
                at, f"{plan.qsg} is the name of the group: no queue manager in it may have that name"
            )
    yield from _twice(
        "/coupling_facilities", [cf.name for cf in plan.coupling_facilities], "coupling facility", "/name"
    )
    yield from _twice("/structures", [structure.name for structure in plan.structures], "structure", "/name")
    for key, given in (("/admin", plan.admin), ("/system", plan.system)):
        yield from _check_sizes(key, given.initsize, given.size, given.minsize)
        yield from _check_lists(key, given.preflist, given.exclist)
    yield from _check_clusters(plan.clusters)
    queue_places: dict[str, str] = {}
    for index, structure in enumerate(plan.structures):
        at = f"/structures/{index}"
        yield from _check_sizes(at, structure.initsize, structure.size, structure.minsize)
        yield from _check_lists(at, structure.preflist, structure.exclist)
        if structure.offload.dsblock & (structure.offload.dsblock - 1):
            yield FieldProblem(f"{at}/offload/dsblock", "must be 8K, 16K, 32K, 64K, 128K, 256K, 512K or 1M")
        for number, queue in enumerate(structure.queues):
            where = f"{at}/queues/{number}"
            if queue.name in queue_places:
                other = queue_places[queue.name]
                yield FieldProblem(
                    f"{where}/name",
                    f"queue {queue.name} is already at {other}: a queue lies on one structure",
                )
            queue_places[queue.name] = where
            yield from _check_queue(where, queue)
            if queue.queue_manager_rates:
                yield from _check_members(f"{where}/queue_manager_rates", queue.queue_manager_rates, members)


def _check_clusters(clusters: list[Cluster]) -> Iterator[FieldProblem]:
    seen: dict[tuple[str, str, str | None], int] = {}
    channels = sum(len(instance.as_channels()) for entry in clusters for instance in entry.instances)
    if channels > _MOST_CLUSTER_CHANNELS:
        yield FieldProblem(
            "/clusters", f"have {channels} channels together; at most {_MOST_CLUSTER_CHANNELS} are taken"
        )
    for index, entry in enumerate(clusters):
        at, key = f"/clusters/{index}", (entry.name, entry.queue, entry.sender)
        if key in seen:
            yield FieldProblem(
                f"{at}/queue",
                f"queue {entry.queue} is already at /clusters/{seen[key]}: name the sender of each",
            )
        seen[key] = index
        yield from check_instances(entry.instances, f"{at}/instances")
        yield from check_sender(entry.instances, entry.sender, f"{at}/instances")


def _twice(at: str, values: list[str], what: str, key: str = "") -> Iterator[FieldProblem]:
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield FieldProblem(f"{at}/{index}{key}", f"{what} {value} is named twice")
        seen.add(value)


def _check_sizes(
    at: str, initsize: int | None, size: int | None, minsize: int | None
) -> Iterator[FieldProblem]:
    if initsize is not None and size is not None and initsize > size:
        yield FieldProblem(
            f"{at}/initsize", f"INITSIZE {format_size(initsize)} is above SIZE {format_size(size)}"
        )
    ceiling = initsize or size
    if minsize is not None and ceiling is not None and minsize > ceiling:
        yield FieldProblem(f"{at}/minsize", f"MINSIZE {format_size(minsize)} is above {format_size(ceiling)}")


def _check_lists(at: str, preflist: list[str], exclist: list[str]) -> Iterator[FieldProblem]:
    yield from _twice(f"{at}/preflist", preflist, "coupling facility")
    yield from _twice(f"{at}/exclist", exclist, "structure")


def _check_members(at: str, by_name: Mapping[str, object], members: int | set[str]) -> Iterator[FieldProblem]:
    """Names that are told of must be queue managers of the group."""
    if isinstance(members, set):
        for name in by_name:
            if name not in members:
                yield FieldProblem(f"{at}/{name}", f"{name} is not among the queue_managers of the plan")
    elif len(by_name) > members:
        yield FieldProblem(at, f"names {len(by_name)} queue managers, but queue_managers says {members}")


def _check_queue(at: str, queue: Queue) -> Iterator[FieldProblem]:
    is_measured = queue.get_rate_per_s is not None and queue.backlog is not None
    rated = queue.outage_minutes is not None or (queue.put_rate_per_s is not None and not is_measured)
    if queue.get_rate_per_s is not None and queue.put_rate_per_s is None:
        yield FieldProblem(f"{at}/put_rate_per_s", "is required with get_rate_per_s")
    if queue.backlog is not None and rated:
        extra = "outage_minutes" if queue.put_rate_per_s is None or is_measured else "put_rate_per_s"
        yield FieldProblem(
            f"{at}/{extra}", "give either backlog, or put_rate_per_s with outage_minutes, not both"
        )
    elif queue.backlog is None and not rated:
        yield FieldProblem(f"{at}/backlog", "is required, unless put_rate_per_s and outage_minutes are given")
    elif queue.backlog is None and queue.put_rate_per_s is None:
        yield FieldProblem(f"{at}/put_rate_per_s", "is required with outage_minutes")
    elif queue.backlog is None and queue.outage_minutes is None:
        yield FieldProblem(f"{at}/outage_minutes", "is required with put_rate_per_s")
    if isinstance(queue.message_bytes, MessageSizes):
        sizes = queue.message_bytes.distribution()
        problem = None if isinstance(sizes, int) else sizes.problem()
        if problem:
            yield FieldProblem(f"{at}/message_bytes", problem)
