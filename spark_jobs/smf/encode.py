"""The project's own encoder: rows -> records -> segments -> a dump. For tests, benchmarks and simulated data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
"""Column -> value, named as the decoder names them; what is absent is encoded as zero or blank."""


@dataclass(frozen=True)
class Header:
    """Who wrote a record, and when."""

    system_id: str = "SYS1"
    queue_manager: str = "MQ01"
    release: str = "930"
    """As in the record: 800, 910, 946, A00 ...; from 946 on a QSG can be carried."""
    qsg: str | None = None
    written_at: datetime | None = None
    """UTC, to the hundredth of a second."""
    utc_offset_minutes: int = 0
    interval_us: int = 1_800_000_000


@dataclass(frozen=True)
class Framing:
    """How records become a file."""

    kind: str = "rdw"
    """rdw, bdw, gzip+rdw, gzip+bdw."""
    block_bytes: int = 27_998
    segments: Sequence[int] = field(default_factory=tuple)
    """Sizes of segments in turn, over and over: a record that is longer is spanned. None: as long as fits a block."""


def mq_record(kind: str, header: Header, sections: Mapping[str, Sequence[Row]]) -> bytes:
    """Make one record 115-1, 115-2, 115-216, 116-1 or 116-2 of rows of its sections."""
    raise NotImplementedError


def rmf_record(
    header: Header, rows: Mapping[str, Sequence[Row]], *, piece_bytes: int | None = None
) -> list[bytes]:
    """Make a record 74-4 of rows of the r744 tables; with piece_bytes, broken into pieces no longer than that."""
    raise NotImplementedError


def plain_record(smf_type: int, header: Header, *, subtype: int | None = None, body: bytes = b"") -> bytes:
    """Make a record of any other type (2 and 3 begin and end a dump)."""
    raise NotImplementedError


def dump(records: Iterable[bytes], framing: Framing | None = None) -> bytes:
    """Frame records: segments, descriptor words, blocks, compression."""
    raise NotImplementedError


def generate_dump(path: str | Path, size_bytes: int, seed: int) -> None:
    """Write a dump of about size_bytes: by bytes 60 % WQ, 20 % QQST, 10 % 115-2, 10 % others; the same for a seed."""
    raise NotImplementedError
