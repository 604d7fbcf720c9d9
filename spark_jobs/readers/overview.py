"""RMF overview conditions as CSV: the use of structures in percent.

The names of the conditions are IBM's: LDECTR for list entries and DECTR for data elements, in use as a share of the
total, by structure. The layout of the file is recalled from memory, and sites choose the headings of columns; so a
heading must contain a condition and a structure, such as `LDECTR(SQ03APP1)`. Whether values are ratios or percentages
is decided by the heading (`%` or `ratio`), otherwise by the values: any value above 1 means percentages. If neither
decides, the column is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from planner_core.inputs import OVERVIEW_CONDITIONS, squeezed
from planner_core.names import STRUCTURE_PATTERN
from spark_jobs.history.schema import STRUCTURE_USAGE
from spark_jobs.readers.names import Groups, QsgMap
from spark_jobs.readers.result import Ask, Collector, Value
from spark_jobs.readers.tables import CsvTable
from spark_jobs.readers.text import TextFile
from spark_jobs.readers.values import (
    BadValue,
    NoZone,
    Zone,
    decimal,
    in_microseconds,
    instant_of,
    local_of,
    plain,
    shown,
)

_HEADING: Final = re.compile(
    rf"\b(?P<condition>{'|'.join(OVERVIEW_CONDITIONS)})\s*\(\s*(?P<structure>{STRUCTURE_PATTERN})\s*\)"
)
_TARGET: Final = {"LDECTR": "entries_in_use_pct", "DECTR": "elements_in_use_pct"}
_END: Final = ("intervalend", "endtime", "datetime", "timestamp")
_START: Final = ("intervalstart", "starttime")
_ALL_PERCENT: Final = 100
_LONGEST_LENGTH: Final = re.compile(r"(?P<h>[0-9]{2})[:.](?P<m>[0-9]{2})[:.](?P<s>[0-9]{2})")
_FROM_MEMORY: Final = (
    "RMF overview: the names of the conditions are IBM's; the format of the file is from memory."
)


@dataclass(slots=True)
class _Column:
    at: int
    condition: str
    structure: str
    is_percentage: bool | None


@dataclass(slots=True)
class _When:
    """The columns of a row's time: one column, or a date and a time."""

    instant: int | None = None
    day: int | None = None
    clock: int | None = None
    length: int | None = None
    is_start: bool = False


def read_overview(file: TextFile, collector: Collector, *, zone: Zone, qsg_of: QsgMap) -> None:
    """Read a CSV file of overview conditions.

    Raises:
        NotReadable: No heading contains a condition and a structure.
    """
    collector.note(_FROM_MEMORY)
    table = CsvTable(
        file,
        collector,
        is_heading=lambda cells: any(_HEADING.search(cell.upper()) for cell in cells),
        missing=(
            "No heading contains a condition and a structure. Columns are recognized by headings such as LDECTR(SQ03APP1) "
            "for list entries and DECTR(SQ03APP1) for data elements: replace your own headings with them."
        ),
    )
    columns = _columns(table.headings)
    when = _when(table.headings)
    # Read all rows first, because the first value above 1 may be in the last row.
    rows = [(line, cells) for line, cells in table.rows()]
    _decide(columns, rows, collector)
    groups = Groups(qsg_of, (column.structure for column in columns))
    for line, cells in rows:
        collector.count("rows")
        try:
            _row(line, cells, columns, _interval(cells, when, zone), groups, collector)
        except BadValue as error:
            collector.problem(line, f"{error}.")
        except NoZone:
            collector.ask(Ask("zone", "In which time zone are the overview's times? They have no offset."))


def _columns(headings: Sequence[str]) -> list[_Column]:
    made = []
    for at, heading in enumerate(headings):
        found = _HEADING.search(heading.upper())
        if found:
            rest = heading[found.end() :].lower()
            is_percentage = True if "%" in rest or "pct" in rest or "percent" in rest else None
            if "ratio" in rest:
                is_percentage = False
            made.append(_Column(at, found["condition"], found["structure"], is_percentage))
    return made


def _when(headings: Sequence[str]) -> _When:
    made = _When()
    for at, heading in enumerate(headings):
        key = squeezed(heading)
        if key in _END and made.instant is None:
            made.instant = at
        elif key in _START and made.instant is None:
            made.instant, made.is_start = at, True
        elif key == "date" and made.day is None:
            made.day = at
        elif key == "time" and made.clock is None:
            made.clock = at
        elif key in {"interval", "int", "mmss", "duration", "length"}:
            made.length = at
    if made.instant is None and (made.day is None or made.clock is None):
        made.instant = made.clock
    return made


def _decide(columns: list[_Column], rows: list[tuple[int, list[str]]], collector: Collector) -> None:
    """Choose between ratio and percentage for columns whose heading does not decide it."""
    open_columns = [column for column in columns if column.is_percentage is None]
    largest = 0.0
    for _, cells in rows:
        for column in open_columns:
            try:
                text = plain(cells[column.at])
                # A cell with % shows it for its column, however small its value is.
                largest = max(largest, _ALL_PERCENT if text.endswith("%") else decimal(text) or 0.0)
            except BadValue:
                continue
    if not open_columns:
        return
    if largest > 1:
        collector.note("Overview: values above 1 show that the columns hold percentages.")
    else:
        names = ", ".join(f"{column.condition}({column.structure})" for column in open_columns)
        message = f"It is unclear whether {names} are ratios or percentages: left out. Add % or ratio to the heading."
        collector.problem(1, message)
    for column in open_columns:
        column.is_percentage = True if largest > 1 else None


def _interval(cells: list[str], when: _When, zone: Zone) -> tuple[datetime | None, datetime]:
    length = None
    if when.length is not None:
        found = _LONGEST_LENGTH.fullmatch(plain(cells[when.length]))
        if found:
            length = timedelta(hours=int(found["h"]), minutes=int(found["m"]), seconds=int(found["s"]))
    if when.day is not None and when.clock is not None and when.instant is None:
        local = local_of(cells[when.day], plain(cells[when.clock]).replace(".", ":"))
        at = zone.utc(local) if local else None
    else:
        at = instant_of(cells[when.instant], zone) if when.instant is not None else None
    if at is None:
        message = "The row has no time (a column Interval End, or Date and Time)"
        raise BadValue(message)
    if when.is_start:
        return at, at + length if length else at
    return at - length if length else None, at


def _row(
    line: int,
    cells: list[str],
    columns: list[_Column],
    interval: tuple[datetime | None, datetime],
    groups: Groups,
    collector: Collector,
) -> None:
    start, end = interval
    by_structure: dict[str, dict[str, Value]] = {}
    for column in columns:
        if column.is_percentage is None:
            continue
        text = plain(cells[column.at])
        is_percentage = column.is_percentage or text.endswith("%")
        try:
            value = decimal(text.removesuffix("%"))
        except BadValue as error:
            collector.problem(line, f"{column.condition}({column.structure}): {error}.")
            continue
        if value is None:
            continue
        percent = value if is_percentage else value * _ALL_PERCENT
        if not 0 <= percent <= _ALL_PERCENT:
            collector.problem(
                line,
                f"{column.condition}({column.structure}) {shown(text)} is not between 0 and 100 %: left out.",
            )
            continue
        by_structure.setdefault(column.structure, {})[_TARGET[column.condition]] = percent
    for name, values in by_structure.items():
        split = groups.split(name)
        if split is None:
            collector.note(f"It is unknown whether {name} is MQ's: stored under XCF's name only.")
        base: dict[str, Value] = {
            "source": "overview",
            "origin": "report",
            "file_record": line,
            "piece": 0,
            "qsg": split[0] if split else None,
            "structure": split[1] if split else None,
            "xcf_structure": name,
            "interval_start": start,
            "interval_end": end,
            "interval_us": in_microseconds(end - start) if start else 0,
            # RMF samples the current numbers of entries and elements at the end of an interval.
            "in_use_kind": "at_end",
        }
        collector.add(STRUCTURE_USAGE, base | values)
