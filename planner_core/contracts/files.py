"""Contracts as JSON: written completely to files and columns, and read back with their types checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field

from planner_core.wire import adapter

T = TypeVar("T")
_WRITTEN_AS_THEY_ARE = frozenset({str, int, float, bool, type(None)})

# `Hidden` of planner_core.wire does not check values; those from a file must be checked.
Stored = Annotated[T, Field(exclude=True)]
"""The type of a member that is written to files but omitted from REST responses."""


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return a contract as values for the json module, including the members that REST responses omit."""
    # Not by pydantic, which would leave out the members excluded from answers.
    kind: Any = type(value)
    if kind in _WRITTEN_AS_THEY_ARE:
        return value
    if kind is tuple or kind is list:
        return [plain(each) for each in cast("Sequence[object]", value)]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    # A datetime is a date, too.
    if isinstance(value, date):
        return value.isoformat()
    return {name: plain(getattr(value, name)) for name in _members(kind)}


@cache
def _members(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    # `dataclasses.fields` would build its tuple again for each of the many daily figures.
    return tuple(field.name for field in fields(kind))


def parsed(kind: type[T], found: object) -> T:
    """Return a contract from parsed JSON; members that it does not declare are ignored.

    Raises:
        pydantic.ValidationError: A member is missing or has a wrong type.
    """
    contract: T = adapter(kind).validate_python(found)
    return contract


def parsed_text(kind: type[T], text: str | bytes) -> T:
    """Return a contract from JSON text.

    Raises:
        pydantic.ValidationError: The text is not JSON, or a member is missing or has a wrong type.
    """
    contract: T = adapter(kind).validate_json(text)
    return contract
