"""The list of uploads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.jobs.models import JobState
from app.paging import Sort
from app.uploads import service
from app.uploads.amounts import amount
from app.uploads.job_kind import NO_DATA
from app.uploads.service import StoredUpload
from app.web.tables import Column, ListTable, TableCell
from planner_core.inputs import KIND_TITLES

STATES: Mapping[JobState, str] = {
    JobState.QUEUED: "Waiting",
    JobState.RUNNING: "Being read",
    JobState.ASKS: "Needs your input",
    JobState.DONE: "Stored",
    JobState.FAILED: "Failed",
}
NOTHING_STORED = "Read, no usage data"
SEVERITIES: Mapping[str, str] = {
    STATES[JobState.FAILED]: "error", STATES[JobState.ASKS]: "warning", STATES[JobState.DONE]: "ok",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class UploadRow:
    """One upload in the list."""

    upload: StoredUpload
    kind: str
    size: str
    state: str
    severity: str
    reason: str
    """Why the file could not be read; empty in other states."""
    can_be_answered: bool
    can_be_retried: bool
    has_usage: bool


def upload_row(upload: StoredUpload) -> UploadRow:
    """Return an upload as the list shows it."""
    kind, job = service.kind_of(upload), upload.job
    state = job.state if job else JobState.FAILED
    words = STATES[state]
    if job is not None and state == JobState.DONE and job.stage == NO_DATA:
        words = NOTHING_STORED
    severity = SEVERITIES.get(words, "")
    if job is not None and state == JobState.RUNNING and job.total:
        words += f", {100 * min(job.done, job.total) // job.total} %"
    return UploadRow(
        upload=upload,
        kind=KIND_TITLES[kind] if kind else "",
        size=amount(upload.size_bytes),
        state=words,
        severity=severity,
        reason=job.sentence if job is not None and state == JobState.FAILED else "",
        can_be_answered=state == JobState.ASKS,
        can_be_retried=state == JobState.FAILED and upload.removed_at is None,
        has_usage=words == STATES[JobState.DONE],
    )


UPLOADS: Final = ListTable[UploadRow](
    name="uploads",
    path="/uploads",
    columns=(
        Column(key="file", title="File", read=lambda row: TableCell(value=row.upload.filename, href=f"/uploads/{row.upload.id}")),
        Column(key="state", title="State", kind="urgency", read=lambda row: row.state),
        Column(key="action", title="Action", can_sort=False, read=lambda _: None),
        Column(key="kind", title="Kind", read=lambda row: TableCell(value=row.kind, text=row.kind or "unknown")),
        Column(key="size", title="Size", kind="number", read=lambda row: TableCell(value=row.upload.size_bytes, text=row.size)),
        Column(key="received", title="Received", kind="date", read=lambda row: row.upload.created_at),
    ),
    sort=Sort("received", is_descending=True),
    has_file=False,
)  # fmt: skip
