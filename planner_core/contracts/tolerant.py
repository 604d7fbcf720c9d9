"""A reader for JSON from other versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from planner_core.wire import adapter

Read = TypeVar("Read")


def read(kind: type[Read], value: object) -> Read:
    """Return a dataclass with the valid members of a JSON object; other fields keep their defaults.

    Every field of `kind`, and of the dataclasses in it, must have a default. Items of lists that are not objects are
    left out.
    """
    found: Read = _read(kind, value)
    return found


def _read(kind: Any, value: object) -> Any:  # noqa: ANN401
    given = value if isinstance(value, dict) else {}
    found = {name: _member(hint, given[name]) for name, hint in _hints(kind).items() if name in given}
    return kind(**{name: member for name, member in found.items() if member is not _UNREADABLE})


# None is a legal value of many members, so it cannot mark one that could not be read.
_UNREADABLE = object()


def _member(hint: Any, value: object) -> object:  # noqa: ANN401 - any type that a contract declares
    if is_dataclass(hint):
        return _read(hint, value) if isinstance(value, dict) else _UNREADABLE
    inner = get_args(hint)
    if get_origin(hint) is tuple and is_dataclass(inner[0]):
        items = value if isinstance(value, list) else ()
        return tuple(_read(inner[0], item) for item in items if isinstance(item, dict))
    if get_origin(hint) is Mapping and is_dataclass(inner[1]):
        members = value.items() if isinstance(value, dict) else ()
        return {name: _read(inner[1], item) for name, item in members if isinstance(item, dict)}
    try:
        return adapter(hint).validate_python(value)
    except ValidationError:
        return _UNREADABLE


@cache
def _hints(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
