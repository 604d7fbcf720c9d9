"""A restore that kills itself at the N-th step that changes something: `die_at` in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from sqlalchemy import Engine, event

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link"}


def steps_of(work: Callable[[], object], *, die_at: int = 0) -> tuple[int, int]:
    """Do work in a child process that kills itself just before a step; 0 lets it end.

    Steps are changes of names in the file system, and statements and commits on a database server. Return the number of
    steps, and the exit status: the negative number of a signal, or 0.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _count(writing, die_at)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the test reports it
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as steps:
        count = len(steps.read())
    _, status = os.waitpid(child, 0)
    return count, os.waitstatus_to_exitcode(status)


def _count(pipe: int, die_at: int) -> None:
    count = 0

    def step(*_: object) -> None:
        nonlocal count
        count += 1
        if count == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(pipe, b".")

    def on_event(name: str, _: object) -> None:
        if name in CHANGES:
            step()

    def on_statement(connection: object, cursor: object, statement: str, *_: object) -> None:
        del connection, cursor
        # Hundreds of statements of migrations inside one transaction are one step.
        if statement.startswith(("COMMENT", "DROP SCHEMA", "SELECT setval", "SET CONSTRAINTS")):
            step()

    sys.addaudithook(on_event)
    event.listen(Engine, "before_cursor_execute", on_statement)
    event.listen(Engine, "commit", step)
