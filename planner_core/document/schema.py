"""The JSON Schema of the plan document, and the defaults of keys that stored documents lack."""

from __future__ import annotations

from functools import cache
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
    schema = _schema_once()
    found = _filled(document, schema, schema["$defs"])
    return found if isinstance(found, dict) else document


@cache
def _schema_once() -> dict[str, Any]:
    return json_schema()


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _filled(value: object, schema: dict[str, Any], known: dict[str, Any]) -> object:
    """Return a value with the missing keys filled in from its schema."""
    branches = [schema, *schema.get("anyOf", ())]
    items: dict[str, Any]
    if isinstance(value, dict):
        named = next((each["$ref"] for each in branches if "$ref" in each), None)
        name = named.rpartition("/")[2] if named else PlanDocument.__name__
        properties = (known[name] if named else schema).get("properties")
        # A map whose keys are names, such as those of queue managers, lacks nothing itself.
        if properties is None:
            items = next(
                (each["additionalProperties"] for each in branches if "additionalProperties" in each), {}
            )
            return {key: _filled(each, items, known) for key, each in value.items()} if items else value
        found = {
            # Plain values lack nothing; a large plan has almost a million of them.
            key: each if type(each) in _PLAIN else _filled(each, properties.get(key, {}), known)
            for key, each in value.items()
        }
        missing = {key for key in properties.keys() - value.keys() if "default" in properties[key]}
        return found | _defaults(_MODEL_NAMED[name], found, missing) if missing else found
    if isinstance(value, list):
        items = next((each["items"] for each in branches if "items" in each), {})
        return [_filled(each, items, known) for each in value] if items else value
    return value


def _defaults(model: type[BaseModel], found: dict[str, Any], missing: set[str]) -> dict[str, Any]:
    """Return the defaults of missing keys."""
    # The model creates them, because some, such as offload rules, depend on other keys.
    return model.model_construct(**found).model_dump(mode="json", include=missing, warnings=False)
