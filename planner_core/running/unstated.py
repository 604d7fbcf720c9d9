"""Keywords that the plan document does not state, and the choice of whether the plan or the policy decides them.

Declared once for policies and MQ objects, the command line, REST and pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel

from planner_core.document.model import Admin, Queue, Structure, System
from planner_core.texts.mqsc.cfstruct import CFSTRUCT
from planner_core.texts.mqsc.qlocal import QLOCAL

Unstated = Literal["policy", "plan"]
UNSTATED: Final[Mapping[Unstated, str]] = {
    "policy": "today's values",
    "plan": "the plan's defaults",
}
"""The choices in words; the first is the default."""
DEFAULT_UNSTATED: Final[Unstated] = "policy"
ABOUT_UNSTATED: Final = (
    "For keywords that the plan document does not state: keep the values of the policy, the CFSTRUCT or the queue (policy), or use the "
    "plan's defaults (plan)."
)

# Every document that cfplan stores or returns has all of these keys, and null for those without a value. A hand-written
# one rarely has all of them.
_WRITTEN_OUT: Final = frozenset(
    {"size", "initsize", "minsize", "allow_auto_alter", "full_threshold", "preflist", "exclist", "duplex"}
)
_QUEUE_WRITTEN_OUT: Final = frozenset(
    {"backlog", "put_rate_per_s", "outage_minutes", "persistent", "selector_reads", "isolation", "maxdepth"}
)


def has_every_key(model: Structure | Admin | System | Queue) -> bool:
    """Return whether cfplan wrote the document: every key is there, and an unset one is null."""
    said = model.model_fields_set
    if isinstance(model, Queue):
        return said >= _QUEUE_WRITTEN_OUT and any(getattr(model, key) is None for key in said)
    return said >= _WRITTEN_OUT and any(
        getattr(model, key) is None for key in ("size", "initsize", "minsize")
    )


def states(model: BaseModel, *keys: str, every_key: bool) -> bool:
    """Return whether the planner set one of the keys.

    A document that a planner wrote states the keys that it has. A document that cfplan stored or returned has every key,
    so there a key counts as stated only if its value is not the default.
    """
    said = [key for key in model.model_fields_set.intersection(keys) if getattr(model, key) is not None]
    return any(not every_key or getattr(model, key) != _default(model, key) for key in said)


def _default(model: BaseModel, key: str) -> object:
    """Return the default of a key; that of offload rules depends on the method."""
    field = type(model).model_fields[key]
    return field.get_default(call_default_factory=True, validated_data=model.__dict__)


def unstated_of_structure(structure: Structure) -> frozenset[str]:
    """Return the attributes of a CFSTRUCT that the plan does not state."""
    every_key = has_every_key(structure)
    return frozenset(
        each.keyword
        for each in CFSTRUCT
        if not states(each.parent_of(structure), *each.names, every_key=every_key)
    )


def unstated_of_queue(queue: Queue) -> frozenset[str]:
    """Return the attributes of a shared queue that the plan does not state."""
    every_key = has_every_key(queue)
    return frozenset(each.keyword for each in QLOCAL if not states(queue, *each.keys, every_key=every_key))
