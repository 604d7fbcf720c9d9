"""A sysplex that accepts or refuses commands, written independently of the core to check comparisons.

Its rules are IBM's, each with its source:

- IXCMIAPU changes the administrative policy only (Updating an existing CFRM couple data set).
- SETXCF START,POLICY makes it active; DUPLEX, FULLTHRESHOLD and ALLOWAUTOALT of allocated structures change with it, and
  other changes are pending (Options for Initiating Duplexing Rebuild; Updating the CFRM policy).
- DUPLEX(DISABLED) stops duplexing (Use of the CFRM policy in system-managed rebuild).
- With DUPLEX(ENABLED) the system begins to duplex when the policy changes, and again after duplexing was stopped: at once
  with three coupling facilities, perhaps later with two (Automatic Duplexing). A pending change may prevent this
  (Setting Up a Sysplex, problems with system-managed duplexing, "CFRM policy change is pending").
- A duplexed structure is not rebuilt (Rebuilding the Structure to Increase the Storage Capacity).
- A change is pending until every instance was allocated under the new policy (Mark Brooks on IBM-MAIN).
- A rebuild allocates INITSIZE, or the storage that the data need if that is more. A rebuild or an alter to a SIZE that does
  not hold the data is not done.
- An alter applies to both instances, up to the SIZE that they were allocated with (Altering a Duplexed Structure).

`UndocumentedBehavior` lists the behavior that IBM leaves open; commands must work with every variant of it.

CFSTRUCT objects, according to IBM's reference for DEFINE and ALTER CFSTRUCT:

- ALTER does not change attributes that it does not name. Raising a structure to CFLEVEL(5) by ALTER sets
  CFCONLOS(TERMINATE) (published), and OFFLOAD(DB2), all rules off and RECAUTO(NO) (from memory), unless it names these attributes.
- OFFLOAD(SMDS) needs a DSGROUP, and data sets that are defined and formatted before anything is offloaded to them.
- DSGROUP and DSBLOCK of data sets in use do not change. CFCONLOS, RECAUTO and offload attributes need CFLEVEL(5).
- SHARED queues: ALTER changes neither CFSTRUCT nor, while the queue is open or has messages, INDXTYPE.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

Settings = Mapping[str, Any]
AT_ONCE = ("ALLOWAUTOALT", "FULLTHRESHOLD", "DUPLEX")
KIB = 1024


class Refused(Exception):
    """The command is rejected."""


@dataclass(frozen=True)
class UndocumentedBehavior:
    """Behavior that IBM does not document."""

    duplexes_again_at_once: bool
    duplexes_while_a_change_is_pending: bool


HABITS = [UndocumentedBehavior(*each) for each in product((True, False), repeat=2)]


OFFLOAD_RULES = {f"OFFLD{number}SZ": "64K" for number in (1, 2, 3)}
RAISED = {"OFFLOAD": "DB2", **OFFLOAD_RULES, "CFCONLOS": "TERMINATE", "RECAUTO": "NO"}
"""Defaults of ALTER ... CFLEVEL(5)."""
FROM_LEVEL_5 = re.compile(r"OFFLOAD|OFFLD[123](SZ|TH)|DS(GROUP|BLOCK|BUFS|EXPAND)|CFCONLOS|RECAUTO")


class Unsafe(Exception):
    """A state in which messages are stored where neither the former system nor the plan stores them."""


HELD = "*   "
"""Prefix of a line that is taken from its comment and issued."""


def pasted(text: str) -> list[str]:
    """Return the commands that a console or CSQUTIL accepts when the whole text is pasted."""
    return [line for line in text.splitlines() if not line.startswith("*")]


def taken_out(text: str) -> list[str]:
    """Return the commands of a text without comment delimiters, in order, with continued lines joined."""
    lines = [
        line.removeprefix(HELD) for line in text.splitlines() if line.startswith(HELD) or line[:1] != "*"
    ]
    return re.sub(r" \+\n +", " ", "\n".join(lines)).split("\n")


@dataclass
class MqGroup:
    """CFSTRUCT objects and shared queues of a queue-sharing group, and its data sets."""

    cfstructs: dict[str, dict[str, str]]
    queues: dict[str, dict[str, str]]
    formatted: set[str] = field(default_factory=set)
    """DSGROUPs of which all data sets are defined and formatted."""
    is_stopped: bool = False
    """Whether the queues are closed and empty."""

    def issue(self, command: str) -> None:
        """Issue an MQSC command.

        Raises:
            Refused: MQ rejects the command.
            Unsafe: MQ accepts the command, and messages are stored in the wrong place.
        """
        verb, kind, name, rest = re.fullmatch(
            r"(DEFINE|ALTER|DELETE|DISPLAY) (\w+)\('?([^')]*)'?\)(.*)", command
        ).groups()  # type: ignore[union-attr]
        if verb == "DISPLAY" or kind == "QMGR":
            return
        given = dict(re.findall(r"(\w+)\('?([^')]*)'?\)", rest))
        if word := re.search(r"\b(NO)?SHARE\b", rest):
            given["SHARE"] = "NO" if word[1] else "YES"
        objects = self.cfstructs if kind == "CFSTRUCT" else self.queues
        if verb == "DELETE":
            if not self.is_stopped:
                raise Refused(f"{command}: QUEUE NOT EMPTY")
            del objects[name]
        elif (verb == "DEFINE") == (name in objects):
            raise Refused(command)
        elif kind == "CFSTRUCT":
            objects[name] = self._cfstruct(command, objects.get(name), given)
            self._check(name)
        else:
            fixed = {"CFSTRUCT"} | (set() if self.is_stopped else {"INDXTYPE"})
            if verb == "ALTER" and fixed & given.keys():
                raise Refused(f"{command}: NOT FOR A SHARED QUEUE")
            objects[name] = {**objects.get(name, {}), **given}

    def _cfstruct(self, command: str, has: dict[str, str] | None, given: dict[str, str]) -> dict[str, str]:
        was = int((has or given).get("CFLEVEL", "3"))
        level = int(given.get("CFLEVEL", was))
        if level < was and not self.is_stopped:
            raise Refused(f"{command}: CFLEVEL IN USE")
        if level < 5 and any(FROM_LEVEL_5.fullmatch(key) for key in given):
            raise Refused(f"{command}: NEEDS CFLEVEL(5)")
        if level < 5:
            return {key: v for key, v in {**(has or {}), **given}.items() if not FROM_LEVEL_5.fullmatch(key)}
        raised = RAISED if has is not None and was < 5 else {}
        now = {**(has or {}), **raised, **given}
        in_use = has is not None and was >= 5 and has.get("OFFLOAD") == "SMDS" and not self.is_stopped
        for key in ("DSGROUP", "DSBLOCK"):
            if in_use and has is not None and has.get(key) and has[key] != now.get(key):
                raise Refused(f"{command}: DATA SETS IN USE")
        if now.get("OFFLOAD") == "SMDS" and not now.get("DSGROUP"):
            raise Refused(f"{command}: DSGROUP MISSING")
        return now

    def _check(self, name: str) -> None:
        """Check where messages are stored after a command."""
        now = self.cfstructs[name]
        acting = [number for number in (1, 2, 3) if now.get(f"OFFLD{number}SZ", "64K") != "64K"]
        if now.get("OFFLOAD") == "SMDS" and now.get("DSGROUP") not in self.formatted:
            raise Unsafe(f"{name} offloads to data sets that are not formatted")
        if now.get("OFFLOAD") == "DB2" and acting and name not in self.to_db2:
            raise Unsafe(f"rules of {name} offload to Db2")
        if now.get("CFCONLOS") == "TERMINATE" and name not in self.to_terminate:
            raise Unsafe(f"queue managers end with {name}")

    to_db2: set[str] = field(default_factory=set)
    """Structures whose rules may offload to Db2, currently or as planned."""
    to_terminate: set[str] = field(default_factory=set)
    """Structures whose loss may end queue managers."""


@dataclass
class Instance:
    """One allocation of a structure."""

    under: Settings
    size: int


@dataclass
class Structure:
    """The administrative and the active policy of a structure, and its instances."""

    admin: Settings
    active: Settings
    instances: list[Instance] = field(default_factory=list)
    used: int = 0
    """Bytes that the data need."""

    @property
    def pending(self) -> set[str]:
        """Return the keywords whose change is pending for an instance."""
        return {
            key for each in self.instances for key in self.active if each.under.get(key) != self.active[key]
        }


class Sysplex:
    """Structures by name, and the reactions of the system."""

    def __init__(self, structures: dict[str, Structure], habit: UndocumentedBehavior) -> None:
        self.structures = structures
        self.habit = habit

    def ixcmiapu(self, merged: Mapping[str, Settings], held: list[str]) -> None:
        """Write a policy to the couple data set, with DUPLEX(ALLOWED) for structures that are held."""
        for name, says in merged.items():
            known = self.structures.setdefault(name, Structure({}, {}))
            known.admin = {**says, "DUPLEX": "ALLOWED"} if name in held else dict(says)

    def issue(self, command: str) -> None:
        """Issue a SETXCF command.

        Raises:
            Refused: XCF rejects the command.
        """
        found = re.fullmatch(r"SETXCF (START|STOP),(POLICY|ALTER|REBUILD,DUPLEX|REBUILD),(.*)", command)
        assert found, command
        verb, what, rest = found.groups()
        operands = dict(part.split("=") for part in rest.split(","))
        if what == "POLICY":
            for each in self.structures.values():
                self._activate(each)
            return
        each = self.structures[operands["STRNAME"]]
        if not each.instances:
            raise Refused(f"{command}: STRUCTURE NOT ALLOCATED")
        if what == "ALTER":
            if int(operands["SIZE"]) * KIB < each.used:
                raise Refused(f"{command}: ENTRIES AND ELEMENTS IN USE")
            for instance in each.instances:
                instance.size = min(int(operands["SIZE"]) * KIB, instance.under["SIZE"])
        elif what == "REBUILD,DUPLEX" and verb == "STOP":
            if len(each.instances) == 1:
                raise Refused(f"{command}: STRUCTURE NOT IN REBUILD PROCESS")
            assert operands["KEEP"] == "OLD"
            del each.instances[1:]
            if self.habit.duplexes_again_at_once:
                self._duplex_by_itself(each)
        elif what == "REBUILD,DUPLEX":
            self._may_be_duplexed(each, command)
            each.instances.append(Instance(each.active, each.instances[0].size))
        else:
            if len(each.instances) > 1:
                raise Refused(f"{command}: REBUILD HAS ALREADY BEEN INITIATED FOR THE STRUCTURE")
            if each.used > each.active["SIZE"]:
                raise Refused(f"{command}: THE NEW STRUCTURE IS TOO SMALL")
            each.instances = [Instance(each.active, max(each.active["INITSIZE"], each.used))]
            self._duplex_by_itself(each)

    def settle(self) -> None:
        """Let the system act on its own, as it does some time later."""
        for each in self.structures.values():
            self._duplex_by_itself(each)

    def _activate(self, each: Structure) -> None:
        each.active = each.admin
        for instance in each.instances:
            instance.under = {
                **instance.under,
                **{key: each.active[key] for key in AT_ONCE if key in each.active},
            }
        if each.active.get("DUPLEX") == "DISABLED":
            del each.instances[1:]
        self._duplex_by_itself(each)

    def _may_be_duplexed(self, each: Structure, command: str) -> None:
        if len(each.instances) > 1:
            raise Refused(f"{command}: REBUILD HAS ALREADY BEEN INITIATED FOR THE STRUCTURE")
        if each.active.get("DUPLEX") == "DISABLED":
            raise Refused(f"{command}: DUPLEX(DISABLED)")
        if len(each.active.get("PREFLIST") or "??") < 2:
            raise Refused(f"{command}: NO SUITABLE COUPLING FACILITY")
        if each.pending and not self.habit.duplexes_while_a_change_is_pending:
            raise Refused(f"{command}: POLICY CHANGE PENDING")

    def _duplex_by_itself(self, each: Structure) -> None:
        if each.instances and each.active.get("DUPLEX") == "ENABLED":
            try:
                self._may_be_duplexed(each, "the system")
            except Refused:
                return
            each.instances.append(Instance(each.active, each.instances[0].size))
