"""Dumps as a Spark data source: a second way to read a dump, for comparison with the one that the service uses.

There is one task for each split of the index, and the same decoder as everywhere. `smf_frame` returns a table of a dump
as a DataFrame. `prove_chain` reads the ranges of the dump and checks that each begins where the one before it ended, and
that the last one ends where the dump ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema

from spark_jobs.smf.decode import TABLES, decode_range, finish, meet, schema
from spark_jobs.smf.errors import BrokenChain
from spark_jobs.smf.results import DumpIndex, RangeResult

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMAT = "cfplan_smf"
RANGES = "ranges"
"""The table of the ranges themselves: start, end and byte counts of each."""
RANGE_SCHEMA = pa.schema(
    [
        ("first_start", pa.int64()),
        ("end_offset", pa.int64()),
        ("total_bytes", pa.int64()),
        ("accounting", pa.string()),
        ("records", pa.string()),
    ]
)


@dataclass
class _Range(InputPartition):
    """One split."""

    start: int
    end: int
    first_record: int


class SmfSource(DataSource):
    """Options: path, index (JSON), table, columns (with commas), only_shared."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the data source in Spark."""
        return FORMAT

    def schema(self) -> StructType:
        """Return the columns of the table."""
        return from_arrow_schema(_arrow_schema(self.options["table"], _columns(self.options)))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a partition."""
        return _Reader(dict(self.options))


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        index = DumpIndex.from_json(self._options["index"])
        return [_Range(split.offset, end, split.record_number) for split, end in index.ranges()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, _Range):
            return
        table = self._options["table"]
        columns = _columns(self._options)
        sections = [] if table == RANGES else [table.partition("_")[0]]
        chosen = {} if columns is None else {table: columns}
        found = decode_range(
            self._options["path"],
            partition.start,
            partition.end,
            framing=DumpIndex.from_json(self._options["index"]).framing,
            sections=sections,
            first_record=partition.first_record,
            columns=chosen,
            only_shared=self._options.get("only_shared") == "true",
        )
        if table == RANGES:
            yield _as_row(found)
            return
        yield from found.batches[table]
        if found.pieces:  # an index never splits the pieces of a broken record: what is left is incomplete
            rest = finish(found.pieces, sections=sections, columns=chosen, file=self._options["path"])
            yield from rest.batches[table]


def smf_frame(
    session: SparkSession,
    path: str | Path,
    index: DumpIndex,
    *,
    table: str,
    columns: Sequence[str] | None = None,
    only_shared: bool = False,
) -> DataFrame:
    """Read a table of a dump. The path must exist on every worker."""
    session.dataSource.register(SmfSource)
    options: dict[str, Any] = {"path": str(path), "index": index.to_json(), "table": table}
    if columns is not None:
        options["columns"] = ",".join(columns)
    if only_shared:
        options["only_shared"] = "true"
    return session.read.format(FORMAT).options(**options).load()


def prove_chain(session: SparkSession, path: str | Path, index: DumpIndex) -> None:
    """Check that the ranges of the index adjoin in the dump.

    Raises:
        BrokenChain: They do not; the dump must be read in one piece.
    """
    rows = smf_frame(session, path, index, table=RANGES).collect()
    meet(sorted((row["first_start"], row["end_offset"]) for row in rows), end=index.content_bytes)
    counted = sum(row["total_bytes"] for row in rows)
    if counted != index.content_bytes:
        message = f"The ranges account for {counted} bytes of {index.content_bytes}."
        raise BrokenChain(message)


def _columns(options: Any) -> list[str] | None:  # noqa: ANN401 - Spark's own mapping
    given = options.get("columns")
    return given.split(",") if given else None


def _arrow_schema(table: str, columns: Sequence[str] | None) -> pa.Schema:
    if table == RANGES:
        return RANGE_SCHEMA
    if table not in TABLES:
        message = f"no table {table}: there are {', '.join((*TABLES, RANGES))}"
        raise ValueError(message)
    return schema(table, columns=columns)


def _as_row(found: RangeResult) -> pa.RecordBatch:
    row = {
        "first_start": found.first_start,
        "end_offset": found.end_offset,
        "total_bytes": found.accounting.total_bytes,
        "accounting": json.dumps(asdict(found.accounting)),
        "records": json.dumps(found.records),
    }
    return pa.RecordBatch.from_pylist([row], schema=RANGE_SCHEMA)
