"""Texts of posted forms, and their rows: numbers with gaps, and names that no form of cfplan has."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import pytest
from fastapi import HTTPException
from hypothesis import example, given
from hypothesis import strategies as st

from app.web.forms import read_pairs, rows_of
from tests.cpu import at_most_cpu_seconds
from tests.hostile.field_names import NAMES_OF_NO_FIELD


def test_rows_keep_their_numbers() -> None:
    texts = dict.fromkeys(
        ("/name", "/structures/7/name", "/structures/2/queues/10/name", "/structures/2/queues/9/name"), ""
    )
    found = rows_of(texts)
    assert dict(found) == {"/structures": [2, 7], "/structures/2/queues": [9, 10]}
    assert found["/coupling_facilities"] == []


@pytest.mark.parametrize("name", NAMES_OF_NO_FIELD.values(), ids=NAMES_OF_NO_FIELD.keys())
def test_names_of_no_field_are_no_rows(name: str) -> None:
    with at_most_cpu_seconds(0.5):
        assert not any(rows_of({name: "x"}).values())


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), min_size=1))
@example([("text", '{"a": [1, "%22%2522 + & = é"]}\r\n')])
def test_texts_are_read_as_they_were_sent(pairs: list[tuple[str, str]]) -> None:
    assert read_pairs(urlencode(pairs).encode()) == pairs


@given(st.text(alphabet='%27BCDEF2b5d=&+x"\n/é', max_size=40))
@example("a=%2%22%%7B%%32%2522%7b%2B+%26%3D")
@example("a=%E2%22")
@example("a=%C3%27A9")
def test_any_escapes_are_read_as_the_standard_library_reads_them(body: str) -> None:
    try:
        expected = parse_qsl(body, keep_blank_values=True, errors="strict")
    except ValueError:
        with pytest.raises(HTTPException):
            read_pairs(body.encode())
        return
    assert read_pairs(body.encode()) == expected
