"""Simulate the commands of a comparison: the state of a group before and after each command.

A state consists of the policy in the couple data set, the active policy, the settings with which structures were
allocated, and MQ's objects. The rules, each with its source:

- IXCMIAPU changes the administrative policy and not the active one (z/OS, Updating an existing CFRM couple data set).
- SETXCF START,POLICY makes it active. ALLOWAUTOALT and FULLTHRESHOLD take effect at once (Updating the CFRM policy), as
  DUPLEX does (Options for Initiating Duplexing Rebuild); other changes of an allocated structure stay pending.
- SETXCF START,REBUILD allocates the structure again with the pending sizes, if all connectors allow alter (Use of the
  CFRM policy in system-managed rebuild); MQ's do, since IBM documents SETXCF START,ALTER for its structures. The new
  size is INITSIZE, or more if the data needs more; if it needs more than SIZE, the rebuild fails (assumed).
- With DUPLEX(ENABLED) the system begins to duplex an allocated structure when the policy is active (Automatic
  Duplexing); with DISABLED it stops.
- A duplexed structure is not rebuilt while it is duplexed (Rebuilding the Structure to Increase the Storage Capacity),
  and both instances must be allocated under the new policy: duplexing is stopped first, with DUPLEX(ALLOWED) in the
  policy meanwhile, because with ENABLED the system may begin again at once.
- SETXCF START,ALTER changes the size of the instances, up to the SIZE that they were allocated with (Altering a
  Duplexed Structure: one after the other).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from planner_core.running.policy import Setting
from planner_core.texts.mqsc.commands import read_commands
from planner_core.units import KIB

AT_ONCE: Final = frozenset({"ALLOWAUTOALT", "FULLTHRESHOLD", "DUPLEX"})
"""Keywords whose change takes effect without a rebuild."""


@dataclass(frozen=True, slots=True)
class StructureState:
    """The settings of a structure in the couple data set, in the active policy, and as allocated."""

    policy: Mapping[str, Setting]
    active: Mapping[str, Setting]
    allocated_with: Mapping[str, Setting] | None = None
    """The settings with which the structure was allocated; None if it is not allocated."""
    size_bytes: int | None = None
    is_duplexed: bool = False
    in_use_bytes: int = 0
    """Storage that a copy of the structure must hold."""

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the keywords whose change waits for a rebuild."""
        if self.allocated_with is None:
            return ()
        return tuple(key for key, value in self.active.items() if self.allocated_with.get(key) != value)


@dataclass(frozen=True, slots=True)
class State:
    """A group: its structures by CFRM name, its CFSTRUCT objects and shared queues by name."""

    structures: Mapping[str, StructureState] = field(default_factory=dict)
    cfstructs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    queues: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


HELD: Final = ", but DUPLEX(ALLOWED) for "
"""The end of an IXCMIAPU command, before the names of structures that stay DUPLEX(ALLOWED) until they are rebuilt."""
_FEWEST_TO_DUPLEX: Final = 2
_SETXCF = re.compile(
    r"SETXCF (?P<verb>START|STOP),(?P<what>POLICY|ALTER|REBUILD)(?P<duplex>,DUPLEX)?(?:,(?P<rest>.*))?"
)


def apply(state: State, command: str, *, merged: Mapping[str, Mapping[str, Setting]]) -> State:
    """Return the state after a command.

    Args:
        state: The state before it.
        command: The command as a comparison writes it: IXCMIAPU, a SETXCF command, or MQSC.
        merged: The settings of each structure in the merged policy; IXCMIAPU writes them to the couple data set.
    """
    if command.startswith("IXCMIAPU"):
        held = command.partition(HELD)[2].split(", ")
        return replace(state, structures=_with_policy(state, merged, held))
    setxcf = _SETXCF.fullmatch(command)
    if setxcf is None:
        return _mqsc(state, command)
    operands = dict(part.split("=", 1) for part in (setxcf["rest"] or "").split(",") if "=" in part)
    structures = dict(state.structures)
    if setxcf["what"] == "POLICY":
        for name, each in structures.items():
            structures[name] = _activated(each)
        return replace(state, structures=structures)
    name = operands["STRNAME"]
    structures[name] = _changed(structures[name], setxcf, operands)
    return replace(state, structures=structures)


def _with_policy(
    state: State, merged: Mapping[str, Mapping[str, Setting]], held: Sequence[str]
) -> dict[str, StructureState]:
    structures = dict(state.structures)
    for name, says in merged.items():
        known = structures.get(name, StructureState({}, {}))
        structures[name] = replace(known, policy={**says, "DUPLEX": "ALLOWED"} if name in held else says)
    return structures


def can_be_duplexed(preflist: Setting) -> bool:
    """Return whether PREFLIST leaves a place for a second copy; an unknown PREFLIST is assumed to have room."""
    return not isinstance(preflist, tuple) or not preflist or len(preflist) >= _FEWEST_TO_DUPLEX


def _activated(each: StructureState) -> StructureState:
    allocated = each.allocated_with
    if allocated is not None:
        allocated = {**allocated, **{key: value for key, value in each.policy.items() if key in AT_ONCE}}
    duplex = each.policy.get("DUPLEX")
    starts = duplex == "ENABLED" and allocated is not None and can_be_duplexed(each.policy.get("PREFLIST"))
    duplexed = starts or (each.is_duplexed and duplex != "DISABLED")
    return replace(each, active=each.policy, allocated_with=allocated, is_duplexed=duplexed)


def _changed(each: StructureState, command: re.Match[str], operands: Mapping[str, str]) -> StructureState:
    if each.allocated_with is None:
        return each
    if command["what"] == "ALTER":
        most = each.allocated_with.get("SIZE")
        wanted = int(operands["SIZE"].removesuffix("K")) * KIB
        return replace(each, size_bytes=min(wanted, most) if isinstance(most, int) else wanted)
    if command["duplex"]:
        starts = command["verb"] == "START" and each.active.get("DUPLEX") != "DISABLED"
        return replace(each, is_duplexed=starts and can_be_duplexed(each.active.get("PREFLIST")))
    if each.is_duplexed:
        return each  # XCF does not rebuild a duplexed structure
    initsize, most = each.active.get("INITSIZE"), each.active.get("SIZE")
    if isinstance(most, int) and each.in_use_bytes > most:
        return each  # the rebuild fails, because the data do not fit
    size = max(initsize, each.in_use_bytes) if isinstance(initsize, int) else each.size_bytes
    return replace(each, allocated_with=each.active, size_bytes=size)


def _mqsc(state: State, command: str) -> State:
    for read in read_commands(command).commands:
        given = read.settings()
        objects = dict(state.cfstructs if read.kind == "CFSTRUCT" else state.queues)
        objects[read.name] = {**objects.get(read.name, {}), **given}
        state = (
            replace(state, cfstructs=objects) if read.kind == "CFSTRUCT" else replace(state, queues=objects)
        )
    return state


def after_all(state: State, commands: Iterable[str], *, merged: Mapping[str, Mapping[str, Setting]]) -> State:
    """Return the state after all commands."""
    for command in commands:
        state = apply(state, command, merged=merged)
    return state
