"""From files of event messages, and what people say beside them, to the answer of the reader."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.texts.example_files import text_of
from planner_core.bounds import check_lines
from planner_core.depth_events.file import MOST_MAXDEPTH
from planner_core.depth_events.known import read_displayed
from planner_core.depth_events.readers import LARGEST_FILE_BYTES
from planner_core.depth_events.reading import WHAT, EventReading, read_all
from planner_core.depth_events.sets import DEFAULT_WINDOW_S, EventContext, QueueFacts
from planner_core.document.problems import field_problems
from planner_core.document.reading import parse_json
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, TextTooLong
from planner_core.names import QUEUE_PATTERN

MOST_FILES = 64
MOST_MEMBERS = 32
MOST_QUEUES = 5_000
LONGEST_WINDOW_S = 3_600
_LONGEST_FILE_NAME = 200
_PERFMEV = {"ENABLED": True, "DISABLED": False}
_QUEUE_MANAGER = r"[A-Za-z0-9./_%$#@]{1,48}"
_NAMES = re.compile(r"[,\s]+")
_PAIR = re.compile(rf"(?P<name>{_QUEUE_MANAGER})\s*[=:(]\s*(?P<value>[A-Za-z0-9]+)\)?")
_DEPTH = re.compile(rf"(?P<name>{QUEUE_PATTERN})\s*=\s*(?P<depth>[0-9]{{1,9}})")
EXAMPLE_NAME = "three-members.json"
EXAMPLE_MEMBERS = "QM1, QM2, QM3"
EXAMPLE_DISPLAY = "QUEUE(APP.SHARED.Q1) QSGDISP(SHARED) MAXDEPTH(1000) QDEPTHHI(80) QDEPTHLO(20)"

QueueManagerText = Annotated[str, Field(pattern=f"^{_QUEUE_MANAGER}$")]
QueueText = Annotated[str, Field(pattern=rf"^{QUEUE_PATTERN}$")]
Depth = Annotated[int, Field(ge=0, le=MOST_MAXDEPTH)]
Percent = Annotated[int, Field(ge=0, le=100)]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FileRequest(_Closed):
    """A file of event messages: its text, or its bytes in base64."""

    name: Annotated[
        str, Field(min_length=1, max_length=_LONGEST_FILE_NAME, description="How answers call the file.")
    ] = "events"
    text: Annotated[
        str | None,
        Field(description="amqsevt, mq-event-display, amqsbcg, dmpmqmsg, or PCF in hexadecimal."),
    ] = None
    base64: Annotated[str | None, Field(description="Any file as it is, such as PCF in binary.")] = None


class QueueRequest(_Closed):
    """What is known of a queue, as DISPLAY QLOCAL shows it."""

    maxdepth: Depth | None = None
    qdepthhi: Percent | None = None
    qdepthlo: Percent | None = None
    qsgdisp: Literal["SHARED", "QMGR", "PRIVATE", "COPY"] | None = None
    depth_before: Annotated[
        Depth | None, Field(description="Messages on the queue when the counters of the first set began.")
    ] = None


class ReadRequest(_Closed):
    """Files of event messages, and what is known beside them."""

    files: Annotated[list[FileRequest], Field(min_length=1, max_length=MOST_FILES)]
    members: Annotated[
        list[QueueManagerText],
        Field(max_length=MOST_MEMBERS, description="Active queue managers of the group."),
    ] = []
    perfmev: Annotated[
        dict[QueueManagerText, Literal["ENABLED", "DISABLED"]],
        Field(max_length=MOST_MEMBERS, description="PERFMEV by queue manager."),
    ] = {}
    queues: Annotated[dict[QueueText, QueueRequest], Field(max_length=MOST_QUEUES)] = {}
    window_s: Annotated[
        int,
        Field(
            ge=0,
            le=LONGEST_WINDOW_S,
            description="Seconds within which messages without CorrelId are taken for one set.",
        ),
    ] = DEFAULT_WINDOW_S


def example_text() -> str:
    """Events of a group of three, as amqsevt writes them one a line."""
    return text_of("event-messages", EXAMPLE_NAME)


def read_body(body: bytes) -> EventReading:
    """Read the event messages in the body of a request.

    Raises:
        InputInvalid: Not JSON, not such a request, or files that hold no events.
    """
    try:
        document = parse_json(body)
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None
    return read_request(document)


def read_request(document: Any) -> EventReading:  # noqa: ANN401 - whatever JSON holds
    """Read what a request holds."""
    try:
        request = ReadRequest.model_validate(document)
    except ValidationError as error:
        raise InputInvalid(
            WHAT, field_problems(error, document, model=ReadRequest, what="the request")
        ) from None
    known = EventContext(
        members=tuple(dict.fromkeys(request.members)),
        perfmev={name: _PERFMEV[value] for name, value in request.perfmev.items()},
        queues={name: _facts(queue) for name, queue in request.queues.items()},
        window_s=request.window_s,
        named=frozenset(request.queues),
    )
    return read_all([_file(at, file) for at, file in enumerate(request.files)], known)


def _facts(queue: QueueRequest) -> QueueFacts:
    return QueueFacts(
        maxdepth=queue.maxdepth,
        qdepthhi=queue.qdepthhi,
        qdepthlo=queue.qdepthlo,
        is_shared=None if queue.qsgdisp is None else queue.qsgdisp == "SHARED",
        depth=queue.depth_before,
    )


def _file(at: int, file: FileRequest) -> tuple[str, bytes]:
    where = f"/files/{at}"
    if (file.text is None) == (file.base64 is None):
        raise InputInvalid(WHAT, (FieldProblem(where, "has either `text` or `base64`"),))
    if file.text is not None:
        data = file.text.encode("utf-8", errors="replace")
    else:
        try:
            data = base64.b64decode(file.base64 or "", validate=True)
        except (binascii.Error, ValueError):
            raise InputInvalid(WHAT, (FieldProblem(f"{where}/base64", "is no base64"),)) from None
    return file.name, checked(data, where)


def checked(data: bytes, where: str) -> bytes:
    """The bytes of a file, unless there are none or too many."""
    if not data.strip(b"\0 \t\r\n"):
        raise InputInvalid(WHAT, (FieldProblem(where, "is empty"),))
    if len(data) > LARGEST_FILE_BYTES:
        raise InputInvalid(WHAT, (FieldProblem(where, f"is larger than {LARGEST_FILE_BYTES} bytes"),))
    return data


def file_of(path: Path) -> tuple[str, bytes]:
    """A file of the command line."""
    try:
        with path.open("rb") as file:
            return path.name, checked(file.read(LARGEST_FILE_BYTES + 1), str(path))
    except (OSError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputInvalid(WHAT, (FieldProblem(str(path), message),)) from None


_LONGEST_NAMES = 10_000
"""Characters: many times what the names of all queue managers of a group take."""


def known_from_texts(
    *,
    members: str = "",
    perfmev: str = "",
    displays: Sequence[str] = (),
    typed: Sequence[str] = (),
    depths_before: Iterable[str] = (),
    window_s: int = DEFAULT_WINDOW_S,
) -> EventContext:
    """What people type: names with commas, QM1=ENABLED, DISPLAY output, SQ1=0.

    `typed` is such output about queues that are named one by one.

    Raises:
        InputInvalid: Something of it cannot be read; each with its place.
    """
    for name, text in (("members", members), ("perfmev", perfmev)):
        if len(text) > _LONGEST_NAMES:
            message = f"is longer than {_LONGEST_NAMES} characters: a group has at most {MOST_MEMBERS} queue managers"
            raise InputInvalid(WHAT, (FieldProblem(name, message),))
    problems: list[FieldProblem] = []
    names = [name for name in _NAMES.split(members.strip()) if name]
    problems += [
        FieldProblem("members", f"{name[:60]!a} is no name of a queue manager")
        for name in names
        if not re.fullmatch(_QUEUE_MANAGER, name)
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
        queues = {**queues, **shown.queues}
        enabled = {**shown.perfmev, **enabled}
        problems += [
            FieldProblem("display", f"line {problem.line}: {problem.message}") for problem in shown.problems
        ]
        if not shown.queues and not shown.perfmev:
            problems.append(
                FieldProblem(
                    "display",
                    "nothing like QUEUE(SQ1) MAXDEPTH(1000) or QMNAME(QM1) PERFMEV(ENABLED) is in it",
                )
            )
    named.update(_depths(depths_before, queues, problems))
    if problems:
        raise InputInvalid(WHAT, tuple(problems))
    return EventContext(tuple(dict.fromkeys(names)), enabled, queues, window_s, frozenset(named))


def _perfmev(text: str, problems: list[FieldProblem]) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for part in (part for part in re.split(r"[,;\n]+", text) if part.strip()):
        pair = _PAIR.fullmatch(part.strip())
        value = _PERFMEV.get(pair["value"].upper()) if pair else None
        if pair is None or value is None:
            problems.append(
                FieldProblem("perfmev", f"{part.strip()[:60]!a} is not such as QM1=ENABLED or QM1=DISABLED")
            )
        else:
            found[pair["name"]] = value
    return found


def _depths(
    texts: Iterable[str], queues: dict[str, QueueFacts], problems: list[FieldProblem]
) -> Iterator[str]:
    """Put the depths to the queues; the names of these."""
    for text in texts:
        pair = _DEPTH.fullmatch(text.strip())
        if not pair:
            problems.append(
                FieldProblem("depth_before", f"{text[:60]!a} is not a queue and its depth, such as SQ1=0")
            )
            continue
        facts = queues.get(pair["name"], QueueFacts())
        queues[pair["name"]] = QueueFacts(
            facts.maxdepth, facts.qdepthhi, facts.qdepthlo, facts.is_shared, int(pair["depth"])
        )
        yield pair["name"]
