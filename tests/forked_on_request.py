"""Processes that a test kills again and again, each forked from one that has already imported their modules.

Starting Python and importing the application takes longer than what these processes do until they are killed. The parent
is forked from the process of `tests/prepared.py`, and prints `ready`. Then, for each line on stdin, it forks a child, prints
the number of the child's process, and prints `gone` when it has ended.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO

from tests.prepared import commands

READY, CHILD, GONE = "ready", "child", "gone"


def say(text: str) -> None:
    """Print a line in one piece, without buffers that a kill would lose or a fork would copy."""
    os.write(1, f"{text}\n".encode())


def fork_for_each_line(run: Callable[[str], object]) -> None:
    """Run a function in a child for each line on stdin."""
    os.setsid()
    say(READY)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            say(f"{CHILD} {os.getpid()}")
            run(line.strip())
            os._exit(0)
        os.waitpid(child, 0)
        say(GONE)


class Parent:
    """The parent of such processes."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        """Wait until the parent has imported its modules."""
        self._requests, self._answers = requests, answers
        assert self.read() == [READY]

    def read(self) -> list[str]:
        """Return the words of the next line that the parent or its child prints."""
        return self._answers.readline().split()

    def start(self, request: str) -> int:
        """Start a child and return the number of its process."""
        self._requests.write(f"{request}\n")
        self._requests.flush()
        word, number = self.read()
        assert word == CHILD
        return int(number)

    def lines_until_gone(self) -> Iterator[list[str]]:
        """Yield the words of each line that the child prints until it has ended."""
        while (words := self.read()) != [GONE]:
            assert words, "the parent has ended"
            yield words


@contextmanager
def parent_of(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Parent]:
    """Run `main` of a module, which calls `fork_for_each_line`; at the end, kill it and its child."""
    (theirs, requests), (answers, their_answers) = os.pipe(), os.pipe()
    with open(requests, "w") as asking, open(answers) as answering:  # noqa: PTH123 - no paths
        files = (theirs, their_answers, 2)
        process = commands().start_with(files, module, *arguments, environment=environment or os.environ)
        os.close(theirs)
        os.close(their_answers)
        try:
            yield Parent(asking, answering)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
