"""Messages of a cluster transmission queue, read from a browse: a dump of amqsbcg or a similar program, CSV, or JSON.

On that queue CorrelId is the name of the channel that a message waits for, an accounting token of zeros means that the
message may not be re-allocated, and the data begins with the transmission queue header (MQXQH), which names the queue,
the chosen queue manager and, in the application's own descriptor, the time of the put.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from planner_core.clusters.displays import DisplayProblem
from planner_core.clusters.model import Bind
from planner_core.names import QUEUE_PATTERN

MOST_MESSAGES: Final = 100_000
Format = Literal["dump", "csv", "json", "nothing"]

_FIELD = re.compile(
    r"(?P<key>[A-Za-z]{5,16})\s*:\s*(?:X'(?P<hex>[0-9A-Fa-f\s]*)'|'(?P<text>[^'\n]*)'|(?P<plain>-?\d+))"
)
_BEGINS = re.compile(r"StrucId\s*:\s*'MD")
_NUMBER = re.compile(r"\bmessage number\s+(?P<number>\d{1,9})", re.IGNORECASE)
_HEX_LINE = re.compile(
    r"^\s*(?P<offset>[0-9A-Fa-f]{8})\s*:\s*(?P<bytes>(?:[0-9A-Fa-f]{2,8}[ \t]+){1,16})", re.MULTILINE
)
# Dumps are sent in emails and documents, whose programs replace straight quotes.
_QUOTES: Final = {ord("\N{LEFT SINGLE QUOTATION MARK}"): "'", ord("\N{RIGHT SINGLE QUOTATION MARK}"): "'"}
_HEX = re.compile(r"(?:[Xx]')?(?P<hex>[0-9A-Fa-f]*)'?")
_NAME = re.compile(QUEUE_PATTERN)
_XQH_ASCII, _XQH_EBCDIC = b"XQH ", "XQH ".encode("cp500")
_HEADER_BYTES: Final = 428
"""Length of the transmission queue header with its descriptor."""
_AT_QUEUE, _AT_MANAGER, _AT_DESCRIPTOR, _NAME_BYTES = 8, 56, 104, 48
_AT_PUT_DATE, _PUT_BYTES = 304, 16
_CHANNEL_BYTES: Final = 20
_SHOWN: Final = 40
_MOST_PROBLEMS: Final = 200
_KEYS: Final = {
    "message_id": ("messageid", "msgid"),
    "channel": ("channel", "chl"),
    "correlation_id": ("correlationid", "correlid"),
    "queue": ("queue", "remoteq", "remoteqname", "queuename", "qname"),
    "queue_manager": ("queuemanager", "remoteqmgr", "remoteqmgrname", "qmgr", "qmname"),
    "put_at": ("putat", "putdatetime", "puttimestamp"),
    "put_date": ("putdate",),
    "put_time": ("puttime",),
    "original_put_at": ("originalputat",),
    "accounting_token": ("accountingtoken", "acctoken", "token"),
    "bind": ("bind", "bindoption", "defbind"),
    "logical_order": ("logicalorder",),
    "names_queue_manager": ("namesqueuemanager",),
}
_KEY_OF: Final = {alias: key for key, aliases in _KEYS.items() for alias in aliases}
_YES: Final = {
    "yes": True,
    "y": True,
    "true": True,
    "1": True,
    "no": False,
    "n": False,
    "false": False,
    "0": False,
    "": None,
}
BindOption = Bind | Literal["AS_Q_DEF"]
"""The bind option of an application; `AS_Q_DEF`: as defined by DEFBIND of the queue."""
_BINDS: Final[tuple[tuple[str, BindOption], ...]] = (
    ("NOTFIXED", "NOTFIXED"),
    ("GROUP", "GROUP"),
    ("OPEN", "OPEN"),
    ("ASQDEF", "AS_Q_DEF"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingMessage:
    """A message that waits on the cluster transmission queue; values that the browse does not show are None."""

    number: int
    """Position in the browse, from 1."""
    line: int
    message_id: str = ""
    channel: str = ""
    queue: str = ""
    queue_manager: str = ""
    put_at: datetime | None = None
    """Put time on the transmission queue; each re-allocation renews it."""
    original_put_at: datetime | None = None
    """Put time in the application's descriptor, inside the header."""
    token_is_zero: bool | None = None
    bind: BindOption | None = None
    logical_order: bool | None = None
    names_queue_manager: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Browse:
    """The messages of a browse, and the parts that could not be read."""

    messages: tuple[WaitingMessage, ...]
    problems: tuple[DisplayProblem, ...]
    format: Format


def read_messages(text: str, *, name: str = "messages") -> Browse:
    """Read the messages of a browse in any supported format. Never raises."""
    return _Reading(name).read(text)


def read_rows(rows: object, *, name: str = "messages") -> Browse:
    """Read messages from a parsed JSON value."""
    reading = _Reading(name)
    return reading.made(tuple(reading.objects(rows, line=1)), "json")


class _Reading:
    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[DisplayProblem] = []

    def read(self, text: str) -> Browse:
        plain = text.lstrip("\ufeff").translate(_QUOTES).replace("\r\n", "\n").replace("\r", "\n")
        # Dumps first: they may also have lines that look like JSON or CSV.
        if _BEGINS.search(plain):
            return self.made(tuple(self._dump(plain)), "dump")
        if plain.lstrip()[:1] in ("{", "["):
            return self.made(tuple(self._json(plain)), "json")
        if not plain.strip():
            return self.made((), "nothing")
        return self.made(tuple(self._csv(plain)), "csv")

    def made(self, messages: tuple[WaitingMessage, ...], kind: Format) -> Browse:
        return Browse(messages=messages, problems=tuple(self.problems), format=kind)

    def _problem(self, line: int, message: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(DisplayProblem(text=self.name, line=line, message=message))

    def _is_over(self, number: int, line: int) -> bool:
        if number <= MOST_MESSAGES:
            return False
        self._problem(line, f"Only the first {MOST_MESSAGES} messages are read.")
        return True

    # Dumps. Programs for z/OS and many others print in the format of amqsbcg.

    def _dump(self, text: str) -> Iterator[WaitingMessage]:
        starts = [match.start() for match in _BEGINS.finditer(text)]
        line, counted = 1, 0
        for place, start in enumerate(starts):
            line += text.count("\n", counted, start)
            counted = start
            if self._is_over(place + 1, line):
                return
            end = starts[place + 1] if place + 1 < len(starts) else len(text)
            before = text[max(0, start - 200) : start]  # amqsbcg prints the number above the descriptor
            numbers = _NUMBER.findall(before)
            yield self._dumped(text[start:end], int(numbers[-1]) if numbers else place + 1, line)

    def _dumped(self, text: str, number: int, line: int) -> WaitingMessage:
        fields: dict[str, str] = {}
        for match in _FIELD.finditer(text):
            value = next(each for each in match.group("hex", "text", "plain") if each is not None)
            fields.setdefault(
                match["key"].lower(), re.sub(r"\s", "", value) if match["hex"] is not None else value
            )
        header = _header(_bytes(text))
        token = fields.get("accountingtoken")
        put = fields.get("putdate"), fields.get("puttime")
        if token is None:
            self._problem(
                line,
                f"Message {number} has no AccountingToken: whether it may be re-allocated is not known.",
            )
        put_at = self._moment(put[0], put[1], line) if put[0] and put[1] else None
        return WaitingMessage(
            number=number,
            line=line,
            message_id=fields.get("msgid", "").upper(),
            channel=channel_of(fields.get("correlid", "")),
            queue=header.queue,
            queue_manager=header.queue_manager,
            put_at=put_at,
            original_put_at=header.put_at,
            token_is_zero=None if token is None else not token.strip("0"),
        )

    # Rows: CSV, JSON, or one JSON object per line.

    def _csv(self, text: str) -> Iterator[WaitingMessage]:
        first = next(line for line in text.split("\n") if line.strip())
        # No heading contains a delimiter inside of a name, so the first one found is the one in use.
        delimiter = next((mark for mark in "\t;," if mark in first), ",")
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
        columns: list[str | None] | None = None
        number = 0
        try:
            for cells in rows:
                if not any(cell.strip() for cell in cells):
                    continue
                if columns is None:
                    columns = self._columns(cells, rows.line_num)
                    if columns is None:
                        return
                    continue
                number += 1
                if self._is_over(number, rows.line_num):
                    return
                row = {
                    key: cell.strip()
                    for key, cell in zip(columns, cells, strict=False)
                    if key and cell.strip()
                }
                yield self._message(row, number, rows.line_num)
        except csv.Error as error:
            self._problem(rows.line_num, f"No rows after this line were read: {error}.")

    def _columns(self, cells: list[str], line: int) -> list[str | None] | None:
        columns = [_KEY_OF.get(_plain(cell)) for cell in cells]
        if not any(key in ("channel", "correlation_id", "queue_manager") for key in columns):
            self._problem(
                line,
                "This is neither a dump of messages (StrucId : 'MD') nor JSON, and its first line has no column "
                "channel, correlation_id or queue_manager.",
            )
            return None
        unknown = [
            cell.strip() for cell, key in zip(cells, columns, strict=True) if key is None and cell.strip()
        ]
        if unknown:
            shown = ", ".join(unknown)[: 4 * _SHOWN]
            self._problem(line, f"Unknown columns are ignored: {shown}.")
        return columns

    def _json(self, text: str) -> Iterator[WaitingMessage]:
        try:
            parsed = json.loads(text)
        except RecursionError:
            self._problem(1, "The JSON is nested too deeply.")
            return
        except ValueError as error:
            rows = list(self._json_lines(text))
            if not rows:
                line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
                self._problem(line, "This is not JSON, and its lines are not JSON objects.")
            for number, (line, row) in enumerate(rows, start=1):
                if self._is_over(number, line):
                    return
                yield self._message(row, number, line)
            return
        yield from self.objects(parsed, line=1)

    def _json_lines(self, text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
        for line, each in enumerate(text.split("\n"), start=1):
            if not each.strip():
                continue
            try:
                row = json.loads(each)
            except (ValueError, RecursionError):
                self._problem(line, "The line is not a JSON object.")
                continue
            if isinstance(row, dict):
                yield line, row
            else:
                self._problem(line, "The line is not a JSON object.")

    def objects(self, parsed: object, *, line: int) -> Iterator[WaitingMessage]:
        """Yield the messages of a list of objects, or of an object with that list under `messages`."""
        if isinstance(parsed, dict) and "messages" in parsed:
            parsed = parsed["messages"]
        rows = [parsed] if isinstance(parsed, dict) else parsed
        if not isinstance(rows, list):
            self._problem(
                line, "Messages must be a list of objects, or an object with that list under 'messages'."
            )
            return
        for number, row in enumerate(rows, start=1):
            if self._is_over(number, line):
                return
            if isinstance(row, dict):
                yield self._message(row, number, line)
            else:
                self._problem(line, f"Message {number} is not an object.")

    def _message(self, row: Mapping[str, object], number: int, line: int) -> WaitingMessage:
        given: dict[str, str] = {}
        for key, value in row.items():
            known = _KEY_OF.get(_plain(str(key)))
            if known is None:
                self._problem(line, f"Message {number}: the unknown key {str(key)[:_SHOWN]!r} is ignored.")
            elif value is not None:
                given[known] = str(value).strip()
        token = given.get("accounting_token", "")
        digits = _HEX.fullmatch(token)
        if token and not digits:
            self._problem(
                line, f"Message {number}: accounting_token {token[:_SHOWN]!r} is not hexadecimal: ignored."
            )
        put_at = self._iso(given["put_at"], line) if "put_at" in given else None
        if put_at is None and "put_date" in given and "put_time" in given:
            put_at = self._moment(given["put_date"], given["put_time"], line)
        return WaitingMessage(
            number=number,
            line=line,
            message_id=given.get("message_id", "")[:64],
            channel=given.get("channel", "") or channel_of(given.get("correlation_id", "")),
            queue=given.get("queue", ""),
            queue_manager=given.get("queue_manager", ""),
            put_at=put_at,
            original_put_at=self._iso(given["original_put_at"], line) if "original_put_at" in given else None,
            token_is_zero=not digits["hex"].strip("0") if token and digits else None,
            bind=self._bind(given.get("bind", ""), number, line),
            logical_order=self._yes_no(given, "logical_order", number, line),
            names_queue_manager=self._yes_no(given, "names_queue_manager", number, line),
        )

    def _bind(self, text: str, number: int, line: int) -> BindOption | None:
        word = re.sub(r"[^A-Z]", "", text.upper())
        if not word:
            return None
        for ending, bind in _BINDS:
            if word.endswith(ending):
                return bind
        self._problem(
            line,
            f"Message {number}: bind {text[:_SHOWN]!r} is not OPEN, NOTFIXED, GROUP or AS_Q_DEF: ignored.",
        )
        return None

    def _yes_no(self, given: Mapping[str, str], key: str, number: int, line: int) -> bool | None:
        text = given.get(key, "").lower()
        if text not in _YES:
            self._problem(line, f"Message {number}: {key} is neither yes nor no: ignored.")
            return None
        return _YES[text]

    def _moment(self, day: str, clock: str, line: int) -> datetime | None:
        made = moment(day, clock)
        if made is None:
            self._problem(line, f"{day[:_SHOWN]!r} {clock[:_SHOWN]!r} is not a put time: ignored.")
        return made

    def _iso(self, text: str, line: int) -> datetime | None:
        made = instant(text)
        if made is None:
            self._problem(line, f"{text[:_SHOWN]!r} is not a time such as 2026-11-21T12:03:20Z: ignored.")
        return made


@dataclass(frozen=True, slots=True)
class _Header:
    queue: str = ""
    queue_manager: str = ""
    put_at: datetime | None = None


def _header(data: bytes) -> _Header:
    """Read the transmission queue header; its members are empty if the data does not begin with one, or is too short."""
    codec = {_XQH_ASCII: "latin-1", _XQH_EBCDIC: "cp500"}.get(data[:4])
    if codec is None or len(data) < _AT_DESCRIPTOR:
        return _Header()

    def text(at: int, length: int) -> str:
        return data[at : at + length].decode(codec).rstrip(" \x00")

    queue, manager = text(_AT_QUEUE, _NAME_BYTES), text(_AT_MANAGER, _NAME_BYTES)
    put_at = None
    if len(data) >= _HEADER_BYTES:
        put = text(_AT_DESCRIPTOR + _AT_PUT_DATE, _PUT_BYTES)
        put_at = moment(put[:8], put[8:])
    return _Header(
        queue if _NAME.fullmatch(queue) else "", manager if _NAME.fullmatch(manager) else "", put_at
    )


def _bytes(text: str) -> bytes:
    """Return the beginning of a message's data, from the consecutive lines of a dump."""
    data = bytearray()
    for match in _HEX_LINE.finditer(text):
        if int(match["offset"], 16) != len(data):
            continue  # a line of another part of the dump
        digits = re.sub(r"\s", "", match["bytes"])
        if len(digits) % 2:
            break
        data += bytes.fromhex(digits)
        if len(data) >= _HEADER_BYTES:
            break
    return bytes(data)


def channel_of(correlation_id: str) -> str:
    """Return the channel in a correlation identifier: text, or hexadecimal bytes in ASCII or EBCDIC."""
    text = correlation_id.strip()
    match = _HEX.fullmatch(text)
    if match and len(match["hex"]) >= 2 * _CHANNEL_BYTES and len(match["hex"]) % 2 == 0:
        data = bytes.fromhex(match["hex"])[:_CHANNEL_BYTES]
        # Letters of EBCDIC are no ASCII characters, so at most one of the two gives a name.
        for codec in ("ascii", "cp500"):
            try:
                name = data.decode(codec).rstrip(" \x00")
            except UnicodeDecodeError:
                continue
            if _NAME.fullmatch(name):
                return name
        return ""
    return text if _NAME.fullmatch(text) and len(text) <= _CHANNEL_BYTES else ""


def moment(day: str, clock: str) -> datetime | None:
    """Return the time of PutDate (YYYYMMDD) and PutTime (HHMMSSTH), which are in UTC; None if they are invalid."""
    days, digits = re.sub(r"[-/.]", "", day.strip()), re.sub(r"[:.]", "", clock.strip())
    if not re.fullmatch(r"[0-9]{8}", days) or not re.fullmatch(r"[0-9]{6}(?:[0-9]{2})?", digits):
        return None
    try:
        return datetime(
            int(days[:4]),
            int(days[4:6]),
            int(days[6:]),
            int(digits[:2]),
            int(digits[2:4]),
            int(digits[4:6]),
            int(digits[6:] or 0) * 10_000,
            tzinfo=UTC,
        )
    except ValueError:
        return None


def instant(text: str) -> datetime | None:
    """Read an ISO time; without a zone it is in UTC, as put times are. Return None if it is invalid."""
    try:
        made = datetime.fromisoformat(text.strip())
        return made.astimezone(UTC) if made.tzinfo else made.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _plain(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())
