"""One row for each structure in a 74-4 record, with the coupling facility and its storage from the same record."""

from __future__ import annotations

import pyarrow as pa

from spark_jobs.smf.results import RangeResult
from spark_jobs.smf.tables import TABLE_LAYOUTS, full_schema, table_fields

CF_TABLES = ("r744_cf", "r744_storage")
PREFIX = "cf_"


def _added(table: str) -> list[tuple[str, str]]:
    """Return the columns that a table adds: their names in the table and in the joined result."""
    known = (
        set(full_schema("r744_structure").names)
        if table == "r744_storage"
        else {"sysplex", "system_name", "coupling_facility"}
    )
    return [
        (field.column, field.column if field.column.startswith(PREFIX) else PREFIX + field.column)
        for section, field in table_fields(table)
        if section.id == TABLE_LAYOUTS[table][-1] and field.column not in known
    ]


def joined_schema() -> pa.Schema:
    """Return the columns of a structure, followed by those of its coupling facility."""
    fields = list(full_schema("r744_structure"))
    for table in CF_TABLES:
        types = full_schema(table)
        fields += [pa.field(name, types.field(column).type) for column, name in _added(table)]
    return pa.schema(fields)


def structures_joined(result: RangeResult) -> list[pa.RecordBatch]:
    """Return the tables of a result joined by record."""
    wanted = joined_schema()
    cf_rows = {table: pa.Table.from_batches(result.batches[table], full_schema(table)) for table in CF_TABLES}
    rows = {
        table: {number: row for row, number in enumerate(found.column("record").to_pylist())}
        for table, found in cf_rows.items()
    }
    made = []
    for batch in result.batches["r744_structure"]:
        columns = list(batch.columns)
        records = batch.column("record").to_pylist()
        for table in CF_TABLES:
            index = pa.array([rows[table].get(record) for record in records], pa.int64())
            columns += [
                cf_rows[table].column(column).combine_chunks().take(index) for column, _ in _added(table)
            ]
        made.append(pa.RecordBatch.from_arrays(columns, schema=wanted))
    return made
