from __future__ import annotations

import time

import pytest

from app.search.query import Word, read_query


def test_read_query_removes_extra_blanks_control_characters_and_repeated_words() -> None:
    query = read_query("  Pay*\x00\t IN  pay* ")
    assert query.text == "Pay* IN pay*"
    assert [word.text for word in query.words] == ["pay*", "in"]


@pytest.mark.parametrize("typed", ["", "   ", "\x00\n"])
def test_read_query_of_an_empty_text_is_false(typed: str) -> None:
    assert not read_query(typed)


@pytest.mark.parametrize(
    ("word", "names", "others"),
    [
        ("pay", ["PAYMENTS", "EU.PAY"], ["PA.Y"]),
        ("pay*", ["PAY", "payments.in"], ["EU.PAY"]),
        ("*.in", ["PAYMENTS.IN", ".in"], ["PAYMENTS.INX", "IN"]),
        ("pay*.in", ["PAY.IN", "PAYMENTS.EU.IN"], ["PAY.INX", "PAYIN"]),
        ("a*a", ["aa", "aba"], ["a"]),
        ("*b*", ["abc", "b"], ["ac"]),
        ("*", ["", "anything"], []),
    ],
)
def test_word_matches_parts_of_names_and_with_an_asterisk_whole_names(
    word: str, names: list[str], others: list[str]
) -> None:
    assert [name for name in (*names, *others) if Word(word).matches(name)] == names


def test_word_like_escapes_wildcards_of_the_database() -> None:
    assert Word("100%_\\").like == "%100\\%\\_\\\\%"
    assert Word("a_*").like == "a\\_%"
    assert Word("a_*b").like_beginning == "a\\_%"


def test_word_with_many_asterisks_is_compared_in_linear_time() -> None:
    before = time.process_time()
    assert not Word("*a" * 50 + "*b").matches("a" * 100_000 + "c")
    assert time.process_time() - before < 5  # a regular expression would take years
