"""The result of reading a dump: rows, and an account of every byte."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from planner_core.contracts.ingest import Quarantine

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LayoutCheck:
    """The number of rows of a section that were checked for plausibility, and the number that failed."""

    rows: int = 0
    failed: int = 0

    def __add__(self, other: LayoutCheck) -> LayoutCheck:
        """Return the sum of the checks of two ranges."""
        return LayoutCheck(self.rows + other.rows, self.failed + other.failed)

    @property
    def is_layout_wrong(self) -> bool:
        """Return whether more than one row in a hundred failed, which means that the layout is wrong, not the rows."""
        return self.failed * 100 > self.rows


@dataclass
class Accounting:
    """An account of every byte: decoded + skipped + quarantined + lost + held = the bytes of the range.

    The size of a record includes its segments' descriptor words. Block descriptor words are counted as skipped, under
    "BDW".
    """

    decoded_bytes: int = 0
    skipped: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Number and bytes of skipped records by type and subtype."""
    quarantined: list[Quarantine] = field(default_factory=list)
    lost_bytes: int = 0
    """The incomplete record at the end of a truncated dump."""
    held_bytes: int = 0
    """Pieces of broken records whose other pieces are in another range."""

    @property
    def skipped_bytes(self) -> int:
        """Return the bytes of the skipped records."""
        return sum(size for _, size in self.skipped.values())

    @property
    def quarantined_bytes(self) -> int:
        """Return the bytes that could not be read."""
        return sum(item.length for item in self.quarantined)

    @property
    def total_bytes(self) -> int:
        """Return the total number of bytes in all parts of the account."""
        return (
            self.decoded_bytes
            + self.skipped_bytes
            + self.quarantined_bytes
            + self.lost_bytes
            + self.held_bytes
        )

    def add(self, other: Accounting) -> None:
        """Add the account of another range."""
        self.decoded_bytes += other.decoded_bytes
        for kind, (records, size) in other.skipped.items():
            before = self.skipped.get(kind, (0, 0))
            self.skipped[kind] = (before[0] + records, before[1] + size)
        self.quarantined.extend(other.quarantined)
        self.lost_bytes += other.lost_bytes
        self.held_bytes += other.held_bytes


@dataclass(frozen=True)
class Piece:
    """One piece of a broken record in the dump: RMF writes a record of more than 32 KB in pieces."""

    offset: int
    length: int
    """Bytes in the dump, with the descriptor words of all segments."""
    record: int
    data: bytes


@dataclass
class RangeResult:
    """The rows of a byte range and the account of its bytes."""

    batches: dict[str, list[pa.RecordBatch]]
    """Table (see decode.TABLES) -> batches in record order."""
    first_start: int
    """Offset of the first record that begins in the range; the previous range must end here."""
    end_offset: int
    """The end of the range's last record; the next range must begin here."""
    accounting: Accounting
    records: dict[str, int]
    """Number of records by type and subtype, whether decoded, skipped or quarantined."""
    checks: dict[str, LayoutCheck] = field(default_factory=dict)
    """Section -> its self-check. If `is_layout_wrong` for the whole dump, nothing of the section may be stored."""
    pieces: list[Piece] = field(default_factory=list)
    """Pieces of records that are incomplete in this range; `decode.finish` combines them with those of all ranges."""


@dataclass(frozen=True)
class Split:
    """The start of a task: a record's offset, and the number of records before it."""

    offset: int
    record_number: int


@dataclass(frozen=True)
class DumpIndex:
    """The index of a dump, from one pass over it."""

    framing: str
    """rdw, bdw, gzip+rdw or gzip+bdw; a compressed dump has one split, and its offsets count decompressed bytes."""
    size_bytes: int
    """The size of the file as stored."""
    sha256: str
    splits: tuple[Split, ...]
    counts: dict[str, int]
    """Number of records by type and subtype."""
    content_bytes: int
    """The decompressed size of the dump, to which all accounts add up; equal to size_bytes if the dump is not
    compressed."""
    groups: tuple[tuple[str, str, str], ...] = ()
    """The queue-sharing groups that records of channel initiators name: system, queue manager, group."""

    def ranges(self) -> list[tuple[Split, int]]:
        """Return the start of each task, and the offset at which the next task takes over."""
        ends = [split.offset for split in self.splits[1:]] + [self.content_bytes]
        return list(zip(self.splits, ends, strict=True))

    def to_json(self) -> str:
        """Return the index as text, for the file next to the dump."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> DumpIndex:
        """Return the index from the output of `to_json`."""
        found = json.loads(text)
        # asdict converted the splits to dictionaries.
        found["splits"] = tuple(Split(**split) for split in found["splits"])
        found["groups"] = tuple((system, manager, group) for system, manager, group in found["groups"])
        return cls(**found)
