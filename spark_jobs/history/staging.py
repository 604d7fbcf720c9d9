"""Stage the rows of one file for the history: complete Parquet files that no reader sees before the commit."""

from __future__ import annotations

import datetime as dt
import secrets
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spark_jobs.history.digests import ValueWords, row_digest, text_words, value_words, words_digest
from spark_jobs.history.hour_sums import interval_starts
from spark_jobs.history.schema import (
    DAY_US,
    FILES,
    PROVENANCE,
    TABLES,
    HistoryError,
    natural_key,
    row_schema,
    stored_schema,
)
from spark_jobs.history.summaries import footer_of
from spark_jobs.smf.wire import numbers

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
        found = sorted(pc.unique(days).to_pylist())
        for day in found:
            is_only = len(found) == 1
            of_day = prepared if is_only else prepared.filter(pc.equal(days, pa.scalar(day, pa.date32())))
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
    words = _RowWords(table, rows)
    high, low = _keys(words)
    day = np.zeros(count, dtype=np.int64)
    for name, chosen in words.sources:
        instant = "written_at" if natural_key(name).family in WRITTEN_AT_FAMILIES else "interval_end"
        instants = rows[instant] if chosen is None else rows[instant].take(numbers(chosen, pa.int64()))
        if instants.null_count:
            message = f"A row for {table} from {name} has no {instant}."
            raise HistoryError(message)
        days = np.asarray(instants.cast(pa.int64()).combine_chunks()) // DAY_US
        day[slice(None) if chosen is None else chosen] = days
    content = words_digest(
        ((name, words.of(name)) for name in expected.names if name not in _PROVENANCE_ONLY),
        rows=count,
        lane=0,
    )
    added = {
        "day": numbers(day, pa.date32()),
        "key_high": numbers(high, pa.int64()),
        "key_low": numbers(low, pa.int64()),
        "content_hash": numbers(content, pa.int64()),
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
    return _keys(_RowWords(table, rows))


class _RowWords:
    """The values of rows for digests, column by column, each computed when it is first needed."""

    def __init__(self, table: str, rows: pa.Table) -> None:
        self.table = table
        self.rows = rows
        self._found: dict[str, ValueWords | None] = {}

    def of(self, name: str) -> ValueWords | None:
        """Return the values of a column."""
        if name not in self._found:
            self._found[name] = value_words(self.rows[name])
        return self._found[name]

    def told(self, name: str) -> ValueWords | None:
        """Return the values of a column of the key; a structure without XCF's name is identified by MQ's name."""
        if name == "xcf_structure" and self.rows[name].null_count:
            return value_words(pc.coalesce(self.rows[name], self.rows["structure"]))
        return self.of(name)

    @cached_property
    def sources(self) -> list[tuple[str, NDArray[np.int64] | None]]:
        """Return the rows of each source; None if all rows have the same one.

        Raises:
            HistoryError: a row has no source.
        """
        column = self.rows["source"].combine_chunks()
        if column.null_count:
            message = f"A row for {self.table} does not name its source."
            raise HistoryError(message)
        coded = pc.dictionary_encode(column)
        names = coded.dictionary.to_pylist()
        if len(names) == 1:
            return [(names[0], None)]
        indices = np.asarray(coded.indices)
        return [(name, np.flatnonzero(indices == number)) for number, name in enumerate(names)]


def _keys(words: _RowWords) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    count = words.rows.num_rows
    high, low = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for name, chosen in words.sources:
        key = natural_key(name)
        columns = [("family", text_words(key.family))]
        for column in key.columns:
            values = words.told(column) if column in words.rows.schema.names else None
            if values is not None:
                columns.append((column, values if chosen is None else values.take(chosen)))
        here, rows = (slice(None), count) if chosen is None else (chosen, len(chosen))
        high[here] = words_digest(columns, rows=rows, lane=0)
        low[here] = words_digest(columns, rows=rows, lane=1)
    return high, low


def with_keys(table: str, rows: pa.Table) -> pa.Table:
    """Return stored rows with recalculated natural keys and pieces."""
    high, low = row_keys(table, rows)
    renewed = {
        "key_high": numbers(high, pa.int64()),
        "key_low": numbers(low, pa.int64()),
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
    return numbers(opened << _PIECE_BITS | below, pa.int32())


def write_part(place: Place, table: str, day: dt.date, rows: pa.Table) -> Part:
    """Write one Parquet file."""
    commits, hashes = rows["commit_id"], rows["file_sha256"]
    path = f"table={table}/day={day.isoformat()}/{commits[0].as_py()}-{secrets.token_hex(4)}.parquet"
    # Delta and Spark read the values of partitions from the log and from the folders' names.
    inner = rows.drop_columns(["day"])
    texts = [field.name for field in inner.schema if pa.types.is_string(field.type)]
    sink = pa.BufferOutputStream()
    # Dictionaries are made for texts only: digests hardly ever repeat.
    with pq.ParquetWriter(
        sink, inner.schema, compression="zstd", compression_level=1, use_dictionary=texts
    ) as writer:
        writer.write_table(inner)
        if table in TABLES:
            writer.add_key_value_metadata(footer_of(table, rows))
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
    return numbers(pieces, pa.int32())


def _first_start(rows: pa.Table) -> str:
    if "interval_end" not in rows.schema.names:
        return ""
    first = pc.min(interval_starts(rows)).as_py()
    return str(first.isoformat())


def _has_unnamed(rows: pa.Table) -> bool:
    if "xcf_structure" not in rows.schema.names:
        return False
    return bool(pc.any(pc.and_(pc.is_null(rows["qsg"]), pc.is_valid(rows["xcf_structure"]))).as_py())


def _repeated(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _only(column: pa.ChunkedArray) -> str:
    """Return the only value of a column; an empty text if there are several."""
    values = pc.unique(column).to_pylist()
    return values[0] if len(values) == 1 else ""
