"""Processes that start on request and may be killed: forked from one that has already imported their modules.

Starting Python and importing Arrow and delta-rs costs more than most of what these processes do. Their parent
process has only imported these modules, so it has no threads that a fork would lose.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

RUN_IN_PROCESSES = ("tests.spark_jobs.history.ingesting", "tests.spark_jobs.night.nights")
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["pytest", __name__, *RUN_IN_PROCESSES])


class ForkedProcess:
    """A process that runs `main(arguments)` of a module from a given moment."""

    def __init__(self, module: str, arguments: tuple[str, ...], folder: Path) -> None:
        """Start the process, which waits for `begin`."""
        self._said = folder / "stdout", folder / "stderr"
        theirs, self._word = _CONTEXT.Pipe(duplex=True)
        self._process = _CONTEXT.Process(target=_run, args=(module, arguments, theirs, *map(str, self._said)))
        self._process.start()
        theirs.close()
        assert self._word.recv() == "ready"

    def begin(self) -> None:
        """Let the process run its module."""
        self._word.send("begin")

    def wait(self, patience_s: float) -> int:
        """Return the exit code; a negative one is the signal that ended the process."""
        self._process.join(patience_s)
        assert self._process.exitcode is not None, f"it has not ended after {patience_s} s"
        return self._process.exitcode

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()

    def stdout(self) -> str:
        """Return its standard output."""
        return self._said[0].read_text("utf-8")

    def stderr(self) -> str:
        """Return its standard error."""
        return self._said[1].read_text("utf-8")

    def close(self) -> None:
        """Kill the process if it still runs."""
        self.kill()
        self._process.close()
        self._word.close()


@contextmanager
def forked(module: str, *arguments: str) -> Iterator[ForkedProcess]:
    """Yield a process that waits for `begin`, and kill it at the end if it still runs."""
    with tempfile.TemporaryDirectory() as folder:
        process = ForkedProcess(module, arguments, Path(folder))
        try:
            yield process
        finally:
            process.close()


def _run(module: str, arguments: tuple[str, ...], word: Connection, out: str, err: str) -> None:
    for number, path in ((1, out), (2, err)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    main = importlib.import_module(module).main
    word.send("ready")
    word.recv()
    sys.exit(main(list(arguments)))
