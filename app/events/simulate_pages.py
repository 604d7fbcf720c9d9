"""The page that simulates a timeline: its file, charts, event messages and switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response

from app.events.service import EXAMPLES, LARGEST_FILE_BYTES, starter_text, with_readings
from app.events.simulate_charts import chart_of
from app.texts.example_files import ExampleFile
from app.web.charts import Chart
from app.web.forms import FormField, read_posted
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.depth_events.course import START, Occurrence, QueueAfterStep, Simulation
from planner_core.depth_events.file import DepthEventFile
from planner_core.depth_events.model import READING_VALUES, SWITCHES
from planner_core.depth_events.simulate import simulate
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.sizing.depth_advice import DepthAssumption
from planner_core.wire import plain

router = Router(include_in_schema=False)

MOST_PARAMETER = 100
"""Maximum number of characters that are read from a parameter."""
MOST_ROWS, MOST_SHOWN_EVENTS, MOST_PROBLEMS = 400, 100, 20
"""Maximum numbers of steps, events and problems on the page; the command and REST return all of them."""
_READING_WORDS = {
    "disabled_detector": (
        "The detecting queue manager has PERFMEV(DISABLED)",
        {"silent": "no queue manager writes a message", "broadcast": "the others write messages"},
    ),
    "statistics_of_disabled": (
        "Counters of members with PERFMEV(DISABLED) at an event",
        {"reset": "are reset", "kept": "are kept"},
    ),
    "rounding": (
        "A High threshold that is not a whole number",
        {"exact": "is rounded up", "truncated": "is rounded down"},
    ),
}
_WHY = {
    "perfmev_disabled": "PERFMEV(DISABLED)",
    "not_active": "not active",
    "not_asked": "not requested",
}
_CAUSES = {
    "perfmev_disabled": "not reported, PERFMEV(DISABLED)",
    "not_active": "not reported, not active",
    "counters_reset": "lost in a reset of the counters",
    "counted_before": "counted before the last event",
    "counter_at_its_limit": "above the limit of the counter",
    "expired": "expired",
    "backed_out_puts": "puts backed out",
    "backed_out_gets": "gets backed out",
}
_ACTIONS = {
    START: "the timeline begins",
    "put": "puts {messages}",
    "rejected": "has {messages} puts rejected",
    "get": "gets {messages}",
    "expire": "finds {messages} expired",
    "backout_put": "backs out puts of {messages}",
    "backout_get": "backs out gets of {messages}",
    "alter_queue": "ALTER QLOCAL",
    "alter_qmgr": "ALTER QMGR PERFMEV",
    "start": "starts",
    "stop": "stops",
    "reset_qstats": "RESET QSTATS",
}

_PARTLY = {
    "put": "puts {took_effect} of {messages}, the others are rejected",
    "get": "gets {took_effect} of {messages}, then the queue is empty",
    "expire": "finds {took_effect} of {messages} expired, then the queue is empty",
}


@dataclass(frozen=True, slots=True)
class SimulationForm:
    """Values of the form."""

    text: str
    example: str
    readings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SimulatedQueueView:
    """A queue with its attributes and chart."""

    id: str
    name: str
    kind: str
    maxdepth: int
    qdepthhi: int
    qdepthlo: int
    chart: Chart


@dataclass(frozen=True, slots=True)
class OccurrenceRow:
    """An occurrence with its missing messages and the causes of any difference."""

    at: str
    occurrence: Occurrence
    missing: tuple[str, ...]
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineStepRow:
    """A step and the switches after it."""

    step: int
    at: str
    queue: str
    did: str
    depth: int
    switches: tuple[tuple[str, bool, bool], ...]
    """The name of each attribute, whether it is enabled, and whether this step changed it."""
    events: str


@dataclass(frozen=True, slots=True)
class SimulationView:
    """The answer, as the page shows it next to the form."""

    title: str
    messages: int
    occurrences: int
    silent: int
    nulls: int
    queues: tuple[SimulatedQueueView, ...]
    events: tuple[OccurrenceRow, ...]
    events_omitted: int
    turns: tuple[TimelineStepRow, ...]
    rows: tuple[TimelineStepRow, ...]
    rows_omitted: int
    assumptions: tuple[DepthAssumption, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class SimulateEventsPage(Page):
    """A timeline and its simulation."""

    sent: Annotated[SimulationForm, "Values of the form"]
    examples: Annotated[tuple[ExampleFile, ...], "Example timelines"]
    choices: Annotated[tuple[FormField, ...], "Interpretations that the form can set"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors; empty if there is an answer"]
    answer: Annotated[SimulationView | None, "The simulation"]


@router.get("/events/simulate")
def show(request: Request, example: str = "", queue: str = "") -> Response:
    """Show an example, or a timeline for the queue in the parameters."""
    parameters = {name: str(value)[:MOST_PARAMETER] for name, value in request.query_params.items()}
    if queue:
        return _page(request, SimulationForm(starter_text(parameters), "", {}))
    found = next((each for each in EXAMPLES if each.name == example), EXAMPLES[0])
    return _page(request, SimulationForm(found.text, found.name, {}))


async def _sent(request: Request) -> SimulationForm:
    form = await read_posted(
        request, largest_bytes=LARGEST_FILE_BYTES + 1, largest_file_bytes=LARGEST_FILE_BYTES
    )
    readings = {
        # An empty or unknown choice keeps the reading given in the file.
        name: form.value(name)
        for name, values in READING_VALUES.items()
        if form.value(name) in values
    }
    return SimulationForm(form.text, "", readings)


@router.post("/events/simulate")
def play(request: Request, sent: Annotated[SimulationForm, Depends(_sent)]) -> Response:
    """Simulate the posted timeline."""
    return _page(request, sent)


def _page(request: Request, sent: SimulationForm) -> Response:
    answer: SimulationView | None = None
    problems: tuple[FieldProblem, ...] = ()
    try:
        file = with_readings(sent.text.encode(), sent.readings)
        answer = answer_of(file, simulate(file))
    except InputInvalid as error:
        problems = error.problems[:MOST_PROBLEMS]
    page = SimulateEventsPage(
        title="Simulate depth events",
        section="events",
        sent=sent,
        examples=EXAMPLES,
        choices=tuple(_choices(sent)),
        problems=problems,
        answer=answer,
    )
    return render(request, "events/simulate.html", page, status_code=422 if problems else 200)


def _choices(sent: SimulationForm) -> list[FormField]:
    return [
        FormField(
            name,
            label,
            "choice",
            sent.readings.get(name, ""),
            options=(("", "as in the file"), *((value, words[value]) for value in READING_VALUES[name])),
        )
        for name, (label, words) in _READING_WORDS.items()
    ]


def answer_of(file: DepthEventFile, simulation: Simulation) -> SimulationView:
    """Return the view of a simulation."""
    rows = [_row(row) for row in simulation.switches]
    turning = [
        shown
        for row, shown in zip(simulation.switches, rows, strict=True)
        # Long timelines are mostly puts that change nothing: the page first shows the steps at which something switches.
        if row.action == START or row.changed or row.occurrences
    ]
    return SimulationView(
        title=file.title,
        messages=len(simulation.events),
        occurrences=len(simulation.occurrences),
        silent=sum(not each.written for each in simulation.occurrences),
        nulls=sum(each.is_null for each in simulation.events),
        queues=tuple(_queues(file, simulation)),
        events=tuple(_event(each) for each in simulation.occurrences[:MOST_SHOWN_EVENTS]),
        events_omitted=max(0, len(simulation.occurrences) - MOST_SHOWN_EVENTS),
        turns=tuple(turning[:MOST_ROWS]),
        rows=tuple(rows[:MOST_ROWS]),
        rows_omitted=max(0, len(rows) - MOST_ROWS),
        assumptions=simulation.assumptions,
        findings=simulation.findings,
    )


def _queues(file: DepthEventFile, simulation: Simulation) -> list[SimulatedQueueView]:
    members = [each.name for each in file.queue_managers]
    return [
        SimulatedQueueView(
            id=f"queue-{nth}",
            name=queue.name,
            kind="shared" if queue.is_shared else f"nonshared, on {queue.queue_manager}",
            maxdepth=queue.maxdepth,
            qdepthhi=queue.qdepthhi,
            qdepthlo=queue.qdepthlo,
            chart=chart_of(
                simulation, queue.name, members if queue.is_shared else [str(queue.queue_manager)]
            ),
        )
        for nth, queue in enumerate(file.queues)
    ]


def _event(occurrence: Occurrence) -> OccurrenceRow:
    causes = occurrence.reconciliation.causes if occurrence.reconciliation else ()
    return OccurrenceRow(
        at=_seconds(occurrence.at),
        occurrence=occurrence,
        missing=tuple(f"{each.queue_manager} ({_WHY[each.why]})" for each in occurrence.missing),
        causes=tuple(
            f"{each.messages:+d} {_CAUSES[each.cause]}{f' ({each.queue_manager})' if each.queue_manager else ''}".replace(
                "-", "\N{MINUS SIGN}"
            )
            for each in causes
        ),
    )


def _row(row: QueueAfterStep) -> TimelineStepRow:
    words = _ACTIONS[row.action].format(messages=row.messages)
    if row.took_effect is not None and row.took_effect != row.messages and row.action in _PARTLY:
        words = _PARTLY[row.action].format(messages=row.messages, took_effect=row.took_effect)
    who = (
        "all members: " if row.queue_manager == "*" else f"{row.queue_manager} " if row.queue_manager else ""
    )
    return TimelineStepRow(
        step=row.step,
        at=_seconds(row.at),
        queue=row.queue,
        did=f"{who}{words}",
        depth=row.depth,
        switches=tuple(
            (name.upper(), getattr(row, name) == "ENABLED", name.upper() in row.changed) for name in SWITCHES
        ),
        events=_numbers(row.events, row.occurrences),
    )


def _numbers(events: Sequence[int], occurrences: Sequence[int]) -> str:
    if not events:
        return "no message" if occurrences else ""
    return f"{events[0]}" if len(events) == 1 else f"{events[0]} to {events[-1]}"


def _seconds(at: Fraction) -> str:
    return f"{plain(at)}"
