"""The kinds of usage data, and the detection of the kind of a file.

Detection uses only the first bytes and the name, and never fails on unusual content: a file that it does not
recognize is reported, so that the user can name the kind. The module needs only the standard library, so that a page
can show the kind before a job starts.
"""

from __future__ import annotations

import csv
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from planner_core.errors import PlannerError

Kind = Literal[
    "smf",
    "gatherer_json",
    "mqsmf_csv",
    "mqsmf_json",
    "cfact_csv",
    "cfact_json",
    "overview_csv",
    "cfstatus",
    "cfstruct",
    "xcf_str",
    "messages",
    "template",
    "qsg_map",
    "simulation_truth",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
PREVIEW_BYTES: Final = 65_536
"""The number of bytes at the beginning of a file that detection uses."""

KIND_TITLES: Final[dict[Kind, str]] = {
    "smf": "SMF dump (MQ 115/116, RMF 74.4)",
    "gatherer_json": "SMF 74.4 from the z/OS Data Gatherer, JSON",
    "mqsmf_csv": "mq-smf-csv output, CSV",
    "mqsmf_json": "mq-smf-csv output, JSON",
    "cfact_csv": "RMF Monitor III CFACT report, CSV",
    "cfact_json": "RMF Monitor III CFACT report, JSON",
    "overview_csv": "RMF overview conditions, CSV",
    "cfstatus": "DISPLAY CFSTATUS",
    "cfstruct": "DISPLAY CFSTRUCT",
    "xcf_str": "D XCF,STR,STRNAME=",
    "messages": "Messages IXC585E, IXC582I, IXC588I, IXL015I",
    "template": "cfplan's own CSV template",
    "qsg_map": "cfplan's QSG map",
    "simulation_truth": "True values of a simulation",
}
COMPANION_KINDS: Final[frozenset[Kind]] = frozenset({"qsg_map", "simulation_truth"})
"""Kinds of files that accompany usage data but contain none: the map is used, the parameters of a simulation are
ignored."""
QSG_MAP, SIMULATION_TRUTH = "cfplan qsg map", "cfplan simulation truth"
"""The value of the first key in a companion file of each kind."""

OVERVIEW_CONDITIONS: Final = ("LDECTR", "DECTR")
"""Conditions of an RMF overview that show the usage of each list structure."""

_OTHER_CONDITIONS = (
    "SYNCST",
    "SYNCRT",
    "ASYNCST",
    "ASYNCRT",
    "CHNGDP",
    "CHNGDRT",
    "LECTR",
    "STUTILP",
    "SCMIUP",
)
_CONDITION = re.compile(rf"\b(?:{'|'.join((*OVERVIEW_CONDITIONS, *_OTHER_CONDITIONS))})\b")
_GZIP = b"\x1f\x8b"
_FOREIGN: Final = {
    b"PK\x03\x04": "a ZIP archive or spreadsheet: unpack it, or save the sheet as CSV",
    b"%PDF": "a PDF: provide the text or the data it was made from",
    b"\x42\x5a\x68": "a bzip2 file: unpack it",
    b"\x28\xb5\x2f\xfd": "a zstd file: unpack it",
    b"\xfd7zXZ": "an xz file: unpack it",
    b"SQLite format 3": "a database",
    b"PAR1": "a Parquet file",
}
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1a\x1b\x85")
_BINARY_SHARE: Final = 0.02
_HEADER_LINES: Final = 30
_LONGEST_HEADER: Final = 60_000
_FLAG_SUBTYPES: Final = 0x40
_SMF_RECORD_TYPES: Final = frozenset(map(int, ("2", "3", "74", "115", "116")))
"""The types of the SMF records that cfplan reads or that begin and end a dump."""


class KindUnknown(PlannerError):
    """Content that matches none of the kinds; the message suggests what to do."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The kind of a file, and the reason for choosing it."""

    kind: Kind
    reason: str

    @property
    def title(self) -> str:
        """Return the title of the kind."""
        return KIND_TITLES[self.kind]


_NO_FILES: Final = (
    (stat.S_ISDIR, "a folder: specify the files in it"),
    (stat.S_ISFIFO, "a pipe: write its output to a file first, because it is read more than once"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def what_it_is(mode: int) -> str:
    """Return a description of a directory entry that is not a file, from its mode; empty for a file."""
    return next((what for is_so, what in _NO_FILES if is_so(mode)), "")


def detect(first: bytes, name: str = "") -> Detection:
    """Return the kind of a file, from its first bytes (64 KB are enough) and its name.

    Raises:
        KindUnknown: The file matches none of the kinds.
    """
    first = first[:PREVIEW_BYTES]
    if not first:
        msg = "The file is empty."
        raise KindUnknown(msg)
    packed = first.startswith(_GZIP)
    if packed:
        first = _unpacked(first)
    for magic, what in _FOREIGN.items():
        if first.startswith(magic):
            msg = f"This is {what}."
            raise KindUnknown(msg)
    text = decode_text(first, is_whole=False)
    found = _binary(first) if text is None else _text(text, name)
    return Detection(found.kind, f"{found.reason}, inside gzip") if packed else found


def squeezed(heading: str) -> str:
    """Return the letters and digits of a column heading: `Interval_Start (DATE)` is `intervalstartdate`."""
    return re.sub(r"[^a-z0-9]", "", heading.lower())


def split_cells(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of one line of CSV; None if a quote is not closed."""
    # Line by line, so that an open quote cannot take the rest of the file into one cell.
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def delimiter_of(line: str) -> str:
    """Return the delimiter of a line: its most frequent character among comma, semicolon and tab."""
    return max(",;\t", key=line.count)


def decode_text(data: bytes, *, is_whole: bool = True) -> str | None:
    """Return bytes decoded as UTF-8, as UTF-16 with a byte order mark, or as Latin-1; None for data that is not text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        even = data if is_whole else data[: len(data) // 2 * 2]
        return even.decode("utf-16", errors="replace")
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    # A few control characters are in texts that came from a terminal or a spool.
    odd = sum(data.count(bytes((code,))) for code in range(32) if code not in _TEXT_CONTROLS)
    if odd > len(data) * _BINARY_SHARE:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # The first bytes of a file may end inside of a character.
        cut_character = (
            not is_whole and error.start >= len(data) - 4 and error.reason == "unexpected end of data"
        )
        if cut_character:
            return data[: error.start].decode("utf-8")
    # Latin-1 decodes any byte, but 0x80 to 0x9F are control characters there, which texts do not have.
    high = sum(data.count(bytes((code,))) for code in range(0x80, 0xA0))
    return None if high > len(data) * _BINARY_SHARE else data.decode("latin-1")


def _unpacked(first: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(first, PREVIEW_BYTES)
    except zlib.error:
        msg = "The file begins like a gzip file but cannot be unpacked. It is damaged."
        raise KindUnknown(msg) from None


def _binary(first: bytes) -> Detection:
    """Return SMF as the kind of binary data, with the framing that the first bytes show."""
    # All binary data is left to the SMF reader, which explains how to transfer a dump that it cannot read.
    for start, what in ((0, "records with RDWs"), (4, "blocks of records with BDWs and RDWs")):
        head = first[start : start + 6]
        if len(head) == len("RDW..T") and head[2] <= 3 and head[3] == 0 and head[5] in _SMF_RECORD_TYPES:  # noqa: PLR2004 - segment codes 0 to 3
            return Detection("smf", what)
    if len(first) > 1 and first[1] in _SMF_RECORD_TYPES and first[0] & _FLAG_SUBTYPES | first[0] & 0x1E:
        return Detection("smf", "binary data that looks like SMF records without RDWs")
    return Detection("smf", "binary data, not text")


def _text(text: str, name: str) -> Detection:
    start = text.lstrip("\ufeff \t\r\n,[")
    if start.startswith("{"):
        return _json(start)
    displayed = _display(text)
    if displayed:
        return displayed
    for cells in _headers(text):
        found = _table(cells)
        if found:
            return found
    hint = f" named {name!r}" if name else ""
    msg = (
        f"The file{hint} is not recognized as any of the supported kinds. Specify its kind: "
        + ", ".join(f"{kind} ({title})" for kind, title in KIND_TITLES.items())
        + "."
    )
    raise KindUnknown(msg)


_SMF_FIELD = re.compile(r'"(?:SMF74[A-Z0-9]{2,3}|R744[A-Z0-9]{4})"\s*:')
_OWN_KIND = re.compile(rf'\{{\s*"kind"\s*:\s*"({QSG_MAP}|{SIMULATION_TRUTH})"')


def _json(text: str) -> Detection:
    head = text[:PREVIEW_BYTES]
    own = _OWN_KIND.match(head)
    if own:
        return Detection("qsg_map" if own[1] == QSG_MAP else "simulation_truth", f'"kind": "{own[1]}"')
    if re.search(r'"recordType"\s*:\s*"?\d', head) and '"structure"' in head:
        return Detection("mqsmf_json", "JSON objects with recordType and structure")
    if '"columnHeaders"' in head:
        return Detection("cfact_json", "JSON with columnHeaders, as RMF's data server writes it")
    if _SMF_FIELD.search(head):
        return Detection("gatherer_json", "JSON objects with IBM's names of the fields of SMF 74")
    keys = {squeezed(key) for key in re.findall(r'"([^"\\]{1,60})"\s*:', head)}
    if _is_cfact(keys):
        return Detection("cfact_json", "JSON objects with CFACT's column names")
    msg = (
        "The file is JSON, but neither from mq-smf-csv, nor from RMF's CFACT report, nor SMF records 74 of the z/OS Data "
        "Gatherer."
    )
    raise KindUnknown(msg)


_STATUS = re.compile(
    r"^(?!.*\bDIS(?:PLAY)?\s+CFSTATUS).*(?<![A-Z0-9])CFSTATUS\([A-Z0-9_]{1,12}\s*\)", re.MULTILINE
)
_STRUCT = re.compile(r"^[^(\n]{0,120}(?<![A-Z0-9])CFSTRUCT\([A-Z0-9]{1,12}\s*\)", re.MULTILINE)
_STRNAME = re.compile(r"\bIXC360I\b|^[ \t]*STRNAME[ \t]*:", re.MULTILINE)
_EVENTS = re.compile(r"\b(IXC585E|IXC582I|IXC588I|IXL015I)\b")


def _display(text: str) -> Detection | None:
    if _STRNAME.search(text):
        return Detection("xcf_str", "IXC360I or STRNAME:")
    event = _EVENTS.search(text)
    if event:
        return Detection("messages", f"message {event[1]}")
    if _STATUS.search(text):
        return Detection("cfstatus", "CFSTATUS(...)")
    if _STRUCT.search(text) and re.search(r"\b(?:CFLEVEL|OFFLOAD|RECOVER)\(", text):
        return Detection("cfstruct", "CFSTRUCT(...) with its attributes")
    return None


def _headers(text: str) -> Iterator[list[str]]:
    """Yield the cells of the first lines that may be headings."""
    for line in text.splitlines()[:_HEADER_LINES]:
        if line.strip() and not line.startswith("#") and len(line) <= _LONGEST_HEADER:
            yield split_cells(line.lstrip("\ufeff"), delimiter_of(line)) or []


def _table(cells: list[str]) -> Detection | None:
    keys = {squeezed(cell) for cell in cells} - {""}
    if {"lpar", "qmgr", "date", "time"} <= keys:
        return Detection("mqsmf_csv", "columns Date, Time, LPAR, QMgr")
    if "interval_end" in {cell.strip().lower() for cell in cells} and "structure" in keys:
        return Detection("template", "columns structure and interval_end")
    if _is_cfact(keys):
        return Detection("cfact_csv", "CFACT's column names")
    conditions = [cell for cell in cells if _CONDITION.search(cell)]
    if conditions:
        return Detection("overview_csv", f"condition {conditions[0].strip()[:40]} among the headings")
    return None


def _is_cfact(keys: set[str]) -> bool:
    named = bool(keys & {"structurename", "structurename1"})
    return named and any(
        key.startswith(("totallistentries", "actuallistentries", "structuresize")) for key in keys
    )
