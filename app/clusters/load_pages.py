"""The page that shows the load of clusters on structures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response

from app.clusters.load_view import MOST_CHOSEN, ClusterLoadView, clusters_shown
from app.clusters.service import load_answer
from app.fits.kept import curves_in
from app.plans.finding_groups import FindingView, findings_shown
from app.texts.documents import CLUSTERED, LARGEST_FILE_BYTES, example_text, read_text
from app.web.forms import read_posted
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.errors import DocumentInvalid, FieldProblem, PlanRefused

router = Router(include_in_schema=False)

PATH = "/cluster/load"
MOST_PROBLEMS = 20
LARGEST_SHOWN = 200_000
"""Maximum length of a document that is shown in its field again; a longer one would delay the page by seconds."""


@dataclass(frozen=True, slots=True)
class LoadForm:
    """The values of the form."""

    text: str
    chosen: str
    is_example: bool


@dataclass(frozen=True, kw_only=True)
class LoadPage(Page):
    """A plan, and the load of its clusters on its structures."""

    sent: Annotated[LoadForm, "The input of the form"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors in the plan; empty if there is an answer"]
    qsg: Annotated[str, "Name of the group; empty if there is no answer"]
    clusters: Annotated[ClusterLoadView | None, "The answer; None if there are errors"]
    findings: Annotated[tuple[FindingView, ...], "Findings about the clusters"]


@router.get(PATH)
def show(request: Request) -> Response:
    """Show the example."""
    return _page(request, LoadForm(example_text(CLUSTERED), "", is_example=True))


async def _sent(request: Request) -> LoadForm:
    form = await read_posted(
        request, largest_bytes=LARGEST_FILE_BYTES + 1, largest_file_bytes=LARGEST_FILE_BYTES
    )
    return LoadForm(form.text, form.value("fail")[:MOST_CHOSEN], is_example=False)


@router.post(PATH)
def calculate(request: Request, sent: Annotated[LoadForm, Depends(_sent)]) -> Response:
    """Calculate the load for the plan in the form."""
    return _page(request, sent)


def _page(request: Request, sent: LoadForm) -> Response:
    clusters: ClusterLoadView | None = None
    found: tuple[FindingView, ...] = ()
    problems: tuple[FieldProblem, ...] = ()
    qsg = ""
    try:
        answer = load_answer(read_text(sent.text.encode()), curves_in(request.app.state.database))
        clusters, qsg = clusters_shown(answer, chosen=sent.chosen), answer.qsg
        found = findings_shown(answer.findings, label_of=_in_the_plan)
    except DocumentInvalid as error:
        problems = error.problems[:MOST_PROBLEMS]
    except PlanRefused as error:
        problems = tuple(FieldProblem(item.field or "", item.message) for item in error.findings)
    page = LoadPage(
        title="Load of clusters on structures",
        section="cluster",
        sent=sent if len(sent.text) <= LARGEST_SHOWN else LoadForm("", sent.chosen, sent.is_example),
        problems=problems,
        qsg=qsg,
        clusters=clusters,
        findings=found,
    )
    return render(request, "clusters/load.html", page, status_code=422 if problems else 200)


def _in_the_plan(pointer: str) -> str:
    return pointer
