"""The output lines of `python -m spark_jobs.ingest`. docs/contributing/ingest-protocol.md describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field, PlainSerializer

from planner_core.wire import Answer

USAGE_TABLES = ("structure_usage", "smds_usage", "queue_usage", "allocation")
"""Tables of the usage history."""

EXIT_CODES: Mapping[str, int] = {
    "not_usage": 0,
    "map_read": 0,
    "stored": 0,
    "already_stored": 0,
    "nothing": 1,
    "not_readable": 3,
    "needs_answers": 4,
    "not_stored": 5,
}
"""Exit codes by status, from the best to the worst: the worst file determines the code. The first two are for files
without usage data; the last is for files that were not stored because the history could not be used."""


@dataclass(frozen=True, slots=True)
class AskedQueueManager(Answer):
    """A queue manager whose group the records do not name."""

    # Texts do not name the system: the job writes null, and REST answers have always had an empty name.
    system_id: Annotated[str | None, PlainSerializer(lambda name: name or "", return_type=str)] = None
    queue_manager: str = ""
    suggested: Annotated[
        str | None,
        Field(
            description="The group named in other records of the file, or in answers for other files. Confirm it before "
            "you use it."
        ),
    ] = None
    in_rmf: Annotated[
        str | None,
        Field(
            description="The group of the administrative structure in the RMF records of the file, if they show only one. "
            "Confirm it before you use it."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Asks(Answer):
    """Questions that must be answered before anything is stored."""

    unknown_qsg: tuple[AskedQueueManager, ...] = ()
    observed_at: Annotated[
        bool, Field(description="When was the display taken? It does not show a date.")
    ] = False
    zone: Annotated[bool, Field(description="Which time zone are its times in?")] = False
    messages: Annotated[tuple[str, ...], Field(description="The questions as sentences.")] = ()


@dataclass(frozen=True, slots=True)
class ReportedStructure:
    """A structure in a file. The group and the name in MQ are null if only the name in XCF is known."""

    qsg: str | None = None
    structure: str | None = None
    xcf_structure: str | None = None


@dataclass(frozen=True, slots=True)
class QueueManagerGroup:
    """A queue manager in a file, or in a map of queue managers."""

    system_id: str | None = None
    queue_manager: str = ""
    qsg: str | None = None


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows that one queue manager, or one system, wrote with one kind of record."""

    source: str = ""
    """The record and its section, such as `115-2 QEST`."""
    system_id: str | None = None
    queue_manager: str | None = None
    rows: int = 0
    longest_interval_s: int = 0
    """The longest interval of the rows, rounded to seconds."""


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Records of a type that are not decoded."""

    type: str = ""
    records: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Bytes that could not be read, and the reason."""

    offset: int = 0
    length: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class QuarantineReport:
    """The number of unreadable places, their total bytes, and the first of them."""

    count: int = 0
    bytes: int = 0
    first: tuple[Quarantine, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of a text that was not read, or only in part."""

    line: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class ProblemReport:
    """The number of lines with problems, and the first of them."""

    count: int = 0
    first: tuple[UnreadLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ByteAccount:
    """The bytes of a dump by result; their sum is its length."""

    decoded: int = 0
    skipped: int = 0
    quarantined: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Numbers of rows for a table of the usage history: new rows, and rows that it already has."""

    read: int = 0
    new: int = 0
    replacing: int = 0
    """Observations that replace those from a less trusted source."""
    duplicates: int = 0
    outranked: int = 0
    """Duplicates of observations from a more trusted source."""
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """The place of a record in a dump."""

    file: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two records with the same key and different values."""

    table: str = ""
    key: Mapping[str, Any] = field(default_factory=dict)
    kept: RecordPlace | None = None
    other: RecordPlace | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFinding:
    """A problem in a file that was read despite it."""

    code: str = ""
    severity: str = "info"
    message: str = ""


@dataclass(frozen=True, slots=True)
class FileReport:
    """The contents of one file, and the result of reading it."""

    file: str = ""
    sha256: str | None = None
    size_bytes: int = 0
    kind: str | None = None
    status: str = "not_readable"
    message: str = ""
    driver: str | None = None
    framing: str | None = None
    commit_id: str | None = None
    first_interval_end: datetime | None = None
    last_interval_end: datetime | None = None
    days: tuple[str, ...] = ()
    structures: tuple[ReportedStructure, ...] = ()
    queue_managers: tuple[QueueManagerGroup, ...] = ()
    sources: tuple[RowSource, ...] = ()
    queues: int = 0
    records: Mapping[str, int] = field(default_factory=dict)
    bytes: ByteAccount = field(default_factory=ByteAccount)
    skipped: tuple[SkippedRecords, ...] = ()
    quarantined: QuarantineReport = field(default_factory=QuarantineReport)
    problems: ProblemReport = field(default_factory=ProblemReport)
    passed_over: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, RowCounts] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    findings: tuple[FileFinding, ...] = ()
    notes: tuple[str, ...] = ()
    qsg_map: tuple[QueueManagerGroup, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


SET_ASIDE_SUFFIX = ".torn"
"""The ending of the names of damaged log entries that were set aside in the folder of the usage history."""


def is_torn_entry(data: bytes) -> bool:
    """Return whether an entry of the history's log is torn, because the power failed while it was written.

    An empty entry is harmless.
    """
    try:
        for line in data.splitlines():
            json.loads(line)
    except ValueError:
        return True
    return False


def set_aside_message(name: str) -> str:
    """Return the sentence about a damaged entry of the history's log that was set aside under this name."""
    return (
        f"The last entry in the log of the usage history was damaged and has been set aside as {name}. The data of one "
        "earlier upload may be missing from the history: upload again the files that were read last before the damage. A "
        "file that is complete in the history is not stored twice."
    )


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of one ingest; its status is that of the worst file."""

    status: str = "nothing"
    files: tuple[FileReport, ...] = ()
    kept_from: date | None = None
    """The first day that the retention period keeps; None if all days are kept."""
    set_aside: str = ""
    """Name of the damaged last entry of the history's log that was set aside before reading; empty if there was none."""

    @property
    def exit_code(self) -> int:
        """Return the exit code of the job with this report."""
        return EXIT_CODES.get(self.status, EXIT_CODES["nothing"])

    @property
    def days(self) -> list[str]:
        """Return the days whose roll-ups may have changed."""
        return sorted({day for file in self.files for day in file.days})

    @property
    def sentence(self) -> str:
        """Return the messages about all files, and about a damaged entry of the history."""
        messages = [file.message for file in self.files if file.message]
        if self.set_aside:
            messages.append(set_aside_message(self.set_aside))
        return " ".join(messages)
