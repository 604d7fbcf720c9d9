"""CSV files with a heading line: CFACT, overview conditions and the template."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from planner_core.inputs import delimiter_of, split_cells
from spark_jobs.readers.result import Collector, NotReadable
from spark_jobs.readers.text import TextFile

HEADER_LINES: Final = 30


class CsvTable:
    """The rows below the first line that is a heading."""

    def __init__(
        self,
        file: TextFile,
        collector: Collector,
        *,
        is_heading: Callable[[Sequence[str]], bool],
        missing: str,
    ) -> None:
        self._lines = file.lines()
        self._to = collector
        self.headings: list[str] = []
        for line, text in self._lines:
            if text and text.strip() and not text.startswith("#"):
                self._delimiter = delimiter_of(text)
                cells = split_cells(text.lstrip("\ufeff"), self._delimiter) or []
                if is_heading(cells):
                    self.headings = _without_last(cells)
                    break
            if line >= HEADER_LINES:
                break
        if not self.headings:
            raise NotReadable(missing)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of each row; a line with a different number of cells is reported."""
        for line, text in self._lines:
            if text is None:
                self._to.problem(line, "The line is too long for a row.")
            elif text.strip() and not text.startswith("#"):
                cells = split_cells(text, self._delimiter)
                if cells is None:
                    self._to.problem(line, "A quote is not closed.")
                    continue
                if len(cells) > len(self.headings):
                    cells = _without_last(cells)
                if len(cells) != len(self.headings):
                    message = f"The line has {len(cells)} values under {len(self.headings)} headings."
                    self._to.problem(line, message)
                else:
                    yield line, cells


def _without_last(cells: list[str]) -> list[str]:
    """Return the cells without the empty one after a delimiter at the end of the line."""
    return cells[:-1] if cells and not cells[-1].strip() else cells
