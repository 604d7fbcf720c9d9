"""Decode the bytes of a dump to Arrow record batches: the one decoder, in-process and under Spark."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from planner_core.contracts.ingest import Quarantine
from planner_core.contracts.smf import RECORDS, SECTIONS
from spark_jobs.smf import mq, rmf
from spark_jobs.smf.errors import BrokenChain
from spark_jobs.smf.framing import DETECTED_IN_BYTES, detect_file, detect_framing, open_source
from spark_jobs.smf.index import SPLIT_BYTES, Progress, index_dump, kind_of, kinds_of
from spark_jobs.smf.records import Records
from spark_jobs.smf.results import (
    Accounting,
    DumpIndex,
    LayoutCheck,
    Piece,
    RangeResult,
    Split,
)
from spark_jobs.smf.tables import schema
from spark_jobs.smf.walk import CHUNK_BYTES, LOOKAHEAD_BYTES, Batch, Source, Walk
from spark_jobs.smf.wire import Ints, Mask

__all__ = [
    "SECTIONS",
    "SPLIT_BYTES",
    "TABLES",
    "Accounting",
    "DumpIndex",
    "LayoutCheck",
    "Piece",
    "Quarantine",
    "RangeResult",
    "Split",
    "decode_bytes",
    "decode_file",
    "decode_range",
    "finish",
    "index_dump",
    "meet",
    "schema",
]

TABLES = ("qest", "qesd", "qqst", "qcct", "wq", "r744_structure", "r744_storage", "r744_scm", "r744_cf")
"""The tables that are returned: section r744 has four."""

Columns = Mapping[str, Sequence[str]]
"""Table -> the requested columns, including common ones; a table that is not listed returns all of its columns."""


_R744 = tuple(table for table in TABLES if table.startswith("r744"))
BLOCK_WORDS = "BDW"


class _Decoder:
    """A decoder of batches of records into rows, for one choice of sections and columns."""

    def __init__(
        self, file: str, *, sections: Sequence[str], columns: Columns | None, only_shared: bool
    ) -> None:
        unknown = set(sections) - set(SECTIONS)
        if unknown:
            message = f"no section {', '.join(sorted(unknown))}: the sections are {', '.join(SECTIONS)}"
            raise ValueError(message)
        self.file = file
        self.sections = tuple(section for section in SECTIONS if section in sections)
        self.columns = dict(columns or {})
        self.only_shared = only_shared
        self.wanted = {kind for section in self.sections for kind in RECORDS[section]}

    def empty(self, start: int) -> RangeResult:
        """Return an empty result."""
        tables = [
            table
            for table in TABLES
            if table in self.sections or (table in _R744 and "r744" in self.sections)
        ]
        return RangeResult({table: [] for table in tables}, start, start, Accounting(), {})

    def add(self, result: RangeResult, batch: Batch) -> None:
        """Decode a batch and account for it."""
        account = result.accounting
        account.quarantined.extend(batch.damage)
        account.lost_bytes += batch.lost_bytes
        if batch.blocks:
            # Block words belong to no record, but every byte is accounted for.
            _skip(account, BLOCK_WORDS, batch.blocks, batch.blocks * 4)
        if not len(batch.starts):
            return
        kinds, index, counts = np.unique(kinds_of(batch), return_inverse=True, return_counts=True)
        sizes = np.bincount(index, weights=batch.extents).astype(np.int64)
        members: dict[str, Mask] = {}
        for number, (kind, count, size) in enumerate(
            zip(kinds.tolist(), counts.tolist(), sizes.tolist(), strict=True)
        ):
            name = kind_of(kind)
            result.records[name] = result.records.get(name, 0) + count
            if name in self.wanted:
                members[name] = index == number
                account.decoded_bytes += size
            else:
                _skip(account, name, count, size)
        if members:
            self._decode(result, batch, members)

    def _decode(self, result: RangeResult, batch: Batch, members: dict[str, Mask]) -> None:
        if "115-2" in members:
            records = self._records(batch, members["115-2"])
            tables = [table for table in ("qest", "qesd") if table in self.sections]
            self._collect(result, records, mq.decode_115_2(records, tables=tables, columns=self.columns))
        if "115-216" in members:
            records = self._records(batch, members["115-216"])
            made = mq.decode_115_216(records, columns=self.columns, only_shared=self.only_shared)
            self._collect(result, records, made)
        if "115-231" in members:
            records = self._records(batch, members["115-231"])
            self._collect(result, records, mq.decode_115_231(records, columns=self.columns))
        tasks = [members[kind] for kind in ("116-1", "116-2") if kind in members]
        if tasks:
            records = self._records(batch, np.logical_or.reduce(tasks))
            made = mq.decode_116(records, columns=self.columns, only_shared=self.only_shared)
            self._collect(result, records, made)
        if "74-4" in members:
            self._decode_74_4(result, self._records(batch, members["74-4"]))

    def _decode_74_4(self, result: RangeResult, records: Records) -> None:
        broken = rmf.is_piece(records)
        if not broken.any():
            self._collect_74_4(result, records)
            return
        result.pieces += rmf.as_pieces(records.take(np.flatnonzero(broken)))
        # Pieces count as held until their record is complete.
        result.accounting.decoded_bytes -= int(records.extents[broken].sum())
        # Decode whole records together with the assembled ones, so that rows stay in the order of the dump.
        whole = rmf.as_pieces(records.take(np.flatnonzero(~broken)))
        self.assemble(result, [rmf.Assembled(piece.data, [piece]) for piece in whole])

    def assemble(self, result: RangeResult, whole: Sequence[rmf.Assembled] = ()) -> None:
        """Assemble the pieces that are complete, and decode them together with the whole records."""
        complete, waiting, damaged = rmf.assemble(result.pieces)
        account = result.accounting
        result.pieces = waiting
        account.quarantined.extend(damaged)
        account.held_bytes = sum(piece.length for piece in waiting)
        account.decoded_bytes += sum(piece.length for record in complete for piece in record.pieces)
        if complete or whole:
            in_order = sorted([*complete, *whole], key=lambda record: record.pieces[0].offset)
            self._collect_74_4(result, rmf.as_records(in_order, file=self.file))

    def _collect_74_4(self, result: RangeResult, records: Records) -> None:
        made, check = rmf.decode_74_4(records, tables=_R744, columns=self.columns)
        result.checks["r744"] = result.checks.get("r744", LayoutCheck()) + check
        self._collect(result, records, made)

    def _records(self, batch: Batch, which: Mask) -> Records:
        chosen: Ints = np.flatnonzero(which)
        return Records(
            data=batch.data,
            starts=batch.starts[chosen],
            lengths=batch.lengths[chosen],
            extents=batch.extents[chosen],
            offsets=batch.offsets[chosen],
            numbers=batch.first_number + chosen,
            file=self.file,
        )

    def _collect(self, result: RangeResult, records: Records, made: dict[str, pa.RecordBatch]) -> None:
        for table, batch in made.items():
            result.batches[table].append(batch)
        if not records.sound.all():
            quarantined = records.quarantined()
            result.accounting.quarantined.extend(quarantined)
            result.accounting.decoded_bytes -= sum(item.length for item in quarantined)


def _skip(account: Accounting, kind: str, records: int, size: int) -> None:
    before = account.skipped.get(kind, (0, 0))
    account.skipped[kind] = (before[0] + records, before[1] + size)


def decode_range(
    path: str | Path,
    start: int,
    end: int,
    *,
    framing: str,
    sections: Sequence[str],
    first_record: int = 0,
    columns: Columns | None = None,
    only_shared: bool = False,
) -> RangeResult:
    """Decode the records that begin in the bytes from start up to end; no record needs to begin at start.

    Args:
        path: the dump.
        start: offset of the first byte of the range.
        end: offset of the first byte after the range; the last record is read completely.
        framing: the framing from DumpIndex.
        sections: some of SECTIONS; records of all others are counted as skipped.
        first_record: the number of records before the range, if known (Split.record_number).
        columns: the columns to return for each table; fewer columns are read faster.
        only_shared: for wq and qqst, only the rows of queues in a coupling facility structure.
    """
    decoder = _Decoder(str(path), sections=sections, columns=columns, only_shared=only_shared)
    with open_source(path, framing=framing) as source:
        source.seek(start)
        walk = _walk(source, framing, start=start, stop=end, first_number=first_record)
        result = decoder.empty(start)
        for batch in walk.batches():
            decoder.add(result, batch)
    result.first_start, result.end_offset = walk.first_start, walk.end
    return result


def decode_file(
    path: str | Path,
    *,
    sections: Sequence[str],
    columns: Columns | None = None,
    only_shared: bool = False,
    framing: str | None = None,
    progress: Progress | None = None,
    name: str | None = None,
) -> Iterator[RangeResult]:
    """Decode a whole dump in order, some megabytes at a time; only the last result is complete.

    `name` is the name of the dump in the rows, if it is not the path.

    Raises:
        NotAnSmfDump: the file is not a dump, or its records were lost in the transfer.
    """
    framing = framing or detect_file(path)
    size = Path(path).stat().st_size
    # Open unbuffered, because the walk reads into its own window, and the position shows its progress.
    with Path(path).open("rb", buffering=0) as file, open_source(file, framing=framing) as source:
        decoder = _Decoder(name or str(path), sections=sections, columns=columns, only_shared=only_shared)
        # A small dump needs no full window; the decompressed size of a gzip file is unknown.
        window = size + 1 if not framing.startswith("gzip") else None
        for result in _results(decoder, _walk(source, framing, window_bytes=window)):
            if progress is not None:
                progress(min(file.tell(), size), size)
            yield result


def decode_bytes(
    data: bytes,
    *,
    sections: Sequence[str],
    columns: Columns | None = None,
    only_shared: bool = False,
    framing: str | None = None,
    file: str = "",
) -> RangeResult:
    """Decode a dump in memory, with or without gzip compression.

    Raises:
        NotAnSmfDump: the data is not a dump, or its records were lost in the transfer.
    """
    framing = framing or detect_framing(data[:DETECTED_IN_BYTES], size=len(data))
    decoder = _Decoder(file, sections=sections, columns=columns, only_shared=only_shared)
    whole = decoder.empty(0)
    with open_source(io.BytesIO(data), framing=framing) as source:
        window = len(data) + 1 if not framing.startswith("gzip") else None
        for result in _results(decoder, _walk(source, framing, window_bytes=window)):
            _append(whole, result)
    return whole


def finish(
    pieces: Iterable[Piece],
    *,
    sections: Sequence[str] = ("r744",),
    columns: Columns | None = None,
    file: str = "",
    start: int = 0,
) -> RangeResult:
    """Assemble the pieces left over from the ranges (RangeResult.pieces); incomplete records are quarantined.

    The result's account covers these pieces and replaces what the ranges counted as held.
    """
    decoder = _Decoder(file, sections=sections, columns=columns, only_shared=False)
    result = decoder.empty(start)
    result.pieces = list(pieces)
    if result.pieces:
        decoder.assemble(result)
    result.accounting.quarantined.extend(
        Quarantine(
            piece.offset, piece.length, "a piece of a broken record whose other pieces are not in the dump"
        )
        for piece in result.pieces
    )
    result.accounting.held_bytes = 0
    result.pieces = []
    return result


def meet(ranges: Iterable[tuple[int, int]], *, end: int) -> None:
    """Check that each range begins (first_start) where the previous one ends (end_offset), and the last ends at `end`.

    Raises:
        BrokenChain: the ranges are not contiguous; read the dump in one piece.
    """
    expected = 0
    for first_start, end_offset in ranges:
        if first_start != expected:
            message = f"A range of the dump ends at {expected}, and the next one begins at {first_start}."
            raise BrokenChain(message)
        expected = end_offset
    if expected != end:
        message = f"The last range of the dump ends at {expected}, and the dump at {end}."
        raise BrokenChain(message)


def _walk(
    source: Source,
    framing: str,
    *,
    start: int = 0,
    stop: int | None = None,
    first_number: int = 0,
    window_bytes: int | None = None,
) -> Walk:
    if window_bytes is not None and window_bytes > CHUNK_BYTES + LOOKAHEAD_BYTES:
        window_bytes = None
    return Walk(
        source,
        blocked=framing.endswith("bdw"),
        start=start,
        stop=stop,
        is_begin=start == 0,
        first_number=first_number,
        window_bytes=window_bytes,
    )


def _results(decoder: _Decoder, walk: Walk) -> Iterator[RangeResult]:
    """Yield a result for each window; incomplete pieces are passed on, and the last result has the rest."""
    pieces: list[Piece] = []
    end = 0
    for batch in walk.batches():
        result = decoder.empty(end)
        result.pieces = pieces
        decoder.add(result, batch)
        pieces, result.pieces = result.pieces, []
        result.accounting.held_bytes = 0
        end = result.end_offset = walk.end
        yield result
    if pieces:
        last = finish(
            pieces, sections=decoder.sections, columns=decoder.columns, file=decoder.file, start=end
        )
        last.end_offset = end
        yield last


def _append(whole: RangeResult, result: RangeResult) -> None:
    """Append a result to another."""
    for table, batches in result.batches.items():
        whole.batches[table].extend(batches)
    whole.accounting.add(result.accounting)
    for kind, count in result.records.items():
        whole.records[kind] = whole.records.get(kind, 0) + count
    for section, check in result.checks.items():
        whole.checks[section] = whole.checks.get(section, LayoutCheck()) + check
    whole.pieces.extend(result.pieces)
    whole.end_offset = result.end_offset
