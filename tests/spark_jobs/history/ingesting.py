"""An ingest that tests kill, run by tests.forked: [--die N] and the arguments of spark_jobs.ingest.

With `--die N`, it kills itself at the N-th step that changes the history's folder. The steps are half and all of each
file written, and the moments before and after the log entry.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from spark_jobs import ingest
from spark_jobs.history.places import Folder
from spark_jobs.history.store import History

if TYPE_CHECKING:
    import pyarrow as pa


class Steps:
    """Count steps and exit at one of them."""

    def __init__(self, last: int) -> None:
        self.left = last

    def step(self) -> None:
        """Take one step."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def die_at(last: int) -> None:
    """Make this process exit at a step."""
    steps = Steps(last)
    write_file, write_log = Folder.write, History._write

    def torn(place: Folder, path: str, data: pa.Buffer) -> None:
        target = place.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.to_pybytes()[: data.size // 2])
        steps.step()
        target.unlink()
        write_file(place, path, data)
        steps.step()

    def counted(*arguments: object) -> None:
        steps.step()
        write_log(*arguments)  # type: ignore[arg-type]
        steps.step()

    Folder.write = torn  # type: ignore[method-assign, assignment]
    History._write = counted  # type: ignore[method-assign, assignment]


def main(arguments: list[str]) -> int:
    """Ingest."""
    if arguments[0] == "--die":
        die_at(int(arguments[1]))
        arguments = arguments[2:]
    return ingest.main(arguments)
