"""Credentials of connections: from environment variables, or from a file that only its owner may read.

They exist in memory while a client is open. They are never stored, and the log replaces them by asterisks.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from app import logs
from app.connections.declared import AnyConnection, read_connections, read_private_text
from app.connections.errors import ConnectionsInvalid
from app.settings import Settings

# Between key and value, YAML allows signs of blocks, tags and anchors.
_NAMED = re.compile(r"(?:user|password)_variable[\"']?\s*:(?:\s|[>|][+-]?|[!&]\S+\s|[\"'])*(\w+)")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user and a password."""

    user: str = field(repr=False)
    password: str = field(repr=False)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    user: str = Field(min_length=1)
    password: SecretStr = Field(min_length=1)


def credentials_of(
    name: str, connection: AnyConnection, environment: Mapping[str, str] = os.environ
) -> Credentials | None:
    """Return the credentials of a connection; None if it names none.

    Raises:
        ConnectionsInvalid: A variable is not set, or the file cannot be used.
    """
    found = (
        _from_file(name, connection)
        if connection.credentials_file
        else _from_variables(name, connection, environment)
    )
    if found is not None:
        basic = base64.b64encode(f"{found.user}:{found.password}".encode()).decode()
        logs.hide_secrets(found.password, basic)
    return found


def variables_of(settings: Settings, *, except_kinds: Collection[str] = ()) -> frozenset[str]:
    """Return the names of the environment variables with credentials, except those that kinds of connections need.

    A file that is not valid has them as well: its text is searched for them, because credentials must not reach other
    processes until it is corrected.
    """
    if not settings.connections_file:
        return frozenset()
    try:
        known = read_connections(settings)
    except ConnectionsInvalid:
        try:
            text = Path(settings.connections_file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return frozenset()
        return frozenset(_NAMED.findall(text))
    needed = {name for each in known.values() if each.kind in except_kinds for name in _variables(each)}
    return frozenset(name for each in known.values() for name in _variables(each)) - needed


def _variables(connection: AnyConnection) -> tuple[str, ...]:
    return tuple(name for name in (connection.user_variable, connection.password_variable) if name)


def source_of(connection: AnyConnection) -> str:
    """Return where the credentials of a connection come from, in words, without the credentials."""
    if connection.credentials_file is not None:
        return f"file {connection.credentials_file}"
    if connection.user_variable is not None:
        return f"environment variables {connection.user_variable} and {connection.password_variable}"
    return "none"


def _from_variables(
    name: str, connection: AnyConnection, environment: Mapping[str, str]
) -> Credentials | None:
    if connection.user_variable is None or connection.password_variable is None:
        return None
    missing = [
        each for each in (connection.user_variable, connection.password_variable) if not environment.get(each)
    ]
    if missing:
        message = (
            f"Connection {name}: the environment has no value for {' and '.join(missing)}. "
            "Set each variable for the service and for commands."
        )
        raise ConnectionsInvalid(message)
    return Credentials(environment[connection.user_variable], environment[connection.password_variable])


def _from_file(name: str, connection: AnyConnection) -> Credentials:
    from app.texts.yaml_reader import NotYaml, read_yaml

    path = connection.credentials_file
    assert path is not None  # noqa: S101 - checked by the caller
    what = f"Connection {name}: credentials_file"
    try:
        file = _File.model_validate(read_yaml(read_private_text(path, what, is_private=True)))
    except (NotYaml, ValidationError):
        # Without the reason: messages of both may quote the text.
        message = f"{what}: {path} must have exactly the members user and password, in YAML."
        raise ConnectionsInvalid(message) from None
    return Credentials(file.user, file.password.get_secret_value())
