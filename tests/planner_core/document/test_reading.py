"""The two readers of JSON text: the fast one accepts the same texts as the one that finds errors, with equal values."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.bounds import DEEPEST, MOST_KEYS
from planner_core.document import reading
from planner_core.document.reading import parse_json, read_json
from planner_core.errors import DocumentInvalid

SMALLEST = {"qsg": "SQ03", "queue_managers": 4}
NUMBERS = st.one_of(
    st.from_regex(r"\A-?(0|[1-9][0-9]{0,45})(\.[0-9]{1,45})?([eE][+-]?[0-9]{1,25})?\Z"),
    st.sampled_from(["NaN", "Infinity", "-Infinity", "01", "1.", "1e999999999999999999999", "-0", "1E5"]),
)
STRINGS = st.sampled_from(['"a"', '"b"', '"\\u0061"', '"\\ud800"', '"é"', f'"{"0" * 41}"', '"{"', '""'])
TEXTS = st.recursive(
    st.one_of(NUMBERS, STRINGS, st.sampled_from(["true", "null", "x"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(STRINGS, inner), max_size=4).map(
            lambda pairs: f"{{{','.join(f'{key}: {value}' for key, value in pairs)}}}"
        ),
    ),
    max_leaves=12,
)


def outcome(text: str | bytes, *, fast: bool) -> tuple[str, Any]:
    """Return the parsed value with the types of its numbers, or the errors."""
    try:
        found = reading._parse(text) if fast else reading._parse_and_find_errors(text)
    except DocumentInvalid as error:
        return "refused", error.problems
    return "read", repr(found)


@given(TEXTS)
def test_fast_reader_gives_the_values_and_errors_of_the_other_reader(text: str) -> None:
    assert outcome(text, fast=True) == outcome(text, fast=False)
    assert outcome(text.encode(), fast=True) == outcome(text, fast=False)


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff", b"\xef\xbb\xbf{}", "\ufeff{}", "{} x", '"\ud800"', "[" * 200_000, '{"a": 1, "a": 1}'],
    ids=["empty", "not UTF-8", "BOM", "BOM in text", "more", "surrogate", "deep", "repeated"],
)
def test_fast_reader_gives_the_error_of_the_other_reader(text: str | bytes) -> None:
    assert outcome(text, fast=True) == outcome(text, fast=False)


@pytest.mark.parametrize("length", [40, 41])
@pytest.mark.parametrize("number", ["1.5", "7"])
def test_number_is_refused_from_41_characters(number: str, length: int) -> None:
    text = number + ("0" if "." in number else "1") * (length - len(number))
    if length == 40:
        assert parse_json(f"[{text}]") == [Decimal(text)]
        return
    with pytest.raises(DocumentInvalid) as refused:
        parse_json(f"[{text}]")
    (problem,) = refused.value.problems
    assert problem.field == "/0"
    assert "too long" in problem.message


def test_text_with_a_long_run_of_digits_is_read() -> None:
    assert parse_json(f'{{"name": "{"0" * 50}", "size": 2.5}}') == {"name": "0" * 50, "size": Decimal("2.5")}


def test_object_is_refused_above_the_maximum_number_of_keys() -> None:
    most = {f"k{number}": 1 for number in range(MOST_KEYS)}
    assert parse_json(json.dumps(most)) == most
    with pytest.raises(DocumentInvalid, match="keys"):
        parse_json(json.dumps({**most, "more": 1}))


@pytest.mark.parametrize("key", ["queue_managers", "structures", "perfmev", "unknown"])
def test_document_that_is_too_deep_is_refused_as_such(key: str) -> None:
    deep = "[" * DEEPEST + "]" * DEEPEST
    with pytest.raises(DocumentInvalid) as refused:
        read_json(json.dumps({**SMALLEST, key: 0}).replace(": 0", f": {deep}"))
    (problem,) = refused.value.problems
    assert (problem.field, problem.message) == ("", "The text is nested too deeply.")
