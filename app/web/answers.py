"""Models of JSON answers for OpenAPI; tests compare real answers with them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from planner_core.findings import Finding

Absent = SkipJsonSchema[None]
"""Marks a member that may be missing but is never null."""


class Answer(BaseModel):
    """A JSON object with these members; later versions may add some."""

    model_config = ConfigDict(frozen=True)


class HealthAnswer(Answer):
    """The state of the service and of its database."""

    status: Annotated[
        Literal["ok", "degraded"],
        Field(
            description="`degraded`: stored plans cannot be reached or nothing can be stored; everything else works."
        ),
    ]
    database: Annotated[
        Literal["ok", "unavailable"], Field(description="Whether the database answers within two seconds.")
    ]
    storage: Annotated[
        Literal["ok", "full"],
        Field(
            description="`full`: there is no space left in the data folder, or the last change failed because there was none "
            "for the database. Requests that change something get status 507."
        ),
    ]
    version: Annotated[str, Field(description="Version of the sizing core.")]
    findings: list[Finding]
