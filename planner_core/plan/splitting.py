"""Proposals to move queues to a structure of their own, as a changed document with reasons.

The reasons are those of IBM MQ, Planning your coupling facility and offload storage
environment, "Using multiple structures": queues that need a large part of a coupling facility, more than 512 queues,
spreading over coupling facilities, data isolation, and recovery by structure (persistent and nonpersistent queues
apart). The Washington Systems Center adds one: deep queues that are read by selectors slow down all others.

No queue moves without a reason, or more than once. A structure that gives or receives
queues loses its given INITSIZE, SIZE and MINSIZE, which were for other queues.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner_core import tables
from planner_core.document.model import PlanDocument, Queue, Structure
from planner_core.limits import limit
from planner_core.plan.evaluate import evaluate
from planner_core.provenance import Source
from planner_core.sizing.levels import sizing_level
from planner_core.sizing.structure_size import Curve, bundles_in, elements_held, published_curve
from planner_core.sizing.structures import planned_backlog

_MOST = Fraction(1, 2)
_LONGEST_NAME = 12
_LONGEST_QUALIFIER = 8
_SUFFIXES = "23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Move:
    """A queue that should move to another structure, and the reason."""

    queue: str
    from_structure: str
    to_structure: str
    reason: str
    source: Source


@dataclass(frozen=True, slots=True)
class Advice:
    """The proposed document and its moves; without moves the document is unchanged."""

    document: PlanDocument
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Queues that belong together on one structure, and the reason to leave their current one."""

    queues: tuple[Queue, ...]
    reason: str
    source: Source


def advise(document: PlanDocument, *, curve: Curve | None = None) -> Advice:
    """Propose a document whose structures hold queues that belong together.

    Args:
        document: The plan.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        PlanRefused: The plan cannot exist for a reason other than too many queues on a structure.
    """
    # The limit includes CSQ_ADMIN and CSQSYSAPPL: a proposal beyond it would be refused.
    room = limit("structures_per_group") - 1 - document.system.include - len(document.structures)
    taken = {structure.name for structure in document.structures}
    made: list[Structure] = []
    moves: list[Move] = []
    for structure in document.structures:
        level = sizing_level(document, structure).level
        used = curve or published_curve(cfcc_level=level).curve
        groups = _groups(document, structure, used)[: max(0, room)]
        room -= len(groups)
        leaving = {queue.name for group in groups for queue in group.queues}
        if not leaving:
            made.append(structure)
            continue
        kept = [queue for queue in structure.queues if queue.name not in leaving]
        made.append(_refilled(structure, structure.name, kept, 0))
        for number, group in enumerate(groups, start=1):
            name = _free_name(structure.name, taken)
            made.append(_refilled(structure, name, group.queues, number))
            moves.extend(
                Move(queue.name, structure.name, name, group.reason, group.source) for queue in group.queues
            )
    return Advice(document.model_copy(update={"structures": made}) if moves else document, tuple(moves))


def _groups(document: PlanDocument, structure: Structure, curve: Curve) -> list[_Group]:
    """Return the groups of queues that should leave a structure, the strongest reason first."""
    left = list(structure.queues)
    groups: list[_Group] = []
    most = limit("queues_per_structure")

    def take(chosen: Sequence[Queue], reason: str, source: Source) -> None:
        # At least one queue stays: moving all of them would only rename the structure.
        if chosen and len(chosen) < len(left):
            parts = (tuple(chosen[start : start + most]) for start in range(0, len(chosen), most))
            groups.extend(_Group(part, reason, source) for part in parts)
            names = {queue.name for queue in chosen}
            left[:] = [queue for queue in left if queue.name not in names]

    using = tables.source("mq_planning", "Using multiple structures")
    # The strongest reasons come first, because a queue moves only once.
    labels = sorted({queue.isolation for queue in left if queue.isolation})
    for label in labels if len(labels) > 1 or any(not queue.isolation for queue in left) else ():
        take(
            [queue for queue in left if queue.isolation == label],
            f"its data must be kept apart from that of other queues ({label})",
            using,
        )
    take(
        [queue for queue in left if queue.selector_reads],
        "it is read by selectors or searched deep, which slows down every other queue on its structure",
        tables.source("wsc_mq_zos", "selectors on deep shared queues"),
    )
    weight = _weigher(curve)
    for queue in sorted(left, key=weight, reverse=True):
        if weight(queue) > _MOST * (_smallest_cf(document, structure, curve) or 0) > 0:
            take([queue], "it needs more than half of a coupling facility", using)
    persistent = [queue for queue in left if queue.persistent]
    if 0 < len(persistent) < len(left):
        take(
            [queue for queue in left if not queue.persistent],
            "it is nonpersistent, and backup and recovery of a structure apply only to persistent messages",
            using,
        )
    total = sum((weight(queue) for queue in left), Fraction(0))
    for queue in sorted(left, key=weight, reverse=True)[:1]:
        if weight(queue) > _MOST * total:
            take(
                [queue],
                "it takes most of its structure: when it fills it, puts to the other queues fail too",
                using,
            )
    while len(left) > most:
        take(
            left[most : 2 * most],
            f"a structure holds at most {most} queues",
            tables.source("mq_planning", "Planning your structures"),
        )
    return groups


def _weigher(curve: Curve) -> Callable[[Queue], Fraction]:
    """Return a function that calculates the bundles of entries and elements in the backlog of a queue, before growth."""
    # Growth is the same for all queues, so it does not change which of them is heavy.

    def weight(queue: Queue) -> Fraction:
        size = queue.message_bytes if isinstance(queue.message_bytes, int) else int(queue.message_bytes.mean)
        elements = elements_held(size, header_bytes=curve.header_bytes)
        return planned_backlog(queue) * max(Fraction(1), elements / curve.elements_per_entry)

    return weight


def _smallest_cf(document: PlanDocument, structure: Structure, curve: Curve) -> Fraction | None:
    """Return the number of bundles in the smallest coupling facility of the PREFLIST; None if no size is known."""
    preflist = structure.preflist or [cf.name for cf in document.coupling_facilities]
    sizes = [cf.size for cf in document.coupling_facilities if cf.name in preflist and cf.size is not None]
    return bundles_in(min(sizes), curve=curve) if sizes else None


def _refilled(structure: Structure, name: str, queues: Sequence[Queue], turn: int) -> Structure:
    """Return a structure with other queues, and its PREFLIST rotated so that coupling facilities share the load."""
    preflist = list(structure.preflist)
    if preflist:
        turn %= len(preflist)
        preflist = preflist[turn:] + preflist[:turn]
    # Each structure needs its own data sets (DSGROUP_TWICE); without a generic name there is none to derive.
    offload = structure.offload
    if name != structure.name and offload.dsgroup is not None:
        head = offload.dsgroup.rpartition(".")[0]
        dsgroup = f"{head}.{name[:_LONGEST_QUALIFIER]}" if "*" in head else None
        offload = offload.model_copy(update={"dsgroup": dsgroup})
    changed = {"name": name, "queues": list(queues), "preflist": preflist, "offload": offload}
    return structure.model_copy(update={**changed, "initsize": None, "size": None, "minsize": None})


def _free_name(name: str, taken: set[str]) -> str:
    """Return a similar CFSTRUCT name that no structure has, and reserve it."""
    stem = name[: _LONGEST_NAME - 1]
    # One character gives 34 names; two are enough for the 63 structures of a group.
    candidates = (f"{stem}{suffix}" for suffix in _SUFFIXES)
    further = (f"{stem[:-1]}{first}{second}" for first in _SUFFIXES for second in _SUFFIXES)
    found = next(candidate for candidate in (*candidates, *further) if candidate not in taken)
    taken.add(found)
    return found


def gains(document: PlanDocument, advice: Advice, *, curve: Curve | None = None) -> tuple[int, int]:
    """Return total INITSIZE before and after [bytes]: each additional structure adds its base.

    Args:
        document: The plan.
        advice: The proposal for it.
        curve: The fitted curve that both name; None for published figures.

    Raises:
        PlanRefused: One of the two plans cannot exist.
    """
    before, after = (evaluate(each, curve=curve) for each in (document, advice.document))
    return (
        sum(structure.sizes.initsize_bytes for structure in before.structures),
        sum(structure.sizes.initsize_bytes for structure in after.structures),
    )
