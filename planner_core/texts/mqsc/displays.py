"""Read MQ's displays of CF structures: DISPLAY CFSTATUS and DISPLAY CFSTRUCT.

An answer is a series of KEYWORD(value), with any line breaks, that begins with CFSTATUS(name) or
CFSTRUCT(name). The framing (CSQM201I ... DETAILS, END ... DETAILS, CSQ9022I) was checked on a real
DISPLAY CHSTATUS; the keywords and their units (SIZEMAX in KB, SIZEUSED in percent) are from memory
of IBM's manual. A value that is absent or cannot be read is None. Unreadable values, and answers that were cut off, are
reported with their text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from planner_core.errors import SizeSyntax
from planner_core.texts.console import LineProblem, Stamp
from planner_core.texts.mqsc.records import Record, read_records
from planner_core.units import parse_size


@dataclass(frozen=True, slots=True)
class CfStatus:
    """An answer of DISPLAY CFSTATUS TYPE(SUMMARY); values that it does not show are None."""

    line: int
    name: str
    queue_manager: str | None = None
    stamp: Stamp | None = None
    cf_type: str | None = None
    status: str | None = None
    size_max_bytes: int | None = None
    size_used_percent: int | None = None
    entries_max: int | None = None
    entries_used: int | None = None
    offload_use: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CfStruct:
    """An answer of DISPLAY CFSTRUCT; values that it does not show are None."""

    line: int
    name: str
    queue_manager: str | None = None
    stamp: Stamp | None = None
    cflevel: int | None = None
    recover: bool | None = None
    offload: str | None = None
    rules: tuple[tuple[int, int], ...] = ()
    """Offload rules in order: (used over [%], size over [bytes])."""
    dsblock_bytes: int | None = None
    dsbufs: int | None = None
    dsgroup: str | None = None
    dsexpand: bool | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MqText:
    """The answers in a text, in order, and unreadable lines."""

    statuses: tuple[CfStatus, ...] = ()
    structures: tuple[CfStruct, ...] = ()
    problems: tuple[LineProblem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the text contains no answers."""
        return not (self.statuses or self.structures)


# DISPLAY CFSTATUS also shows CSQ_ADMIN, which no CFSTRUCT can be named.
_NAME = re.compile(r"CSQ_ADMIN|[A-Z][A-Z0-9]{0,11}")
_OBJECTS: Final = ("CFSTATUS", "CFSTRUCT")
_RULES: Final = (1, 2, 3)
_WHOLE = re.compile(r"[0-9]{1,18}")
_YES_NO: Final = {"YES": True, "NO": False}
_ALL_PERCENT: Final = 100
_NOT_THERE: Final = "NOTFOUND"
"""The status of a structure that is in no coupling facility: MQ displays its sizes and entries as 0."""
_WANTED: Final = ("SIZEMAX", "SIZEUSED", "ENTSMAX", "ENTSUSED")
_READ: Final = frozenset(
    {
        *_OBJECTS,
        *_WANTED,
        *(f"OFFLD{number}{what}" for number in _RULES for what in ("TH", "SZ")),
        *("TYPE", "CFTYPE", "STATUS", "OFFLDUSE"),
        *("CFLEVEL", "RECOVER", "OFFLOAD", "DSGROUP", "DSBLOCK", "DSBUFS", "DSEXPAND"),
    }
)
_SHOWN: Final = 40


def read_mq(text: str) -> MqText:
    """Read all answers of a text; other lines are skipped. Never raises."""
    read = read_records(text, kinds=_OBJECTS, reads=_READ)
    problems = list(read.problems)
    statuses: list[CfStatus] = []
    structures: list[CfStruct] = []
    for found in read.records:
        if not _NAME.fullmatch(found.name):
            message = f"{found.kind}({found.name[:_SHOWN]}) is not a structure name: skipped."
            problems.append(LineProblem(found.line, message))
            continue
        if found.kind == "CFSTRUCT":
            structures.append(_struct(found, problems))
            continue
        kind = found.values["TYPE"].text if "TYPE" in found.values else "SUMMARY"
        if kind != "SUMMARY":
            message = (
                f"CFSTATUS({found.name}) TYPE({kind[:12]}) contains no usage data: display TYPE(SUMMARY)."
            )
            problems.append(LineProblem(found.line, message))
            continue
        statuses.append(_status(found, problems))
    return MqText(tuple(statuses), tuple(structures), tuple(problems))


def _status(found: Record, problems: list[LineProblem]) -> CfStatus:
    used = _number(found, "SIZEUSED", problems)
    if used is not None and used > _ALL_PERCENT:
        message = f"SIZEUSED({used}) is not a percentage: left out."
        problems.append(LineProblem(found.line_of("SIZEUSED"), message))
        used = None
    made = CfStatus(
        line=found.line,
        name=found.name,
        queue_manager=found.queue_manager,
        stamp=found.stamp,
        cf_type=found.text("CFTYPE"),
        status=found.text("STATUS"),
        # MQ shows no unit: SIZEMAX is in KB, from memory of the manual.
        size_max_bytes=_size(found, "SIZEMAX", "K", problems),
        size_used_percent=used,
        entries_max=_number(found, "ENTSMAX", problems),
        entries_used=_number(found, "ENTSUSED", problems),
        offload_use=found.text("OFFLDUSE"),
        attributes={key: value.text for key, value in found.values.items()},
    )
    # `read_records` reports values without an end.
    missing = [key for key in _WANTED if key not in found.values and key not in found.unclosed]
    if missing:
        message = f"CFSTATUS({found.name}) ends without {', '.join(missing)}: it was truncated here, or the command did not request all attributes."
        problems.append(LineProblem(found.last_line, message))
    elif found.is_cut:
        problems.append(_without_end(found))
    # If there are no entries or no storage at all, a usage of zero measures nothing.
    if made.status == _NOT_THERE or made.size_max_bytes == 0:
        made = replace(made, size_max_bytes=None, size_used_percent=None)
    if made.status == _NOT_THERE or made.entries_max == 0:
        made = replace(made, entries_max=None, entries_used=None)
    return made


def _without_end(found: Record) -> LineProblem:
    message = f"The response for {found.kind}({found.name}) has no END {found.kind} DETAILS: it may have been truncated here."
    return LineProblem(found.last_line, message)


def _struct(found: Record, problems: list[LineProblem]) -> CfStruct:
    if found.is_cut:
        problems.append(_without_end(found))
    rules = []
    for number in _RULES:
        percent = _number(found, f"OFFLD{number}TH", problems)
        size = _size(found, f"OFFLD{number}SZ", "K", problems)
        if percent is not None and size is not None:
            rules.append((percent, size))
    return CfStruct(
        line=found.line,
        name=found.name,
        queue_manager=found.queue_manager,
        stamp=found.stamp,
        cflevel=_number(found, "CFLEVEL", problems),
        recover=_yes_no(found, "RECOVER", problems),
        offload=found.text("OFFLOAD"),
        rules=tuple(rules),
        dsblock_bytes=_size(found, "DSBLOCK", "K", problems),
        dsbufs=_number(found, "DSBUFS", problems),
        dsgroup=found.text("DSGROUP"),
        dsexpand=_yes_no(found, "DSEXPAND", problems),
        attributes={key: value.text for key, value in found.values.items()},
    )


def _yes_no(found: Record, key: str, problems: list[LineProblem]) -> bool | None:
    value = found.text(key)
    if value is None:
        return None
    if value not in _YES_NO:
        problems.append(
            LineProblem(found.line_of(key), f"{key}({value[:_SHOWN]}) is neither YES nor NO: left out.")
        )
    return _YES_NO.get(value)


def _number(found: Record, key: str, problems: list[LineProblem]) -> int | None:
    value, line = found.text(key), found.line_of(key)
    if value is None:
        return None
    if _WHOLE.fullmatch(value):
        return int(value)
    problems.append(LineProblem(line, f"{key}({value[:_SHOWN]}) is not a whole number: left out."))
    return None


def _size(found: Record, key: str, unit: str, problems: list[LineProblem]) -> int | None:
    value, line = found.text(key), found.line_of(key)
    if value is None:
        return None
    try:
        return parse_size(value, default_unit=unit)
    except SizeSyntax:
        problems.append(LineProblem(line, f"{key}({value[:_SHOWN]}) is not a size: left out."))
        return None
