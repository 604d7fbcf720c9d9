"""Decoded values equal those of IBM's formatter on the real dumps published with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_jobs.smf.decode import SECTIONS, decode_file
from spark_jobs.smf.layouts import layout
from tests.spark_jobs.smf.formatter import compared, printed_rows, samples

PAIRS = (("TEST115", "qest"), ("TESTCHL", "qest"), ("TESTCHL", "qesd"), ("TESTCHL", "wq"), ("TEST116", "wq"))


def decoded(path: Path, table: str) -> list[dict[str, object]]:
    return [
        row
        for result in decode_file(path, sections=SECTIONS)
        for batch in result.batches[table]
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize(("dump", "table"), PAIRS)
def test_decoded_values_equal_those_of_the_formatter(dump: str, table: str) -> None:
    folder = samples()
    printed = printed_rows(folder / "expected" / f"{dump}-{table.upper()}.csv")
    rows = decoded(folder / f"{dump}.dat", table)
    assert len(rows) == len(printed)
    differing = [
        (number, value)
        for number, (line, row) in enumerate(zip(printed, rows, strict=True))
        for value in compared(table, line, row)
        if value.expected != value.decoded
    ]
    assert differing == []


@pytest.mark.parametrize("dump", ["TEST115", "TEST116", "TESTCHL"])
def test_every_byte_of_a_real_dump_is_accounted_for(dump: str) -> None:
    path = samples() / f"{dump}.dat"
    results = list(decode_file(path, sections=SECTIONS))
    assert sum(result.accounting.total_bytes for result in results) == path.stat().st_size
    assert not any(result.accounting.quarantined or result.accounting.lost_bytes for result in results)


@pytest.mark.parametrize("table", ["qest", "qesd", "wq"])
def test_exactly_the_verified_fields_have_a_value_in_the_samples(table: str) -> None:
    folder = samples()
    rows = [row for dump, of in PAIRS if of == table for row in decoded(folder / f"{dump}.dat", table)]
    section = layout(table)
    for field in section.all_fields:
        has_value = any(row[field.column] not in (None, 0, False) for row in rows)
        is_verified = (field.confidence or section.confidence) == "verified"
        assert is_verified == (has_value and bool(field.formatter)), field.column
