"""Event messages as queue managers write them: PCF, with or without the MQMD before it.

A message is an MQCFH of type MQCFT_EVENT and its parameters, in any order; other parameters are skipped by their
length. Integers are big-endian on z/OS and little-endian if the message was converted or put on such a platform: the
header shows the byte order. Sources: IBM MQ, "Event message MQMD", "Event message MQCFH", "Structures
for commands and responses" (MQCFIN, MQCFIN64, MQCFST), "MQMD - Message descriptor"; the numbers of constants from IBM's
mq-golang. A file may contain many messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from planner_core.depth_events.readers.code_pages import decode_name
from planner_core.depth_events.readers.message import PERFORMANCE_EVENT, TITLES, EventFile, EventFormat

FORMAT: Final = "pcf"
FORMAT_WITH_MQMD: Final = "pcf_with_mqmd"
ByteOrder = Literal["big", "little"]

WORD: Final = 4
HEADER_LENGTH: Final = 36
EVENT_TYPE: Final = 7
_INTEGER, _STRING, _INTEGER64 = 3, 4, 23
_INTEGER_LENGTH, _INTEGER64_LENGTH, _STRING_FIXED = 16, 24, 20
_LEAST_PARAMETER: Final = 8
_MOST_PARAMETERS: Final = 2_000
_MOST_SCRAPS: Final = 1_000
NAMES: Final = {2015: "queue_manager", 2002: "queue", 2016: "queue"}
"""The parameters with names: MQCA_Q_MGR_NAME, MQCA_BASE_OBJECT_NAME (also MQCA_BASE_Q_NAME), MQCA_Q_NAME."""
NUMBERS: Final = {35: "time_since_reset_s", 36: "high_q_depth", 37: "msg_enq_count", 38: "msg_deq_count"}
"""The parameters with numbers: MQIA_TIME_SINCE_RESET, MQIA_HIGH_Q_DEPTH, MQIA_MSG_ENQ_COUNT, MQIA_MSG_DEQ_COUNT."""

MQMD_LENGTHS: Final = {1: 324, 2: 364}
_EYECATCHERS: Final = {b"MD  ": "ascii", b"\xd4\xc4\x40\x40": "cp500"}
_CCSID_AT, _FORMAT_AT, _CORREL_AT, _DATE_AT = 28, 32, 72, 304
_ID_LENGTH, _DATE_LENGTH = 24, 16
_DATE = re.compile(r"\d{16}")
# Reading continues here after other bytes: an event header or an MQMD, in either byte order.
_NEXT = re.compile(
    rb"\x00\x00\x00\x07\x00\x00\x00\x24|\x07\x00\x00\x00\x24\x00\x00\x00"
    rb"|(?:MD  |\xd4\xc4\x40\x40)(?:\x00\x00\x00[\x01\x02]|[\x01\x02]\x00\x00\x00)"
)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """The fields of a message descriptor that readers use."""

    ccsid: int = 0
    correl_id: str | None = None
    created: datetime | None = None


def looks_like(data: bytes) -> bool:
    """Return whether bytes contain an event message."""
    return bool(_NEXT.search(data))


def read(data: bytes, found: EventFile, *, name_of_place: str = "offset") -> None:
    """Read all messages in a sequence of bytes."""
    position, scraps = 0, 0
    while position < len(data):
        following = _NEXT.search(data, position)
        start = following.start() if following else len(data)
        if data[position:start].strip(b"\0\r\n "):
            scraps += 1
            if scraps <= _MOST_SCRAPS:
                found.problem(
                    _place(name_of_place, position),
                    f"{start - position} bytes are not part of an event message.",
                )
        if not following:
            return
        position = _message_with_mqmd(data, start, found, name_of_place)


def _place(name: str, offset: int) -> str:
    return f"{name} {offset} (X'{offset:X}')"


def _message_with_mqmd(data: bytes, start: int, found: EventFile, name_of_place: str) -> int:
    """Read the message at this position and return the position after it."""
    charset = _EYECATCHERS.get(data[start : start + WORD])
    if charset is None:
        return read_message(data, start, found, Descriptor(), FORMAT, place=_place(name_of_place, start))
    # The version is 1 or 2, so its first byte is 0 in big-endian order only.
    order: ByteOrder = "big" if data[start + WORD] == 0 else "little"
    length = MQMD_LENGTHS[int.from_bytes(data[start + WORD : start + 2 * WORD], order)]
    if len(data) < start + length:
        found.problem(
            _place(name_of_place, start),
            f"The MQMD is truncated: only {len(data) - start} of {length} bytes are present.",
        )
        return len(data)
    descriptor = _descriptor(data[start : start + length], order, charset)
    at = start + length
    if _order_of(data, at) is None:
        name = (
            data[start + _FORMAT_AT : start + _FORMAT_AT + 2 * WORD]
            .decode(charset, errors="replace")
            .strip(" \0")
        )
        found.problem(
            _place(name_of_place, at), f"No event message follows the MQMD, whose Format is {name!a}."
        )
        return at
    return read_message(data, at, found, descriptor, FORMAT_WITH_MQMD, place=_place(name_of_place, start))


def _descriptor(data: bytes, order: ByteOrder, charset: str) -> Descriptor:
    ccsid = int.from_bytes(data[_CCSID_AT : _CCSID_AT + WORD], order, signed=True)
    correl_id = data[_CORREL_AT : _CORREL_AT + _ID_LENGTH].hex().upper()
    date = data[_DATE_AT : _DATE_AT + _DATE_LENGTH].decode(charset, errors="replace")
    return Descriptor(ccsid, correl_id, put_time(date[:8], date[8:]))


def put_time(date: str, time: str) -> datetime | None:
    """Return the time from PutDate (YYYYMMDD) and PutTime (HHMMSSTH) in GMT; None if they are not a time."""
    digits = date.strip() + time.strip()
    if not _DATE.fullmatch(digits) or not digits.isascii():
        return None
    try:
        return datetime(
            int(digits[:4]), int(digits[4:6]), int(digits[6:8]), int(digits[8:10]), int(digits[10:12]),
            int(digits[12:14]), int(digits[14:]) * 10_000, tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        return None


def _order_of(data: bytes, at: int) -> ByteOrder | None:
    """Return the byte order of the event header at this position; None if there is no header."""
    orders: tuple[ByteOrder, ...] = ("big", "little")
    for order in orders:
        header = EVENT_TYPE.to_bytes(WORD, order) + HEADER_LENGTH.to_bytes(WORD, order)
        if data[at : at + 2 * WORD] == header:
            return order
    return None


def read_message(
    data: bytes, start: int, found: EventFile, descriptor: Descriptor, format_name: EventFormat, *, place: str
) -> int:
    """Read one message that begins with its MQCFH.

    Returns:
        The position after it, or after its header if the message is damaged.
    """
    order = _order_of(data, start)
    if order is None:
        found.problem(place, "There is no event header (MQCFH of type MQCFT_EVENT).")
        return start + WORD
    if len(data) < start + HEADER_LENGTH:
        found.problem(
            place,
            f"The event header is truncated: only {len(data) - start} of {HEADER_LENGTH} bytes are present.",
        )
        return len(data)

    def word(at: int) -> int:
        return int.from_bytes(data[at : at + WORD], order, signed=True)

    command, reason, parameters = word(start + 12), word(start + 28), word(start + 32)
    # A damaged header can announce billions of parameters.
    if not 0 <= parameters <= _MOST_PARAMETERS:
        found.problem(place, f"The header has an impossible number of parameters: {parameters}.")
        return start + HEADER_LENGTH
    values: dict[str, object] = {}
    position = start + HEADER_LENGTH
    for number in range(1, parameters + 1):
        # Otherwise the next message would be read as a parameter of this one.
        if _order_of(data, position) is not None or data[position : position + WORD] in _EYECATCHERS:
            found.problem(
                place,
                f"The header specifies {parameters} parameters, but the next message begins after {number - 1}: the message is omitted.",
            )
            return position
        length = word(position + WORD) if position + _LEAST_PARAMETER <= len(data) else 0
        if length < _LEAST_PARAMETER or position + length > len(data):
            is_cut = position + max(length, _LEAST_PARAMETER) > len(data)
            what = "is cut off" if is_cut else f"has an impossible length of {length} bytes"
            found.problem(
                place, f"Parameter {number} of {parameters} of the message {what}: the message is omitted."
            )
            return len(data) if is_cut else start + HEADER_LENGTH
        _parameter(data[position : position + length], order, descriptor, values, found)
        position += length
    if command != PERFORMANCE_EVENT or reason not in TITLES:
        found.other_events += 1
        return position
    values["correl_id"] = descriptor.correl_id
    found.add(place, format_name, reason=reason, values=values, created=descriptor.created)
    return position


def _parameter(
    data: bytes, order: ByteOrder, descriptor: Descriptor, values: dict[str, object], found: EventFile
) -> None:
    """Store one parameter if performance events have it."""

    def word(at: int) -> int:
        return int.from_bytes(data[at : at + WORD], order, signed=True)

    kind, parameter = word(0), word(8)
    if kind == _INTEGER and len(data) >= _INTEGER_LENGTH and parameter in NUMBERS:
        values.setdefault(NUMBERS[parameter], word(12))
    elif kind == _INTEGER64 and len(data) >= _INTEGER64_LENGTH and parameter in NUMBERS:
        values.setdefault(NUMBERS[parameter], int.from_bytes(data[16:24], order, signed=True))
    elif kind == _STRING and len(data) >= _STRING_FIXED and parameter in NAMES:
        ccsid, length = word(12), word(16)
        text = data[_STRING_FIXED : _STRING_FIXED + max(length, 0)]
        # A CodedCharSetId of 0 is MQCCSI_DEFAULT: that of the message.
        decoded = decode_name(text, ccsid=ccsid if ccsid > 0 else descriptor.ccsid)
        if decoded.note:
            found.note(decoded.note)
        values.setdefault(NAMES[parameter], decoded.text)
