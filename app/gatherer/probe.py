"""The check of a connection to the Data Gatherer: how the service itself describes the fields that cfplan reads.

The description has no values of the site. Its types and formats answer what IBM's public pages leave open.
"""

from __future__ import annotations

from collections.abc import Iterator

from app import logs
from app.connections.checks import ProbeStep, failed_step
from app.connections.client import Client
from app.connections.declared import AnyConnection
from app.connections.errors import ConnectionFailed
from app.zosmf.server import HEADERS
from planner_core.contracts.gatherer import API_DOCS_PATH, FIELDS

ASKED = f"GET {API_DOCS_PATH}"
_FORM = ("type", "format", "x-zml-datatype", "x-zml-size")
"""The members of OpenAPI, and of IBM's extension (ZML), that describe the form of a value."""
_LONGEST = 60


def probe(client: Client, connection: AnyConnection) -> tuple[ProbeStep, ...]:
    """Ask for the description of the service; no record is requested."""
    del connection
    try:
        reply = client.get(API_DOCS_PATH, headers=HEADERS)
        answer = reply.json()
    except ConnectionFailed as error:
        return (failed_step(ASKED, error),)
    found = dict(_described(answer))
    return (
        ProbeStep(
            ASKED, reply.status, tuple(found[name] for name in FIELDS if name in found),
            tuple(name for name in FIELDS if name not in found), (),
        ),
    )  # fmt: skip


def _described(answer: object) -> Iterator[tuple[str, str]]:
    """Yield each field that is read with the schema that has it and the form of its value."""
    schemas = _object(_object(_object(answer).get("components")).get("schemas"))
    for schema, content in schemas.items():
        for name, described in _object(_object(content).get("properties")).items():
            if name in FIELDS:
                form = " ".join(
                    str(part) for key in _FORM if (part := _object(described).get(key)) is not None
                )
                yield name, logs.printable(f"{schema[:_LONGEST]}.{name} {form[:_LONGEST]}").rstrip()


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
