"""Read sizing points: CSV files with answers of a sizing service, and displays of empty structures.

One row of a CSV file is one answer of z/OSMF CF Sizing, SIZER, IXLCSP or CFSizer. A display gives a point if it shows
the allocated size, SIZE, entries and elements of a list structure without any data in it: `D XCF,STR,STRNAME=`, the
message IXC582I, which XCF writes when it allocates a structure, and DISPLAY CFSTATUS, which shows only entries and
needs the rest from the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import gcd
from typing import Final

from planner_core import names
from planner_core.bounds import check_lines, first_problems
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.names import Role
from planner_core.sizing.levels import listed
from planner_core.sizing.sizing_points import Origin, SizingPoint, point_problems
from planner_core.texts.console import LineProblem
from planner_core.texts.csv_rows import SHOWN, CsvColumn, RowReader, read_rows
from planner_core.texts.mqsc.displays import CfStatus, read_mq
from planner_core.texts.xcf.displays import (
    DisplayedAllocation,
    DisplayedInstance,
    StructureDisplay,
    read_xcf,
)
from planner_core.units import KIB, format_size

TEXT, POINT, DETAILS = "The text", "The sizing point", "The input"
ORIGINS: Final[Mapping[Origin, str]] = {
    "zosmf": "z/OSMF CF Sizing",
    "sizer": "SIZER",
    "ixlcsp": "IXLCSP",
    "cfsizer": "CFSizer",
    "display": "display",
}
"""The origins of points that a site can enter, in words."""
STRUCTURE_TYPES: Final[tuple[Role, ...]] = ("application", "system", "admin")
LOWEST_LEVEL, HIGHEST_LEVEL = 1, 99
MOST_ROWS: Final = 10_000
LONGEST_RELEASE, LONGEST_PERSON = 60, 80
_MOST_COUNT: Final = 10**12
_MOST_RATIO: Final = 10**6
_RATIO = re.compile(r"\s*([0-9]{1,7})\s*:\s*([0-9]{1,7})\s*")
_COMMON_ELEMENTS: Final = 100
_TOLERANCE: Final = Fraction(1, 100)
"""The share by which the totals of a structure may differ from a whole ratio: XCF rounds them when it allocates."""


COLUMNS: Final = (
    CsvColumn("cfcc_level", "CFCC level that was sized for, 1 to 99", "26", is_required=True),
    CsvColumn("structure_type", "`application`, `system` (CSQSYSAPPL) or `admin` (CSQ_ADMIN)", "application", is_required=True),
    CsvColumn("ratio", "entry-to-element ratio, such as `1:6`", "1:6", is_required=True),
    CsvColumn("size", "SIZE, the maximum size; a number without a unit is in K", "1048576", is_required=True),
    CsvColumn("initsize", "INITSIZE, the size that holds the entries and elements, in K or with a unit", "524288", is_required=True),
    CsvColumn("entries", "list entries that INITSIZE holds; may be empty if `elements` is not", "262144"),
    CsvColumn("elements", "list elements that INITSIZE holds; may be empty if `entries` is not", "1572864"),
    CsvColumn("origin", "`zosmf`, `sizer`, `ixlcsp`, `cfsizer` or `display`", "zosmf", is_required=True),
    CsvColumn("release", f"release of the service or of z/OS, up to {LONGEST_RELEASE} characters", "z/OS 3.1"),
    CsvColumn("measured_by", f"who ran the sizing, up to {LONGEST_PERSON} characters", "J. Doe"),
    CsvColumn("measured_on", "the day, as YYYY-MM-DD", "2026-11-03"),
    CsvColumn("structure", "name of the structure, for points from displays", ""),
)  # fmt: skip
"""The columns, in the order of the template; a file may have them in any order."""


@dataclass(frozen=True, slots=True)
class NamedPoint:
    """A point, the name of its structure if it has one, and its line in the text."""

    point: SizingPoint
    structure: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class PointsText:
    """The points of a text, and the displays that give none, each with the reason."""

    points: tuple[NamedPoint, ...]
    left_out: tuple[LineProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayDetails:
    """The values that a display does not show.

    `cfcc_level` is that of all its coupling facilities, `levels` those of single ones. `ratio` and `size_bytes` are
    used for DISPLAY CFSTATUS only.
    """

    cfcc_level: int | None = None
    levels: Mapping[str, int] | None = None
    ratio: tuple[int, int] | None = None
    size_bytes: int | None = None
    release: str = ""
    measured_by: str = ""
    measured_on: date | None = None


NOTHING_STATED: Final = DisplayDetails()


def read_points(text: str, details: DisplayDetails = NOTHING_STATED) -> PointsText:
    """Read the points of a text: a CSV file, or displays.

    Args:
        text: The text.
        details: What displays do not show; a CSV file states its own values.

    Raises:
        InputInvalid: A row of a CSV file is not valid, which refuses the whole file, or no display gives a point.
        TextTooLong: The text has more lines than any valid one.
    """
    check_lines(text)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if _is_heading(first):
        return PointsText(tuple(_csv_points(text)))
    found = _display_points(text, details)
    if not found.points:
        raise InputInvalid(
            TEXT,
            first_problems(FieldProblem(f"line {each.line}", each.message) for each in found.left_out)
            or (
                FieldProblem(
                    "",
                    f"contains no sizing points: neither a CSV file whose first line names the columns ({', '.join(each.name for each in COLUMNS if each.is_required)}, "
                    "...), nor D XCF,STR,STRNAME=, IXC582I or DISPLAY CFSTATUS",
                ),
            ),
        )
    return found


def read_point(values: Mapping[str, str], *, line: int | None = None) -> NamedPoint:
    """Return the point that texts by column describe; columns that are missing count as empty.

    Raises:
        InputInvalid: A value is not valid; every error names its column.
    """
    reading = _Row(values)
    point = SizingPoint(
        cfcc_level=reading.whole("cfcc_level", LOWEST_LEVEL, HIGHEST_LEVEL, is_required=True) or 0,
        structure_type=reading.choice("structure_type", STRUCTURE_TYPES),
        entry_ratio=(ratio := reading.ratio())[0],
        element_ratio=ratio[1],
        size_bytes=reading.size("size"),
        initsize_bytes=reading.size("initsize"),
        entries=reading.whole("entries", 1, _MOST_COUNT),
        elements=reading.whole("elements", 1, _MOST_COUNT),
        origin=reading.choice("origin", tuple(ORIGINS)),
        release=reading.words("release", LONGEST_RELEASE),
        measured_by=reading.words("measured_by", LONGEST_PERSON),
        measured_on=reading.day(),
    )
    structure = reading.structure()
    if not reading.problems:
        reading.problems.extend(
            FieldProblem(_COLUMN_OF.get(name, name), why) for name, why in point_problems(point)
        )
    if reading.problems:
        raise InputInvalid(POINT, tuple(reading.problems))
    return NamedPoint(point, structure, line)


def ratio_of(text: str) -> tuple[int, int]:
    """Return entries and elements of a ratio such as 1:6.

    Raises:
        InputInvalid: The text is not a ratio.
    """
    found = _RATIO.fullmatch(text)
    if found is None:
        message = f"must be entries and elements, such as 1:6, not {text[:SHOWN]!r}"
        raise InputInvalid(POINT, (FieldProblem("ratio", message),))
    entries, elements = int(found[1]), int(found[2])
    if not 1 <= entries <= _MOST_RATIO or not 1 <= elements <= _MOST_RATIO:
        raise InputInvalid(POINT, (FieldProblem("ratio", f"must have numbers between 1 and {_MOST_RATIO}"),))
    return entries, elements


_COLUMN_OF: Final = {
    "entry_ratio": "ratio",
    "element_ratio": "ratio",
    "size_bytes": "size",
    "initsize_bytes": "initsize",
}


def read_details(values: Mapping[str, str]) -> DisplayDetails:
    """Return the values that displays do not show from texts by column; each of them may be empty.

    Raises:
        InputInvalid: A value is not valid; every error names its column.
    """
    reading = _Row(values)
    level = reading.whole("cfcc_level", LOWEST_LEVEL, HIGHEST_LEVEL)
    found = DisplayDetails(
        cfcc_level=level,
        ratio=reading.ratio() if values.get("ratio", "").strip() else None,
        size_bytes=reading.size("size") if values.get("size", "").strip() else None,
        release=reading.words("release", LONGEST_RELEASE),
        measured_by=reading.words("measured_by", LONGEST_PERSON),
        measured_on=reading.day(),
    )
    if reading.problems:
        raise InputInvalid(DETAILS, tuple(reading.problems))
    return found


def values_of(point: SizingPoint, structure: str = "") -> dict[str, str]:
    """Return the texts of a point by column, which `read_point` reads."""
    return {
        "cfcc_level": str(point.cfcc_level),
        "structure_type": point.structure_type,
        "ratio": f"{point.entry_ratio}:{point.element_ratio}",
        "size": _policy_size(point.size_bytes),
        "initsize": _policy_size(point.initsize_bytes),
        "entries": "" if point.entries is None else str(point.entries),
        "elements": "" if point.elements is None else str(point.elements),
        "origin": point.origin,
        "release": point.release,
        "measured_by": point.measured_by,
        "measured_on": "" if point.measured_on is None else point.measured_on.isoformat(),
        "structure": structure,
    }


def source_words(points: Sequence[SizingPoint]) -> tuple[str, ...]:
    """Return the origins of points in words, each with its number of points, who measured them and when."""
    groups: dict[tuple[str, str, str], list[SizingPoint]] = {}
    for point in points:
        groups.setdefault((point.origin, point.release, point.measured_by), []).append(point)
    return tuple(_source(key, of) for key, of in groups.items())


def _source(key: tuple[str, str, str], of: Sequence[SizingPoint]) -> str:
    origin, release, person = key
    days = sorted(point.measured_on for point in of if point.measured_on is not None)
    named = next((words for each, words in ORIGINS.items() if each == origin), "published figures")
    words = [
        f"{named} ({release})" if release else named,
        f"{len(of)} {'point' if len(of) == 1 else 'points'}",
    ]
    if person:
        words.append(f"measured by {person}")
    if days:
        words.append(str(days[0]) if days[0] == days[-1] else f"{days[0]} to {days[-1]}")
    return ", ".join(words)


def _policy_size(size_bytes: int) -> str:
    """Return a size in K without a unit, as in a CFRM policy, or with its unit if it is not a whole number of K."""
    text = format_size(size_bytes)
    return text if text.endswith("B") else str(size_bytes // KIB)


# ---- CSV -------------------------------------------------------------------------------------------------------------


def _is_heading(line: str) -> bool:
    cells = {cell.strip().strip('"').lower() for cell in re.split(r"[,;\t]", line.lstrip("\ufeff"))}
    return len(cells & {column.name for column in COLUMNS}) > 1


def _csv_points(text: str) -> Iterator[NamedPoint]:
    return read_rows(text, COLUMNS, lambda values, line: read_point(values, line=line), most_rows=MOST_ROWS)


class _Row(RowReader):
    """The texts of one point."""

    def ratio(self) -> tuple[int, int]:
        """Return entries and elements of the ratio."""
        text = self.text("ratio")
        if not text:
            self.wrong("ratio", "is missing")
            return 1, 1
        try:
            return ratio_of(text)
        except InputInvalid as error:
            self.problems.extend(error.problems)
            return 1, 1

    def day(self) -> date | None:
        """Return the day of the measurement."""
        text = self.text("measured_on")
        if not text:
            return None
        try:
            return date.fromisoformat(text)
        except ValueError:
            self.wrong("measured_on", f"must be a day such as 2026-11-03, not {text[:SHOWN]!r}")
            return None

    def structure(self) -> str:
        """Return the name of the structure."""
        text = self.text("structure").upper()
        if text and not re.fullmatch(names.STRUCTURE_PATTERN, text):
            self.wrong("structure", f"{text[:SHOWN]!r} is not a structure name")
        return text


# ---- displays --------------------------------------------------------------------------------------------------------


def _display_points(text: str, details: DisplayDetails) -> PointsText:
    xcf, mq = read_xcf(text), read_mq(text)
    points: list[NamedPoint] = []
    left_out = [*xcf.problems, *mq.problems]
    for line, outcome in (
        *((shown.line, _of_display(shown, details)) for shown in xcf.structures),
        *((found.line, _of_allocation(found, details)) for found in xcf.allocations),
    ):
        if isinstance(outcome, NamedPoint):
            points.append(replace(outcome, line=line))
        else:
            left_out.append(LineProblem(line, outcome))
    known = [each.structure for each in points]
    for status in mq.statuses:
        # The same structure in D XCF,STR shows more; its name there begins with the name of the group.
        if any(name.endswith(status.name) for name in known):
            continue
        of_status = _of_status(status, details)
        if isinstance(of_status, NamedPoint):
            points.append(replace(of_status, line=status.line))
        else:
            left_out.append(LineProblem(status.line, of_status))
    return PointsText(tuple(points), tuple(sorted(left_out, key=lambda each: each.line)))


def _of_display(shown: StructureDisplay, details: DisplayDetails) -> NamedPoint | str:
    """Return the point of an allocated structure, or why it gives none."""
    name = shown.name
    if _is_other_type(shown.structure_type):
        return f"{name} is a {(shown.structure_type or '').lower()} structure: only list structures have entries and elements to fit."
    if not shown.instances:
        return f"{name} is not allocated, so it has no size to fit. Display it while it is allocated."
    if len(shown.instances) > 1 and not all(each.is_duplexed for each in shown.instances):
        return f"{name} is being rebuilt. Display it when it has a single instance."
    return _of_instance(name, shown, shown.instances[0], details)


def _of_instance(
    name: str, shown: StructureDisplay, found: DisplayedInstance, details: DisplayDetails
) -> NamedPoint | str:
    missing = [
        words
        for words, value in (
            ("ACTUAL SIZE", found.size_bytes),
            ("POLICY SIZE", shown.policy_size_bytes),
            ("the total of ENTRIES", found.entries_total),
            ("the total of ELEMENTS", found.elements_total),
            ("ENTRIES in use", found.entries_in_use),
            ("ELEMENTS in use", found.elements_in_use),
        )
        if value is None
    ]
    if missing:
        return (
            f"{name} does not show {listed(missing)}. Paste the complete answer to D XCF,STR,STRNAME={name}."
        )
    if found.entries_in_use or found.elements_in_use:
        return (
            f"{name} holds data: {found.entries_in_use} entries and {found.elements_in_use} elements are in use. XCF may have altered "
            "its ratio for that data, so its totals are not evidence of what its size holds. Display it while it is empty."
        )
    return _allocated(
        name,
        details,
        facility=found.coupling_facility,
        initsize=found.size_bytes,
        size=shown.policy_size_bytes,
        entries=found.entries_total,
        elements=found.elements_total,
        day=found.allocated_at_local.day if found.allocated_at_local else None,
    )


def _of_allocation(found: DisplayedAllocation, details: DisplayDetails) -> NamedPoint | str:
    """Return the point of the message about an allocation, or why it gives none."""
    name = found.name
    size = found.max_size_bytes or found.policy_size_bytes
    missing = [
        words
        for words, value in (
            ("the allocated size", found.size_bytes),
            ("the maximum size", size),
            ("the number of entries", found.entries_total),
            ("the number of elements", found.elements_total),
        )
        if not value
    ]
    if _is_other_type(found.structure_type):
        return f"{name} is a {(found.structure_type or '').lower()} structure: only list structures have entries and elements to fit."
    if missing:
        return f"IXC582I of {name} does not show {listed(missing)}."
    return _allocated(
        name,
        details,
        facility=found.coupling_facility,
        initsize=found.size_bytes,
        size=size,
        entries=found.entries_total,
        elements=found.elements_total,
        day=found.stamp.day if found.stamp else None,
    )


def _of_status(status: CfStatus, details: DisplayDetails) -> NamedPoint | str:
    """Return the point of DISPLAY CFSTATUS with the stated ratio and SIZE, or why it gives none."""
    name = status.name
    if not status.size_max_bytes or not status.entries_max:
        return f"DISPLAY CFSTATUS({name}) does not show SIZEMAX and ENTSMAX of an allocated structure."
    if status.entries_used is None or status.entries_used or status.size_used_percent:
        used = "" if status.entries_used is None else f": ENTSUSED({status.entries_used})"
        return f"{name} is not shown to be empty{used}. Display it while it holds no data."
    wanted = [
        words
        for words, value in (
            ("the CFCC level", details.cfcc_level),
            ("SIZE", details.size_bytes),
            ("the ratio of entries to elements", details.ratio),
        )
        if not value
    ]
    if wanted or details.cfcc_level is None or details.size_bytes is None or details.ratio is None:
        return (
            f"DISPLAY CFSTATUS({name}) does not show {listed(wanted)}. State {'it' if len(wanted) == 1 else 'them'}, or paste "
            "D XCF,STR,STRNAME= of the structure instead, which shows elements and SIZE."
        )
    return _checked(
        SizingPoint(
            cfcc_level=details.cfcc_level,
            structure_type=_type_of(name),
            entry_ratio=details.ratio[0],
            element_ratio=details.ratio[1],
            size_bytes=details.size_bytes,
            initsize_bytes=status.size_max_bytes,
            entries=status.entries_max,
            elements=None,
            origin="display",
            release=details.release,
            measured_by=details.measured_by,
            measured_on=details.measured_on or (status.stamp.day if status.stamp else None),
        ),
        name,
    )


def _allocated(
    name: str,
    details: DisplayDetails,
    *,
    facility: str | None,
    initsize: int | None,
    size: int | None,
    entries: int | None,
    elements: int | None,
    day: date | None,
) -> NamedPoint | str:
    level = (details.levels or {}).get(facility or "", details.cfcc_level)
    if level is None:
        of = (
            f"of {facility}, in which {name} is allocated,"
            if facility
            else f"of the coupling facility of {name}"
        )
        return f"The CFCC level {of} is not known: no display of a structure shows it. State the level."
    ratio = _ratio(entries or 0, elements or 0)
    if ratio is None:
        return f"{name} has {entries} entries and {elements} elements. A point needs both."
    return _checked(
        SizingPoint(
            cfcc_level=level,
            structure_type=_type_of(name),
            entry_ratio=ratio[0],
            element_ratio=ratio[1],
            size_bytes=size or 0,
            initsize_bytes=initsize or 0,
            entries=entries,
            elements=elements,
            origin="display",
            release=details.release,
            measured_by=details.measured_by,
            measured_on=details.measured_on or day,
        ),
        name,
    )


def _checked(point: SizingPoint, name: str) -> NamedPoint | str:
    problems = point_problems(point)
    if problems:
        return f"{name} gives no point: {' '.join(why for _, why in problems)}"
    return NamedPoint(point, name)


def _ratio(entries: int, elements: int) -> tuple[int, int] | None:
    """Return the ratio at which a structure was allocated: 1:n if its totals are close to it, otherwise the totals."""
    if not entries or not elements:
        return None
    whole = round(Fraction(elements, entries))
    if 1 <= whole <= _COMMON_ELEMENTS and abs(Fraction(elements, entries) - whole) <= _TOLERANCE * whole:
        return 1, whole
    common = gcd(entries, elements)
    return entries // common, elements // common


def _type_of(name: str) -> Role:
    # XCF shows the name with that of the group before it, MQ without.
    if name.endswith(names.ADMIN_STRUCTURE):
        return "admin"
    return "system" if name.endswith(names.SYSTEM_STRUCTURE) else "application"


def _is_other_type(structure_type: str | None) -> bool:
    return structure_type is not None and re.search("LOCK|CACHE", structure_type.upper()) is not None
