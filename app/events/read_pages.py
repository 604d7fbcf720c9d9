"""The page that reads event messages: sets, charts of the depth, and missing messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response

from app.events.read_charts import chart_of
from app.events.reading import (
    EXAMPLE_DISPLAY,
    EXAMPLE_MEMBERS,
    EXAMPLE_NAME,
    MOST_FILES,
    checked,
    example_text,
    known_from_texts,
)
from app.web.charts import Chart
from app.web.field_values import value_of
from app.web.forms import read_posted
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.depth_events.readers import FORMATS, EventFile, EventMessage
from planner_core.depth_events.reading import WHAT, EventReading, read_all
from planner_core.depth_events.sets import DEFAULT_WINDOW_S, LONGEST_WINDOW_S, EventSet, QueueFacts
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.sizing.depth_advice import DepthAssumption

router = Router(include_in_schema=False)

EXAMPLE = "three-members"
MOST_PROBLEMS, MOST_SETS, MOST_QUEUES = 20, 100, 12
"""Maximum numbers of problems, sets and queues on the page; the command and REST return all of them."""
_LARGEST_PART_BYTES = 32 * 2**20
_TEXTS = ("members", "perfmev", "display", "depth_before", "window")
_MOST_SHOWN_FILE_NAME = 80
_LABELS = {
    "members": "Members",
    "perfmev": "PERFMEV",
    "display": "Attributes",
    "depth_before": "Depth before the first set",
    "window": "Seconds",
}
BY_WORDS = {"correl_id": "by CorrelId", "time": "by time", "order": "by order"}


@dataclass(frozen=True, slots=True)
class EventFilesForm:
    """Values of the form, except files, which a browser does not show again."""

    text: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    files: tuple[tuple[str, bytes], ...] = ()
    is_example: bool = False

    def value(self, name: str) -> str:
        """Return the text of a field."""
        return self.typed.get(name, str(DEFAULT_WINDOW_S) if name == "window" else "")


@dataclass(frozen=True, slots=True)
class QueueDepthView:
    """A queue with its chart."""

    id: str
    name: str
    kind: str
    attributes: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class EventSetRow:
    """An event set, with its time and its grouping as texts for the page."""

    id: str
    found: EventSet
    when: str
    by: str


@dataclass(frozen=True, slots=True)
class EventFilesView:
    """The answer, as the page shows it next to the form."""

    files: tuple[tuple[EventFile, str], ...]
    """Each file that was read, with its format in words."""
    messages: int
    repeats: int
    others: int
    set_count: int
    missing: int
    nulls: int
    unreconciled: int
    queues: tuple[QueueDepthView, ...]
    queues_omitted: int
    sets: tuple[EventSetRow, ...]
    sets_omitted: int
    service_interval: tuple[EventMessage, ...]
    assumptions: tuple[DepthAssumption, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class ReadEventsPage(Page):
    """The form for event messages, and the answer."""

    sent: Annotated[EventFilesForm, "Values of the form"]
    formats: Annotated[tuple[str, ...], "Titles of the supported formats"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors with their fields"]
    wrong: Annotated[frozenset[str], "Names of the fields with errors"]
    answer: Annotated[
        EventFilesView | None, "The answer; None before the first request or if there are errors"
    ]


@router.get("/events/read")
def show(request: Request) -> Response:
    """Show the empty form, or the example with its answer."""
    if request.query_params.get("example") != EXAMPLE:
        return _page(request, EventFilesForm())
    typed = {"members": EXAMPLE_MEMBERS, "display": EXAMPLE_DISPLAY}
    return _page(request, EventFilesForm(example_text(), typed, is_example=True))


async def _sent(request: Request) -> EventFilesForm:
    form = await read_posted(request, largest_bytes=_LARGEST_PART_BYTES, most_files=MOST_FILES)
    files = tuple((each.name[-_MOST_SHOWN_FILE_NAME:], each.data) for each in form.files)
    texts = {name: form.value(name) for name in _TEXTS}
    # Browsers send CRLF; offsets and line numbers in problems count the lines that the user pasted.
    return EventFilesForm(form.value("text").replace("\r\n", "\n"), texts, files)


@router.post("/events/read")
def read(request: Request, sent: Annotated[EventFilesForm, Depends(_sent)]) -> Response:
    """Read the posted messages."""
    return _page(request, sent, is_asked=True)


def _page(request: Request, sent: EventFilesForm, *, is_asked: bool = False) -> Response:
    answer: EventFilesView | None = None
    problems: tuple[FieldProblem, ...] = ()
    if is_asked or sent.is_example:
        try:
            answer = answer_of(_reading(sent))
        except InputInvalid as error:
            problems = error.problems[:MOST_PROBLEMS]
    page = ReadEventsPage(
        title="Read depth events",
        section="events",
        sent=sent,
        formats=tuple(words for name, words in FORMATS.items() if name not in {"unknown", "pcf_with_mqmd"}),
        problems=tuple(FieldProblem(_label(each.field), each.message) for each in problems),
        wrong=frozenset(each.field for each in problems if each.field in _LABELS),
        answer=answer,
    )
    return render(request, "events/read.html", page, status_code=422 if problems else 200)


def _label(field: str) -> str:
    """Return the label of a field or the name of a file; empty if the message already names the place."""
    return _LABELS.get(field, "" if field.startswith("/") or field == "files" else field)


def _reading(sent: EventFilesForm) -> EventReading:
    known = known_from_texts(
        members=sent.value("members"),
        perfmev=sent.value("perfmev"),
        displays=[text] if (text := sent.value("display")).strip() else [],
        depths_before=[
            part for part in sent.value("depth_before").replace(",", "\n").split("\n") if part.strip()
        ],
        window_s=_window(sent.value("window")),
    )
    files = [(name, checked(data, name)) for name, data in sent.files]
    if sent.text.strip():
        files.append((EXAMPLE_NAME if sent.is_example else "the text", sent.text.encode()))
    if not files:
        raise InputInvalid(WHAT, (FieldProblem("files", "Paste the text of events, or choose files."),))
    return read_all(files, known)


def _window(text: str) -> int:
    plain = text.strip() or str(DEFAULT_WINDOW_S)
    seconds = value_of("whole", plain)
    if not isinstance(seconds, int) or not 0 <= seconds <= LONGEST_WINDOW_S:
        message = f"{plain[:20]!a} is not a number of seconds from 0 to {LONGEST_WINDOW_S}"
        raise InputInvalid(WHAT, (FieldProblem("window", message),))
    return seconds


def answer_of(reading: EventReading) -> EventFilesView:
    """Return the view of an answer."""
    queues = list(dict.fromkeys(each.queue for each in reading.sets))
    return EventFilesView(
        files=tuple((each, FORMATS[each.format]) for each in reading.files),
        messages=len(reading.events),
        repeats=reading.repeats,
        others=sum(each.other_events for each in reading.files),
        set_count=len(reading.sets),
        missing=sum(len(each.missing) for each in reading.sets),
        nulls=sum(len(each.null_events) for each in reading.sets),
        unreconciled=sum(bool(each.reconciliation.unreconciled) for each in reading.sets),
        queues=tuple(_queue(nth, name, reading) for nth, name in enumerate(queues[:MOST_QUEUES])),
        queues_omitted=max(0, len(queues) - MOST_QUEUES),
        sets=tuple(_set(each) for each in reading.sets[:MOST_SETS]),
        sets_omitted=max(0, len(reading.sets) - MOST_SETS),
        service_interval=reading.service_interval_events[:MOST_SETS],
        assumptions=reading.assumptions,
        findings=reading.findings,
    )


def _queue(nth: int, name: str, reading: EventReading) -> QueueDepthView:
    sets = [each for each in reading.sets if each.queue == name]
    facts = reading.known.queues.get(name, QueueFacts())
    return QueueDepthView(
        id=f"queue-{nth}",
        name=name,
        kind=_kind(sets),
        attributes=", ".join(
            f"{keyword} {value}"
            for keyword, value in (
                ("MAXDEPTH", facts.maxdepth),
                ("QDEPTHHI", None if facts.qdepthhi is None else f"{facts.qdepthhi} %"),
                ("QDEPTHLO", None if facts.qdepthlo is None else f"{facts.qdepthlo} %"),
            )
            if value is not None
        ),
        chart=chart_of(nth, name, sets, facts),
    )


def _kind(sets: Sequence[EventSet]) -> str:
    shared = {each.shared for each in sets}
    return "shared" if True in shared else "not shared" if shared == {False} else "not known whether shared"


def _set(each: EventSet) -> EventSetRow:
    when = "" if each.at is None else f"{each.at:%Y-%m-%d %H:%M:%S}{' local' if each.is_at_local else ''}"
    return EventSetRow(f"set-{each.number}", each, when, BY_WORDS[each.grouped_by])
