"""The figures of one structure as REST, the command line and the pages show them, in the units of a CFRM policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapSerializer,
    WrapValidator,
)

from planner_core.document.model import OtherStructure
from planner_core.document.types import Duplex, DuplexSite
from planner_core.names import PlacedRole, Role
from planner_core.sizing.depth_advice import DepthAdvice
from planner_core.sizing.other_structures import other_results
from planner_core.sizing.structure_result import (
    Db2Need,
    Load,
    OffloadStep,
    Placement,
    SmdsNeed,
    StructureResult,
    offload_steps,
)
from planner_core.units import Kib, bytes_to_kib_ceil, hundredths
from planner_core.wire import Answer, JsonObject, Omittable, Unchecked, adapter, plain

PlainPercent = Annotated[float, Unchecked(), WithJsonSchema({"type": "number"})]
"""A percentage, written without a decimal point if it is a whole number."""


def _as_it_is(value: Any, _: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 - advice or its JSON
    return value


# The JSON of advice is not complete, so a stored result keeps it as it is; the page of a structure calculates the advice
# again.
# The serializer is a lambda because pydantic describes a declared return type instead of DepthAdvice.
StoredAdvice = Annotated[
    DepthAdvice,
    WrapValidator(_as_it_is),
    WrapSerializer(lambda value, write: value if isinstance(value, dict) else write(value)),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureAnswer(Answer):
    """One structure of the group; only structures with queues have the members from `messages` onward."""

    name: Annotated[str, Field(description="Its name in MQ.", examples=["APPLICATION1"])]
    cfrm_name: Annotated[
        str, Field(description="Its name in the CFRM policy.", examples=["SQ03APPLICATION1"])
    ]
    role: Role
    # Versions saved by the first releases have no level for each structure, hence the default.
    cfcc_level: Annotated[
        int,
        Field(
            description="CFCC level it is sized for: the highest among the coupling facilities in PREFLIST."
        ),
    ] = 0
    need_bytes: Annotated[
        int,
        Field(description="Storage for the backlog, before the target or headroom and rounding are applied."),
    ]
    initsize_kib: int
    size_kib: int
    minsize_kib: int | None
    initsize_given: Annotated[bool, Field(description="The document specifies INITSIZE.")]
    size_given: Annotated[bool, Field(description="The document specifies SIZE.")]
    target_usage_percent: Annotated[
        PlainPercent | None,
        Field(
            description="Share of the fuller pool that the backlog may use of INITSIZE; null if INITSIZE or a headroom "
            "is specified, and with size_with_offload."
        ),
    ] = None
    target_messages_percent: Annotated[
        PlainPercent | None,
        Field(
            description="With size_with_offload: the backlog as a share of the messages that INITSIZE holds with the rules "
            "active. Offloaded messages use less of the structure, so peak_usage_percent is higher. Null otherwise."
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
    preflist: tuple[str, ...]
    exclist: tuple[str, ...]
    duplex: Duplex
    duplex_site: Annotated[
        Omittable[DuplexSite], Field(description="Site of the second copy, if the document states one.")
    ] = None
    enforce_order: Annotated[
        Omittable[bool], Field(description="ENFORCEORDER(YES), if the document states it.")
    ] = None
    scmmaxsize_kib: Annotated[Omittable[int], Field(description="SCMMAXSIZE, if the document states it.")] = (
        None
    )
    augmented_kib: Annotated[
        Omittable[int],
        Field(description="CF storage for storage-class memory, if the document states it."),
    ] = None
    coupling_facility: Annotated[
        str | None,
        Field(description="Where XCF allocates it, counted with INITSIZE; null if no facility has room."),
    ] = None
    second_copy: Annotated[
        str | None,
        Field(description="With DUPLEX(ENABLED): the coupling facility of its second copy, else null."),
    ] = None
    entries_required: Annotated[
        Omittable[int], Field(description="CSQ_ADMIN only: list entries that the queue managers need.")
    ] = None
    elements_required: Annotated[
        Omittable[int], Field(description="CSQ_ADMIN only: elements for these entries, two for each.")
    ] = None
    messages: Annotated[Omittable[int], Field(description="The planned backlog, at the horizon.")] = None
    entries: Annotated[Omittable[int], Field(description="List entries that the backlog uses.")] = None
    elements: Annotated[Omittable[int], Field(description="256-byte elements that the backlog uses.")] = None
    binding: Annotated[
        Omittable[Literal["entries", "elements"]], Field(description="The pool that determines the size.")
    ] = None
    curve: Annotated[
        Omittable[str],
        Field(
            description="The curve with which it is sized: the fitted one, or the published one of its level.",
            examples=["published-cfcc25"],
        ),
    ] = None
    peak_usage_percent: Annotated[
        Omittable[float], Field(description="Usage of INITSIZE at the planned backlog.")
    ] = None
    messages_in_initsize: Omittable[int] = None
    messages_in_initsize_with_offload: Omittable[int] = None
    messages_in_size: Omittable[int] = None
    messages_in_size_with_offload: Omittable[int] = None
    offload_steps: Annotated[
        Omittable[tuple[OffloadStep, ...]], Field(description="Rules that start as INITSIZE fills.")
    ] = None
    offloaded_at_backlog: Annotated[
        Omittable[int], Field(description="Messages whose data is offloaded at the planned backlog.")
    ] = None
    smds: Annotated[Omittable[SmdsNeed], Field(description="Only with offload to SMDS.")] = None
    db2: Annotated[Omittable[Db2Need], Field(description="Only with offload to Db2.")] = None
    depth_events: Annotated[
        Omittable[StoredAdvice], Field(description="For structures with queues: advice on their depths.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStructure:
    """The members of a stored `StructureAnswer` that calculations need, with its sizes in bytes."""

    # The other members are not read, so a result that an earlier release stored in another form still gives its sizes.
    name: str
    cfrm_name: str
    role: PlacedRole
    need_bytes: int
    initsize_bytes: Annotated[Kib, Field(alias="initsize_kib")]
    size_bytes: Annotated[Kib, Field(alias="size_kib")]
    full_threshold: int
    allow_auto_alter: bool
    preflist: tuple[str, ...]
    exclist: tuple[str, ...]
    duplex: Duplex
    duplex_site: DuplexSite | None = None
    enforce_order: bool = False
    augmented_bytes: Annotated[Kib, Field(alias="augmented_kib")] = 0
    entries: int = 0
    elements: int = 0

    @property
    def placement(self) -> Placement:
        """Its keywords in the CFRM policy, without those of storage-class memory."""
        return Placement(
            preflist=self.preflist,
            exclist=self.exclist,
            duplex=self.duplex,
            full_threshold=self.full_threshold,
            allow_auto_alter=self.allow_auto_alter,
            duplex_site=self.duplex_site,
            enforce_order=self.enforce_order,
            augmented_bytes=self.augmented_bytes,
        )


def stored_structures(result: JsonObject) -> tuple[StoredStructure, ...]:
    """Read the structures of a stored result."""
    found: tuple[StoredStructure, ...] = adapter(tuple[StoredStructure, ...]).validate_python(
        result["structures"]
    )
    return found


def stored_others(others: Iterable[OtherStructure], facilities: Sequence[str]) -> tuple[StoredStructure, ...]:
    """Return the structures that a document lists next to those of the group, to place them with stored results.

    Args:
        others: The structures.
        facilities: All coupling facilities of the document.
    """
    return tuple(
        StoredStructure(
            name=each.name,
            cfrm_name=each.cfrm_name,
            role=each.role,
            need_bytes=0,
            initsize_bytes=each.initsize_bytes,
            size_bytes=each.size_bytes,
            full_threshold=each.placement.full_threshold,
            allow_auto_alter=each.placement.allow_auto_alter,
            preflist=each.placement.preflist,
            exclist=each.placement.exclist,
            duplex=each.placement.duplex,
            duplex_site=each.placement.duplex_site,
            enforce_order=each.placement.enforce_order,
        )
        for each in other_results(others, facilities)
    )


def structure_answer(
    found: StructureResult, *, depths: bool = False, places: Sequence[str] = ()
) -> StructureAnswer:
    """Return the figures of a structure.

    Args:
        found: The sized structure.
        depths: Whether to add advice for each queue.
        places: The coupling facilities of its first and second copy.
    """
    sizes, placement, target, advice = (
        found.sizes,
        found.placement,
        found.sizes.target_in_use,
        found.depth_events,
    )
    percent = None if target is None else plain(target.percent)
    is_of_messages = target is not None and target.with_offload
    return StructureAnswer(
        name=found.name,
        cfrm_name=found.cfrm_name,
        role=found.role,
        cfcc_level=found.level.level,
        need_bytes=sizes.need_bytes,
        initsize_kib=bytes_to_kib_ceil(sizes.initsize_bytes),
        size_kib=bytes_to_kib_ceil(sizes.size_bytes),
        minsize_kib=None if sizes.minsize_bytes is None else bytes_to_kib_ceil(sizes.minsize_bytes),
        initsize_given=sizes.initsize_is_given,
        size_given=sizes.size_is_given,
        target_usage_percent=None if is_of_messages else percent,
        target_messages_percent=percent if is_of_messages else None,
        target_lowered_by=None if target is None else target.lowered_by,
        full_threshold=placement.full_threshold,
        allow_auto_alter=placement.allow_auto_alter,
        preflist=placement.preflist,
        exclist=placement.exclist,
        duplex=placement.duplex,
        duplex_site=placement.duplex_site,
        enforce_order=placement.enforce_order or None,
        scmmaxsize_kib=None if placement.scm_bytes is None else bytes_to_kib_ceil(placement.scm_bytes),
        augmented_kib=bytes_to_kib_ceil(placement.augmented_bytes) or None,
        coupling_facility=places[0] if places else None,
        second_copy=places[1] if len(places) > 1 else None,
        entries_required=None if found.admin is None else found.admin.entries_required,
        elements_required=None if found.admin is None else found.admin.elements_required,
        smds=found.smds,
        db2=found.db2,
        depth_events=advice.with_queues() if depths and advice is not None else advice,
        **({} if found.load is None else _load_members(found, found.load)),
    )


_MOST_WRITTEN = 8
"""The maximum number of texts that a structure keeps: a text for each pair of coupling facilities."""


def structure_json(found: StructureResult, *, depths: bool = False, places: Sequence[str] = ()) -> bytes:
    """Return the JSON text of `structure_answer`, which takes the same arguments.

    The text is kept with the structure, so an evaluation that reuses the structure also reuses its text.
    """
    form = tuple(places)
    text = None if depths else found.written.get(form)
    if text is None:
        text = structure_answer(found, depths=depths, places=places).json_bytes()
        # Advice for each queue is long and rarely requested, so it is not kept.
        if not depths and len(found.written) < _MOST_WRITTEN:
            found.written[form] = text
    return text


def _load_members(found: StructureResult, load: Load) -> dict[str, Any]:
    return {
        "messages": load.demand.messages,
        "entries": load.demand.entries,
        "elements": load.demand.elements,
        "binding": load.binding,
        "curve": found.curve.id,
        "peak_usage_percent": hundredths(found.peak_usage_percent),
        "messages_in_initsize": load.messages_in_initsize(offload=False),
        "messages_in_initsize_with_offload": load.messages_in_initsize(offload=True),
        "messages_in_size": load.messages_in_size(offload=False),
        "messages_in_size_with_offload": load.messages_in_size(offload=True),
        "offload_steps": offload_steps(load.with_offload, load.bundles_in_initsize),
        "offloaded_at_backlog": found.offloaded_at_backlog,
    }
