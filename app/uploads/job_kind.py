"""The kind of job that reads an upload into the usage history."""

from __future__ import annotations

from app.jobs.kinds import declare

INGEST = declare(
    "ingest",
    title="Reading",
    begins="Starting the reader.",
    stages={
        "indexing": "Finding the records",
        "decoding": "Decoding",
        "committing": "Storing in the usage history",
        "summing": "Aggregating by hour",
    },
)
NO_DATA = "no_data"
"""The stage of a run that has ended without data for the usage history."""
