"""Read XCF's output about structures: D XCF,STR,STRNAME= and the messages IXC585E, IXC582I, IXC588I, IXL015I.

Sources: the message texts of z/OS MVS System Messages (IXC360I down to the allocation time,
IXC582I, IXC588I, IXL015I), a real IXC585E of IBM's manual for IMS CQS, and APAR PH39578 for
the block SPACE USAGE (columns IN-USE, TOTAL, %; rows ENTRIES:, ELEMENTS:). The blocks around it
are from memory: no published sample was found. A value that is absent,
N/A or not understood is None. Values that are not understood, counts that contradict their
percentage, and answers that were cut off are reported with their line and text.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

from planner_core.errors import SizeSyntax
from planner_core.names import CF_PATTERN, STRUCTURE_PATTERN
from planner_core.texts.console import Block, LineProblem, Stamp, blocks, lines
from planner_core.units import parse_size


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCounts:
    """Entries, elements and event monitor controls of a structure; None if the text does not state them."""

    entries_in_use: int | None = None
    entries_total: int | None = None
    elements_in_use: int | None = None
    elements_total: int | None = None
    emcs_in_use: int | None = None
    emcs_total: int | None = None


@dataclass(frozen=True, slots=True)
class DisplayedInstance(PoolCounts):
    """An allocated instance of a structure; values that the display does not show are None."""

    line: int
    role: str | None = None
    """NEW or OLD while two instances exist."""
    is_duplexed: bool = False
    """True if the heading shows DUPLEXING REBUILD: both instances have the same data, unlike in other rebuilds."""
    coupling_facility: str | None = None
    allocated_at_local: Stamp | None = None
    size_bytes: int | None = None
    locks_total: int | None = None
    storage_increment_bytes: int | None = None
    physical_version: str | None = None
    logical_version: str | None = None
    disposition: str | None = None


@dataclass(frozen=True, slots=True)
class StructureDisplay:
    """A structure in D XCF,STR,STRNAME= (IXC360I); values that it does not show are None."""

    line: int
    name: str
    displayed_at_local: Stamp | None = None
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
    instances: tuple[DisplayedInstance, ...] = ()
    enforce_order: bool | None = None


@dataclass(frozen=True, slots=True)
class FullEvent(PoolCounts):
    """A structure at or above its full threshold, reported by IXC585E."""

    line: int
    name: str
    stamp: Stamp | None = None
    coupling_facility: str | None = None
    physical_version: str | None = None
    threshold_percent: int | None = None


@dataclass(frozen=True, slots=True)
class DisplayedAllocation:
    """The attributes with which a structure was allocated, reported by IXC582I."""

    line: int
    name: str
    stamp: Stamp | None = None
    allocated_by: str | None = None
    coupling_facility: str | None = None
    physical_version: str | None = None
    structure_type: str | None = None
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
    """An alter of a structure that the system began, reported by IXC588I."""

    line: int
    name: str
    stamp: Stamp | None = None
    current_size_bytes: int | None = None
    target_size_bytes: int | None = None
    target_entry_to_element_ratio: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer of a coupling facility to an allocation, reported by IXL015I."""

    line: int
    name: str
    stamp: Stamp | None = None
    connector: str | None = None
    coupling_facility: str | None = None
    reason: str | None = None
    requested_bytes: int | None = None
    initsize_at_least_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class XcfText:
    """The displays and messages in a text, in order, and unreadable lines."""

    structures: tuple[StructureDisplay, ...] = ()
    full_events: tuple[FullEvent, ...] = ()
    allocations: tuple[DisplayedAllocation, ...] = ()
    alters: tuple[AlterStarted, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    problems: tuple[LineProblem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the text contains neither a display nor a message."""
        return not (self.structures or self.full_events or self.allocations or self.alters or self.refusals)


_STRNAME = re.compile(r"\bSTRNAME\s*:\s*(?P<name>[A-Z0-9$#@_]*)")
_INSTANCE = re.compile(
    r"^[ \t]*(?:(?P<kind>[A-Z -]*?STRUCTURE)[ \t]*\n[ \t]*-[- \t]*\n[ \t]*)?ALLOCATION\s+TIME\s*:",
    re.MULTILINE,
)
_PENDING = re.compile(r"\bPENDING\s+POLICY\s+INFORMATION\b")
_ACTIVE = re.compile(r"^[ \t]*(?:ACTIVE|DUPLEXING|REBUILD)[A-Z ]*STRUCTURE[ \t]*$", re.MULTILINE)
_HEAD_CLOCK = re.compile(r"IXC360I\s+(?P<clock>\d\d[.:]\d\d[.:]\d\d)\s+DISPLAY")
_SIZE = re.compile(r"\s*(?P<size>[0-9]{1,15}\s*[KMGT]B?|0+)\b")
"""A size, which XCF always writes with a unit: one without a unit was truncated."""
_NOT_SAID = re.compile(r"\s*(?:N/A|NONE|NOT\s+APPLICABLE)\b")
_VERSION = re.compile(r"\s*(?P<version>[0-9A-F]{8}\s+[0-9A-F]{8})\b")
_WHEN = re.compile(
    r"\s*(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>\d{4}|\d\d)\s+(?P<h>\d\d)[.:](?P<min>\d\d)[.:](?P<s>\d\d)"
)
_CONNECTION_HEAD = re.compile(r"^[ \t]*CONNECTION\s+NAME\s+ID\b.*$", re.MULTILINE)
_CONNECTION = re.compile(r"[ \t]*(?P<name>[A-Z$#@][A-Z0-9$#@_]{0,15})[ \t]+[0-9A-F]{2}[ \t]+[0-9A-F]{8}\b")
_ENDS_NUMBER = r"(?![0-9A-Z.])"
_WRAPPED = r"[ \t]*\n?[ \t]*(?<=[ \t\n])"
"""The gap between two numbers of one line, where a console may have broken it."""
_COUNTS = (
    rf"[ \t]*(?::[ \t]*\n?)?[ \t]*(?P<first>[0-9]{{1,18}}){_ENDS_NUMBER}{_WRAPPED}"
    rf"(?P<second>[0-9]{{1,18}}){_ENDS_NUMBER}(?!,)"
    rf"(?:{_WRAPPED}(?P<percent>[0-9]{{1,3}})%?(?=[ \t]*(?:\n|$)))?"
)
_IN_USE_TOTAL = (
    rf"\s*:?\s*IN[ -]USE\s*:\s*(?P<first>[0-9]{{1,18}}){_ENDS_NUMBER}\s*,?\s*TOTAL\s*:"
    rf"\s*(?P<second>[0-9]{{1,18}}){_ENDS_NUMBER}"
    r"(?:\s*,\s*(?P<percent>[0-9]{1,3})\s*%)?"
)
_WORDS = re.compile(r"[ \t]*([^\n]*?)(?=[ \t]+[A-Z]+[ \t]*:(?:[ \t]|$)|\n|$)")
"""Text up to the end of the line, or to the next label if the text lost its line breaks."""
_STORAGE_CLASS = (
    r"(?:STORAGE[- ]CLASS[ \t]+MEMORY\b(?![ \t]*(?::[ \t]*)?(?:N/A|NONE)\b)|\bSCM(?=[ \t]+(?:SPACE|USAGE)\b))"
)
_COLUMNS = r"IN[- ]USE[ \t]+TOTAL\b"
_USAGE_BLOCK = re.compile(
    rf"(?P<scm>{_STORAGE_CLASS}(?:[ \t]+SPACE)?(?:[ \t]+USAGE)?(?:[ \t]*\n)?(?:[ \t]*{_COLUMNS})?)"
    rf"|(?P<usage>(?<![A-Z0-9-])SPACE[ \t]+USAGE\b)"
    rf"|(?P<columns>^[ \t]*{_COLUMNS})",
    re.MULTILINE,
)
"""Start of a block of counts: storage-class memory, SPACE USAGE, or columns without a heading."""
_NO_COUNTS = re.compile(r"\s*(?:N/A|NONE|NOT\s+APPLICABLE|-(?![0-9]))")
_SHOWN: Final = 48
_RATIO = re.compile(r"\s*(?P<entries>[0-9]{1,9})\s*:\s*(?P<elements>[0-9]{1,9})")
_COUNTED: Final = {"entries": "ENTRIES", "elements": "ELEMENTS", "emcs": "EMCS"}
_SHORT_YEAR: Final = 2
_ALL_PERCENT: Final = 100

_LOWER = re.compile(r"\bstrname\s*:|\bix[cl][0-9]{3}[ei]\b")
"""A display that was converted to lower case."""
_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


def read_xcf(text: str) -> XcfText:
    """Read all displays and messages of a text; other lines are skipped. Never raises."""
    if _LOWER.search(text):
        text = text.translate(_UPPER)
    reading = _Reading()
    for block in blocks(lines(text)):
        reading.take(block)
    return reading.result()


class _Reading:
    def __init__(self) -> None:
        self.structures: list[StructureDisplay] = []
        self.full_events: list[FullEvent] = []
        self.allocations: list[DisplayedAllocation] = []
        self.alters: list[AlterStarted] = []
        self.refusals: list[Refusal] = []
        self.problems: list[LineProblem] = []

    def result(self) -> XcfText:
        return XcfText(
            tuple(self.structures),
            tuple(self.full_events),
            tuple(self.allocations),
            tuple(self.alters),
            tuple(self.refusals),
            tuple(self.problems),
        )

    def take(self, block: Block) -> None:
        readers = {
            "IXC585E": self._full_event,
            "IXC582I": self._allocation,
            "IXC588I": self._alter,
            "IXL015I": self._refusal,
        }
        if block.message_id in readers:
            readers[block.message_id](block)
        elif block.message_id == "IXC359I":
            message = "D XCF,STR lists structures without their sizes: display each with STRNAME=."
            self.problems.append(LineProblem(block.line, message))
        # The first line of a display, which has the message id, may not have been pasted.
        elif block.message_id in {"IXC360I", None}:
            self._displays(block)

    # ---- IXC360I --------------------------------------------------------------------------------------------

    def _displays(self, block: Block) -> None:
        text = block.text
        starts = list(_STRNAME.finditer(text))
        if block.message_id and not starts:
            self.problems.append(LineProblem(block.line, "IXC360I does not contain the line STRNAME:."))
        head = _HEAD_CLOCK.search(text)
        shown = _clock(head["clock"]) if head else None
        if shown and block.stamp and block.stamp.day:
            # IXC360I has the time of day only; the console may add the day.
            shown = Stamp(shown.clock, block.stamp.day)
        for start, following in _with_next(starts):
            end = following.start() if following else len(text)
            if not re.fullmatch(STRUCTURE_PATTERN, start["name"]):
                message = (
                    f"STRNAME: {start['name'][:_SHOWN]!r} is not a structure name, which has 1 to 16 characters and begins with a letter: its "
                    "display is left out."
                )
                self.problems.append(LineProblem(block.line_at(start.end() - 1), message))
                continue
            part = _Part(block, start.end(), end, self.problems)
            self.structures.append(self._display(part, start["name"], shown or block.stamp))

    def _display(self, part: _Part, name: str, shown: Stamp | None) -> StructureDisplay:
        starts = list(_INSTANCE.finditer(part.block.text, part.start, part.end))
        policy_end = starts[0].start() if starts else part.end
        # A pending policy is not in effect, and repeats the labels of the active one.
        for pattern in (_PENDING, _ACTIVE):
            found = pattern.search(part.block.text, part.start, policy_end)
            policy_end = found.start() if found else policy_end
        policy = part.within(part.start, policy_end)
        structure_type = policy.words("TYPE")
        is_list = _may_be_list(structure_type)
        instances = tuple(
            self._instance(
                part.within(start.start(), following.start() if following else part.end),
                start,
                is_list=is_list,
            )
            for start, following in _with_next(starts)
        )
        threshold = policy.number("FULLTHRESHOLD")
        if threshold is not None and threshold > _ALL_PERCENT:
            policy.leave_out("FULLTHRESHOLD", f"{threshold} is not a percentage")
            threshold = None
        return StructureDisplay(
            line=part.block.line_at(part.start),
            name=name,
            displayed_at_local=shown,
            status=policy.words("STATUS"),
            structure_type=structure_type,
            policy_size_bytes=policy.size("POLICY SIZE"),
            policy_initsize_bytes=policy.size("POLICY INITSIZE"),
            policy_minsize_bytes=policy.size("POLICY MINSIZE"),
            scm_max_size_bytes=policy.size("SCMMAXSIZE"),
            full_threshold_percent=threshold,
            allow_auto_alter=policy.yes_no("ALLOWAUTOALT"),
            duplex=policy.words("DUPLEX"),
            preflist=policy.names("PREFERENCE LIST", CF_PATTERN),
            exclist=policy.names("EXCLUSION LIST", STRUCTURE_PATTERN),
            connectors=part.connectors(),
            instances=instances,
            enforce_order=policy.yes_no("ENFORCEORDER"),
        )

    def _instance(self, part: _Part, start: re.Match[str], *, is_list: bool) -> DisplayedInstance:
        kind = (start["kind"] or "").split()
        made = DisplayedInstance(
            line=part.block.line_at(start.start()),
            role=next((word for word in ("NEW", "OLD") if word in kind), None),
            is_duplexed="DUPLEXING" in kind,
            coupling_facility=part.name("CFNAME", CF_PATTERN),
            allocated_at_local=part.when("ALLOCATION TIME"),
            size_bytes=part.size("ACTUAL SIZE"),
            storage_increment_bytes=part.size("STORAGE INCREMENT SIZE"),
            physical_version=part.version("PHYSICAL VERSION"),
            logical_version=part.version("LOGICAL VERSION"),
            disposition=part.words("DISPOSITION"),
            locks_total=part.number("LOCKS"),
        )
        counts = part.counts()
        told = "\n".join(each.block.text[each.start : each.end] for each in part.usage())
        missing = [name for name in ("ENTRIES", "ELEMENTS") if not re.search(rf"(?<![A-Z0-9]){name}\b", told)]
        # Displays of lock and cache structures may lack these counts.
        if is_list and missing:
            last = part.block.line_at(max(part.start, part.end - 1))
            message = f"The display does not show {' and '.join(missing)}: it was truncated here."
            self.problems.append(LineProblem(last, message))
        return replace(made, **counts)

    # ---- messages -------------------------------------------------------------------------------------------

    def _full_event(self, block: Block) -> None:
        part = _Part(block, 0, len(block.text), self.problems)
        found = re.search(
            rf"STRUCTURE\s+(?P<name>{STRUCTURE_PATTERN})\s+IN\s+COUPLING\s+FACILITY\s+(?P<cf>{CF_PATTERN})\b",
            block.text,
        )
        if not found:
            self.problems.append(
                LineProblem(block.line, "IXC585E does not contain STRUCTURE ... IN COUPLING FACILITY.")
            )
            return
        version = re.search(r"PHYSICAL\s+STRUCTURE\s+VERSION" + _VERSION.pattern, block.text)
        threshold = re.search(r"THRESHOLD\s+OF\s+(?P<percent>[0-9]{1,3})\s*%", block.text)
        told = re.search(r"THRESHOLD\s+OF\b", block.text)
        if told and not threshold:
            part._unread("THRESHOLD OF", told.end())
        before = len(self.problems)
        counts = part.counts()
        if not counts and len(self.problems) == before:
            self.problems.append(
                LineProblem(block.line, "IXC585E does not contain the counts IN USE: and TOTAL:.")
            )
        event = FullEvent(
            line=block.line,
            name=found["name"],
            stamp=block.stamp,
            coupling_facility=found["cf"],
            physical_version=" ".join(version["version"].split()) if version else None,
            threshold_percent=int(threshold["percent"]) if threshold else None,
        )
        self.full_events.append(replace(event, **counts))

    def _allocation(self, block: Block) -> None:
        part = _Part(block, 0, len(block.text), self.problems)
        found = re.search(
            rf"STRUCTURE\s+(?P<name>{STRUCTURE_PATTERN})\s+ALLOCATED(?:\s+BY\s+(?P<by>COUNTS|SIZE/RATIOS?))?",
            block.text,
            re.IGNORECASE,
        )
        if not found:
            self.problems.append(LineProblem(block.line, "IXC582I does not contain STRUCTURE ... ALLOCATED."))
            return
        before = len(self.problems)
        percent = part.match("EMC STORAGE PERCENTAGE", re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,6})?)"))
        self.allocations.append(
            DisplayedAllocation(
                line=block.line,
                name=found["name"],
                stamp=block.stamp,
                allocated_by=found["by"].upper() if found["by"] else None,
                coupling_facility=part.name("CFNAME", CF_PATTERN),
                physical_version=part.version("PHYSICAL STRUCTURE VERSION"),
                structure_type=part.words("STRUCTURE TYPE"),
                size_bytes=part.size("ALLOCATION SIZE"),
                max_size_bytes=part.size("MAX STRUCTURE SIZE"),
                policy_size_bytes=part.size("POLICY SIZE"),
                policy_initsize_bytes=part.size("POLICY INITSIZE"),
                policy_minsize_bytes=part.size("POLICY MINSIZE"),
                scm_max_size_bytes=part.size("POLICY SCMMAXSIZE"),
                entries_total=part.number("ENTRY COUNT"),
                elements_total=part.number("ELEMENT COUNT"),
                emcs_total=part.number("EMC COUNT"),
                entry_to_element_ratio=part.ratio("ENTRY:ELEMENT RATIO"),
                emc_storage_percent=percent[1] if percent else None,
            )
        )
        made = self.allocations[-1]
        if (
            _may_be_list(made.structure_type)
            and None in (made.entries_total, made.elements_total)
            # Values that were not understood are reported already.
            and len(self.problems) == before
        ):
            message = "IXC582I does not show ENTRY COUNT and ELEMENT COUNT: it was truncated here."
            self.problems.append(LineProblem(block.lines[-1].number, message))

    def _alter(self, block: Block) -> None:
        part = _Part(block, 0, len(block.text), self.problems)
        found = re.search(rf"FOR\s+STRUCTURE\s+(?P<name>{STRUCTURE_PATTERN})", block.text)
        if not found:
            self.problems.append(LineProblem(block.line, "IXC588I does not contain FOR STRUCTURE."))
            return
        self.alters.append(
            AlterStarted(
                line=block.line,
                name=found["name"],
                stamp=block.stamp,
                current_size_bytes=part.size("CURRENT SIZE"),
                target_size_bytes=part.size("TARGET SIZE"),
                target_entry_to_element_ratio=part.ratio("TARGET ENTRY TO ELEMENT RATIO"),
            )
        )

    def _refusal(self, block: Block) -> None:
        start = re.search(r"ALLOCATION\s+STATUS\s*/\s*FAILURE\s+REASON", block.text)
        # Searched before the answers of the coupling facilities, which also mention structures.
        head = block.text[: start.start()] if start else block.text
        name = re.search(rf"STRUCTURE\s+(?!ALLOCATION\b)(?P<name>{STRUCTURE_PATTERN})(?![A-Z0-9$#@_])", head)
        if not name:
            self.problems.append(LineProblem(block.line, "IXL015I does not contain the name of a structure."))
            return
        connector = re.search(r"CONNECTOR\s+NAME\s*:?\s+(?P<name>[A-Z$#@][A-Z0-9$#@_]{0,15})", block.text)
        base = Refusal(
            line=block.line,
            name=name["name"],
            stamp=block.stamp,
            connector=connector["name"] if connector else None,
        )
        answers = list(_answers(block, start.end() if start else len(block.text)))
        if not answers:
            self.problems.append(
                LineProblem(block.line, "IXL015I does not contain the responses of coupling facilities.")
            )
        for line, facility, answer in answers:
            part = _Part(Block(None, block.lines), 0, 0, self.problems)
            requested = re.search(r"INVALID\s+STRUCTURE\s+SIZE\s*:", answer)
            least = re.search(r"INITSIZE\s+MUST\s+BE\s+AT\s+LEAST\s*:", answer)
            self.refusals.append(
                replace(
                    base,
                    line=line,
                    coupling_facility=facility,
                    reason=" ".join(answer.split()),
                    requested_bytes=part.size_in(answer, requested.end()) if requested else None,
                    initsize_at_least_bytes=part.size_in(answer, least.end()) if least else None,
                )
            )


def _may_be_list(structure_type: str | None) -> bool:
    """Return whether a structure type, which may have been cut off, can be a list."""
    return structure_type is None or not re.search("LOCK|CACHE", structure_type.upper())


def _with_next(found: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Yield each match together with the next one, at which its part ends."""
    for number, match in enumerate(found, start=1):
        yield match, found[number] if number < len(found) else None


_GOES_ON = re.compile(r"[ \t]*(?:COUPLING\s+FACILITY\b|INITSIZE\b|STRUCTURE\b|SIZE\b|THE\b)")
_ANSWER = re.compile(rf"[ \t]*(?P<cf>{CF_PATTERN})[ \t]+(?P<text>\S.*)")
_RULE = re.compile(r"[ \t-]*")


def _answers(block: Block, start: int) -> Iterator[tuple[int, str, str]]:
    """Yield the rows of IXL015I: line, coupling facility and its answer."""
    row: tuple[int, str, str] | None = None
    indent = 0
    first = block.line_at(start)
    for line in block.lines:
        if line.number <= first or _RULE.fullmatch(line.text):
            continue
        depth = len(line.text) - len(line.text.lstrip())
        answer = _ANSWER.fullmatch(line.text)
        # The answer of a coupling facility continues on lines that are indented further.
        if row and (depth > indent + 1 or _GOES_ON.match(line.text) or not answer):
            row = (row[0], row[1], f"{row[2]} {line.text.strip()}")
        elif answer:
            if row:
                yield row
            row, indent = (line.number, answer["cf"], answer["text"]), depth
    if row:
        yield row


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a block's text, and the search for values in it."""

    block: Block
    start: int
    end: int
    problems: list[LineProblem]

    def within(self, start: int, end: int) -> _Part:
        return _Part(self.block, start, end, self.problems)

    def after(self, label: str) -> int | None:
        """Return the position of the value of a label; if the label is repeated, the first one is used."""
        words = r"\s+".join(re.escape(word) for word in label.split())
        pattern = re.compile(rf"(?<![A-Z0-9:]){words}\s*:")
        found = pattern.search(self.block.text, self.start, self.end)
        while found and _is_tail_of_another(self.block.text, found.start(), label):
            found = pattern.search(self.block.text, found.end(), self.end)
        return found.end() if found else None

    def match(self, label: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
        at = self.after(label)
        return None if at is None else pattern.match(self.block.text, at, self.end)

    def size(self, label: str) -> int | None:
        at = self.after(label)
        return None if at is None else self.size_in(self.block.text, at, label, end=self.end)

    def size_in(self, text: str, at: int, label: str = "size", *, end: int | None = None) -> int | None:
        end = len(text) if end is None else end
        if _NOT_SAID.match(text, at, end):
            return None
        found = _SIZE.match(text, at, end)
        if found:
            with contextlib.suppress(SizeSyntax):
                return parse_size(" ".join(found["size"].split()))
        self._unread(label, at)
        return None

    def number(self, label: str) -> int | None:
        at = self.after(label)
        if at is None or _NOT_SAID.match(self.block.text, at):
            return None
        found = re.compile(r"\s*([0-9]{1,18})(?![0-9.,])").match(self.block.text, at, self.end)
        # A number at the very end of the text may have lost digits.
        if found and found.end() < len(self.block.text):
            return int(found[1])
        self._unread(label, at)
        return None

    def ratio(self, label: str) -> tuple[int, int] | None:
        at = self.after(label)
        if at is None or _NOT_SAID.match(self.block.text, at):
            return None
        found = _RATIO.match(self.block.text, at, self.end)
        if found:
            return int(found["entries"]), int(found["elements"])
        self._unread(label, at)
        return None

    def version(self, label: str) -> str | None:
        found = self.match(label, _VERSION)
        return " ".join(found["version"].split()) if found else None

    def words(self, label: str) -> str | None:
        found = self.match(label, _WORDS)
        return " ".join(found[1].split()) or None if found else None

    def yes_no(self, label: str) -> bool | None:
        word = (self.words(label) or "").partition(" ")[0]
        found = {"YES": True, "NO": False}.get(word or "")
        if word and found is None and not _NOT_SAID.match(word):
            self.leave_out(label, f"{word[:_SHOWN]!r} is neither YES nor NO")
        return found

    def leave_out(self, label: str, why: str) -> None:
        """Report a value that cannot be used, with the reason."""
        at = self.after(label)
        self.problems.append(LineProblem(self.block.line_at(at or self.start), f"{label}: {why}: left out."))

    def name(self, label: str, pattern: str) -> str | None:
        found = self.match(label, re.compile(rf"\s*({pattern})(?![A-Z0-9$#@_])"))
        return found[1] if found else None

    def names(self, label: str, pattern: str) -> tuple[str, ...]:
        """Return the names after a label and on the lines below it that have only names."""
        at = self.after(label)
        if at is None:
            return ()
        kept: list[str] = []
        for count, row in enumerate(self.block.text[at : self.end].split("\n")):
            words = row.split()
            whole = all(re.fullmatch(pattern, word) for word in words)
            # Long lists of names continue on the next lines.
            if not whole or (count and (not words or _ENDS_LIST.match(row))):
                break
            kept += words
        return tuple(kept)

    def when(self, label: str) -> Stamp | None:
        at = self.after(label)
        if at is None or _NOT_SAID.match(self.block.text, at):
            return None
        found = _WHEN.match(self.block.text, at, self.end)
        if not found:
            self._unread(label, at)
            return None
        year = int(found["y"])
        if len(found["y"]) == _SHORT_YEAR:
            year += 2000 if year < 70 else 1900  # noqa: PLR2004 - XCF began in 1990: two digits are unambiguous
        with contextlib.suppress(ValueError):
            day = date(year, int(found["m"]), int(found["d"]))
            return Stamp(time(int(found["h"]), int(found["min"]), int(found["s"])), day)
        self._unread(label, found.start())
        return None

    def connectors(self) -> tuple[str, ...]:
        head = _CONNECTION_HEAD.search(self.block.text, self.start, self.end)
        if not head:
            return ()
        rows = self.block.text[head.end() : self.end].split("\n")
        return tuple(found["name"] for found in map(_CONNECTION.match, rows) if found)

    def usage(self) -> tuple[_Part, ...]:
        """Return the parts that count the structure's own storage: SPACE USAGE, or all but storage-class memory.

        The block STORAGE-CLASS MEMORY has rows ENTRIES: and ELEMENTS: too. They count migrated data, so reading them
        as the structure's use would report a full structure as nearly empty.
        """
        begins = list(_USAGE_BLOCK.finditer(self.block.text, self.start, self.end))
        for at, found in enumerate(begins):
            if found["usage"]:
                ends = next((each.start() for each in begins[at + 1 :] if each["scm"]), self.end)
                return (self.within(found.end(), ends),)
        parts: list[_Part] = []
        start: int | None = self.start
        for found in begins:
            if found["scm"] and start is not None:
                parts.append(self.within(start, found.start()))
                start = None
            elif found["columns"] and start is None:
                start = found.end()
        return (*parts, self.within(start, self.end)) if start is not None else tuple(parts)

    def counts(self) -> dict[str, Any]:
        """Return the counts in use and in total of entries, elements and EMCs, in either of XCF's forms."""
        found: dict[str, Any] = {}
        usage = self.usage()
        for key, label in _COUNTED.items():
            # IXC585E and IXC360I write counts in different forms.
            patterns = [re.compile(rf"(?<![A-Z0-9]){label}{form}") for form in (_IN_USE_TOTAL, _COUNTS)]
            matches = (
                pattern.search(part.block.text, part.start, part.end)
                for part in usage
                for pattern in patterns
            )
            match = next(filter(None, matches), None)
            # A count at the very end of the text may have lost digits.
            if not match or (match["percent"] is None and match.end() == len(self.block.text)):
                for part in usage:
                    part._unread_counts(label)
                continue
            in_use, total = int(match["first"]), int(match["second"])
            percent = int(match["percent"]) if match["percent"] else None
            if in_use > total or (percent is not None and not _agrees(in_use, total, percent)):
                message = f"{label}: {in_use} in use of {total} does not agree with {percent}%: left out."
                self.problems.append(LineProblem(self.block.line_at(match.start()), message))
                continue
            found[f"{key}_in_use"], found[f"{key}_total"] = in_use, total
        return found

    def _unread_counts(self, label: str) -> None:
        """Report counts that were not understood; `label` must precede a colon."""
        found = re.compile(rf"(?<![A-Z0-9]){label}[ \t]*:").search(self.block.text, self.start, self.end)
        if found and not _NO_COUNTS.match(self.block.text, found.end(), self.end):
            self._unread(label, found.end())

    def _unread(self, label: str, at: int) -> None:
        rest = self.block.text[at : self.end]
        at += len(rest) - len(rest.lstrip())  # a console may have broken the line after the label
        shown = rest.strip()[:_SHOWN].split("\n", maxsplit=1)[0].strip()
        message = (
            f"{label}: {shown!r} cannot be read: left out." if shown else f"{label} was truncated: left out."
        )
        self.problems.append(LineProblem(self.block.line_at(at), message))


_ENDS_LIST = re.compile(
    r"[ \t]*(?:EXCLUSION|ENFORCEORDER|PENDING|ACTIVE|DUPLEXING|REBUILD|POLICY|ALLOCATION)\b"
)
_LONGER: Final = {
    "TYPE": ("STRUCTURE",),
    "STATUS": ("STRUCTURE", "CF"),
    "ENTRY COUNT": ("SCM",),
    "ELEMENT COUNT": ("SCM",),
    "DUPLEX": ("POLICY",),
    "SCMMAXSIZE": (),
}


def _is_tail_of_another(text: str, at: int, label: str) -> bool:
    """Return whether a label is the end of a longer one, such as ENTRY COUNT of MAX SCM ENTRY COUNT."""
    before = text[max(0, at - 40) : at].split()
    return bool(before) and before[-1] in _LONGER.get(label, ())


def _agrees(in_use: int, total: int, percent: int) -> bool:
    """Return whether a printed percentage matches the counts, however it was rounded."""
    return total == 0 or abs(_ALL_PERCENT * in_use / total - percent) <= 1


def _clock(text: str) -> Stamp | None:
    hour, minute, second = (int(part) for part in re.split(r"[.:]", text))
    try:
        return Stamp(time(hour, minute, second))
    except ValueError:
        return None
