"""The shape of a plan's result, for its description in OpenAPI. The core writes results itself; tests compare."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.web.answers import Absent, Answer
from planner_core.clusters.load import ClusterLoad
from planner_core.findings import Finding
from planner_core.provenance import Explanation
from planner_core.sizing.depth_advice import DepthAdvice

Number = Annotated[int | str, Field(description="A whole number, or an exact one as text: 2018.688, 1/3.")]


Interval = Annotated[
    list[float],
    Field(min_length=2, max_length=2, description="From and to, in bytes, at the confidence given."),
]


class FittedAnswer(Answer):
    """What a fitted curve was fitted to, and how sure its figures are."""

    version: int
    kind: Annotated[
        Literal["bundle", "two_costs"],
        Field(
            description="Whether the data held several ratios, so that entries and elements are known apart."
        ),
    ]
    coupling_facility: str
    cfcc_level: int | None
    first_day: str
    last_day: str
    is_simulated: bool
    confidence_percent: float
    entry_bytes: float | None
    element_bytes: float | None
    base_interval_bytes: Interval
    bundle_interval_bytes: Interval
    entry_interval_bytes: Interval | None
    element_interval_bytes: Interval | None


class CurveAnswer(Answer):
    """The curve that the sizes come from."""

    id: str
    origin: Annotated[str, Field(description="Where the curve comes from.")]
    cfcc_from: Annotated[
        int | None,
        Field(
            description="Lowest CFCC level that it holds for; null where that is not known of a fitted curve."
        ),
    ]
    cfcc_to: Annotated[int | None, Field(description="Highest CFCC level that it holds for; null likewise.")]
    base_bytes: Annotated[int, Field(description="What an empty structure takes.")]
    bundle_bytes: Annotated[
        float, Field(description="What one entry with its elements takes, at the curve's ratio.")
    ]
    header_bytes: Annotated[
        int, Field(description="What MQ puts before the data of each message in its elements.")
    ]
    increment_kib: Annotated[int, Field(description="Storage increment of the coupling facility.")]
    entry_to_element_ratio: Annotated[list[int], Field(min_length=2, max_length=2)]
    fitted: Annotated[
        FittedAnswer | Absent, Field(description="Of a fitted curve: what it was fitted to.")
    ] = None


class OffloadStep(Answer):
    """Where an offload rule begins to work."""

    threshold: Annotated[int, Field(description="Percentage of the structure that must be exceeded.")]
    size_bytes: Annotated[int, Field(description="Message size that must be exceeded.")]
    at_messages: Annotated[int, Field(description="Messages in the structure when the rule begins to work.")]


class SmdsAnswer(Answer):
    """Space for offloaded data."""

    data_set_bytes_at_backlog: Annotated[
        int, Field(description="In each shared message data set, at the planned backlog.")
    ]
    data_set_bytes_when_full: Annotated[
        int, Field(description="In each data set when a structure of SIZE is full.")
    ]
    buffer_bytes_per_queue_manager: int


class Db2Answer(Answer):
    """Space for data offloaded to Db2, once for the group."""

    lob_bytes_at_backlog: Annotated[int, Field(description="LOB space at the planned backlog.")]
    lob_bytes_when_full: Annotated[int, Field(description="LOB space when a structure of SIZE is full.")]


class StructureAnswer(Answer):
    """One structure of the group; the members from `messages` on are those of structures that hold queues."""

    name: Annotated[str, Field(description="As MQ calls it.", examples=["APPLICATION1"])]
    cfrm_name: Annotated[
        str, Field(description="As the CFRM policy calls it.", examples=["SQ03APPLICATION1"])
    ]
    role: Literal["admin", "application", "system"]
    cfcc_level: Annotated[
        int,
        Field(
            description="The level that it is sized for: the highest of the coupling facilities in its PREFLIST."
        ),
    ]
    need_bytes: Annotated[
        int, Field(description="What the backlog takes, before the target or the headroom, and rounding.")
    ]
    initsize_kib: int
    size_kib: int
    minsize_kib: int | None
    initsize_given: Annotated[bool, Field(description="INITSIZE was given in the document.")]
    size_given: Annotated[bool, Field(description="SIZE was given in the document.")]
    target_usage_percent: Annotated[
        float | None,
        Field(
            description="Share of the fuller pool that the backlog may take of INITSIZE; null where INITSIZE or a headroom is given, and with size_with_offload."
        ),
    ] = None
    target_messages_percent: Annotated[
        float | None,
        Field(
            description="With size_with_offload: the backlog as a share of the messages that INITSIZE holds with the rules at work. It is not how full "
            "INITSIZE is, since offloaded messages take less: peak_usage_percent is higher. Null otherwise."
        ),
    ] = None
    target_lowered_by: Annotated[
        str | None,
        Field(
            description="The offload rule whose threshold is that share, because it is lower than the plan's.",
            examples=["OFFLD1TH(70) OFFLD1SZ(32K)"],
        ),
    ] = None
    full_threshold: int
    allow_auto_alter: bool
    preflist: list[str]
    exclist: list[str]
    duplex: Literal["DISABLED", "ALLOWED", "ENABLED"]
    duplex_site: Annotated[
        Literal["ANYSITE", "SAMESITE", "SAMESITEONLY", "CROSSSITE"] | Absent,
        Field(description="Where the document asks for it: the site of the second copy."),
    ] = None
    enforce_order: Annotated[
        bool | Absent, Field(description="Where the document asks for it: ENFORCEORDER(YES).")
    ] = None
    scmmaxsize_kib: Annotated[
        int | Absent, Field(description="Where the document asks for it: SCMMAXSIZE.")
    ] = None
    augmented_kib: Annotated[
        int | Absent,
        Field(description="Where the document states it: CF storage that storage-class memory takes."),
    ] = None
    coupling_facility: Annotated[
        str | Absent | None,
        Field(description="Where XCF allocates it, counted with INITSIZE; null where it finds no place."),
    ] = None
    second_copy: Annotated[
        str | Absent | None,
        Field(description="With DUPLEX(ENABLED): the coupling facility of its second copy, else null."),
    ] = None
    entries_required: Annotated[
        int | Absent, Field(description="CSQ_ADMIN only: list entries that the group's queue managers need.")
    ] = None
    elements_required: Annotated[
        int | Absent, Field(description="CSQ_ADMIN only: elements that go with them, two for each entry.")
    ] = None
    messages: Annotated[int | Absent, Field(description="The planned backlog, at the horizon.")] = None
    entries: Annotated[int | Absent, Field(description="List entries that the backlog takes.")] = None
    elements: Annotated[int | Absent, Field(description="256-byte elements that the backlog takes.")] = None
    binding: Annotated[
        Literal["entries", "elements"] | Absent, Field(description="The pool that sets the size.")
    ] = None
    curve: Annotated[
        str | Absent,
        Field(
            description="The curve that it is sized with: the fitted one, or the published one of its level.",
            examples=["published-cfcc25"],
        ),
    ] = None
    peak_usage_percent: Annotated[
        float | Absent, Field(description="Usage of INITSIZE at the planned backlog.")
    ] = None
    messages_in_initsize: int | Absent = None
    messages_in_initsize_with_offload: int | Absent = None
    messages_in_size: int | Absent = None
    messages_in_size_with_offload: int | Absent = None
    offload_steps: Annotated[
        list[OffloadStep] | Absent, Field(description="Rules that begin to work as INITSIZE fills.")
    ] = None
    offloaded_at_backlog: Annotated[
        int | Absent, Field(description="Messages whose data is offloaded at the planned backlog.")
    ] = None
    db2: Annotated[Db2Answer | Absent, Field(description="With offload to Db2 only.")] = None
    smds: Annotated[SmdsAnswer | Absent, Field(description="With offload to SMDS only.")] = None
    depth_events: Annotated[
        DepthAdvice | Absent, Field(description="Of structures with queues: advice on their depths.")
    ] = None


class TotalsAnswer(Answer):
    """Sums over all structures."""

    structures: int
    initsize_kib: int
    size_kib: int


class PlannedFacilityAnswer(Answer):
    """Storage of one coupling facility, with what the structures that XCF allocates there take of it."""

    name: Annotated[str, Field(examples=["CF01"])]
    size_kib: Annotated[int | None, Field(description="Its storage; null where the document states none.")]
    occupied_kib: Annotated[
        int, Field(description="What structures outside of the plan take; 0 if not stated.")
    ]
    dumpspace_kib: Annotated[int, Field(description="Dump space; 0 if not stated.")]
    planned_initsize_kib: Annotated[
        int,
        Field(
            description="INITSIZE of the structures that have their first copy here, with their augmented space. Second copies "
            "are not included."
        ),
    ]
    planned_size_kib: Annotated[
        int, Field(description="The same with SIZE: each structure has grown where it was allocated.")
    ]
    second_copies_kib: Annotated[int, Field(description="INITSIZE of the second copies that are here.")]
    second_copies_size_kib: Annotated[int, Field(description="SIZE of the second copies that are here.")]
    free_kib: Annotated[
        int | None,
        Field(
            description="size_kib - occupied_kib - dumpspace_kib - planned_initsize_kib - second_copies_kib; null where size_kib is."
        ),
    ]
    free_at_size_kib: Annotated[
        int | None,
        Field(
            description="The same with planned_size_kib and second_copies_size_kib. Negative where not all structures can grow to "
            "SIZE."
        ),
    ]


class SizedAnswer(Answer):
    """What one curve gives."""

    need_bytes: int
    initsize_kib: int
    size_kib: int


class DifferenceBytes(Answer):
    """Fitted less published."""

    need_bytes: int
    initsize_bytes: int
    size_bytes: int


class BothAnswer(Answer):
    """Sizes under both curves. A size that the document gives is the same under both."""

    published: SizedAnswer
    fitted: SizedAnswer
    difference: DifferenceBytes


class StructureBothAnswer(BothAnswer):
    """One structure under both curves."""

    name: str
    role: Literal["admin", "application", "system"]


class ComparisonAnswer(Answer):
    """The plan under the published curve beside the fitted one that it names."""

    published: CurveAnswer
    fitted: CurveAnswer
    structures: list[StructureBothAnswer]
    totals: BothAnswer


class PlanResultAnswer(Answer):
    """The result of a plan document."""

    core_version: str
    qsg: str
    queue_managers: int
    cfcc_level: int
    curve: CurveAnswer
    structures: list[StructureAnswer]
    coupling_facilities: Annotated[
        list[PlannedFacilityAnswer] | Absent,
        Field(
            description="Those of the document, then those that only a PREFLIST names. A version that an earlier cfplan saved has "
            "none."
        ),
    ] = None
    totals: TotalsAnswer
    findings: list[Finding]
    clusters: Annotated[
        ClusterLoad | Absent,
        Field(description="With `clusters` in the document only: what they put on the structures."),
    ] = None
    comparison: Annotated[
        ComparisonAnswer | Absent,
        Field(description="With a fitted curve only: the same plan under the published one."),
    ] = None
    explanations: Annotated[
        dict[str, Explanation] | Absent,
        Field(description="With explain=true: by the JSON pointer of the figure that each explains."),
    ] = None
