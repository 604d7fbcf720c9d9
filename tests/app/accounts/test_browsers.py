"""Descriptions that browsers send, in words."""

from __future__ import annotations

import pytest

from app.accounts.browsers import browser_and_system

_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
_PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_CHROME}", "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_CHROME} Edg/143.0.0.0", "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {_CHROME}", "Chrome on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on macOS"),
        (f"{_PHONE} Version/18.6 Mobile/15E148 Safari/604.1", "Safari on iOS"),
        (f"{_PHONE} CriOS/143.0.0.0 Mobile/15E148 Safari/604.1", "Chrome on iOS"),
        ("curl/8.14.1", "curl"),
        ("a script of the night", "a script of the night"),
        ("", "unknown browser"),
    ],
)  # fmt: skip
def test_description_is_shown_in_words(description: str, words: str) -> None:
    assert browser_and_system(description) == words
