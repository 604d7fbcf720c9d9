"""Errors of uploads. The messages are for planners."""

from __future__ import annotations

from app.problem_types import (
    CONTENT_TOO_LARGE,
    FILE_GONE,
    INSUFFICIENT_STORAGE,
    REPORT_NOT_READY,
    UPLOAD_INVALID,
    UPLOAD_NOT_FOUND,
)
from planner_core.errors import FieldProblem, PlannerError


class UploadInvalid(PlannerError):
    """The request has no file, or its answers cannot be used."""

    problem = UPLOAD_INVALID

    def __init__(self, *problems: FieldProblem) -> None:
        self.problems = problems
        super().__init__(" ".join(problem.message for problem in problems))


class UploadTooLarge(PlannerError):
    """The file exceeds the size limit in the settings."""

    problem = CONTENT_TOO_LARGE

    def __init__(self, largest_bytes: int) -> None:
        self.largest_bytes = largest_bytes
        super().__init__(
            f"The upload is larger than {largest_bytes} bytes, the limit of this service. Its operator can raise "
            "CFPLAN_MAX_UPLOAD_BYTES; a dump can also be read where it is, with cfplan ingest FILE."
        )


class NoRoom(PlannerError):
    """The disk is full, or the upload would fill it."""

    problem = INSUFFICIENT_STORAGE

    def __init__(self) -> None:
        super().__init__(
            "The disk of the data folder has too little space for this upload. Nothing was stored. Free some "
            "space, or delete uploads that have been read."
        )


class ReportNotReady(PlannerError):
    """The upload has not been read yet."""

    problem = REPORT_NOT_READY

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"There is no report on upload {number} yet: it has not been read completely.")


class FileGone(PlannerError):
    """The file of an upload was removed after the retention time in the settings."""

    problem = FILE_GONE

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(
            f"The file of upload {number} was removed after it had been read; only its report is kept. Upload it again."
        )


class MappingNotFound(PlannerError):
    """The map has no entry for this queue manager."""

    problem = UPLOAD_NOT_FOUND

    def __init__(self, system_id: str, queue_manager: str) -> None:
        self.system_id, self.queue_manager = system_id, queue_manager
        super().__init__(
            f"The map has no entry for the queue manager {queue_manager} on the system {system_id}."
        )
