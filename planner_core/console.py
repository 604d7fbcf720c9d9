"""Console and SYSLOG text: lines as the command or message wrote them, without what the console put before them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text: its number in what was pasted (from 1), its own text, and the stamp it carried."""

    number: int
    text: str
    stamp: str | None = None


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What could not be read in a line (from 1), and why."""

    line: int
    message: str


def lines(text: str) -> tuple[Line, ...]:
    """The lines of a paste, without time stamps, system names, job ids and message routing before them."""
    raise NotImplementedError
