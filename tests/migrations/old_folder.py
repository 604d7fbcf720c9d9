"""A data folder as version 0.1 left it before the redesign, and the responses of that version from it.

`before_redesign/README.md` describes how the files were written.
"""

from __future__ import annotations

import io
import json
import lzma
import re
import sqlite3
import tarfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import URL, Boolean, Date, DateTime, LargeBinary, MetaData, Table, insert, text

from app.database.engine import Database

FIXTURE = Path(__file__).with_name("before_redesign")
REVISION = "c9e8b4d1f5a3"
"""The schema of that version."""
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PROSE = frozenset(
    {
        "assumed", "assumptions", "description", "detail", "document", "explanation", "figure", "formula", "label", "message",
        "reason", "rule", "sentence", "source", "sources", "summary", "takes_effect", "title", "what", "what_happens", "why", "words",
    }
)  # fmt: skip
"""JSON members whose wording may change."""
ADDED = frozenset(
    {"finding_groups", "author", "approver", "approved_at", "acknowledgments", "history_damage", "in_rmf"}
)
"""JSON members that came later."""
ADDED_COLUMNS = frozenset(
    {
        "queued_requests", "queued_us", "entries_written", "elements_written", "buffer_requests", "get_readlists",
        "get_moves", "other_structures_kib", "other_structures_size_kib",
    }
)  # fmt: skip
"""Columns of exported tables that came later; they are empty or 0 for older data."""
_FIGURE = re.compile(r"-?\d[\d,.:T-]*( ?(%|[KMGT]i?B|[KMG]|s|UTC))?")
_VALUE = re.compile(r'<c r="([A-Z]+)[0-9]+"[^>]*><v>([^<]*)</v>')
_HEADING = re.compile(r'<c r="([A-Z]+)1"[^>]*><is><t[^>]*>([^<]*)</t>')
EXPORT = "commit_id,"
_COMMA = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""A comma between cells: the quotes after it are in pairs."""
_MORE_DECIMALS = re.compile(r"(?<=,)(-?[1-9]\d{0,2}\.\d{3})0(?=[,\r\n])")
"""A cell with three decimals and the zero that has been written since, so that no spreadsheet reads its point as a separator."""
_NUMBER = re.compile(r"\d[\d,.]*")


def unpack(data: Path) -> None:
    """Write the folder with its SQLite database."""
    data.mkdir(parents=True)
    with tarfile.open(FIXTURE / "files.tar.xz") as packed:
        if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on; Debian 12 has 3.11.2
            packed.extraction_filter = tarfile.data_filter
        packed.extractall(data)  # noqa: S202 - our own file
    with closing(sqlite3.connect(data / "cfplan.db")) as database:
        database.executescript(lzma.decompress((FIXTURE / "database.sql.xz").read_bytes()).decode("utf-8"))


def copy_rows(source: Path, url: URL) -> None:
    """Fill a PostgreSQL database of the old schema with the rows of the SQLite file."""
    database = Database(url)
    database.upgrade(REVISION)
    with closing(sqlite3.connect(source)) as rows, database.engine.begin() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        for table in metadata.sorted_tables:
            if table.name != "alembic_version":
                found = rows.execute(f'SELECT * FROM "{table.name}"')  # noqa: S608
                names = [column[0] for column in found.description]
                values = [_typed(table, dict(zip(names, row, strict=True))) for row in found]
                if values:
                    connection.execute(insert(table), values)
                if "id" in table.columns:
                    sequence = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name}"  # noqa: S608
                    connection.execute(text(sequence))
    database.close()


def _typed(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(table.columns[name].type, value) for name, value in row.items()}


def _value(kind: object, value: Any) -> Any:  # noqa: ANN401 - any column
    if value is None or isinstance(kind, LargeBinary):
        return value
    if isinstance(kind, Boolean):
        return bool(value)
    if isinstance(kind, DateTime):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    if isinstance(kind, Date):
        return date.fromisoformat(value)
    return json.loads(value) if kind.__class__.__name__ in ("JSON", "JSONB") else value


def answers() -> dict[str, Any]:
    """Return the addresses and commands, and the answer of the old version to each."""
    with lzma.open(FIXTURE / "answers.json.xz", "rt", encoding="utf-8") as file:
        found: dict[str, Any] = without_prose(json.load(file))
    return found


def observed(answer: httpx.Response) -> Any:  # noqa: ANN401 - any JSON value
    """Return the status and what must stay of a body: all but the wording."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind in ("application/json", "application/problem+json"):
        return [answer.status_code, without_prose(answer.json())]
    if kind == "text/html":
        return [answer.status_code, figures(answer.text)]
    if kind == "text/markdown":
        return [answer.status_code, sorted(_NUMBER.findall(answer.text))]
    if kind in (WORKBOOK, "application/zip"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
            members = {name: packed.read(name).decode() for name in packed.namelist()}
        if kind == WORKBOOK:
            return [
                answer.status_code,
                [_values(each) for name, each in members.items() if "/worksheets/" in name],
            ]
        return [answer.status_code, members]
    if kind == "text/csv":
        return [answer.status_code, _MORE_DECIMALS.sub(r"\1", without_added_columns(answer.text))]
    return [answer.status_code, answer.text]


def observed_output(out: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the same of what a command prints."""
    if out.startswith(("{", "[")):
        return without_prose(json.loads(out))
    return without_added_columns(out) if out.startswith(EXPORT) else out


def _values(sheet: str) -> list[str]:
    """Return the numbers of a worksheet without the columns of `ADDED_COLUMNS`."""
    added = {column for column, name in _HEADING.findall(sheet) if name in ADDED_COLUMNS}
    found: list[tuple[str, str]] = _VALUE.findall(sheet)
    assert all(value == "0" for column, value in found if column in added)
    return [value for column, value in found if column not in added]


def without_added_columns(text: str) -> str:
    """Return an exported table without the columns of `ADDED_COLUMNS`."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [_COMMA.split(line) for line in text.split(end)]
    added = [at for at, name in enumerate(lines[0]) if name in ADDED_COLUMNS]
    assert all(line[at] in ("", "0") for line in lines[1:] if len(line) == len(lines[0]) for at in added)
    return end.join(",".join(cell for at, cell in enumerate(line) if at not in added) for line in lines)


def without_prose(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value without the texts of `PROSE` and the members of `ADDED`."""
    if isinstance(value, dict):
        return {
            name: without_prose(each)
            for name, each in value.items()
            if name not in ADDED and (name not in PROSE or not _is_text(each))
        }
    return [without_prose(each) for each in value] if isinstance(value, list) else value


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(each, str) for each in value)
    )


def figures(page: str) -> list[str]:
    """Return the statements and the figures in the tables and lists of a page."""
    reader = _Cells()
    reader.feed(page)
    return sorted(reader.found)


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "dd", "pre"):
            self._inside, self._text = tag, []

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            cell = " ".join("".join(self._text).split())
            if tag == "pre" or _FIGURE.fullmatch(cell):
                self.found.append(cell)
            self._inside = ""
