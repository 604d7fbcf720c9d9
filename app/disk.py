"""Make files and names last on disk."""

from __future__ import annotations

import os
from pathlib import Path


def synchronize(path: Path) -> None:
    """Synchronize a file or a folder to disk. The name of a new file is on disk only when its folder is."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
