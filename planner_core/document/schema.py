"""The JSON Schema of the plan document, and the defaults of keys that stored documents lack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from operator import is_
from typing import Any

from pydantic import BaseModel

from planner_core.document.cluster_entries import ChannelEntry
from planner_core.document.model import (
    Acknowledgment,
    Admin,
    Cluster,
    ClusteredInstance,
    CouplingFacility,
    Growth,
    Offload,
    OtherStructure,
    PlanDocument,
    Policy,
    Queue,
    QueueManagerRates,
    Scm,
    Structure,
    System,
)

_MODELS: tuple[type[BaseModel], ...] = (
    Growth,
    Admin,
    System,
    Policy,
    CouplingFacility,
    Scm,
    Offload,
    OtherStructure,
    QueueManagerRates,
    Queue,
    Structure,
    ChannelEntry,
    ClusteredInstance,
    Cluster,
    Acknowledgment,
    PlanDocument,
)
_MODEL_NAMED = {model.__name__: model for model in _MODELS}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the plan document (draft 2020-12), with defaults as in documents."""
    schema = PlanDocument.model_json_schema(mode="validation")
    for model in _MODELS:
        place = schema if model is PlanDocument else schema["$defs"][model.__name__]
        for name, default in model.model_construct().model_dump(mode="json", warnings=False).items():
            place["properties"][name]["default"] = default
    branches = schema["$defs"]["Queue"]["properties"]["message_bytes"]
    # Text is a second form of the number, so pydantic writes one list of branches into the other.
    branches["anyOf"] = [part for each in branches["anyOf"] for part in each.get("anyOf", [each])]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return {**head, "title": "cfplan plan document"}


def with_new_keys(document: dict[str, Any]) -> dict[str, Any]:
    """Return a stored document with the defaults of keys that later versions added; it is not checked again."""
    # Comparisons of an old document with a new one must show only what a planner changed.
    found = _filled(document, _outline())
    return found if isinstance(found, dict) else document


@dataclass(slots=True)
class _Outline:
    """The keys that a value of the schema can lack: those of an object with defaults, and those of the values in it."""

    model: type[BaseModel] | None = None
    """The model of an object; None for other values, and for maps whose keys are names, which lack nothing themselves."""
    with_default: frozenset[str] = frozenset()
    members: dict[str, _Outline] = field(default_factory=dict)
    """The members of an object that can lack something."""
    items: _Outline | None = None
    """The items of a list and the values of a map, if they can lack something."""

    @property
    def can_lack(self) -> bool:
        """Whether a value can lack anything."""
        return bool(self.with_default or self.members or self.items)


@cache
def _outline() -> _Outline:
    schema = json_schema()
    known = {**schema["$defs"], PlanDocument.__name__: schema}
    return _outline_of({"$ref": f"#/$defs/{PlanDocument.__name__}"}, known)


def _outline_of(schema: dict[str, Any], known: dict[str, Any]) -> _Outline:
    """Return the outline of a schema; `known` are the schemas of all objects by name."""
    branches = [schema, *schema.get("anyOf", ())]
    found = _Outline()
    named = next((each["$ref"].rpartition("/")[2] for each in branches if "$ref" in each), None)
    if named is not None and "properties" in known[named]:
        properties: dict[str, Any] = known[named]["properties"]
        found.model = _MODEL_NAMED.get(named)
        found.with_default = frozenset(key for key, each in properties.items() if "default" in each)
        outlines = {key: _outline_of(each, known) for key, each in properties.items()}
        found.members = {key: each for key, each in outlines.items() if each.can_lack}
    inner = next(
        (each[key] for each in branches for key in ("items", "additionalProperties") if each.get(key)), None
    )
    if inner is not None:
        items = _outline_of(inner, known)
        found.items = items if items.can_lack else None
    return found


def _filled(value: object, outline: _Outline) -> object:
    """Return a value with the missing keys filled in; the value itself if it lacks nothing."""
    if isinstance(value, list):
        if outline.items is None:
            return value
        items = [_filled(each, outline.items) for each in value]
        return value if all(map(is_, items, value)) else items
    if not isinstance(value, dict):
        return value
    inner: Iterable[tuple[str, _Outline]] = outline.members.items()
    if outline.model is None and outline.items is not None:
        inner = ((key, outline.items) for key in value)
    filled = {}
    for key, known in inner:
        each = value.get(key)
        # Most queues of a large plan have none of these members.
        if each is not None and (new := _filled(each, known)) is not each:
            filled[key] = new
    found = value | filled if filled else value
    if outline.model is None or outline.with_default <= value.keys():
        return found
    return found | _defaults(outline.model, found, set(outline.with_default - value.keys()))


def _defaults(model: type[BaseModel], found: dict[str, Any], missing: set[str]) -> dict[str, Any]:
    """Return the defaults of missing keys."""
    # The model creates them, because some, such as offload rules, depend on other keys.
    return model.model_construct(**found).model_dump(mode="json", include=missing, warnings=False)
