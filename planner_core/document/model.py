"""The plan document, which the form, REST, the command line and files share.

Unknown keys are refused. The types of its fields convert sizes to bytes and check names, so that text from users reaches
a generated statement only as a checked value.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from planner_core import names, tables
from planner_core.bounds import UntilManyErrors
from planner_core.document.cluster_entries import InstanceEntry, MqName, choice
from planner_core.document.size_distribution import SizeDistribution
from planner_core.document.size_shape import BODY, TWENTY
from planner_core.document.types import (
    ALNUM,
    AS_NUMBER,
    HEX,
    LARGEST_MESSAGE_BYTES,
    MESSAGE_SIZES_SCHEMA,
    MODEL,
    RULE_OFF_BYTES,
    BlockSize,
    CfccLevel,
    CfName,
    CfstructName,
    Count,
    Db2GroupName,
    DsGroup,
    Duplex,
    DuplexSite,
    ExclList,
    FacilitySize,
    GrowthPercent,
    MaxDepth,
    MeanBytes,
    MessageBytes,
    MinSize,
    Minutes,
    Occupied,
    Percent,
    PolicyName,
    PrefList,
    QsgName,
    QueueManagerName,
    QueueName,
    Rate,
    RuleSize,
    ScmSize,
    SizeFactor,
    StructureName,
    StructureSize,
    Switch,
    TargetPercent,
    Threshold,
    Years,
    checked_by,
    hardware_code,
    mean_message_size,
    message_bytes,
    not_boolean,
    number_between,
    number_schema,
    one_message_size,
    refuse,
)
from planner_core.errors import SizeSyntax
from planner_core.limits import limit
from planner_core.units import kib_to_bytes


class FittedCurve(BaseModel):
    """A curve fitted to this site, pinned by its version."""

    model_config = MODEL
    fitted: Annotated[int, Field(ge=1, le=10**9)]


class Growth(BaseModel):
    """Compound growth of rates and backlogs until the horizon."""

    model_config = MODEL
    percent_per_year: GrowthPercent = Decimal(0)
    years: Years = Decimal(0)


_PlanList = Annotated[PrefList, Field(description="Absent: all coupling facilities of the plan, in order.")]
_SecondSite = Annotated[
    DuplexSite | None, Field(description="Second value of DUPLEX: the site of the second copy.")
]
_EnforceOrder = Annotated[bool, Field(description="ENFORCEORDER(YES): PREFLIST is not reordered.")]


class GivenStructure(BaseModel):
    """Settings of the two structures that are always generated."""

    model_config = MODEL
    initsize: StructureSize | None = None
    size: StructureSize | None = None
    minsize: MinSize | None = None
    # IBM's default is 80; its examples of MQ structures have 85.
    full_threshold: Threshold = limit("fullthreshold_in_examples")
    allow_auto_alter: bool = False
    preflist: _PlanList = Field(default_factory=list)
    exclist: ExclList = Field(default_factory=list)
    duplex: Duplex = "DISABLED"
    duplex_site: _SecondSite = None
    enforce_order: _EnforceOrder = False


class Admin(GivenStructure):
    """CSQ_ADMIN: headroom for large units of work, and the current entries and elements from displays."""

    headroom_percent: Percent = Decimal(0)
    entsmax: Annotated[Count | None, Field(description="ENTSMAX from DISPLAY CFSTATUS(CSQ_ADMIN).")] = None
    elements_total: Annotated[
        Count | None, Field(description="Total number of elements of CSQ_ADMIN, from D XCF,STR or IXC585E.")
    ] = None


class System(GivenStructure):
    """CSQSYSAPPL: shared channels and group units of recovery."""

    include: bool = True
    shared_channels: Annotated[int, Field(ge=0, le=10**7)] = 500
    group_ur_messages: Annotated[int, Field(ge=0, le=10**9)] = tables.constants("system_structure_usage")[
        "ur_messages"
    ].value


class Policy(BaseModel):
    """The CFRM policy; with `job`, the complete job."""

    model_config = MODEL
    name: PolicyName | None = None
    job: bool = False
    replace: Annotated[
        bool, Field(description="REPLACE(YES) in the job; it replaces the whole policy of that name.")
    ] = False


class CouplingFacility(BaseModel):
    """One coupling facility; only the complete job needs the hardware fields."""

    model_config = MODEL
    name: CfName
    size: FacilitySize | None = None
    cfcc_level: CfccLevel | None = None
    site: Literal["SITE1", "SITE2"] | None = None
    volatile: bool = False
    failure_isolated: bool = True
    # Text, because leading zeros are significant, and a number would lose them.
    type: (
        Annotated[str, hardware_code("TYPE", longest=6, alphabet=ALNUM, example="003931", exact=True)] | None
    ) = None
    mfg: Annotated[str, hardware_code("MFG", longest=3, alphabet=ALNUM, example="IBM")] | None = None
    plant: Annotated[str, hardware_code("PLANT", longest=2, alphabet=ALNUM, example="02")] | None = None
    sequence: (
        Annotated[
            str, hardware_code("SEQUENCE", longest=12, alphabet=ALNUM, example="0000000A1B2C", exact=True)
        ]
        | None
    ) = None
    partition: Annotated[str, hardware_code("PARTITION", longest=2, alphabet=HEX, example="0F")] | None = None
    cpcid: Annotated[str, hardware_code("CPCID", longest=2, alphabet=HEX, example="00")] | None = None
    dumpspace: FacilitySize | None = None
    occupied: Annotated[
        Occupied | None,
        Field(description="Storage of structures that are neither in this plan nor in other_structures."),
    ] = None
    scm: Annotated[
        Occupied | None, Field(description="Storage-class memory of the CF; 0 if it has none.")
    ] = None


class OtherStructure(BaseModel):
    """A structure of the sysplex that is not the group's, such as LOCK1 of Db2: counted, and never written."""

    model_config = MODEL
    name: Annotated[StructureName, Field(description="Name in the CFRM policy.")]
    size: Annotated[StructureSize, Field(description="SIZE of its policy statement.")]
    initsize: StructureSize | None = None
    allocated: Annotated[
        StructureSize | None,
        Field(description="Its current size, from D XCF,STR: counted instead of INITSIZE."),
    ] = None
    preflist: _PlanList = Field(default_factory=list)
    exclist: ExclList = Field(default_factory=list)
    duplex: Duplex = "DISABLED"
    duplex_site: _SecondSite = None
    enforce_order: _EnforceOrder = False


class Scm(BaseModel):
    """Storage-class memory of a structure: its maximum, and the CF storage that it needs in addition."""

    model_config = MODEL
    max_size: Annotated[ScmSize | None, Field(description="SCMMAXSIZE.")] = None
    algorithm: Annotated[Literal["KEYPRIORITY1"], Field(description="SCMALGORITHM.")] = "KEYPRIORITY1"
    augmented: Annotated[
        Occupied | None,
        Field(
            description="CF storage for augmented space when all of it is used, from CFSizer or D XCF,STR."
        ),
    ] = None


class OffloadRule(BaseModel):
    """A rule that offloads the data of messages over a size while the structure is more than a percentage full."""

    model_config = MODEL
    usage_over: Threshold
    size_over: RuleSize


@cache
def _rules_of_ibm(*, is_off: bool) -> tuple[OffloadRule, ...]:
    return tuple(
        OffloadRule.model_construct(
            usage_over=int(row["usage_over_percent"]),
            size_over=RULE_OFF_BYTES if is_off else kib_to_bytes(int(row["size_over_kb"])),
        )
        for row in tables.table("offload_defaults").records()
    )


def _default_rules(offload: dict[str, Any]) -> list[OffloadRule]:
    """Return IBM's default rules."""
    # OFFLD1SZ(32K/64K) in the syntax of DEFINE CFSTRUCT is 32K with SMDS, and 64K, which is off, with DB2. The rules are
    # built once: validation of a document with thousands of structures would otherwise mostly build rules.
    return list(_rules_of_ibm(is_off=offload.get("to") == "DB2"))


class Offload(BaseModel):
    """The destination and the rules for offloading message data. Rules that the document omits are off (64K)."""

    model_config = MODEL
    to: Literal["SMDS", "DB2"] = "SMDS"
    rules: Annotated[list[OffloadRule], Field(max_length=3)] = Field(
        default_factory=_default_rules,
        description="The defaults are IBM's: as shown for SMDS, and 64K each, which means off, for DB2.",
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

    model_config = MODEL
    mean: MeanBytes
    p95: MessageBytes
    max: MessageBytes

    def distribution(self) -> SizeDistribution | int:
        """Return the distribution for calculations; one size if mean, p95 and max are equal."""
        # Kept as a ratio: the mean may have decimals, and calculations are exact.
        numerator, denominator = self.mean.as_integer_ratio()
        p95, maximum = self.p95, self.max
        if p95 == maximum and maximum * denominator == numerator:
            return maximum
        return SizeDistribution(numerator, denominator, p95, maximum)

    def problem(self) -> str | None:
        """Return a sentence if no distribution can have these three values, otherwise None."""
        # The same bounds as in `SizeDistribution.problem`, without the ratio. Decimals are exact here, because a mean has
        # at most 15 digits.
        p95, twenty = self.p95, TWENTY * self.mean
        if p95 <= self.max and p95 <= twenty <= BODY * p95 + self.max:
            return None
        sizes = self.distribution()
        return None if isinstance(sizes, int) else sizes.problem()


_DISTRIBUTION = ("mean", "p95", "max")


def _message_bytes(value: object) -> object:
    """Read one size or three, as numbers or as text: 1024, `1K`, `3500/12K/60K`."""
    # Before pydantic tries the two types, because it would report an error for each of them.
    if isinstance(value, str):
        parts = value.split("/", len(_DISTRIBUTION))
        if len(parts) == len(_DISTRIBUTION):
            mean, p95, largest = (part.strip() for part in parts)
            # Read here: an error in one of three texts would otherwise list the errors of both types.
            sizes = (mean_message_size(mean), one_message_size(p95), one_message_size(largest))
            return dict(zip(_DISTRIBUTION, sizes, strict=True))
        try:
            return message_bytes(value)
        except SizeSyntax as error:
            if error.problem:
                refuse(error.problem)
            refuse("must be one size, such as 1024 or 4K, or mean/p95/max, such as 3500/12000/60000")
        except ValueError as error:
            refuse(str(error))
    if isinstance(value, bool) or not isinstance(value, (int, dict, MessageSizes)):
        refuse("must be a whole number of bytes, or an object with mean, p95 and max")
    if isinstance(value, int) and not 0 <= value <= LARGEST_MESSAGE_BYTES:
        refuse(f"must be between 0 and {LARGEST_MESSAGE_BYTES} bytes (100 MB)")
    return value


class QueueManagerRates(BaseModel):
    """Normal puts and gets of one queue manager on a queue [messages/s]."""

    model_config = MODEL
    put_rate_per_s: Rate = Decimal(0)
    get_rate_per_s: Rate = Decimal(0)


_RatesByName = Annotated[
    dict[QueueManagerName, QueueManagerRates] | None,
    Field(max_length=limit("queue_managers_per_group")),
]


class Queue(BaseModel):
    """A shared queue, with its backlog or the rate and outage that cause the backlog."""

    model_config = MODEL
    name: QueueName
    message_bytes: Annotated[
        Annotated[int, Field(ge=0, le=LARGEST_MESSAGE_BYTES), WithJsonSchema(MESSAGE_SIZES_SCHEMA)]
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
            description="Gets use selectors or search deep, which slows down every queue of the structure."
        ),
    ] = False
    isolation: Annotated[
        Annotated[str, Field(min_length=1, max_length=32), checked_by(names.label, example="PCI")] | None,
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
        Field(description="INDXTYPE. MQ rejects MSGTOKEN for shared queues."),
    ] = None
    max_message_length: Annotated[
        Annotated[int, Field(ge=0, le=LARGEST_MESSAGE_BYTES)] | None,
        Field(description="MAXMSGL [bytes], including all headers of the message."),
    ] = None
    backout_threshold: Annotated[
        Annotated[int, Field(ge=0, le=limit("largest_backout_threshold"))] | None,
        Field(description="BOTHRESH."),
    ] = None
    backout_queue: Annotated[QueueName | None, Field(description="BOQNAME.")] = None
    curdepth: Annotated[
        MaxDepth | None, Field(description="CURDEPTH when the event attributes were displayed.")
    ] = None
    get_rate_per_s: Annotated[
        Rate | None, Field(description="Normal rate of gets; requires put_rate_per_s.")
    ] = None
    queue_manager_rates: Annotated[
        _RatesByName, Field(description="Measured puts and gets by queue manager.")
    ] = None


class Structure(BaseModel):
    """An application structure. INITSIZE and SIZE in the document are checked and never overwritten."""

    model_config = MODEL
    name: CfstructName
    cflevel: Annotated[int, Field(ge=1, le=5)] = 5
    recover: bool = True
    cfconlos: Annotated[
        Literal["ASQMGR", "TERMINATE", "TOLERATE"],
        Field(description="CFCONLOS: action of a queue manager that loses its connection to the structure."),
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
    preflist: _PlanList = Field(default_factory=list)
    exclist: ExclList = Field(default_factory=list)
    duplex: Duplex = "DISABLED"
    duplex_site: _SecondSite = None
    enforce_order: _EnforceOrder = False
    scm: Scm = Field(default_factory=Scm)
    offload: Offload = Field(default_factory=Offload)
    size_with_offload: bool = False
    event_target_percent: Annotated[
        Annotated[int, Field(ge=1, le=100)] | None,
        Field(description="Queue Depth High events should occur before the structure is this full."),
    ] = None
    queues: Annotated[list[Queue], UntilManyErrors] = Field(default_factory=list)


class Acknowledgment(BaseModel):
    """A warning or note that the planners accept, with their reason."""

    model_config = MODEL
    code: Annotated[
        str, Field(min_length=1, max_length=64), checked_by(names.finding_code, example="INITSIZE_BELOW_NEED")
    ]
    structure: Annotated[
        Annotated[
            str, Field(min_length=1, max_length=16), checked_by(names.structure, example="APPLICATION1")
        ]
        | None,
        Field(
            description="Name of the structure without the group name; absent: every finding with that code."
        ),
    ] = None
    message: Annotated[
        Annotated[
            str,
            checked_by(names.finding_message, example="SIZE is below INITSIZE."),
            Field(min_length=1, max_length=20_000),
        ]
        | None,
        Field(description="The accepted message; absent: any message."),
    ] = None
    reason: Annotated[str, Field(min_length=1, max_length=500), checked_by(names.reason, example="agreed")]


class ClusteredInstance(InstanceEntry):
    """An instance of a clustered queue, with the rate of its consumers."""

    shared: Annotated[bool, Field(description="Whether it is a shared queue of this group.")] = False
    get_rate_per_s: Annotated[
        Rate | None, Field(description="Highest rate of the consumers at this queue manager.")
    ] = None


class Cluster(BaseModel):
    """The messages of one sender to a clustered queue, and the instances of the queue."""

    model_config = MODEL
    name: Annotated[MqName, Field(description="Name of the cluster.")]
    queue: QueueName
    sender: Annotated[MqName | None, Field(description="Queue manager that selects the destination.")] = None
    rate_per_s: Rate
    not_fixed_percent: Annotated[
        Decimal,
        number_between(lowest=0, highest=100),
        AS_NUMBER,
        number_schema(0, 100),
        Field(description="Messages that are not bound to their destination."),
    ] = Decimal(100)
    mode: Literal["seed", "ibm"] = "seed"
    clwluseq: Annotated[
        Literal["LOCAL", "ANY"],
        choice("LOCAL", "ANY"),
        Field(description="CLWLUSEQ of the sender's own instance."),
    ] = "LOCAL"
    hbint: Annotated[int, Field(ge=0, le=999_999, description="Heartbeat interval of the channels.")] = 300
    detect_seconds: Annotated[
        Annotated[int, Field(ge=0, le=10**6)] | None,
        Field(description="Time until a failed channel is noticed; absent: derived from HBINT."),
    ] = None
    outage_minutes: Annotated[
        Minutes | None, Field(description="How long a destination is unavailable; absent: as for the queue.")
    ] = None
    return_rate_per_s: Annotated[
        Rate | None, Field(description="Rate at which a returning channel delivers the messages that waited.")
    ] = None
    instances: Annotated[list[ClusteredInstance], Field(min_length=1, max_length=64)]


class PlanDocument(BaseModel):
    """The plan of one queue-sharing group."""

    model_config = MODEL
    schema_version: Annotated[Literal[1], BeforeValidator(not_boolean)] = 1
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
            description="CFCONLOS of the queue managers, which applies to CSQ_ADMIN and to structures with ASQMGR. Absent: not planned."
        ),
    ] = None
    curve: Literal["published"] | FittedCurve = "published"
    separate_costs: Annotated[
        Literal["assumed", "derived"],
        Field(
            description="Costs of an entry and an element on published curves, used at ratios other than 1:6: assumed, or derived from IBM's sizes for CSQ_ADMIN."
        ),
    ] = "assumed"
    growth: Growth = Field(default_factory=Growth)
    target_usage_percent: Annotated[
        TargetPercent,
        Field(description="Share of the fuller pool that the planned backlog may take of INITSIZE."),
    ] = Decimal(tables.constants("sizing_choices")["target_usage_percent"].value)
    headroom_percent: Annotated[
        Percent | None,
        Field(description="INITSIZE is the need plus this percentage; replaces target_usage_percent."),
    ] = None
    size_factor: SizeFactor = Decimal("1.5")
    admin: Admin = Field(default_factory=Admin)
    system: System = Field(default_factory=System)
    policy: Policy = Field(default_factory=Policy)
    coupling_facilities: Annotated[list[CouplingFacility], Field(max_length=64)] = Field(default_factory=list)
    structures: Annotated[list[Structure], UntilManyErrors] = Field(default_factory=list)
    db2_group: Annotated[
        Db2GroupName | None, Field(description="Db2 data-sharing group of the queue-sharing group.")
    ] = None
    other_structures: Annotated[
        list[OtherStructure],
        UntilManyErrors,
        Field(
            max_length=2000,
            description="Structures of Db2 and others in the same coupling facilities: counted there, and not written into "
            "the policy.",
        ),
    ] = Field(default_factory=list)
    acknowledged: Annotated[list[Acknowledgment], Field(max_length=1000)] = Field(default_factory=list)
    clusters: Annotated[list[Cluster], Field(max_length=32)] = Field(
        default_factory=list, description="Clusters that send to the group's shared queues."
    )

    @property
    def queue_manager_count(self) -> int:
        """Return the number of queue managers that are defined to the group."""
        return self.queue_managers if isinstance(self.queue_managers, int) else len(self.queue_managers)
