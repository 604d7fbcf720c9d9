"""An ingest to be killed: `python -m tests.history.ingesting [--die N] -- ARGUMENTS of spark_jobs.ingest`.

It says "ready" when everything is imported and starts when its standard input is closed, so that whoever kills it does not
kill the start of Python. With `--die N` it kills itself at the N-th step that changes the history's folder: steps are the
half, and the whole, of each file written, and the moments before and after the log's entry.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from spark_jobs import ingest
from spark_jobs.history.places import Folder
from spark_jobs.history.store import History

if TYPE_CHECKING:
    import pyarrow as pa


class Steps:
    """Counts steps and dies at one of them."""

    def __init__(self, last: int) -> None:
        self.left = last

    def step(self) -> None:
        """Take one step."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def die_at(last: int) -> None:
    """Arrange for this process to die at a step."""
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
    """Wait to be started, then ingest."""
    if arguments[0] == "--die":
        die_at(int(arguments[1]))
        arguments = arguments[2:]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    return ingest.main(arguments)


if __name__ == "__main__":
    sys.exit(main([argument for argument in sys.argv[1:] if argument != "--"]))
