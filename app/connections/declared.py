"""The connections that the file of `CFPLAN_CONNECTIONS_FILE` names. Nothing else is ever contacted.

The file is YAML::

    connections:
      PLEX1:
        kind: zosmf
        address: https://zosmf.example.com
        ca_file: /etc/cfplan/site-ca.pem
        user_variable: CFPLAN_PLEX1_USER
        password_variable: CFPLAN_PLEX1_PASSWORD
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from app.connections.errors import ConnectionsInvalid, ConnectionUnknown
from app.settings import Settings, is_secure_address
from planner_core import names
from planner_core.texts.cfrm.policy_json import SizeUnit
from planner_core.units import MIB

SETTING: Final = "CFPLAN_CONNECTIONS_FILE"
LARGEST_FILE_BYTES: Final = MIB
MOST_CONNECTIONS: Final = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
NOT_VERIFIED: Final = "not yet verified against a real system"


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How long a request may take, and the members of the connection that say so."""

    step_s: float
    """Seconds for sending, and for waiting for the next part of the answer."""
    total_s: float
    step_member: str = "timeout_s"
    total_member: str = "total_s"


class DeclaredConnection(BaseModel):
    """The members that connections of all kinds have."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    address: str
    ca_file: Path | None = None
    user_variable: str | None = None
    password_variable: str | None = None
    credentials_file: Path | None = None
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Seconds for each step, such as connecting or waiting for the next part of an answer."""
    total_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds for one request with its whole answer."""
    max_answer_bytes: Annotated[int, Field(ge=1024, le=1024 * MIB)] = 16 * MIB
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """How often a request that only reads is sent if it fails; all other requests are sent once."""
    pause_s: Annotated[float, Field(ge=0, le=60)] = 0.5
    """Seconds before the second attempt; each further pause is twice as long."""
    verified_against_a_real_system: bool = False

    @field_validator("address")
    @classmethod
    def _usable_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError:
            message = "is not an address, such as https://zosmf.example.com"
            raise ValueError(message) from None
        del port
        if "@" in parts.netloc:
            message = "contains a user or a password; name them by user_variable and password_variable"
            raise ValueError(message)
        if not is_secure_address(value):
            message = "must begin with https:// (http:// is only possible for this machine)"
            raise ValueError(message)
        if parts.query or parts.fragment:
            message = "must not contain ? or #"
            raise ValueError(message)
        return value.rstrip("/")

    @field_validator("user_variable", "password_variable")
    @classmethod
    def _usable_variable(cls, value: str | None) -> str | None:
        if value is not None and not _VARIABLE.fullmatch(value):
            # Not repeated: it may be a password that was entered instead of a name.
            message = "must be the name of an environment variable, not a user or a password"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _one_source(self) -> DeclaredConnection:
        if (self.user_variable is None) != (self.password_variable is None):
            message = "state both user_variable and password_variable, or neither"
            raise ValueError(message)
        if self.credentials_file is not None and self.user_variable is not None:
            message = "state either credentials_file or user_variable and password_variable"
            raise ValueError(message)
        return self

    @property
    def host(self) -> str:
        """The host and the port that the address names."""
        return urlsplit(self.address).netloc

    @property
    def limits(self) -> RequestLimits:
        """The limits of requests."""
        return RequestLimits(min(self.timeout_s, self.total_s), self.total_s)


class ZosmfConnection(DeclaredConnection):
    """A z/OSMF server with its CFRM policies."""

    kind: Literal["zosmf"]
    size_unit: SizeUnit | None = None
    """The unit of sizes that are plain numbers; None if unknown. The published interface does not state it."""
    properties: tuple[str, ...] = ()
    """Properties of structures that this server accepts although the published interface does not name them."""
    policy: str | None = None
    """The policy that is in use, if the server does not report which one is active."""
    activation_timeout_s: Annotated[float, Field(gt=0, le=600)] = 60.0
    """Seconds to wait for the answer to the activation of a policy, instead of `timeout_s` and `total_s`."""
    activation_watch_s: Annotated[float, Field(ge=0, le=3600)] = 60.0
    """Seconds for which the active policy is read after an activation that is not visible; 0 reads it once."""
    nightly_drift: bool = False
    """Whether the nightly run compares the active policy with the one that was last applied, or with `drift_plan`."""
    drift_plan: str | None = None

    @property
    def activation_limits(self) -> RequestLimits:
        """The limits of the activation of a policy, whose answer may take longer than that of a read."""
        seconds, name = self.activation_timeout_s, "activation_timeout_s"
        return RequestLimits(seconds, seconds, name, name)

    @field_validator("policy")
    @classmethod
    def _policy_name(cls, value: str | None) -> str | None:
        if value is not None and not names.is_policy(value):
            message = f"must be the name of a policy: {names.POLICY_RULE}"
            raise ValueError(message)
        return value


class DdsConnection(DeclaredConnection):
    """The distributed data server of RMF."""

    kind: Literal["dds"]
    poll: bool = False
    """Whether the service asks for the CFACT report once a minute."""
    backfill_hours: Annotated[int, Field(ge=0, le=168)] = 24
    """How far back to ask for intervals after an outage. How long the server keeps them depends on its settings."""


class GathererConnection(DeclaredConnection):
    """The SMF REST services of the z/OS Data Gatherer, in a server of z/OSMF of their own."""

    kind: Literal["gatherer"]


AnyConnection: TypeAlias = ZosmfConnection | DdsConnection | GathererConnection
Connection: TypeAlias = Annotated[AnyConnection, Field(discriminator="kind")]
NONE: Final[Mapping[str, AnyConnection]] = MappingProxyType({})


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    connections: dict[str, Connection] = Field(max_length=MOST_CONNECTIONS)

    @field_validator("connections")
    @classmethod
    def _usable_names(cls, value: dict[str, AnyConnection]) -> dict[str, AnyConnection]:
        for name in value:
            if not _NAME.fullmatch(name):
                message = f"{name[:40]!r} is not a name: use a letter, then up to 31 letters, digits, - or _"
                raise ValueError(message)
        return value


def read_connections(settings: Settings) -> Mapping[str, AnyConnection]:
    """Return the connections in the file of the settings, by name; none if the settings name no file.

    The file is read each time, so a correction needs no restart.

    Raises:
        ConnectionsInvalid: The file cannot be read, or an entry is not valid.
    """
    if not settings.connections_file:
        return NONE
    from app.texts.yaml_reader import NotYaml, read_yaml

    path = Path(settings.connections_file)
    text = read_private_text(path, SETTING, is_private=False)
    try:
        found = read_yaml(text)
    except NotYaml as error:
        where = f", line {error.line}" if error.line else ""
        message = f"{SETTING}: {path}{where}: {error}."
        raise ConnectionsInvalid(message) from None
    try:
        file = TypeAdapter(_File).validate_python(found)
    except ValidationError as error:
        faults = "; ".join(
            _fault_of(each) for each in error.errors(include_input=False, include_context=False)
        )
        message = f"{SETTING}: {path}: {faults}. Nothing is contacted until the file is corrected."
        raise ConnectionsInvalid(message) from None
    folder = path.absolute().parent
    return MappingProxyType({name: _with_paths(each, folder) for name, each in file.connections.items()})


def connection_named(settings: Settings, name: str) -> AnyConnection:
    """Return a connection.

    Raises:
        ConnectionUnknown: There is no connection with this name.
        ConnectionsInvalid: The file cannot be read.
    """
    known = read_connections(settings)
    if name not in known:
        names = ", ".join(sorted(known))
        has = f"The file has: {names}." if known else "No connection is configured."
        message = f"There is no connection {name[:40]!r}. {has} Declare it in the file of {SETTING}."
        raise ConnectionUnknown(message)
    return known[name]


def verified_connections(settings: Settings) -> Mapping[str, bool]:
    """Return whether each declared connection was used with a real system, by name; nothing if the file cannot be read."""
    try:
        return {
            name: each.verified_against_a_real_system for name, each in read_connections(settings).items()
        }
    except ConnectionsInvalid:
        return {}


def zosmf_connection(settings: Settings, name: str) -> ZosmfConnection:
    """Return a connection to z/OSMF.

    Raises:
        ConnectionUnknown: There is no such connection, or it has another kind.
        ConnectionsInvalid: The file cannot be read.
    """
    found = connection_named(settings, name)
    if not isinstance(found, ZosmfConnection):
        message = (
            f"The connection {name} has the kind {found.kind}; this needs a connection of the kind zosmf."
        )
        raise ConnectionUnknown(message)
    return found


def read_private_text(path: Path, what: str, *, is_private: bool) -> str:
    """Return the text of a file; one with credentials must be readable by its owner only.

    Raises:
        ConnectionsInvalid: It cannot be read, is too large, or others may read it.
    """
    try:
        with path.open("rb") as file:
            # Of the opened file, which cannot be replaced between the check and reading.
            if is_private and _open_to_others(file.fileno()):
                message = (
                    f"{what}: other users may read {path}, which contains a password. Run: chmod 600 {path}"
                )
                raise ConnectionsInvalid(message)
            content = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        message = f"{what}: {path} cannot be read: {error.strerror}."
        raise ConnectionsInvalid(message) from None
    if len(content) > LARGEST_FILE_BYTES:
        message = f"{what}: {path} has more than {LARGEST_FILE_BYTES} bytes."
        raise ConnectionsInvalid(message)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = f"{what}: {path} is not text in UTF-8."
        raise ConnectionsInvalid(message) from None


def _open_to_others(fileno: int) -> bool:
    import os
    import stat

    return bool(os.fstat(fileno).st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _with_paths(connection: AnyConnection, folder: Path) -> AnyConnection:
    """Return a connection whose relative paths start at the folder of the file."""
    paths: dict[str, Any] = {
        name: folder / path
        for name in ("ca_file", "credentials_file")
        if (path := getattr(connection, name)) is not None
    }
    return connection.model_copy(update=paths) if paths else connection


def _fault_of(error: ErrorDetails) -> str:
    """Return an error of pydantic with the place in the file."""
    # The third part is the kind, which pydantic adds for a union; readers of the file know only its keys.
    where = [str(part)[:40] for part in (*error["loc"][:2], *error["loc"][3:])]
    message = error["msg"].removeprefix("Value error, ")
    return f"{'.'.join(where)}: {message[:1].lower()}{message[1:]}" if where else message
