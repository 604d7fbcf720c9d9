"""Read the objects of a JSON text that may be an array, a sequence of objects, or damaged in the middle."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from spark_jobs.readers.text import TextFile

_CHUNK: Final = 1_048_576
_LARGEST_OBJECT: Final = 16 * _CHUNK
_BETWEEN = re.compile(r"[\s,\[\]\ufeff]*")
_NEXT_OBJECT = re.compile(r"\n[ \t,\[]*(?=\{)")


def first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which the first of two equal keys keeps its name; the second is called `name#2`.

    mq-smf-csv writes the table's name and a column of the same name under one key, `structure`.
    """
    made: dict[str, Any] = {}
    for key, value in pairs:
        made[f"{key}#2" if key in made else key] = value
    return made


class _Window:
    """A part of a text, and the number of its line."""

    def __init__(self, file: TextFile) -> None:
        self._chunks = file.chunks(_CHUNK)
        self.text = ""
        self.at = 0
        self.line = 1
        self.is_last = False

    def go_to(self, position: int) -> None:
        self.line += self.text.count("\n", self.at, position)
        self.at = position

    def grow(self) -> bool:
        """Read the next chunk and drop the text before the current position."""
        chunk = next(self._chunks, None)
        self.is_last = chunk is None
        self.text, self.at = self.text[self.at :] + (chunk or ""), 0
        return not self.is_last


def objects(
    file: TextFile, *, on_problem: Callable[[int, str], None]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line (from 1) and the content of each object; anything else is reported and skipped."""
    decoder = json.JSONDecoder(object_pairs_hook=first_wins)
    window = _Window(file)
    while True:
        gap = _BETWEEN.match(window.text, window.at)
        window.go_to(gap.end() if gap else window.at)
        if window.at >= len(window.text):
            if not window.grow():
                return
            continue
        try:
            value, end = decoder.raw_decode(window.text, window.at)
        except (ValueError, RecursionError):
            # The object may only be truncated by the end of the window. Beyond the limit it is damaged, and reading on
            # would load the whole file.
            if len(window.text) - window.at < _LARGEST_OBJECT and not window.is_last and window.grow():
                continue
            on_problem(window.line, "Text that is not a complete JSON object is skipped.")
            following = _NEXT_OBJECT.search(window.text, window.at)
            window.go_to(following.end() if following else len(window.text))
            continue
        if isinstance(value, dict):
            yield window.line, value
        else:
            on_problem(window.line, "A value that is not a JSON object is skipped.")
        window.go_to(end)
