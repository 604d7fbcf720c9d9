"""Bounds on the validation of input, so that the time to refuse invalid input does not grow with its size.

A model reports every invalid field. A list with a million invalid items would give a million errors, which take seconds
and gigabytes, and which no reader needs. So lists are checked a few items at a time, until there are enough errors to
report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from planner_core.errors import FieldProblem, TextTooLong

MOST_PROBLEMS: Final = 200
"""The maximum number of invalid fields in one answer."""
MOST_KEYS: Final = 10_000
"""The maximum number of keys in one object. The largest maps in any document have 5,000 queues."""
DEEPEST: Final = 60
"""The maximum nesting depth of lists and objects. A plan document has 6 levels."""
MOST_COMMAS: Final = 2_000_000
"""The maximum number of commas in one JSON text. The largest legal plan has 250,000. A text with millions of values would take
gigabytes of memory, and the parser would stop all other threads for seconds."""
MOST_STRUCTURES_READ: Final = 1_000
"""A plan document with more structures is refused before validation. No group has even a tenth of this number."""
MOST_STRUCTURES: Final = 6_500
"""The maximum number of structures in all policies of one text: enough for a policy of 4,095, or for three of 2,047."""
_STRUCTURE: Final = re.compile(r"\bSTRUCTURE\s+NAME\s*\(", re.IGNORECASE)
MOST_LINES: Final = 200_000
"""The maximum number of non-blank lines in one text. A text has at most 4,000,000 characters, and the lines of displays
and policies average 20 or more."""
_ERRORS_A_FIELD: Final = 5
"""The maximum number of errors for one field: a field that allows several types has an error for each type."""
_AT_ONCE: Final = 8


def first_problems(problems: Iterable[FieldProblem]) -> tuple[FieldProblem, ...]:
    """Return the problems; if there are too many, return the first ones and a note that there are more."""
    first = tuple(islice(problems, MOST_PROBLEMS + 1))
    if len(first) <= MOST_PROBLEMS:
        return first
    listed = MOST_PROBLEMS - 1
    words = f"has more problems than the {listed} listed here: checking stopped. Correct these problems, then try again"
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
                # Checked again from the first item, so that each error names its place in the whole list.
                return handler(items[: start + _AT_ONCE])
    return handler(items) if errors else read


UntilManyErrors: Final = WrapValidator(_until_many_errors)
"""Validator for lists without a maximum length."""


def check_lines(text: str) -> None:
    """Refuse a text with more lines than any display, policy or set of definitions.

    Raises:
        TextTooLong: The text has too many lines.
    """
    # A text with fewer characters than this limit also has fewer lines, so it is not split to count them.
    if len(text) <= MOST_LINES or sum(1 for line in text.splitlines() if line.strip()) <= MOST_LINES:
        return
    msg = f"The text has more than {MOST_LINES:,} lines: enter only the relevant lines, or several shorter texts."
    raise TextTooLong(msg)


def check_structures(text: str) -> None:
    """Refuse a text with more STRUCTURE statements than the policies of a sysplex.

    Raises:
        TextTooLong: The text has too many statements.
    """
    found = sum(1 for _ in _STRUCTURE.finditer(text))
    if found > MOST_STRUCTURES:
        msg = f"The text has {found} STRUCTURE statements, including those in comments, but at most {MOST_STRUCTURES} are read: enter a single policy."
        raise TextTooLong(msg)


def is_too_deep(value: object) -> bool:
    """Return whether lists and objects are nested deeper than any document needs."""
    # Level by level, because a recursive search would itself fail on the values that it must find.
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
