"""Stage the rows of one file for the history: complete Parquet files that no reader sees before the commit."""

from __future__ import annotations

import datetime as dt
import secrets
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spark_jobs.history.digests import row_digest
from spark_jobs.history.schema import (
    FILES,
    IN_HOURS_AT_MOST,
    PROVENANCE,
    HistoryError,
    natural_key,
    row_schema,
    stored_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from spark_jobs.history.places import Place

FLUSH_ROWS = 200_000
"""The number of rows that are collected before they are written: some tens of MB."""

WRITTEN_AT_FAMILIES = ("115-2", "115-216", "116")
"""Families of MQ's records, whose rows are filed under the day they were written, which their key contains; others are
filed under the end of their interval. So rows of one key are always in one partition."""

TOO_OLD = "older than the retention"

_PARTITIONS = ("table", "day")
# 10000 x subtype (1 or 2) + the number of the section fits into the lower half of an int32. The digest of opened_at
# above it has one bit less, so that a piece is never negative.
_PIECE_BITS = 16
_PIECES = (1 << _PIECE_BITS) - 1
_OPENINGS = (1 << 15) - 1
_PROVENANCE_ONLY = {column.name for column in PROVENANCE} - {"source"}


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a table and a day, with the values that the history's log has for it."""

    path: str
    size_bytes: int
    table: str
    day: str
    rows: int
    commit_id: str
    """The commit of the rows; empty if the file holds rows of several commits."""
    file_sha256: str
    first_start: str = ""
    """The start of its first interval; empty if it was not recorded, which means any time."""
    unnamed: bool = True
    """True if the file may hold rows with only XCF's structure name, whose group may become known later.

    The value is determined when the file is written, and stored in the ledger."""


@dataclass(frozen=True, slots=True)
class Source:
    """The file whose rows are staged."""

    commit_id: str
    file_name: str
    file_sha256: str


class Stage:
    """A collector of rows, which adds the columns of the history and writes files; `finish` returns the files."""

    def __init__(
        self, place: Place, source: Source, *, keep_from: dt.date | None = None, flush_rows: int = FLUSH_ROWS
    ) -> None:
        self.passed_over: Counter[str] = Counter()
        self._place = place
        self._source = source
        self._keep_from = keep_from
        self._flush_rows = flush_rows
        self._parts: list[Part] = []
        self._waiting: dict[tuple[str, dt.date], list[pa.Table]] = defaultdict(list)
        self._waiting_rows = 0

    def add(self, table: str, rows: pa.Table) -> None:
        """Add rows in the schema of `row_schema(table)`."""
        if rows.num_rows == 0:
            return
        prepared = prepared_rows(table, rows, source=self._source)
        days = prepared["day"]
        for day in sorted(pc.unique(days).to_pylist()):
            of_day = prepared.filter(pc.equal(days, pa.scalar(day, pa.date32())))
            if self._keep_from is not None and day < self._keep_from:
                self.passed_over[TOO_OLD] += of_day.num_rows
                continue
            self._waiting[table, day].append(of_day)
            self._waiting_rows += of_day.num_rows
        if self._waiting_rows >= self._flush_rows:
            self._flush()

    def finish(self) -> list[Part]:
        """Write the remaining rows and return all files."""
        self._flush()
        return self._parts

    def _flush(self) -> None:
        for (table, day), tables in self._waiting.items():
            self._parts.append(write_part(self._place, table, day, pa.concat_tables(tables)))
        self._waiting.clear()
        self._waiting_rows = 0


def prepared_rows(table: str, rows: pa.Table, *, source: Source) -> pa.Table:
    """Return rows with the columns that the history adds: day, digests and file.

    Raises:
        HistoryError: the rows do not have the table's schema, or lack values that their natural key or day needs.
    """
    expected = row_schema(table)
    if rows.schema.names != expected.names:
        missing = sorted(set(expected.names) ^ set(rows.schema.names))
        message = (
            f"Rows for {table} do not have its columns; they differ in {', '.join(missing) or 'their order'}."
        )
        raise HistoryError(message)
    rows = rows.cast(expected).combine_chunks()
    count = rows.num_rows
    high, low = row_keys(table, rows)
    day = np.full(count, np.datetime64("NaT"), dtype="datetime64[D]")
    for name in pc.unique(rows["source"]).to_pylist():
        key = natural_key(name)
        chosen = np.flatnonzero(np.asarray(pc.equal(rows["source"], name)))
        of_source = rows.take(pa.array(chosen)) if len(chosen) < count else rows
        instant = "written_at" if key.family in WRITTEN_AT_FAMILIES else "interval_end"
        if of_source[instant].null_count:
            message = f"A row for {table} from {name} has no {instant}."
            raise HistoryError(message)
        day[chosen] = np.asarray(of_source[instant].cast(pa.timestamp("us"))).astype("datetime64[D]")
    content = row_digest(
        ((name, rows[name]) for name in expected.names if name not in _PROVENANCE_ONLY), rows=count, lane=0
    )
    added = {
        "day": pa.array(day, pa.date32()),
        "key_high": pa.array(high),
        "key_low": pa.array(low),
        "content_hash": pa.array(content),
        "commit_id": _repeated(source.commit_id, count),
        "file_name": _repeated(source.file_name, count),
        "file_sha256": _repeated(source.file_sha256, count),
    }
    pieces = with_opening(_pieces(rows, high, low, content), rows)
    rows = rows.set_column(rows.schema.get_field_index("piece"), "piece", pieces)
    schema = stored_schema(table)
    arrays = [added[name] if name in added else rows[name] for name in schema.names]
    return pa.Table.from_arrays(arrays, schema=schema)


def row_keys(table: str, rows: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the natural keys of rows as digests, upper and lower halves."""
    count = rows.num_rows
    high, low = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for name in pc.unique(rows["source"]).to_pylist():
        if name is None:
            message = f"A row for {table} does not name its source."
            raise HistoryError(message)
        key = natural_key(name)
        chosen = np.flatnonzero(np.asarray(pc.equal(rows["source"], name).combine_chunks()))
        of_source = rows.take(pa.array(chosen)) if len(chosen) < count else rows
        columns = [("family", pa.array([key.family] * len(chosen)))]
        columns += [
            (column, _told(of_source, column)) for column in key.columns if column in rows.schema.names
        ]
        high[chosen] = row_digest(columns, rows=len(chosen), lane=0)
        low[chosen] = row_digest(columns, rows=len(chosen), lane=1)
    return high, low


def with_keys(table: str, rows: pa.Table) -> pa.Table:
    """Return stored rows with recalculated natural keys and pieces."""
    high, low = row_keys(table, rows)
    renewed = {
        "key_high": pa.array(high),
        "key_low": pa.array(low),
        "piece": with_opening(rows["piece"].combine_chunks(), rows),
    }
    for name, column in renewed.items():
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), column)
    return rows


def with_opening(pieces: pa.Array, rows: pa.Table) -> pa.Array:
    """Return pieces that also distinguish the times at which a task opened its queue, above their lower 16 bits."""
    if "opened_at" not in rows.schema.names or rows["opened_at"].null_count == rows.num_rows:
        return pieces
    opened = row_digest([("opened_at", rows["opened_at"])], rows=rows.num_rows, lane=0) & _OPENINGS
    opened = np.where(np.asarray(rows["opened_at"].is_valid().combine_chunks()), opened, 0)
    below = np.asarray(pc.fill_null(pieces, 0)).astype(np.int64) & _PIECES
    return pa.array((opened << _PIECE_BITS | below).astype(np.int32), pa.int32())


def _told(rows: pa.Table, column: str) -> pa.ChunkedArray:
    """Return a column of the key; a structure without XCF's name is identified by MQ's name."""
    return pc.coalesce(rows[column], rows["structure"]) if column == "xcf_structure" else rows[column]


def write_part(place: Place, table: str, day: dt.date, rows: pa.Table) -> Part:
    """Write one Parquet file."""
    commits, hashes = rows["commit_id"], rows["file_sha256"]
    path = f"table={table}/day={day.isoformat()}/{commits[0].as_py()}-{secrets.token_hex(4)}.parquet"
    # Delta and Spark read the values of partitions from the log and from the folders' names.
    inner = rows.drop_columns(["day"])
    texts = [field.name for field in inner.schema if pa.types.is_string(field.type)]
    sink = pa.BufferOutputStream()
    # Dictionaries are made for texts only: digests hardly ever repeat.
    pq.write_table(inner, sink, compression="zstd", compression_level=1, use_dictionary=texts)
    data = sink.getvalue()
    place.write(path, data)
    return Part(
        path=path,
        size_bytes=data.size,
        table=table,
        day=day.isoformat(),
        rows=rows.num_rows,
        commit_id=_only(commits),
        file_sha256=_only(hashes),
        first_start=_first_start(rows),
        unnamed=_has_unnamed(rows),
    )


def read_part(place: Place, part: Part, *, columns: list[str] | None = None) -> pa.Table:
    """Read a file in the schema of its table; a column that it lacks is null."""
    schema = stored_schema(part.table)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    found = place.read(part.path, columns=[name for name in schema.names if name not in _PARTITIONS])
    arrays = []
    for field in schema:
        if field.name == "day":
            day = pa.scalar(dt.date.fromisoformat(part.day), pa.date32())
            arrays.append(pa.repeat(day, part.rows))
        elif field.name in found.schema.names:
            arrays.append(found[field.name].cast(field.type))
        else:
            arrays.append(pa.nulls(part.rows, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def read_parts(
    place: Place, parts: Iterable[Part], *, table: str, columns: list[str] | None = None
) -> pa.Table:
    """Read files of one table."""
    found = [read_part(place, part, columns=columns) for part in parts]
    if found:
        return pa.concat_tables(found)
    schema = stored_schema(table)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    return schema.empty_table()


def ledger_rows(entries: list[dict[str, Any]]) -> pa.Table:
    """Return entries as rows of the table of files."""
    return pa.Table.from_pylist(entries, schema=stored_schema(FILES))


def _pieces(rows: pa.Table, high: Any, low: Any, content: Any) -> pa.ChunkedArray | pa.Array:  # noqa: ANN401
    """Return numbers for rows that mq-smf-csv printed with the same key, because it does not print record numbers."""
    pieces = np.asarray(pc.fill_null(rows["piece"].combine_chunks(), 0)).astype(np.int32)
    formatted = np.asarray(
        pc.and_(pc.equal(rows["origin"], "formatter"), pc.starts_with(rows["source"], "116"))
    )
    chosen = np.flatnonzero(formatted & (pieces == 0))
    if len(chosen):
        opened = row_digest([("opened_at", rows["opened_at"])], rows=rows.num_rows, lane=0)
        # Sort by content, so that the numbers do not depend on the order of the lines.
        order = chosen[np.lexsort((content[chosen], opened[chosen], low[chosen], high[chosen]))]
        same_key = (high[order][1:] == high[order][:-1]) & (low[order][1:] == low[order][:-1])
        same_key &= opened[order][1:] == opened[order][:-1]
        is_next = same_key & (content[order][1:] != content[order][:-1])
        running = np.concatenate(([0], np.cumsum(is_next)))
        first_of_key = np.concatenate(([0], np.where(~same_key, np.arange(1, len(order)), 0)))
        base = running[np.maximum.accumulate(first_of_key)]
        pieces = pieces.copy()
        pieces[order] = running - base
    return pa.array(pieces, pa.int32())


def _first_start(rows: pa.Table) -> str:
    if "interval_end" not in rows.schema.names:
        return ""
    first = pc.min(interval_starts(rows)).as_py()
    return str(first.isoformat())


def _has_unnamed(rows: pa.Table) -> bool:
    if "xcf_structure" not in rows.schema.names:
        return False
    return bool(pc.any(pc.and_(pc.is_null(rows["qsg"]), pc.is_valid(rows["xcf_structure"]))).as_py())


def interval_starts(rows: pa.Table) -> pa.ChunkedArray:
    """Return the start from which the rows' counts are spread: for an instant or an overlong interval, its end."""
    starts = pc.coalesce(rows["interval_start"], rows["interval_end"])
    longest = pa.scalar(dt.timedelta(hours=IN_HOURS_AT_MOST), pa.duration("us"))
    is_odd = pc.or_(
        pc.greater(starts, rows["interval_end"]),
        pc.greater(pc.subtract(rows["interval_end"], starts), longest),
    )
    return pc.if_else(is_odd, rows["interval_end"], starts)


def _repeated(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _only(column: pa.ChunkedArray) -> str:
    """Return the only value of a column; an empty text if there are several."""
    values = pc.unique(column).to_pylist()
    return values[0] if len(values) == 1 else ""
