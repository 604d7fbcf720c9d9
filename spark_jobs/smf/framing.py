"""The framing of a dump: RDW, or BDW and RDW, either of them in gzip; and the messages for unreadable files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from planner_core.inputs import what_it_is
from spark_jobs.smf.careful import BDW, DEEP, Careful, has_header_at
from spark_jobs.smf.errors import NotAFile, NotAnSmfDump
from spark_jobs.smf.unzip import GZIP_MAGIC, UnpackLimits, Unzipped
from spark_jobs.smf.walk import Source

FRAMINGS = ("rdw", "bdw", "gzip+rdw", "gzip+bdw")
DETECTED_IN_BYTES = 2**20

HOW_TO_TRANSFER = "Transfer it again in binary with the record descriptor words: in FTP, `binary` and `quote site rdw` before `get`."


def detect_framing(head: bytes, *, size: int | None = None) -> str:
    """Return the framing of a dump, from its first megabyte.

    Raises:
        NotAnSmfDump: the file is not a dump, or its descriptor words or bytes were lost in the transfer.
    """
    if head.startswith(GZIP_MAGIC):
        inner = io.BufferedReader(Unzipped(io.BytesIO(head))).read(DETECTED_IN_BYTES)
        if not inner:
            message = "The file begins like a gzip file but cannot be decompressed: it is damaged."
            raise NotAnSmfDump(message)
        if inner.startswith(GZIP_MAGIC):
            message = "The file was compressed with gzip twice: decompress it once."
            raise NotAnSmfDump(message)
        return "gzip+" + detect_framing(inner)
    if not head:
        message = "The file is empty."
        raise NotAnSmfDump(message)
    walk = Careful(np.frombuffer(head, dtype=np.uint8), at_end=size is None or size <= len(head))
    for framing, blocked, first in (("rdw", False, 0), ("bdw", True, BDW)):
        walk.blocked = blocked
        if walk.is_start(first) and (first == 0 or walk.is_block_word(0)):
            return framing
    refusal = _refusal(head)
    if refusal:
        raise NotAnSmfDump(refusal)
    found = walk.search(0, depth=DEEP)  # the beginning may be damaged
    if found is None:
        message = f"This is not an SMF dump: its first {len(head)} bytes contain no chain of SMF records. {HOW_TO_TRANSFER}"
        raise NotAnSmfDump(message)
    return "bdw" if walk.has_blocks(found) else "rdw"


_TEXT_SHARE = 0.85
_PRINTABLE = np.array([chr(b).isprintable() or b in b"\t\n\r" for b in range(128)] + [False] * 128)


def _refusal(head: bytes) -> str | None:
    """Return the message for a known transfer problem; None for anything else."""
    data = np.frombuffer(head, dtype=np.uint8)
    # Without its descriptor word, a record begins with the flag byte.
    if has_header_at(data, 0):
        return f"This SMF dump was transferred without its record descriptor words (RDW), so the ends of its records are unknown. {HOW_TO_TRANSFER}"
    if head[:2] in (b"PK", b"BZ", b"7z", b"\xfd7") or head[:4] == b"\x28\xb5\x2f\xfd":
        return "The file is compressed in an unsupported format: decompress it, or compress it with gzip."
    if b"INMR0" in head[:200] or "INMR0".encode("cp037") in head[:200]:
        return f"The file is in TSO TRANSMIT form (XMIT). RECEIVE it on z/OS first. {HOW_TO_TRANSFER}"
    if _PRINTABLE[data].mean() > _TEXT_SHARE:
        return f"This is text, not an SMF dump. {HOW_TO_TRANSFER}"
    if _looks_translated(head):
        return (
            "The bytes of this dump were translated from EBCDIC to ASCII in the transfer, which cannot be undone. "
            f"{HOW_TO_TRANSFER}"
        )
    return None


_EYECATCHERS = (
    b"QWHS",
    b"QEST",
    b"QMST",
    b"QJST",
    b"QESD",
    b"QPST",
    b"WTID",
    b"WTAS",
    b"WQST",
    b"QIST",
    b"QLST",
    b"Q5ST",
    b"QSST",
    b"RMF ",
)


def _looks_translated(head: bytes) -> bool:
    """Return whether section names are in ASCII rather than in EBCDIC."""
    in_ascii = sum(head.count(name) for name in _EYECATCHERS)
    in_ebcdic = sum(head.count(name.decode().encode("cp037")) for name in _EYECATCHERS)
    return in_ascii > in_ebcdic


def open_source(path: str | Path | Source, *, framing: str, limits: UnpackLimits | None = None) -> Source:
    """Open a dump for reading, decompressed; `limits` restrict the decompressed size."""
    file = io.FileIO(str(path)) if isinstance(path, str | Path) else path
    return Unzipped(file, limits=limits) if framing.startswith("gzip") else file


def check_regular(path: str | Path) -> None:
    """Refuse anything but a regular file.

    Raises:
        NotAFile: the path is a folder, a pipe or a device.
        OSError: the path does not exist, or access is denied.
    """
    # Check before the file is opened: opening a pipe without a writer would wait forever.
    what = what_it_is(Path(path).stat().st_mode)
    if what:
        message = f"{path} is {what}. Only files are read."
        raise NotAFile(message)


def detect_file(path: str | Path) -> str:
    """Return the framing of the dump in a file."""
    path = Path(path)
    check_regular(path)
    with path.open("rb") as file:
        head = file.read(DETECTED_IN_BYTES)
    return detect_framing(head, size=path.stat().st_size)
