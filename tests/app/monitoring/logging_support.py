"""The log of a process as text and as JSON, captured from standard error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

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
