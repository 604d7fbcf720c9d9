"""Observations of a structure other than its use: when it was full, its current allocation, and its placement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, computed_field

from planner_core.findings import Finding, finding
from planner_core.sizing.structure_result import StructureResult
from planner_core.units import bytes_to_kib_ceil
from planner_core.wire import Answer, Hidden

Change = Literal["smaller", "larger", "same", "unknown"]


@dataclass(frozen=True, slots=True)
class CutOff:
    """Hours in which a structure was full: use is limited by its size, so the demand is unknown."""

    count: int
    """Number of structure-full conditions; 0 if only the usage shows that it was full."""
    first_hour: datetime
    last_hour: datetime


@dataclass(frozen=True, slots=True)
class ObservedAllocation:
    """The last allocation in the records."""

    size_bytes: int
    hour: datetime


@dataclass(frozen=True, slots=True)
class ObservedPlacement:
    """A coupling facility in which a structure was observed, and the last day on which it was observed there."""

    coupling_facility: str
    last_day: date


@dataclass(frozen=True, slots=True)
class PlannedLevels:
    """The percentages of a structure at which its plan acts or reports, and the name of the plan."""

    plan: str
    full_threshold_percent: int
    offload_percents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Duplexing(Answer):
    """The duplexing of a structure, as last observed. Null means that no record shows it."""

    is_duplexed: Annotated[bool | None, Field(description="Whether two instances held the same data.")] = None
    observed_at: Annotated[
        datetime | None,
        Field(description="The hour of the records that name the coupling facilities of the structure."),
    ] = None
    policy_duplex: Annotated[
        str | None, Field(description="DUPLEX of the policy, as a display showed it.")
    ] = None
    policy_observed_at: datetime | None = None
    sources: Annotated[
        tuple[str, ...], Field(description="The records and displays from which this was read.")
    ] = ()

    @computed_field(
        description="DUPLEX for the plan. If no record shows it, this is null, and a new plan uses the default."
    )
    @property
    def duplex(self) -> str | None:
        """DUPLEX for a plan, or None if no record shows it.

        The displayed policy decides. Only if the structure was duplexed after a display of DISABLED is the policy known
        to have changed. A single instance proves nothing: the other one may be lost temporarily.
        """
        newer = self.observed_at is not None and (
            self.policy_observed_at is None or self.observed_at >= self.policy_observed_at
        )
        if self.is_duplexed and newer and self.policy_duplex in {None, "DISABLED"}:
            return "ENABLED"
        return self.policy_duplex


@dataclass(frozen=True, slots=True)
class ObservedStructure:
    """All observations of a structure; None or empty if no record shows them."""

    cut_off: CutOff | None = None
    allocated: ObservedAllocation | None = None
    placed: tuple[ObservedPlacement, ...] = ()
    """The placements, newest first."""
    duplexing: Duplexing = field(default_factory=Duplexing)

    @property
    def coupling_facilities(self) -> tuple[str, ...]:
        """Names of coupling facilities, the one in the newest record first."""
        return tuple(each.coupling_facility for each in self.placed)


@dataclass(frozen=True, slots=True)
class ComparedSize(Answer):
    """A structure's size in the plan, compared with its current storage."""

    structure: str
    cfrm_name: str
    initsize_kib: int
    size_kib: int
    allocated_kib: Annotated[int | None, Field(description="The last size that records show, or null.")]
    allocated_at: datetime | None
    pointer: Hidden[str | None] = None
    """JSON pointer to the structure in the plan document."""

    @computed_field(description="From today's allocation to INITSIZE. Check `smaller` before you use it.")
    @property
    def change(self) -> Change:
        """The change from the current allocation to the plan's INITSIZE."""
        if self.allocated_kib is None:
            return "unknown"
        if self.initsize_kib == self.allocated_kib:
            return "same"
        return "smaller" if self.initsize_kib < self.allocated_kib else "larger"

    @computed_field
    @property
    def sentence(self) -> str:
        """A sentence with both sizes."""
        if self.allocated_kib is None or self.allocated_at is None:
            return (
                f"{self.cfrm_name}: INITSIZE is {self.initsize_kib} K; today's allocation was not observed."
            )
        today = f"the {self.allocated_kib} K allocated on {self.allocated_at:%Y-%m-%d %H:00} UTC"
        if self.change == "same":
            return f"{self.cfrm_name}: INITSIZE is {today}."
        warning = (
            " Measured use does not prove that this is enough: compare it with the longest outage that the structure must survive."
            if self.change == "smaller"
            else ""
        )
        return f"{self.cfrm_name}: INITSIZE {self.initsize_kib} K is {self.change} than {today}.{warning}"

    @property
    def finding(self) -> Finding | None:
        """A warning if the structure would shrink."""
        if self.change != "smaller":
            return None
        field = None if self.pointer is None else f"{self.pointer}/initsize"
        return finding("STRUCTURE_SHRINKS", self.sentence, field=field, structure=self.structure)


def compared_sizes(
    structures: Iterable[StructureResult], allocated: Mapping[str, ObservedAllocation]
) -> tuple[ComparedSize, ...]:
    """Return the sizes of the structures in a result, compared with their current allocations."""
    found = []
    for each in structures:
        now = allocated.get(each.name)
        found.append(
            ComparedSize(
                structure=each.name,
                cfrm_name=each.cfrm_name,
                # A CFRM policy states sizes in K, so sizes within the same K count as equal.
                initsize_kib=bytes_to_kib_ceil(each.sizes.initsize_bytes),
                size_kib=bytes_to_kib_ceil(each.sizes.size_bytes),
                pointer=each.pointer,
                allocated_kib=None if now is None else bytes_to_kib_ceil(now.size_bytes),
                allocated_at=None if now is None else now.hour,
            )
        )
    return tuple(found)


def shrinking(sizes: Iterable[ComparedSize]) -> tuple[Finding, ...]:
    """Return a warning for each structure that would shrink."""
    return tuple(each.finding for each in sizes if each.finding is not None)


def in_order(facilities: Sequence[str], observed: Sequence[str]) -> list[str]:
    """Return coupling facilities for a PREFLIST: the observed ones first."""
    # XCF prefers the coupling facilities of a PREFLIST in the order of the list.
    return list(dict.fromkeys((*observed, *facilities)))
