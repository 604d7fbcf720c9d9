"""Passwords that attackers try first: common words, names, sequences and their usual variations."""

from __future__ import annotations

import re
from itertools import pairwise

FEWEST_CHARACTERS = 5
"""Different characters of a password; fewer are repetitions such as aaaaaaaaaaaa."""
MOST_IN_SEQUENCE = 0.7
"""Share of neighbors in the alphabet or on the keyboard, from which a password is a sequence such as 1234567890ab."""
MOST_FROM_WORDS = 0.6
"""Share of a password that common words cover, from which it is common, such as Password2026!."""

_SUBSTITUTES = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"}
)
_ROWS = ("1234567890", "0987654321", "qwertyuiop", "poiuytrewq", "asdfghjkl", "lkjhgfdsa", "zxcvbnm", "mnbvcxz", "qwertz", "yxcvbnm", "azerty", "1qaz2wsx3edc4rfv5tgb6yhn", "1q2w3e4r5t6y7u8i9o0p", "qaywsxedcrfv")  # fmt: skip
_WORDS = frozenset(
    """
    password passwort passwd passw0rd passphrase kennwort geheim secret letmein welcome willkommen changeme change
    default initial temporary temp login logon signin access enter admin administrator root system sysadmin superuser
    user guest test testing demo example sample master master key changeit trustno monkey dragon football baseball
    basketball hockey soccer superman batman spiderman starwars pokemon princess sunshine shadow michael jordan
    jennifer jessica ashley daniel thomas andrew charlie robert matthew joshua george summer winter spring autumn
    sommer fruehling herbst monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december iloveyou loveme lovely hello hallo freedom whatever
    computer internet server network database oracle google facebook microsoft windows linux apple samsung company
    corporate business office banking london paris berlin newyork america germany england canada qazwsx zaqwsx
    abcdef abcabc asdasd qweqwe killer hunter ranger harley mustang corvette ferrari porsche mercedes yankees cowboys
    cheese cookie chocolate coffee pepper ginger flower butterfly rainbow purple orange banana blink forever family
    nothing something anything everything correcthorsebatterystaple
    cfplan planner viewer operator capacity coupling facility structure mainframe sysplex parallel mqseries websphere
    ibmuser sysprog zos
    """.split()  # noqa: SIM905 - a list of 170 words reads better as text
)
_LONGEST_FIRST = sorted(_WORDS | frozenset(_ROWS), key=len, reverse=True)


def is_common(password: str, *, known: tuple[str, ...] = ()) -> bool:
    """Return whether a password is easy to guess.

    Args:
        password: The password.
        known: Words that attackers know about the user, such as the user name.
    """
    plain = password.casefold()
    if len(set(plain)) < FEWEST_CHARACTERS or _is_repeated(plain) or _in_sequence(plain) >= MOST_IN_SEQUENCE:
        return True
    own = [word for word in known if len(word) >= 3]  # noqa: PLR2004 - shorter names are in many words
    return any(
        _left_over(text, own) <= (1 - MOST_FROM_WORDS) * len(plain)
        for text in (plain, plain.translate(_SUBSTITUTES))
    )


def _is_repeated(text: str) -> bool:
    """Return whether a text is a short text, repeated."""
    return re.fullmatch(r"(.{1,6}?)\1+.{0,3}", text, re.DOTALL) is not None


def _in_sequence(text: str) -> float:
    """Return the share of characters that follow from the one before: abc, 321, qwer, aaa."""
    neighbors = sum(
        ord(second) - ord(first) in (-1, 0, 1) or any(first + second in row for row in _ROWS)
        for first, second in pairwise(text)
    )
    return neighbors / max(len(text) - 1, 1)


def _left_over(text: str, own: list[str]) -> int:
    """Return the number of characters without common words, and without the digits and signs that people append."""
    for word in (*own, *_LONGEST_FIRST):
        text = text.replace(word, "\0")
    return len(re.sub(r"[\W\d_\0]+", "", text))
