"""RMF's record 74-4: coupling facility activity. Its values are checked, because no sample of this record is published.

A record of more than 32 KB is written in pieces. Each piece is a record with triplets of its own, and a reassembly area in
the product section contains the number of pieces, the number of this one, the number of sections in the whole record, and
the position of the piece's first sections among them. Pieces of one record have the same header except for the length, and
the same interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from struct import Struct

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planner_core.contracts.ingest import Quarantine
from spark_jobs.smf import wire
from spark_jobs.smf.layouts import layout
from spark_jobs.smf.records import (
    FARTHEST_OFFSET_MINUTES,
    TRIPLET_BYTES,
    Records,
    Times,
    common_columns,
    written_local,
)
from spark_jobs.smf.results import LayoutCheck, Piece
from spark_jobs.smf.tables import Plan, Rows, arrow_type, columns_of, cut, plan
from spark_jobs.smf.walk import SLACK_BYTES
from spark_jobs.smf.wire import Ints, Mask

TRIPLETS_AT = 36
PRODUCT_TRIPLET_AT = 28
PRODUCT_BYTES = 104
SHORTEST_RECORD = TRIPLETS_AT + TRIPLET_BYTES
LAST_TRIPLET = 10
SUBTYPE = 4
FLCF, GSRG, QSDS, SREQ, MSCM = 0, 2, 3, 4, 9
REASSEMBLY_AT = 68
"""The position, in the product section, of offset, length and number of the reassembly area."""
_TRIPLET = Struct(">IHH")
_REASSEMBLY = Struct(">HHIHH")
_BLOCK = Struct(">HH")
LONGEST_WHOLE = 2**24

UNSERIALIZED_LIST, SERIALIZED_LIST, CACHE = 1, 2, 4
FLOATS_AT = (44, 52, 60, 68, 92, 116, 140)
"""The positions of counts in R744SREQ that are hexadecimal floating point: whole numbers, if the layout is right."""
LARGEST_COUNT = 2.0**53


class Heads:
    """The heads of 74-4 records."""

    def __init__(self, records: Records) -> None:
        """Read header, product section and triplets."""
        self.records = records
        records.reject(records.lengths < SHORTEST_RECORD, "the record is too short")
        head = records.read(0, SHORTEST_RECORD)
        self.product_at, length, count = records.triplets(PRODUCT_TRIPLET_AT)
        records.reject(
            (count != 1) | (length < PRODUCT_BYTES) | (self.product_at + length > records.lengths),
            "RMF's product section is missing",
        )
        self.product = records.read(self.product_at, PRODUCT_BYTES)
        # Older releases have fewer triplets than the newest section number needs.
        self.triplets = np.minimum(
            wire.unsigned(head, 24, 2), (self.product_at - TRIPLETS_AT) // TRIPLET_BYTES
        )
        records.reject(self.triplets < 1, "the record has no triplets")
        self._read_times()
        self.texts = {
            "system_id": wire.text(head[:, 14:18]),
            "queue_manager": pa.nulls(len(records), pa.string()),
            "qsg": pa.nulls(len(records), pa.string()),
            "release": pa.nulls(len(records), pa.string()),
        }

    def _read_times(self) -> None:
        records = self.records
        local = written_local(records)
        length, is_length = wire.packed_interval_us(self.product, 18)
        difference = wire.signed(self.product, 60, 8) >> wire.STCK_SHIFT
        minutes = (difference + wire.US_A_MINUTE // 2) // wire.US_A_MINUTE
        clock = wire.stck_us(self.product, 80)
        records.reject(~is_length | (clock == 0), "RMF's product section has no valid interval")
        records.reject(
            np.abs(minutes) > FARTHEST_OFFSET_MINUTES, "RMF's difference to GMT is not a time zone"
        )
        # Use the end of the interval in GMT, because the other times of the product section are local.
        end = clock - wire.UNIX_EPOCH_STCK_US
        every = np.ones(len(records), dtype=np.bool_)
        self.times = Times(local, minutes, end - length, end, length, local, every)

    def rows(self, number: int, name: str, *, row_bytes: int) -> Rows:
        """Return the rows of a section; records whose triplet leads elsewhere are quarantined."""
        records = self.records
        offset, length, count = records.triplets(TRIPLETS_AT + TRIPLET_BYTES * number)
        there = (number < self.triplets) & records.sound
        offset, length, count = (np.where(there, part, 0) for part in (offset, length, count))
        records.reject_overrun(
            offset, length, count, first=TRIPLETS_AT + TRIPLET_BYTES * self.triplets, name=name
        )
        return records.rows(offset, length, count, among=records.sound, row_bytes=row_bytes)


def is_piece(records: Records) -> Mask:
    """Return which records are pieces of a broken one."""
    product_at, length, _ = records.triplets(PRODUCT_TRIPLET_AT)
    fits = (length >= PRODUCT_BYTES) & (product_at + length <= records.lengths)
    number = wire.unsigned(records.read(np.where(fits, product_at, 0) + REASSEMBLY_AT + 6, 2), 0, 2)
    # Only the product section of a broken record has a reassembly area.
    found: Mask = fits & (number == 1)
    return found


def decode_74_4(
    records: Records, *, tables: Sequence[str], columns: Mapping[str, Sequence[str]]
) -> tuple[dict[str, pa.RecordBatch], LayoutCheck]:
    """Return the tables of whole records; rows that fail the self-checks are counted, and their records quarantined."""
    heads = Heads(records)
    facility = heads.rows(FLCF, "R744FLCF", row_bytes=layout("r744_cf").row_bytes)
    sections = {
        "r744_storage": heads.rows(GSRG, "R744GSRG", row_bytes=layout("r744_storage").row_bytes),
        "r744_scm": heads.rows(MSCM, "R744MSCM", row_bytes=layout("r744_scm").row_bytes),
    }
    structures = heads.rows(QSDS, "R744QSDS", row_bytes=layout("r744_qsds").row_bytes)
    requests = heads.rows(SREQ, "R744SREQ", row_bytes=layout("r744_sreq").row_bytes)
    has_facility = np.zeros(len(records), dtype=np.bool_)
    has_facility[facility.record] = True
    records.reject(~has_facility, "section R744FLCF is missing")
    lacks_statistics = _lacks_statistics(len(records), facility)
    failed = _failed_checks(requests, unchecked=lacks_statistics) | ~_is_known_name(requests, 16)
    check = LayoutCheck(len(requests), int(failed.sum()))
    records.reject_by_rows(requests, failed, "impossible values in R744SREQ: see the self-checks")
    records.reject_by_rows(
        structures, ~_is_known_name(structures, 16), "a structure without a name in R744QSDS"
    )
    sections["r744_cf"] = facility.take(facility.section == 0)
    made: dict[str, pa.RecordBatch] = {}
    for table in tables:
        wanted = plan(table, columns.get(table))
        if table == "r744_structure":
            batch = _structures(heads, structures, requests, wanted, facility, lacks_statistics)
        else:
            rows = sections[table].take(records.sound[sections[table].record])
            found = columns_of(rows, wanted.fields.get(table, ())) if len(rows) else {}
            batch = _batch(heads, rows, found, wanted, facility) if len(rows) else None
        if batch is not None:
            made[table] = batch
    return made, check


def _lacks_statistics(records: int, facility: Rows) -> Mask:
    """Return which records have no statistics of the coupling facility, because another system gathers them (R744FNOHW)."""
    flag = next(field for field in layout("r744_cf").fields if field.column == "lacks_statistics")
    flags = cut(facility.data, facility.positions + flag.offset, flag.size)[:, 0]
    lacks = np.zeros(records, dtype=np.bool_)
    lacks[facility.record] = (flags & flag.mask) != 0
    return lacks


def _failed_checks(requests: Rows, *, unchecked: Mask) -> Mask:
    """Return the rows that violate a rule that holds if the layout is right (smf-records.md, self-checks).

    Sizes and entries of records in `unchecked` are not compared, because they are not valid.
    """
    if not len(requests):
        return np.zeros(0, dtype=np.bool_)
    section = layout("r744_sreq")
    matrix = cut(requests.data, requests.positions, section.row_bytes)
    at = {field.column: field.offset for field in section.fields}

    def value(column: str) -> Ints:
        return wire.unsigned(matrix, at[column], 4)

    kind = matrix[:, at["structure_type"]]
    is_list = (kind == UNSERIALIZED_LIST) | (kind == SERIALIZED_LIST)
    failed = requests.lengths < section.minimum_bytes
    failed |= (kind < UNSERIALIZED_LIST) | (kind > CACHE)
    is_checked = ~unchecked[requests.record]
    failed |= is_checked & is_list & (value("elements_in_use") > value("elements_total"))
    failed |= is_checked & is_list & (value("entries_in_use") > value("entries_total"))
    failed |= is_checked & (value("size_min_bytes") > value("size_bytes"))
    failed |= is_checked & (value("size_bytes") > value("size_max_bytes"))
    for offset in FLOATS_AT:
        count = wire.hexadecimal_float(matrix, offset)
        failed |= (count < 0) | (count > LARGEST_COUNT) | (count != np.floor(count))
    return failed


_NAME = np.zeros(256, dtype=np.bool_)
_NAME[list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$@#_ ".encode("cp037"))] = True


def _is_known_name(rows: Rows, width: int) -> Mask:
    """Return which rows begin with a name: upper-case letters, digits, $ @ # _."""
    name = cut(rows.data, rows.positions, width)
    is_name: Mask = _NAME[name].all(axis=1) & (name[:, 0] != wire.BLANK)
    return is_name


def _structures(
    heads: Heads,
    structures: Rows,
    requests: Rows,
    wanted: Plan,
    facility: Rows,
    lacks_statistics: Mask,
) -> pa.RecordBatch | None:
    """Return the master gatherer's sections on structures, joined with the requests by record, name and instance.

    Fields that need statistics of the coupling facility are null in records that lack them: their values would be wrong.
    """
    sound = heads.records.sound
    structures = structures.take(sound[structures.record])
    requests = requests.take(sound[requests.record])
    if not len(structures) + len(requests):
        return None
    keys = np.concatenate([_keys(structures, 20), _keys(requests, 16)])
    _, ids = np.unique(keys, return_inverse=True)
    of_structure, of_request = ids[: len(structures)], ids[len(structures) :]
    owner = np.full(len(keys), -1, dtype=np.int64)
    owner[of_structure[::-1]] = np.arange(len(structures))[::-1]
    has_request = np.isin(of_structure, of_request)
    alone = np.flatnonzero(~has_request)
    left = np.concatenate([owner[of_request], alone])  # rows of QSDS
    right = np.concatenate([np.arange(len(requests)), np.full(len(alone), -1)])  # rows of SREQ
    record = np.concatenate([requests.record, structures.record[alone]])
    order = np.argsort(record, kind="stable")
    left, right, record = left[order], right[order], record[order]
    made: dict[str, pa.Array] = {}
    for layout_id, rows, index in (("r744_qsds", structures, left), ("r744_sreq", requests, right)):
        names = wanted.schema.names
        fields = [field for field in layout(layout_id).fields if field.column in names]
        if len(rows):
            found = columns_of(rows, fields)
            lacks = pa.array(lacks_statistics[rows.record])
            for field in fields:
                if field.needs_statistics and lacks.true_count:
                    column = found[field.column]
                    found[field.column] = pc.if_else(lacks, pa.scalar(None, column.type), column)
            chosen = pa.array(np.where(index < 0, 0, index), mask=index < 0)
            taken = {name: column.take(chosen) for name, column in found.items()}
        else:
            taken = {field.column: pa.nulls(len(index), arrow_type(field)) for field in fields}
        for name, column in taken.items():
            made[name] = pc.coalesce(made[name], column) if name in made else column
    first = np.concatenate([[0], np.flatnonzero(np.diff(record)) + 1])
    section = np.arange(len(record)) - np.repeat(first, np.diff(first, append=len(record)))
    base = requests if len(requests) else structures
    # These rows come from two sections, so only their record and number are meaningful.
    rows = replace(base, record=record, section=section, positions=record, lengths=record)
    return _batch(heads, rows, made, wanted, facility)


def _keys(rows: Rows, version_at: int) -> npt.NDArray[np.void]:
    """Return record, name and version of each row as one value."""
    parts = np.empty((len(rows), 32), dtype=np.uint8)
    parts[:, :8] = rows.record.astype(">i8").view(np.uint8).reshape(-1, 8)
    parts[:, 8:24] = cut(rows.data, rows.positions, 16)
    parts[:, 24:] = cut(rows.data, rows.positions + version_at, 8)
    found: npt.NDArray[np.void] = parts.view(np.dtype((np.void, 32)))[:, 0]
    return found


def _batch(
    heads: Heads, rows: Rows, made: dict[str, pa.Array], wanted: Plan, facility: Rows
) -> pa.RecordBatch:
    """Return the rows with the common columns, sysplex, system and coupling facility."""
    records = heads.records
    subtypes = np.full(len(records), SUBTYPE, dtype=np.int64)
    made = made | common_columns(
        records, rows, heads.times, wanted=wanted.common, texts=heads.texts, subtypes=subtypes
    )
    index = pa.array(rows.record)
    everywhere = np.arange(len(records))
    product = Rows(
        records.data,
        records.starts + np.where(records.sound, heads.product_at, 0),
        np.full(len(records), PRODUCT_BYTES),
        everywhere,
        everywhere,
    )
    first = np.zeros(len(records), dtype=np.int64)
    first[facility.record[::-1]] = np.arange(len(facility))[::-1]
    for section_id, owners in (("r744_product", product), ("r744_cf", facility.take(first))):
        fields = [field for field in wanted.fields.get(section_id, ()) if field.column not in made]
        for name, column in columns_of(owners, fields).items():
            made[name] = column.take(index)
    names = wanted.schema.names
    return pa.RecordBatch.from_arrays([made[name] for name in names], schema=wanted.schema)


# ---- broken records ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PieceHead:
    """The reassembly area of a piece."""

    whole: bytes
    """The bytes that all pieces of one record have in common: system, date and interval."""
    pieces: int
    sequence: int
    totals: tuple[int, ...]
    positions: tuple[int, ...]


def piece_head(data: bytes) -> PieceHead | None:
    """Return the reassembly area of a record in pieces, or None if it is missing or invalid."""
    product_at, _, _ = _TRIPLET.unpack_from(data, PRODUCT_TRIPLET_AT)
    area, area_bytes, _ = _TRIPLET.unpack_from(data, product_at + REASSEMBLY_AT)
    begin = product_at + area
    if begin + 16 > len(data) or area_bytes < 16:  # noqa: PLR2004
        return None
    pieces, sequence, blocks_at, block_bytes, blocks = _REASSEMBLY.unpack_from(data, begin)
    end = begin + blocks_at + block_bytes * blocks
    if (
        block_bytes < _BLOCK.size
        or end > len(data)
        or not 1 <= sequence <= pieces
        or blocks > LAST_TRIPLET + 1
    ):
        return None
    found = [_BLOCK.unpack_from(data, begin + blocks_at + block_bytes * i) for i in range(blocks)]
    product = data[product_at : product_at + PRODUCT_BYTES]
    whole = data[14:18] + product[10:22] + product[60:68] + product[80:104]
    return PieceHead(
        whole, pieces, sequence, tuple(total for total, _ in found), tuple(position for _, position in found)
    )


@dataclass
class Assembled:
    """A whole record assembled from its pieces."""

    data: bytes
    pieces: list[Piece]


def assemble(pieces: Iterable[Piece]) -> tuple[list[Assembled], list[Piece], list[Quarantine]]:
    """Return the complete records, the pieces of incomplete ones, and the pieces that cannot be assembled."""
    open_sets: dict[bytes, list[tuple[Piece, PieceHead]]] = {}
    complete: list[Assembled] = []
    waiting: list[Piece] = []
    damaged: list[Quarantine] = []
    for piece in sorted(pieces, key=lambda piece: piece.offset):
        head = piece_head(piece.data)
        if head is None:
            damaged.append(
                Quarantine(piece.offset, piece.length, "a broken record's reassembly area is invalid")
            )
            continue
        found = open_sets.get(head.whole, [])
        follows = found and head.sequence == found[-1][1].sequence + 1 and head.pieces == found[-1][1].pieces
        if not follows:
            waiting.extend(earlier for earlier, _ in found)
            found = []
        found.append((piece, head))
        open_sets[head.whole] = found
        if head.sequence == head.pieces:
            del open_sets[head.whole]
            if found[0][1].sequence == 1:
                _complete(found, complete, damaged)
            else:
                waiting.extend(earlier for earlier, _ in found)
    for found in open_sets.values():
        waiting.extend(piece for piece, _ in found)
    return complete, sorted(waiting, key=lambda piece: piece.offset), damaged


def _complete(
    found: list[tuple[Piece, PieceHead]], complete: list[Assembled], damaged: list[Quarantine]
) -> None:
    pieces = [piece for piece, _ in found]
    data = _joined(found)
    if data is None:
        damaged.extend(
            Quarantine(piece.offset, piece.length, "the pieces of a broken record do not match")
            for piece in pieces
        )
    else:
        complete.append(Assembled(data, pieces))


def _joined(found: list[tuple[Piece, PieceHead]]) -> bytes | None:
    """Return one record with all sections of the pieces; None if sections are missing or overlap."""
    first = found[0][0].data
    product_at, product_bytes, _ = _TRIPLET.unpack_from(first, PRODUCT_TRIPLET_AT)
    totals = found[0][1].totals
    count = len(totals)
    product_begin = TRIPLETS_AT + TRIPLET_BYTES * count
    sections: list[bytes] = []
    triplets = b""
    at = product_begin + product_bytes
    for number in range(count):
        content, length, base = b"", 0, -1
        for piece, head in found:
            part = _part(piece.data, number, head)
            if part is None or head.totals != totals:
                return None
            body, length_here, sections_here = part
            if not sections_here:
                continue
            base = head.positions[number] if base < 0 else base  # 1, or 0 if they are counted from there
            if content == body and head.positions[number] == base:
                continue  # a section that every piece repeats
            follows = len(content) == (head.positions[number] - base) * length_here
            if base > 1 or not follows or (content and length != length_here):
                return None
            content, length = content + body, length_here
        if length * totals[number] != len(content):
            return None
        triplets += _TRIPLET.pack(at if content else 0, length, totals[number])
        sections.append(content)
        at += len(content)
    if at > LONGEST_WHOLE:
        return None
    product = bytearray(first[product_at : product_at + product_bytes])
    product[REASSEMBLY_AT : REASSEMBLY_AT + 8] = bytes(8)
    front = bytearray(first[:TRIPLETS_AT])
    front[24:26] = count.to_bytes(2, "big")
    front[PRODUCT_TRIPLET_AT : PRODUCT_TRIPLET_AT + 8] = _TRIPLET.pack(product_begin, product_bytes, 1)
    return bytes(front) + triplets + bytes(product) + b"".join(sections)


def _part(data: bytes, number: int, head: PieceHead) -> tuple[bytes, int, int] | None:
    """Return a piece's sections of one kind: their bytes, their length and their number."""
    product_at, _, _ = _TRIPLET.unpack_from(data, PRODUCT_TRIPLET_AT)
    at = TRIPLETS_AT + TRIPLET_BYTES * number
    if at + TRIPLET_BYTES > product_at or len(head.totals) <= number:
        return b"", 0, 0
    offset, length, count = _TRIPLET.unpack_from(data, at)
    if not length or not count:
        return b"", 0, 0
    if offset < at or offset + length * count > len(data):
        return None
    return data[offset : offset + length * count], length, count


def as_pieces(records: Records) -> list[Piece]:
    """Return records as pieces, with their segments joined."""
    return [
        Piece(
            int(records.offsets[i]),
            int(records.extents[i]),
            int(records.numbers[i]),
            records.data[records.starts[i] : records.starts[i] + records.lengths[i]].tobytes(),
        )
        for i in range(len(records))
    ]


def as_records(assembled: Sequence[Assembled], *, file: str) -> Records:
    """Return assembled records as one array."""
    lengths = np.array([len(whole.data) for whole in assembled], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    data = np.frombuffer(b"".join(whole.data for whole in assembled) + bytes(SLACK_BYTES), dtype=np.uint8)
    return Records(
        data=data,
        starts=starts,
        lengths=lengths,
        extents=np.array(
            [sum(piece.length for piece in whole.pieces) for whole in assembled], dtype=np.int64
        ),
        offsets=np.array([whole.pieces[0].offset for whole in assembled], dtype=np.int64),
        numbers=np.array([whole.pieces[0].record for whole in assembled], dtype=np.int64),
        file=file,
    )
