"""The rows of all tables in a form that any supported database can load: lines of JSON.

Each line is the list of a row's values in the order of the columns: times as `2026-11-21 08:30:00.000000` in UTC, dates as
`2026-11-21`, bytes in Base64, JSON columns as their text. SQLite stores times and dates in the same form.

Tables are read as they are in the database, not as this version declares them, because backups are also made of databases
that are about to be migrated.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    Date,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    text,
)
from sqlalchemy.types import TypeEngine

from app.backup.errors import ArchiveInvalid, BackupFailed
from planner_core.wire import JsonObject

REVISION_TABLE = "alembic_version"
CHUNK_BYTES = 4 * 2**20
"""Length from which on rows are written to another member of the archive; the lines of a member are held in memory."""
ROWS_AT_ONCE = 2_000
# Subclasses come before their bases.
_KINDS: tuple[tuple[type[TypeEngine[Any]], str], ...] = (
    (Boolean, "bool"), (DateTime, "time"), (Date, "date"), (JSON, "json"), (LargeBinary, "bytes"), (Float, "float"),
    (Integer, "int"), (String, "text"),
)  # fmt: skip
KINDS = tuple(kind for _, kind in _KINDS)


class ColumnOfRows(NamedTuple):
    """A column, and the form of its values: one of `KINDS`."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class TableOfRows:
    """A table of an archive."""

    name: str
    columns: tuple[ColumnOfRows, ...]
    last_number: int
    """The highest number that the database has given to a row, which may be deleted; 0 if rows are not numbered."""

    def as_json(self) -> JsonObject:
        """Return the table as it is written to the archive."""
        return {"name": self.name, "columns": [list(each) for each in self.columns], "last_number": self.last_number}  # fmt: skip

    @classmethod
    def of_json(cls, value: Any) -> TableOfRows:  # noqa: ANN401 - any JSON value
        """Read a table from an archive.

        Raises:
            ArchiveInvalid: The value does not describe a table.
        """
        try:
            columns = tuple(ColumnOfRows(str(name), str(kind)) for name, kind in value["columns"])
            found = cls(str(value["name"]), columns, int(value["last_number"]))
        except (TypeError, KeyError, ValueError):
            message = "The archive describes a table in a form that this version cannot read."
            raise ArchiveInvalid(message) from None
        if not found.name.isidentifier() or not {each.kind for each in columns} <= set(KINDS):
            message = f"The archive contains a table {found.name[:60]!a} that this version cannot read."
            raise ArchiveInvalid(message)
        return found


# ---- reading ---------------------------------------------------------------------------------------------------------


def schema_of(connection: Connection) -> MetaData:
    """Return the tables as they are in the database."""
    metadata = MetaData()
    metadata.reflect(connection)
    return metadata


def tables_in(connection: Connection) -> list[TableOfRows]:
    """Return the tables of the database, each after those that it refers to."""
    metadata = schema_of(connection)
    numbers = _last_numbers(connection, metadata)
    return [
        TableOfRows(table.name, tuple(_columns(table)), numbers.get(table.name, 0))
        for table in metadata.sorted_tables
        if table.name != REVISION_TABLE
    ]


def read_chunks(connection: Connection, table: TableOfRows) -> Iterator[bytes]:
    """Yield the rows of a table as lines, several megabytes at a time."""
    lines: list[str] = []
    length = 0
    for row in _read(connection, table):
        lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        length += len(lines[-1])
        if length >= CHUNK_BYTES:
            yield _encoded(lines)
            lines, length = [], 0
    if lines:
        yield _encoded(lines)


def _encoded(lines: Sequence[str]) -> bytes:
    # SQLite can store texts that are not valid Unicode; such a lone surrogate must survive.
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def _read(connection: Connection, table: TableOfRows) -> Iterator[list[Any]]:
    is_server = connection.dialect.name == "postgresql"
    wanted = ", ".join(_as_text(each) if is_server else _quoted(each.name) for each in table.columns)
    streamed = connection.execution_options(stream_results=True, yield_per=ROWS_AT_ONCE)
    found = streamed.exec_driver_sql(f"SELECT {wanted} FROM {_quoted(table.name)}")  # noqa: S608 - names from the catalog
    changed = [(at, _WRITTEN[each.kind]) for at, each in enumerate(table.columns) if each.kind in _WRITTEN]
    for row in found:
        values = list(row)
        for at, write in changed:
            if values[at] is not None:
                values[at] = write(values[at])
        yield values


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda value: b64encode(value).decode("ascii"),
    "bool": bool,
}


def _as_text(column: ColumnOfRows) -> str:
    name = _quoted(column.name)
    return {
        "time": f"to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
        "date": f"to_char({name}, 'YYYY-MM-DD')",
        "json": f"{name}::text",
    }.get(column.kind, name)


def _columns(table: Table) -> Iterator[ColumnOfRows]:
    for column in table.columns:
        for kind, name in _KINDS:
            if isinstance(column.type, kind):
                yield ColumnOfRows(column.name, name)
                break
        else:
            message = f"The column {table.name}.{column.name} has the type {column.type}, which backups do not support."
            raise BackupFailed(message)


def _last_numbers(connection: Connection, metadata: MetaData) -> dict[str, int]:
    if connection.dialect.name == "sqlite":
        if not connection.execute(text("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'")).first():
            return {}
        return {
            row.name: row.seq for row in connection.execute(text("SELECT name, seq FROM sqlite_sequence"))
        }
    found = {}
    for name, sequence in _sequences(connection, metadata):
        row = connection.exec_driver_sql(f"SELECT last_value, is_called FROM {sequence}").one()  # noqa: S608
        found[name] = row.last_value if row.is_called else 0
    return found


def _sequences(connection: Connection, metadata: MetaData) -> Iterator[tuple[str, str]]:
    """Yield each table whose key the server numbers, and the name of its sequence, quoted where needed."""
    for table in metadata.sorted_tables:
        for column in table.primary_key.columns:
            found = connection.scalar(
                text("SELECT pg_get_serial_sequence(:name, :column)"),
                {"name": _quoted(table.name), "column": column.name},
            )
            if found:
                yield table.name, found


# ---- writing ---------------------------------------------------------------------------------------------------------


def load_rows(
    connection: Connection,
    tables: Sequence[TableOfRows],
    rows_of: Callable[[TableOfRows], Iterable[bytes]],
    *,
    on_table: Callable[[str], None],
) -> int:
    """Fill the empty tables of a database that has the schema of the archive, and return the number of rows.

    Args:
        connection: A connection with a transaction. On SQLite, foreign keys must not be enforced.
        tables: The tables in the order of the archive.
        rows_of: Returns the lines of a table.
        on_table: Called with the name of each table before it is filled.

    Raises:
        ArchiveInvalid: The archive has other tables or columns than the database, or a row that cannot be read.
    """
    metadata = schema_of(connection)
    _check_same(metadata, tables)
    # A migration may have put rows of its own into a new table.
    for table in reversed(metadata.sorted_tables):
        if table.name != REVISION_TABLE and connection.execute(table.select().limit(1)).first() is not None:
            connection.execute(table.delete())
    count = 0
    given = {table.name: table for table in tables}
    for known in metadata.sorted_tables:
        if known.name == REVISION_TABLE:
            continue
        on_table(known.name)
        table = given[known.name]
        values = _parsed(table, rows_of(table))
        count += (
            _insert(connection, table, values)
            if connection.dialect.name == "sqlite"
            else _copy(connection, table, values)
        )
    _number_on(connection, metadata, given)
    return count


def _check_same(metadata: MetaData, tables: Sequence[TableOfRows]) -> None:
    known = {
        table.name: {column.name for column in table.columns}
        for table in metadata.sorted_tables
        if table.name != REVISION_TABLE
    }
    given = {table.name: {column.name for column in table.columns} for table in tables}
    if known != given:
        differ = sorted(name for name in known.keys() | given.keys() if known.get(name) != given.get(name))
        message = f"The tables of the archive are not those of its revision: {', '.join(differ)[:200]}."
        raise ArchiveInvalid(message)


def _parsed(table: TableOfRows, lines: Iterable[bytes]) -> Iterator[list[Any]]:
    length = len(table.columns)
    binary = [at for at, each in enumerate(table.columns) if each.kind == "bytes"]
    for line in lines:
        try:
            values = json.loads(line.decode("utf-8", "surrogatepass"))
            if not isinstance(values, list) or len(values) != length:
                raise ValueError
            for at in binary:
                if values[at] is not None:
                    values[at] = b64decode(values[at], validate=True)
        except (ValueError, TypeError):
            message = f"The archive contains a row of the table {table.name} that cannot be read."
            raise ArchiveInvalid(message) from None
        yield values


def _insert(connection: Connection, table: TableOfRows, rows: Iterator[list[Any]]) -> int:
    names = ", ".join(_quoted(each.name) for each in table.columns)
    statement = f"INSERT INTO {_quoted(table.name)} ({names}) VALUES ({', '.join('?' * len(table.columns))})"  # noqa: S608
    cursor = connection.connection.cursor()
    try:
        # The driver takes an iterator, so that the rows are not held in memory.
        cursor.executemany(statement, cast("Sequence[list[Any]]", rows))
        return max(cursor.rowcount, 0)
    finally:
        cursor.close()


def _copy(connection: Connection, table: TableOfRows, rows: Iterator[list[Any]]) -> int:
    names = ", ".join(_quoted(each.name) for each in table.columns)
    times = [at for at, each in enumerate(table.columns) if each.kind == "time"]
    count = 0
    driver: Any = connection.connection.driver_connection
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY {_quoted(table.name)} ({names}) FROM STDIN") as copy,
    ):
        for values in rows:
            for at in times:
                if values[at] is not None:
                    values[at] += "+00"
            copy.write_row(values)
            count += 1
    return count


def _number_on(connection: Connection, metadata: MetaData, given: dict[str, TableOfRows]) -> None:
    """Continue the numbers of rows where the database of the archive would have."""
    if connection.dialect.name == "sqlite":
        for name, table in given.items():
            if table.last_number:
                # The row exists for each numbered table with rows; for one without, it may be needed as well.
                connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": name})
                connection.execute(
                    text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"),
                    {"name": name, "last": table.last_number},
                )
        return
    for name, sequence in _sequences(connection, metadata):
        (key,) = metadata.tables[name].primary_key.columns
        highest = connection.exec_driver_sql(
            f"SELECT coalesce(max({_quoted(key.name)}), 0) FROM {_quoted(name)}"  # noqa: S608
        ).scalar_one()
        last = max(highest, given[name].last_number)
        if last:
            connection.execute(
                text("SELECT setval(CAST(:name AS regclass), :last)"), {"name": sequence, "last": last}
            )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
