"""The log of a run. It is bounded: a very long log loses its middle."""

from __future__ import annotations

from app.clock import utc_now

HEAD_CHARACTERS, TAIL_CHARACTERS = 16_000, 48_000
LONGEST_LINE = 2_000


class Log:
    """The lines of a log with their times."""

    def __init__(self, text: str = "") -> None:
        self._head = text[:HEAD_CHARACTERS]
        self._tail = text[HEAD_CHARACTERS:]
        self._omitted = 0

    def add(self, line: str) -> None:
        """Add a line with the current time."""
        kept = "".join(letter if letter.isprintable() or letter == "\t" else "?" for letter in line.rstrip())
        entry = f"{utc_now():%Y-%m-%d %H:%M:%S} {kept[:LONGEST_LINE]}\n"
        if not self._tail and len(self._head) + len(entry) <= HEAD_CHARACTERS:
            self._head += entry
            return
        self._tail += entry
        if len(self._tail) > 2 * TAIL_CHARACTERS:  # cutting at every line would copy the text each time
            self._cut()

    def text(self) -> str:
        """Return the log, with the number of lines omitted in the middle."""
        if len(self._tail) > TAIL_CHARACTERS:
            self._cut()
        missing = f"... {self._omitted} lines omitted ...\n" if self._omitted else ""
        return self._head + missing + self._tail

    def _cut(self) -> None:
        at = self._tail.find("\n", len(self._tail) - TAIL_CHARACTERS) + 1
        self._omitted += self._tail.count("\n", 0, at)
        self._tail = self._tail[at:]
