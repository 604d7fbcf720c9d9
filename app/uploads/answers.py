"""The shapes of the answers about uploads, and uploads on their way into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.jobs.answers import JobMembers, job_members
from app.uploads.qsg_map import QUEUE_MANAGER_PATTERN, SYSTEM_PATTERN, GroupMapping
from app.uploads.service import StoredUpload, UploadOutcome
from app.web.answers import Answer
from app.web.paging import ResultPage
from planner_core.findings import Finding
from planner_core.inputs import KINDS

QSG_PATTERN = r"([A-Z][A-Z0-9$#@]{0,3})?"
TIME_PATTERN = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?"

Qsg = Annotated[
    str,
    Field(
        pattern=f"^{QSG_PATTERN}$",
        description="The queue-sharing group; empty: the queue manager is in none.",
        examples=["SQ03"],
    ),
]
KindOrDetect = Annotated[
    str,
    Field(
        pattern=f"^({'|'.join(KINDS)})?$",
        description="What the file is. Empty: what its first bytes say.",
        examples=["smf"],
    ),
]
ObservedAt = Annotated[
    str,
    Field(
        pattern=f"^({TIME_PATTERN})?$",
        description="When a display was taken, for displays carry no date: local time, in `zone` or with an offset.",
        examples=["2026-11-21T09:30"],
    ),
]
Zone = Annotated[
    str,
    Field(
        max_length=64,
        description="The time zone of local times: an offset or a name.",
        examples=["+01:00", "Europe/Berlin"],
    ),
]


class UploadMembers(Answer):
    """A file that was received, and the last job that read it."""

    id: int
    filename: str
    size_bytes: int
    sha256: str
    kind: Annotated[str, Field(description="What the file was said to be; empty: it was left to detection.")]
    detected_kind: Annotated[
        str, Field(description="What its first bytes say; empty: nothing that is known.")
    ]
    observed_at: str
    zone: str
    observed_utc: Annotated[
        str,
        Field(description="The instant that `observed_at` and `zone` mean; empty where no time was said."),
    ]
    created_at: datetime
    removed_at: Annotated[
        datetime | None, Field(description="When the file itself was removed; its report stays.")
    ]
    job: JobMembers | None


class UploadAnswer(UploadMembers):
    """An upload."""

    findings: list[Finding]


class ReceivedAnswer(UploadAnswer):
    """An upload that has just arrived."""

    stored: Annotated[
        Literal["created", "identical"],
        Field(description="`identical`: the same file was there already; it is kept once."),
    ]


@dataclass(frozen=True, slots=True)
class UploadsAnswer(ResultPage[UploadMembers]):
    """One page of the list of uploads, the newest first."""

    items: Annotated[tuple[UploadMembers, ...], Field(serialization_alias="uploads")]


class ReportAnswer(Answer):
    """What was found in an upload."""

    upload_id: int
    report: Annotated[
        dict[str, Any],
        Field(description="The report of the reader, as `cfplan ingest` prints it."),
    ]
    findings: list[Finding]


class QsgMapEntry(Answer):
    """Which group a queue manager is in."""

    system_id: Annotated[str, Field(description="The SMF identifier of the system.")]
    queue_manager: str
    qsg: Annotated[str, Field(description="Empty: the queue manager is in no group.")]
    updated_at: datetime


class QsgEntryAnswer(QsgMapEntry):
    """An entry of the map."""

    findings: list[Finding]


class QsgMapAnswer(Answer):
    """The whole map."""

    entries: list[QsgMapEntry]
    findings: list[Finding]


class QsgBody(Answer):
    """The group of a queue manager."""

    qsg: Qsg


class QsgOfQueueManager(Answer):
    """The group of one queue manager."""

    system_id: Annotated[str, Field(pattern=f"^{SYSTEM_PATTERN}$", examples=["SYSA"])]
    queue_manager: Annotated[str, Field(pattern=f"^{QUEUE_MANAGER_PATTERN}$", examples=["CSQ1"])]
    qsg: Qsg


class ReadAgainBody(Answer):
    """Answers to what a job asked, or another opinion on what the file is. What is left out stays as it is."""

    kind: KindOrDetect | None = None
    observed_at: ObservedAt | None = None
    zone: Zone | None = None
    qsg: list[QsgOfQueueManager] = Field(
        default_factory=list, max_length=1_000, description="Kept in the map, for later files as well."
    )


def upload_members(upload: StoredUpload) -> dict[str, Any]:
    """The members of an upload."""
    return {
        "id": upload.id,
        "filename": upload.filename,
        "size_bytes": upload.size_bytes,
        "sha256": upload.sha256,
        "kind": upload.kind,
        "detected_kind": upload.detected_kind,
        "observed_at": upload.observed_at,
        "zone": upload.zone,
        "observed_utc": upload.observed_utc,
        "created_at": upload.created_at,
        "removed_at": upload.removed_at,
        "job": None if upload.job is None else job_members(upload.job),
    }


def upload_answer(upload: StoredUpload) -> UploadAnswer:
    """An upload."""
    return UploadAnswer(**upload_members(upload), findings=[])


def received_answer(outcome: UploadOutcome) -> ReceivedAnswer:
    """An upload that has just arrived."""
    stored: Literal["created", "identical"] = "created" if outcome.is_new else "identical"
    return ReceivedAnswer(**upload_members(outcome.upload), stored=stored, findings=[])


def entry_members(entry: GroupMapping) -> dict[str, Any]:
    """The members of an entry of the map."""
    return {
        "system_id": entry.system_id,
        "queue_manager": entry.queue_manager,
        "qsg": entry.qsg,
        "updated_at": entry.updated_at,
    }


def map_answer(entries: Sequence[GroupMapping]) -> QsgMapAnswer:
    """The whole map."""
    return QsgMapAnswer(entries=[QsgMapEntry(**entry_members(entry)) for entry in entries], findings=[])
