"""Errors of uploads. The messages are for planners."""

from __future__ import annotations

from app.errors import FieldsInvalid
from app.problem_types import CONTENT_TOO_LARGE, INSUFFICIENT_STORAGE, UPLOAD_INVALID
from planner_core.errors import FieldProblem, PlannerError


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
            "The disk of the data folder does not have enough space for this upload. Nothing was stored. Free some "
            "space, or delete uploads that have been read."
        )


def upload_invalid(*problems: FieldProblem) -> FieldsInvalid:
    """Return the error for a request without a file, or with answers that cannot be used."""
    return FieldsInvalid(*problems, problem=UPLOAD_INVALID)
