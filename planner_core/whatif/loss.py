"""The loss of each coupling facility, machine and site: moves, structures that cannot be placed, lost messages.

Sources: z/OS MVS Setting Up a Sysplex on structures after the failure of a CF; IBM MQ,
"Planning your queue sharing group" and "Managing shared queues" on messages.
The white space of a loss is the storage that must be free in the remaining coupling facilities so that
every structure that lost its only copy can be placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar, cast

from pydantic import Field, computed_field

from planner_core import questions
from planner_core.checks.placement import check_allocation, other_orders
from planner_core.document.model import PlanDocument, Structure, System
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.names import PlacedRole
from planner_core.plan.known_structures import allocation_group
from planner_core.plan.result import PlanResult
from planner_core.sizing.other_structures import OtherResult
from planner_core.sizing.placement import (
    ASSUMPTIONS,
    RULES,
    AllocationGroup,
    AllocationQuestion,
    AllocationRequest,
    At,
    Board,
    Facility,
    FacilityCandidate,
    PlaceableStructure,
    PlacedAction,
    PlacedStructure,
    PlacementChoice,
    PlacementRule,
    PlannedResult,
    allocate,
    first_choice,
    question,
    second_choice,
)
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.tables import table_lines
from planner_core.units import MIB, Mib, format_mib
from planner_core.whatif.connectivity import ASSUMPTIONS as CONNECTIVITY_ASSUMPTIONS
from planner_core.whatif.connectivity import Ending, check_stated, endings, recovers_by_itself
from planner_core.whatif.scm import StorageClassMemory, check_scm, check_scm_after_loss, scm_of
from planner_core.wire import Answer, Hidden

Kind = Literal["coupling_facility", "machine", "site"]
S = TypeVar("S", bound=PlaceableStructure)
LOSS_ASSUMPTIONS: tuple[str, ...] = (
    "After a loss, structures without a copy are allocated again first, in the order in which they were allocated; then "
    "structures with DUPLEX(ENABLED) get a second copy again. Structures that remain are not moved.",
    "A structure is allocated again with the INITSIZE of the policy, however large it had grown. Choose SIZE to see the "
    "space needed at full growth.",
    "Messages counted as lost are those of the planned backlog. RECOVER CFSTRUCT restores persistent messages from backup "
    "and logs once the structure is allocated.",
)


class LossQuestion(questions.Question):
    """The plans that share the coupling facilities, and the size to use for their structures."""

    at: At = Field(
        "initsize", description="count structures with INITSIZE or, fully grown, with SIZE; absent: initsize"
    )
    others: Annotated[tuple[str, ...], questions.ListOf(questions.Text()), questions.Metavar("PLAN")] = Field(
        (),
        alias="with",
        description="another plan of the sysplex, whose structures are counted as well; repeatable",
    )


@dataclass(frozen=True, slots=True)
class _StructureIdentity(Answer):
    structure: Annotated[str, Field(description="Name in the CFRM policy.")]
    name: str
    plan: str
    role: PlacedRole
    size_bytes: Annotated[
        Mib, Field(alias="size_mib", description="Storage of one copy, including augmented space.")
    ]
    before: Annotated[
        tuple[str, ...],
        Field(description="Coupling facilities before the loss, starting with that of the first copy."),
    ]


@dataclass(frozen=True, slots=True)
class StructurePlacement(_StructureIdentity):
    """A structure and its coupling facilities."""

    coupling_facility: str
    second_copy: str | None
    action: PlacedAction
    rule: Annotated[
        str | None,
        Field(description="The rule that determines the choice, one of `rules`.", examples=["space"]),
    ]
    reason: str | None
    candidates: tuple[FacilityCandidate, ...]
    second_copy_rule: Annotated[
        str | None,
        Field(description="The rule that determines the choice, one of `rules`.", examples=["space"]),
    ]
    second_copy_reason: str | None
    storage_class_memory: Annotated[StorageClassMemory | None, Field(description="Null without SCMMAXSIZE.")]


@dataclass(frozen=True, slots=True)
class UnplacedStructure(_StructureIdentity):
    """A structure that no coupling facility can take."""

    rule: Literal["none"]
    reason: str | None
    candidates: tuple[FacilityCandidate, ...]
    most_room_in: Annotated[
        str | None, Field(description="Coupling facility in which XCF would allocate it with a smaller size.")
    ]
    short_by_bytes: Annotated[Mib | None, Field(alias="short_by_mib", description="Missing storage there.")]


@dataclass(frozen=True, slots=True)
class RemainingFacility(Answer):
    """A remaining coupling facility."""

    coupling_facility: str
    arriving_bytes: Annotated[
        Mib, Field(alias="arrives_mib", description="Storage that is allocated there because of the loss.")
    ]
    used_bytes: Annotated[Mib, Field(alias="used_mib")]
    free_bytes: Annotated[Mib | None, Field(alias="free_mib")]


@dataclass(frozen=True, slots=True)
class LostMessages(Answer):
    """Messages of a structure's planned backlog that are lost with its only copy."""

    wanted: Hidden[AllocationRequest[StructureResult]]
    non_persistent: Annotated[int, Field(alias="non_persistent_messages")]
    persistent: Annotated[int, Field(alias="persistent_messages")]
    comes_back: Annotated[bool, Field(alias="persistent_come_back")]
    words: Annotated[str, Field(alias="what_happens")]
    recovers_by_itself: Annotated[
        bool | None,
        Field(description="Without an operator; null if the plan does not define the CFSTRUCT."),
    ] = None

    @computed_field
    @property
    def structure(self) -> str:
        """The name of the structure in the CFRM policy."""
        return self.wanted.structure

    @computed_field
    @property
    def plan(self) -> str:
        """The plan of the structure."""
        return self.wanted.plan

    @computed_field(alias="messages_gone")
    @property
    def gone(self) -> int:
        """Number of messages that cannot be recovered."""
        return self.non_persistent + (0 if self.comes_back else self.persistent)


@dataclass(frozen=True, slots=True)
class Loss(Answer):
    """One loss and its effects."""

    kind: Kind
    name: Annotated[
        str,
        Field(alias="lost", description="The coupling facility, the SEQUENCE of the machine, or the site."),
    ]
    gone: Annotated[tuple[str, ...], Field(alias="coupling_facilities")]
    placed: Hidden[tuple[PlacedStructure[PlannedResult], ...]]
    lost: Annotated[tuple[LostMessages, ...], Field(alias="messages")]
    board: Hidden[Board]
    order_matters: Annotated[
        bool,
        Field(
            description="If structures are allocated in a different order, different structures cannot be placed."
        ),
    ]
    endings: Annotated[tuple[Ending, ...], Field(alias="queue_managers_end")] = ()

    @property
    def unplaced(self) -> tuple[PlacedStructure[PlannedResult], ...]:
        """Return the structures that were allocated before and cannot be placed now."""
        return unplaced_of(self.placed)

    @computed_field
    @property
    def placements(self) -> tuple[StructurePlacement, ...]:
        """The structures that are allocated after the loss."""
        return _placements(self.placed, self.board)

    @computed_field(alias="unplaced")
    @property
    def unplaced_structures(self) -> tuple[UnplacedStructure, ...]:
        """Structures that cannot be placed after the loss."""
        return tuple(map(_unplaced, self.unplaced))

    @computed_field(alias="white_space_mib")
    @property
    def white_space_bytes(self) -> Mib:
        """Storage that must be free elsewhere so that all structures that lost their only copy can be placed."""
        # A structure that had no place before the loss needs none because of it.
        return sum(each.bytes_moved for each in self.placed if each.before)

    @computed_field(alias="missing_mib")
    @property
    def missing_bytes(self) -> Mib:
        """The part of the white space that is not free anywhere."""
        return sum(each.wanted.bytes_wanted for each in self.unplaced)

    @computed_field(alias="second_copies_mib")
    @property
    def second_copies_bytes(self) -> Mib:
        """Additional storage that new second copies need."""
        return sum(each.bytes_for_second for each in self.placed)

    @computed_field
    @property
    def remaining(self) -> tuple[RemainingFacility, ...]:
        """The remaining coupling facilities."""
        return tuple(
            RemainingFacility(
                name, self.arriving(name), self.board.used_bytes(name), self.board.free_bytes(name)
            )
            for name in self.board.facilities
            if name not in self.gone
        )

    def arriving(self, facility: str) -> int:
        """Return the storage that is allocated in a remaining coupling facility because of the loss [bytes]."""
        return sum(
            each.wanted.bytes_wanted
            for each in self.placed
            for at in each.now
            if at == facility and at not in each.before
        )

    def wanted_in(self, facility: str) -> int:
        """Return the storage that would have to be free in a coupling facility [bytes]."""
        return needed_in(facility, self.placed)


@dataclass(frozen=True, slots=True)
class WhiteSpace(Answer):
    """A coupling facility, and the storage that it must keep free for the worst loss of another one."""

    name: Annotated[str, Field(alias="coupling_facility")]
    storage_bytes: Annotated[Mib | None, Field(alias="storage_mib")]
    taken_bytes: Annotated[Mib, Field(alias="taken_by_others_mib")]
    cfcc_level: int
    site: str | None
    volatile: bool
    failure_isolated: bool
    used_bytes: Annotated[Mib, Field(alias="used_mib")]
    free_bytes: Annotated[Mib | None, Field(alias="free_mib")]
    keep_bytes: Annotated[
        Mib,
        Field(
            alias="white_space_mib",
            description="Storage that structures without a copy need there in the worst case; new second copies are not included.",
        ),
    ]
    because: Annotated[str | None, Field(alias="because_of")]

    @computed_field
    @property
    def is_enough(self) -> bool | None:
        """True if this storage is free; null if the size of the coupling facility is not stated."""
        return None if self.free_bytes is None else self.free_bytes >= self.keep_bytes


@dataclass(frozen=True, slots=True)
class LossAnswer(Answer):
    """The placement of all structures, and the effects of each loss."""

    asked: Hidden[AllocationQuestion[PlannedResult]]
    normal: Hidden[tuple[PlacedStructure[PlannedResult], ...]]
    board: Hidden[Board]
    losses: tuple[Loss, ...]
    white_space: Annotated[tuple[WhiteSpace, ...], Field(alias="coupling_facilities")]
    findings: tuple[Finding, ...]
    rules: tuple[PlacementRule, ...] = tuple(RULES.values())
    assumptions: Annotated[
        tuple[str, ...], Field(description="Assumptions where no figures are published.")
    ] = (
        *ASSUMPTIONS,
        *LOSS_ASSUMPTIONS,
        *CONNECTIVITY_ASSUMPTIONS,
    )

    @computed_field
    @property
    def counted_at(self) -> At:
        """The size with which structures are counted: INITSIZE or SIZE."""
        return self.asked.at

    @computed_field
    @property
    def plans(self) -> tuple[str, ...]:
        """The plans whose structures are included."""
        return tuple(dict.fromkeys(each.plan for each in self.asked.wanted))

    @computed_field
    @property
    def placements(self) -> tuple[StructurePlacement, ...]:
        """Structures that are allocated without any loss."""
        return _placements(self.normal, self.board)

    @computed_field
    @property
    def unplaced(self) -> tuple[UnplacedStructure, ...]:
        """Structures that cannot be placed even without a loss."""
        return tuple(_unplaced(each) for each in self.normal if not each.now)

    def lines(self) -> Iterator[str]:
        """Yield tables of placements, of each loss, and of the white space."""
        yield f"Where structures are, counted with {self.counted_at.upper()} [MiB]"
        rows = [("structure", "size", "in", "second copy", "rule")]
        rows += [
            (
                each.structure,
                _mib(each.size_bytes),
                each.coupling_facility,
                each.second_copy or "",
                str(each.rule),
            )
            for each in self.placements
        ]
        rows += [(each.structure, _mib(each.size_bytes), "no place", "", each.rule) for each in self.unplaced]
        yield from table_lines(rows)
        for loss in self.losses:
            yield from _loss_lines(loss)
        yield ""
        yield "White space to keep [MiB]"
        space = [
            (each.name, _mib(each.keep_bytes), _mib(each.free_bytes), each.because or "")
            for each in self.white_space
        ]
        yield from table_lines([("coupling facility", "keep", "free", "because of"), *space])


def _loss_lines(loss: Loss) -> Iterator[str]:
    yield ""
    what = "" if loss.kind == "coupling_facility" else f"{loss.kind} "
    yield f"Without {what}{loss.name}: white space {_mib(loss.white_space_bytes)} MiB" + (
        f", {_mib(loss.missing_bytes)} MiB of it cannot be placed" if loss.unplaced else ""
    )
    rows = [
        (
            f"  {each.structure}",
            _mib(each.size_bytes),
            each.action.replace("_", " "),
            " ".join(filter(None, (each.coupling_facility, each.second_copy))),
            each.rule or "",
        )
        for each in loss.placements
        if each.action != "stays"
    ]
    rows += [
        (f"  {each.structure}", _mib(each.size_bytes), "no place", "", "")
        for each in loss.unplaced_structures
    ]
    if rows:
        yield from table_lines(rows)
    if gone := sum(each.gone for each in loss.lost):
        yield f"  {gone} messages of the planned backlog are lost."
    yield from (f"  {each.words}" for each in loss.endings)
    if by_itself := [each.structure for each in loss.lost if each.recovers_by_itself]:
        yield f"  Recover without an operator: {', '.join(by_itself)}."
    yield from (f"  {each.structure}: {each.words}" for each in loss.lost if each.recovers_by_itself is None)


def _mib(size_bytes: int | None) -> str:
    return "not stated" if size_bytes is None else f"{size_bytes / MIB:.0f}"


def _placements(
    placed: Sequence[PlacedStructure[PlannedResult]], board: Board
) -> tuple[StructurePlacement, ...]:
    return tuple(_placement(each, board) for each in placed if each.now)


def _placement(each: PlacedStructure[PlannedResult], board: Board) -> StructurePlacement:
    first, second = each.first, each.second
    return StructurePlacement(
        *_identity(each),
        coupling_facility=each.now[0],
        second_copy=each.now[1] if len(each.now) > 1 else None,
        action=each.placed_action,
        rule=first.rule if first is not None else None,
        reason=first.reason if first is not None else None,
        candidates=first.candidates if first is not None else (),
        second_copy_rule=second.rule if second is not None else None,
        second_copy_reason=second.reason if second is not None else None,
        storage_class_memory=scm_of(each, board.facilities),
    )


def _unplaced(each: PlacedStructure[PlannedResult]) -> UnplacedStructure:
    first = each.first
    room = first.most_room if first is not None else None
    return UnplacedStructure(
        *_identity(each),
        rule="none",
        reason=first.reason if first is not None else None,
        candidates=first.candidates if first is not None else (),
        most_room_in=room.facility if room is not None else None,
        # Stated sizes may overcommit a coupling facility, so its free storage may be negative.
        short_by_bytes=each.wanted.bytes_wanted - max(0, room.free_bytes)
        if room is not None and room.free_bytes is not None
        else None,
    )


def _identity(each: PlacedStructure[PlannedResult]) -> tuple[str, str, str, PlacedRole, int, tuple[str, ...]]:
    result = each.wanted.result
    return (
        result.cfrm_name,
        result.name,
        each.wanted.plan,
        result.role,
        each.wanted.bytes_wanted,
        each.before,
    )


def losses_of(results: Sequence[tuple[str, PlanResult]], *, at: At = "initsize") -> LossAnswer:
    """Place the structures of plans, and simulate the loss of each coupling facility, machine and site.

    Args:
        results: Each plan's name and its result.
        at: The size with which structures are counted: INITSIZE or SIZE.

    Raises:
        PlansDoNotFit: A structure is in two plans.
    """
    asked = question([group_of(name, result) for name, result in results], at=at)
    allocation = allocate(asked)
    board, normal = allocation.board, allocation.placed
    documents = {name: result.document for name, result in results}
    losses = tuple(
        _loss(kind, name, gone, documents, board, normal) for kind, name, gone in _what_can_be_lost(asked)
    )
    space = tuple(_white_space(facility, board, losses) for facility in asked.facilities.values())
    found = [*check_allocation(allocation), *check_scm(asked, normal)]
    played: set[frozenset[str]] = set()
    for loss in losses:
        found.extend(_check_loss(loss))
        # A site may have the coupling facilities of another loss, which has the same findings.
        if frozenset(loss.gone) not in played:
            played.add(frozenset(loss.gone))
            found.extend(check_scm_after_loss(asked.facilities, loss.placed, _words(loss)))
    found.extend(check_stated(documents))
    found.extend(_check_white_space(space))
    return LossAnswer(asked, normal, board, losses, space, in_order(found))


def group_of(name: str, result: PlanResult) -> AllocationGroup[PlannedResult]:
    """Return a plan's structures and coupling facilities, under the plan's name in answers."""
    return allocation_group(name, result.document, result.structures)


def _what_can_be_lost(
    asked: AllocationQuestion[PlannedResult],
) -> Iterator[tuple[Kind, str, tuple[str, ...]]]:
    facilities = asked.facilities.values()
    for facility in facilities:
        yield "coupling_facility", facility.name, (facility.name,)
    # Coupling facilities of one TYPE, MFG, PLANT and SEQUENCE fail together (assumed).
    machines: dict[tuple[str, ...], list[str]] = {}
    for facility in facilities:
        if facility.machine:
            machines.setdefault(facility.machine, []).append(facility.name)
    for machine, names in machines.items():
        if len(names) > 1:
            yield "machine", machine[-1], tuple(names)
    sites = sorted({facility.site for facility in facilities if facility.site is not None})
    for site in sites:
        yield "site", site, tuple(facility.name for facility in facilities if facility.site == site)


def _loss(
    kind: Kind,
    name: str,
    gone: tuple[str, ...],
    documents: Mapping[str, PlanDocument],
    board: Board,
    normal: tuple[PlacedStructure[PlannedResult], ...],
) -> Loss:
    order = [each.wanted for each in normal]
    after, placed = place_after_loss(gone, order, board)
    # XCF's order of structures is not documented, so others are tried, too (docs/decisions/0016).
    outcomes = {_nowhere(place_after_loss(gone, other, board)[1]) for other in other_orders(order)}
    lost = tuple(
        found for each in placed if not set(each.before) - set(gone) for found in _lost_messages(each)
    )
    # A queue manager continues while a copy of the structure is left.
    ends = endings(((each.wanted.plan, each.wanted.result) for each in lost), documents)
    return Loss(
        kind,
        name,
        gone,
        placed,
        lost,
        after,
        order_matters=outcomes != {_nowhere(placed)},
        endings=tuple(ends),
    )


def _nowhere(placed: Sequence[PlacedStructure[PlannedResult]]) -> frozenset[str]:
    return frozenset(each.wanted.structure for each in placed if not each.now)


def unplaced_of(placed: Iterable[PlacedStructure[S]]) -> tuple[PlacedStructure[S], ...]:
    """Return the structures that were allocated before a loss and cannot be placed after it."""
    return tuple(each for each in placed if not each.now and each.before)


def needed_in(facility: str, placed: Sequence[PlacedStructure[S]]) -> int:
    """Return the storage that would have to be free in a coupling facility because of a loss [bytes].

    This counts structures without a copy that are placed there, and structures that cannot be placed but come nearest
    to fitting there. New second copies are left out, as in the white space: they are made only where there is room.
    """
    moved = sum(each.bytes_moved for each in placed if each.before and each.now and each.now[0] == facility)
    short = sum(
        each.wanted.bytes_wanted
        for each in unplaced_of(placed)
        if each.first is not None
        and each.first.most_room is not None
        and each.first.most_room.facility == facility
    )
    return moved + short


def place_after_loss(
    gone: Sequence[str], order: Sequence[AllocationRequest[S]], before: Board
) -> tuple[Board, tuple[PlacedStructure[S], ...]]:
    """Return the board and all structures after a loss.

    Args:
        gone: The lost coupling facilities.
        order: All structures in the order in which they are allocated.
        before: The places of the structures before the loss.
    """
    # The order is XCF's: structures without a copy are allocated first, and only then new second copies.
    board = before.copy(gone=gone)
    was = {wanted.structure: tuple(before.places.get(wanted.structure, ())) for wanted in order}
    for wanted in order:
        for facility in was[wanted.structure]:
            if facility in gone:
                board.drop(wanted, facility)
    first: dict[str, PlacementChoice] = {}
    second: dict[str, PlacementChoice] = {}
    for wanted in order:
        if was[wanted.structure] and not board.places[wanted.structure]:
            choice = first[wanted.structure] = first_choice(wanted, board)
            if choice.facility is not None:
                board.put(wanted, choice.facility)
    for wanted in order:
        places = board.places.get(wanted.structure, [])
        lost_a_copy = set(was[wanted.structure]) & set(gone)
        if wanted.is_duplexed and len(places) == 1 and lost_a_copy:
            choice = second[wanted.structure] = second_choice(wanted, board)
            if choice.facility is not None:
                board.put(wanted, choice.facility)
    placed = tuple(
        PlacedStructure(
            wanted=wanted,
            before=was[wanted.structure],
            now=tuple(board.places.get(wanted.structure, ())),
            first=first.get(wanted.structure),
            second=second.get(wanted.structure),
        )
        for wanted in order
    )
    return board, placed


def _lost_messages(placed: PlacedStructure[PlannedResult]) -> Iterator[LostMessages]:
    """Yield the lost messages of a structure that has no copy left."""
    if not placed.before:
        return
    result = placed.wanted.result
    if isinstance(result, OtherResult):
        # Its contents are not messages, and its owner recovers them.
        return
    definition = result.definition
    wanted = cast(AllocationRequest[StructureResult], placed.wanted)
    if result.role == "admin":
        words = "It holds no messages; each queue manager rebuilds its part from its log."
        yield LostMessages(wanted, 0, 0, True, words, recovers_by_itself=True)
        return
    if isinstance(definition, System):
        messages = sum(queue.messages for queue in result.queues)
        words = (
            "Its CFSTRUCT is not in the plan; RECOVER(YES) is assumed, which IBM requires for group units of recovery. "
            "Unavailable until it is recovered from its last backup: automatically with RECAUTO(YES) and CFLEVEL(5), "
            "otherwise by RECOVER CFSTRUCT(CSQSYSAPPL)."
        )
        yield LostMessages(wanted, 0, messages, True, words)
        return
    if not isinstance(definition, Structure):
        return
    counted = list(zip(definition.queues, result.queues, strict=True))
    persistent = sum(demand.messages for queue, demand in counted if queue.persistent)
    other = sum(demand.messages for queue, demand in counted if not queue.persistent)
    comes_back = definition.recover and definition.cflevel >= limit("cflevel_recover")
    by_itself = recovers_by_itself(result)
    words = _after(definition.name, comes_back=comes_back, by_itself=bool(by_itself))
    yield LostMessages(wanted, other, persistent, comes_back, words, recovers_by_itself=by_itself)


def _after(name: str, *, comes_back: bool, by_itself: bool) -> str:
    if comes_back and by_itself:
        return (
            f"Unavailable until MQ has recovered {name} automatically (RECAUTO(YES)): persistent messages are restored from "
            "backup and logs; nonpersistent messages are lost."
        )
    if comes_back:
        return (
            f"Unavailable until an operator issues RECOVER CFSTRUCT({name}), because MQ does not recover it automatically "
            "(RECAUTO(NO), or below CFLEVEL(5)): the command restores persistent messages from backup and logs; "
            "nonpersistent messages are lost."
        )
    return "Allocated empty: all its messages are lost, because it does not have RECOVER(YES)."


def _white_space(facility: Facility, board: Board, losses: Sequence[Loss]) -> WhiteSpace:
    # White space is what the worst single loss takes (docs/decisions/0016).
    single = [loss for loss in losses if loss.kind == "coupling_facility" and facility.name not in loss.gone]
    worst = max(single, key=lambda loss: loss.wanted_in(facility.name), default=None)
    keep = worst.wanted_in(facility.name) if worst is not None else 0
    return WhiteSpace(
        name=facility.name,
        storage_bytes=facility.storage_bytes,
        taken_bytes=facility.taken_bytes,
        cfcc_level=facility.cfcc_level,
        site=facility.site,
        volatile=facility.is_volatile,
        failure_isolated=facility.is_failure_isolated,
        used_bytes=board.used_bytes(facility.name),
        free_bytes=board.free_bytes(facility.name),
        keep_bytes=keep,
        because=worst.name if worst is not None and keep else None,
    )


def _check_loss(loss: Loss) -> Iterator[Finding]:
    what = _words(loss)
    for each in loss.unplaced:
        reason = each.first.reason if each.first is not None else ""
        yield finding(
            "LOSS_STRUCTURE_NOT_PLACED",
            f"Without {what}, {each.wanted.structure} ({format_mib(each.wanted.bytes_wanted)}) cannot be placed. {reason}",
            field=f"{each.wanted.result.pointer}/preflist",
            structure=each.wanted.result.name,
        )
    if loss.kind == "coupling_facility":
        for lost in loss.lost:
            if lost.gone:
                duplexed = (
                    "A second copy, once it can be placed," if lost.wanted.is_duplexed else "DUPLEX(ENABLED)"
                )
                remedy = (
                    duplexed
                    if len(loss.board.facilities) > 1
                    else "A second copy in another coupling facility"
                )
                yield finding(
                    "LOSS_MESSAGES_GONE",
                    f"Without {what}, {lost.gone} messages of the planned backlog of {lost.wanted.structure} are lost"
                    f"{': nonpersistent messages' if lost.comes_back else ', because it has RECOVER(NO)'}. {remedy} would keep "
                    "them.",
                    field=f"{lost.wanted.result.pointer}/duplex",
                    structure=lost.wanted.result.name,
                )
        for ending in loss.endings:
            # QMGR_CFCONLOS_NOT_STATED reports the assumption once for the plan, and not with each loss.
            if not ending.is_assumed:
                yield finding(
                    "LOSS_ENDS_QUEUE_MANAGERS",
                    f"Without {what}: {ending.words} With TOLERATE they continue, and so do their private queues.",
                )
    if loss.order_matters:
        yield finding(
            "PLACEMENT_ORDER_MATTERS",
            f"Without {what}, the order in which structures are allocated again decides which of them cannot be placed.",
        )


def _words(loss: Loss) -> str:
    if loss.kind == "coupling_facility":
        return loss.name
    return f"{'site' if loss.kind == 'site' else 'machine'} {loss.name} ({', '.join(loss.gone)})"


def _check_white_space(space: Sequence[WhiteSpace]) -> Iterator[Finding]:
    if len(space) == 1:
        yield finding(
            "ONE_COUPLING_FACILITY",
            f"{space[0].name} is the only coupling facility: while it is unavailable, so are all structures.",
        )
