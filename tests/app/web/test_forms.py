"""Rows of posted forms: numbers with gaps, and names that no form of cfplan has."""

from __future__ import annotations

import pytest

from app.web.forms import rows_of
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
