"""Models of JSON answers for OpenAPI; tests compare real answers with them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema

Absent = SkipJsonSchema[None]
"""Marks a member that may be missing but is never null."""


class Answer(BaseModel):
    """A JSON object with these members; later versions may add some."""

    model_config = ConfigDict(frozen=True)
