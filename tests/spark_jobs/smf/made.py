"""Random rows and dumps of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from spark_jobs.smf.encode import Framing, Header, Row, dump, mq_record, plain_record, rmf_record
from spark_jobs.smf.layouts import FieldLayout, layout
from spark_jobs.smf.results import RangeResult
from spark_jobs.smf.tables import TABLE_LAYOUTS, table_fields

WRITTEN = datetime(2026, 11, 21, 10, 0, 0, 120_000, tzinfo=UTC)
TASK_COLUMNS = tuple(field.column for field in layout("wtid").fields)
CHECKED = ("entries_in_use", "entries_total", "elements_in_use", "elements_total")
SIZES = ("size_min_bytes", "size_bytes", "size_max_bytes")
FEW = {"115-2": {"qest": 2, "qesd": 1}, "115-216": {"qqst": 2}, "116-1": {"wq": 1}, "116-2": {"wq": 1}}


class RowMaker:
    """Generate rows from one seed."""

    def __init__(self, seed: int) -> None:
        """Begin."""
        self.random = random.Random(seed)

    def value(self, field: FieldLayout) -> Any:  # noqa: ANN401
        """Return a value that the field can hold."""
        pick = self.random
        if field.type == "char":
            return "".join(pick.choices("ABCXYZ019", k=pick.randint(1, field.length)))
        if field.type == "hex":
            return pick.randbytes(field.length).hex().upper()
        if field.type.startswith("bit"):
            return pick.random() < 0.5
        if field.type == "float":
            return float(pick.randint(0, 10**9))
        if field.type == "stck":
            return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(microseconds=pick.randint(0, 10**14))
        if field.type.startswith("code"):
            return pick.choice([*field.values.values(), "code 77"])
        if field.none is not None and pick.random() < 0.2:
            return None
        largest = {"u1": 255, "u2": 2**16 - 1, "i2": 2**15 - 1, "u4": 2**32 - 1, "i4": 2**27}
        return pick.randint(0, largest.get(field.type, 2**50)) * field.scale

    def row(self, table: str, *, length: int | None = None) -> dict[str, Any]:
        """Return a row with every column of the table; columns missing in a shorter section are None."""
        whole = {field.column: self.value(field) for _, field in table_fields(table)}
        if length is not None:
            for field in layout(TABLE_LAYOUTS[table][-1]).all_fields:
                if field.end > length:
                    whole[field.column] = None
        return whole

    def task_rows(self, count: int, *, length: int | None = None) -> list[dict[str, Any]]:
        """Return rows of wq that belong to one task."""
        rows = [self.row("wq", length=length) for _ in range(count)]
        return [row | {column: rows[0][column] for column in TASK_COLUMNS} for row in rows]

    def structure(self) -> dict[str, Any]:
        """Return a row of r744_structure that passes the self-checks."""
        row = self.row("r744_structure")
        row |= dict(zip(SIZES, sorted(4096 * self.random.randint(1, 2**30) for _ in SIZES), strict=True))
        for in_use, total in (CHECKED[:2], CHECKED[2:]):
            row[in_use], row[total] = sorted(self.random.randint(0, 2**32 - 1) for _ in range(2))
        row["structure_type"] = self.random.choice(["UNSERIALIZED LIST", "SERIALIZED LIST"])
        row["xcf_structure"] = "SQ03" + row["xcf_structure"][:12]
        return row

    def facility(self, structures: int) -> dict[str, list[dict[str, Any]]]:
        """Return rows of all r744 tables for one record with statistics of the coupling facility."""
        cf = self.row("r744_cf") | {"lacks_statistics": False}
        shared = {column: cf[column] for column in ("sysplex", "system_name", "coupling_facility")}
        return {
            "r744_cf": [cf],
            "r744_storage": [self.row("r744_storage") | shared],
            "r744_structure": [self.structure() | shared for _ in range(structures)],
            "r744_scm": [self.row("r744_scm") | shared for _ in range(2)],
        }


def header(number: int = 0, *, release: str = "930", qsg: str | None = None, zone: int = -300) -> Header:
    """Return a header; the number makes records distinct."""
    return Header(
        WRITTEN + timedelta(seconds=number),
        release=release,
        qsg=qsg,
        utc_offset_minutes=zone,
        queue_manager="MQ01",
    )


def small_records(seed: int) -> list[bytes]:
    """Return one small record of each supported kind, and some others."""
    make = RowMaker(seed)
    return [
        plain_record(2, header()),
        mq_record(
            "115-2",
            header(1),
            {"qest": [make.row("qest")], "qesd": [make.row("qesd", length=328)]},
            lengths={"qesd": 328},
        ),
        plain_record(30, header(2), subtype=4, body=make.random.randbytes(300)),
        mq_record("115-216", header(3), {"qqst": [make.row("qqst", length=120)]}, lengths={"qqst": 120}),
        mq_record("115-231", header(9), {"qcct": [make.row("qcct")]}),
        mq_record("116-1", header(4), {"wq": make.task_rows(1, length=592)}, lengths={"wq": 592}),
        mq_record("116-2", header(5), {"wq": make.task_rows(2, length=592)}, lengths={"wq": 592}),
        *rmf_record(header(6), make.facility(2)),
        *rmf_record(header(7), make.facility(4), piece_bytes=900),
        plain_record(3, header(8)),
    ]


def small_dump(seed: int, framing: Framing | None = None) -> bytes:
    """Return the small records as a dump."""
    return dump(small_records(seed), framing)


def rows_of(results: Sequence[RangeResult], table: str) -> list[dict[str, Any]]:
    """Return all rows of a table."""
    return [row for result in results for batch in result.batches[table] for row in batch.to_pylist()]


def agrees(row: Row, expected: Row) -> bool:
    """Return whether the decoded row has every value of the expected one."""
    return all(row[column] == value for column, value in expected.items())
