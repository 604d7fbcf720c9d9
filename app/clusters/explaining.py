"""The explanation of waiting messages, from files, forms and requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn

from pydantic import Field, ValidationError

from app.texts import example_files
from app.texts.documents import parse_request
from planner_core.clusters.displays import read_displays
from planner_core.clusters.explain import WaitingExplanation, WaitingQuestion, explain
from planner_core.clusters.messages import Browse, instant, read_messages, read_rows
from planner_core.document.problems import field_problems
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.wire import JsonObject

LARGEST_FILE_BYTES = 32 * 2**20
WHAT = WaitingQuestion.what
_FOLDER = "waiting"
_MOST_TEXTS = 50
_MOST_PROBLEMS = 5


class ExplanationExample(NamedTuple):
    """An example of displays and a browse, in app/examples/waiting."""

    name: str
    title: str
    about: str
    displays_file: str
    messages_file: str

    @property
    def displays(self) -> str:
        """Return the text of the displays."""
        return example_files.text_of(_FOLDER, self.displays_file)

    @property
    def messages(self) -> str:
        """Return the text of the browse."""
        return example_files.text_of(_FOLDER, self.messages_file)


EXAMPLES = (
    ExplanationExample(
        "runmqsc",
        "Two channels are retrying",
        "runmqsc and amqsbcg: messages held by a rank, tied to a queue manager, or waiting for the next retry.",
        "displays.txt",
        "browse.txt",
    ),
    ExplanationExample(
        "zos",
        "A stopped channel in doubt",
        "CSQUTIL on z/OS and a browse as CSV: the channel is no longer retried, and one instance is PUT(DISABLED).",
        "displays-zos.txt",
        "browse-zos.csv",
    ),
)


class ExplainRequest(WaitingQuestion, extra="forbid", strict=True):
    """The displays of a sender, and a browse of its transmission queue."""

    displays: Annotated[
        str | list[str],
        Field(
            description="DISPLAY CLUSQMGR(*) ALL, QCLUSTER(*) ALL, CHSTATUS(*) ALL and QMGR of the sending queue manager, as "
            "one text or several, in the format of runmqsc, of the console or of CSQUTIL."
        ),
    ]
    messages: Annotated[
        str | list[JsonObject],
        Field(
            description="The browse: the text of a dump (amqsbcg), CSV or JSON lines; or a list of objects with message_id, "
            "channel or correlation_id, queue, queue_manager, put_at, accounting_token, bind, logical_order."
        ),
    ]


def answer(
    question: WaitingQuestion,
    *,
    displays: Sequence[tuple[str, str]],
    messages: str | list[JsonObject],
    messages_name: str = "messages",
) -> WaitingExplanation:
    """Explain the messages of a browse.

    Args:
        question: The order of eliminations, and facts that the texts do not contain.
        displays: Name and text of each display.
        messages: The browse.
        messages_name: The name under which problems in the browse are reported.

    Raises:
        InputInvalid: A time cannot be read, or the browse contains no messages.
    """
    failed_at = _time(question.failed_at, "/failed_at")
    browsed_at = _time(question.browsed_at, "/browsed_at")
    if failed_at and browsed_at and browsed_at < failed_at:
        _invalid("/browsed_at", "is before failed_at: the browse must be taken after the failure")
    browse = (
        read_messages(messages, name=messages_name)
        if isinstance(messages, str)
        else read_rows(messages, name=messages_name)
    )
    if not browse.messages:
        _invalid("/messages", _nothing(browse))
    return explain(
        read_displays(displays),
        browse,
        mode=question.mode,
        queue=question.queue.strip(),
        failed_at=failed_at,
        browsed_at=browsed_at,
    )


def _nothing(browse: Browse) -> str:
    problems = [f"line {each.line}: {each.message}" for each in browse.problems[:_MOST_PROBLEMS]]
    return "; ".join(["contains no messages", *problems])


def _time(text: str, field: str) -> datetime | None:
    if not text.strip():
        return None
    made = instant(text)
    if made is None:
        _invalid(field, f"{text[:40]!r} is not a time such as 2026-11-21T12:03:20Z")
    return made


def read_text(path: Path) -> str:
    """Return the text of a file, decoded as UTF-8, or as Latin-1 if that fails.

    Raises:
        InputInvalid: The file cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _invalid("", f"the file {str(path)!r} cannot be read: {reason}")
    if len(data) > LARGEST_FILE_BYTES:
        _invalid("", f"the file {str(path)!r} is larger than {LARGEST_FILE_BYTES} bytes")
    return text_of(data)


def text_of(data: bytes) -> str:
    """Return bytes decoded as UTF-8, or as Latin-1 if that fails."""
    # Displays come in the code page of their system. Latin-1 accepts every byte, and MQ names are ASCII characters.
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _invalid(field: str, message: str) -> NoReturn:
    raise InputInvalid(WHAT, (FieldProblem(field, message),)) from None


def explain_body(body: bytes) -> WaitingExplanation:
    """Explain the messages of a request.

    Raises:
        InputInvalid: The body is not JSON, or not a valid request.
    """
    parsed = parse_request(body, WHAT)
    try:
        request = ExplainRequest.model_validate(parsed)
    except ValidationError as error:
        raise InputInvalid(
            WHAT, field_problems(error, parsed, model=ExplainRequest, what="the question")
        ) from None
    texts = [request.displays] if isinstance(request.displays, str) else request.displays
    if len(texts) > _MOST_TEXTS:
        _invalid("/displays", f"has more than {_MOST_TEXTS} texts: combine some of them")
    # Problems are reported under these names.
    displays = [(f"displays[{at}]" if len(texts) > 1 else "displays", text) for at, text in enumerate(texts)]
    return answer(request, displays=displays, messages=request.messages)


def example_request(example: ExplanationExample) -> Mapping[str, str]:
    """Return an example as the body of a request."""
    return {"displays": example.displays, "messages": example.messages}
