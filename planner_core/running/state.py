"""Read the running system from all texts: policy, active policy, allocations, MQ objects.

Policies and DEFINE commands are complete with their defaults, displays are not. If several texts describe the same
object, the last one wins, and a display wins over a policy, which may not be the active one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypedDict, get_args

from planner_core import names
from planner_core.bounds import check_lines
from planner_core.document.types import DuplexSite
from planner_core.errors import SizeSyntax
from planner_core.findings import Finding
from planner_core.limits import limit
from planner_core.running.admin_pools import AdminPools, nearly_full
from planner_core.running.line_findings import LineFinding, finding_at
from planner_core.running.lint_policy import DAMAGE, has_policy, sentence
from planner_core.running.policy import PolicyDefinition, Setting, in_effect, policies, size_of, with_defaults
from planner_core.texts.cfrm.text import TextStatement, read_policy_text
from planner_core.texts.mqsc.cfstruct import CFSTRUCT, NEEDS_LEVEL_5
from planner_core.texts.mqsc.commands import SHARE_WORDS, has_commands, read_commands, without_commands
from planner_core.texts.mqsc.qlocal import QLOCAL_DEFAULTS
from planner_core.texts.mqsc.records import read_records
from planner_core.texts.xcf.displays import DisplayedInstance, StructureDisplay, read_xcf
from planner_core.texts.xcf.facilities import FacilityDisplay, read_facilities
from planner_core.units import parse_size

Attributes = Mapping[str, str]
"""MQSC attributes by keyword, each as MQSC writes it, without quotes."""


@dataclass(frozen=True, slots=True)
class RunningStructure:
    """The current state of a CFRM structure; None for values that no text shows."""

    name: str
    policy: Mapping[str, Setting] | None = None
    """Settings of the policy text, with defaults."""
    active: Mapping[str, Setting] | None = None
    """Settings of the active policy in D XCF,STR."""
    is_allocated: bool | None = None
    size_bytes: int | None = None
    entries_in_use: int | None = None
    entries_total: int | None = None
    elements_in_use: int | None = None
    elements_total: int | None = None
    coupling_facility: str | None = None
    is_duplexed: bool = False
    is_pending: bool = False
    """True if a policy change is already pending."""
    is_order_enforced: bool | None = None
    """True if ENFORCEORDER is in effect."""
    duplex_site: str | None = None
    """The second value of DUPLEX."""
    scm_max_size_bytes: int | None = None
    """SCMMAXSIZE; None if there is none."""

    @property
    def settings(self) -> Mapping[str, Setting] | None:
        """Return the known settings in effect: those of the active policy, otherwise those of the text."""
        return self.active or self.policy


@dataclass(frozen=True, slots=True)
class MqObject:
    """A CFSTRUCT or a shared queue; if `is_complete`, absent attributes have their defaults."""

    name: str
    attributes: Attributes
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Running:
    """The running system, with the values that texts show."""

    structures: Mapping[str, RunningStructure] = field(default_factory=dict)
    cfstructs: Mapping[str, MqObject] = field(default_factory=dict)
    queues: Mapping[str, MqObject] = field(default_factory=dict)
    facilities: Mapping[str, FacilityDisplay] = field(default_factory=dict)
    queue_managers: tuple[str, ...] = ()
    admin_entsmax: int | None = None
    admin_entsused: int | None = None
    admin_counts: Mapping[str, AdminPools] = field(default_factory=dict)
    """Entries and elements of administrative structures by their CFRM names, from D XCF,STR and IXC585E."""
    offload_use: Mapping[str, str] = field(default_factory=dict)
    """OFFLDUSE of DISPLAY CFSTATUS by CFSTRUCT: the place of offloaded messages."""
    cfconlos: Mapping[str, str] = field(default_factory=dict)
    """CFCONLOS of DISPLAY QMGR by queue manager."""
    policy_text: str | None = None
    policy_name: str | None = None
    has_whole_policy: bool = False
    """True if a policy with DEFINE POLICY was given, so that structures that it lacks do not exist."""
    findings: tuple[LineFinding, ...] = ()

    def admin_pools(self, cfrm_name: str) -> AdminPools:
        """Return entries and elements of an administrative structure; entries come from DISPLAY CFSTATUS if XCF shows none."""
        of_mq = AdminPools(entries_in_use=self.admin_entsused, entries_total=self.admin_entsmax)
        return self.admin_counts.get(cfrm_name, AdminPools()).completed(of_mq)

    @property
    def knows_structures(self) -> bool:
        """Return whether a policy or a display of structures was given."""
        return bool(self.structures) or self.policy_text is not None

    @property
    def knows_cfstructs(self) -> bool:
        """Return whether definitions or displays of CFSTRUCT were given."""
        return bool(self.cfstructs)

    @property
    def knows_queues(self) -> bool:
        """Return whether definitions or displays of shared queues were given."""
        return bool(self.queues)

    @property
    def is_empty(self) -> bool:
        """Return whether the texts show nothing that can be used."""
        return not (
            self.knows_structures or self.cfstructs or self.queues or self.facilities or self.queue_managers
        )


CFSTRUCT_DEFAULTS: Final[Attributes] = {each.keyword: each.default for each in CFSTRUCT}
"""Defaults of DEFINE CFSTRUCT with CFLEVEL(5); see `_cfstruct_defaults`."""
ONLY_ALGORITHM: Final = "KEYPRIORITY1"
"""The only SCMALGORITHM; truncated displays do not show it."""
DUPLEX_SITES: Final[tuple[str, ...]] = get_args(DuplexSite)
_SIZES: Final = frozenset(each.keyword for each in CFSTRUCT if each.is_size)
_WHOLE = re.compile(r"[0-9]{1,12}", re.ASCII)
_READ: Final = frozenset({"CFSTRUCT", "QUEUE", "CFSTATUS", "QMGR"})


def has_level_5(values: Attributes) -> bool | None:
    """Return whether a CFSTRUCT is at CFLEVEL(5); None if its level is unknown."""
    level = plain("CFLEVEL", values.get("CFLEVEL"))
    return level >= limit("cflevel_offload") if isinstance(level, int) else None


def _cfstruct_defaults(values: Attributes) -> Attributes:
    """Return CFSTRUCT_DEFAULTS; with OFFLOAD(DB2) the rules are off, as in IBM's syntax: OFFLD1SZ(32K/64K).

    Below CFLEVEL(5) there is no offload to have a default: an ALTER that raises the level later assumes other values
    than DEFINE does, so none is assumed to be the running value.
    """
    if has_level_5({**CFSTRUCT_DEFAULTS, **values}) is False:
        return {key: value for key, value in CFSTRUCT_DEFAULTS.items() if key not in NEEDS_LEVEL_5}
    if values.get("OFFLOAD") != "DB2":
        return CFSTRUCT_DEFAULTS
    return {**CFSTRUCT_DEFAULTS, **{f"OFFLD{number}SZ": "64K" for number in (1, 2, 3)}}


def admin_nearly_full(running: Running, cfrm_name: str) -> Iterator[Finding]:
    """Yield a finding if entries or elements of an administrative structure are at its FULLTHRESHOLD."""
    structure = running.structures.get(cfrm_name)
    threshold = (structure.settings or {}).get("FULLTHRESHOLD") if structure else None
    yield from nearly_full(
        cfrm_name,
        running.admin_pools(cfrm_name),
        threshold=threshold if isinstance(threshold, int) else None,
    )


def same(key: str, one: str | None, other: str | None) -> bool:
    """Return whether two MQSC values are equal: `256K` and `256k`, `070` and `70`."""
    return plain(key, one) == plain(key, other)


def plain(key: str, value: str | None) -> str | int | None:
    """Return an MQSC value in its normal form, to compare it with others."""
    if value is None:
        return None
    text = value.strip()
    if key in _SIZES:
        try:
            return parse_size(text, default_unit="K")
        except SizeSyntax:
            return text.upper()
    return int(text) if _WHOLE.fullmatch(text) else text


def read_running(texts: Sequence[str], *, are_of_plan: bool = False) -> Running:
    """Read all texts; unread parts are findings.

    Args:
        texts: The texts.
        are_of_plan: Whether they are outputs of a plan. Those of a legal plan may have more lines than a user may enter.

    Raises:
        TextTooLong: A text has more lines or words than any legal one.
    """
    if not are_of_plan:
        for text in texts:
            # All texts are checked before the first is read: none is read in vain if a later one is refused.
            check_lines(text)
    reading = _Reading()
    for text in texts:
        reading.take(text)
    return reading.result()


class _Reading:
    def __init__(self) -> None:
        self.policies: dict[str, dict[str, Setting]] = {}
        self.statements: dict[str, TextStatement] = {}
        self.displays: dict[str, StructureDisplay] = {}
        self.pending: set[str] = set()
        self.cfstructs: dict[str, MqObject] = {}
        self.queues: dict[str, MqObject] = {}
        self.facilities: dict[str, FacilityDisplay] = {}
        self.managers: list[str] = []
        self.entsmax: int | None = None
        self.entsused: int | None = None
        self.admin_counts: dict[str, AdminPools] = {}
        self.offload_use: dict[str, str] = {}
        self.cfconlos: dict[str, str] = {}
        self.policy: tuple[str, PolicyDefinition] | None = None
        self.is_whole = False
        self.findings: list[LineFinding] = []

    def tell(self, code: str, message: str, line: int) -> None:
        self.findings.append(finding_at(code, message, line=line))

    def take(self, text: str) -> None:
        rest = without_commands(text)
        if has_commands(text):
            self._commands(text)
        if has_policy(rest):
            self._policy(text, rest)
        self._xcf(rest)
        self._mq(rest)
        for facility in read_facilities(rest):
            self.facilities[facility.name] = facility
        for manager in queue_managers_in(rest):
            if manager not in self.managers:
                self.managers.append(manager)

    def _policy(self, text: str, rest: str) -> None:
        read = read_policy_text(rest)
        last = max((read.pieces[each.last].line for each in read.statements), default=0)
        for problem in read.problems:
            # Other text may follow the last statement; it is not damage to the policy.
            if problem.kind != "unexpected" and problem.line <= last:
                self.tell(DAMAGE[problem.kind], sentence(problem.message), problem.line)
        found = policies(read)
        named = [policy for policy in found if policy.definition]
        if len(named) > 1 and named[1].definition:
            message = (
                f"The text has {len(named)} policies "
                f"({', '.join(policy.name or 'one without a name' for policy in named)}): if a structure is in "
                "several of them, the last one is used. Enter only the active policy."
            )
            self.tell("RUNNING_SEVERAL_POLICIES", message, named[1].definition.line)
        for policy in found:
            self.policy = (text, policy)
            self.is_whole |= policy.definition is not None
            for statement in policy.structures:
                name = statement.one("NAME")
                if name:
                    self.policies[name] = in_effect(statement)
                    self.statements[name] = statement
            for facility in policy.facilities:
                name = facility.one("NAME")
                if name:
                    said = {
                        key.lower(): facility.one(key)
                        for key in ("TYPE", "MFG", "PLANT", "SEQUENCE", "PARTITION", "CPCID", "SITE")
                    }
                    space = size_of(facility.get("DUMPSPACE"))
                    self.facilities.setdefault(
                        name,
                        FacilityDisplay(facility.line, name, **said, dumpspace_bytes=space),  # type: ignore[arg-type]
                    )

    def _xcf(self, text: str) -> None:
        read = read_xcf(text)
        for problem in read.problems:
            self.tell("RUNNING_TEXT_UNREAD", problem.message, problem.line)
        for event in read.full_events:
            self._count_admin(event.name, AdminPools.of(event))
        for display in read.structures:
            self.displays[display.name] = display
            if instance := _allocated(display):
                self._count_admin(display.name, AdminPools.of(instance))
        found = list(_STRNAME.finditer(text))
        starts = [match.start() for match in found]
        for match in _PENDING.finditer(text):
            # IXC360I shows pending changes below the STRNAME of their structure.
            before = bisect_left(starts, match.start())
            if before:
                self.pending.add(found[before - 1]["name"])

    def _count_admin(self, name: str, counts: AdminPools) -> None:
        """Store the counts of an administrative structure; a later display keeps the counts that it does not show."""
        if names.is_admin_structure(name):
            self.admin_counts[name] = counts.completed(self.admin_counts.get(name, AdminPools()))

    def _mq(self, text: str) -> None:
        read = read_records(text)
        useful = [record for record in read.records if record.kind in _READ]
        if not useful:
            return
        for problem in read.problems:
            self.tell("RUNNING_TEXT_UNREAD", problem.message, problem.line)
        for record in useful:
            values = {key: value.text for key, value in record.values.items()}
            for word in SHARE_WORDS.keys() & record.flags:
                values["SHARE"] = SHARE_WORDS[word]
            if record.kind == "CFSTRUCT" and record.values:
                self.cfstructs[record.name] = MqObject(record.name, values, is_complete=False)
            elif record.kind == "QUEUE" and values.get("CFSTRUCT", "").strip():
                self.queues[record.name] = MqObject(record.name, values, is_complete=False)
            elif record.kind == "CFSTATUS" and record.name == "CSQ_ADMIN":
                entries, used = record.text("ENTSMAX") or "", record.text("ENTSUSED") or ""
                if _WHOLE.fullmatch(entries) and int(entries):
                    self.entsmax = int(entries)
                    self.entsused = int(used) if _WHOLE.fullmatch(used) else None
            elif record.kind == "CFSTATUS" and record.text("OFFLDUSE"):
                self.offload_use[record.name] = record.text("OFFLDUSE") or ""
            elif record.kind == "QMGR" and record.text("CFCONLOS"):
                self.cfconlos[record.name] = record.text("CFCONLOS") or ""

    def _commands(self, text: str) -> None:
        read = read_commands(text)
        for problem in read.problems:
            self.tell("MQSC_NOT_UNDERSTOOD", problem.message, problem.line)
        for command in read.commands:
            values = command.settings()
            objects = self.cfstructs if command.kind == "CFSTRUCT" else self.queues
            # Queues without CFSTRUCT are private and use no storage of a structure.
            if command.kind == "QLOCAL" and not (values.get("CFSTRUCT") or command.name in objects):
                continue
            known = objects.get(command.name)
            # A display may precede a DEFINE of the same object: what the display shows stays, and no default replaces
            # it.
            if command.verb == "ALTER" or (known and not known.is_complete):
                had = known.attributes if known else {}
                objects[command.name] = MqObject(
                    command.name, {**had, **values}, is_complete=bool(known and known.is_complete)
                )
            else:
                defaults = _cfstruct_defaults(values) if command.kind == "CFSTRUCT" else QLOCAL_DEFAULTS
                objects[command.name] = MqObject(command.name, {**defaults, **values}, is_complete=True)

    def result(self) -> Running:
        found = dict.fromkeys((*self.policies, *self.displays))
        structures = {name: self._structure(name) for name in found}
        for name, structure in structures.items():
            if structure.policy and structure.active and structure.policy != structure.active:
                differing = [
                    key for key in structure.active if structure.active[key] != structure.policy.get(key)
                ]
                message = (
                    f"The policy text and D XCF,STR differ on {name} ({', '.join(differing)}): the text is not the active policy, or a "
                    "change is pending. The display is used as the running configuration; the plan is merged into the text."
                )
                self.findings.append(finding_at("DISPLAY_AND_POLICY_DIFFER", message, structure=name))
        return Running(
            structures=structures,
            cfstructs=self.cfstructs,
            queues=self.queues,
            facilities=self.facilities,
            queue_managers=tuple(self.managers),
            admin_entsmax=self.entsmax,
            admin_entsused=self.entsused,
            admin_counts=self.admin_counts,
            offload_use=self.offload_use,
            cfconlos=self.cfconlos,
            policy_text=self.policy[0] if self.policy else None,
            policy_name=self.policy[1].name if self.policy else None,
            has_whole_policy=self.is_whole,
            findings=tuple(dict.fromkeys(self.findings)),
        )

    def _structure(self, name: str) -> RunningStructure:
        policy, display, statement = (
            self.policies.get(name),
            self.displays.get(name),
            self.statements.get(name),
        )
        if display is None:
            return RunningStructure(name, policy, **_placement(statement))
        status = (display.status or "").upper()
        allocated: bool | None = bool(display.instances) or None
        if allocated is None and status:
            # A display that was cut off may have STATUS and no instances.
            allocated = "NOT ALLOCATED" not in status
        instance = _allocated(display)
        return RunningStructure(
            name,
            policy,
            _shown(display, policy),
            is_allocated=allocated,
            size_bytes=instance.size_bytes if instance else None,
            entries_in_use=instance.entries_in_use if instance else None,
            entries_total=instance.entries_total if instance else None,
            elements_in_use=instance.elements_in_use if instance else None,
            elements_total=instance.elements_total if instance else None,
            coupling_facility=instance.coupling_facility if instance else None,
            is_duplexed=len(display.instances) > 1,
            is_pending=name in self.pending,
            **_placement(statement, display),
        )


def _allocated(display: StructureDisplay) -> DisplayedInstance | None:
    """Return the instance that holds the data: the old one while a structure is rebuilt or duplexed."""
    return next((each for each in display.instances if each.role != "NEW"), None)


class _Placement(TypedDict):
    is_order_enforced: bool | None
    duplex_site: str | None
    scm_max_size_bytes: int | None


def _placement(statement: TextStatement | None, display: StructureDisplay | None = None) -> _Placement:
    """Return ENFORCEORDER, the site of DUPLEX and SCMMAXSIZE; a display wins over the policy statement."""
    enforced, duplex, scm = None, [], None
    if statement is not None:
        enforced = {"YES": True, "NO": False}.get(statement.one("ENFORCEORDER") or "")
        parameter = statement.get("DUPLEX")
        duplex = list(parameter.values) if parameter else []
        scm = size_of(statement.get("SCMMAXSIZE"))
    if display is not None:
        enforced = enforced if display.enforce_order is None else display.enforce_order
        duplex = re.split(r"[ ,]+", display.duplex) if display.duplex else duplex
        scm = display.scm_max_size_bytes if display.scm_max_size_bytes is not None else scm
    site = next((each for each in duplex[1:] if each in DUPLEX_SITES), None)
    return _Placement(is_order_enforced=enforced, duplex_site=site, scm_max_size_bytes=scm or None)


_PENDING = re.compile(r"\bPENDING\s+POLICY\s+INFORMATION\b|\bPOLICY\s+CHANGE\s+PENDING\b")
_STRNAME = re.compile(r"\bSTRNAME\s*:\s*(?P<name>[A-Z][A-Z0-9$#@_]{0,15})")


def _shown(display: StructureDisplay, policy: Mapping[str, Setting] | None) -> dict[str, Setting] | None:
    """Return the active policy in a display, completed from the text."""
    said: dict[str, Setting] = dict(policy or {})
    shown: dict[str, Setting] = {
        "SIZE": display.policy_size_bytes,
        "INITSIZE": display.policy_initsize_bytes,
        "MINSIZE": display.policy_minsize_bytes,
        "ALLOWAUTOALT": display.allow_auto_alter,
        "FULLTHRESHOLD": display.full_threshold_percent,
        "DUPLEX": (display.duplex or "").split(" ")[0] or None,
        "EXCLLIST": display.exclist or None,
        "PREFLIST": display.preflist or None,
        "SCMMAXSIZE": display.scm_max_size_bytes or None,
        "SCMALGORITHM": ONLY_ALGORITHM if display.scm_max_size_bytes else None,
        "ENFORCEORDER": display.enforce_order,
    }
    told = {key: value for key, value in shown.items() if value is not None}
    if not told.get("MINSIZE"):
        told.pop("MINSIZE", None)  # 0: none is stated
    return with_defaults({**said, **told}) if told else None


_MEMBER = re.compile(
    r"[ \t]*(?P<name>[A-Z$#@][A-Z0-9$#@]{0,3})[ \t]+[0-9]{1,2}[ \t]+(?:\S{1,8}[ \t]+)?"
    r"(?:ACTIVE|INACTIVE|FAILED|CREATED|UNKNOWN|PENDING)\b.*"
)
_GROUP = re.compile(
    r"\bDIS(?:PLAY)?[ \t]+GROUP\b|\bGROUP REPORT\b|\bQUEUE[ -]SHARING GROUP\b|\bQSGNAME\(", re.IGNORECASE
)
_QMNAME = re.compile(r"\bQMNAME\((?P<name>[A-Z$#@][A-Z0-9$#@]{0,3})\s*\)")


def queue_managers_in(text: str) -> Iterator[str]:
    """Yield the queue managers in DISPLAY GROUP: a name, a number and a status on a line, or QMNAME(...).

    The statuses are IBM's; the shape of the lines is from memory, so other lines are skipped.
    """
    if not _GROUP.search(text):
        return
    for line in text.splitlines():
        if member := _MEMBER.fullmatch(line.rstrip()):
            yield member["name"]
        # DISPLAY CFSTATUS TYPE(CONNECT) also shows QMNAME, for queue managers that are connected to one structure.
        elif (named := _QMNAME.search(line)) and "CFSTATUS" not in text:
            yield named["name"]
