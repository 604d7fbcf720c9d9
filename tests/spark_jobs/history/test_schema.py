"""The table definitions are consistent and documented."""

from __future__ import annotations

import pyarrow as pa
import pytest

from planner_core.names import cfrm_structure_name
from spark_jobs.history.schema import (
    FILES,
    NATURAL_KEYS,
    TABLES,
    HistoryError,
    natural_key,
    row_schema,
    stored_schema,
)
from tests.spark_jobs.history.page import written


def test_columns_with_the_same_name_have_the_same_type() -> None:
    types: dict[str, pa.DataType] = {}
    for table in (*TABLES, FILES):
        for field in stored_schema(table):
            assert types.setdefault(field.name, field.type) == field.type, f"{table}.{field.name}"


def test_no_column_has_the_name_of_a_partition_column() -> None:
    assert all("table" not in stored_schema(table).names for table in (*TABLES, FILES))


@pytest.mark.parametrize("key", NATURAL_KEYS, ids=lambda key: key.family)
def test_natural_keys_consist_of_columns(key: object) -> None:
    known = {name for table in TABLES for name in row_schema(table).names}
    assert set(key.columns) <= known  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("source", "family"),
    [
        ("115-2 QEST", "115-2"),
        ("115-2 QESD", "115-2"),
        ("115-216 QQST", "115-216"),
        ("116-1 WQ", "116"),
        ("116-2 WQ", "116"),
        ("116 WQ", "116"),
        ("74-4 R744SREQ", "74-4"),
        ("CFACT", "CFACT"),
        ("display CFSTATUS", "display"),
        ("message IXC585E", "message"),
        ("template", "template"),
    ],
)
def test_every_source_has_a_natural_key(source: str, family: str) -> None:
    assert natural_key(source).family == family


def test_source_without_a_natural_key_is_refused() -> None:
    with pytest.raises(HistoryError, match="No natural key"):
        natural_key("hearsay")


@pytest.mark.parametrize(
    ("qsg", "structure", "expected"),
    [("SQ03", "APPLICATION1", "SQ03APPLICATION1"), ("Q1", "CSQ_ADMIN", "Q1@@CSQ_ADMIN")],
)
def test_xcf_name_pads_the_group_to_four_characters(qsg: str, structure: str, expected: str) -> None:
    assert cfrm_structure_name(qsg_name=qsg, cfstruct_name=structure) == expected


def test_usage_history_pages_match_the_tables() -> None:
    for page, text in written().items():
        assert page.read_text("utf-8") == text, "write it again: python -m tests.spark_jobs.history.page"
