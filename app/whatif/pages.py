"""The pages of the what-if questions, and the page that lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from app.database.session import SessionDep
from app.plans import service as plans
from app.plans.head import PlanHead, plan_head
from app.running.pages import QUESTIONS as RUNNING_QUESTIONS
from app.web.question_links import QuestionLink
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.whatif.asking import PlanSelection, asked_by_name
from app.whatif.questions import QUESTIONS

router = Router(include_in_schema=False)


QUEUES_AND_CLUSTERS: tuple[QuestionLink, ...] = (
    QuestionLink(
        "/events/simulate",
        "Simulate depth events",
        "Puts and gets over time on shared and other queues: the event messages, their queue managers, and the event "
        "switches after each step.",
        "how-to/simulating-depth-events",
        "cfplan events simulate FILE",
    ),
    QuestionLink(
        "/events/read",
        "Read depth events",
        "Event messages of all queue managers, combined into sets: missing ones and the reason, differing depths, and rates.",
        "how-to/reading-depth-events",
        "cfplan events read FILE",
    ),
    QuestionLink(
        "/cluster/decide",
        "A cluster's choice",
        "The queue instance that receives a message: each step with the eliminated candidates and the reason, and where two readings differ.",
        "how-to/cluster-decisions",
        "cfplan cluster decide FILE",
    ),
    QuestionLink(
        "/cluster/explain",
        "Why messages wait",
        "The reason why each message on the cluster transmission queue was not sent elsewhere, from pasted displays.",
        "how-to/why-not-reallocated",
        "cfplan cluster explain FILE --messages FILE",
    ),
    QuestionLink(
        "/cluster/load",
        "Cluster load on structures",
        "The message rate of each structure, normally and during a failure, and the size that it needs.",
        "how-to/cluster-load",
        "cfplan cluster load PLAN",
    ),
)


GROUPS = (("Running system", RUNNING_QUESTIONS), ("Queues and clusters", QUEUES_AND_CLUSTERS))


@dataclass(frozen=True, kw_only=True)
class WhatIfPage(Page):
    """The list of questions about a plan."""

    asked: Annotated[PlanSelection, "The chosen plan, and the other plans to choose from"]
    questions: Annotated[tuple[QuestionLink, ...], "Questions about a plan"]
    structures: Annotated[tuple[str, ...], "Application structures of the plan"]
    groups: Annotated[
        tuple[tuple[str, tuple[QuestionLink, ...]], ...], "Questions that need no plan, by subject"
    ]


@dataclass(frozen=True, kw_only=True)
class PlanWhatIfPage(Page):
    """The questions about a stored plan, as a tab of its pages."""

    head: Annotated[PlanHead, "The head of the page"]
    questions: Annotated[tuple[QuestionLink, ...], "Questions about a plan"]
    structures: Annotated[tuple[str, ...], "Application structures of the plan"]


@router.get("/plans/{name}/what-if")
def of_plan(request: Request, session: SessionDep, name: str) -> Response:
    """Show the questions about a stored plan."""
    stored = plans.get_plan(session, name)
    page = PlanWhatIfPage(
        title=f"What if: {name}",
        section="plans",
        head=plan_head(stored, "what-if"),
        questions=QUESTIONS,
        structures=tuple(each["name"] for each in stored.document_object["structures"]),
    )
    return render(request, "whatif/plan.html", page)


@router.get("/whatif/filling")
@router.get("/whatif/survival")
@router.get("/whatif/thresholds")
def of_structure(request: Request, session: SessionDep) -> Response:
    """Redirect to the question about the structure in the address, or about the first structure of the plan.

    Without a stored plan, redirect to the list of questions.
    """
    query = request.query_params
    asked, document = asked_by_name(session, query.get("plan", "")[:64])
    names = [each.name for each in document.structures] if document is not None and asked.name else []
    if not names:
        path = f"/whatif?{urlencode({'plan': asked.unknown or asked.name})}"
    else:
        wanted = query.get("structure", names[0])
        # A bookmark may name a structure that no longer exists; another one of the plan is more useful than an error.
        structure = wanted if wanted in names else names[0]
        ending = request.url.path.rpartition("/")[2]
        path = f"/plans/{asked.name}/versions/{asked.version}/structures/{structure}/{ending}"
    return RedirectResponse(root_path(request) + path, status_code=303)


@router.get("/whatif")
def contents(request: Request, session: SessionDep) -> Response:
    """Show the questions about a plan."""
    asked, document = asked_by_name(session, request.query_params.get("plan", "")[:64])
    structures = tuple(each.name for each in document.structures) if document is not None else ()
    page = WhatIfPage(
        title="What if",
        section="whatif",
        asked=asked,
        questions=QUESTIONS,
        structures=structures,
        groups=GROUPS,
    )
    return render(request, "whatif/contents.html", page, status_code=404 if asked.unknown else 200)
