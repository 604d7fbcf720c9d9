"""The log of a process as text and as JSON, captured from standard error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from app import logs
from app.settings import Settings


@contextmanager
def configured(settings: Settings) -> Iterator[None]:
    """Configure the log as the service does, and restore the log of the tests afterwards."""
    names = ("", *logs.OWN_LOGGERS)
    levels = {name: logging.getLogger(name).level for name in names}
    logs.configure(settings)
    try:
        yield
    finally:
        root = logging.getLogger()
        for handler in [each for each in root.handlers if isinstance(each, logs.StandardError)]:
            root.removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
