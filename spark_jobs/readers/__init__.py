"""Read usage data that is no SMF dump into the tables of the history.

`detect` says what a file is, `read` turns it into Arrow tables in the schemas of
`spark_jobs.history.schema`. A bad line costs that line: it is reported with its number and the
reason. What the data does not say (the group's name, when a display was taken) is asked for.
"""

from planner_core.inputs import (
    COMPANION_KINDS,
    KIND_TITLES,
    KINDS,
    LOOKED_AT_BYTES,
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
    "LOOKED_AT_BYTES",
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
