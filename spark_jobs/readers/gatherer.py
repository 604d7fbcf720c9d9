"""Read SMF records 74-4 in the JSON of the z/OS Data Gatherer, by writing the dump that has the same values.

The service of the Data Gatherer answers with an object of records by index, "0", "1" and so on. Records and sections are
objects of IBM's field names. This module writes each record in the binary form, and the reader of dumps reads it: so the
layouts declare the fields once, and both forms have the same rows, self-checks and report.

Published are the names and the types of the fields (IBM SMF Explorer, SMF 74 subtype 4). The names of the members that
hold the sections are not: a section is recognized by the names of its fields, wherever it is in the record. Which forms
of values are assumed is in docs/reference/smf-records-json.md.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import time as time_now
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa

from planner_core.bounds import DEEPEST
from planner_core.units import MIB
from spark_jobs.readers.result import NotReadable
from spark_jobs.readers.text import TextFile
from spark_jobs.smf.encode import (
    CODE_PAGE,
    Header,
    hexadecimal_float,
    rmf_product,
    rmf_records,
    standard_header,
    unix_us,
)
from spark_jobs.smf.layouts import FieldLayout, Layout, layout
from spark_jobs.smf.records import FARTHEST_OFFSET_MINUTES
from spark_jobs.smf.results import RangeResult
from spark_jobs.smf.wire import BLANK, QUARTER_US, STCK_SHIFT, UNIX_EPOCH_STCK_US, US_A_MINUTE

TYPE, SUBTYPE = 74, 4
CHUNK: Final = MIB
LARGEST_RECORD: Final = 16 * MIB
"""Characters. A coupling facility has at most 4095 structures; with all 100 fields of R744SREQ, of about 25 characters
each, they have 10 MB."""
MOST_OBJECTS: Final = 100_000
"""Objects and arrays of one record, which take far more memory than their text. With all fields of R744SREQ, about 6,700 sections
have `LARGEST_RECORD` characters."""
MOST_RECORDS: Final = 1_000_000
"""A day of 96 intervals, 32 systems and 16 coupling facilities has 49,152."""
MOST_SECTIONS: Final = 65_535
"""The number of sections has two bytes in a record."""
MOST_PROBLEMS: Final = 5
LONGEST_NUMBER: Final = 400
"""Digits. A number of 8 bytes has 20, the largest floating-point number 309."""
LONGEST_SHOWN: Final = 40
LONGEST_INTERVAL_US: Final = 100 * US_A_MINUTE
"""SMF74INT has two digits for minutes."""
PREFIX: Final = "cfplan-smf-"
DUMP: Final = "records.smf"
LEFT_OVER_AFTER_S: Final = 7 * 86_400.0
"""Seconds. A document of 22 MB takes about 3; even one of 100 GB, were it possible, would take hours."""
AGAIN: Final = "Nothing was stored. Request the records again."

HEADER: Final = "header"
PRODUCT: Final = "r744_product"
SECTIONS: Final[Mapping[str, str]] = {
    "r744_cf": "SMF744FN",
    "r744_storage": "SMF744GN",
    "r744_qsds": "SMF744QN",
    "r744_sreq": "SMF744SN",
    "r744_scm": "SMF744MN",
}
"""The sections that are read, and the fields of the record with their numbers (IBM SMF Explorer, SMF 74 subtype 4)."""
HEADER_FIELDS: Final = ("SMF74SID", "SMF74DTE", "SMF74TME")
KIND_FIELDS: Final = ("SMF74RTY", "SMF74STY")
PRODUCT_FIELDS: Final = ("SMF74INT", "SMF74LGO", "SMF74GIE", "SMF74XNM", "SMF74SNM")
"""The fields of the product section that are read. The last two are in its layout; the decoder reads the others itself."""


@dataclass
class Converted:
    """The dump that was written, and where each record is in it."""

    path: Path
    notes: list[str] = field(default_factory=list)
    indexes: list[int] = field(default_factory=list)
    """The index of each record in the JSON."""
    offsets: list[int] = field(default_factory=list)
    """The offset of each record in the dump, or of its first piece."""
    numbers: list[int] = field(default_factory=list)
    """The number of each record in the dump, or of its first piece."""

    def index_at(self, offset: int) -> int:
        """Return the index of the record at an offset in the dump."""
        return self.indexes[bisect_right(self.offsets, offset) - 1]

    def with_indexes(self, found: RangeResult) -> RangeResult:
        """Return rows of the dump with the indexes of their records instead of their numbers, and without offsets."""
        numbers, indexes = np.array(self.numbers), np.array(self.indexes)

        def placed(batch: pa.RecordBatch) -> pa.RecordBatch:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            at = np.searchsorted(numbers, columns["record"].to_numpy(), side="right") - 1
            columns["record"] = pa.array(indexes[at], pa.int64())
            if "offset" in columns:
                columns["offset"] = pa.nulls(len(batch), pa.int64())
            return pa.RecordBatch.from_arrays(list(columns.values()), schema=batch.schema)

        batches = {table: [placed(each) for each in of_table] for table, of_table in found.batches.items()}
        return replace(found, batches=batches)


@contextmanager
def converted(path: Path, *, folder: Path | None = None) -> Iterator[Converted]:
    """Yield a temporary dump with the records of a JSON document.

    Args:
        path: The document; it may be compressed with gzip.
        folder: The folder for the temporary dump; None for that of the system.

    Raises:
        NotReadable: The document is incomplete, or a value in it does not have the form that its field has.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_left_over(folder)
    with TemporaryDirectory(prefix=PREFIX, dir=folder) as made:
        # Not the name of the upload, which need not be one that a file can have.
        found = Converted(Path(made) / DUMP)
        with found.path.open("wb") as out:
            _Conversion(TextFile(path), out, found).run()
        yield found


def _remove_left_over(folder: Path) -> None:
    """Remove the temporary dumps of processes that were killed. No conversion takes as long as these are old."""
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another process removes it
            if time_now() - path.stat().st_mtime > LEFT_OVER_AFTER_S:
                rmtree(path, ignore_errors=True)


# ---- the document ------------------------------------------------------------------------------------------------


class _Repeated(ValueError):
    """A key that an object has twice."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that cannot be a value: too long, infinite or none. No text, because a field of characters would take it."""

    text: str


_BLANKS = re.compile(r"[ \t\r\n]*")
_INDEX = re.compile(r"[0-9]{1,7}")
_BRACKET_OR_TEXT = re.compile(r'[{}\[\]]|"(?:[^"\\]*(?:\\.[^"\\]*)*")?', re.DOTALL)
"""A quotation mark alone begins a text whose end was not read yet."""


class _Document:
    """The members of the outermost object, read one after another, so that the document may be larger than memory."""

    def __init__(self, file: TextFile) -> None:
        self._file = file
        self._chunks = file.chunks(CHUNK)
        self._text, self._at, self._is_last = "", 0, False
        self._has_many = False
        """Whether the text that was read may have a record with too many objects."""
        self.place = "before the first record"
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_once,
            parse_int=lambda text: (
                int(text) if len(text) <= LONGEST_NUMBER else _Number(text[:LONGEST_SHOWN])
            ),
            parse_float=_finite,
            parse_constant=_Number,
        )

    def members(self) -> Iterator[tuple[str, Any]]:
        """Yield key and value of each member.

        Raises:
            NotReadable: The text is not one complete JSON object.
        """
        if self._next() not in ("{", ""):
            message = "The JSON must be an object of records by index, as the Data Gatherer writes it. Nothing was stored."
            raise NotReadable(message)
        self._expect("{")
        if self._next() == "}":
            self._expect("}")
        else:
            separator = ","
            while separator == ",":
                if self._next() != '"':
                    raise self._broken()
                key = self._value()
                self._expect(":")
                self._next()
                self.place = f"in record {_label(key)}"
                yield key, self._value()
                self.place = f"after record {_label(key)}"
                separator = self._expect(",}")
        if self._next():
            message = f"The answer continues after its last brace. {AGAIN}"
            raise NotReadable(message)

    def _expect(self, characters: str) -> str:
        """Pass one of these characters and return it."""
        found = self._next()
        if not found or found not in characters:
            raise self._broken()
        self._at += 1
        return found

    def _next(self) -> str:
        """Return the next character that is not blank; empty at the end of the text."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def _grow(self) -> bool:
        """Read as much text again as there is left, so that a long record is not parsed from its start too often."""
        self._text, self._at = self._text[self._at :], 0
        wanted = len(self._text) + max(len(self._text), CHUNK)
        parts = [self._text]
        size = len(self._text)
        while size < wanted and (chunk := next(self._chunks, None)) is not None:
            parts.append(chunk)
            size += len(chunk)
        self._is_last = size < wanted
        grown = size > len(self._text)
        self._text = "".join(parts)
        # Of the whole text, because counting for each record would take far longer than parsing.
        self._has_many = self._text.count("{") + self._text.count("[") > MOST_OBJECTS
        return grown

    def _require_few(self) -> None:
        """Check the number of objects and arrays in the next value before it is parsed.

        Raises:
            NotReadable: It has too many.
        """
        if not self._text.startswith(("{", "["), self._at):
            return
        count = depth = 0
        for match in _BRACKET_OR_TEXT.finditer(self._text, self._at):
            found = match[0]
            if found in "{[":
                count, depth = count + 1, depth + 1
            elif found in "}]":
                depth -= 1
            if found == '"' or not depth:
                return
            if count > MOST_OBJECTS:
                message = (
                    f"The answer has more than {MOST_OBJECTS} objects and arrays {self.place}: it is not a record 74-4. Nothing was "
                    "stored. Check the data set and the address that you requested."
                )
                raise NotReadable(message)

    def _value(self) -> Any:  # noqa: ANN401 - any JSON value
        while True:
            if self._has_many:
                self._require_few()
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                message = f"The answer is nested too deeply {self.place}: it is not one of the Data Gatherer. Nothing was stored."
                raise NotReadable(message) from None
            except _Repeated as error:
                message = f"The answer has the key {error.args[0]!a:.{LONGEST_SHOWN}} twice in one object {self.place}. {AGAIN}"
                raise NotReadable(message) from None
            except ValueError:
                if len(self._text) - self._at >= LARGEST_RECORD:
                    message = f"A record has more than {LARGEST_RECORD} characters, or its JSON is not valid ({self.place}). Nothing was stored."
                    raise NotReadable(message) from None
                if self._is_last or not self._grow():
                    raise self._broken(is_value=True) from None
            else:
                # The end of the text may have cut a number, which is valid nevertheless.
                if end < len(self._text) or self._is_last or not self._grow():
                    self._at = end
                    return value

    def _broken(self, *, is_value: bool = False) -> NotReadable:
        """Return the error for a text that is cut off or not valid where it was read last."""
        if self._file.is_cut:
            return NotReadable(f"The compressed file is truncated {self.place}. {AGAIN}")
        if not self._next() or (is_value and self._is_cut()):
            return NotReadable(f"The answer is truncated {self.place}: its end is missing. {AGAIN}")
        return NotReadable(f"The answer is not valid JSON {self.place}. {AGAIN}")

    def _is_cut(self) -> bool:
        """Return whether the last value failed only because the text ends."""
        try:
            self._decoder.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            return error.pos >= len(self._text.rstrip()) or error.msg.startswith("Unterminated string")
        return False


def _label(key: str) -> str:
    return key if _INDEX.fullmatch(key) else f"{key!a:.{LONGEST_SHOWN}}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Repeated(key)
            seen.add(key)
    return made


def _finite(text: str) -> float | _Number:
    found = float(text) if len(text) <= LONGEST_NUMBER else math.inf
    return found if math.isfinite(found) else _Number(text[:LONGEST_SHOWN])


# ---- values ------------------------------------------------------------------------------------------------------


class Unusable(Exception):
    """A value that a field cannot have; the message states the form that it must have."""


Packer = Callable[[FieldLayout, Any], bytes]


def _integer(place: FieldLayout, value: object) -> bytes:
    most = 256**place.size - 1
    if type(value) is not int or not 0 <= value <= most:
        message = f"an integer from 0 to {most}"
        raise Unusable(message)
    return value.to_bytes(place.size, "big")


SMALLEST_FLOAT, LARGEST_FLOAT = 16.0**-64, 16.0**62
"""The range of long hexadecimal floating-point numbers, with a digit to spare."""


def _number(place: FieldLayout, value: object) -> bytes:
    del place
    if type(value) not in (int, float) or not (
        value == 0 or SMALLEST_FLOAT <= abs(value) <= LARGEST_FLOAT  # type: ignore[arg-type]
    ):
        message = "a number"
        raise Unusable(message)
    return hexadecimal_float(float(value))  # type: ignore[arg-type]


def _characters(place: FieldLayout, value: object) -> bytes:
    message = f"a text of at most {place.size} characters"
    if not isinstance(value, str):
        raise Unusable(message)
    text = value.rstrip(" \0")
    try:
        made = text.encode(CODE_PAGE)
    except UnicodeEncodeError:
        raise Unusable(message) from None
    # A control character in the system id would look like damage to the header.
    if len(made) > place.size or any(code < BLANK for code in made):
        raise Unusable(message)
    return made.ljust(place.size, bytes([BLANK]))


def _clock(place: FieldLayout, value: object) -> bytes:
    digits = 2 * place.size
    if not isinstance(value, str) or not re.fullmatch(rf"[0-9A-Fa-f]{{{digits}}}", value):
        message = f"{digits} hexadecimal digits"
        raise Unusable(message)
    return bytes.fromhex(value)


def _bits(place: FieldLayout, value: object) -> bytes:
    digits = 8 * place.size
    if not isinstance(value, str) or not re.fullmatch(rf"[01]{{{digits}}}", value):
        message = f"{digits} binary digits"
        raise Unusable(message)
    return int(value, 2).to_bytes(place.size, "big")


def _code(place: FieldLayout, value: object) -> bytes:
    """Return the byte of a code. IBM's type is string; its form is not published, and no two of these can be confused."""
    if isinstance(value, str):
        for digits, base in (("[01]{8}", 2), ("[0-9A-Fa-f]{1,2}", 16)):
            if re.fullmatch(digits, value):
                return bytes([int(value, base)])
    elif type(value) is int and 0 <= value <= 255:  # noqa: PLR2004 - one byte
        return bytes([value])
    message = f"a code, such as {next(iter(place.values))}"
    raise Unusable(message)


PACKERS: Final[Mapping[str, tuple[str, Packer]]] = {
    "u1": ("integer", _integer),
    "u2": ("integer", _integer),
    "u4": ("integer", _integer),
    "u8": ("integer", _integer),
    "us": ("integer", _integer),
    "float": ("number", _number),
    "char": ("string", _characters),
    "stck": ("string", _clock),
    "bit1": ("string", _bits),
    "code1": ("string", _code),
}
"""Wire type -> IBM's type of the field in JSON, and the bytes of a value."""


def fields_of(section: Layout) -> dict[str, FieldLayout]:
    """Return the fields of a section by the name that they have in JSON; the bits of one field are one field."""
    found: dict[str, FieldLayout] = {}
    for each in section.all_fields:
        found.setdefault(each.name.upper(), each)
    return found


_TIME = re.compile(r"(\d\d):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:Z|\+00:00)?")
_YEARS: Final = range(1900, 2100)
"""The years of a date 0cyydddF whose century is 0 or 1."""


def _duration_us(value: object) -> tuple[int, bool]:
    """Return a time HH:MM:SS in microseconds, and whether there is no smaller part."""
    parts = _TIME.fullmatch(value) if isinstance(value, str) else None
    if parts is None:
        message = "a time, such as 00:15:00.000"
        raise Unusable(message)
    digits = (parts[4] or "").ljust(9, "0")
    us = ((int(parts[1]) * 60 + int(parts[2])) * 60 + int(parts[3])) * 1_000_000 + int(digits[:6])
    return us, digits[6:] == "000"


def _interval_us(value: object) -> int:
    us, is_exact = _duration_us(value)
    if us >= LONGEST_INTERVAL_US or us % 1000 or not is_exact:
        message = "a time of less than 100 minutes, in whole milliseconds"
        raise Unusable(message)
    return us


def _time_of_day(value: object) -> time:
    us, is_exact = _duration_us(value)
    if us >= 24 * 60 * US_A_MINUTE or us % 10_000 or not is_exact:
        message = "a time of day, in whole hundredths of a second"
        raise Unusable(message)
    return (datetime.combine(date.min, time()) + timedelta(microseconds=us)).time()


def _date(value: object) -> date:
    try:
        found = (
            date.fromisoformat(value) if isinstance(value, str) and len(value) == len("2026-11-28") else None
        )
    except ValueError:
        found = None
    if found is None or found.year not in _YEARS:
        message = "a date, such as 2026-11-28"
        raise Unusable(message)
    return found


_LAST_CLOCK_US: Final = (2**64 >> STCK_SHIFT) - UNIX_EPOCH_STCK_US


def _instant_us(value: object) -> int:
    """Return an instant in GMT in microseconds since 1970, smaller parts left out as the reader of dumps does."""
    parts = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    message = "a date and time, such as 2026-11-28T12:15:00.000000"
    if parts is None:
        raise Unusable(message)
    try:
        day = _date(parts[1])
        us, _ = _duration_us(parts[2])
    except Unusable:
        raise Unusable(message) from None
    found = unix_us(datetime.combine(day, time(), UTC)) + us
    if us >= 24 * 60 * US_A_MINUTE or not -UNIX_EPOCH_STCK_US < found < _LAST_CLOCK_US:
        raise Unusable(message)
    return found


def _to_local(value: object) -> int:
    """Return SMF74LGO. Its unit is not published: the one of the record is assumed, so another would be refused."""
    message = (
        "a difference of whole quarters of an hour in units of the hardware clock (4096 for a microsecond)"
    )
    if type(value) is not int or abs(value) >= 2**63:
        raise Unusable(message)
    us = value >> STCK_SHIFT
    quarters = (us + QUARTER_US // 2) // QUARTER_US
    is_far = abs(us - quarters * QUARTER_US) > US_A_MINUTE or abs(us) > FARTHEST_OFFSET_MINUTES * US_A_MINUTE
    if is_far or (value and not quarters):
        raise Unusable(message)
    return value


# ---- records -----------------------------------------------------------------------------------------------------


def _section_of() -> dict[str, str]:
    """Return for the name of each field the part of the record that it belongs to."""
    found = dict.fromkeys((*HEADER_FIELDS, *KIND_FIELDS, *SECTIONS.values()), HEADER)
    found |= dict.fromkeys(PRODUCT_FIELDS, PRODUCT)
    for section in SECTIONS:
        found |= dict.fromkeys(fields_of(layout(section)), section)
    return found


PART_OF: Final[Mapping[str, str]] = _section_of()
_FIELDS: Final = {section: fields_of(layout(section)) for section in SECTIONS}
_SYSTEM_ID: Final = FieldLayout(
    name="smf74sid", column="system_id", offset=14, type="char", length=4, meaning="system id"
)
_MISSING: Final = object()

Fields = dict[str, Any]


class _Record:
    """One record: its fields by part, and the errors found in them."""

    def __init__(self, index: str, content: Mapping[str, Any], problems: list[str]) -> None:
        self.place = f"Record {index}"
        self._problems = problems
        self.parts: dict[str, list[Fields]] = {
            HEADER: [],
            PRODUCT: [],
            **{section: [] for section in SECTIONS},
        }
        self._collect(content)

    def _collect(self, content: Mapping[str, Any]) -> None:
        """Find the objects with known fields, in the order of their indexes."""
        waiting: list[tuple[object, int]] = [(content, 1)]
        while waiting:
            value, depth = waiting.pop()
            if depth > DEEPEST:
                self.problem("is nested too deeply")
                return
            if isinstance(value, dict):
                self._see(value)
                inner = [value[key] for key in _in_order(value)]
            else:
                inner = value if isinstance(value, list) else []
            waiting += [(each, depth + 1) for each in reversed(inner) if isinstance(each, dict | list)]

    def _see(self, content: dict[str, Any]) -> None:
        found: dict[str, Fields] = {}
        for key, value in content.items():
            part = PART_OF.get(key)
            if part is not None:
                found.setdefault(part, {})[key] = value
        for part, fields in found.items():
            self.parts[part].append(fields)

    @property
    def has_many_problems(self) -> bool:
        """Whether there are more problems than are shown."""
        return len(self._problems) > MOST_PROBLEMS

    def problem(self, fault: str, *, where: str = "") -> None:
        self._problems.append(f"{self.place}{where} {fault}.")

    def value(self, fields: Fields, name: str, read: Callable[[Any], Any], *, where: str) -> Any:  # noqa: ANN401
        """Return a value in the form that `read` gives it; None, with a problem, if it is missing or has another form."""
        value = fields.get(name, _MISSING)
        at = f"{where}, field {name}"
        if value is _MISSING or value is None:
            self.problem("is missing", where=at)
            return None
        try:
            return read(value)
        except Unusable as form:
            self.problem(f"must be {form}, but is {_shown(value)}", where=at)
            return None

    def the_only(self, part: str, title: str) -> Fields | None:
        """Return the fields of a part that each record has once."""
        found = self.parts[part]
        if len(found) == 1:
            return found[0]
        self.problem("is missing" if not found else f"occurs {len(found)} times", where=f", {title}")
        return None


def _in_order(content: Mapping[str, Any]) -> list[str]:
    """Return the keys; those of an indexed map by their number, because a map of texts may have another order."""
    if all(key.isascii() and key.isdigit() for key in content):
        return sorted(content, key=lambda key: (len(key), key))
    return list(content)


def _shown(value: object) -> str:
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


class _Conversion:
    def __init__(self, file: TextFile, out: BinaryIO, found: Converted) -> None:
        self._document, self._out, self._found = _Document(file), out, found
        self._problems: list[str] = []
        self._others: list[str] = []
        self._indexes: set[int] = set()
        self._written = 0

    def run(self) -> None:
        for key, value in self._document.members():
            index = int(key) if _INDEX.fullmatch(key) else None
            if index is None:
                self._others = [*self._others, _label(key)][-MOST_PROBLEMS:]
                # A member such as a status may be there, but an object or array could be a record under another name.
                if isinstance(value, dict | list):
                    self._problem(f"Member {self._others[-1]} is not a record: records have an index.")
                continue
            if not isinstance(value, dict):
                self._problem(f"Record {index} must be an object, but is {_shown(value)}.")
                continue
            if index in self._indexes:
                self._problem(f"Record {index} occurs twice.")
                continue
            if len(self._indexes) == MOST_RECORDS:
                self._problem(f"There are more than {MOST_RECORDS} records: request a shorter time.")
                self._refuse()
            self._indexes.add(index)
            self._take(index, value)
            if len(self._problems) >= MOST_PROBLEMS:
                self._refuse()
        self._refuse()
        if not self._indexes:
            has = f" It has only members such as {', '.join(self._others)}." if self._others else ""
            message = f"The answer has no records 74-4.{has} Nothing was stored. Check the data set and the time that you requested."
            raise NotReadable(message)
        self._note_gaps()

    def _problem(self, text: str) -> None:
        self._problems.append(text)
        if len(self._problems) >= MOST_PROBLEMS:
            self._refuse()

    def _refuse(self) -> None:
        if not self._problems:
            return
        shown = self._problems[:MOST_PROBLEMS]
        more = "" if len(self._problems) <= len(shown) else " There are more problems."
        message = (
            f"{' '.join(shown)}{more} Nothing was stored: a JSON document is read completely or not at all."
        )
        raise NotReadable(message)

    def _note_gaps(self) -> None:
        first, last = min(self._indexes), max(self._indexes)
        missing = last - first + 1 - len(self._indexes)
        if missing:
            self._found.notes.append(
                f"The indexes of {missing} record{'' if missing == 1 else 's'} between {first} and {last} are missing: the answer may be incomplete."
            )

    def _take(self, index: int, content: Mapping[str, Any]) -> None:
        record = _Record(str(index), content, self._problems)
        made = _record_bytes(record)
        if made is None or self._problems:
            return
        self._found.indexes.append(index)
        self._found.offsets.append(self._out.tell())
        self._found.numbers.append(self._written)
        self._out.writelines(made)
        self._written += len(made)


def _record_bytes(record: _Record) -> list[bytes] | None:
    """Return the record in the binary form, in pieces if it is long; None if it has an error."""
    header = record.the_only(HEADER, "header")
    if header is None:
        return None
    kind = tuple(header.get(name, usual) for name, usual in zip(KIND_FIELDS, (TYPE, SUBTYPE), strict=True))
    if kind != (TYPE, SUBTYPE):
        record.problem(
            f"has the type {_shown(kind[0])} and the subtype {_shown(kind[1])}: only 74 subtype 4 is read"
        )
        return None
    product = record.the_only(PRODUCT, "section SMF74PRO")
    contents = _contents(record, header)
    head = _head(record, header)
    made_product = None if product is None else _product(record, product)
    if head is None or made_product is None:
        return None
    return rmf_records(head, made_product, contents)


def _head(record: _Record, fields: Fields) -> bytearray | None:
    system = record.value(fields, "SMF74SID", partial(_characters, _SYSTEM_ID), where="")
    day = record.value(fields, "SMF74DTE", _date, where="")
    at = record.value(fields, "SMF74TME", _time_of_day, where="")
    if system is None or day is None or at is None:
        return None
    # The header has local time, which the encoder derives from an offset: here it is given.
    written = Header(datetime.combine(day, at, UTC), system_id=system.decode(CODE_PAGE))
    return standard_header(TYPE, written, subtype=SUBTYPE, subsystem="RMF")


def _product(record: _Record, fields: Fields) -> bytes | None:
    where = ", section SMF74PRO"
    interval = record.value(fields, "SMF74INT", _interval_us, where=where)
    to_local = record.value(fields, "SMF74LGO", _to_local, where=where)
    end = record.value(fields, "SMF74GIE", _instant_us, where=where)
    names = [
        record.value(fields, name, partial(_characters, place), where=where)
        for name, place in fields_of(layout(PRODUCT)).items()
    ]
    if interval is None or to_local is None or end is None or None in names:
        return None
    sysplex, system = (name.decode(CODE_PAGE) for name in names)
    return rmf_product(
        interval_us=interval, to_local=to_local, end_us=end, sysplex=sysplex, system_name=system
    )


def _contents(record: _Record, header: Fields) -> dict[int, list[bytes]]:
    """Return the sections by triplet."""
    made: dict[int, list[bytes]] = {}
    for section_id, count_field in SECTIONS.items():
        section, found = layout(section_id), record.parts[section_id]
        name = section.title.partition(":")[0]
        counted = header.get(count_field, len(found))
        if counted != len(found):
            record.problem(
                f"has {len(found)} sections {name}, but {count_field} is {_shown(counted)}: the answer is incomplete"
            )
        if section_id == "r744_cf" and not found:
            record.problem("is missing", where=f", section {name}")
        if len(found) > MOST_SECTIONS:
            record.problem(f"has more than {MOST_SECTIONS} sections {name}")
            continue
        sections = made[section.triplet_of("74-4")] = []
        for number, fields in enumerate(found):
            if record.has_many_problems:
                break  # those of all sections could fill the memory
            sections.append(_packed(record, section_id, fields, where=f", section {name} {number}"))
    return made


def _packed(record: _Record, section_id: str, fields: Fields, *, where: str) -> bytes:
    packed = bytearray(layout(section_id).row_bytes)
    for name, place in _FIELDS[section_id].items():
        _, pack = PACKERS[place.type]
        content = record.value(fields, name, partial(pack, place), where=where)
        if content is not None:
            packed[place.offset : place.end] = content
    return bytes(packed)
