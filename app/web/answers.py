"""The shapes of the JSON answers, for their description in OpenAPI; the tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from planner_core.findings import Finding

Absent = SkipJsonSchema[None]
"""The member may be missing; it is never null."""


class Answer(BaseModel):
    """A JSON object with these members; later versions may add some."""

    model_config = ConfigDict(frozen=True)


class FieldError(Answer):
    """A field at fault."""

    field: Annotated[
        str,
        Field(
            description="JSON pointer into the plan document (empty: the document as a whole), or the name of a "
            "parameter.",
            examples=["/structures/0/queues/0/message_bytes"],
        ),
    ]
    message: Annotated[str, Field(description="What is wrong with it.")]


class CurrentVersion(Answer):
    """The version of a plan that is there now."""

    version: int
    etag: str


class ProblemAnswer(Answer):
    """A problem document (RFC 9457)."""

    type: Annotated[
        str,
        Field(
            description="Where this kind of problem is described.",
            examples=["/docs/problems#document-invalid"],
        ),
    ]
    title: Annotated[str, Field(description="The kind of problem, always in the same words.")]
    status: Annotated[int, Field(description="The HTTP status.", ge=400, le=599)]
    detail: Annotated[str, Field(description="What happened this time, in a sentence.")]
    errors: Annotated[list[FieldError], Field(description="The fields at fault.")]
    errors_omitted: Annotated[
        int | Absent, Field(description="How many more fields are at fault than are named.")
    ] = None
    findings: list[Finding]
    current: Annotated[
        CurrentVersion | Absent,
        Field(description="With 412 and 428: the version of the plan that is there now."),
    ] = None
    reference: Annotated[
        str | Absent, Field(description="Under this the operator finds the failure in the log.")
    ] = None


class HealthAnswer(Answer):
    """The service is up, with its database or without."""

    status: Annotated[
        Literal["ok", "degraded"],
        Field(description="`degraded`: stored plans cannot be reached; everything else works."),
    ]
    database: Annotated[
        Literal["ok", "unavailable"], Field(description="Whether the database answers within two seconds.")
    ]
    version: Annotated[str, Field(description="Version of the sizing core.")]
    findings: list[Finding]
