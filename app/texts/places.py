"""Places in a YAML or JSON text for its author, who sees lines and keys instead of JSON pointers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from planner_core.document.problems import pointer_steps
from planner_core.errors import FieldProblem

_MOST_READ: Final = 2**21
"""Characters in which lines are looked up. A text of this length takes about a second, and long ones are sent as files."""


def in_the_text(problems: Sequence[FieldProblem], text: str) -> tuple[FieldProblem, ...]:
    """Return problems whose `field` is a line and a key of a text, such as `Line 7, maxdepth`, instead of a JSON pointer.

    Args:
        problems: Problems with pointers; the field of a problem with the whole text is empty.
        text: The text as its author sees it; if it is empty, the fields have only keys.
    """
    lines = _lines(problems, text)
    return tuple(replace(each, field=_words(each.field, lines.get(each.field))) for each in problems)


def _lines(problems: Sequence[FieldProblem], text: str) -> Mapping[str, int]:
    pointers = [each.field for each in problems if each.field.startswith("/")]
    if not pointers or not text:
        return {}
    # Imported here, because the library of YAML takes a while to load.
    from app.texts.yaml_reader import lines_of

    return lines_of(text[:_MOST_READ], pointers)


def _words(pointer: str, line: int | None) -> str:
    if not pointer.startswith("/"):
        return pointer
    steps = pointer_steps(pointer)
    if line is None:
        return " ".join(f"{int(step) + 1}," if _is_place(step) else step for step in steps).removesuffix(",")
    key = next((step for step in reversed(steps) if not _is_place(step)), "")
    return f"Line {line}, {key}" if key else f"Line {line}"


def _is_place(step: str) -> bool:
    """Return whether a step can be the place of an item in a list; keys can be digits of any script, such as `²`."""
    return step.isascii() and step.isdigit()
