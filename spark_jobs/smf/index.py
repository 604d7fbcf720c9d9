"""One pass over a dump: its hash, its records by type, the starts of tasks, and the groups of queue managers."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spark_jobs.smf import mq, rmf
from spark_jobs.smf.careful import DEEP
from spark_jobs.smf.framing import detect_file, open_source
from spark_jobs.smf.records import Records
from spark_jobs.smf.results import DumpIndex, Split
from spark_jobs.smf.unzip import UnpackLimits
from spark_jobs.smf.walk import Batch, Walk
from spark_jobs.smf.wire import Ints

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SPLIT_BYTES = 64 * 2**20
SUBTYPES_FLAG = 0x40
HAS_SUBTYPE_BYTES = 24
NO_SUBTYPE = 0xFFFF
KIND_74_4 = 74 << 16 | 4
KIND_115_231 = 115 << 16 | 231
PATIENCE_RECORDS = 4096
"""The number of records after which the missing pieces of a broken record are no longer expected."""
READ_BYTES = 2**20

Progress = Callable[[int, int], None]
"""A function that is called with the number of bytes processed and their total, in the file as stored."""


def kind_of(kind: int) -> str:
    """Return the name that counts use for a kind of record: 115-2, or 2 for a record without a subtype."""
    smf_type, subtype = kind >> 16, kind & 0xFFFF
    return str(smf_type) if subtype == NO_SUBTYPE else f"{smf_type}-{subtype}"


def kinds_of(batch: Batch) -> Ints:
    """Return the type and the subtype of each record as one number."""
    data, starts = batch.data, batch.starts
    # Without the flag, the header ends before the subtype, and these bytes are data.
    has_subtype = (data[starts + 4] & SUBTYPES_FLAG != 0) & (batch.lengths >= HAS_SUBTYPE_BYTES)
    subtypes = data[starts + 22].astype(np.int64) << 8 | data[starts + 23]
    return data[starts + 5].astype(np.int64) << 16 | np.where(has_subtype, subtypes, NO_SUBTYPE)


def index_dump(
    path: str | Path,
    *,
    split_bytes: int = SPLIT_BYTES,
    progress: Progress | None = None,
    limits: UnpackLimits | None = None,
) -> DumpIndex:
    """Return the index of a dump from one pass: hash, framing, records by type, starts of tasks, and groups.

    The groups are known before any row is made, because a channel initiator writes its records after those of its queue
    manager.

    A task may begin at a record from which six consecutive records follow, and never between the pieces of a broken
    record.

    Raises:
        NotAnSmfDump: the file is not a dump, its records were lost in the transfer, or it exceeds `limits` when it is
        decompressed.
    """
    framing = detect_file(path)
    size = Path(path).stat().st_size
    counts: dict[str, int] = {}
    groups: set[tuple[str, str, str]] = set()
    with _Hashed(path) as file:
        walk = Walk(open_source(file, framing=framing, limits=limits), blocked=framing.endswith("bdw"))
        # A gzip file cannot be read from the middle, so it has only one split.
        splits = _Splits(walk, split_bytes=split_bytes, is_whole=framing.startswith("gzip"))
        for batch in walk.batches():
            kinds = kinds_of(batch)
            for kind, count in zip(
                *(part.tolist() for part in np.unique(kinds, return_counts=True)), strict=True
            ):
                counts[kind_of(kind)] = counts.get(kind_of(kind), 0) + count
            if kind_of(KIND_115_231) in counts:
                groups |= _groups(batch, kinds)
            splits.add(batch, kinds)
            if progress is not None:
                progress(min(file.tell(), size), size)
        # The hash is that of the whole file, including bytes after the compressed content.
        file.drain()
        return DumpIndex(
            framing=framing,
            size_bytes=file.tell(),
            sha256=file.hash.hexdigest(),
            splits=tuple(splits.found),
            counts=dict(sorted(counts.items())),
            content_bytes=walk.end,
            groups=tuple(sorted(groups)),
        )


def _groups(batch: Batch, kinds: Ints) -> set[tuple[str, str, str]]:
    """Return the groups that the channel initiators' records in a batch name: system, queue manager, group."""
    chosen: Ints = np.flatnonzero(kinds == KIND_115_231)
    if not len(chosen):
        return set()
    columns = ("system_id", "queue_manager", "chinit_qsg")
    found = mq.decode_115_231(_records(batch, chosen), columns={"qcct": columns})
    return {
        (row["system_id"] or "", row["queue_manager"] or "", row["chinit_qsg"])
        for table in found.values()
        for row in table.to_pylist()
        if row["chinit_qsg"]
    }


def _records(batch: Batch, chosen: Ints) -> Records:
    """Return the chosen records of a batch, numbered as in the batch."""
    return Records(
        batch.data,
        batch.starts[chosen],
        batch.lengths[chosen],
        batch.extents[chosen],
        batch.offsets[chosen],
        chosen,
        "",
    )


class _Hashed(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, path: str | Path) -> None:
        self._file = io.FileIO(str(path))
        self.hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, target: WriteableBuffer, /) -> int:
        read = self._file.readinto(target)
        self.hash.update(memoryview(target)[:read])
        return read

    def tell(self) -> int:
        return self._file.tell()

    def drain(self) -> None:
        """Read the rest, after the end of a compressed stream."""
        while self.read(READ_BYTES):
            pass

    def close(self) -> None:
        self._file.close()
        super().close()


class _Splits:
    """The offsets at which tasks may begin."""

    def __init__(self, walk: Walk, *, split_bytes: int, is_whole: bool) -> None:
        self.found = [Split(0, 0)]
        self._walk = walk
        self._split_bytes = split_bytes
        self._is_whole = is_whole
        self._pieces = _OpenPieces()

    def add(self, batch: Batch, kinds: Ints) -> None:
        """Find the starts of tasks in a batch, before the walk continues."""
        pieces = self._broken(batch, kinds)
        next_piece = 0
        number = 0
        while not self._is_whole and number < len(batch.starts):
            target = self.found[-1].offset + self._split_bytes
            number = max(number, int(np.searchsorted(batch.offsets, target)))
            if number >= len(batch.starts):
                break
            while next_piece < len(pieces) and pieces[next_piece][0] < number:
                self._pieces.add(batch.first_number + pieces[next_piece][0], pieces[next_piece][1])
                next_piece += 1
            record = batch.first_number + number
            if not self._pieces.is_open(record) and self._walk.is_deep_start(
                int(batch.offsets[number]), depth=DEEP
            ):
                self.found.append(Split(int(batch.offsets[number]), record))
            number += 1
        for place, data in pieces[next_piece:]:
            self._pieces.add(batch.first_number + place, data)

    def _broken(self, batch: Batch, kinds: Ints) -> list[tuple[int, bytes]]:
        """Return the pieces of broken records in a batch, each with its record."""
        chosen: Ints = np.flatnonzero(kinds == KIND_74_4)
        if not len(chosen):
            return []
        records = _records(batch, chosen)
        found = np.flatnonzero(rmf.is_piece(records))
        return [
            (int(chosen[i]), batch.data[records.starts[i] : records.starts[i] + records.lengths[i]].tobytes())
            for i in found.tolist()
        ]


class _OpenPieces:
    """Broken records that have begun but not ended."""

    def __init__(self) -> None:
        self._open: dict[bytes, int] = {}

    def add(self, record: int, data: bytes) -> None:
        """Register a piece of a broken record."""
        head = rmf.piece_head(data)
        if head is None:
            return
        self._open.pop(head.whole, None)
        if head.sequence < head.pieces:
            self._open[head.whole] = record

    def is_open(self, record: int) -> bool:
        """Return whether pieces are missing from a record whose latest piece was found recently."""
        return any(record - last <= PATIENCE_RECORDS for last in self._open.values())
