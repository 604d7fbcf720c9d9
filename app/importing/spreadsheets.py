"""Tables from uploaded files: CSV text, or the first sheet of an xlsx file as CSV text."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Final

from app.running.texts import LARGEST_FILE_BYTES, invalid, text_of
from planner_core.typed_numbers import unambiguous

MOST_UNPACKED_BYTES: Final = 64 * 2**20
MOST_ROWS, MOST_COLUMNS = 41_000, 60
MOST_STRINGS: Final = 500_000
"""About 12 different texts for each of the rows of a table; openpyxl reads so many in a few seconds."""
_SHARED_STRING = re.compile(rb"<(?:\w+:)?si[\s/>]")
_ZIP: Final = b"PK\x03\x04"
_OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0"


def table_text(data: bytes, name: str = "") -> str:
    """Return the table of a file as CSV text; its lines are the rows of the sheet.

    Raises:
        InputInvalid: The file cannot be read.
    """
    of = f"the file {name!r} " if name else "it "
    if data.startswith(_OLD_EXCEL):
        invalid("", f"{of}is in the old format of Excel: save it as xlsx or CSV")
    if not data.startswith(_ZIP):
        return text_of(data, name)
    if len(data) > LARGEST_FILE_BYTES:
        invalid("", f"{of}is larger than {LARGEST_FILE_BYTES} bytes: save only the sheet with the table")
    _check_archive(data, of)
    # Takes a quarter of a CPU second, because openpyxl imports numpy where that is installed; most tables are CSV.
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        _check_strings(data, of)
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        sheet = next((each for each in book.worksheets if each.sheet_state == "visible"), None)
        if sheet is None:
            invalid("", f"{of}has no visible sheet")
        # The file may state a wrong size of its sheet, and a cell far to the right would make each row wide.
        sheet.reset_dimensions()
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            _rows(sheet.iter_rows(max_col=MOST_COLUMNS + 1, values_only=True), of)
        )
        return text.getvalue()
    except (
        InvalidFileException,
        zipfile.BadZipFile,
        zlib.error,
        RuntimeError,  # an encrypted file, or an unknown compression
        EOFError,
        LookupError,
        ArithmeticError,
        ValueError,
        OSError,
        SyntaxError,
        AttributeError,
        TypeError,
    ):
        # openpyxl has no exception of its own for damaged files.
        invalid("", f"{of}is not a spreadsheet that can be read: save it as xlsx again, or as CSV")


def _check_archive(data: bytes, of: str) -> None:
    """Refuse an archive that would unpack to more than any table needs."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
    except (zipfile.BadZipFile, ValueError):
        invalid("", f"{of}is a damaged spreadsheet")
    if unpacked > MOST_UNPACKED_BYTES:
        invalid(
            "", f"{of}unpacks to more than {MOST_UNPACKED_BYTES} bytes: save only the sheet with the table"
        )


def _check_strings(data: bytes, of: str) -> None:
    """Refuse more shared texts than a table has cells: openpyxl reads all of them before the first row."""
    count = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for each in archive.infolist():
            # Without null bytes, tags in UTF-16 are as in UTF-8.
            content = archive.read(each).replace(b"\0", b"")
            if b"<!ENTITY" in content:
                # No spreadsheet program writes one, and a short entity may stand for many texts.
                invalid("", f"{of}is not a spreadsheet that can be read: save it as xlsx again, or as CSV")
            count += len(_SHARED_STRING.findall(content))
    if count > MOST_STRINGS:
        invalid("", f"{of}has more than {MOST_STRINGS} texts: save only the sheet with the table")


def _rows(rows: Iterator[tuple[object, ...]], of: str) -> Iterator[list[str]]:
    """Yield the rows as text, all as wide as the heading if their further cells are empty."""
    width = 0
    for number, row in enumerate(rows, start=1):
        cells = [_cell(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if len(cells) > MOST_COLUMNS:
            invalid("", f"{of}has more than {MOST_COLUMNS} columns (line {number})")
        if number > MOST_ROWS:
            invalid("", f"{of}has more than {MOST_ROWS} rows")
        width = width or len(cells)
        # An empty row stays empty, so that the numbers of lines are those of the sheet.
        yield cells + [""] * (width - len(cells)) if cells else []


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    # Spreadsheets keep all numbers as floats.
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else unambiguous(format(value, ".15g"))
    if isinstance(value, time) and not value.second and not value.microsecond:
        # Spreadsheets take a ratio such as 1:6 for a time.
        return value.isoformat("minutes")
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return " ".join(str(value).split())
