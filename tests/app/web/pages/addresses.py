"""The addresses of all pages, and a function to fetch one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from urllib.parse import unquote, urlencode

from fastapi import FastAPI

from app.documentation.library import parts, shelves
from planner_core.tables import all_tables
from tests.app.web.pages.html import Element, read
from tests.app.web.support import Answer, get

ARTICLES = tuple(f"/docs/{entry.slug}" for shelf in shelves() for entry in shelf.entries)
PARTS = tuple(f"/docs/{part.slug}" for address in ARTICLES for part in parts(address.removeprefix("/docs/")))
"""The pages below divided pages, such as those of the findings."""
FIRST_PARTS = tuple(
    f"/docs/{found[0].slug}" for address in ARTICLES if (found := parts(address.removeprefix("/docs/")))
)
TABLES = tuple(f"/reference/{table.id}" for table in all_tables())
PAGES: Mapping[str, int] = {
    "/": 200,
    "/calculator": 200,
    "/calculator?backlog_by=rate&rate_per_minute=1200&outage_minutes=90&message_bytes=4K&dsgroup=MQ.SMDS.*.APP1": 200,
    "/calculator?messages=0&csqsysappl=no&coupling_facilities=CF01": 200,
    "/calculator?messages=2OO&message_bytes=&qsg=SQ033&structure=1AB&queue=a%20b&size_factor=9": 422,
    "/calculator?queue_managers=33": 422,
    "/calculator/explanations": 200,
    "/calculator/explanations?message_bytes=4K&dsgroup=MQ.SMDS.*.APP1": 200,
    "/calculator/explanations?messages=2OO": 422,
    "/reference": 200,
    **dict.fromkeys(TABLES, 200),
    "/docs": 200,
    **dict.fromkeys((*ARTICLES, *FIRST_PARTS), 200),  # all parts are in tests/app/documentation
    "/audit": 200,
    "/audit?since=2026-11-27&who=anna&action=plan.saved&object=SQ03&before=9": 200,
    "/audit?since=yesterday": 422,
    "/uploads": 200,
    "/uploads?batch=none&state=failed": 200,
    "/new-upload": 200,
    "/qsg-map": 200,
    "/upload-files": 200,
    "/collection-kit": 200,
    "/collection-kit?systems=SYSA+SYSB&queue_managers=CSQ1+M%232&interval=60": 200,
    "/collection-kit?systems=SYSTEMS&queue_managers=1&interval=7": 422,
    "/usage": 200,
    "/usage/health": 200,
    "/forecasts": 200,
    "/curves": 200,
    "/cf-levels": 200,
    "/sizing-points": 200,
    "/sizing-points/add": 200,
    "/nights": 200,
    "/import": 200,
    "/connections": 200,
    "/notices": 200,
    "/events/simulate": 200,
    "/events/read": 200,
    "/events/read?example=three-members": 200,
    "/events/simulate?example=perfmev-differs": 200,
    "/cluster/decide": 200,
    "/cluster/decide?example=orders-differ&mode=ibm": 200,
    "/cluster/decide?example=rank-holds": 200,
    "/cluster/load": 200,
    "/cluster/explain": 200,
    "/cluster/explain?example=runmqsc": 200,
    "/cluster/explain?example=zos": 200,
    "/what-runs": 200,
    **{
        f"/{page}{mark}": 200
        for page in ("lint", "merge", "running", "plan-from-running")
        for mark in ("", "?example")
    },
    "/whatif": 200,
    "/whatif/cf-loss": 200,
    "/whatif/upgrade": 200,
    "/whatif/upgrade?cfcc=x&years=one": 422,
    "/whatif/cf-loss?plan=NONE": 404,
    "/whatif/recovery": 200,
    "/whatif/recovery?recovery_minutes=soon": 422,
    "/whatif/smds": 200,
    "/whatif/smds?plan=.example&queue_managers=QM01+QM01": 422,
    "/search": 200,
    "/search?q=zzzz": 200,
    "/search?q=queue+depth": 200,
    "/search?q=DEPTH&kind=findings&page=2": 200,
    f"/search?q={'A' * 101}": 422,
    "/style": 200,
    "/api/docs": 200,
    "/api/try": 200,
    "/api/try?operation=healthz_healthz_get": 200,
    "/nothing/here": 404,
}
"""Addresses of every page, the calculator in each of its states, and the status of each."""


def html(app: FastAPI, address: str) -> Answer:
    """Return the answer to a browser."""
    path, mark, query = address.partition("?")
    return get(app, unquote(path) + mark + query, accept="text/html")


@cache
def page(app: FastAPI, address: str, *, status: int = 200) -> Element:
    """Return a page as a tree; pages do not change, so each is fetched once."""
    answer = html(app, address)
    assert answer.status == status, answer.text[:500]
    assert answer.media_type == "text/html"
    return read(answer.text)


def calculator(**fields: str) -> str:
    """Return the address of the calculator with these fields."""
    return f"/calculator?{urlencode(fields)}"
