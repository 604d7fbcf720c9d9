"""The document of a stored version without the values that are defaults, as files contain it."""

from __future__ import annotations

from app.plans.stored import StoredVersion
from planner_core.document.model import Queue
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid
from planner_core.wire import JsonObject

_DEFAULTS = {name: field.default for name, field in Queue.model_fields.items() if not field.is_required()}


def without_defaults(version: StoredVersion) -> JsonObject:
    """Return the document as JSON values without defaults.

    The result is that of `PlanDocument.model_dump`, but queues, which are almost all of a large document, are not validated
    again: they are stored with all of their values.
    """
    document = version.document_object
    structures = [{**structure, "queues": []} for structure in document["structures"]]
    try:
        outline = read_object({**document, "structures": structures}, is_stored=True)
    except DocumentInvalid:  # another part of the document refers to a queue
        return version.document.model_dump(mode="json", exclude_defaults=True)
    found: JsonObject = outline.model_dump(mode="json", exclude_defaults=True)
    for short, full in zip(found.get("structures", ()), document["structures"], strict=True):
        if full["queues"]:
            short["queues"] = [short_queue(queue) for queue in full["queues"]]
    return found


def short_queue(queue: JsonObject) -> JsonObject:
    """Return a stored queue without the values that are defaults."""
    short = {key: value for key, value in queue.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    if rates := short.get("queue_manager_rates"):
        short["queue_manager_rates"] = {
            # The default of both rates is zero.
            name: {key: rate for key, rate in both.items() if rate}
            for name, both in rates.items()
        }
    return short
