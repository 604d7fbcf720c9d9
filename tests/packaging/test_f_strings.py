"""Messages that span several lines: a line without its `f` prefix would print the name of a variable."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "planner_core", "spark_jobs", "bench")
FIELD = re.compile(r"(?<!\{)\{[a-z_][\w.]*(?:[!:][^{}]*)?\}(?!\})")
BETWEEN = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT}


def without_prefix(source: str) -> Iterator[int]:
    """Yield the lines of plain strings that contain a field and are joined to an f-string."""
    pieces: list[tuple[bool, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        # Python 3.12 splits an f-string into tokens of its own.
        if name.startswith("FSTRING"):
            pieces.append((True, token.start[0], ""))
        elif token.type == tokenize.STRING:
            prefix = token.string.partition(token.string[-1])[0].lower()
            pieces.append(("f" in prefix, token.start[0], token.string))
        elif token.type not in BETWEEN:
            yield from _suspicious(pieces)
            pieces = []
    yield from _suspicious(pieces)


def _suspicious(pieces: list[tuple[bool, int, str]]) -> Iterator[int]:
    if any(is_f_string for is_f_string, _, _ in pieces):
        yield from (line for is_f_string, line, text in pieces if not is_f_string and FIELD.search(text))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('x = (\n    f"{a} is "\n    "now {b.after}."\n)\n', [3]),
        ('x = (\n    "{a} is "\n    f"now {b}."\n)\n', [2]),
        ('x = (\n    f"{a} is "\n    f"now {b}."\n)\n', []),
        ('x = "{a} is filled in later"\ny = f"{b}"\n', []),
    ],
)
def test_field_without_an_f_prefix_is_detected(source: str, lines: list[int]) -> None:
    assert list(without_prefix(source)) == lines


def test_every_part_of_an_f_string_with_a_field_has_its_prefix() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in without_prefix(path.read_text("utf-8"))
    ]
    assert found == []
