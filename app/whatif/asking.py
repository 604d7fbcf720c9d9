"""The plan of a what-if page: a stored one, a submitted one, or the example.

If plans are stored, the planner chooses one; the example is used only if the address names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.plans import service
from app.plans.stored import EXAMPLE_CHOICE
from app.texts.documents import LARGEST_FILE_BYTES, example_text, read_text
from app.web.forms import PostedForm, read_posted
from planner_core.document.model import PlanDocument
from planner_core.errors import DocumentInvalid, FieldProblem, PlannerError, PlanRefused

MOST_PROBLEMS = 20
Answer = TypeVar("Answer")
PlanPage = Callable[["Request", "PlanSelection", PlanDocument | None, Mapping[str, str]], Response]
"""A function that renders the page of a question from the plan and the values of its fields."""


@dataclass(frozen=True, slots=True)
class PlanSelection:
    """The plan of a page, and the plans to choose from."""

    stored: tuple[str, ...]
    name: str
    text: str
    is_example: bool
    unknown: str
    problems: tuple[FieldProblem, ...]
    version: int = 0
    """The latest version of a stored plan."""

    @property
    def is_sent(self) -> bool:
        """Whether the page is about a plan document that was sent with the form."""
        return bool(self.text) and not self.is_example

    @property
    def is_open(self) -> bool:
        """Whether no plan has been chosen yet."""
        return not (self.name or self.text or self.is_example or self.unknown or self.problems)

    @property
    def choice(self) -> str:
        """The plan name in an address that asks about the same plan; empty for a submitted one."""
        return self.name or (EXAMPLE_CHOICE if self.is_example and self.stored else "")

    @property
    def origin(self) -> str:
        """The name of the plan on the page."""
        if self.name:
            return f"the plan {self.name}"
        if self.is_open:
            return "the plan that you choose"
        return "the example plan" if self.is_example else "the plan that you sent"


async def sent_form(request: Request) -> PostedForm:
    """Read the form of a what-if page."""
    return await read_posted(
        # The extra byte lets a longer text reach the reader of documents, which refuses it with its own message.
        request,
        largest_bytes=LARGEST_FILE_BYTES + 1,
        largest_file_bytes=LARGEST_FILE_BYTES,
    )


SentDep = Annotated[PostedForm, Depends(sent_form)]


def asked_by_name(session: Session, name: str) -> tuple[PlanSelection, PlanDocument | None]:
    """Return the plan that a page uses: the stored one with this name, the example, or none yet.

    The example is used if it is requested, or if nothing is stored.
    """
    stored = service.plan_names(session)
    if not name and stored:
        return PlanSelection(stored, "", "", False, "", ()), None
    if name in ("", EXAMPLE_CHOICE):
        text = example_text()
        return PlanSelection(stored, "", text, True, "", ()), read_text(text.encode())
    try:
        latest = service.get_plan(session, name)
    except service.PlanNotFound:
        # If the example replaced an unknown plan, its answer would be mistaken for that of the plan.
        return PlanSelection(stored, "", "", False, name[:64], ()), None
    return PlanSelection(stored, name, "", False, "", (), latest.number), latest.document


def asked_by_text(session: Session, sent: PostedForm) -> tuple[PlanSelection, PlanDocument | None]:
    """Return the submitted plan."""
    stored = service.plan_names(session)
    try:
        document = read_text(sent.text.encode())
    except DocumentInvalid as error:
        return PlanSelection(stored, "", sent.text, False, "", error.problems[:MOST_PROBLEMS]), None
    return PlanSelection(stored, "", sent.text, False, "", ()), document


def add_page(router: APIRouter, path: str, page: PlanPage) -> None:
    """Add a page that answers for the plan in the address, and for a submitted plan document.

    Without a stored plan, the address shows the form or the answer for the example.
    """

    @router.get(path)
    def show(request: Request, session: SessionDep) -> Response:
        query = request.query_params
        asked, document = asked_by_name(session, query.get("plan", "")[:64])
        return page(request, asked, document, query)

    @router.post(path)
    def ask(request: Request, session: SessionDep, sent: SentDep) -> Response:
        asked, document = asked_by_text(session, sent)
        return page(request, asked, document, sent.last)


def documents_of(session: Session, names: Sequence[str], *, but: str) -> list[tuple[str, PlanDocument]]:
    """Return the stored plans with these names, except missing ones and the plan `but`."""
    found = []
    for name in dict.fromkeys(names):
        if name != but:
            try:
                found.append((name, service.get_plan(session, name).document))
            except service.PlanNotFound:
                continue
    return found


def answered(
    asked: PlanSelection, document: PlanDocument | None, ask: Callable[[PlanDocument], Answer]
) -> tuple[Answer | None, tuple[FieldProblem, ...]]:
    """Return the answer, or the problems that prevent one."""
    if document is None:
        return None, asked.problems
    try:
        return ask(document), ()
    except PlanRefused as refused:
        return None, tuple(FieldProblem(each.field or "", each.message) for each in refused.findings)
    except DocumentInvalid as invalid:
        return None, invalid.problems[:MOST_PROBLEMS]
    except PlannerError as error:
        return None, (FieldProblem("", str(error)),)


def status_of(asked: PlanSelection, *, is_wrong: bool) -> int:
    """Return the status of a page that answers a question about a plan."""
    return 404 if asked.unknown else 422 if is_wrong else 200
