"""The pages of the what-if questions, and the page that leads to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from app.database.session import SessionDep
from app.running.pages import QUESTIONS as RUNNING_QUESTIONS
from app.web.rendering import Page, render, root_path
from app.whatif.asking import PlanSelection, asked_by_name

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class WhatIfQuestion:
    """A question, the page that answers it, and the page that explains it.

    The path of a question about one structure is the end of the structure's address.
    """

    path: str
    title: str
    about: str
    docs: str
    command: str
    is_of_structure: bool = False


QUESTIONS: tuple[WhatIfQuestion, ...] = (
    WhatIfQuestion(
        "/whatif/cf-loss",
        "Losing a coupling facility",
        "Where XCF places each structure and by which rule, what moves where when a coupling facility or a site is gone, what "
        "finds no place, what is lost, and the white space to keep.",
        "how-to/losing-a-cf",
        "cfplan whatif cf-loss PLAN",
    ),
    WhatIfQuestion(
        "/whatif/upgrade",
        "Upgrades and growth",
        "A higher CFCC level, more queue managers, years of growth: every structure before and after, with the statements.",
        "how-to/upgrades-and-growth",
        "cfplan whatif upgrade PLAN",
    ),
    WhatIfQuestion(
        "/whatif/recovery",
        "Backup and recovery",
        "What a backup of each structure writes, the log between two, how long recovery takes at your log rate, and how often to "
        "back up.",
        "how-to/backup-and-recovery",
        "cfplan whatif recovery PLAN",
    ),
    WhatIfQuestion(
        "/whatif/smds",
        "SMDS job",
        "IDCAMS and CSQJUFMT statements for every shared message data set, queue manager by queue manager, with DSGROUP checked.",
        "how-to/smds-job",
        "cfplan whatif smds-job PLAN",
    ),
    WhatIfQuestion(
        "filling",
        "Filling up",
        "One outage over time: both pools of a structure, offload rules, thresholds, the moment of 2192.",
        "how-to/filling-up",
        "cfplan whatif filling PLAN --structure S",
        is_of_structure=True,
    ),
    WhatIfQuestion(
        "thresholds",
        "Offload thresholds",
        "Three offload rules that leave normal running alone, keep a cushion and hold the backlog.",
        "how-to/choosing-thresholds",
        "cfplan whatif thresholds PLAN --structure S",
        is_of_structure=True,
    ),
)


QUEUES_AND_CLUSTERS: tuple[WhatIfQuestion, ...] = (
    WhatIfQuestion(
        "/events/simulate",
        "Depth events, simulated",
        "Puts and gets in time on shared and other queues: which event messages there are, who writes them, and how the "
        "switches stand after each step.",
        "how-to/simulating-depth-events",
        "cfplan events simulate FILE",
    ),
    WhatIfQuestion(
        "/events/read",
        "Depth events, read",
        "What queue managers wrote, brought together to sets: who is missing and why, depths that agree or do not, rates.",
        "how-to/reading-depth-events",
        "cfplan events read FILE",
    ),
    WhatIfQuestion(
        "/cluster/decide",
        "A cluster's choice",
        "To which instance of a queue a message goes: each elimination, who went out and why, and where two readings differ.",
        "how-to/cluster-decisions",
        "cfplan cluster decide FILE",
    ),
    WhatIfQuestion(
        "/cluster/explain",
        "Why messages wait",
        "Messages on the cluster transmission queue that were not sent elsewhere: each with its reason, from pasted displays.",
        "how-to/why-not-reallocated",
        "cfplan cluster explain FILE --messages FILE",
    ),
    WhatIfQuestion(
        "/cluster/load",
        "What clusters put on structures",
        "The rate that each structure gets, normally and while something fails, and the size that survives it.",
        "how-to/cluster-load",
        "cfplan cluster load PLAN",
    ),
)


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """Questions that need no stored plan, under one heading."""

    title: str
    questions: tuple[WhatIfQuestion, ...]


GROUPS = (
    QuestionGroup(
        "What runs today",
        tuple(
            WhatIfQuestion(each.path, each.title, each.about, each.docs, each.command)
            for each in RUNNING_QUESTIONS
        ),
    ),
    QuestionGroup("Queues and clusters", QUEUES_AND_CLUSTERS),
)


@dataclass(frozen=True, kw_only=True)
class WhatIfPage(Page):
    """The questions."""

    asked: Annotated[PlanSelection, "The plan that is asked about, and others that could be"]
    questions: Annotated[tuple[WhatIfQuestion, ...], "What can be asked"]
    structures: Annotated[tuple[str, ...], "Application structures of the plan"]
    groups: Annotated[tuple[QuestionGroup, ...], "What can be asked without a plan, by subject"]


@router.get("/whatif/filling")
@router.get("/whatif/thresholds")
def of_structure(request: Request, session: SessionDep) -> Response:
    """A question about one structure: the page of the one that the address names, or of the plan's first.

    Without a stored plan, the questions.
    """
    query = request.query_params
    asked, document = asked_by_name(session, query.get("plan", "")[:64])
    names = [each.name for each in document.structures] if document is not None and asked.name else []
    if not names:
        path = f"/whatif?{urlencode({'plan': asked.unknown or asked.name})}"
    else:
        wanted = query.get("structure", names[0])
        structure = wanted if wanted in names else names[0]
        ending = request.url.path.rpartition("/")[2]
        path = f"/plans/{asked.name}/versions/{asked.version}/structures/{structure}/{ending}"
    return RedirectResponse(root_path(request) + path, status_code=303)


@router.get("/whatif")
def contents(request: Request, session: SessionDep) -> Response:
    """What can be asked of a plan."""
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
