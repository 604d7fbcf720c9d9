"""Check MQSC that defines structures and shared queues, one command at a time and together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from planner_core import names, tables
from planner_core.checks.name_prefixes import NamesInText, prefixed
from planner_core.errors import NameSyntax, SizeSyntax
from planner_core.limits import limit
from planner_core.running.line_findings import LineFinding, at_line, finding_at
from planner_core.sizing.shared_findings import (
    dsgroup_missing,
    dsgroup_twice,
    offload_db2,
    offload_needs_cflevel_5,
    persistent_needs_recover,
    recover_needs_cflevel_3,
    too_many_queues,
)
from planner_core.texts.cfrm.text import shown
from planner_core.texts.mqsc.cfstruct import CFSTRUCT, NEEDS_LEVEL_5
from planner_core.texts.mqsc.commands import Command, read_commands
from planner_core.texts.mqsc.qlocal import QLOCAL_BOUNDS
from planner_core.units import KIB, MIB, kib_to_bytes, parse_size

_CFSTRUCT: Final = (
    *(each.keyword for each in CFSTRUCT), "DESCR", "LIKE", "NOREPLACE", "REPLACE", "CMDSCOPE",
)  # fmt: skip
"""Attributes of DEFINE CFSTRUCT. Those of QLOCAL differ by release and are not checked."""
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    **{each.keyword: each.words for each in CFSTRUCT if each.words},
    "DEFPSIST": ("YES", "NO"),
    "QSGDISP": ("QMGR", "COPY", "GROUP", "SHARED"),
    "DEFSOPT": ("SHARED", "EXCL"),
    "INDXTYPE": ("NONE", "MSGID", "CORRELID", "GROUPID", "MSGTOKEN"),
}
_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_RULES: Final = (1, 2, 3)
_ALL_PERCENT: Final = 100
_LARGEST_CFLEVEL: Final = 5
_DEFAULT_CFLEVEL: Final = 3
"""IBM MQ, DEFINE CFSTRUCT: CFLEVEL(3) is the default, up to release 9.2 at least."""


def lint_mqsc(text: str, *, known: NamesInText | None = None) -> tuple[list[LineFinding], int]:
    """Return the findings on the commands of a text, and the number of structures they define.

    `known` are the names in the whole text.
    """
    read = read_commands(text)
    found = [finding_at("MQSC_NOT_UNDERSTOOD", problem.message, problem.line) for problem in read.problems]
    structures = [command for command in read.commands if command.kind == "CFSTRUCT"]
    queues = [command for command in read.commands if command.kind == "QLOCAL"]
    for command in read.commands:
        for key, line in command.twice:
            message = f"{key} appears twice in {command.verb} {command.kind}({shown(command.name)})."
            found.append(finding_at("MQSC_ATTRIBUTE_TWICE", message, line))
    for command in structures:
        found += _structure(command)
    for command in queues:
        found += _queue(command)
    found += _together(structures, queues)
    found += _prefixes(structures, queues, known or NamesInText())
    return found, len(structures)


def _words(command: Command) -> Iterator[LineFinding]:
    for key, allowed in _WORDS.items():
        value = command.value(key)
        if value is not None and value not in allowed:
            message = f"{key}({shown(value)}) of {shown(command.name)} is not one of {', '.join(allowed)}."
            yield finding_at("MQSC_VALUE_INVALID", message, command.line_of(key))


def _structure(command: Command) -> Iterator[LineFinding]:
    name = command.name
    try:
        names.cfstruct(name)
    except NameSyntax as error:
        yield finding_at("MQSC_VALUE_INVALID", f"CFSTRUCT({shown(name)}): {error}", command.line)
    for key, attribute in command.attributes.items():
        if key not in _CFSTRUCT:
            near = get_close_matches(key, _CFSTRUCT, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            message = f"CFSTRUCT has no attribute {shown(key)}.{hint}"
            yield finding_at("MQSC_ATTRIBUTE_UNKNOWN", message, attribute.line, _named(name))
    yield from _words(command)
    yield from _numbers(command)
    yield from _levels(command)
    yield from _offload(command)


def _named(name: str) -> str | None:
    """Return the name if it can be the structure of a finding."""
    try:
        return names.cfstruct(name)
    except NameSyntax:
        return None


def _number(command: Command, key: str) -> int | None:
    value = command.value(key)
    return int(value) if value is not None and _WHOLE.fullmatch(value) else None


def _out_of_range(
    command: Command, ranges: Mapping[str, tuple[int, int]], structure: str | None
) -> Iterator[LineFinding]:
    """Yield a finding for each attribute that is not a whole number in its range."""
    for key, (lowest, highest) in ranges.items():
        value = command.value(key)
        if value is None:
            continue
        number = _number(command, key)
        if number is None or not lowest <= number <= highest:
            message = f"{key}({shown(value)}) of {shown(command.name)} is not a whole number from {lowest} to {highest}."
            yield finding_at("MQSC_VALUE_INVALID", message, command.line_of(key), structure)


def _numbers(command: Command) -> Iterator[LineFinding]:
    ranges = {
        **{each.keyword: each.bounds for each in CFSTRUCT if each.bounds},
        **{f"OFFLD{rule}TH": (0, _ALL_PERCENT) for rule in _RULES},
    }
    name = shown(command.name)
    yield from _out_of_range(command, ranges, _named(command.name))
    for rule in _RULES:
        key = f"OFFLD{rule}SZ"
        value = command.value(key)
        if value is not None and _rule_size(value) is None:
            message = f"{key}({shown(value)}) of {name} is not a size from 0K to 64K."
            yield finding_at("MQSC_VALUE_INVALID", message, command.line_of(key), _named(command.name))
    block = command.value("DSBLOCK")
    if block is not None and not _is_block(block):
        message = f"DSBLOCK({shown(block)}) of {name} is not one of 8K, 16K, 32K, 64K, 128K, 256K, 512K, 1M."
        yield finding_at("MQSC_VALUE_INVALID", message, command.line_of("DSBLOCK"), _named(command.name))


def _rule_size(value: str) -> int | None:
    try:
        size = parse_size(value, default_unit=None)
    except SizeSyntax:
        return None
    return size if size <= 64 * KIB and not size % KIB else None


def _is_block(value: str) -> bool:
    try:
        size = parse_size(value, default_unit=None)
    except SizeSyntax:
        return False
    return 8 * KIB <= size <= MIB and not size & (size - 1)


def _levels(command: Command) -> Iterator[LineFinding]:
    """Check attributes that need a CFLEVEL; an ALTER without one changes a structure whose level is unknown here."""
    name = shown(command.name)
    level = _number(command, "CFLEVEL")
    if level is None:
        if command.verb == "ALTER" or command.value("CFLEVEL") is not None or "LIKE" in command.attributes:
            return
        level = _DEFAULT_CFLEVEL
    is_default, structure = "CFLEVEL" not in command.attributes, _named(command.name)
    if command.value("RECOVER") == "YES":
        for each in recover_needs_cflevel_3(name, level, structure=structure, is_default=is_default):
            yield at_line(each, command.line_of("RECOVER"))
    five = [key for key in command.attributes if key in NEEDS_LEVEL_5]
    if five:
        for each in offload_needs_cflevel_5(
            name, level, ", ".join(five), structure=structure, is_default=is_default
        ):
            yield at_line(each, command.line_of(five[0]))
    if command.verb == "ALTER" and level >= limit("cflevel_offload"):
        sizes = tuple(f"OFFLD{rule}SZ" for rule in _RULES)
        left = [key for key in ("OFFLOAD", *sizes, "CFCONLOS", "RECAUTO") if key not in command.attributes]
        if left:
            message = (
                f"{name} is altered to CFLEVEL({level}) without {', '.join(left)}. If this raises the level, MQ sets "
                "CFCONLOS(TERMINATE), and is believed to set OFFLOAD(DB2) with all rules off: state all of them in this "
                "command."
            )
            yield finding_at(
                "RAISED_LEVEL_LEAVES_DEFAULTS", message, command.line_of("CFLEVEL"), _named(command.name)
            )


def _offload(command: Command) -> Iterator[LineFinding]:
    name, structure = shown(command.name), _named(command.name)
    if command.value("OFFLOAD") == "DB2":
        yield at_line(offload_db2(name, structure=structure), command.line_of("OFFLOAD"))
    group = command.value("DSGROUP")
    if group is not None and group.strip():
        try:
            names.dsgroup(group.upper())
        except NameSyntax as error:
            yield finding_at(
                "MQSC_VALUE_INVALID", f"DSGROUP of {name}: {error}", command.line_of("DSGROUP"), structure
            )
    elif (
        command.verb == "DEFINE"
        and _number(command, "CFLEVEL") == _LARGEST_CFLEVEL
        and command.value("OFFLOAD") != "DB2"
    ):
        yield at_line(dsgroup_missing(name, structure=structure), command.line)
    yield from _covered(command)


def _covered(command: Command) -> Iterator[LineFinding]:
    """Report rules that never offload, because another rule offloads first; omitted rules have their defaults."""
    if command.verb == "ALTER" or not any(key.startswith("OFFLD") for key in command.attributes):
        return
    defaults = tables.table("offload_defaults").records()
    rules: list[tuple[int, int, int]] = []
    for rule, default in zip(_RULES, defaults, strict=True):
        over = _number(command, f"OFFLD{rule}TH")
        text = command.value(f"OFFLD{rule}SZ")
        # With OFFLOAD(DB2), IBM's syntax gives all three rules the default 64K, which is off.
        default_kb = 64 if command.value("OFFLOAD") == "DB2" else int(default["size_over_kb"])
        size = kib_to_bytes(default_kb) if text is None else _rule_size(text)
        if command.value(f"OFFLD{rule}TH") is None:
            over = int(default["usage_over_percent"])
        if over is None or size is None:
            return
        # OFFLDnSZ(64K) turns a rule off, so it covers no other rule.
        if size < 64 * KIB:
            rules.append((rule, over, size))
    for rule, over, size in rules:
        for other, its_over, its_size in rules:
            # A rule whose threshold and size are both no higher offloads every message that this one does, and no
            # later.
            covers = its_over <= over and its_size <= size and (its_over, its_size) != (over, size)
            same_and_first = (its_over, its_size) == (over, size) and other < rule
            if covers or same_and_first:
                message = (
                    f"Rule {rule} of {shown(command.name)}, over {over} % and {size // KIB}K, offloads no messages that rule {other}, over "
                    f"{its_over} % and {its_size // KIB}K, does not offload."
                )
                key = f"OFFLD{rule}TH" if f"OFFLD{rule}TH" in command.attributes else f"OFFLD{rule}SZ"
                yield finding_at(
                    "OFFLOAD_RULE_WITHOUT_EFFECT", message, command.line_of(key), _named(command.name)
                )
                break


def _queue(command: Command) -> Iterator[LineFinding]:
    try:
        names.queue(command.name)
    except NameSyntax as error:
        yield finding_at("MQSC_VALUE_INVALID", f"QLOCAL({shown(command.name)}): {error}", command.line)
    yield from _words(command)
    if command.value("QSGDISP") == "SHARED" and command.value("INDXTYPE") == "MSGTOKEN":
        message = f"INDXTYPE(MSGTOKEN) of {shown(command.name)}: MQ rejects it for shared queues."
        yield finding_at("MQSC_VALUE_INVALID", message, command.line_of("INDXTYPE"))
    structure = command.value("CFSTRUCT")
    yield from _out_of_range(command, QLOCAL_BOUNDS, _named((structure or "").strip()))
    if structure is not None and structure.strip():
        try:
            if structure != names.SYSTEM_STRUCTURE:
                names.cfstruct(structure)
        except NameSyntax as error:
            message = f"CFSTRUCT({shown(structure)}) of {shown(command.name)}: {error}"
            yield finding_at("MQSC_VALUE_INVALID", message, command.line_of("CFSTRUCT"))
    elif (
        command.value("QSGDISP") == "SHARED" and command.verb == "DEFINE" and "LIKE" not in command.attributes
    ):
        message = f"{shown(command.name)} is shared but has no CFSTRUCT: a shared queue needs a structure."
        yield finding_at("SHARED_QUEUE_WITHOUT_CFSTRUCT", message, command.line_of("QSGDISP"))
    yield from _shared(command)


def _shared(command: Command) -> Iterator[LineFinding]:
    """Check attributes that restrict reading of a shared queue, and whether a queue with a structure is shared."""
    name, structure = shown(command.name), (command.value("CFSTRUCT") or "").strip()
    is_like = "LIKE" in command.attributes
    if command.value("QSGDISP") != "SHARED":
        if structure and not is_like:
            message = (
                f"{name} names CFSTRUCT({shown(structure)}) without QSGDISP(SHARED): CFSTRUCT has no effect, and the queue "
                "is private to one queue manager. Add QSGDISP(SHARED)."
            )
            yield finding_at(
                "CFSTRUCT_WITHOUT_SHARED", message, command.line_of("CFSTRUCT"), _named(structure)
            )
        return
    if command.value("USAGE") == "XMITQ":
        return  # one channel reads a transmission queue
    # DEFINE fills in what it does not state; ALTER and LIKE keep the existing values.
    has_defaults = command.verb == "DEFINE" and not is_like
    advice = "State SHARE DEFSOPT(SHARED), unless only one application may read it."
    # NOSHARE as the default is from memory; DEFSOPT(EXCL) is published (docs/explanation/assumptions.md, Texts that
    # are checked).
    if "NOSHARE" in command.attributes or (has_defaults and "SHARE" not in command.attributes):
        stated = (
            "has NOSHARE"
            if "NOSHARE" in command.attributes
            else "states no SHARE, and NOSHARE is the default"
        )
        message = f"{name} {stated}: only one application in the whole group can open it for input. {advice}"
        line = command.line_of("NOSHARE" if "NOSHARE" in command.attributes else "QSGDISP")
        yield finding_at("SHARED_QUEUE_NOSHARE", message, line, _named(structure))
        return
    defsopt = command.value("DEFSOPT")
    if defsopt == "EXCL" or (has_defaults and "DEFSOPT" not in command.attributes):
        stated = "has DEFSOPT(EXCL)" if defsopt else "states no DEFSOPT, and EXCL is the default"
        message = f"{name} {stated}: an application that opens it with the queue's default prevents all others in the group from reading it. {advice}"
        line = command.line_of("DEFSOPT" if defsopt else "QSGDISP")
        yield finding_at("SHARED_QUEUE_DEFSOPT_EXCL", message, line, _named(structure))


def _prefixes(
    structures: Sequence[Command], queues: Sequence[Command], known: NamesInText
) -> Iterator[LineFinding]:
    """Report CFSTRUCT names that begin with the group's name, each at its first line."""
    lines: dict[str, int] = {}
    for command in structures:
        lines.setdefault(command.name, command.line)
    for command in queues:
        lines.setdefault((command.value("CFSTRUCT") or "").strip(), command.line_of("CFSTRUCT"))
    for name, line in lines.items():
        if _named(name):
            for each in prefixed(name, known):
                yield at_line(each, line)


def _together(structures: Sequence[Command], queues: Sequence[Command]) -> Iterator[LineFinding]:
    groups: dict[str, str] = {}
    for command in structures:
        group = (command.value("DSGROUP") or "").strip().upper()
        if not group:
            continue
        if group in groups and groups[group] != command.name:
            same = (shown(command.name), shown(groups[group]), shown(group))
            yield at_line(dsgroup_twice(*same, structure=_named(command.name)), command.line_of("DSGROUP"))
        groups.setdefault(group, command.name)
    on_structure = Counter(queue.value("CFSTRUCT") for queue in queues if queue.verb == "DEFINE")
    told = set[str]()
    defined = {command.name: command for command in structures}
    for queue in queues:
        structure = (queue.value("CFSTRUCT") or "").strip()
        if not structure or structure == names.SYSTEM_STRUCTURE:
            continue
        line = queue.line_of("CFSTRUCT")
        if structure not in defined:
            if defined and structure not in told:
                message = f"{shown(queue.name)} is on {shown(structure)}, which this text does not define: the structure must exist."
                yield finding_at("CFSTRUCT_NOT_DEFINED_HERE", message, line, _named(structure))
                told.add(structure)
        elif queue.value("DEFPSIST") == "YES":
            yield from _persistent(queue, defined[structure])
    for on, count in on_structure.items():
        for each in too_many_queues(shown(on), count, structure=_named(on)) if on else ():
            line = next(q.line_of("CFSTRUCT") for q in queues if q.value("CFSTRUCT") == on)
            yield at_line(each, line)


def _persistent(queue: Command, structure: Command) -> Iterator[LineFinding]:
    if structure.verb != "DEFINE" or "LIKE" in structure.attributes:
        return
    if (structure.value("RECOVER") or "NO") == "NO":
        holders = f"{shown(queue.name)} holds persistent messages by default"
        found = persistent_needs_recover(shown(structure.name), holders, structure=_named(structure.name))
        yield at_line(found, queue.line_of("DEFPSIST"))
