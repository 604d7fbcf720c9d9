"""The connections with their last use, for pages, REST and commands; nothing is contacted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.connections.credentials import source_of
from app.connections.declared import AnyConnection, ZosmfConnection, read_connections
from app.connections.models import ConnectionUse
from app.connections.uses import last_uses
from app.settings import Settings
from planner_core.findings import Finding
from planner_core.wire import Answer


@dataclass(frozen=True, slots=True)
class LastUse(Answer):
    """The last use of a connection."""

    used_at: datetime
    succeeded: bool
    sentence: Annotated[str, Field(description="What was done, or why it failed.")]


@dataclass(frozen=True, slots=True)
class ConnectionSummary(Answer):
    """A declared connection, without credentials."""

    name: str
    kind: Annotated[str, Field(json_schema_extra={"enum": ["zosmf", "dds", "gatherer"]})]
    address: str
    credentials: Annotated[str, Field(description="Where the user and the password come from.")]
    certificates: Annotated[str, Field(description="The authorities that are trusted.")]
    is_verified: Annotated[
        bool, Field(description="Whether its declaration states that it was used with a real system.")
    ]
    size_unit: Annotated[str | None, Field(description="Unit of sizes of z/OSMF; null if unknown.")]
    last_use: LastUse | None


@dataclass(frozen=True, slots=True)
class ConnectionList(Answer):
    """All declared connections."""

    connections: tuple[ConnectionSummary, ...]
    findings: tuple[Finding, ...] = ()


def list_connections(session: Session | None, settings: Settings) -> ConnectionList:
    """Return all declared connections; without a session, none has a last use.

    Raises:
        ConnectionsInvalid: The file cannot be read.
    """
    known = read_connections(settings)
    uses = last_uses(session) if session is not None and known else {}
    return ConnectionList(tuple(_summary(name, each, uses.get(name)) for name, each in sorted(known.items())))


def _summary(name: str, connection: AnyConnection, use: ConnectionUse | None) -> ConnectionSummary:
    return ConnectionSummary(
        name, connection.kind, connection.address, source_of(connection), _trusts(connection),
        connection.verified_against_a_real_system,
        connection.size_unit if isinstance(connection, ZosmfConnection) else None,
        None if use is None else LastUse(use.used_at, use.succeeded, use.sentence),
    )  # fmt: skip


def _trusts(connection: AnyConnection) -> str:
    if connection.address.startswith("http://"):
        return "not used: no TLS on this machine"
    return "those of this machine" if connection.ca_file is None else f"file {connection.ca_file}"
