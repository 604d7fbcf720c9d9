"""Read usage data other than SMF dumps into the tables of the history.

`detect` returns the kind of a file, and `read` converts it to Arrow tables in the schemas of
`spark_jobs.history.schema`. An unreadable line is left out and reported with its number and the reason; all other lines
are read. If information is missing from the data (the group's name, the time of a display), the user is asked for it.
"""

from planner_core.inputs import (
    COMPANION_KINDS,
    KIND_TITLES,
    KINDS,
    PREVIEW_BYTES,
    Detection,
    Kind,
    KindUnknown,
    detect,
)
from spark_jobs.readers.reading import read
from spark_jobs.readers.result import Ask, NotReadable, Problem, ReadResult

__all__ = [
    "COMPANION_KINDS",
    "KINDS",
    "KIND_TITLES",
    "PREVIEW_BYTES",
    "Ask",
    "Detection",
    "Kind",
    "KindUnknown",
    "NotReadable",
    "Problem",
    "ReadResult",
    "detect",
    "read",
]
