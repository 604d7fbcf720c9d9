"""The folder in which the workers of a service share their metrics.

This module does not import prometheus_client, which decides when it is imported whether values are shared.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of prometheus-client that names the folder."""


@contextmanager
def shared_by_workers() -> Iterator[Path]:
    """Create the folder, in the process that starts the workers and before it imports the application.

    It is on the machine's own disk, because the workers map its files into memory.
    """
    supervisor = os.getpid()
    folder = tempfile.TemporaryDirectory(prefix="cfplan-metrics-")
    before = os.environ.get(FOLDER_VARIABLE)
    os.environ[FOLDER_VARIABLE] = folder.name
    try:
        yield Path(folder.name)
    finally:
        # Not in a worker that was forked in the block.
        if os.getpid() == supervisor:
            if before is None:
                del os.environ[FOLDER_VARIABLE]
            else:
                os.environ[FOLDER_VARIABLE] = before
            folder.cleanup()


def shared_folder() -> Path | None:
    """Return the folder; None if the service has one process."""
    name = os.environ.get(FOLDER_VARIABLE)
    return Path(name) if name else None
