"""The processes that a process of a test started."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> Iterator[int]:
    """Yield the processes that a process started, and those that they started."""
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = [int(child) for child in each.read_text().split()]
        except OSError:
            continue
        for child in found:
            yield child
            yield from descendants(child)


def command_line(pid: int) -> list[str]:
    """Return the words of the command of a process; none if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def end_with_descendants(process: subprocess.Popen[bytes]) -> None:
    """End a process and its descendants."""
    # All are listed first: the children of an ended process are no descendants any more.
    for pid in list(descendants(process.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
