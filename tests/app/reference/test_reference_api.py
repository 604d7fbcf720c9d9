from __future__ import annotations

import pytest
from fastapi import FastAPI

from planner_core.tables import TABLE_IDS, all_tables, table
from tests.app.web.support import assert_problem, get


def test_every_published_table_is_listed_with_its_source(app: FastAPI) -> None:
    listed = get(app, "/api/v1/reference").json()
    assert [entry["id"] for entry in listed["tables"]] == [entry.id for entry in all_tables()]
    assert listed["findings"] == []
    for entry in listed["tables"]:
        assert entry["source"]["document"]
        assert get(app, entry["url"]).status == 200


@pytest.mark.parametrize("table_id", TABLE_IDS)
def test_table_is_returned_as_printed_in_its_source(app: FastAPI, table_id: str) -> None:
    given, printed = get(app, f"/api/v1/reference/{table_id}").json(), table(table_id)
    assert given["findings"] == []
    assert [column["unit"] for column in given["columns"]] == [column.unit for column in printed.columns]
    assert len(given["rows"]) == len(printed.rows)
    for row, cells in zip(given["rows"], printed.rows, strict=True):
        assert row == [cell if isinstance(cell, (int, str)) else float(cell) for cell in cells]
    assert [note["row"] for note in given["notes"]] == [note.row for note in printed.notes]


def test_probable_misprint_is_returned_as_printed_and_corrected(app: FastAPI) -> None:
    given = get(app, "/api/v1/reference/admin_structure_cfcc14").json()
    assert any(7976 in row for row in given["rows"])
    assert 7936 in [note["corrected"] for note in given["notes"]]


@pytest.mark.parametrize("table_id", ["nothing", "..", "admin_structure_cfcc14.toml", "%00", "x" * 3000])
def test_unknown_table_is_not_found(app: FastAPI, table_id: str) -> None:
    assert_problem(get(app, f"/api/v1/reference/{table_id}"), "not-found", 404)
