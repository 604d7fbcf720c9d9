"""The tables of a plan as one XLSX file.

Importing openpyxl takes a quarter of a CPU second, because it imports numpy where that is installed. Only the functions
that need this module import it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from app.plans.result_tables import TABLES, queues_table
from app.plans.stored import StoredVersion
from app.web.csv_files import FORMULA, Cell
from planner_core.units import KIB, MIB


def xlsx_bytes(version: StoredVersion) -> bytes:
    """Return all tables as one workbook with a sheet for each."""
    book = Workbook(write_only=True)
    about = book.create_sheet("plan")
    for name, value in (
        ("plan", version.name),
        ("version", version.number),
        ("group", version.result["qsg"]),
        ("saved", version.created_at.isoformat(timespec="seconds")),
        ("core_version", version.core_version),
        ("initsize_mib", version.result["totals"]["initsize_kib"] * KIB / MIB),
        ("size_mib", version.result["totals"]["size_kib"] * KIB / MIB),
    ):
        about.append([name, value])
    for title, make in TABLES.items():
        heading, rows = make(version)
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        for index, name in enumerate(heading, start=1):
            sheet.column_dimensions[get_column_letter(index)].width = max(12, len(name) + 2)
        sheet.append(_bold(sheet, heading))
        if title != _LONG:
            for row in rows:
                sheet.append(list(_text_only(sheet, row)))
    file = io.BytesIO()
    book.save(file)
    number = book.sheetnames.index(_LONG) + 1
    return _with_rows(file, f"xl/worksheets/sheet{number}.xml", queues_table(version)[1])


_LONG = "queues"
"""The table that can have 32 256 rows. openpyxl makes objects for each of its 800 000 cells, which takes five seconds."""
_END_OF_ROWS = b"</sheetData>"
_ROWS_WRITTEN_AT_ONCE = 500
_COMPRESSION = 3
"""Half the time of the default level, for a file that is a tenth larger."""


def _with_rows(workbook: io.BytesIO, path: str, rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return a workbook with rows added to the end of one of its sheets, which has one row."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(workbook) as given,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as made,
    ):
        for item in given.infolist():
            content = given.read(item)
            if item.filename != path:
                made.writestr(item, content)
                continue
            before, end, after = content.partition(_END_OF_ROWS)
            with made.open(path, "w") as sheet:
                sheet.write(before)
                lines = _row_lines(rows)
                while part := "".join(islice(lines, _ROWS_WRITTEN_AT_ONCE)):
                    sheet.write(part.encode())
                sheet.write(end + after)
    return file.getvalue()


def _row_lines(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield each row as XML of SpreadsheetML, below the heading. Texts are inline strings, which are never formulas."""
    letters: list[str] = []
    for number, row in enumerate(rows, start=2):
        letters = letters or [get_column_letter(index) for index in range(1, len(row) + 1)]
        cells = "".join(
            [
                f'<c r="{letter}{number}" t="inlineStr"><is><t xml:space="preserve">{_xml_text(value)}</t></is></c>'
                if isinstance(value, str)
                else f'<c r="{letter}{number}" t="n"><v>{value}</v></c>'
                for letter, value in zip(letters, row, strict=True)
                if value is not None
            ]
        )
        yield f'<row r="{number}">{cells}</row>'


def _xml_text(text: str) -> str:
    # Names, keywords and "yes", which are most cells, need no escaping.
    return text if text.isalnum() else escape(ILLEGAL_CHARACTERS_RE.sub("", text), quote=False)


def _bold(
    sheet: Any,  # noqa: ANN401 - openpyxl's sheets share no public type
    heading: Iterable[str],
) -> list[Any]:
    cells = []
    for name in heading:
        cell = WriteOnlyCell(sheet, value=name)
        cell.font = Font(bold=True)
        cells.append(cell)
    return cells


def _text_only(
    sheet: Any,  # noqa: ANN401
    row: Sequence[Cell],
) -> Iterable[object]:
    """Yield the cells of a row as text cells, so that no input becomes a formula."""
    for value in row:
        if isinstance(value, str) and value.startswith(FORMULA):
            cell = WriteOnlyCell(sheet, value=value)
            # openpyxl treats a text that begins with = as a formula unless its type is set.
            cell.data_type = "s"
            yield cell
        else:
            yield value
