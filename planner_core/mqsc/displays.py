"""Read what MQ says of CF structures: DISPLAY CFSTATUS and DISPLAY CFSTRUCT.

An answer is a run of KEYWORD(value), in any line breaking, that begins with CFSTATUS(name) or
CFSTRUCT(name). The framing (CSQM201I ... DETAILS, END ... DETAILS, CSQ9022I) was checked on a real
DISPLAY CHSTATUS; the keywords and their units (SIZEMAX in KB, SIZEUSED in percent) are from memory
of IBM's manual. A value that is absent or not understood is None and, if it is there, reported with
its text; so is an answer that was cut off.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from planner_core.console import LineProblem, Stamp, lines
from planner_core.errors import SizeSyntax
from planner_core.units import parse_size


@dataclass(frozen=True, slots=True)
class CfStatus:
    """One answer of DISPLAY CFSTATUS TYPE(SUMMARY); None where it does not say."""

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
    """One answer of DISPLAY CFSTRUCT; None where it does not say."""

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
    """Everything found in a text, in its order, and what could not be read."""

    statuses: tuple[CfStatus, ...] = ()
    structures: tuple[CfStruct, ...] = ()
    problems: tuple[LineProblem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of use was found."""
        return not (self.statuses or self.structures)


_CONTINUED = r"\n[ \t]+(?![A-Z][A-Z0-9]{1,11}\()"
_VALUE = rf"(?P<value>'(?:[^'\n]|'')*'[ \t]*|(?:[^()\n]|\([^()\n]*\)|{_CONTINUED})*)"
_ATTRIBUTE = re.compile(rf"(?<![A-Z0-9])(?P<key>[A-Z][A-Z0-9]{{1,11}})\({_VALUE}\)")
_COMMAND = re.compile(r"\bDIS(?:PLAY)?[ \t]+CF(?:STATUS|STRUCT)[ \t]*\(", re.IGNORECASE)
_FROM = re.compile(r"\bCSQ[0-9A-Z][0-9]{3}[A-Z][ \t]+[^A-Z0-9 \t]?(?P<name>[A-Z0-9$#@]{1,4})(?=[ \t]|$)")
_END = re.compile(r"\bEND[ \t]+CF(?:STATUS|STRUCT)[ \t]+DETAILS|\bCSQ9022I\b|\bCSQN205I\b")
_NAME = re.compile(r"CSQ_ADMIN|[A-Z][A-Z0-9]{0,11}")
_OBJECTS: Final = ("CFSTATUS", "CFSTRUCT")
_RULES: Final = (1, 2, 3)
_LARGEST_VALUE: Final = 2_000
_WHOLE = re.compile(r"[0-9]{1,18}")
_YES_NO: Final = {"YES": True, "NO": False}
_ALL_PERCENT: Final = 100
_BEGIN = re.compile(r"\bCSQM201I\b")
_KEY = re.compile(r"(?<![A-Z0-9])(?P<key>[A-Z][A-Z0-9]{1,11})\((?P<value>[^()\n]*)")
_NOT_THERE: Final = "NOTFOUND"
"""The status of a structure that no coupling facility holds: MQ displays sizes and entries of 0, which are none."""
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


@dataclass(slots=True)
class _Object:
    kind: str
    name: str
    line: int
    queue_manager: str | None
    stamp: Stamp | None
    values: dict[str, tuple[str, int]] = field(default_factory=dict)
    last_line: int = 0
    is_cut: bool = False
    """Whether its answer has no end."""
    unclosed: set[str] = field(default_factory=set)


def read_mq(text: str) -> MqText:
    """Read all answers of a text; other lines are passed over. Never raises."""
    problems: list[LineProblem] = []
    statuses: list[CfStatus] = []
    structures: list[CfStruct] = []
    for found in _objects(text, problems):
        if not _NAME.fullmatch(found.name):
            message = f"{found.kind}({found.name[:_SHOWN]}) is no name of a structure: passed over."
            problems.append(LineProblem(found.line, message))
            continue
        if found.kind == "CFSTRUCT":
            structures.append(_struct(found, problems))
            continue
        kind = found.values.get("TYPE", ("SUMMARY", 0))[0]
        if kind != "SUMMARY":
            message = f"CFSTATUS({found.name}) TYPE({kind[:12]}) says nothing of use: display TYPE(SUMMARY)."
            problems.append(LineProblem(found.line, message))
            continue
        statuses.append(_status(found, problems))
    return MqText(tuple(statuses), tuple(structures), tuple(problems))


def _objects(text: str, problems: list[LineProblem]) -> list[_Object]:
    made: list[_Object] = []
    current: _Object | None = None
    manager: str | None = None
    kept: list[tuple[int, Stamp | None, str]] = []
    begun: tuple[int, int] | None = (
        None  # the line of an answer that has not ended, and how many objects were before it
    )
    for line in lines(text):
        end = _END.search(line.text)
        said = _FROM.search(line.text)
        if said:
            current = _take(kept, current, manager, made, problems)
            current = None if "DETAILS" in line.text else current
            kept, manager = [], said["name"]
        if _BEGIN.search(line.text):
            _cut_off(begun, made, problems)
            begun = line.number, len(made)
        if not _COMMAND.search(line.text):
            kept.append((line.number, line.stamp, line.text[: end.start()] if end else line.text))
        if end:
            _take(kept, current, manager, made, problems)
            kept, current, begun = [(line.number, line.stamp, line.text[end.end() :])], None, None
    _take(kept, current, manager, made, problems)
    _cut_off(begun, made, problems)
    return made


def _cut_off(begun: tuple[int, int] | None, made: list[_Object], problems: list[LineProblem]) -> None:
    """Note that an answer has no end."""
    if begun is None:
        return
    line, before = begun
    if len(made) > before:
        made[-1].is_cut = True
    else:
        problems.append(LineProblem(line, "The answer that begins here was cut off before it said anything."))


def _take(
    kept: list[tuple[int, Stamp | None, str]],
    current: _Object | None,
    manager: str | None,
    made: list[_Object],
    problems: list[LineProblem],
) -> _Object | None:
    """Read the attributes of lines that stand together; values may go over a line's end."""
    starts: list[int] = []
    at = 0
    for _, _, text in kept:
        starts.append(at)
        at += len(text) + 1
    whole = "\n".join(text for _, _, text in kept)
    read_to = 0
    for match in _ATTRIBUTE.finditer(whole):
        number, stamp, _ = kept[bisect_right(starts, match.start()) - 1]
        said = _unclosed(whole, read_to, match.start(), current)
        problems += [LineProblem(kept[bisect_right(starts, at) - 1][0], message) for at, message in said]
        read_to = match.end()
        key, value = match["key"], _plain(match["value"])
        if key in _OBJECTS:
            current = _Object(key, value, number, manager, stamp, last_line=number)
            made.append(current)
        elif current is None:
            continue
        elif key in current.values and current.values[key][0] != value:
            message = f"{key} stands twice for {current.kind}({current.name}): the first is kept."
            problems.append(LineProblem(number, message))
        else:
            current.values[key] = (value, number)
            current.last_line = number
    said = _unclosed(whole, read_to, len(whole), current)
    problems += [LineProblem(kept[bisect_right(starts, at) - 1][0], message) for at, message in said]
    return current


def _unclosed(whole: str, start: int, end: int, current: _Object | None) -> Iterator[tuple[int, str]]:
    """The keywords whose value has no end, in what stands between values: where, and what to say of it."""
    for match in _KEY.finditer(whole, start, end):
        if match["key"] in _OBJECTS or (current is not None and match["key"] in _READ):
            if current is not None:
                current.unclosed.add(match["key"])
            yield match.start(), f"{match[0][:_SHOWN]} is cut off before its closing parenthesis: left out."


def _plain(value: str) -> str:
    joined = re.sub(r"\n[ \t]+", "", value).strip()
    if len(joined) > 1 and joined[0] == joined[-1] == "'":
        joined = joined[1:-1].replace("''", "'").strip()
    return joined[:_LARGEST_VALUE]


def _status(found: _Object, problems: list[LineProblem]) -> CfStatus:
    used = _number(found, "SIZEUSED", problems)
    if used is not None and used > _ALL_PERCENT:
        message = f"SIZEUSED({used}) is no percentage: left out."
        problems.append(LineProblem(found.values["SIZEUSED"][1], message))
        used = None
    made = CfStatus(
        line=found.line,
        name=found.name,
        queue_manager=found.queue_manager,
        stamp=found.stamp,
        cf_type=_word(found, "CFTYPE"),
        status=_word(found, "STATUS"),
        size_max_bytes=_size(found, "SIZEMAX", "K", problems),
        size_used_percent=used,
        entries_max=_number(found, "ENTSMAX", problems),
        entries_used=_number(found, "ENTSUSED", problems),
        offload_use=_word(found, "OFFLDUSE"),
        attributes={key: value for key, (value, _) in found.values.items()},
    )
    missing = [key for key in _WANTED if key not in found.values and key not in found.unclosed]
    if missing:
        message = f"CFSTATUS({found.name}) ends without {', '.join(missing)}: it was cut off here, or not all was asked for."
        problems.append(LineProblem(found.last_line, message))
    elif found.is_cut:
        problems.append(_without_end(found))
    # Of no entries at all, and of no storage at all, none are in use: nothing was measured.
    if made.status == _NOT_THERE or made.size_max_bytes == 0:
        made = replace(made, size_max_bytes=None, size_used_percent=None)
    if made.status == _NOT_THERE or made.entries_max == 0:
        made = replace(made, entries_max=None, entries_used=None)
    return made


def _without_end(found: _Object) -> LineProblem:
    message = f"The answer on {found.kind}({found.name}) has no END {found.kind} DETAILS: it may have been cut off here."
    return LineProblem(found.last_line, message)


def _struct(found: _Object, problems: list[LineProblem]) -> CfStruct:
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
        offload=_word(found, "OFFLOAD"),
        rules=tuple(rules),
        dsblock_bytes=_size(found, "DSBLOCK", "K", problems),
        dsbufs=_number(found, "DSBUFS", problems),
        dsgroup=_word(found, "DSGROUP"),
        dsexpand=_yes_no(found, "DSEXPAND", problems),
        attributes={key: value for key, (value, _) in found.values.items()},
    )


def _word(found: _Object, key: str) -> str | None:
    return found.values.get(key, ("", 0))[0] or None


def _yes_no(found: _Object, key: str, problems: list[LineProblem]) -> bool | None:
    value, line = found.values.get(key, ("", 0))
    if value and value not in _YES_NO:
        problems.append(LineProblem(line, f"{key}({value[:_SHOWN]}) is neither YES nor NO: left out."))
    return _YES_NO.get(value)


def _number(found: _Object, key: str, problems: list[LineProblem]) -> int | None:
    value, line = found.values.get(key, ("", 0))
    if not value:
        return None
    if _WHOLE.fullmatch(value):
        return int(value)
    problems.append(LineProblem(line, f"{key}({value[:_SHOWN]}) is no whole number: left out."))
    return None


def _size(found: _Object, key: str, unit: str, problems: list[LineProblem]) -> int | None:
    value, line = found.values.get(key, ("", 0))
    if not value:
        return None
    try:
        return parse_size(value, default_unit=unit)
    except SizeSyntax:
        problems.append(LineProblem(line, f"{key}({value[:_SHOWN]}) is no size: left out."))
        return None
