"""Requests and forms with files of event messages."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.texts.documents import parse_request
from app.texts.example_files import text_of
from planner_core.bounds import check_lines
from planner_core.depth_events.known import read_displayed
from planner_core.depth_events.readers import LARGEST_FILE_BYTES
from planner_core.depth_events.reading import WHAT, EventReading, read_all
from planner_core.depth_events.sets import (
    DEFAULT_WINDOW_S,
    MOST_MEMBERS,
    QUEUE_MANAGER_PATTERN,
    EventContext,
    QueueFacts,
)
from planner_core.document.problems import field_problems
from planner_core.document.types import Switch
from planner_core.errors import FieldProblem, InputInvalid, TextTooLong
from planner_core.names import QUEUE_PATTERN

MOST_FILES = 64
_LONGEST_FILE_NAME = 200
_PERFMEV: dict[str, Switch] = {"ENABLED": "ENABLED", "DISABLED": "DISABLED"}
_NAMES = re.compile(r"[,\s]+")
_PAIR = re.compile(rf"(?P<name>{QUEUE_MANAGER_PATTERN})\s*[=:(]\s*(?P<value>[A-Za-z0-9]+)\)?")
_DEPTH = re.compile(rf"(?P<name>{QUEUE_PATTERN})\s*=\s*(?P<depth>[0-9]{{1,9}})")
EXAMPLE_NAME = "three-members.json"
EXAMPLE_MEMBERS = "QM1, QM2, QM3"
EXAMPLE_DISPLAY = "QUEUE(APP.SHARED.Q1) QSGDISP(SHARED) MAXDEPTH(1000) QDEPTHHI(80) QDEPTHLO(20)"


class EventMessageFile(BaseModel):
    """A file of event messages: its text, or its bytes in base64."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[
        str, Field(min_length=1, max_length=_LONGEST_FILE_NAME, description="Name of the file in responses.")
    ] = "events"
    text: Annotated[
        str | None,
        Field(description="amqsevt, mq-event-display, amqsbcg, dmpmqmsg, or PCF in hexadecimal."),
    ] = None
    base64: Annotated[
        str | None, Field(description="The unchanged bytes of any file, such as binary PCF.")
    ] = None


class ReadRequest(EventContext):
    """Files of event messages, with attributes of their queues and queue managers."""

    files: Annotated[list[EventMessageFile], Field(min_length=1, max_length=MOST_FILES)]


def example_text() -> str:
    """Return the sample events of a group of three queue managers, one per line, as amqsevt writes them."""
    return text_of("event-messages", EXAMPLE_NAME)


def read_body(body: bytes) -> EventReading:
    """Read the event messages in the body of a request.

    Raises:
        InputInvalid: The body is not JSON, the request is not valid, or the files contain no events.
    """
    document = parse_request(body, WHAT)
    return read_request(document)


def read_request(document: Any) -> EventReading:  # noqa: ANN401 - any JSON value
    """Read the files of event messages in a parsed request."""
    try:
        request = ReadRequest.model_validate(document)
    except ValidationError as error:
        raise InputInvalid(
            WHAT, field_problems(error, document, model=ReadRequest, what="the request")
        ) from None
    return read_all([_file(at, file) for at, file in enumerate(request.files)], request)


def _file(at: int, file: EventMessageFile) -> tuple[str, bytes]:
    where = f"/files/{at}"
    if (file.text is None) == (file.base64 is None):
        raise InputInvalid(WHAT, (FieldProblem(where, "must have either `text` or `base64`"),))
    if file.text is not None:
        # JSON may contain lone surrogates, which UTF-8 cannot encode.
        data = file.text.encode("utf-8", errors="replace")
    else:
        try:
            data = base64.b64decode(file.base64 or "", validate=True)
        except (binascii.Error, ValueError):
            raise InputInvalid(WHAT, (FieldProblem(f"{where}/base64", "must be valid base64"),)) from None
    return file.name, checked(data, where)


def checked(data: bytes, where: str) -> bytes:
    """Return the bytes of a file, or raise InputInvalid if it is empty or too large."""
    # Blanks and zeros alone are padding of fixed-length records.
    if not data.strip(b"\0 \t\r\n"):
        raise InputInvalid(WHAT, (FieldProblem(where, "must not be empty"),))
    if len(data) > LARGEST_FILE_BYTES:
        raise InputInvalid(
            WHAT, (FieldProblem(where, f"must not be larger than {LARGEST_FILE_BYTES} bytes"),)
        )
    return data


def file_of(path: Path) -> tuple[str, bytes]:
    """Return the name and the bytes of a file named on the command line."""
    try:
        with path.open("rb") as file:
            return path.name, checked(file.read(LARGEST_FILE_BYTES + 1), str(path))
    except (OSError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputInvalid(WHAT, (FieldProblem(str(path), message),)) from None


_LONGEST_NAMES = 10_000
"""Maximum number of characters in a list of names; a list of all queue managers of a group is much shorter."""


def known_from_texts(
    *,
    members: str = "",
    perfmev: str = "",
    displays: Sequence[str] = (),
    typed: Sequence[str] = (),
    depths_before: Iterable[str] = (),
    window_s: int = DEFAULT_WINDOW_S,
) -> EventContext:
    """Return the context given by typed texts, such as QM1,QM2 or QM1=ENABLED or SQ1=0, and by DISPLAY output.

    Args:
        members: Names of queue managers.
        perfmev: PERFMEV by queue manager.
        displays: Output of DISPLAY commands.
        typed: Attributes of individual queues in the format of DISPLAY output; they override those of `displays`.
        depths_before: Depths by queue.
        window_s: Seconds within which messages without CorrelId are treated as one set.

    Raises:
        InputInvalid: A text cannot be read; every problem is listed with its field.
    """
    for name, text in (("members", members), ("perfmev", perfmev)):
        if len(text) > _LONGEST_NAMES:
            message = f"must not be longer than {_LONGEST_NAMES} characters: a group has at most {MOST_MEMBERS} queue managers"
            raise InputInvalid(WHAT, (FieldProblem(name, message),))
    problems: list[FieldProblem] = []
    names = [name for name in _NAMES.split(members.strip()) if name]
    problems += [
        FieldProblem("members", f"{name[:60]!a} is not the name of a queue manager")
        for name in names
        if not re.fullmatch(QUEUE_MANAGER_PATTERN, name)
    ]
    if len(names) > MOST_MEMBERS:
        problems.append(FieldProblem("members", f"a group has at most {MOST_MEMBERS} queue managers"))
    enabled = _perfmev(perfmev, problems)
    queues: dict[str, QueueFacts] = {}
    named: set[str] = set()
    for place, text in enumerate([*displays, *typed]):
        try:
            check_lines(text)
        except TextTooLong as error:
            problems.append(FieldProblem("display", str(error)))
            continue
        shown = read_displayed(text)
        if place >= len(displays):
            named.update(shown.queues)
        # Later texts take precedence, so that a typed attribute replaces that of a display.
        queues = {**queues, **shown.queues}
        # A typed PERFMEV takes precedence over a display.
        enabled = {**shown.perfmev, **enabled}
        problems += [
            FieldProblem("display", f"line {problem.line}: {problem.message}") for problem in shown.problems
        ]
        if not shown.queues and not shown.perfmev:
            problems.append(
                FieldProblem(
                    "display",
                    "must have attributes such as QUEUE(SQ1) MAXDEPTH(1000) or QMNAME(QM1) PERFMEV(ENABLED)",
                )
            )
    named.update(_depths(depths_before, queues, problems))
    if problems:
        raise InputInvalid(WHAT, tuple(problems))
    # Without validation: displays may have more queues and queue managers than a request, and other names.
    return EventContext.model_construct(
        members=list(dict.fromkeys(names)),
        perfmev=enabled,
        queues=queues,
        window_s=window_s,
        # A display lists all queues of a queue manager: those without events are not a finding, unlike queues that were
        # named.
        _displayed=frozenset(queues) - named,
    )


def _perfmev(text: str, problems: list[FieldProblem]) -> dict[str, Switch]:
    found: dict[str, Switch] = {}
    for part in (part for part in re.split(r"[,;\n]+", text) if part.strip()):
        pair = _PAIR.fullmatch(part.strip())
        value = _PERFMEV.get(pair["value"].upper()) if pair else None
        if pair is None or value is None:
            problems.append(
                FieldProblem(
                    "perfmev", f"{part.strip()[:60]!a} is not of the form QM1=ENABLED or QM1=DISABLED"
                )
            )
        else:
            found[pair["name"]] = value
    return found


def _depths(
    texts: Iterable[str], queues: dict[str, QueueFacts], problems: list[FieldProblem]
) -> Iterator[str]:
    """Add the depths to the queues, and yield the names of the queues that got one."""
    for text in texts:
        pair = _DEPTH.fullmatch(text.strip())
        if not pair:
            problems.append(
                FieldProblem("depth_before", f"{text[:60]!a} is not a queue with its depth, such as SQ1=0")
            )
            continue
        facts = queues.get(pair["name"], QueueFacts())
        queues[pair["name"]] = facts.model_copy(update={"depth_before": int(pair["depth"])})
        yield pair["name"]
