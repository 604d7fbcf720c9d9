"""The settings of the service: environment variables CFPLAN_..., each with a usable default."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.actor import ROLE_LABELS
from planner_core.errors import PlannerError
from planner_core.typed_numbers import decimal_text, separator_problem, unambiguous, whole_text
from planner_core.units import GIB, MIB


class SettingsInvalid(PlannerError):
    """A setting is not valid; the message names it."""


DEFAULT_COPIES_KEPT = 3
"""Default number of copies of an SQLite file from before migrations."""


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least severe records that are logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class AccessLog(StrEnum):
    """The requests in the access log."""

    OFF = "off"
    ON = "on"
    ALL = "all"


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
OFF = "off"
AuthenticationMethod = Literal["accounts", "oidc", "header"]
"""A way in which users sign in; several can be on at once."""


_MAIL_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_FOR_NOTICES = (
    "smtp_host", "smtp_user", "smtp_password", "smtp_password_file", "smtp_ca_file", "notice_from", "notice_to",
    "webhook_url", "webhook_token", "webhook_token_file", "webhook_ca_file",
)  # fmt: skip
"""The settings that decide whether and how notices are sent."""


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on, or of a client, belongs to this machine only."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}")
_OTHER_HEADERS = frozenset(
    {"host", "cookie", "authorization", "origin", "referer", "user-agent", "from", "forwarded"}
)


class Settings(BaseSettings):
    """The settings of the service; docs/operations/settings.md lists the same fields."""

    model_config = SettingsConfigDict(env_prefix="CFPLAN_", frozen=True, extra="forbid")

    data_dir: Path = Field(
        default=Path("data"),
        description="Folder for everything that the service stores. It is created when it is first needed.",
    )
    database_url: str = Field(
        default="",
        repr=False,  # it may contain a password
        description=(
            "Database for plans, such as postgresql://cfplan@db.example.com/cfplan. If empty, the SQLite file cfplan.db in "
            "the data folder is used."
        ),
    )
    migration_copies: int = Field(
        default=DEFAULT_COPIES_KEPT,
        ge=0,
        le=1_000,
        description=(
            "Copies of the SQLite file that are kept in the data folder; one is made before each migration of its tables. 0 makes none."
        ),
    )
    database_password_file: str = Field(
        default="",
        description=(
            "File with the password for the database server, such as a secret mounted into a container. Its last line break does not count."
        ),
    )
    deleted_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="Days for which a deleted plan can be restored; after that it is removed permanently.",
    )
    approval: bool = Field(
        default=False,
        description="Whether the texts for z/OS of a plan need the approval of a second person.",
    )
    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. With the default, only this machine can connect.",
    )
    port: int = Field(
        default=8000, ge=0, le=65535, description="TCP port to listen on; 0 selects a free port."
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Number of processes that answer requests. 0 starts one for each processor core that the service may use.",
    )
    request_cpu_s: float = Field(
        default=30.0,
        ge=0,
        description="Seconds of processor time after which a request is stopped. 0 means no limit.",
    )
    # NoDecode: pydantic-settings would otherwise expect JSON in the environment.
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=LOOPBACK_NAMES,
        description=(
            "Host names to which requests may be addressed, separated by commas. A name that begins with a dot allows all names below it; * allows any name and disables the protection against DNS rebinding. An address set as host is also accepted, unless it is a wildcard such as 0.0.0.0."
        ),
    )
    authentication: Annotated[tuple[AuthenticationMethod, ...], NoDecode] = Field(
        default=(),
        description=(
            "How users sign in, separated by commas: accounts (users with passwords, stored by the service), oidc (a provider of OpenID Connect), header (a header of a trusted proxy). If empty or off, anyone who can reach the service can use it without sign-in, and it listens on loopback addresses only."
        ),
    )
    session_idle_minutes: int = Field(
        default=60,
        ge=1,
        le=43_200,
        description="Minutes without a request after which a user must sign in again.",
    )
    session_hours: int = Field(
        default=12,
        ge=1,
        le=720,
        description="Hours after which a user must sign in again, even without a pause.",
    )
    token_days: int = Field(
        default=365,
        ge=1,
        le=3660,
        description="Longest validity of a new API token, in days.",
    )
    password_memory_kib: int = Field(
        default=65_536,
        ge=7168,
        le=4_194_304,
        description="KiB of memory that checking a password needs; a process checks two at a time.",
    )
    password_passes: int = Field(
        default=3,
        ge=1,
        le=100,
        description="Passes over that memory; more make checking a password slower, and guessing as well.",
    )
    sign_in_over_http: bool = Field(
        default=False,
        description=(
            "Whether users may sign in without TLS from other machines. Without TLS, anyone on the network can read their passwords."
        ),
    )
    oidc_issuer: str = Field(
        default="",
        description="Issuer of the OpenID provider, such as https://login.example.com/realms/mainframe, exactly as the provider states it.",
    )
    oidc_client_id: str = Field(
        default="", description="Identifier under which the service is registered at the OpenID provider."
    )
    oidc_client_secret: str = Field(
        default="",
        repr=False,
        description="Secret of the service at the OpenID provider; empty for a public client, which has none.",
    )
    oidc_client_secret_file: str = Field(
        default="", description="File with that secret, instead of CFPLAN_OIDC_CLIENT_SECRET."
    )
    oidc_title: str = Field(
        default="Sign in with OpenID Connect",
        min_length=1,
        max_length=80,
        description="Text of the button that leads to the OpenID provider.",
    )
    oidc_scopes: str = Field(
        default="openid profile",
        description="Scopes to request from the OpenID provider, separated by blanks; openid is one of them.",
    )
    oidc_name_claim: str = Field(
        default="preferred_username",
        min_length=1,
        description="Claim from which the name of a new user is made; a dot leads into an object.",
    )
    oidc_groups_claim: str = Field(
        default="groups",
        min_length=1,
        description="Claim with the groups or roles of a user, such as groups or realm_access.roles; a dot leads into an object.",
    )
    trusted_header: str = Field(
        default="",
        description="Name of the header in which a trusted proxy states the user, such as X-Remote-User.",
    )
    trusted_groups_header: str = Field(
        default="",
        description="Name of the header in which a trusted proxy states the groups of the user, separated by commas.",
    )
    role_groups: Annotated[dict[str, str], NoDecode] = Field(
        default={},
        description=(
            "Roles of the groups that an OpenID provider or a trusted proxy reports, such as administrator:mq-admins;planner:mq-planners. A user gets the highest role of all groups."
        ),
    )
    default_role: Literal["none", "viewer", "planner", "operator", "administrator"] = Field(
        default="none",
        description="Role of users of an OpenID provider or a trusted proxy without such a group; none refuses them.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description=(
            "Addresses or networks of reverse proxies, separated by commas, such as 127.0.0.1 or 10.2.0.0/24. Only their X-Forwarded-For and X-Forwarded-Proto headers are believed; without any, no such header is."
        ),
    )
    max_body_bytes: int = Field(
        default=32 * MIB,
        ge=1,
        description="Largest plan, policy or similar text in the body of a request, in bytes. The default is large enough for the largest plan that MQ's limits permit. Other bodies have at most 1 MiB, except for uploads.",
    )
    body_timeout_s: float = Field(
        default=60.0,
        gt=0,
        description="Seconds within which the entire request body must arrive.",
    )
    max_upload_bytes: int = Field(
        default=64 * GIB,
        ge=1,
        description="Largest file in bytes that is accepted as an upload of usage data.",
    )
    upload_stall_s: float = Field(
        default=60.0,
        gt=0,
        description="Seconds without data after which an upload is canceled. Its total duration is not limited.",
    )
    upload_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="Days for which the file of an upload is kept after it was read; its report is not removed.",
    )
    history_url: str = Field(
        default="",
        repr=False,  # it may contain a key
        description=(
            "Location of the usage history: a folder, or the URL of an object store. If empty, the folder history in the "
            "data folder is used."
        ),
    )
    history_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description=(
            "Days that the usage history keeps; older days, and their hourly roll-ups in the database, are dropped when an upload is read. 0 keeps all."
        ),
    )
    in_process_below_bytes: int = Field(
        default=GIB,
        ge=0,
        description="Dumps smaller than this many bytes are read without Spark, whose startup alone takes several seconds.",
    )
    max_unpacked_bytes: int = Field(
        default=512 * GIB,
        ge=1,
        description="Largest size in bytes of a compressed upload after decompression; a larger one is refused before anything is stored.",
    )
    max_unpacked_ratio: int = Field(
        default=250,
        ge=1,
        description=(
            "Largest ratio of decompressed to compressed size of an upload. gzip reaches 1032 with a specially crafted file, and about ten with dumps."
        ),
    )
    jobs_at_once: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Number of uploads that are read at the same time; a nightly run counts as one. The others wait.",
    )
    job_stale_s: float = Field(
        default=60.0,
        ge=1,
        description="Seconds for which the heartbeat of a job on another machine must not change before the job is restarted.",
    )
    job_nice: int = Field(
        default=10,
        ge=0,
        le=19,
        description="How far jobs give way to requests when both need a processor core: the nice value of their processes.",
    )
    night_hour: Annotated[int | None, NoDecode] = Field(
        default=2,
        ge=0,
        le=23,
        description="Hour of the day, local time, at which the service starts the nightly run automatically; off disables the schedule.",
    )
    night_zone: str = Field(
        default="",
        description="Time zone of that hour, such as Europe/Berlin. If empty, the time zone of the machine is used.",
    )
    forecast_days: int = Field(default=180, ge=7, le=730, description="Days that forecasts look ahead.")
    forecasts_kept_days: int = Field(
        default=400,
        ge=0,
        le=36_500,
        description=(
            "Days for which a forecast and its scores are kept after the day it was made; the latest forecast of each series, and forecasts that are not yet fully scored, are kept longer. 0 keeps all."
        ),
    )
    lead_time_days: int = Field(
        default=60,
        ge=1,
        le=730,
        description="Days from the request for a larger structure to its activation; a structure that fills sooner is reported as a finding.",
    )
    oversize_percent: float = Field(
        default=50.0,
        ge=0,
        description="How far INITSIZE may be above the need before the nightly run reports it, in percent of the need.",
    )
    ratio_percent: float = Field(
        default=50.0,
        gt=0,
        description=(
            "How far the elements per entry may differ from those that the messages use before the nightly run reports it, in percent."
        ),
    )
    connections_file: str = Field(
        default="",
        description=(
            "YAML file with the connections to z/OSMF and RMF. If empty, no other system is contacted, except an OpenID provider."
        ),
    )
    metrics_structures: int = Field(
        default=1000,
        ge=0,
        le=20_000,
        description="Number of structures with metrics of their own, the most urgent ones; 0 leaves out all metrics about capacity.",
    )
    base_url: str = Field(
        default="",
        description="Address at which users reach the service, such as https://cfplan.example.com, for the links in notices.",
    )
    notice_to: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Addresses that get notices by email, separated by commas. No other address ever gets one.",
    )
    notice_from: str = Field(default="", description="Address of the sender of notices.")
    smtp_host: str = Field(
        default="", description="Host of the mail server. If empty, no notices are sent by email."
    )
    smtp_port: int = Field(default=587, ge=1, le=65_535, description="TCP port of the mail server.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls",
        description=(
            "Encryption of the connection to the mail server: starttls (usual on port 587), tls (usual on port 465), or none. The certificate is always verified."
        ),
    )
    smtp_ca_file: str = Field(
        default="",
        description="File with the certificates of authorities that the mail server's certificate must come from, in PEM format. If empty, those of the machine are used.",
    )
    smtp_user: str = Field(
        default="", description="User at the mail server; empty for a server that needs none."
    )
    smtp_password: str = Field(default="", repr=False, description="Password of this user.")
    smtp_password_file: str = Field(
        default="", description="File with that password, instead of CFPLAN_SMTP_PASSWORD."
    )
    webhook_url: str = Field(
        default="",
        repr=False,  # addresses of webhooks often contain a secret
        description="Address to which notices are posted as JSON. If empty, none are posted.",
    )
    webhook_ca_file: str = Field(
        default="",
        description="File with the certificates of authorities that the webhook's certificate must come from, in PEM format. If empty, those of the machine are used.",
    )
    webhook_token: str = Field(
        default="", repr=False, description="Token that is sent to the webhook in the Authorization header."
    )
    webhook_token_file: str = Field(
        default="", description="File with that token, instead of CFPLAN_WEBHOOK_TOKEN."
    )
    notice_moved_days: int = Field(
        default=14,
        ge=1,
        le=730,
        description="Days by which the expected date of a limit must move, earlier or later, since it was last reported, for a notice.",
    )
    notice_quiet_hours: int = Field(
        default=24,
        ge=0,
        le=8760,
        description="Hours after a notice during which further notices of the same kind about the same structure are held back; they are then sent together.",
    )
    notice_timeout_s: float = Field(
        default=20.0,
        gt=0,
        le=300,
        description="Seconds within which a mail server or webhook must answer each step; three times as long for a whole message.",
    )
    notice_days: int = Field(
        default=400, ge=1, le=36_500, description="Days for which notices are kept after they were sent."
    )
    compress_over_bytes: int = Field(
        default=1400,
        ge=0,
        description="Responses longer than this many bytes are compressed for clients that accept gzip.",
    )

    log_format: LogFormat = Field(
        default=LogFormat.TEXT,
        description="Format of log lines: text, or json for one JSON object in each line.",
    )
    log_level: LogLevel = Field(
        default=LogLevel.INFO,
        description="Least severe messages that are logged: debug, info, warning or error.",
    )
    access_log: AccessLog = Field(
        default=AccessLog.ON,
        description=(
            "Whether each request is logged: on, off, or all, which includes health checks, scrapes of metrics and static files."
        ),
    )

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: object, info: ValidationInfo) -> object:
        kind = cls.model_fields[info.field_name or ""].annotation
        if kind not in (int, float) or not isinstance(value, str):
            return value
        # pydantic reads 30.000 as 30, which a user may have meant as 30000.
        is_whole = kind is int
        # Templates of configurations calculate with decimals, and write 600.0 for a whole number.
        found = whole_text(value.strip().removesuffix(".0")) if is_whole else decimal_text(value)
        if found is None:
            problem = separator_problem(value, is_whole=is_whole)
            raise ValueError(problem or f"must be a {'whole ' if is_whole else ''}number")
        return found

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip().lower() for name in value.split(",") if name.strip())
        return value

    @field_validator("notice_to", mode="before")
    @classmethod
    def _split_addresses(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(each.strip() for each in value.split(",") if each.strip())
        return value

    @field_validator("notice_to", "notice_from")
    @classmethod
    def _known_mail_addresses(cls, value: tuple[str, ...] | str) -> tuple[str, ...] | str:
        for each in (value,) if isinstance(value, str) else value:
            if each and not _MAIL_ADDRESS.fullmatch(each):
                message = f"{each!r} is not an email address, such as mq-team@example.com"
                raise ValueError(message)
        return value

    @field_validator("base_url")
    @classmethod
    def _known_base(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
        except ValueError:
            parts = urlsplit("")
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query
        if value and not is_address:
            message = f"{value!r} is not an address such as https://cfplan.example.com"
            raise ValueError(message)
        return value.rstrip("/")

    @field_validator("webhook_url")
    @classmethod
    def _known_webhook(cls, value: str) -> str:
        # The message does not repeat the address, because it may contain a secret.
        if value and (not is_secure_address(value) or "@" in urlsplit(value).netloc):
            message = "the value is not an address that begins with https (or with http on this machine), without a user"
            raise ValueError(message)
        return value

    @field_validator("authentication", "trusted_proxies", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        if isinstance(value, str):
            found = tuple(each.strip().lower() for each in value.split(",") if each.strip())
            return () if found == (OFF,) else found
        return value

    @field_validator("role_groups", mode="before")
    @classmethod
    def _roles_of_groups(cls, value: object) -> object:
        return roles_of_groups(value) if isinstance(value, str) else value

    @field_validator("oidc_issuer")
    @classmethod
    def _known_issuer(cls, value: str) -> str:
        if value and not is_secure_address(value):
            message = f"{value!r} is not an address that begins with https (or with http on this machine)"
            raise ValueError(message)
        return value

    @field_validator("oidc_scopes")
    @classmethod
    def _with_openid(cls, value: str) -> str:
        if "openid" not in value.split():
            message = "openid must be one of the scopes"
            raise ValueError(message)
        return " ".join(value.split())

    @field_validator("trusted_header", "trusted_groups_header")
    @classmethod
    def _header_name(cls, value: str) -> str:
        # A header that clients and proxies send for other purposes could name anyone.
        if value and (not _HEADER.fullmatch(value) or value.lower() in _OTHER_HEADERS):
            message = f"{value!r} cannot be used; choose a name such as X-Remote-User"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _complete(self) -> Settings:
        faults = []
        if "oidc" in self.authentication:
            if not self.oidc_issuer or not self.oidc_client_id:
                faults.append("oidc needs CFPLAN_OIDC_ISSUER and CFPLAN_OIDC_CLIENT_ID")
            if self.oidc_client_secret and self.oidc_client_secret_file:
                faults.append("set either CFPLAN_OIDC_CLIENT_SECRET or CFPLAN_OIDC_CLIENT_SECRET_FILE")
        if "header" in self.authentication and not (self.trusted_header and self.trusted_proxies):
            faults.append("header needs CFPLAN_TRUSTED_HEADER and CFPLAN_TRUSTED_PROXIES")
        if self.trusted_header and self.trusted_header.lower() == self.trusted_groups_header.lower():
            faults.append("CFPLAN_TRUSTED_HEADER and CFPLAN_TRUSTED_GROUPS_HEADER must differ")
        if (
            {"oidc", "header"} & set(self.authentication)
            and not self.role_groups
            and self.default_role == "none"
        ):
            faults.append("no user would have a role: set CFPLAN_ROLE_GROUPS or CFPLAN_DEFAULT_ROLE")
        if self.approval and not self.requires_sign_in:
            faults.append(
                "CFPLAN_APPROVAL requires that a second person approves each version, but without sign-in all users are the "
                "same person: set CFPLAN_AUTHENTICATION as well, or remove CFPLAN_APPROVAL"
            )
        faults += self._faults_of_notices()
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _faults_of_notices(self) -> Iterator[str]:
        if bool(self.smtp_host) != bool(self.notice_to) or bool(self.smtp_host) != bool(self.notice_from):
            yield "notices by email need CFPLAN_SMTP_HOST, CFPLAN_NOTICE_FROM and CFPLAN_NOTICE_TO"
        if self.smtp_password and self.smtp_password_file:
            yield "set either CFPLAN_SMTP_PASSWORD or CFPLAN_SMTP_PASSWORD_FILE"
        if bool(self.smtp_user) != bool(self.smtp_password or self.smtp_password_file):
            yield "set both CFPLAN_SMTP_USER and CFPLAN_SMTP_PASSWORD or CFPLAN_SMTP_PASSWORD_FILE, or neither"
        if self.smtp_user and self.smtp_security == "none" and not is_loopback(self.smtp_host):
            yield "CFPLAN_SMTP_SECURITY=none would send the password of CFPLAN_SMTP_USER in the clear"
        if self.webhook_token and self.webhook_token_file:
            yield "set either CFPLAN_WEBHOOK_TOKEN or CFPLAN_WEBHOOK_TOKEN_FILE"
        if (self.webhook_token or self.webhook_token_file) and not self.webhook_url:
            yield "CFPLAN_WEBHOOK_TOKEN needs CFPLAN_WEBHOOK_URL"

    @field_validator("trusted_proxies")
    @classmethod
    def _known_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_network(entry) for entry in value)

    @field_validator("night_hour", mode="before")
    @classmethod
    def _off_is_none(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() in ("off", "") else value

    @field_validator("night_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            if value:
                ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            message = f"{value!r} is not a time zone, such as Europe/Berlin"
            raise ValueError(message) from None
        return value

    @property
    def history(self) -> str:
        """The folder or URL of the usage history that jobs use."""
        return self.history_url or str((self.data_dir / "history").absolute())

    def as_environment(self) -> dict[str, str]:
        """Return the settings for a job, with absolute paths, because its working folder may differ.

        Jobs sign in no one and send no notices, so they do not get the secrets for these; the empty values replace inherited
        ones.
        """
        values = {name: getattr(self, name) for name in type(self).model_fields}
        values["data_dir"] = self.data_dir.absolute()
        if self.database_password_file:
            values["database_password_file"] = Path(self.database_password_file).absolute()
        if self.connections_file:
            values["connections_file"] = Path(self.connections_file).absolute()
        values["oidc_client_secret"] = values["oidc_client_secret_file"] = ""
        values |= dict.fromkeys(_FOR_NOTICES, "")
        values["role_groups"] = ";".join(f"{role}:{group}" for group, role in self.role_groups.items())
        values["night_hour"] = "off" if self.night_hour is None else self.night_hour
        # In the notation of the environment, which differs from the repr of these values.
        for name in ("allowed_hosts", "authentication", "trusted_proxies"):
            values[name] = ",".join(values[name])
        return {
            f"CFPLAN_{name.upper()}": unambiguous(value) if isinstance(value, float) else str(value)
            for name, value in values.items()
        }

    @property
    def requires_sign_in(self) -> bool:
        """Whether users must sign in."""
        return bool(self.authentication)

    @property
    def accepted_hosts(self) -> tuple[str, ...]:
        """The names in allowed_hosts, and the listening address unless it is a wildcard."""
        try:
            address = ipaddress.ip_address(self.host.strip("[]"))
        except ValueError:
            return (*self.allowed_hosts, self.host.lower())
        # Browsers never address 0.0.0.0 or ::, but the name or address by which they reach the service.
        if address.is_unspecified:
            return self.allowed_hosts
        return (*self.allowed_hosts, f"[{address}]" if ":" in self.host else self.host)


def is_secure_address(address: str) -> bool:
    """Return whether an address uses https, or http on this machine, where no data passes through the network."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def roles_of_groups(text: str) -> dict[str, str]:
    """Return the role of each group in a text such as `administrator:mq-admins;planner:mq-planners`.

    Raises:
        ValueError: An entry has no role, an unknown role, or no group; or a group has two roles.
    """
    found: dict[str, str] = {}
    for entry in filter(None, (each.strip() for each in text.split(";"))):
        # The role comes first, because names of groups may contain colons.
        role, _, group = (part.strip() for part in entry.partition(":"))
        if role not in ROLE_LABELS or not group:
            message = f"{entry!r} is not a role and a group, such as planner:mq-planners"
            raise ValueError(message)
        if found.setdefault(group, role) != role:
            message = f"the group {group!r} has two roles"
            raise ValueError(message)
    return found


def secret_of(settings: Settings, name: str) -> str:
    """Return a secret from its setting, or from the file that the setting with `_file` names; empty if there is none.

    Raises:
        SettingsInvalid: The file cannot be read, or is empty.
    """
    file: str = getattr(settings, f"{name}_file")
    if not file:
        secret: str = getattr(settings, name)
        return secret
    variable = f"CFPLAN_{name.upper()}_FILE"
    try:
        secret = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{variable}: {file} cannot be read: {getattr(error, 'strerror', None) or 'it is not text in UTF-8'}."
        raise SettingsInvalid(message) from None
    if not secret:
        message = f"{variable}: {file} is empty."
        raise SettingsInvalid(message)
    return secret


def _network(entry: str) -> str:
    """Return an address or network in its normal form.

    Raises:
        ValueError: It is not an address or a network, or it includes every address.
    """
    try:
        network = ipaddress.ip_network(entry)
    except ValueError:
        # A name, a typing error or "*" would otherwise be ignored or trusted without a word.
        message = f"{entry!r} is not an address or a network, such as 127.0.0.1 or 10.2.0.0/24"
        raise ValueError(message) from None
    if network.prefixlen == 0:
        message = f"{entry!r} includes every address, so any client could name another address as its own"
        raise ValueError(message)
    return str(network.network_address) if network.num_addresses == 1 else str(network)


def read_settings(**given: Any) -> Settings:  # noqa: ANN401 - the fields of Settings
    """Return the settings from the environment, overridden by those given here.

    Raises:
        SettingsInvalid: A setting is not valid.
    """
    try:
        return Settings(**given)
    except ValidationError as error:
        message = f"A setting is not valid. {'; '.join(map(_fault_of, error.errors()))}."
        raise SettingsInvalid(message) from None


def _fault_of(error: ErrorDetails) -> str:
    """Return an error of pydantic with the name of the environment variable, which operators know."""
    message = error["msg"].removeprefix("Value error, ")
    # Further elements are positions in a list. Errors of several settings together name them in their message.
    return f"CFPLAN_{str(error['loc'][0]).upper()}: {message}" if error["loc"] else message
