"""Example plan documents of the API description; a test sends each to every route that accepts one."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from app.texts.documents import CLUSTERED, EXAMPLE, example_text, parse_yaml
from planner_core.wire import JsonObject


class Example(NamedTuple):
    """An example and its summary."""

    summary: str
    document: JsonObject


@cache
def examples() -> Mapping[str, Example]:
    """Return all examples by name. Copy a document before you change it."""
    return {
        "sq03": Example("A group of five queue managers with two application structures", sq03()),
        "complete": Example("The same with everything the complete job needs", _complete()),
        "smallest": Example("Little more than the required keys", _smallest()),
        "clustered": Example("A group to which a cluster sends messages", _from_file(CLUSTERED)),
    }


def sq03() -> JsonObject:
    """Return the example that comes with the command line, as JSON."""
    return _from_file(EXAMPLE)


def _from_file(name: str) -> JsonObject:
    document = parse_yaml(example_text(name).encode())
    if not isinstance(document, dict):
        message = "the example plan is not an object"
        raise TypeError(message)
    return document


def _complete() -> JsonObject:
    # A copy, so that the other examples keep their documents.
    document = copy.deepcopy(sq03())
    document["policy"] = {"name": "POLICY1", "job": True}
    for facility, sequence in zip(
        document["coupling_facilities"], ("0000000A1B2C", "0000000D3E4F"), strict=True
    ):
        facility |= {"type": "003931", "mfg": "IBM", "plant": "02", "sequence": sequence, "partition": "0F"}
        facility |= {"cpcid": "00", "dumpspace": "98M"}
    return document


def _smallest() -> JsonObject:
    queue = {"name": "MYQUEUE", "message_bytes": 2048, "backlog": 10_000}
    return {
        "qsg": "QSG1",
        "queue_managers": 2,
        "coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}],
        "structures": [{"name": "APPLICATION1", "queues": [queue]}],
    }
