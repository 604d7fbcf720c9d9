"""Digests depend only on the values of a row."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.history.digests import row_digest, value_words, words_digest

ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.text(max_size=80)),
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        st.one_of(st.none(), st.booleans()),
        st.one_of(st.none(), st.floats(allow_nan=False)),
    ),
    min_size=1,
    max_size=30,
)
TYPES = (pa.string(), pa.int64(), pa.bool_(), pa.float64())


def digest(rows: list[tuple[object, ...]], *, lane: int = 0, reverse: bool = False) -> list[int]:
    columns = [(f"c{n}", pa.array([row[n] for row in rows], kind)) for n, kind in enumerate(TYPES)]
    if reverse:
        columns.reverse()
    return row_digest(columns, rows=len(rows), lane=lane).tolist()


@given(ROWS)
def test_digest_of_a_row_does_not_depend_on_other_rows(rows: list[tuple[object, ...]]) -> None:
    assert digest(rows) == [digest([row])[0] for row in rows]


@given(ROWS)
def test_digest_does_not_depend_on_column_order(rows: list[tuple[object, ...]]) -> None:
    assert digest(rows) == digest(rows, reverse=True)


@given(ROWS)
def test_digests_differ_only_for_different_rows(rows: list[tuple[object, ...]]) -> None:
    digests = digest(rows)
    for one, its in zip(rows, digests, strict=True):
        for other, others in zip(rows, digests, strict=True):
            assert (one == other) == (its == others)


def test_column_of_nulls_does_not_change_the_digest() -> None:
    known = ("a", pa.array([1, 2]))
    later = ("b", pa.nulls(2, pa.int64()))
    assert np.array_equal(row_digest([known], rows=2, lane=0), row_digest([known, later], rows=2, lane=0))


def test_equal_values_in_different_columns_have_different_digests() -> None:
    one = row_digest([("a", pa.array([1])), ("b", pa.array([2]))], rows=1, lane=0)
    other = row_digest([("a", pa.array([2])), ("b", pa.array([1]))], rows=1, lane=0)
    assert one[0] != other[0]


def test_digest_lanes_are_independent() -> None:
    column = [("a", pa.array(range(1000)))]
    assert not np.intersect1d(
        row_digest(column, rows=1000, lane=0), row_digest(column, rows=1000, lane=1)
    ).size


def test_digest_does_not_depend_on_chunks() -> None:
    whole = pa.array(["x", None, "y" * 100])
    pieces = pa.chunked_array([["x"], [None, "y" * 100]], pa.string())
    assert np.array_equal(
        row_digest([("a", whole)], rows=3, lane=0), row_digest([("a", pieces)], rows=3, lane=0)
    )


def test_digest_of_an_instant_equals_that_of_its_microseconds() -> None:
    kind = pa.timestamp("us", tz="UTC")
    one = pa.array([dt.datetime(2026, 11, 20, tzinfo=dt.UTC)], kind)
    other = pa.array([dt.datetime(2026, 11, 20, microsecond=1, tzinfo=dt.UTC)], kind)
    assert row_digest([("a", one)], rows=1, lane=0)[0] != row_digest([("a", other)], rows=1, lane=0)[0]


def test_digests_are_those_of_stored_rows() -> None:
    """Digests must not change from release to release, because those of stored rows are compared with new ones."""
    late, early = dt.datetime(2026, 1, 5, tzinfo=dt.UTC), dt.datetime(1969, 12, 31, tzinfo=dt.UTC)
    columns = [
        ("text", pa.array(["SQ03", "", None, "y" * 100, "SQ03"])),
        ("number", pa.array([1, None, -5, 2**63 - 1, 1])),
        ("truth", pa.array([True, False, None, None, True])),
        ("share", pa.array([0.5, -0.0, None, 1e300, 0.5])),
        ("at", pa.array([late, None, None, early, late], pa.timestamp("us", tz="UTC"))),
        ("nothing", pa.nulls(5, pa.int64())),
    ]
    assert [row_digest(columns, rows=5, lane=lane).tolist() for lane in (0, 1)] == [
        [5242995173290683754, 3029990615636327387, 7111904732464039194, -8523284407125791102, 5242995173290683754],
        [3960197831080112369, 4791837827385207743, -3425440297082142177, -4553473337815567842, 3960197831080112369],
    ]  # fmt: skip


@given(ROWS, st.data())
def test_digest_of_selected_rows_equals_that_of_all(
    rows: list[tuple[object, ...]], data: st.DataObject
) -> None:
    chosen = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1)))
    columns = [(f"c{n}", pa.array([row[n] for row in rows], kind)) for n, kind in enumerate(TYPES)]
    words = [(name, value_words(column)) for name, column in columns]
    taken = [(name, values and values.take(chosen)) for name, values in words]
    expected = np.array(digest(rows))[chosen]
    assert np.array_equal(words_digest(taken, rows=len(chosen), lane=0), expected)


@given(ROWS)
def test_digest_of_a_part_of_an_array_is_that_of_its_rows(rows: list[tuple[object, ...]]) -> None:
    columns = [(f"c{n}", pa.array([row[n] for row in rows], kind)[1:]) for n, kind in enumerate(TYPES)]
    assert row_digest(columns, rows=len(rows) - 1, lane=0).tolist() == digest(rows)[1:]


def test_one_million_keys_have_different_digests() -> None:
    columns = [("n", pa.array(range(1_000_000))), ("s", pa.repeat(pa.scalar("SYSA"), 1_000_000))]
    assert len(np.unique(row_digest(columns, rows=1_000_000, lane=0))) == 1_000_000
