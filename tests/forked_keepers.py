"""Keepers that a watcher starts, forked from the process of `tests/prepared.py`: a new process would import for a second.

`fork_keepers` applies to the watchers of this process. To serve with them in another process, run `main` of this module with
the arguments of `cfplan`, and with VARIABLE in the environment.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pytest

from app import cli
from app.jobs import processes
from tests.prepared import Prepared, Started, commands

VARIABLE = "TEST_PREPARED"
"""The environment variable with the folder of the prepared process."""


@contextmanager
def keepers_are_forked(prepared: Prepared) -> Iterator[None]:
    """Fork keepers during the block."""

    def start(
        command: Sequence[str],
        *,
        stdin: int,
        stdout: IO[bytes],
        stderr: IO[bytes],
        env: Mapping[str, str],
        start_new_session: bool,
    ) -> Started:
        python, (module, *arguments) = tuple(command[:-3]), command[-3:]
        assert (python, module) == (processes.PYTHON, "app.keeper")
        assert (stdin, start_new_session) == (subprocess.DEVNULL, True)
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), stdout.fileno(), stderr.fileno())
            return prepared.start_with(files, module, *arguments, environment=env)

    with pytest.MonkeyPatch.context() as patch:
        names = SimpleNamespace(Popen=start, DEVNULL=subprocess.DEVNULL)
        patch.setattr("app.jobs.watcher.subprocess", names)
        yield


@pytest.fixture
def forked_keepers() -> Iterator[None]:
    """Fork the keepers that the watchers of this process start."""
    with keepers_are_forked(commands()):
        yield


def main() -> int:
    """Run `cfplan` with forked keepers."""
    with keepers_are_forked(Prepared(Path(os.environ[VARIABLE]))):
        return cli.main()
