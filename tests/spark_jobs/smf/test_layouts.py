"""Layouts of sections: the loader is strict, and lengths by release are those that IBM publishes."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from spark_jobs.smf.decode import TABLES, schema
from spark_jobs.smf.layouts import LAYOUT_IDS, Layout, layout
from spark_jobs.smf.tables import COMMON

FIELD = {"name": "f", "column": "c", "offset": 0, "type": "u4", "meaning": "m"}
SECTION = {
    "id": "x", "title": "t", "about": "a", "table": "qest", "records": ["115-2"], "triplet": 1, "known_lengths": [8],
    "row_bytes": 8, "source": "s", "confidence": "published", "fields": [FIELD],
}  # fmt: skip

# Lengths of sections by release of MQ (sizes.master of mq-smf-csv; WQ_LEN_n of its header).
LENGTHS = {
    "qest": {4104},
    "qesd": {328, 336},
    "qqst": {84, 120, 552, 672},
    "wq": {576, 592, 608, 672, 704, 2752, 2792, 2800},
}
PLACES = {
    "wq": {"depth_max": 588, "delayed_puts": 2784},
    "qqst": {"depth": 80},
    "qesd": {"is_encrypted": 328},
}


@pytest.mark.parametrize("layout_id", LAYOUT_IDS)
def test_every_layout_loads(layout_id: str) -> None:
    section = layout(layout_id)
    assert section.id == layout_id
    assert all(field.meaning for field in section.all_fields)


@pytest.mark.parametrize("layout_id", LENGTHS)
def test_lengths_by_release_are_known(layout_id: str) -> None:
    assert set(layout(layout_id).known_lengths) == LENGTHS[layout_id]


@pytest.mark.parametrize("layout_id", PLACES)
def test_fields_have_their_published_offsets(layout_id: str) -> None:
    offsets = {field.column: field.offset for field in layout(layout_id).all_fields}
    assert {column: offsets[column] for column in PLACES[layout_id]} == PLACES[layout_id]


def test_known_lengths_end_between_fields() -> None:
    for layout_id in LENGTHS:
        section = layout(layout_id)
        for length in section.known_lengths:
            cut = [f.column for f in section.all_fields if f.offset < length < f.end]
            assert cut == [], (layout_id, length)


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"confidence": "certain"},
        {"fields": [FIELD, FIELD]},
        {"fields": [FIELD | {"type": "u3"}]},
        {"fields": [FIELD | {"offset": 5}]},
        {"fields": [FIELD | {"offset": -1}]},
        {"fields": [FIELD, FIELD | {"name": "g", "column": "d", "offset": 2}]},
        {"fields": [FIELD | {"type": "char"}]},
        {"fields": [FIELD | {"length": 4}]},
        {"fields": [FIELD | {"type": "bit4"}]},
        {"fields": [FIELD | {"offset": "0"}]},
    ],
    ids=str,
)
def test_invalid_layout_is_refused(change: dict[str, object]) -> None:
    Layout.model_validate(SECTION)
    with pytest.raises(ValidationError):
        Layout.model_validate(SECTION | change)


@pytest.mark.parametrize("table", TABLES)
def test_tables_begin_with_the_common_columns(table: str) -> None:
    names = schema(table).names
    assert names[: len(COMMON)] == [column.name for column in COMMON]
    assert len(names) == len(set(names))


def test_chosen_columns_keep_their_order() -> None:
    assert schema("qest", columns=["structure", "record"]).names == ["record", "structure"]
    with pytest.raises(ValueError, match="no column nonsense"):
        schema("qest", columns=["nonsense"])
