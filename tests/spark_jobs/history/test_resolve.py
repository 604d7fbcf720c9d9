"""Selection of the valid row: independent of order, binary rows before formatter rows, and separate for each piece."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.history.resolve import standing as standing_rows
from spark_jobs.history.resolve import winners
from spark_jobs.history.schema import ORIGINS

ROW = st.fixed_dictionaries(
    {
        "key_high": st.integers(0, 1),
        "key_low": st.integers(0, 2),
        "piece": st.integers(0, 2),
        "content_hash": st.integers(0, 2),
        "origin": st.sampled_from(ORIGINS),
        "commit_id": st.sampled_from(["a", "b", "c"]),
        "file_offset": st.one_of(st.none(), st.integers(0, 2)),
    }
)
SCHEMA = pa.schema(
    [
        ("key_high", pa.int64()),
        ("key_low", pa.int64()),
        ("piece", pa.int32()),
        ("content_hash", pa.int64()),
        ("origin", pa.string()),
        ("commit_id", pa.string()),
        ("file_offset", pa.int64()),
    ]
)


def standing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    return table.take(pa.array(winners(table))).to_pylist()


def by_hand(rows: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """Apply the rule literally: best origin of a key, then for each piece the last commit, then any fixed order."""
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in rows:
        key = (row["key_high"], row["key_low"])
        best = max(
            ORIGINS.index(str(other["origin"]))
            for other in rows
            if (other["key_high"], other["key_low"]) == key
        )
        if ORIGINS.index(str(row["origin"])) != best:
            continue
        rank = (row["commit_id"], row["content_hash"], row["file_offset"] or 0)
        cell = (*key, row["piece"])
        found[cell] = max(found.get(cell, rank), rank)
    return sorted((*cell, *rank) for cell, rank in found.items())


@given(st.lists(ROW, max_size=25))
def test_chosen_rows_follow_origin_and_precedence(rows: list[dict[str, Any]]) -> None:
    got = sorted(
        (
            row["key_high"],
            row["key_low"],
            row["piece"],
            row["commit_id"],
            row["content_hash"],
            row["file_offset"] or 0,
        )
        for row in standing(rows)
    )
    assert got == by_hand(rows)


@given(st.lists(ROW, max_size=25), st.randoms())
def test_chosen_rows_do_not_depend_on_row_order(rows: list[dict[str, Any]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    plain = [{**row, "file_offset": row["file_offset"] or 0} for row in standing(rows)]
    again = [{**row, "file_offset": row["file_offset"] or 0} for row in standing(shuffled)]
    assert sorted(map(repr, plain)) == sorted(map(repr, again))


FILLED = st.lists(st.tuples(ROW, st.one_of(st.none(), st.integers(0, 3))), max_size=20)


@given(FILLED)
def test_missing_value_is_taken_from_the_previous_row(
    rows: list[tuple[dict[str, Any], int]],
) -> None:
    # One content, one value: the digest is of all values.
    found = [{**row, "value": value, "content_hash": -1 if value is None else value} for row, value in rows]
    table = pa.Table.from_pylist(found, schema=SCHEMA.append(pa.field("value", pa.int64())))
    expected: dict[tuple[Any, ...], int | None] = {}
    for cell in by_hand(found):
        of_cell = [
            row
            for row in found
            if (row["key_high"], row["key_low"], row["piece"]) == cell[:3]
            and ORIGINS.index(row["origin"])
            == max(
                ORIGINS.index(other["origin"])
                for other in found
                if (other["key_high"], other["key_low"]) == cell[:2]
            )
        ]
        of_cell.sort(key=lambda row: (row["commit_id"], row["content_hash"], row["file_offset"] or 0))
        told = [row["value"] for row in of_cell if row["value"] is not None]
        expected[cell[:3]] = told[-1] if told else None
    stands = standing_rows(table, columns=["value"]).to_pylist()
    assert {(row["key_high"], row["key_low"], row["piece"]): row["value"] for row in stands} == expected
    assert len(stands) == len(expected)
