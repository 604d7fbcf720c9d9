"""The page of a decision: the input, the eliminations of each step, and the destinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response

from app.clusters.service import EXAMPLES, LARGEST_FILE_BYTES, decide_text
from app.clusters.steps_chart import MOST_LANES, steps_chart
from app.texts.example_files import ExampleFile
from app.web.chart_svg import ChartLayout
from app.web.charts import Origin, SavedPicture
from app.web.forms import read_posted
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.clusters.advice import MODE_NAMES
from planner_core.clusters.answer import ChosenDestination, DecisionAnswer
from planner_core.clusters.decide import DecisionStep, Elimination
from planner_core.clusters.model import MODES, Destination, DroppedCandidate, Mode
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.provenance import Assumption

router = Router(include_in_schema=False)

PATH = "/cluster/decide"
MOST_PROBLEMS, MOST_SHOWN = 20, 200


@dataclass(frozen=True, slots=True)
class DecisionForm:
    """The values of the form."""

    text: str
    mode: Mode
    example: str


@dataclass(frozen=True, slots=True)
class DecisionView:
    """The answer, arranged for the page."""

    summary: str
    queue: str
    chosen: str
    deciding: str
    other_mode: str
    other: str
    differs: bool
    chart: tuple[ChartLayout, ...]
    picture: SavedPicture
    lanes_omitted: int
    steps: tuple[tuple[DecisionStep, tuple[Elimination, ...], str], ...]
    """Each step with the first candidates that it eliminates, and the names of the candidates that remain after it."""
    steps_omitted: int
    destinations: tuple[ChosenDestination, ...]
    puts: int
    dropped: tuple[DroppedCandidate, ...]
    message: str
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class DecidePage(Page):
    """The input of a decision, and its answer."""

    sent: Annotated[DecisionForm, "The input of the form"]
    examples: Annotated[tuple[ExampleFile, ...], "Example files"]
    modes: Annotated[tuple[tuple[Mode, str], ...], "The two orders of elimination"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors in the input; empty if there is an answer"]
    shown: Annotated[DecisionView | None, "The answer; None if there are errors"]


@router.get(PATH)
def show(request: Request, example: str = "", mode: str = "seed") -> Response:
    """Show an example with its answer."""
    found = next((each for each in EXAMPLES if each.name == example), EXAMPLES[0])
    return _page(request, DecisionForm(found.text, _mode(mode), found.name))


async def _sent(request: Request) -> DecisionForm:
    form = await read_posted(
        # The extra byte lets a longer text reach the reader, which refuses it with its own message.
        request,
        largest_bytes=LARGEST_FILE_BYTES + 1,
        largest_file_bytes=LARGEST_FILE_BYTES,
    )
    return DecisionForm(form.text, _mode(form.value("mode")), "")


@router.post(PATH)
def choose(request: Request, sent: Annotated[DecisionForm, Depends(_sent)]) -> Response:
    """Make the decision for the posted input and show the result."""
    return _page(request, sent)


def _mode(text: str) -> Mode:
    # An unknown mode in a bookmark gets the default order; REST refuses it.
    return "ibm" if text == "ibm" else "seed"


def _page(request: Request, sent: DecisionForm) -> Response:
    answer: DecisionView | None = None
    problems: tuple[FieldProblem, ...] = ()
    try:
        answer = decision_view(decide_text(sent.text.encode(), mode=sent.mode))
    except InputInvalid as error:
        problems = error.problems[:MOST_PROBLEMS]
    page = DecidePage(
        title="Where does a cluster message go?",
        section="cluster",
        sent=sent,
        examples=EXAMPLES,
        modes=tuple(MODES.items()),
        problems=problems,
        shown=answer,
    )
    return render(request, "clusters/decide.html", page, status_code=422 if problems else 200)


def decision_view(found: DecisionAnswer) -> DecisionView:
    """Return the answer, arranged for the page."""
    left = _names(found.chosen) or "none: the put fails"
    queue = found.queue or "the queue"
    deciding = found.decision.deciding
    return DecisionView(
        summary=f"Messages for {queue} go to {left}."
        if found.chosen
        else f"A put to {queue} fails because no destination remains.",
        queue=queue,
        chosen=left,
        deciding=f"by step {deciding.step}, {deciding.attribute}" if deciding else "all candidates are equal",
        other_mode=MODE_NAMES[found.other_mode.mode],
        other=_names(found.other_mode.chosen) or "none: the put fails",
        differs=any(item.code == "CLUSTER_MODES_DIFFER" for item in found.findings),
        chart=steps_chart(found),
        picture=SavedPicture(
            f"Destinations of messages for {queue}, step by step",
            Origin(queue, "", f"the workload algorithm, {MODES[found.mode]}, calculated by cfplan"),
        ),
        lanes_omitted=max(0, len(found.candidates) - MOST_LANES),
        steps=tuple(_step(step) for step in found.steps),
        steps_omitted=max((len(step.eliminated) for step in found.steps), default=0) - MOST_SHOWN,
        destinations=found.destinations[:MOST_SHOWN],
        puts=sum(each.puts for each in found.destinations),
        dropped=found.dropped[:MOST_SHOWN],
        message=found.message.sentence if found.message else "",
        assumptions=found.assumptions,
        findings=found.findings,
    )


def _names(queue_managers: tuple[str, ...]) -> str:
    more = len(queue_managers) - MOST_SHOWN
    return ", ".join(queue_managers[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _step(step: DecisionStep) -> tuple[DecisionStep, tuple[Elimination, ...], str]:
    left = ""
    if step.reached:
        # A step that eliminates nothing keeps what earlier steps left, which is not all candidates.
        more = len(step.kept) - MOST_SHOWN
        kept = ", ".join(Destination.of(each).label for each in step.kept[:MOST_SHOWN]) or "none"
        left = f"{kept} and {more} more" if more > 0 else kept
    return step, step.eliminated[:MOST_SHOWN], left
