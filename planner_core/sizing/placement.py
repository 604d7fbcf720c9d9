"""The coupling facility that XCF chooses for each structure, and the rule that decides.

The order of choice is that of z/OS MVS Setting Up a Sysplex, "Specifying the coupling facility
requirements" and "How MVS uses the lists": connectivity, CFLEVEL, space, volatility, failure
independence, exclusion list; where all are met alike, the order of PREFLIST. What those pages
leave open is assumed here and listed in `ASSUMPTIONS`, which every answer lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Generic, Literal, Protocol, TypeVar

from pydantic import Field, computed_field

from planner_core import tables
from planner_core.document.model import CouplingFacility
from planner_core.errors import PlannerError
from planner_core.limits import limit
from planner_core.names import PlacedRole
from planner_core.provenance import Basis, SourceText
from planner_core.sizing.other_structures import OtherResult
from planner_core.sizing.structure_result import Placement, StructureResult
from planner_core.units import Mib, bytes_to_kib_ceil, format_mib
from planner_core.wire import Answer, Hidden, Omittable

At = Literal["initsize", "size"]
PlacedAction = Literal["allocated", "stays", "moves", "switches", "duplexed_again", "loses_second_copy"]
Action = Literal["unplaced", PlacedAction]
PlannedResult = StructureResult | OtherResult
"""A structure of an evaluated plan: one of the group, or another one that the document lists."""


@dataclass(frozen=True, slots=True)
class PlacementRule(Answer):
    """A rule that decides between coupling facilities, and its source."""

    key: Annotated[str, Field(alias="rule")]
    words: str
    source_key: Hidden[str]
    section: Hidden[str]
    basis: Basis = Basis.PUBLISHED

    @computed_field
    @property
    def source(self) -> SourceText:
        """The document that states the rule."""
        return tables.source(self.source_key, self.section)


_ORDER = "the requirements, in order"
_RULES = (
    PlacementRule("only_candidate", "only one coupling facility can take it", "zos_lists", "PREFLIST"),
    PlacementRule("enforceorder", "ENFORCEORDER(YES): PREFLIST in its order", "zos_lists_used", "ENFORCEORDER"),
    PlacementRule("duplex_candidacy", "levels and room for both copies", "zos_duplex_pair", "Allocating the Primary Structure"),
    PlacementRule("duplex_site", "site of the second copy", "project", "Placement of structures", Basis.ASSUMED),
    PlacementRule("duplex_isolation", "copies that do not fail together", "zos_duplex_pair", "Allocating the Secondary Structure"),
    PlacementRule("space", "space for the structure", "zos_cf_requirements", _ORDER),
    PlacementRule("volatility", "volatility", "msys_cfrm", "Preference list"),
    PlacementRule("failure_independence", "failure independence", "msys_cfrm", "Preference list"),
    PlacementRule("exclusion_list", "exclusion list", "msys_cfrm", "Preference list"),
    PlacementRule("preflist_order", "order of PREFLIST", "zos_lists_used", "identical weights"),
    PlacementRule("none", "no coupling facility can take it", "zos_cf_requirements", _ORDER),
)  # fmt: skip
RULES: Mapping[str, PlacementRule] = {rule.key: rule for rule in _RULES}

ASSUMPTIONS: tuple[str, ...] = (
    "Every system is connected to every coupling facility, and coupling facilities to each other; all systems have the "
    "same weight in the SFM policy. Connectivity comes first in XCF's order, so a missing link would determine the choice.",
    "Each criterion outweighs all later criteria together; IBM says only that the weights follow the order of the list.",
    "MQ requests non-volatile and failure-independent coupling facilities. Both are preferences: a structure is also allocated where one of them is not met.",
    "Structures are allocated in the order CSQ_ADMIN, CSQSYSAPPL, application structures in the order of the document, one plan "
    "after another; a second copy immediately after the first. Other structures, such as those of Db2, are allocated before them.",
    "A coupling facility without room for all of a structure is skipped, even with ENFORCEORDER(YES). XCF may instead "
    "allocate the structure smaller, down to MINSIZE, where there is the most room.",
    "DUMPSPACE and storage that others occupy are not available. Augmented space of storage-class memory is counted in "
    "full from the start if the plan states it.",
    "CROSSSITE and SAMESITE are preferences for the site of the second copy, SAMESITEONLY is a condition.",
    "Coupling facilities with the same TYPE, MFG, PLANT and SEQUENCE are in one machine and fail together; others do not.",
)


@dataclass(frozen=True, slots=True)
class Facility:
    """A coupling facility; its storage is None if no plan states it.

    `occupied_bytes` is the storage of structures outside of the plans.
    """

    name: str
    storage_bytes: int | None
    occupied_bytes: int
    dumpspace_bytes: int
    cfcc_level: int
    site: str | None
    is_volatile: bool
    is_failure_isolated: bool
    machine: tuple[str, ...]
    scm_bytes: int | None
    is_described: bool = True

    @property
    def taken_bytes(self) -> int:
        """Return the storage that is not available to the plans' structures."""
        return self.occupied_bytes + self.dumpspace_bytes


class PlaceableStructure(Protocol):
    """The part of a structure that decides where XCF allocates it."""

    # Properties, because a member of a protocol that can be assigned would not match the fields of a frozen dataclass.
    @property
    def cfrm_name(self) -> str:
        """Its name in the CFRM policy."""

    @property
    def role(self) -> PlacedRole:
        """Its role in the group."""

    @property
    def placement(self) -> Placement:
        """Its keywords in the CFRM policy."""

    @property
    def initsize_bytes(self) -> int:
        """INITSIZE, without augmented space."""

    @property
    def size_bytes(self) -> int:
        """SIZE, without augmented space."""


# A structure of an evaluated plan, or of a stored result. Checks and losses need more of it than placement does, and only
# an evaluated plan has that.
S = TypeVar("S", bound=PlaceableStructure)
S_co = TypeVar("S_co", bound=PlaceableStructure, covariant=True)


@dataclass(frozen=True, slots=True)
class AllocationRequest(Generic[S_co]):
    """A structure to allocate. Its sizes include augmented space; `bytes_wanted` is the size that the question uses."""

    plan: str
    result: S_co
    bytes_wanted: int
    initsize_bytes: int
    size_bytes: int
    augmented_bytes: int

    @property
    def structure(self) -> str:
        """Return the name of the structure in the CFRM policy."""
        return self.result.cfrm_name

    @property
    def preflist(self) -> tuple[str, ...]:
        """Return the coupling facilities in which the structure may be allocated."""
        return self.result.placement.preflist

    @property
    def is_duplexed(self) -> bool:
        """Return whether the system keeps a second copy without operator action."""
        return self.result.placement.duplex == "ENABLED"

    @property
    def may_be_duplexed(self) -> bool:
        """Return whether XCF prefers a place from which the structure can be duplexed."""
        return self.result.placement.duplex != "DISABLED"


@dataclass(frozen=True, slots=True)
class FacilityCandidate(Answer):
    """A coupling facility of a PREFLIST as XCF sees it, in the order of its choice."""

    facility: Annotated[str, Field(alias="coupling_facility")]
    position: Annotated[int, Field(description="Its position in PREFLIST, starting at 1.")]
    free_bytes: Annotated[
        Mib | None,
        Field(alias="free_mib", description="Free storage there; null if it is not known."),
    ]
    ranks: Hidden[tuple[tuple[str, int], ...]]
    """The rank of the coupling facility by each criterion, in XCF's order; 0 is best."""
    ruled_out: Annotated[str | None, Field(description="Why it cannot be chosen at all.")] = None
    has_room: Hidden[bool] = True

    @computed_field(alias="not_met")
    @property
    def fails(self) -> tuple[str, ...]:
        """Criteria that it does not meet."""
        # A place in PREFLIST is a rank, not a criterion that a coupling facility can fail.
        return tuple(
            key for key, rank in self.ranks if rank and key not in {"preflist_order", "enforceorder"}
        )


@dataclass(frozen=True, slots=True)
class PlacementChoice:
    """The place of one instance of a structure; `facility` is None if none has room."""

    facility: str | None
    candidates: tuple[FacilityCandidate, ...]
    wanted: AllocationRequest[PlaceableStructure]
    excluded: tuple[str, ...] = ()
    """The structures of its exclusion list that are in that coupling facility."""

    # Rule and reason are derived when they are read, because most plans are sized without a look at them.
    @property
    def rule(self) -> str:
        """Return the rule that decides."""
        if self.facility is None:
            return "none"
        usable = [each for each in self.candidates if not each.ruled_out]
        return _decisive(usable[0], usable[1:]) if len(usable) > 1 else "only_candidate"

    @property
    def reason(self) -> str:
        """Return the reason in words."""
        return _why_not(self) if self.facility is None else _why(self)

    @property
    def most_room(self) -> FacilityCandidate | None:
        """Return the candidate with the most known free storage among those that are not ruled out."""
        known = [each for each in self.candidates if not each.ruled_out and each.free_bytes is not None]
        return max(known, key=lambda each: (each.free_bytes or 0, -each.position)) if known else None


@dataclass(slots=True)
class Board:
    """The places of all structures, which change while a scenario runs."""

    facilities: Mapping[str, Facility]
    gone: frozenset[str] = frozenset()
    places: dict[str, list[str]] = field(default_factory=dict)
    """Coupling facilities by structure, the one with the first copy first."""
    _used: dict[str, int] = field(default_factory=dict)
    _inside: dict[str, set[str]] = field(default_factory=dict)

    def free_bytes(self, facility: str) -> int | None:
        """Return the free storage of a coupling facility; None if its size is not stated."""
        known = self.facilities[facility]
        if known.storage_bytes is None:
            return None
        return known.storage_bytes - known.taken_bytes - self._used.get(facility, 0)

    def used_bytes(self, facility: str) -> int:
        """Return the storage that the plans' structures use in a coupling facility."""
        return self._used.get(facility, 0)

    def put(self, wanted: AllocationRequest[PlaceableStructure], facility: str) -> None:
        """Allocate an instance of a structure in a coupling facility."""
        self.places.setdefault(wanted.structure, []).append(facility)
        self._used[facility] = self._used.get(facility, 0) + wanted.bytes_wanted
        self._inside.setdefault(facility, set()).add(wanted.structure)

    def drop(self, wanted: AllocationRequest[PlaceableStructure], facility: str) -> None:
        """Remove the instance of a structure from a coupling facility."""
        self.places[wanted.structure].remove(facility)
        self._used[facility] -= wanted.bytes_wanted
        self._inside[facility].remove(wanted.structure)

    def inside(self, facility: str) -> Set[str]:
        """Return the structures with an instance in a coupling facility."""
        return self._inside.get(facility, frozenset())

    def copy(self, *, gone: Iterable[str] = ()) -> Board:
        """Return a copy to continue from, without some coupling facilities."""
        places = {name: list(where) for name, where in self.places.items()}
        inside = {name: set(structures) for name, structures in self._inside.items()}
        return Board(self.facilities, frozenset(gone), places, dict(self._used), inside)


def first_choice(wanted: AllocationRequest[PlaceableStructure], board: Board) -> PlacementChoice:
    """Return the choice of a coupling facility for a structure."""
    return _decide(wanted, board, [_judge(wanted, board, at) for at in range(len(wanted.preflist))])


def second_choice(wanted: AllocationRequest[PlaceableStructure], board: Board) -> PlacementChoice:
    """Return the choice of a coupling facility for the second copy; the first copy is already on the board."""
    first = board.places[wanted.structure][0]
    return _decide(
        wanted, board, [_judge_second(wanted, board, at, first) for at in range(len(wanted.preflist))]
    )


def _decide(
    wanted: AllocationRequest[PlaceableStructure], board: Board, candidates: Sequence[FacilityCandidate]
) -> PlacementChoice:
    """Return the best candidate with room."""
    # A facility without room never wins, whatever ranks higher in XCF's list (ASSUMPTIONS: it is passed over).
    ordered = sorted(candidates, key=_preference)
    best = ordered[0] if ordered else None
    if best is None or best.ruled_out or not best.has_room:
        return PlacementChoice(None, tuple(ordered), wanted)
    exclist = wanted.result.placement.exclist
    excluded = sorted(board.inside(best.facility) & set(exclist)) if exclist else ()
    return PlacementChoice(best.facility, tuple(ordered), wanted, tuple(excluded))


def _preference(candidate: FacilityCandidate) -> tuple[bool, bool, tuple[tuple[str, int], ...]]:
    """Return the key that sorts coupling facilities as XCF chooses them, and those that are ruled out last."""
    # All candidates are ranked by the same criteria, so only the ranks differ.
    is_out = candidate.ruled_out is not None
    return is_out, not candidate.has_room, () if is_out else candidate.ranks


def _decisive(best: FacilityCandidate, others: Sequence[FacilityCandidate]) -> str:
    """Return the criterion by which the strongest rival loses, or the order if there is no rival."""
    # A rival is better by some lesser criterion, the place in PREFLIST included. A candidate that is better by no
    # criterion does not show which rule decided (docs/decisions/0016).
    for other in others:
        pairs = list(zip(best.ranks, other.ranks, strict=True))
        if any(its < mine for (_, mine), (_, its) in pairs):
            return next((key for (key, mine), (_, its) in pairs if other.has_room and mine != its), "space")
    return best.ranks[-1][0]


def _judge(wanted: AllocationRequest[PlaceableStructure], board: Board, at: int) -> FacilityCandidate:
    facility = board.facilities[wanted.preflist[at]]
    ruled_out = _ruled_out(facility, board)
    free = None if ruled_out else board.free_bytes(facility.name)
    # Storage that is not stated is assumed to be enough; a finding reports it.
    has_room = free is None or free >= wanted.bytes_wanted
    ranks: tuple[tuple[str, int], ...]
    if wanted.result.placement.enforce_order:
        ranks = (("enforceorder", at),)
    else:
        ranks = (
            ("duplex_candidacy", _candidacy(wanted, board, facility) if wanted.may_be_duplexed else 0),
            ("space", int(not has_room)),
            *_preferences(wanted, board, facility),
            ("preflist_order", at),
        )
    return FacilityCandidate(facility.name, at + 1, free, ranks, ruled_out, has_room)


def _preferences(
    wanted: AllocationRequest[PlaceableStructure], board: Board, facility: Facility
) -> tuple[tuple[str, int], ...]:
    exclist = wanted.result.placement.exclist
    excluded = board.inside(facility.name) & set(exclist) if exclist else frozenset()
    # These are in the order of the help of the CFRM policy, because the page of z/OS 3.1 was read only up to space.
    return (
        ("volatility", int(facility.is_volatile)),
        ("failure_independence", int(not facility.is_failure_isolated)),
        ("exclusion_list", int(bool(excluded - {wanted.structure}))),
    )


def _ruled_out(facility: Facility, board: Board) -> str | None:
    if facility.name in board.gone:
        return "it is lost"
    if facility.cfcc_level < limit("lowest_cfcc_level"):
        return (
            f"its CFCC level {facility.cfcc_level} is below {limit('lowest_cfcc_level')}, which MQ requires"
        )
    return None


def _candidacy(wanted: AllocationRequest[PlaceableStructure], board: Board, facility: Facility) -> int:
    """Return the rank of a facility for the first copy: 0 if another has room for the second, 3 if none can have it."""
    lowest = limit("lowest_cfcc_level_duplex")
    if facility.cfcc_level < lowest:
        return 3
    others = [
        board.facilities[name]
        for name in wanted.preflist
        if name not in board.gone | {facility.name} and board.facilities[name].cfcc_level >= lowest
    ]
    if not others:
        return 2
    room = [board.free_bytes(other.name) for other in others]
    return int(not any(free is None or free >= wanted.bytes_wanted for free in room))


def _judge_second(
    wanted: AllocationRequest[PlaceableStructure], board: Board, at: int, first: str
) -> FacilityCandidate:
    facility, primary = board.facilities[wanted.preflist[at]], board.facilities[first]
    lowest, site = limit("lowest_cfcc_level_duplex"), wanted.result.placement.duplex_site
    # A site that is not stated does not count as another site; a finding reports it where DUPLEX needs one.
    differs = None not in (facility.site, primary.site) and facility.site != primary.site
    ruled_out = _ruled_out(facility, board)
    if not ruled_out and facility.name == first:
        ruled_out = "it has the first copy"
    elif not ruled_out and facility.cfcc_level < lowest:
        ruled_out = f"its CFCC level {facility.cfcc_level} is below {lowest}, which duplexing requires"
    elif not ruled_out and site == "SAMESITEONLY" and differs:
        ruled_out = (
            f"it is at {facility.site}, the first copy at {primary.site}: DUPLEX specifies SAMESITEONLY"
        )
    free = None if ruled_out else board.free_bytes(facility.name)
    has_room = free is None or free >= wanted.bytes_wanted
    wrong_site = (site == "CROSSSITE" and not differs) or (site == "SAMESITE" and differs)
    # Isolation comes before space, as in IBM's help; a coupling facility without room is still never chosen.
    ranks = [
        ("duplex_site", int(wrong_site)),
        ("duplex_isolation", int(bool(facility.machine) and facility.machine == primary.machine)),
        ("space", int(not has_room)),
    ]
    if wanted.result.placement.enforce_order:
        ranks.append(("enforceorder", at))
    else:
        ranks += [*_preferences(wanted, board, facility), ("preflist_order", at)]
    return FacilityCandidate(facility.name, at + 1, free, tuple(ranks), ruled_out, has_room)


_FAULTS = {
    "duplex_candidacy": "it leaves less room for a second copy",
    "duplex_site": "it is not at the site that DUPLEX specifies",
    "duplex_isolation": "it is in the same machine as the first copy",
    "volatility": "it is volatile",
    "failure_independence": "it can fail together with a system",
    "exclusion_list": "it holds a structure from the exclusion list",
}


def _faults(candidate: FacilityCandidate, wanted: AllocationRequest[PlaceableStructure]) -> str:
    if candidate.ruled_out:
        return candidate.ruled_out
    if not candidate.has_room:
        return f"it has {format_mib(max(0, candidate.free_bytes or 0))} free, but {format_mib(wanted.bytes_wanted)} is needed"
    return " and ".join(_FAULTS[key] for key in candidate.fails if key in _FAULTS)


def _why(choice: PlacementChoice) -> str:
    """Return the reason for the choice, and why earlier coupling facilities in PREFLIST were not chosen."""
    best, wanted, rule = choice.candidates[0], choice.wanted, choice.rule
    passed = sorted(
        (each for each in choice.candidates if each.position < best.position), key=lambda c: c.position
    )
    words = [
        f"{each.facility} is not chosen: {_faults(each, wanted)}" for each in passed if _faults(each, wanted)
    ]
    if not words and rule == "only_candidate":
        words = [f"{best.facility} is the only coupling facility that can take it"]
    elif not words and rule == "preflist_order":
        words = [f"{best.facility} is the first of several equally suitable ones"]
    elif not words:
        words = [f"{best.facility} is the first in PREFLIST, and {RULES[rule].words} decides in its favor"]
    kept = _faults(best, wanted)
    if "exclusion_list" in best.fails or (rule == "enforceorder" and choice.excluded):
        kept = f"it holds {', '.join(choice.excluded)} from the exclusion list"
    return "; ".join(words) + (f". {best.facility} is not ideal: {kept}." if kept else ".")


def _why_not(choice: PlacementChoice) -> str:
    words = [f"{each.facility}: {_faults(each, choice.wanted)}" for each in choice.candidates]
    return "; ".join(words) + "." if words else "PREFLIST names no coupling facility."


@dataclass(frozen=True, slots=True)
class PlacedStructure(Generic[S_co]):
    """A structure, its previous place, its current place, and the decision."""

    wanted: AllocationRequest[S_co]
    before: tuple[str, ...]
    now: tuple[str, ...]
    first: PlacementChoice | None
    """The decision on the first copy; None if it stays, or the other copy takes over."""
    second: PlacementChoice | None
    """The decision on the second copy; None if none is required, or it stays."""

    @property
    def action(self) -> Action:
        """Return the effect of an allocation or a loss on the structure."""
        return self.placed_action if self.now else "unplaced"

    @property
    def placed_action(self) -> PlacedAction:
        """Return the effect on a structure that still has a place."""
        if not self.before:
            return "allocated"
        if self.before == self.now:
            return "stays"
        if self.first is not None:
            return "moves"
        if self.now[0] != self.before[0]:
            return "switches"
        return "duplexed_again" if len(self.now) > 1 else "loses_second_copy"

    @property
    def bytes_moved(self) -> int:
        """Return the storage newly allocated for the first copy, or the storage it would need if there is no room."""
        # White space counts it even without room: otherwise the fullest coupling facility would seem to need the least.
        return self.wanted.bytes_wanted if self.first is not None else 0

    @property
    def bytes_for_second(self) -> int:
        """Return the storage for a new second copy."""
        return self.wanted.bytes_wanted if self.second is not None and self.second.facility else 0


@dataclass(frozen=True, slots=True)
class AllocationGroup(Generic[S_co]):
    """The structures of one plan, and the coupling facilities that it describes."""

    plan: str
    cfcc_level: int
    coupling_facilities: Sequence[CouplingFacility]
    structures: Sequence[S_co]


@dataclass(frozen=True, slots=True)
class AllocationQuestion(Generic[S_co]):
    """The combined coupling facilities and structures of plans of one sysplex."""

    at: At
    facilities: Mapping[str, Facility]
    wanted: tuple[AllocationRequest[S_co], ...]
    stated_differently: tuple[str, ...]


class PlansDoNotFit(PlannerError):
    """Plans that cannot belong to one sysplex."""


def question(groups: Sequence[AllocationGroup[S]], *, at: At = "initsize") -> AllocationQuestion[S]:
    """Combine plans of one sysplex into one allocation question.

    Args:
        groups: The structures of each plan; the first is the plan in question.
        at: The size to use for every structure.

    Raises:
        PlansDoNotFit: A structure is in two plans.
    """
    groups, other_sizes_differ = without_repeated_others(groups)
    # Db2 and other owners use their structures before a queue manager connects.
    wanted = tuple(
        each
        for is_other in (True, False)
        for group in groups
        for each in _wanted(group, at)
        if (each.result.role == "other") == is_other
    )
    seen: dict[str, str] = {}
    for each in wanted:
        if each.structure in seen:
            message = (
                f"{each.structure} is in the plans {seen[each.structure]} and {each.plan}: "
                "a sysplex has only one structure of each name."
            )
            raise PlansDoNotFit(message)
        seen[each.structure] = each.plan
    known: dict[str, list[Facility]] = {}
    for group in groups:
        for facility in _facilities(group):
            known.setdefault(facility.name, []).append(facility)
    facilities = {name: _one(given) for name, given in known.items()}
    # A coupling facility that only a PREFLIST names is still a candidate, with the level of the plan in question.
    level = groups[0].cfcc_level if groups else 0
    for each in wanted:
        for name in each.preflist:
            if name not in facilities:
                facilities[name] = _unknown(name, level)
    different = (*(name for name, given in known.items() if _differ(given)), *other_sizes_differ)
    return AllocationQuestion(at=at, facilities=facilities, wanted=wanted, stated_differently=different)


def without_repeated_others(
    groups: Sequence[AllocationGroup[S]],
) -> tuple[list[AllocationGroup[S]], tuple[str, ...]]:
    """Return the groups with each other structure once, and the names of those whose sizes differ between plans.

    Plans of one sysplex may list the same structures of Db2, and structures of each other. A plan's own structure wins;
    of several statements on another one, the largest.
    """
    planned = {each.cfrm_name for group in groups for each in group.structures if each.role != "other"}
    largest: dict[str, S] = {}
    differing: dict[str, None] = {}
    for each in (each for group in groups for each in group.structures if each.role == "other"):
        known = largest.setdefault(each.cfrm_name, each)
        if (known.initsize_bytes, known.size_bytes) != (each.initsize_bytes, each.size_bytes):
            differing[each.cfrm_name] = None
            largest[each.cfrm_name] = max(known, each, key=lambda one: (one.initsize_bytes, one.size_bytes))
    kept = {id(each) for name, each in largest.items() if name not in planned}
    # Nearly all calls are about plans without such structures.
    if not largest:
        return list(groups), ()
    found = [
        replace(
            group, structures=[each for each in group.structures if each.role != "other" or id(each) in kept]
        )
        for group in groups
    ]
    return found, tuple(name for name in differing if name not in planned)


def _wanted(group: AllocationGroup[S], at: At) -> Iterator[AllocationRequest[S]]:
    """Yield the structures of a plan in the order in which they are allocated."""
    order = {"other": 0, "admin": 1, "system": 2, "application": 3}
    for structure in sorted(group.structures, key=lambda each: order[each.role]):
        augmented = structure.placement.augmented_bytes
        size = structure.initsize_bytes if at == "initsize" else structure.size_bytes
        yield AllocationRequest(
            plan=group.plan,
            result=structure,
            bytes_wanted=size + augmented,
            initsize_bytes=structure.initsize_bytes + augmented,
            size_bytes=structure.size_bytes + augmented,
            augmented_bytes=augmented,
        )


def _facilities(group: AllocationGroup[PlaceableStructure]) -> Iterator[Facility]:
    for cf in group.coupling_facilities:
        machine = (cf.type, cf.mfg, cf.plant, cf.sequence)
        yield Facility(
            name=cf.name,
            storage_bytes=cf.size,
            occupied_bytes=cf.occupied or 0,
            dumpspace_bytes=cf.dumpspace or 0,
            cfcc_level=cf.cfcc_level or group.cfcc_level,
            site=cf.site,
            is_volatile=cf.volatile,
            is_failure_isolated=cf.failure_isolated,
            # Without a serial number, two coupling facilities of one type would look like one machine.
            machine=tuple(part or "" for part in machine) if cf.sequence else (),
            scm_bytes=cf.scm,
        )


def _unknown(name: str, level: int) -> Facility:
    """Return a coupling facility that a PREFLIST names and no plan describes."""
    return Facility(name, None, 0, 0, level, None, False, True, (), None, is_described=False)


def _differ(given: Sequence[Facility]) -> bool:
    return any(each != given[0] for each in given[1:])


def _one(given: Sequence[Facility]) -> Facility:
    """Return one facility from the statements of several plans; if they differ, the less favorable one applies."""
    if not _differ(given):
        return given[0]
    storages = [each.storage_bytes for each in given if each.storage_bytes is not None]
    scm = [each.scm_bytes for each in given if each.scm_bytes is not None]
    return Facility(
        name=given[0].name,
        storage_bytes=min(storages) if storages else None,
        occupied_bytes=max(each.occupied_bytes for each in given),
        dumpspace_bytes=max(each.dumpspace_bytes for each in given),
        cfcc_level=min(each.cfcc_level for each in given),
        site=next((each.site for each in given if each.site), None),
        is_volatile=any(each.is_volatile for each in given),
        is_failure_isolated=all(each.is_failure_isolated for each in given),
        machine=next((each.machine for each in given if each.machine), ()),
        scm_bytes=min(scm) if scm else None,
    )


def is_roomy(asked: AllocationQuestion[PlaceableStructure], at: At | None = None) -> bool:
    """Return whether all structures fit in any order: none has EXCLLIST, and each facility has room for all that name it.

    Args:
        asked: Coupling facilities and structures.
        at: The size to use for every structure; None for that of the question.
    """
    # Other orders of allocation then give the same answer, so they need no calculation.
    most: dict[str, int] = {}
    for each in asked.wanted:
        if each.result.placement.exclist:
            return False
        wanted = each.size_bytes if at == "size" else each.bytes_wanted
        for name in set(each.result.placement.preflist):
            most[name] = most.get(name, 0) + wanted
    for name, facility in asked.facilities.items():
        storage = facility.storage_bytes
        if storage is not None and storage - facility.taken_bytes < most.get(name, 0):
            return False
    return True


def at_size(asked: AllocationQuestion[S]) -> AllocationQuestion[S]:
    """Return the same question with every structure at SIZE."""
    grown = tuple(replace(each, bytes_wanted=each.size_bytes) for each in asked.wanted)
    return replace(asked, at="size", wanted=grown)


@dataclass(frozen=True, slots=True, kw_only=True)
class FacilityStorage(Answer):
    """Storage of one coupling facility, and the part of it that structures there use."""

    name: Annotated[str, Field(examples=["CF01"])]
    size_kib: Annotated[int | None, Field(description="Its storage; null if the document states none.")]
    occupied_kib: Annotated[
        int, Field(description="Storage of structures outside the plan; 0 if not stated.")
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
    other_structures_kib: Annotated[
        Omittable[int],
        Field(
            description="Storage of `other_structures` of the document that are here, with their second copies; absent if it "
            "lists none."
        ),
    ] = None
    other_structures_size_kib: Annotated[
        Omittable[int], Field(description="The same, each grown to its SIZE.")
    ] = None
    free_kib: Annotated[
        int | None,
        Field(
            description="size_kib - occupied_kib - dumpspace_kib - planned_initsize_kib - second_copies_kib - other_structures_kib; null "
            "if size_kib is null."
        ),
    ]
    free_at_size_kib: Annotated[
        int | None,
        Field(
            description="The same with planned_size_kib, second_copies_size_kib and other_structures_size_kib. Negative if not all structures can grow to "
            "SIZE."
        ),
    ]


@dataclass(frozen=True, slots=True)
class FacilityUse(Generic[S_co]):
    """Storage of one coupling facility, and the structures of the plans that use it [bytes].

    First copies and second copies are counted separately, each with its augmented space. At SIZE, each structure has
    grown where it was allocated with INITSIZE.
    """

    facility: Facility
    first: tuple[AllocationRequest[S_co], ...]
    second: tuple[AllocationRequest[S_co], ...]
    others: tuple[AllocationRequest[S_co], ...] = ()
    """Both copies of structures that are not of a plan's group; the others are in `first` and `second`."""

    @property
    def others_bytes(self) -> int:
        """Return the storage that other structures take here."""
        return sum([each.initsize_bytes for each in self.others])

    @property
    def others_size_bytes(self) -> int:
        """Return the storage that other structures take here at SIZE."""
        return sum([each.size_bytes for each in self.others])

    @property
    def initsize_bytes(self) -> int:
        """Return INITSIZE of the structures that have their first copy here."""
        return sum([each.initsize_bytes for each in self.first])

    @property
    def size_bytes(self) -> int:
        """Return SIZE of the structures that have their first copy here."""
        return sum([each.size_bytes for each in self.first])

    @property
    def second_copies_bytes(self) -> int:
        """Return INITSIZE of second copies."""
        return sum([each.initsize_bytes for each in self.second])

    @property
    def second_copies_size_bytes(self) -> int:
        """Return SIZE of second copies."""
        return sum([each.size_bytes for each in self.second])

    @property
    def room_bytes(self) -> int | None:
        """Return the storage for structures of the plans; negative if others use more than is available."""
        storage = self.facility.storage_bytes
        return None if storage is None else storage - self.facility.taken_bytes

    @property
    def free_bytes(self) -> int | None:
        """Return the storage left with every structure at INITSIZE."""
        room = self.room_bytes
        return (
            None
            if room is None
            else room - self.initsize_bytes - self.second_copies_bytes - self.others_bytes
        )

    @property
    def free_at_size_bytes(self) -> int | None:
        """Return the storage left with every structure at SIZE; negative if not all of them can grow that far."""
        room = self.room_bytes
        return (
            None
            if room is None
            else room - self.size_bytes - self.second_copies_size_bytes - self.others_size_bytes
        )

    def storage(self) -> FacilityStorage:
        """Return these figures in K, the unit of a CFRM policy."""
        facility, room = self.facility, self.room_bytes
        # Each sum is used twice.
        initsize, size = self.initsize_bytes, self.size_bytes
        second, second_size = self.second_copies_bytes, self.second_copies_size_bytes
        others, others_size = self.others_bytes, self.others_size_bytes
        return FacilityStorage(
            name=facility.name,
            size_kib=_kib(facility.storage_bytes),
            occupied_kib=bytes_to_kib_ceil(facility.occupied_bytes),
            dumpspace_kib=bytes_to_kib_ceil(facility.dumpspace_bytes),
            planned_initsize_kib=bytes_to_kib_ceil(initsize),
            planned_size_kib=bytes_to_kib_ceil(size),
            second_copies_kib=bytes_to_kib_ceil(second),
            second_copies_size_kib=bytes_to_kib_ceil(second_size),
            other_structures_kib=bytes_to_kib_ceil(others) if self.others else None,
            other_structures_size_kib=bytes_to_kib_ceil(others_size) if self.others else None,
            free_kib=None if room is None else bytes_to_kib_ceil(room - initsize - second - others),
            free_at_size_kib=None
            if room is None
            else bytes_to_kib_ceil(room - size - second_size - others_size),
        )


@dataclass(frozen=True)
class Allocation(Generic[S_co]):
    """The places where XCF allocates all structures of the plans while every coupling facility is available."""

    asked: AllocationQuestion[S_co]
    board: Board
    placed: tuple[PlacedStructure[S_co], ...]

    @property
    def unplaced(self) -> tuple[PlacedStructure[S_co], ...]:
        """Return the structures that no coupling facility of their PREFLIST can take."""
        return tuple(each for each in self.placed if not each.now)

    @cached_property
    def places(self) -> Mapping[str, tuple[str, ...]]:
        """Return the coupling facilities of each structure, by its name in the policy; first copy first."""
        return {each.wanted.structure: each.now for each in self.placed}

    @cached_property
    def facilities(self) -> tuple[FacilityUse[S_co], ...]:
        """Return each coupling facility with its structures."""
        return tuple(
            FacilityUse(
                facility,
                tuple(each.wanted for each in self.placed if each.now[:1] == (name,) and not _is_other(each)),
                tuple(each.wanted for each in self.placed if name in each.now[1:] and not _is_other(each)),
                tuple(each.wanted for each in self.placed if name in each.now and _is_other(each)),
            )
            for name, facility in self.asked.facilities.items()
        )


def allocate(
    asked: AllocationQuestion[S], order: Sequence[AllocationRequest[S]] | None = None
) -> Allocation[S]:
    """Allocate all structures, each with its second copy, while every coupling facility is available.

    Args:
        asked: Coupling facilities and structures.
        order: The order of allocation; None for that of the question.
    """
    board = Board(asked.facilities)
    found: list[PlacedStructure[S]] = []
    for wanted in asked.wanted if order is None else order:
        first = first_choice(wanted, board)
        second = None
        if first.facility is not None:
            board.put(wanted, first.facility)
            if wanted.is_duplexed:
                second = second_choice(wanted, board)
                if second.facility is not None:
                    board.put(wanted, second.facility)
        found.append(
            PlacedStructure(wanted, (), tuple(board.places.get(wanted.structure, ())), first, second)
        )
    return Allocation(asked, board, tuple(found))


def _is_other(each: PlacedStructure[PlaceableStructure]) -> bool:
    return each.wanted.result.role == "other"


def _kib(size_bytes: int | None) -> int | None:
    return None if size_bytes is None else bytes_to_kib_ceil(size_bytes)
