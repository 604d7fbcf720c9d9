"""Requests and answers about uploads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from app.paging import ResultPage
from app.uploads.batches import BATCH_PATTERN
from app.uploads.qsg_map import SYSTEM_PATTERN, GroupMapping
from app.uploads.service import StoredUpload
from app.web.answers import Answer
from planner_core import wire
from planner_core.findings import Finding
from planner_core.inputs import KINDS
from planner_core.names import QUEUE_MANAGER_PATTERN
from planner_core.wire import JsonObject

QSG_PATTERN = r"([A-Z][A-Z0-9$#@]{0,3})?"
TIME_PATTERN = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?"

Qsg = Annotated[
    str,
    Field(
        pattern=f"^{QSG_PATTERN}$",
        description="The queue-sharing group; empty if the queue manager is in none.",
        examples=["SQ03"],
    ),
]
KindOrDetect = Annotated[
    str,
    Field(
        pattern=f"^({'|'.join(KINDS)})?$",
        description="The kind of the file. If empty, it is detected from the first bytes.",
        examples=["smf"],
    ),
]
ObservedAt = Annotated[
    str,
    Field(
        pattern=f"^({TIME_PATTERN})?$",
        description="The time at which the display was taken: local time in `zone`, or a time with an offset. Displays do not contain their date.",
        examples=["2026-11-21T09:30"],
    ),
]
Batch = Annotated[
    str,
    Field(
        pattern=f"^({BATCH_PATTERN})?$",
        description="A name of your choice for files that are sent together. The page of uploads shows their progress.",
        examples=["2026-11-21-nightly"],
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


@dataclass(frozen=True, slots=True)
class UploadsAnswer(ResultPage[StoredUpload]):
    """One page of the list of uploads, newest first."""

    items: Annotated[tuple[StoredUpload, ...], Field(serialization_alias="uploads")]


@dataclass(frozen=True, slots=True)
class UploadAnswer(StoredUpload):
    """An upload with the last job that read it."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceivedAnswer(UploadAnswer):
    """A new upload."""

    stored: Annotated[
        Literal["created", "identical"],
        Field(description="`identical`: the same file was already stored; it is stored only once."),
    ] = "created"


class ReportAnswer(Answer):
    """The report on an upload."""

    upload_id: int
    report: Annotated[
        JsonObject,
        Field(description="The report of the reader, as `cfplan ingest` prints it."),
    ]
    findings: Annotated[
        list[Finding],
        Field(description="Records that a dump lacks, and that a forecast, a fit or a plan needs."),
    ]


@dataclass(frozen=True, slots=True)
class QsgEntryAnswer(GroupMapping):
    """An entry of the map of queue managers to groups."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class QsgMapAnswer(wire.Answer):
    """The whole map of queue managers to groups."""

    entries: Sequence[GroupMapping]
    findings: tuple[Finding, ...] = ()


class QsgBody(Answer):
    """The group of a queue manager."""

    qsg: Qsg


class QsgOfQueueManager(Answer):
    """The group of one queue manager, as the answer to a question from a job."""

    system_id: Annotated[str, Field(pattern=f"^{SYSTEM_PATTERN}$", examples=["SYSA"])]
    queue_manager: Annotated[str, Field(pattern=f"^{QUEUE_MANAGER_PATTERN}$", examples=["CSQ1"])]
    qsg: Qsg


class ReadAgainBody(Answer):
    """Answers to the questions of a job, or corrections to the description of a file. Absent members stay unchanged."""

    kind: KindOrDetect | None = None
    observed_at: ObservedAt | None = None
    zone: Zone | None = None
    qsg: list[QsgOfQueueManager] = Field(
        default_factory=list,
        max_length=1_000,
        description="Stored in the map, and used for later files as well.",
    )
