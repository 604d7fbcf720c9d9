"""Answers of searches, for REST and for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from app.paging import ResultPage
from planner_core.findings import Finding, Severity
from planner_core.wire import Answer, Omittable

Kind = Literal["plans", "structures", "queues", "findings", "docs"]
KINDS: dict[Kind, str] = {
    "plans": "Plans",
    "structures": "Structures",
    "queues": "Queues",
    "findings": "Findings",
    "docs": "Documentation",
}
"""Titles of the kinds of results, in the order in which they are listed."""
FoundIn = Literal["plan", "usage", "catalogue", "documentation"]


@dataclass(frozen=True, slots=True)
class SearchHit(Answer):
    """One result of a search."""

    name: Annotated[
        str,
        Field(
            description="Plan, structure, queue, code of a finding, or title of a page.",
            examples=["PAYMENTS.IN"],
        ),
    ]
    found_in: Annotated[
        FoundIn,
        Field(
            description="In the latest version of a plan, in measured usage, only in the catalogue of findings, or in the documentation."
        ),
    ]
    url: Annotated[str, Field(description="Address of the page that shows it, below that of the service.")]
    plan: Annotated[Omittable[str], Field(description="Name of the plan.")] = None
    qsg: Annotated[Omittable[str], Field(description="Name of the group.")] = None
    structure: Annotated[
        Omittable[str], Field(description="CFSTRUCT name; empty if no record names the structure of a queue.")
    ] = None
    severity: Annotated[Omittable[Severity], Field(description="Severity of a finding.")] = None
    occurrences: Annotated[
        Omittable[int], Field(description="Number of open findings with this code in the plan.")
    ] = None
    title: Annotated[
        Omittable[str], Field(description="The rule of the finding, or the heading of a section.")
    ] = None
    excerpt: Annotated[Omittable[str], Field(description="Text of the page around the first match.")] = None


@dataclass(frozen=True, slots=True)
class SearchResults(ResultPage[SearchHit]):
    """Results of one kind, one page at a time."""

    items: tuple[SearchHit, ...]  # the type variable of the base would be written and described as any value
    kind: Annotated[Kind, Field(description="The kind of all items.")] = "plans"
    plans: Annotated[int, Field(description="Number of different plans among the results on all pages.")] = 0


@dataclass(frozen=True, slots=True)
class SearchAnswer(Answer):
    """The results of a search, grouped by kind; kinds without results are left out."""

    query: Annotated[str, Field(description="The text that was searched for, without extra blanks.")]
    total: Annotated[int, Field(description="Number of results of all kinds.")]
    groups: tuple[SearchResults, ...]
    findings: tuple[Finding, ...] = ()
