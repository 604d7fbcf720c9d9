"""Which row stands does not depend on order; binary beats formatter; pieces are told apart."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

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
    """The rule in words: best origin of a key, then for each piece the last commit, then any fixed order."""
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
def test_winners_are_those_of_the_rule(rows: list[dict[str, Any]]) -> None:
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
def test_the_order_of_rows_does_not_matter(rows: list[dict[str, Any]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    plain = [{**row, "file_offset": row["file_offset"] or 0} for row in standing(rows)]
    again = [{**row, "file_offset": row["file_offset"] or 0} for row in standing(shuffled)]
    assert sorted(map(repr, plain)) == sorted(map(repr, again))
