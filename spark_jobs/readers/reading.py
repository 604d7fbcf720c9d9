"""The one way in: a file and its kind to the tables of the history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from planner_core.inputs import Kind
from spark_jobs.readers.result import ReadResult


def read(
    path: Path | str,
    kind: Kind,
    *,
    observed_at: datetime | None = None,
    zone: tzinfo | None = None,
    qsg_of: Mapping[tuple[str, str], str] | None = None,
) -> ReadResult:
    """Read a file that is no SMF dump.

    Args:
        path: The file; text in UTF-8 or Latin-1, gzip or not.
        kind: What it is, from `detect` or from the person who brought it; not "smf".
        observed_at: When a display was taken, with its zone; displays carry no date.
        zone: The zone of local times in the file, where the file does not prove it itself.
        qsg_of: The site's map of (system id, queue manager) to queue-sharing group.

    Raises:
        NotReadable: The file is not of that kind.
        OSError: The file cannot be read.
    """
    raise NotImplementedError
