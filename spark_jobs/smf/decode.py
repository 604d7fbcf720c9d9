"""From the bytes of a dump to Arrow record batches: the one decoder, in-process and under Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from spark_jobs.smf.results import (
    Accounting,
    DumpIndex,
    LayoutCheck,
    Piece,
    Quarantine,
    RangeResult,
    Split,
)

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
    "schema",
]

SECTIONS = ("qest", "qesd", "qqst", "wq", "r744")
"""What can be asked for."""
TABLES = ("qest", "qesd", "qqst", "wq", "r744_structure", "r744_storage", "r744_scm", "r744_cf")
"""What comes back: section r744 gives four tables."""
SPLIT_BYTES = 64 * 2**20

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all (of the file as it lies on disk)."""
Columns = dict[str, Sequence[str]]
"""Table -> the columns wanted, common ones included; a table that is not named has all of its columns."""


def schema(table: str, *, columns: Sequence[str] | None = None) -> pa.Schema:
    """Return the Arrow schema of one of TABLES."""
    raise NotImplementedError


def index_dump(
    path: str | Path, *, split_bytes: int = SPLIT_BYTES, progress: Progress | None = None
) -> DumpIndex:
    """Pass once over a dump: hash, framing, records by type, and where tasks may begin.

    Raises:
        NotAnSmfDump: it is none, or was transferred in a way that lost its records.
    """
    raise NotImplementedError


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
    """Decode the records that begin in the bytes from start up to end; start need not be a record's.

    Args:
        path: the dump.
        start: offset of the first byte of the range.
        end: offset of the first byte after it; the last record is read to its own end.
        framing: as DumpIndex says.
        sections: of SECTIONS; records of all others are counted as skipped.
        first_record: how many records come before, when that is known (Split.record_number).
        columns: which columns of which table to make: fewer are faster.
        only_shared: of wq and qqst, only the rows of queues in a coupling facility structure.
    """
    raise NotImplementedError


def decode_file(
    path: str | Path,
    *,
    sections: Sequence[str],
    columns: Columns | None = None,
    only_shared: bool = False,
    framing: str | None = None,
    progress: Progress | None = None,
) -> Iterator[RangeResult]:
    """Decode a whole dump in order, some megabytes at a time; nothing is left over after the last result."""
    raise NotImplementedError


def decode_bytes(
    data: bytes,
    *,
    sections: Sequence[str],
    columns: Columns | None = None,
    only_shared: bool = False,
    framing: str | None = None,
) -> RangeResult:
    """Decode a dump that lies in memory; gzip too."""
    raise NotImplementedError


def finish(
    pieces: Iterable[Piece], *, sections: Sequence[str], columns: Columns | None = None
) -> RangeResult:
    """Put together the pieces that ranges left over (RangeResult.pieces); what stays incomplete is quarantined."""
    raise NotImplementedError
