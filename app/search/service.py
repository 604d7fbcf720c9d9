"""Searches: their results in order, with the addresses of the pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import quote, urlencode

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.paging import PageRequest
from app.search import repository
from app.search.answers import KINDS, Kind, SearchAnswer, SearchHit, SearchResults
from app.search.docs_index import address_of, search_docs
from app.search.query import SearchQuery
from app.search.repository import Found
from planner_core.findings import RANKS, Severity, catalogue

FindOfKind = Callable[[Session, SearchQuery, PageRequest], SearchResults]


def search(
    session: Session, query: SearchQuery, asked: PageRequest, *, kind: Kind | None = None
) -> SearchAnswer:
    """Return one page of results of each kind, or of one kind only. An empty search has no results."""
    kinds = (kind,) if kind else tuple(KINDS)
    found = [_FINDERS[each](session, query, asked) for each in kinds] if query else []
    groups = tuple(each for each in found if each.total)
    return SearchAnswer(query=query.text, total=sum(each.total for each in groups), groups=groups)


def _find_plans(session: Session, query: SearchQuery, asked: PageRequest) -> SearchResults:
    found = repository.find_plans(session, query, offset=asked.offset, limit=asked.per_page)
    hits = [
        SearchHit(row.name, "plan", f"/plans/{quote(row.name)}", plan=row.plan, qsg=row.qsg)
        for row in found.rows
    ]
    return _results("plans", hits, found, asked)


def _find_structures(session: Session, query: SearchQuery, asked: PageRequest) -> SearchResults:
    found = repository.find_structures(session, query, offset=asked.offset, limit=asked.per_page)
    return _results("structures", [_named(row, _structure_page(row)) for row in found.rows], found, asked)


def _find_queues(session: Session, query: SearchQuery, asked: PageRequest) -> SearchResults:
    found = repository.find_queues(session, query, offset=asked.offset, limit=asked.per_page)
    return _results("queues", [_named(row, _queue_page(row)) for row in found.rows], found, asked)


def _find_findings(session: Session, query: SearchQuery, asked: PageRequest) -> SearchResults:
    """Return plans with open findings of matching codes, then the codes that are open in no plan."""
    kinds = catalogue()
    codes = [code for code, kind in kinds.items() if _has_all(query, code, kind.title)]
    found = repository.find_open_findings(session, query, codes, offset=asked.offset, limit=asked.per_page)
    hits = [
        _finding(row.name, row.severity, plan=row.plan, qsg=row.qsg, occurrences=row.occurrences)
        for row in found.rows
    ]
    opened = repository.open_codes(session, codes)
    unused = sorted(
        (code for code in codes if code not in opened), key=lambda code: (RANKS[kinds[code].severity], code)
    )
    start = max(asked.offset - found.total, 0)
    more = unused[start : start + asked.per_page - len(hits)]
    hits += [_finding(code, kinds[code].severity) for code in more]
    return _results("findings", hits, found._replace(total=found.total + len(unused)), asked)


def _find_docs(_session: Session, query: SearchQuery, asked: PageRequest) -> SearchResults:
    found = search_docs(query)
    hits = [
        SearchHit(each.title, "documentation", each.path, title=each.heading or None, excerpt=each.excerpt)
        for each in found[asked.offset : asked.offset + asked.per_page]
    ]
    return _results("docs", hits, Found((), len(found), 0), asked)


_FINDERS: dict[Kind, FindOfKind] = {
    "plans": _find_plans,
    "structures": _find_structures,
    "queues": _find_queues,
    "findings": _find_findings,
    "docs": _find_docs,
}


def _results(kind: Kind, hits: Sequence[SearchHit], found: Found, asked: PageRequest) -> SearchResults:
    return replace(SearchResults.of(hits, found.total, asked), kind=kind, plans=found.plans)


def _has_all(query: SearchQuery, code: str, title: str) -> bool:
    return all(word.matches(code) or word.matches(title) for word in query.words)


def _named(row: AnyRow, url: str) -> SearchHit:
    """Return a structure or queue, in a plan or in measured usage."""
    if row.plan:
        return SearchHit(row.name, "plan", url, plan=row.plan, qsg=row.qsg, structure=row.structure)
    return SearchHit(row.name, "usage", url, qsg=row.qsg, structure=row.structure)


def _structure_page(row: AnyRow) -> str:
    if row.plan:
        return f"/plans/{quote(row.plan)}/versions/{row.version}/structures/{quote(row.structure)}"
    return f"/usage/{quote(row.qsg)}/{quote(row.structure)}"


def _queue_page(row: AnyRow) -> str:
    if row.plan:
        return _structure_page(row)
    if not row.structure:  # no record names it, so the queue has no page
        return f"/usage?{urlencode({'search': row.qsg})}"
    return f"{_structure_page(row)}/queue?{urlencode({'name': row.name})}"


def _finding(
    code: str,
    severity: Severity,
    *,
    plan: str | None = None,
    qsg: str | None = None,
    occurrences: int | None = None,
) -> SearchHit:
    kind = catalogue().get(code)  # None for codes of earlier versions
    return SearchHit(
        code,
        "plan" if plan else "catalogue",
        f"/plans/{quote(plan)}" if plan else address_of(code) or "/docs",
        plan=plan,
        qsg=qsg,
        severity=severity,
        occurrences=occurrences,
        title=kind.title if kind else None,
    )
