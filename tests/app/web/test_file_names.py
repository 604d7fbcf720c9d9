"""Names of files to download."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.file_names import file_name


@pytest.mark.parametrize(
    ("text", "name"), [("SQ03", "SQ03"), ("MQ$1-A@P#.csv", "MQ_1-A_P_.csv"), ('a"b/c\r\n', "a_b_c__")]
)
def test_file_name_replaces_unsafe_characters(text: str, name: str) -> None:
    assert file_name(text) == name


@given(st.text())
def test_file_name_of_any_text_is_safe_in_a_header(text: str) -> None:
    found = file_name(text)
    assert len(found) == len(text)
    assert found.isascii()
    assert not set(found) & set('"\\/\r\n ;')
