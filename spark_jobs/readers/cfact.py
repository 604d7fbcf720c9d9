"""RMF Monitor III's CFACT report, CSV or JSON: the use of each structure and its limits.

Columns are recognized by the ids of RMF's distributed data server (DDS), or by the display names that belong to them;
which of them a file has depends on how it was saved. Ids, names and the way rows and values are written are published
with IBM's Grafana plugin for RMF (github.com/IBM/RMF, grafana/rmf-app/mock-dds: reptrans.xsl, data/report_cfact.json):
one row *ALL for each structure in a coupling facility, followed by one for each system; the DDS writes sizes in bytes
without a unit. How the plugin saves a table is recalled from memory, so a size without a unit under a display name is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from planner_core.contracts.cfact import (
    CFACT_COLUMNS,
    DDS_MESSAGES_WITH_DATA,
    DDS_NO_DATA_ROW,
    DDS_NO_VALUES,
)
from planner_core.errors import SizeSyntax
from planner_core.inputs import squeezed
from planner_core.units import parse_size
from spark_jobs.history.rows import NOT_LISTS
from spark_jobs.history.schema import IN_USE_PAIRS, STRUCTURE_USAGE
from spark_jobs.readers.json_objects import objects
from spark_jobs.readers.names import XCF_NAME, Groups, QsgMap
from spark_jobs.readers.result import Ask, Collector, NotReadable, Value
from spark_jobs.readers.tables import CsvTable
from spark_jobs.readers.text import TextFile
from spark_jobs.readers.values import (
    BadValue,
    NoZone,
    Zone,
    in_microseconds,
    instant_of,
    is_absent,
    plain,
    shown,
    whole,
)

_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "structure": ("structurename1", "structurename"),
    "type": ("structuretype1", "structuretype"),
    "status": ("extendedstructurestatus", "structurestatus"),
    "system": ("systemname", "system"),
    "coupling_facility": ("cfname1", "cfname", "couplingfacility"),
    "sysplex": ("sysplex", "sysplexname"),
    "time": ("intervalend", "utcend", "time", "timestamp", "datetime"),
    "start": ("intervalstart", "utcstart"),
}
_COUNTS: Final[dict[str, tuple[str, ...]]] = {
    "entries_in_use": ("actuallistentrieslistlock", "actuallistentries"),
    "entries_total": ("totallistentrieslistlock", "totallistentries"),
    "elements_in_use": ("actualdataelementslistcache", "actualdataelements"),
    "elements_total": ("totaldataelementslistcache", "totaldataelements"),
    "scm_entries_in_use": ("actualscmlistentries",),
    "scm_elements_in_use": ("actualscmlistelements",),
    "sync_requests": ("syncrequestcount",),
    "async_requests": ("asyncrequestcount",),
    "changed_requests": ("convertedrequestcount", "synctoasyncconversioncount"),
}
_SIZES: Final[dict[str, tuple[str, ...]]] = {
    "size_bytes": ("structuresize",),
    "size_max_bytes": ("maxstructuresize",),
    "size_min_bytes": ("minstructuresize",),
    "scm_max_bytes": ("maximumofscmspace",),
}
_SHARED: Final = ("sync_requests", "async_requests", "changed_requests")
"""The columns that *ALL adds up over the systems."""

_NAMED: Final = {
    key: name for names in (_COLUMNS, _COUNTS, _SIZES) for name, keys in names.items() for key in keys
}
_ALL_SYSTEMS: Final = "*ALL"

_UNIT: Final = re.compile(r"\((?P<unit>B|BYTES|K|KB|KIB|M|MB|MIB|G|GB|GIB|4K)\)", re.IGNORECASE)
_PAGES: Final = 4096
_DDS_TIME: Final = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})")
_EPOCH_MS: Final = re.compile(r"1\d{12}")
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")
"""A number that may have thousands separators: 1.000 is one, or a thousand."""
_SHOWN_IDS: Final = 6
_PARTS_OF_LABEL: Final = 3
_FROM_MEMORY: Final = (
    "CFACT: the column names are those of IBM's Grafana plugin for RMF; how it saves a table is from memory."
)


@dataclass(slots=True)
class _Row:
    line: int
    cells: dict[str, str]
    units: Mapping[str, str]
    start: datetime | None = None
    end: datetime | None = None
    sysplex: str | None = None

    @property
    def instance(self) -> tuple[object, ...]:
        """What rows of one instance of a structure have in common at one time."""
        cells = (self.cells.get(name) for name in ("structure", "coupling_facility", "time"))
        return (*cells, self.end)


@dataclass(slots=True)
class _Headings:
    """The columns of a heading line by meaning; of several columns with one meaning, the first counts."""

    names: list[str | None] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_ids(cls, ids: Iterable[str]) -> _Headings:
        """Return the columns of the DDS, whose sizes are in bytes."""
        return cls([CFACT_COLUMNS.get(each) for each in ids], dict.fromkeys(_SIZES, "B"))

    @classmethod
    def of(cls, headings: Iterable[str]) -> _Headings:
        made = cls()
        wanted: list[tuple[str | None, int]] = []
        for heading in headings:
            unit = _UNIT.search(heading)
            key = squeezed(heading[: unit.start()] + heading[unit.end() :] if unit else heading)
            name = _NAMED.get(key)
            if name and unit:
                made.units.setdefault(name, unit["unit"].upper())
            rank = _rank(name, key) if name else 0
            wanted.append((name, rank))
        for name, rank in wanted:
            best = min(other for other_name, other in wanted if other_name == name)
            made.names.append(name if name and rank == best and name not in made.names else None)
        return made

    def row(self, line: int, cells: Sequence[object]) -> _Row:
        values = {name: plain(cell) for name, cell in zip(self.names, cells, strict=False) if name}
        return _Row(line, values, self.units)

    def are_cfact(self) -> bool:
        counted = {"entries_total", "entries_in_use", "size_bytes"}
        return "structure" in self.names and not counted.isdisjoint(name for name in self.names if name)


def _rank(name: str, key: str) -> int:
    keys = next(table[name] for table in (_COLUMNS, _COUNTS, _SIZES) if name in table)
    return keys.index(key)


def read_csv(
    file: TextFile, collector: Collector, *, zone: Zone, observed_at: datetime | None, qsg_of: QsgMap
) -> None:
    """Read a CSV file of the report.

    Raises:
        NotReadable: No heading line names structures and their figures.
    """
    table = CsvTable(
        file,
        collector,
        is_heading=lambda cells: _Headings.of(cells).are_cfact(),
        missing=(
            "No heading line with structures and their figures was found: "
            "Structure Name with Structure Size, Total List Entries or Actual List Entries."
        ),
    )
    headings = _Headings.of(table.headings)
    collector.note(_FROM_MEMORY)
    rows = [headings.row(line, cells) for line, cells in table.rows()]
    _Reader(collector, zone, observed_at).take(rows, qsg_of)


def read_json(
    file: TextFile, collector: Collector, *, zone: Zone, observed_at: datetime | None, qsg_of: QsgMap
) -> None:
    """Read a JSON file: a response from RMF's data server, or a list of objects with the names of the report's columns.

    Raises:
        NotReadable: The file contains no structures with their figures.
    """
    rows: list[_Row] = []
    for line, found in objects(file, on_problem=collector.problem):
        reports = found.get("report")
        if reports is not None or "columnHeaders" in found:
            for report in reports if isinstance(reports, list) else [reports or found]:
                rows += _report(report, line, collector)
        else:
            headings = _Headings.of(found)
            if headings.are_cfact():
                collector.note(_FROM_MEMORY)
                rows.append(headings.row(line, list(found.values())))
            else:
                collector.problem(line, "The object names no structure with its size or entries.")
    if not rows:
        msg = "The file contains no structures with figures."
        raise NotReadable(msg)
    _Reader(collector, zone, observed_at).take(rows, qsg_of)


def _report(report: object, line: int, collector: Collector) -> Iterator[_Row]:
    if not isinstance(report, dict):
        collector.problem(line, "A report that is not a JSON object is skipped.")
        return
    if not _has_usable_data(report, line, collector):
        return
    columns = [_text_of(each) for each in _list_in(report.get("columnHeaders"), "col")]
    has_ids = not CFACT_COLUMNS.keys().isdisjoint(columns)
    headings = _Headings.of_ids(columns) if has_ids else _Headings.of(columns)
    if not headings.are_cfact():
        shown_ids = ", ".join(column[:24] for column in columns[:_SHOWN_IDS]) or "none"
        msg = (
            f"The report's columns are {shown_ids}...: neither the ids of CFACT, such as CFAISTRU and CFAILEL, nor the names "
            "that belong to them. Save the report CFACT (Coupling Facility Activity)."
        )
        raise NotReadable(msg)
    if not has_ids:
        collector.note(_FROM_MEMORY)
    sysplex = _sysplex(report.get("resource"))
    times = report.get("timeData") or report.get("TimeData")
    start = _dds_time(times, "utcStart", "UTCStart")
    end = _dds_time(times, "utcEnd", "UTCEnd")
    wrong = _wrong_time(times)
    if wrong is not None or (start and end and start >= end):
        reason = wrong or "its start in UTC is not before its end"
        collector.problem(line, f"A report is skipped because its interval cannot be read: {reason}.")
        return
    for each in _list_in(report, "row"):
        cells = each.get("col") if isinstance(each, dict) else each
        if not isinstance(cells, list) or len(cells) > len(columns):
            collector.problem(line, "A row of the report that does not match its columns is skipped.")
            continue
        row = headings.row(line, [_text_of(cell) for cell in cells])
        if row.cells.get("structure") == DDS_NO_DATA_ROW:
            collector.problem(
                line, f"RMF's data server has no data for the interval that ends at {_shown_end(end)}."
            )
            continue
        row.start, row.end, row.sysplex = start, end, sysplex
        yield row


def _has_usable_data(report: Mapping[str, Any], line: int, collector: Collector) -> bool:
    """Report the data server's message, and whether the report may be read in spite of it."""
    found = report.get("message")
    if not found:
        return True
    message = {str(key).lower(): value for key, value in found.items()} if isinstance(found, dict) else {}
    number = _text_of(message.get("id"))
    meaning = DDS_MESSAGES_WITH_DATA.get(number)
    if meaning is None:
        text = shown(_text_of(message.get("description")))
        collector.problem(
            line, f"A report is skipped: RMF's data server returned {shown(number)} with the text {text}."
        )
        return False
    collector.problem(line, f"RMF's data server returned {number}: {meaning}.")
    return bool(_list_in(report, "row"))


def _wrong_time(times: object) -> str | None:
    """Return the first time in UTC that the report has but that is not a time."""
    if not isinstance(times, dict):
        return None
    for name in ("utcStart", "UTCStart", "utcEnd", "UTCEnd"):
        if name in times and _dds_time(times, name) is None:
            return f"{name} {shown(_text_of(times[name]))} is not yyyymmddhhmmss"
    return None


def _sysplex(resource: object) -> str | None:
    """Return the name in a label such as `,PLEX1,SYSPLEX`; None if there is none."""
    parts = _text_of(resource.get("reslabel")).split(",") if isinstance(resource, dict) else []
    is_sysplex = (
        len(parts) == _PARTS_OF_LABEL and parts[2] == "SYSPLEX" and bool(XCF_NAME.fullmatch(parts[1]))
    )
    return parts[1] if is_sysplex else None


def _list_in(found: object, key: str) -> list[Any]:
    inner = found.get(key) if isinstance(found, dict) else found
    if inner is None:
        return []
    return inner if isinstance(inner, list) else [inner]


def _text_of(found: object) -> str:
    if isinstance(found, dict):
        found = next((found[key] for key in ("value", "text", "name", "id") if key in found), "")
    return "" if found is None else str(found)


def _dds_time(times: object, *names: str) -> datetime | None:
    if not isinstance(times, dict):
        return None
    text = next((_text_of(times[name]) for name in names if name in times), "")
    found = _DDS_TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _shown_end(end: datetime | None) -> str:
    return "an unknown time" if end is None else end.isoformat()


class _Reader:
    def __init__(self, collector: Collector, zone: Zone, observed_at: datetime | None) -> None:
        self._to = collector
        self._zone = zone
        self._observed_at = observed_at

    def take(self, rows: list[_Row], qsg_of: QsgMap) -> None:
        groups = Groups(qsg_of, (row.cells.get("structure", "") for row in rows))
        # A file with at least one structure known to be MQ's shows which groups matter; only then are the others
        # certainly foreign.
        own = [groups.split(row.cells.get("structure", "")) is not None for row in rows]
        by_system = {
            row.instance for row in rows if row.cells.get("system") and row.cells["system"] != _ALL_SYSTEMS
        }
        foreign: dict[str, None] = {}
        for row, is_own in zip(rows, own, strict=True):
            self._to.count("rows")
            kind = row.cells.get("type", "").upper()
            # MQ uses list structures only.
            if kind and "LIST" not in kind:
                self._to.pass_over(NOT_LISTS)
            elif not is_own and any(own):
                foreign[row.cells.get("structure", "")] = None
                self._to.pass_over("structures of unknown queue-sharing groups")
            else:
                try:
                    self._row(row, groups, by_system)
                except BadValue as error:
                    self._to.problem(row.line, f"{error}.")
        if foreign:
            some = ", ".join(list(foreign)[:_SHOWN_IDS])
            self._to.note(
                f"{len(foreign)} list structures belong to no queue-sharing group in the file or in the site's map, and "
                f"are skipped: {some}{', ...' if len(foreign) > _SHOWN_IDS else ''}."
            )
        if rows and not any(own):
            self._to.note(
                "No structure in the file is known to be MQ's (none is a group's CSQ_ADMIN, and the site's map has none of "
                "the groups): all list structures are stored under XCF's names only."
            )

    def _row(self, row: _Row, groups: Groups, by_system: set[tuple[object, ...]]) -> None:
        name = row.cells.get("structure", "")
        if not XCF_NAME.fullmatch(name):
            message = f"{shown(name)} is not a structure name"
            raise BadValue(message)
        values: dict[str, Value] = {column: self._count(row, column) for column in _COUNTS}
        values |= {column: self._size(row, column) for column in _SIZES}
        for in_use, total in IN_USE_PAIRS:
            used, of = values[in_use], values[total]
            if isinstance(used, int) and isinstance(of, int) and used > of:
                self._to.problem(row.line, f"{in_use} {used} is more than {total} {of}: left out.")
                # One of the two is wrong, and nothing shows which.
                values[in_use] = values[total] = None
        system = row.cells.get("system") or None
        note = None
        if system == _ALL_SYSTEMS:
            system = None
            # *ALL holds the sums over the systems, whose rows count already; the history adds up all rows.
            if row.instance in by_system:
                values |= dict.fromkeys(_SHARED)
                note = "requests are in the rows of the systems"
        start, end = self._interval(row)
        split = groups.split(name)
        base: dict[str, Value] = {
            "source": "CFACT",
            "origin": "report",
            "file_record": row.line,
            "piece": 0,
            "note": note,
            "system_id": system,
            "qsg": split[0] if split else None,
            "structure": split[1] if split else None,
            "xcf_structure": name,
            "interval_start": start,
            "interval_end": end,
            "interval_us": _span(start, end),
            "sysplex": row.cells.get("sysplex") or row.sysplex,
            "coupling_facility": row.cells.get("coupling_facility") or None,
            "in_use_kind": "at_end",
            "status": row.cells.get("status") or None,
        }
        self._to.add(STRUCTURE_USAGE, base | values)

    def _interval(self, row: _Row) -> tuple[datetime | None, datetime | None]:
        start, end = row.start, row.end
        if end is None and row.cells.get("time"):
            end = self._instant(row.cells["time"])
        if start is None and row.cells.get("start"):
            start = self._instant(row.cells["start"])
        if end is None and not row.cells.get("time"):
            end = self._observed_at
            if end is None:
                message = "When was the report taken? The file has no time: enter the time of observation with its zone."
                self._to.ask(Ask("observed_at", message))
        return (None if start and end and start > end else start), end

    def _instant(self, text: str) -> datetime | None:
        if _EPOCH_MS.fullmatch(text):
            return datetime.fromtimestamp(int(text) / 1000, tz=UTC)
        try:
            return instant_of(text, self._zone)
        except NoZone:
            self._to.ask(Ask("zone", "In which time zone are the report's times? They have no offset."))
            return None

    def _count(self, row: _Row, column: str) -> int | None:
        text = row.cells.get(column, "")
        if text.upper() in DDS_NO_VALUES:
            return None
        try:
            return _unambiguous(whole(text), text)
        except BadValue:
            text = shown(text)
            self._to.problem(
                row.line, f"{column} {text} is not a whole number (rounded figures are not used): left out."
            )
            return None

    def _size(self, row: _Row, column: str) -> int | None:
        text = row.cells.get(column, "")
        if is_absent(text) or text.upper() in DDS_NO_VALUES:
            return None
        unit = row.units.get(column)
        try:
            if unit == "4K":
                return (whole(text) or 0) * _PAGES
            size = parse_size(text, default_unit=unit[0] if unit else None)
            return _unambiguous(size, text) if unit == "B" else size
        except (SizeSyntax, BadValue):
            hint = " It has no unit: add one to the value or the heading, such as Structure Size (K)."
            is_bare = text.isdigit() and not unit
            self._to.problem(row.line, f"{column} {shown(text)} is left out.{hint if is_bare else ''}")
            return None


def _unambiguous(value: int | None, text: str) -> int | None:
    """Return a whole number that was read; raise BadValue if its text may mean another one."""
    if _GROUPED.fullmatch(text):
        message = f"{shown(text)} may have thousands separators"
        raise BadValue(message)
    return value


def _span(start: datetime | None, end: datetime | None) -> int | None:
    if end is None:
        return None
    return 0 if start is None else in_microseconds(end - start)
