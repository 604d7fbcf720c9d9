"""The project's own encoder: rows -> records -> segments -> a dump. For tests, benchmarks and simulated data.

Rows have the columns of the decoder. Missing values are encoded as zeros or blanks.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Any

from spark_jobs.smf.careful import BDW, FIRST, LAST, MIDDLE, RDW, RDW_WORD, SHORTEST_SEGMENT, WHOLE
from spark_jobs.smf.layouts import FieldLayout, Layout, layout
from spark_jobs.smf.mq import (
    CLOCK_DURATIONS,
    QWHC_BYTES,
    QWHS_BYTES,
    QWHS_SHORT_BYTES,
    QWHX_BYTES,
    QWHX_FLAG,
    TRIPLETS_AT,
)
from spark_jobs.smf.rmf import PRODUCT_BYTES
from spark_jobs.smf.wire import STCK_SHIFT, UNIX_EPOCH_STCK_US

Row = Mapping[str, Any]
Segment = tuple[int, bytes]
"""Segment code, and the bytes after the descriptor word."""

CODE_PAGE = "cp037"
PLAIN_FLAG, SUBTYPES_FLAG = 0x1E, 0x5E
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_KNOWN_RELEASE = "100000"
LONGEST_RECORD = 32_756
SMALLEST_LEFT = 64
"""The minimum number of bytes left for another segment; a block with less space is closed."""

_TRIPLET = Struct(">IHH")
_U8, _U4, _U2 = Struct(">Q"), Struct(">I"), Struct(">H")


@dataclass(frozen=True)
class Header:
    """The writer and time of a record, and its interval."""

    written_at: datetime
    """The time of writing, in UTC, to the hundredth of a second."""
    system_id: str = "SYS1"
    queue_manager: str = "MQ01"
    release: str = "930"
    """The release in the form used in the record: 800, 910, 946 ...; from 946 on, a record can contain the group."""
    qsg: str | None = None
    """The group; None if the record has no group field; empty if the queue manager is in no group."""
    utc_offset_minutes: int = 0
    interval_end: datetime | None = None
    """The end of the interval; None if it is the same as written_at."""
    interval_us: int = 1_800_000_000

    @property
    def end_us(self) -> int:
        """Return the end of the interval, in microseconds since 1970."""
        return unix_us(self.interval_end or self.written_at)


@dataclass(frozen=True)
class Framing:
    """The format in which records are written to a file."""

    kind: str = "rdw"
    """The framing: rdw, bdw, gzip+rdw, gzip+bdw."""
    block_bytes: int | None = 27_998
    """Records are spanned over blocks of this size, as in a data set of RECFM=VBS, even if the file omits the block
    descriptor words; None if no record is spanned (rdw only)."""
    segment_bytes: Sequence[int] = field(default_factory=tuple)
    """The maximum lengths of successive segments, repeated, regardless of the space left in the block."""


def unix_us(instant: datetime) -> int:
    """Return microseconds since 1970."""
    return (instant - EPOCH) // timedelta(microseconds=1)


def stck(us: int) -> int:
    """Return the hardware clock's value for microseconds since 1970."""
    return us + UNIX_EPOCH_STCK_US << STCK_SHIFT


def packed_date(day: datetime) -> bytes:
    """Return a date as 0cyydddF."""
    digits = f"0{(day.year - 1900) // 100}{day.year % 100:02}{day.timetuple().tm_yday:03}F"
    return bytes.fromhex(digits)


def hexadecimal_float(value: float) -> bytes:
    """Return a long hexadecimal floating-point number."""
    if value == 0:
        return bytes(8)
    fraction, exponent = math.frexp(abs(value))
    # The base of the exponent is 16, so it is rounded up to a multiple of four bits.
    power = -(-exponent // 4)
    digits = int(math.ldexp(fraction, exponent - 4 * power + 56))
    return _U8.pack((0x80 if value < 0 else 0) << 56 | (64 + power) << 56 | digits)


# ---- rows --------------------------------------------------------------------------------------------------------


def pack_row(section: Layout, row: Row, *, length: int) -> bytearray:
    """Return one section of a row; fields beyond the length are left out."""
    packed = bytearray(length)
    for place in section.all_fields:
        if place.end <= length:
            _pack_field(packed, place, row.get(place.column))
    return packed


def pack_section(section: Layout, row: Row, *, length: int | None = None) -> bytes:
    """Return one section of a row with its identifier, length and name."""
    length = length or section.row_bytes
    packed = pack_row(section, row, length=length)
    _head(packed, section.eyecatcher)
    return bytes(packed)


def _head(packed: bytearray, eyecatcher: str) -> None:
    packed[2:4] = _U2.pack(len(packed))
    packed[4:8] = eyecatcher.encode(CODE_PAGE)


def _pack_field(packed: bytearray, place: FieldLayout, value: Any) -> None:  # noqa: ANN401 - as the column has it
    at = slice(place.offset, place.end)
    if place.type == "char":
        packed[at] = (value or "").ljust(place.length).encode(CODE_PAGE)
    elif place.type == "hex":
        packed[at] = bytes.fromhex(value) if value else bytes(place.length)
    elif place.type.startswith("bit"):
        # Single bits of a byte are separate columns, so the other bits must be kept.
        before = int.from_bytes(packed[at], "big")
        packed[at] = (before | (place.mask if value else 0)).to_bytes(place.size, "big")
    elif place.type == "float":
        packed[at] = hexadecimal_float(value or 0)
    elif place.type == "stck":
        packed[at] = bytes(8) if value is None else _U8.pack(stck(unix_us(value)))
    elif place.type == "stck_us":
        packed[at] = _U8.pack((value or 0) << STCK_SHIFT)
    elif place.type.startswith("code"):
        packed[at] = _code(place, value).to_bytes(place.size, "big", signed=place.size > 1)
    else:
        number = (place.none or 0) if value is None else value // place.scale
        packed[at] = number.to_bytes(place.size, "big", signed=place.type.startswith("i"))


def _code(place: FieldLayout, word: str | None) -> int:
    if word is None:
        return 0
    codes = {name: int(code) for code, name in place.values.items()}
    return codes[word] if word in codes else int(word.removeprefix("code "))


# ---- records -----------------------------------------------------------------------------------------------------


def standard_header(smf_type: int, header: Header, *, subtype: int | None, subsystem: str) -> bytearray:
    """Return the first 18 or 24 bytes of a record; `closed` fills in its length."""
    local = header.written_at + timedelta(minutes=header.utc_offset_minutes)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    made = bytearray(RDW)
    made += bytes([PLAIN_FLAG if subtype is None else SUBTYPES_FLAG, smf_type])
    # The time of a header is in hundredths of a second since midnight.
    made += _U4.pack((local - midnight) // timedelta(milliseconds=10))
    made += packed_date(local)
    made += header.system_id.ljust(4).encode(CODE_PAGE)
    if subtype is not None:
        made += subsystem.ljust(4).encode(CODE_PAGE) + _U2.pack(subtype)
    return made


def closed(record: bytearray) -> bytes:
    """Return a record with its length filled in."""
    if len(record) > LONGEST_RECORD:
        message = f"a record of {len(record)} bytes: SMF records have at most {LONGEST_RECORD} bytes"
        raise ValueError(message)
    record[:2] = _U2.pack(len(record))
    return bytes(record)


_PLAIN_SECTIONS: dict[str, dict[int, tuple[str, int]]] = {
    "115-1": {8: ("", 80), 9: ("QSST", 72), 11: ("QJST", 576)},
    "115-2": {1: ("QMST", 328), 2: ("QIST", 80), 4: ("QLST", 32), 5: ("Q5ST", 672), 7: ("QTST", 96)},
    "115-216": {},
    "115-231": {},
    "116-1": {},
    "116-2": {},
}
"""Sections that are not decoded: triplet -> name and length."""
_TRIPLETS = {"115-1": 12, "115-2": 9, "115-216": 2, "115-231": 5, "116-1": 4, "116-2": 3}
_WTAS_BYTES = 2344
_QEST_BYTES = 4104


def mq_record(
    kind: str,
    header: Header,
    sections: Mapping[str, Sequence[Row]] | None = None,
    *,
    lengths: Mapping[str, int] | None = None,
) -> bytes:
    """Return one record 115-1, 115-2, 115-216, 115-231, 116-1 or 116-2 from rows by table: qest, qesd, qqst, qcct, wq.

    The identity of the task (WTID) is taken from the first row of wq, or from rows of `wtid`; in 116-1, the interval of the
    header is that of the task. `lengths` gives the lengths of sections in another release.
    """
    smf_type, subtype = (int(part) for part in kind.split("-"))
    rows = dict(sections or {})
    contents: dict[int, list[bytes]] = {}
    for number, (name, size) in _PLAIN_SECTIONS[kind].items():
        packed = bytearray((lengths or {}).get(name.lower(), size))
        _head(packed, name or "    ")
        contents[number] = [bytes(packed)]
    if kind.startswith("116"):
        rows.setdefault("wtid", rows.get("wq", [{}])[:1] or [{}])
    if kind == "116-1":
        contents[2] = [_task_section(header)]
    for table, found in rows.items():
        section = layout(table)
        length = (lengths or {}).get(table)
        if table == "qest":
            contents[section.triplet_of(kind)] = [_slots(section, found)]
        else:
            contents[section.triplet_of(kind)] = [pack_section(section, row, length=length) for row in found]
    record = standard_header(smf_type, header, subtype=subtype, subsystem=header.queue_manager)
    record += header.release.encode(CODE_PAGE) + b"\0"
    return closed(_with_sections(record, kind, contents, _product_section(kind, header)))


def _with_sections(
    record: bytearray, kind: str, contents: Mapping[int, list[bytes]], product: bytes
) -> bytearray:
    """Return the record with triplets, sections, and the product section at the end, as MQ writes it."""
    count = _TRIPLETS[kind]
    at = TRIPLETS_AT + _TRIPLET.size * count
    triplets = b""
    body = b""
    for number in range(1, count):
        parts = contents.get(number, [])
        triplets += (
            _TRIPLET.pack(at + len(body), len(parts[0]), len(parts)) if parts else bytes(_TRIPLET.size)
        )
        body += b"".join(parts)
    # QWHSNSDA counts the triplet of the product section, too.
    product = product[:6] + bytes([count]) + product[7:]
    record += _TRIPLET.pack(at + len(body), len(product), 1) + triplets + body + product
    return record


def _product_section(kind: str, header: Header) -> bytes:
    """Return QWHS, with QWHC in accounting records, and with QWHX if the group is known."""
    is_accounting = kind.startswith("116")
    made = bytearray(QWHS_SHORT_BYTES if is_accounting else QWHS_BYTES)
    made[:2] = _U2.pack(len(made))
    made[12:16] = header.queue_manager.ljust(4).encode(CODE_PAGE)
    made[16:24] = _U8.pack(stck(header.end_us))
    if not is_accounting:
        # QWHSTIME is local time, unlike the values of the hardware clock.
        offset_us = header.utc_offset_minutes * 60_000_000
        made[36:44] = _U8.pack(stck(header.end_us - header.interval_us + offset_us))
        made[44:52] = _U8.pack(header.interval_us << (STCK_SHIFT if kind in CLOCK_DURATIONS else 0))
    if is_accounting:
        made += _U2.pack(QWHC_BYTES) + bytes(QWHC_BYTES - 2)
    if header.qsg is not None:
        made[32] = QWHX_FLAG
        made += _U2.pack(QWHX_BYTES) + bytes(2)
        made += header.qsg.ljust(4).encode(CODE_PAGE) + LAST_KNOWN_RELEASE.encode(CODE_PAGE) + bytes(2)
    return bytes(made)


def _task_section(header: Header) -> bytes:
    """Return WTAS with only the accounting interval filled in."""
    made = bytearray(_WTAS_BYTES)
    _head(made, "WTAS")
    made[664:672] = _U8.pack(stck(header.end_us - header.interval_us))
    made[672:680] = _U8.pack(stck(header.end_us))
    return bytes(made)


def _slots(section: Layout, rows: Sequence[Row]) -> bytes:
    """Return QEST with each row in its slot, by its column `section`, otherwise in turn."""
    made = bytearray(_QEST_BYTES)
    _head(made, section.eyecatcher)
    for number, row in enumerate(rows):
        # QEST has 64 slots of 64 bytes after identifier, length and name.
        at = 8 + 64 * int(row.get("section", number))
        made[at : at + 64] = pack_row(section, row, length=64)
    return bytes(made)


def plain_record(smf_type: int, header: Header, *, subtype: int | None = None, body: bytes = b"") -> bytes:
    """Return a record of any other type (2 and 3 begin and end a dump)."""
    return closed(standard_header(smf_type, header, subtype=subtype, subsystem="") + bytearray(body))


# ---- RMF ---------------------------------------------------------------------------------------------------------

_R744_TRIPLETS = 11
_R744_SECTIONS = {0: "r744_cf", 2: "r744_storage", 3: "r744_qsds", 4: "r744_sreq", 9: "r744_scm"}
_R744_LENGTHS = {"r744_cf": 106, "r744_storage": 52, "r744_qsds": 32, "r744_sreq": 268, "r744_scm": 32}


def rmf_record(
    header: Header, rows: Mapping[str, Sequence[Row]], *, piece_bytes: int | None = None
) -> list[bytes]:
    """Return a 74-4 record from rows of the r744 tables: one of r744_cf, and any of the others.

    The row of r744_cf has sysplex and system. A row of r744_structure becomes a section R744QSDS if it has a
    policy_size_bytes, and R744SREQ if it has a structure_type. If the record would be longer than piece_bytes, it is broken
    into pieces.
    """
    structures = rows.get("r744_structure", [])
    by_number: dict[int, Sequence[Row]] = {
        0: rows["r744_cf"],
        2: rows.get("r744_storage", []),
        3: [row for row in structures if row.get("policy_size_bytes") is not None],
        4: [row for row in structures if row.get("structure_type") is not None],
        9: rows.get("r744_scm", []),
    }
    contents: dict[int, list[bytes]] = {}
    for number, found in by_number.items():
        section = layout(_R744_SECTIONS[number])
        length = _R744_LENGTHS[section.id]
        contents[number] = [bytes(pack_row(section, row, length=length)) for row in found]
    cf = rows["r744_cf"][0]
    product = rmf_product(
        interval_us=header.interval_us,
        to_local=header.utc_offset_minutes * 60_000_000 << STCK_SHIFT,
        end_us=header.end_us,
        sysplex=cf.get("sysplex") or "",
        system_name=cf.get("system_name") or "",
    )
    return rmf_records(
        standard_header(74, header, subtype=4, subsystem="RMF"), product, contents, piece_bytes=piece_bytes
    )


def rmf_records(
    head: bytearray, product: bytes, contents: Mapping[int, list[bytes]], *, piece_bytes: int | None = None
) -> list[bytes]:
    """Return a 74-4 record from its sections by triplet, in pieces if it would be longer than piece_bytes."""
    most = piece_bytes or LONGEST_RECORD
    if sum(len(part) for parts in contents.values() for part in parts) + _rmf_overhead(broken=False) <= most:
        return [_rmf_bytes(head, product, contents)]
    pieces = list(_pieces(contents, room=most - _rmf_overhead(broken=True)))
    totals = {number: len(parts) for number, parts in contents.items()}
    made = []
    positions = dict.fromkeys(contents, 1)
    for sequence, piece in enumerate(pieces, start=1):
        area = _reassembly(len(pieces), sequence, totals, positions)
        made.append(_rmf_bytes(head, product, piece, area=area))
        for number, parts in piece.items():
            positions[number] += len(parts)
    return made


def _rmf_overhead(*, broken: bool) -> int:
    plain = 36 + 8 * _R744_TRIPLETS + PRODUCT_BYTES
    return plain + (16 + 4 * _R744_TRIPLETS if broken else 0)


def _pieces(contents: Mapping[int, list[bytes]], *, room: int) -> Iterator[dict[int, list[bytes]]]:
    piece: dict[int, list[bytes]] = {}
    used = 0
    for number, parts in contents.items():
        for part in parts:
            if used + len(part) > room and piece:
                yield piece
                piece, used = {}, 0
            piece.setdefault(number, []).append(part)
            used += len(part)
    yield piece


def _reassembly(pieces: int, sequence: int, totals: Mapping[int, int], positions: Mapping[int, int]) -> bytes:
    made = Struct(">HHIHH").pack(pieces, sequence, 16, 4, _R744_TRIPLETS) + bytes(4)
    for number in range(_R744_TRIPLETS):
        made += Struct(">HH").pack(totals.get(number, 0), positions.get(number, 0))
    return made


def rmf_product(*, interval_us: int, to_local: int, end_us: int, sysplex: str, system_name: str) -> bytes:
    """Return RMF's product section.

    Args:
        interval_us: The length of the interval, in microseconds; whole milliseconds, less than 100 minutes.
        to_local: Local time minus GMT, in units of the hardware clock.
        end_us: The end of the interval, in microseconds since 1970.
        sysplex: The name of the sysplex.
        system_name: The name of the system.
    """
    made = bytearray(PRODUCT_BYTES)
    minutes, milliseconds = divmod(interval_us // 1000, 60_000)
    made[18:22] = bytes.fromhex(f"{minutes:02}{milliseconds // 1000:02}{milliseconds % 1000:03}F")
    made[60:68] = to_local.to_bytes(8, "big", signed=True)
    made[80:88] = _U8.pack(stck(end_us))
    made[88:96] = sysplex.ljust(8).encode(CODE_PAGE)
    made[96:104] = system_name.ljust(8).encode(CODE_PAGE)
    return bytes(made)


def _rmf_bytes(
    head: bytearray, product: bytes, contents: Mapping[int, list[bytes]], *, area: bytes = b""
) -> bytes:
    record = bytearray(head)
    product_at = 36 + 8 * _R744_TRIPLETS
    whole_product = bytearray(product + area)
    if area:
        whole_product[68:76] = _TRIPLET.pack(len(product), len(area), 1)
    at = product_at + len(whole_product)
    triplets = b""
    body = b""
    for number in range(_R744_TRIPLETS):
        parts = contents.get(number, [])
        triplets += _TRIPLET.pack(at + len(body), len(parts[0]), len(parts)) if parts else bytes(8)
        body += b"".join(parts)
    record += _U2.pack(_R744_TRIPLETS) + bytes(2) + _TRIPLET.pack(product_at, len(whole_product), 1)
    record += triplets + whole_product + body
    return closed(record)


# ---- dumps -------------------------------------------------------------------------------------------------------


def dump(records: Iterable[bytes], framing: Framing | None = None) -> bytes:
    """Return a dump of the records: segments, descriptor words, blocks, compression."""
    framing = framing or Framing()
    made = b"".join(framed(records, framing))
    # Omit the time in the gzip header, because the same records must give the same bytes.
    return gzip.compress(made, mtime=0) if framing.kind.startswith("gzip") else made


def framed(records: Iterable[bytes], framing: Framing) -> Iterator[bytes]:
    """Yield the blocks of a dump, not compressed."""
    has_words = framing.kind.endswith("bdw")
    if framing.block_bytes is None:
        if has_words:
            message = "a dump with block words has blocks"
            raise ValueError(message)
        for record in records:
            yield from (
                RDW_WORD.pack(len(part) + RDW, code << 8) + part for code, part in _segments(record, framing)
            )
        return
    room = framing.block_bytes - BDW
    block: list[bytes] = []
    left = room
    for record in records:
        rest = record[RDW:]
        number = 0
        while rest or number == 0:
            if left < min(SMALLEST_LEFT, len(rest) + RDW) and block:
                yield _block(block, has_words=has_words)
                block, left = [], room
            most = _longest_segment(framing, number)
            size = min(left - RDW, len(rest), most)
            part, rest = rest[:size], rest[size:]
            code = _segment_code(is_first=number == 0, is_last=not rest)
            block.append(RDW_WORD.pack(len(part) + RDW, code << 8) + part)
            left -= len(part) + RDW
            number += 1
    if block:
        yield _block(block, has_words=has_words)


def _block(segments: list[bytes], *, has_words: bool) -> bytes:
    body = b"".join(segments)
    return RDW_WORD.pack(len(body) + BDW, 0) + body if has_words else body


def _segments(record: bytes, framing: Framing) -> Iterator[Segment]:
    rest = record[RDW:]
    number = 0
    while rest or number == 0:
        size = min(len(rest), _longest_segment(framing, number))
        part, rest = rest[:size], rest[size:]
        yield _segment_code(is_first=number == 0, is_last=not rest), part
        number += 1


def _longest_segment(framing: Framing, number: int) -> int:
    """Return the maximum number of bytes after the descriptor word of the next segment."""
    if not framing.segment_bytes:
        return LONGEST_RECORD
    return max(framing.segment_bytes[number % len(framing.segment_bytes)], SHORTEST_SEGMENT) - RDW


def _segment_code(*, is_first: bool, is_last: bool) -> int:
    if is_first:
        return WHOLE if is_last else FIRST
    return LAST if is_last else MIDDLE
