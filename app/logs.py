"""The log: one format for the service, its commands and its jobs, as text or as JSON lines, on standard error.

A record is one line. Text from outside, such as a path, a name or the message of a library, cannot add a line or send
control characters to a terminal: everything that is not printable is escaped. Secrets are removed.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from app.actor import ActorKind, current_actor
from app.settings import LogFormat, LogLevel, Settings

OWN_LOGGERS = ("cfplan", "uvicorn")
"""The loggers to which the level in the settings applies. Those of other packages only report warnings: at lower levels
they write addresses of requests, which can contain codes and keys.
"""
FIELDS = "cfplan_fields"
"""The attribute of a record, set with `extra`, that holds further fields."""
LONGEST_TEXT = 4_000
"""Characters of a message or a field; a traceback may be ten times as long."""
HIDDEN = "***"
CONTINUED = "    | "
"""Begins the lines of a traceback in the text format, so that they cannot be mistaken for records."""


_REQUEST_ID: ContextVar[str | None] = ContextVar("cfplan_request_id", default=None)
_JOB_ID: ContextVar[int | None] = ContextVar("cfplan_job_id", default=None)


def current_request_id() -> str | None:
    """Return the identifier of the current request; None outside of requests."""
    return _REQUEST_ID.get()


@contextmanager
def in_request(request_id: str) -> Iterator[None]:
    """Log the block, and the threads it waits for, under the identifier of a request."""
    token = _REQUEST_ID.set(request_id)
    try:
        yield
    finally:
        _REQUEST_ID.reset(token)


@contextmanager
def in_job(job_id: int) -> Iterator[None]:
    """Log the block under the number of a job."""
    token = _JOB_ID.set(job_id)
    try:
        yield
    finally:
        _JOB_ID.reset(token)


# ---- secrets and characters ------------------------------------------------------------------------------------------

_SHORTEST_SECRET = 4
"""Shorter passwords are not searched for: they would hide parts of ordinary words."""
# The length of a scheme is limited: in `a.a.a.a`, one begins at each letter, and an unlimited one is searched for to the
# end of the text each time. Clients choose the paths in the access log, which is written on the event loop.
_IN_TEXT = re.compile(
    r"""(?xi)
    (?P<url> \b[a-z][a-z0-9+.-]{0,19}://[^\s/@:]*: ) [^\s/@]+ (?=@)                # the password in a URL
    | (?P<scheme> \b(?:bearer|basic)\s+ ) [a-z0-9._~+/=-]{6,}                      # Authorization
    | (?P<name> \b(?:password|passwd|secret|[a-z_]*token|api_?key|client_secret|session|cookie)\b ["']?\s*[=:]\s*["']? )
      [^\s"',;&)]+                                                                 # password=..., cookie: ...
    """
)
_SECRET_VARIABLES = re.compile(r"PASSWORD|PASSPHRASE|SECRET|TOKEN|ACCOUNT_KEY|ACCESS_KEY$")
_secrets: tuple[str, ...] = ()
_hidden: set[str] = set()
"""Secrets that are read later than the settings, such as passwords of connections."""


def hide_secrets(*secrets: str) -> None:
    """Remove further secrets from all texts of the log of this process."""
    global _secrets
    _hidden.update(each for each in secrets if len(each) >= _SHORTEST_SECRET)
    _secrets = tuple(sorted({*_secrets, *_hidden}, key=len, reverse=True))


def without_secrets(text: str) -> str:
    """Return a text with passwords, tokens and cookies replaced by asterisks."""
    for secret in _secrets:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    # Most texts have none of these characters, and the search for names takes longer.
    if "=" in text or ":" in text or " " in text:
        text = _IN_TEXT.sub(_hide, text)
    return text


def _hide(found: re.Match[str]) -> str:
    return f"{found['url'] or found['scheme'] or found['name']}{HIDDEN}"


def _secrets_of(settings: Settings) -> tuple[str, ...]:
    """Return the secrets that the settings, their files and the environment contain, longest first."""
    found = {settings.oidc_client_secret}
    for file in (settings.database_password_file, settings.oidc_client_secret_file):
        with suppress(OSError, UnicodeDecodeError):  # reported by the code that needs the secret
            found.add(Path(file).read_text(encoding="utf-8").strip() if file else "")
    for url in (settings.database_url, settings.history_url):
        try:
            parts = urlsplit(url)
            found |= {parts.password or "", unquote(parts.password or "")}
        except ValueError:  # not a URL; it is refused elsewhere
            continue
        found |= {value for name, value in parse_qsl(parts.query) if _SECRET_VARIABLES.search(name.upper())}
    found |= {value for name, value in os.environ.items() if _SECRET_VARIABLES.search(name)}
    return tuple(sorted((each for each in found if len(each) >= _SHORTEST_SECRET), key=len, reverse=True))


def printable(text: str) -> str:
    """Return a text in which line breaks, control characters and invisible characters are escaped."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


def _cut(text: str, longest: int = LONGEST_TEXT) -> str:
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text) - longest} more characters)"


def _clean(text: str) -> str:
    """Return the beginning of a text without secrets. Only what may be written is searched, however long the text is."""
    if len(text) <= 2 * LONGEST_TEXT:
        return _cut(without_secrets(text))
    head = without_secrets(text[: 2 * LONGEST_TEXT])
    if len(head) < 3 * LONGEST_TEXT // 2:
        # So much was removed that the end of the searched part, which may be half a secret, could be written.
        return _cut(without_secrets(text))
    return _cut(head + text[2 * LONGEST_TEXT :])


# ---- formats ---------------------------------------------------------------------------------------------------------


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def _context(record: logging.LogRecord) -> dict[str, Any]:
    """Return the request, user and job of a record, and its further fields, without secrets."""
    found: dict[str, Any] = {}
    request_id, job_id, actor = _REQUEST_ID.get(), _JOB_ID.get(), current_actor()
    if request_id is not None:
        found["request_id"] = request_id
    if job_id is not None:
        found["job"] = job_id
    if actor.kind is not ActorKind.SERVICE:
        found["user"] = actor.name
    more: Mapping[str, Any] = getattr(record, FIELDS, {})
    found.update((name, value) for name, value in more.items() if value is not None)
    return {
        name: value if isinstance(value, int | float) else _clean(str(value)) for name, value in found.items()
    }


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """Return the traceback of a record, without secrets; empty if it has none."""
    if not record.exc_info:
        return ""
    return _cut(without_secrets(formatter.formatException(record.exc_info)), 10 * LONGEST_TEXT)


class TextFormatter(logging.Formatter):
    """Lines for people: time, level, logger, context, message, and further fields as name=value."""

    BEFORE_MESSAGE = ("request_id", "job", "user")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and below it the indented lines of its traceback."""
        context = _context(record)
        words = [_time(record), record.levelname, record.name]
        words += [f"{name}={_quoted(context.pop(name))}" for name in self.BEFORE_MESSAGE if name in context]
        words.append(printable(_clean(record.getMessage())))
        words += [f"{name}={_quoted(value)}" for name, value in context.items()]
        line = " ".join(words)
        below = _traceback(self, record)
        # splitlines also splits at the separators of Unicode, which `printable` would otherwise show in escaped form.
        return "\n".join([line, *(f"{CONTINUED}{printable(each)}" for each in below.splitlines())])


_PLAIN = re.compile(r"[^\s\"=]+")


def _quoted(value: object) -> str:
    """Return a value of name=value, in quotes if it could be read as more than one."""
    text = str(value)
    if not _PLAIN.fullmatch(text):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        text = f'"{escaped}"'
    return printable(text)


def json_formatter() -> logging.Formatter:
    """Return the formatter of JSON lines, one object for each record."""
    # Imported here because commands and jobs seldom need it.
    from pythonjsonlogger.json import JsonFormatter

    class JsonLines(JsonFormatter):
        """JSON objects with the same fields as the text format."""

        def add_fields(
            self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
        ) -> None:
            """Set the fields of a record; a dict as message is not supported."""
            log_data.update(time=_time(record), level=record.levelname.lower(), logger=record.name)
            log_data.update(_context(record))
            # After the context, so that no field can replace the message.
            log_data["message"] = _clean(record.getMessage())
            log_data["process"] = record.process
            below = _traceback(self, record)
            if below:
                log_data["traceback"] = below

        def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
            """Return the line of a record, in ASCII without control characters."""
            # json.dumps escapes all control characters but DEL.
            return super().jsonify_log_record(log_data).replace("\x7f", "\\u007f")

    return JsonLines(json_ensure_ascii=True)


# ---- configuration ---------------------------------------------------------------------------------------------------


class StandardError(logging.StreamHandler[Any]):
    """The handler of the log. It writes to the current standard error, which tests and terminals may replace."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> IO[str]:
        """The stream to write to."""
        return sys.stderr


def configure(settings: Settings) -> None:
    """Configure the log of this process: of cfplan, of the web server and of all libraries."""
    global _secrets
    _secrets = tuple(sorted({*_secrets_of(settings), *_hidden}, key=len, reverse=True))
    handler = StandardError()
    handler.setFormatter(json_formatter() if settings.log_format is LogFormat.JSON else TextFormatter())
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if isinstance(each, StandardError)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    level = settings.log_level.upper()
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)


class FirstRecord(logging.Handler):
    """Configures the log when a command logs for the first time, because most commands never do."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(logging.WARNING)
        self._settings = settings

    def emit(self, record: logging.LogRecord) -> None:
        """Configure the log, and log the record."""
        configure(self._settings.model_copy(update={"log_level": LogLevel.WARNING}))
        logging.getLogger(record.name).handle(record)


def configure_for_command(settings: Settings) -> None:
    """Prepare the log of a command: its warnings and errors are logged in the format of the settings."""
    # Used only while the log is not configured.
    logging.lastResort = FirstRecord(settings)


def log_uncaught_errors() -> None:
    """Log warnings of Python, and errors that nothing catches in the main thread or another, as records."""
    logging.captureWarnings(capture=True)
    logger = logging.getLogger("cfplan.defects")

    def in_main(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
        else:
            logger.critical("The process ends with an unexpected error.", exc_info=(kind, error, trace))

    def in_thread(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_type is SystemExit or ended.exc_value is None:
            return
        name = ended.thread.name if ended.thread else "unknown"
        logger.error(
            "The thread %s ended with an unexpected error.", name,
            exc_info=(ended.exc_type, ended.exc_value, ended.exc_traceback),
        )  # fmt: skip

    sys.excepthook = in_main
    threading.excepthook = in_thread
