"""The words of a search, and their patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass

ESCAPE = "\\"
"""The character that makes a wildcard of LIKE an ordinary one."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a search, in lower case; `*` in it matches any characters, and the word then matches whole names."""

    text: str

    @property
    def like(self) -> str:
        """The pattern for LIKE."""
        escaped = _escaped(self.text)
        return escaped.replace("*", "%") if "*" in self.text else f"%{escaped}%"

    @property
    def like_beginning(self) -> str:
        """The pattern of names that begin with the word, up to its first asterisk."""
        return f"{_escaped(self.text.partition('*')[0])}%"

    @property
    def plain(self) -> str:
        """The word without asterisks, for texts."""
        return self.text.strip("*")

    def matches(self, name: str) -> bool:
        """Return whether a name contains the word or, if the word has an asterisk, fits it as a whole.

        >>> Word("pay*").matches("PAYMENTS.IN"), Word("pay*").matches("EU.PAYMENTS"), Word("pay").matches("EU.PAYMENTS")
        (True, False, True)
        """
        name = name.lower()
        if "*" not in self.text:
            return self.text in name
        return _has_parts(name, self.text.split("*"))


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search: the text as typed, without extra blanks, and its words. A result has all of the words."""

    text: str
    words: tuple[Word, ...]

    def __bool__(self) -> bool:
        """Return whether there is anything to search for."""
        return bool(self.words)


def read_query(typed: str) -> SearchQuery:
    """Return the search for a text.

    >>> read_query("  PAY*   in ")
    SearchQuery(text='PAY* in', words=(Word(text='pay*'), Word(text='in')))
    """
    # PostgreSQL rejects texts with a null character, and no name has other control characters.
    text = " ".join("".join(c if c.isprintable() else " " for c in typed).split())
    return SearchQuery(text, tuple(Word(word) for word in dict.fromkeys(text.lower().split())))


def _escaped(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


def _has_parts(name: str, parts: list[str]) -> bool:
    """Return whether a name consists of these parts in order, with anything between them."""
    # Not a regular expression, because many asterisks in one would take exponential time.
    first, *between, last = parts
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in between:
        at = name.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
