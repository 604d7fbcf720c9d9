"""Shared code for the tests of the history."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from spark_jobs.history.schema import QUEUE_USAGE, STRUCTURE_USAGE
from spark_jobs.history.staging import Source
from spark_jobs.history.store import Committed, FileFacts, History, new_commit_id

if TYPE_CHECKING:
    import pyarrow as pa

    from spark_jobs.history.staging import Part

PROVENANCE = ("commit_id", "file_name", "file_sha256", "file_offset", "file_record")


def sha256(name: str) -> str:
    """Return the hash of a file, calculated from its name because it has no contents."""
    return hashlib.sha256(name.encode()).hexdigest()


def staged(
    history: History, name: str, *, structures: pa.Table | None = None, queues: pa.Table | None = None
) -> tuple[Source, list[Part]]:
    """Stage rows as a file with this name, without a commit."""
    source = Source(new_commit_id(), name, sha256(name))
    stage = history.stage(source)
    if structures is not None:
        stage.add(STRUCTURE_USAGE, structures)
    if queues is not None:
        stage.add(QUEUE_USAGE, queues)
    return source, stage.finish()


def commit(
    history: History,
    name: str,
    *,
    structures: pa.Table | None = None,
    queues: pa.Table | None = None,
    answers: dict[str, Any] | None = None,
) -> Committed:
    """Commit rows as a file with this name."""
    source, parts = staged(history, name, structures=structures, queues=queues)
    return history.commit(source, parts, FileFacts(1, "smf", answers or {}, qsgs=["SQ03"]))


def contents(history: History) -> dict[str, list[dict[str, Any]]]:
    """Return all valid rows by table, without the columns that identify an ingest, comparable between histories."""
    found = {}
    for table in ("structure_usage", "smds_usage", "queue_usage", "allocation"):
        rows = history.read(table)
        kept = [name for name in rows.schema.names if name not in PROVENANCE]
        found[table] = sorted(rows.select(kept).to_pylist(), key=repr)
    return found
