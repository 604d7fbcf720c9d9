"""Bounds on the validation of input, so that the work of refusing it does not grow with its size.

A model reports every invalid field. For a list with a million invalid items that would be a million errors, which cost
seconds and gigabytes, and no one reads them. So lists are checked a few items at a time, and checking ends when there
are enough errors to report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from planner_core.errors import FieldProblem, TextTooLong

MOST_PROBLEMS: Final = 200
"""Fields at fault that one answer names."""
MOST_KEYS: Final = 10_000
"""Keys of one object. The largest maps that any document permits hold 5,000 queues."""
DEEPEST: Final = 60
"""Levels of lists and objects. A plan document has 6."""
MOST_STRUCTURES_READ: Final = 1_000
"""Structures of a plan document that are checked one by one; a group has fewer than a tenth of them."""
MOST_STRUCTURES: Final = 6_500
"""Of all policies of one text. One policy of 4,095 structures fits, and so do three of 2,047."""
_STRUCTURE: Final = re.compile(r"\bSTRUCTURE\s+NAME\s*\(", re.IGNORECASE)
MOST_LINES: Final = 200_000
"""Lines with content of one text. Lines of displays and policies have 20 characters and more on average, and no text of them may
have more than 4,000,000 characters."""
_ERRORS_A_FIELD: Final = 5
"""A field whose value may be of several kinds has an error for each."""
_AT_ONCE: Final = 8


def first_problems(problems: Iterable[FieldProblem]) -> tuple[FieldProblem, ...]:
    """Return the problems; of very many the first, and a last one that states that there are more."""
    first = tuple(islice(problems, MOST_PROBLEMS + 1))
    if len(first) <= MOST_PROBLEMS:
        return first
    listed = MOST_PROBLEMS - 1
    words = (
        f"has more problems than the {listed} listed here: checking stopped. Correct these, then try again"
    )
    return (*first[:listed], FieldProblem("", words))


def _until_many_errors(items: object, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401
    """Check the items of a list a few at a time; stop when there are more errors than an answer lists."""
    if not isinstance(items, list) or len(items) <= _AT_ONCE:
        return handler(items)
    read: list[Any] = []
    errors = 0
    for start in range(0, len(items), _AT_ONCE):
        try:
            read += handler(items[start : start + _AT_ONCE])
        except ValidationError as error:
            errors += error.error_count()
            if errors > MOST_PROBLEMS * _ERRORS_A_FIELD:
                # Checked once more from the first item, so that each error names its place in the whole list.
                return handler(items[: start + _AT_ONCE])
    return handler(items) if errors else read


UntilManyErrors: Final = WrapValidator(_until_many_errors)
"""For the type of a list that has no largest length."""


def check_lines(text: str) -> None:
    """Refuse a text with more lines than any display, policy or set of definitions has.

    Raises:
        TextTooLong: It has more.
    """
    if _at_most_lines(text):
        return
    msg = f"The text has more than {MOST_LINES:,} lines: give only the lines that matter, or several shorter texts."
    raise TextTooLong(msg)


def check_structures(text: str) -> None:
    """Refuse a text with more STRUCTURE statements than the policies of a sysplex have.

    Raises:
        TextTooLong: It has more.
    """
    found = sum(1 for _ in _STRUCTURE.finditer(text))
    if found > MOST_STRUCTURES:
        msg = (
            f"The text has {found} STRUCTURE statements, those in remarks included, and at most {MOST_STRUCTURES} are read: give "
            "one policy, without other policies."
        )
        raise TextTooLong(msg)


def _at_most_lines(text: str) -> bool:
    # A text that is short enough for its line ends not to be counted one by one is not split.
    return len(text) <= MOST_LINES or sum(1 for line in text.splitlines() if line.strip()) <= MOST_LINES


def is_too_deep(value: object) -> bool:
    """Return whether lists and objects are nested deeper than any document needs."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True
