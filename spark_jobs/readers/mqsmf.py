"""The output of IBM's mq-smf-csv, CSV or JSON: structures (QEST), data sets (QESD), queues (QQST, WQ).

The formatter changes values, which are read as follows:

- All times are converted together. The header's date and time are z/OS local time as written in the record, the
  interval's start is local time shifted by the zone of the machine that ran the formatter, and the opening time of a
  queue is UTC shifted in the same way. The shift is found by comparing the header with the times that must be close to
  it (the end of the interval, the closing of a queue) and is removed. Local times are converted to UTC with the zone
  that the user gives, which nothing in the file can confirm.
- Buffer_Wait_Time is the upper half of a clock value and Encrypted tests a wrong word, so both are left out.
- -1, 1970 and dots mean that the record does not have the value: it becomes null.
- Durations are in two columns, seconds and microseconds, or in one of microseconds; the interval's length is truncated
  to whole seconds, so its end is taken from the header, which is at most a hundredth of a second from the record's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from planner_core.inputs import delimiter_of, split_cells, squeezed
from planner_core.names import cfrm_structure_name
from spark_jobs.history.rows import (
    NO_GROUP_SLOTS,
    NOT_IN_GROUP,
    NOT_OBSERVED,
    PARTIAL,
    PRIVATE_QUEUES,
)
from spark_jobs.history.schema import QUEUE_USAGE, SMDS_USAGE, STRUCTURE_USAGE
from spark_jobs.readers.json_objects import objects
from spark_jobs.readers.names import NO_GROUP, QSG_NAME, SHORT_NAME, STRUCTURE_NAME, QsgMap, ask_group
from spark_jobs.readers.result import Ask, Collector, NotReadable, Value
from spark_jobs.readers.tables import HEADER_LINES
from spark_jobs.readers.text import TextFile
from spark_jobs.readers.values import (
    QUARTER_US,
    BadValue,
    NoZone,
    Zone,
    in_microseconds,
    local_of,
    microseconds,
    plain,
    quarters_near,
    shown,
    whole,
)

_SAME_MOMENT_US: Final = 60_000_000
"""The largest difference between a record's header time and the end of its interval, or the preceding closing of a
queue."""
_NO_SMALLEST: Final = 0x0FFF_FFFF
"""The size that MQ writes as that of the smallest message if there was no message."""
_FIRST_WITH_GROUP: Final = 946
"""The first release whose records contain the group's name [QWHX]."""

_MARKS: Final[dict[str, frozenset[str]]] = {
    "QEST": frozenset({"structurename", "structurefull", "maxinuseentries"}),
    "QESD": frozenset({"structure", "blockssmds"}),
    "QQST": frozenset({"queue", "queuedisp", "structure"}),
    "WQ": frozenset({"basename", "cfstructure", "totalvalidputs"}),
}
"""Columns that identify a table."""

_QEST_COUNTS: Final = {
    "ixllste_calls": "ixllstecalls",
    "ixllste_redrives": "ixllsteredrives",
    "ixllstm_calls": "ixllstmcalls",
    "ixllstm_redrives": "ixllstmredrives",
    "structure_full_count": "structurefull",
}
_QESD_COUNTS: Final = {
    "blocks_total": "blockssmds",
    "blocks_space_map": "blocksspacemap",
    "blocks_data": "blocksmsgdata",
    "blocks_in_use": "blocksinuse",
    "blocks_free": "blocksfree",
    "blocks_in_use_max": "maxusedblocks",
    "blocks_free_min": "minfreeblocks",
    "messages": "messagesindataset",
    "messages_max": "maxmsgcount",
    "allocate_requests": "allocationrequests",
    "free_requests": "releaserequests",
    "pages_allocated": "pagesallocated",
    "pages_freed": "pagesfreed",
    "failed_allocates": "failedallocates",
    "buffer_requests": "buffergetcount",
    "buffer_bytes": "buffersize",
    "buffers_total": "buffertotal",
    "buffers_in_use_max": "buffermaxused",
    "buffers_free_min": "bufferminfree",
    "pool_waits": "waitedforpool",
    "buffer_waits": "waitedforbuffer",
    "write_requests": "writerequests",
    "pages_written": "writetotalpages",
    "read_requests": "readrequests",
    "pages_read": "readtotalpages",
    "other_read_requests": "otherreadrequests",
    "other_pages_read": "otherreadtotalpages",
}
_QESD_TIMES: Final = {
    "pool_wait_us": "poolwaittime",
    "write_us": "writeiotime",
    "read_us": "readiotime",
    "other_read_us": "otherreadiotime",
}
_WQ_COUNTS: Final = {
    "opens": "opencount",
    "puts": "totalvalidputs",
    "put_bytes": "totalbytesput",
    "put_size_max_bytes": "putmaxmsgsize",
    "gets": "totalvalidgets",
    "get_bytes": "totalbytesget",
    "get_readlists": "cfcountgetreadlist",
    "get_moves": "cfcountgetmove",
    "get_size_max_bytes": "getmaxmsgsize",
    "expired": "getmessagesexpiredcount",
    "depth_max": "maxdepth",
}
_QQST_COUNTS: Final = {
    "opens": "open",
    "put_size_min_bytes": "msglengthmin",
    "put_size_max_bytes": "msglengthmax",
    "gets": "get",
    "get_bytes": "getbytes",
    "expired": "expired",
    "depth_max": "queuedepthhighwater",
    "depth_min": "queuedepthlowwater",
    "depth_end": "currentdepth",
    "puts_to_waiting_getter": "fastputmessages",
}
_QQST_SUMS: Final = {
    "puts": ("put", "put1"),
    "put_bytes": ("putbytes", "put1bytes"),
    "persistent_puts": ("putp", "put1p"),
}
_WQ_SUMS: Final = {
    "persistent_puts": ("putpersistentcount", "put1persistentcount"),
    "puts_to_waiting_getter": ("putwaitinggettercount", "put1waitinggettercount"),
}
_SCOPES: Final = {
    "qmgr": "QMGR",
    "copy": "COPY",
    "shared": "SHARED",
    "group": "GROUP",
    "private": "PRIVATE",
    "live": "LIVE",
}


class _Row(Protocol):
    @property
    def line(self) -> int: ...
    @property
    def table(self) -> str: ...
    def has(self, name: str) -> bool: ...
    def cell(self, name: str) -> object: ...


@dataclass(frozen=True, slots=True)
class _CsvRow:
    line: int
    table: str
    cells: list[str]
    index: Mapping[str, int]

    def has(self, name: str) -> bool:
        return name in self.index

    def cell(self, name: str) -> object:
        at = self.index.get(name)
        return None if at is None else self.cells[at]


@dataclass(frozen=True, slots=True)
class _JsonRow:
    line: int
    table: str
    values: Mapping[str, object]

    def has(self, name: str) -> bool:
        return name in self.values

    def cell(self, name: str) -> object:
        return self.values.get(name)


def read_csv(file: TextFile, collector: Collector, *, zone: Zone, qsg_of: QsgMap) -> None:
    """Read a CSV file of mq-smf-csv with its heading line.

    Raises:
        NotReadable: No heading line is found.
    """
    _read(lambda told: _csv_rows(file, told), collector, zone=zone, qsg_of=qsg_of)


def read_json(file: TextFile, collector: Collector, *, zone: Zone, qsg_of: QsgMap) -> None:
    """Read a JSON file of mq-smf-csv, in either of its forms."""
    _read(lambda told: _json_rows(file, told), collector, zone=zone, qsg_of=qsg_of)


# ---- rows ---------------------------------------------------------------------------------------------------

_Rows = Callable[[Collector], Iterator[_Row]]


def _csv_rows(file: TextFile, collector: Collector) -> Iterator[_Row]:
    index: dict[str, int] | None = None
    table, delimiter, width = "", ",", 0
    for line, text in file.lines():
        if text is None:
            collector.problem(line, "The line is longer than any line that the formatter writes.")
            continue
        if not text.strip():
            continue
        if index is None:
            delimiter = delimiter_of(text)
        cells = split_cells(text.lstrip("\ufeff"), delimiter)
        if cells is None:
            collector.problem(line, "A quote is not closed.")
            continue
        if cells and not cells[-1].strip():  # every line ends with a comma
            cells.pop()
        heading = _heading(cells)
        if heading:
            index, width = heading, len(cells)
            table = next((name for name, marks in _MARKS.items() if marks <= index.keys()), "")
        elif index is None:
            if line > HEADER_LINES:
                break
        elif len(cells) != width:
            collector.problem(line, f"The line has {len(cells)} values under {width} headings.")
        else:
            yield _CsvRow(line, table, cells, index)
    if index is None:
        msg = (
            "No line with the headings Date, Time, LPAR, QMgr was found. Without headings (-h no, -f SQL), "
            "the columns could only be guessed: run mqsmfcsv again with CSV output and headings."
        )
        raise NotReadable(msg)


def _heading(cells: list[str]) -> dict[str, int] | None:
    if len(cells) < 4 or squeezed(cells[0]) != "date":  # noqa: PLR2004 - Date, Time, LPAR, QMgr
        return None
    index: dict[str, int] = {}
    for at, cell in enumerate(cells):
        index.setdefault(squeezed(cell), at)
    return index if {"date", "time", "lpar", "qmgr"} <= index.keys() else None


def _json_rows(file: TextFile, collector: Collector) -> Iterator[_Row]:
    for line, found in objects(file, on_problem=collector.problem):
        table = str(found.get("structure", "")).strip().upper()
        values = {squeezed(key.removesuffix("#2")): value for key, value in found.items()}
        if "structure#2" not in found:
            values.pop("structure", None)
        yield _JsonRow(line, table if table in _MARKS else "", values)


# ---- records ------------------------------------------------------------------------------------------------


def _read(rows: _Rows, collector: Collector, *, zone: Zone, qsg_of: QsgMap) -> None:
    first = Collector(collector.kind)  # the second pass reports the same problems
    # Two passes are needed, because the shift depends on the latest closing time of all rows.
    shift = _Opening(rows(first))
    reader = _Reader(collector, zone, qsg_of, shift)
    for row in rows(collector):
        if row.table:
            collector.count(row.table)
            reader.take(row)
        else:
            collector.pass_over("records of tables that the history does not store")


class _Opening:
    """The difference between the times at which queues were opened and closed and the header's local times."""

    def __init__(self, rows: Iterator[_Row]) -> None:
        latest: int | None = None
        for row in rows:
            if row.table != "WQ":
                continue
            try:
                written = local_of(row.cell("date"), row.cell("time"))
                times = [
                    local_of(row.cell(f"{what}date"), row.cell(f"{what}time")) for what in ("open", "close")
                ]
            except BadValue:
                continue
            if written is not None:
                apart = [in_microseconds(time - written) for time in times if time is not None]
                latest = max([*apart, latest] if latest is not None else apart, default=None)
        self.quarters: int | None = None
        """The difference of those times from the header's, rounded to quarters of an hour [us]; None if unclear."""
        if latest is not None:
            # A queue is closed before its record is written, so the difference is rounded up to the next possible
            # offset.
            near = -(-(latest - QUARTER_US // 15) // QUARTER_US) * QUARTER_US
            if near - latest <= _SAME_MOMENT_US:
                self.quarters = near


@dataclass(frozen=True, slots=True)
class _Common:
    """The values that all rows of a record share."""

    system_id: str
    queue_manager: str
    qsg: str | None
    local: datetime
    written_at: datetime | None

    def values(self, *, source: str, line: int) -> dict[str, Value]:
        return {
            "source": source,
            "origin": "formatter",
            "file_record": line,
            "piece": 0,
            "system_id": self.system_id,
            "queue_manager": self.queue_manager,
            "qsg": self.qsg,
            "written_at": self.written_at,
            "interval_end": self.written_at,
        }


class _Reader:
    def __init__(self, collector: Collector, zone: Zone, qsg_of: QsgMap, opening: _Opening) -> None:
        self._to = collector
        self._zone = zone
        self._qsg_of = qsg_of
        self._opening = opening
        self._takers = {"QEST": self._qest, "QESD": self._qesd, "QQST": self._qqst, "WQ": self._wq}
        self._task: tuple[Value, ...] = ()
        self._sections: dict[tuple[Value, ...], int] = {}

    def take(self, row: _Row) -> None:
        try:
            self._takers[row.table](row)
        except BadValue as error:
            self._to.problem(row.line, f"{row.table}: {error}.")

    # ---- common fields --------------------------------------------------------------------------------------

    def _common(self, row: _Row, *, is_idle: bool = False) -> _Common | None:
        """Return the record's identity; None if the record is skipped, after counting it."""
        system_id, manager = plain(row.cell("lpar")), plain(row.cell("qmgr"))
        if not SHORT_NAME.fullmatch(system_id) or not SHORT_NAME.fullmatch(manager):
            msg = f"LPAR {shown(system_id)} and QMgr {shown(manager)} are not valid names"
            raise BadValue(msg)
        local = local_of(row.cell("date"), row.cell("time"))
        if local is None:
            msg = "the record has no date or time"
            raise BadValue(msg)
        qsg = self._group(row, system_id, manager)
        if qsg is None and is_idle:
            self._to.pass_over(NO_GROUP_SLOTS)
            return None
        if qsg is None:
            ask_group(self._to, system_id=system_id, queue_manager=manager)
        if qsg == NO_GROUP:
            self._to.pass_over(NOT_IN_GROUP)
            return None
        return _Common(system_id, manager, qsg, local, self._utc(local))

    def _group(self, row: _Row, system_id: str, manager: str) -> str | None:
        """Return the group from the record, or else from the site's map; `NO_GROUP` if it is in none."""
        could_say = False
        for column in ("qsgname", "qsg"):
            text = plain(row.cell(column))
            if text:
                if not QSG_NAME.fullmatch(text):
                    msg = f"{shown(text)} is not the name of a queue-sharing group"
                    raise BadValue(msg)
                return text
            # Dots mean that the record lacks the field; a blank is a value.
            could_say = could_say or (row.has(column) and "." not in str(row.cell(column)))
        # From this release on, a blank name means that the queue manager is in no group.
        if could_say and _release(row) >= _FIRST_WITH_GROUP:
            return NO_GROUP
        return self._qsg_of.get((system_id, manager))

    def _utc(self, local: datetime) -> datetime | None:
        try:
            return self._zone.utc(local)
        except NoZone:
            hint = ""
            if self._opening.quarters is not None:
                ahead = -self._opening.quarters // QUARTER_US
                offset = f"{'-' if ahead < 0 else '+'}{abs(ahead) // 4:02}:{abs(ahead) % 4 * 15:02}"
                hint = f" If mqsmfcsv ran in GMT, the file shows an offset of {offset}."
            message = (
                "In which time zone does z/OS run? mq-smf-csv writes local times without their zone: "
                f"enter a name such as America/New_York, or an offset such as -05:00.{hint}"
            )
            self._to.ask(Ask("zone", message))
            return None

    def _interval(self, row: _Row, common: _Common) -> dict[str, Value]:
        """Return the interval's start and length; none, with a problem, if they do not match the header."""
        printed = local_of(row.cell("intervalstartdate"), row.cell("intervalstarttime"))
        seconds = whole(row.cell("intervalduration"))
        if printed is None or seconds is None or common.written_at is None:
            return {}
        behind = in_microseconds(printed + timedelta(seconds=seconds) - common.local)
        moved = quarters_near(behind)
        if abs(behind - moved) > _SAME_MOMENT_US:
            self._to.problem(
                row.line, "The interval's start and length do not match the record's time: left out."
            )
            return {}
        if moved:
            self._to.note(
                "Starts of intervals were shifted by the zone of the machine that ran mqsmfcsv "
                f"({moved // 60_000_000:+} minutes); they were shifted back."
            )
        start = common.written_at - (common.local - (printed - timedelta(microseconds=moved)))
        if start > common.written_at:
            start = common.written_at
        return {"interval_start": start, "interval_us": in_microseconds(common.written_at - start)}

    def _structure(self, text: str, common: _Common) -> dict[str, Value]:
        if not STRUCTURE_NAME.fullmatch(text):
            msg = f"{shown(text)} is not a structure name"
            raise BadValue(msg)
        return {
            "structure": text,
            "xcf_structure": cfrm_structure_name(qsg_name=common.qsg, cfstruct_name=text)
            if common.qsg
            else None,
        }

    def _structure_of_queue(self, text: str, common: _Common) -> dict[str, Value]:
        return self._structure(text, common) if text else {}

    # ---- tables ---------------------------------------------------------------------------------------------

    def _qest(self, row: _Row) -> None:
        counts = _counts(row, _QEST_COUNTS)
        times = _times(row, {"ixllste_us": "ixllstecallstime", "ixllstm_us": "ixllstmcallstime"})
        maxima = _counts(row, {"entries_in_use": "maxinuseentries", "elements_in_use": "maxinuseelements"})
        common = self._common(row, is_idle=not any((counts | times | maxima).values()))
        if common is None:
            return
        seen: dict[str, Value] = {name: value or None for name, value in maxima.items()}
        note = NOT_OBSERVED if 0 in maxima.values() else None
        if note:
            self._to.note(
                "QEST: a queue manager writes a maximum of 0 if it did not observe one; it is treated as not observed."
            )
        self._to.add(
            STRUCTURE_USAGE,
            common.values(source="115-2 QEST", line=row.line)
            | self._structure(plain(row.cell("structurename")), common)
            | self._interval(row, common)
            | counts
            | times
            | seen
            | {"in_use_kind": "interval_maximum", "note": note},
        )

    def _qesd(self, row: _Row) -> None:
        common = self._common(row)
        if common is None:
            return
        self._to.note(
            "QESD: Buffer_Wait_Time and Encrypted are left out: mq-smf-csv takes them from the wrong bytes."
        )
        self._to.add(
            SMDS_USAGE,
            common.values(source="115-2 QESD", line=row.line)
            | self._structure(plain(row.cell("structure")), common)
            | self._interval(row, common)
            | _counts(row, _QESD_COUNTS)
            | _times(row, _QESD_TIMES),
        )

    def _qqst(self, row: _Row) -> None:
        structure = plain(row.cell("structure"))
        if plain(row.cell("queuedisp")).upper() != "SHARED" and not structure:
            self._to.pass_over(PRIVATE_QUEUES)
            return
        if plain(row.cell("record")).upper() == "PARTIAL":
            self._to.pass_over(PARTIAL)
            return
        common = self._common(row)
        if common is None:
            return
        self._to.add(
            QUEUE_USAGE,
            common.values(source="115-216 QQST", line=row.line)
            | self._structure_of_queue(structure, common)
            | self._interval(row, common)
            | _without_sizes_of_none(_counts(row, _QQST_COUNTS) | _sums(row, _QQST_SUMS))
            | {"queue": _queue(row.cell("queue")), "disposition": "SHARED"},
        )

    def _wq(self, row: _Row) -> None:
        disposition = _SCOPES.get(plain(row.cell("scope")).lower())
        structure = plain(row.cell("cfstructure"))
        if disposition != "SHARED" and not structure:
            self._to.pass_over(PRIVATE_QUEUES)
            return
        common = self._common(row)
        if common is None:
            return
        sizes = _without_sizes_of_none(
            _counts(row, _WQ_COUNTS)
            | _sums(row, _WQ_SUMS)
            | {
                "put_size_min_bytes": _smallest(row.cell("putminmsgsize")),
                "get_size_min_bytes": _smallest(row.cell("getminmsgsize")),
            }
        )
        values = (
            common.values(source="116 WQ", line=row.line)
            | self._structure_of_queue(structure, common)
            | sizes
            | _times(row, {"time_on_queue_max_us": "maxtimeonqueue", "time_on_queue_us": "totaltimeonqueue"})
            | {
                "queue": _queue(row.cell("basename")),
                "open_queue": _queue(row.cell("openname")),
                "disposition": disposition,
                "correlation": plain(row.cell("correlation")) or None,
                "opened_at": self._opened(row, common),
            }
        )
        # mq-smf-csv prints the sections of a record in a row, without its number: a new task starts a new count.
        task = (common.system_id, common.queue_manager, common.local, values["correlation"])
        if task != self._task:
            self._task = task
            self._sections = {}
        section = (values["queue"], values["open_queue"], values["opened_at"])
        values["piece"] = self._sections.get(section, 0)
        self._sections[section] = self._sections.get(section, 0) + 1
        self._to.add(QUEUE_USAGE, values)

    def _opened(self, row: _Row, common: _Common) -> datetime | None:
        printed = local_of(row.cell("opendate"), row.cell("opentime"))
        if printed is None or common.written_at is None:
            return None
        if self._opening.quarters is None:
            self._to.note(
                "WQ: no queue was closed within a minute before its record was written, so the zone of the machine that "
                "ran mqsmfcsv is unknown: the times at which queues were opened are left out."
            )
            return None
        moved = timedelta(microseconds=self._opening.quarters)
        offset = common.local.replace(tzinfo=UTC) - common.written_at
        self._to.note(
            "WQ: times at which queues were opened are UTC shifted by "
            f"{(moved + offset) // timedelta(minutes=1):+} minutes, the zone of the machine that ran mqsmfcsv, as the "
            "closing times next to the headers show; they were shifted back."
        )
        return common.written_at - (common.local - (printed - moved))


def _release(row: _Row) -> int:
    text = plain(row.cell("mqversion"))
    if not text.isascii() or not text.isdigit():
        return 0
    # MQ 10 writes six digits, such as 100000.
    return _FIRST_WITH_GROUP if len(text) > len("946") else int(text)


def _queue(cell: object) -> str:
    name = plain(cell)
    if not name or len(name) > 48 or not name.isascii() or not name.isprintable():  # noqa: PLR2004 - MQ's longest name
        msg = f"{shown(name)} is not a queue name"
        raise BadValue(msg)
    return name


def _smallest(cell: object) -> int | None:
    size = whole(cell)
    return None if size == _NO_SMALLEST else size


def _counts(row: _Row, columns: Mapping[str, str]) -> dict[str, Value]:
    return {name: whole(row.cell(column)) for name, column in columns.items()}


def _times(row: _Row, columns: Mapping[str, str]) -> dict[str, Value]:
    return {
        name: microseconds(row.cell(f"{column}s"), row.cell(f"{column}us"))
        for name, column in columns.items()
    }


def _sums(row: _Row, columns: Mapping[str, tuple[str, str]]) -> dict[str, Value]:
    made: dict[str, Value] = {}
    for name, parts in columns.items():
        values = [whole(row.cell(part)) for part in parts]
        known = [value for value in values if value is not None]
        made[name] = sum(known) if len(known) == len(values) else None
    return made


def _without_sizes_of_none(values: dict[str, Value]) -> dict[str, Value]:
    """Return the values with null, not 0 bytes, for the largest and smallest message if there was no message."""
    for count, sizes in (("puts", "put_size"), ("gets", "get_size")):
        if values.get(count) == 0:
            values |= {name: None for name in values if name.startswith(sizes)}
    return values
