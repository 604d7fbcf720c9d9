"""The log of a process as text and as JSON, captured from standard error."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app import logs
from app.settings import Settings


@contextmanager
def restored_log() -> Iterator[None]:
    """Restore the log of this process afterwards: services and jobs that run in it configure their own."""
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in ("", *logs.OWN_LOGGERS)}
    handlers, last_resort = _own_handlers(root), logging.lastResort
    try:
        yield
    finally:
        for handler in _own_handlers(root):
            root.removeHandler(handler)
        for handler in handlers:
            root.addHandler(handler)
        logging.lastResort = last_resort
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _own_handlers(root: logging.Logger) -> list[logging.Handler]:
    return [each for each in root.handlers if isinstance(each, logs.StandardError)]


@contextmanager
def configured(settings: Settings) -> Iterator[None]:
    """Configure the log as the service does, and restore the log of the tests afterwards."""
    with restored_log():
        logs.configure(settings)
        yield


_OF_THREADS = re.compile(
    r'\S+Z [A-Z]+ (?:cfplan\.jobs|cfplan\.night|cfplan\.uploads|apscheduler\S*) |.*"logger": ?"(?:cfplan\.jobs|cfplan\.night|cfplan\.uploads|apscheduler)'
)
"""The beginning of a record of the threads that start jobs, as text or as JSON."""


def standard_error(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was written to standard error, without the records of threads that start jobs.

    A service that another test runs in this process has such threads. Everything else remains, so that a test notices
    lines that it does not expect.
    """
    kept, is_kept = [], True
    # Only \n ends a line of the log; the tests look for other characters that might.
    for line in re.findall(r"[^\n]*\n|[^\n]+$", capsys.readouterr().err):
        is_kept = is_kept if line.startswith(logs.CONTINUED) else not _OF_THREADS.match(line)
        if is_kept:
            kept.append(line)
    return "".join(kept)
