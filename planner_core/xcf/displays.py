"""Read what XCF says of structures: D XCF,STR,STRNAME= and the messages IXC585E, IXC582I, IXC588I, IXL015I."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from planner_core.console import LineProblem


@dataclass(frozen=True, slots=True)
class Instance:
    """One allocated instance of a structure; None where the display does not say."""

    line: int
    coupling_facility: str | None = None
    allocated_at_local: datetime | None = None
    size_bytes: int | None = None
    entries_in_use: int | None = None
    entries_total: int | None = None
    elements_in_use: int | None = None
    elements_total: int | None = None
    emcs_in_use: int | None = None
    emcs_total: int | None = None
    locks_total: int | None = None
    storage_increment_bytes: int | None = None
    physical_version: str | None = None
    logical_version: str | None = None
    disposition: str | None = None


@dataclass(frozen=True, slots=True)
class StructureDisplay:
    """What D XCF,STR,STRNAME= (IXC360I) says of one structure; None where it does not say."""

    line: int
    name: str
    displayed_at_local: str | None = None
    status: str | None = None
    structure_type: str | None = None
    policy_size_bytes: int | None = None
    policy_initsize_bytes: int | None = None
    policy_minsize_bytes: int | None = None
    scm_max_size_bytes: int | None = None
    full_threshold_percent: int | None = None
    allow_auto_alter: bool | None = None
    duplex: str | None = None
    preflist: tuple[str, ...] = ()
    exclist: tuple[str, ...] = ()
    connectors: tuple[str, ...] = ()
    instances: tuple[Instance, ...] = ()


@dataclass(frozen=True, slots=True)
class FullEvent:
    """IXC585E: a structure is at or above its full threshold."""

    line: int
    name: str
    stamp: str | None = None
    coupling_facility: str | None = None
    threshold_percent: int | None = None
    entries_in_use: int | None = None
    entries_total: int | None = None
    elements_in_use: int | None = None
    elements_total: int | None = None
    emcs_in_use: int | None = None
    emcs_total: int | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """IXC582I: a structure was allocated with these attributes."""

    line: int
    name: str
    stamp: str | None = None
    coupling_facility: str | None = None
    size_bytes: int | None = None
    max_size_bytes: int | None = None
    policy_size_bytes: int | None = None
    policy_initsize_bytes: int | None = None
    policy_minsize_bytes: int | None = None
    scm_max_size_bytes: int | None = None
    entries_total: int | None = None
    elements_total: int | None = None
    emcs_total: int | None = None
    entry_to_element_ratio: tuple[int, int] | None = None
    emc_storage_percent: str | None = None


@dataclass(frozen=True, slots=True)
class AlterStarted:
    """IXC588I: the system began to alter a structure."""

    line: int
    name: str
    stamp: str | None = None
    coupling_facility: str | None = None
    current_size_bytes: int | None = None
    target_size_bytes: int | None = None
    target_entry_to_element_ratio: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """IXL015I: what a coupling facility answered to an allocation."""

    line: int
    name: str
    stamp: str | None = None
    connector: str | None = None
    coupling_facility: str | None = None
    reason: str | None = None
    requested_bytes: int | None = None
    initsize_at_least_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class XcfText:
    """Everything found in a text, in its order, and what could not be read."""

    structures: tuple[StructureDisplay, ...] = ()
    full_events: tuple[FullEvent, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    alters: tuple[AlterStarted, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    problems: tuple[LineProblem, ...] = field(default=())


def read_xcf(text: str) -> XcfText:
    """Read all displays and messages of a text; other lines are passed over. Never raises."""
    raise NotImplementedError
