"""Requests with any text take bounded CPU time: 1 MB of each hostile shape to the routes that accept text, while /healthz answers.

Routes come from the application and form fields from its pages, so that a new route is covered or reported by the test. An
administrator is signed in, because no one else may send to all routes.
"""

from __future__ import annotations

import asyncio
import json
import re
import string
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from app.accounts import sessions, users
from app.accounts.sessions import Client
from app.clock import utc_now
from app.texts.documents import example_text
from tests.app.accounts.support import COOKIE, accounts_of, add_token, add_user, app_with_accounts, bearer
from tests.cpu import allowed_cpu_seconds, as_the_service_collects
from tests.hostile.shapes import SHAPES, Shape

pytestmark = pytest.mark.long

ADDRESS = "http://127.0.0.1"
MOST_SECONDS = 2.0
PATIENCE_S = 300
HEALTH_WITHIN_S = 10.0
"""Wall time: generous, for machines that are busy."""
LARGEST_ANSWER_BYTES = 8_000_000
ADMINISTRATOR, OTHER_USER = "anna", "bert"
STARTS = ("/", "/sign-in/confirm")
"""Pages that lead to all others."""
CHANGES = {"POST", "PUT", "PATCH"}
VALUES = {
    "{name}": "SQ03", "{scenario}": "S1", "{number}": "1", "{upload_id}": "1", "{qsg}": "SQ03",
    "{system_id}": "SYSA", "{queue_manager}": "QM01", "{coupling_facility}": "CF01",
    "{sha256}": "0" * 64,
}  # fmt: skip
WITHOUT_TEXT = {
    "/api/v1/plans/{name}/restore", "/api/v1/nightly-runs", "/plans/{name}/delete", "/plans/{name}/restore",
    "/plans/{name}/scenarios/{scenario}/delete", "/uploads/{upload_id}/delete", "/nights", "/simulated-data",
    "/simulated-data/remove", "/api/v1/upload-files/{sha256}", "/sign-out", "/plans/{name}/versions/{number}/approve",
    "/plans/{name}/versions/{number}/withdraw-approval", "/api/v1/plans/{name}/versions/{number}/approval",
}  # fmt: skip
"""Routes of buttons, which have no text field; the text is sent in an unknown field."""
FIELDS: dict[str, tuple[str, ...] | str] = {
    "/account/sessions/end": ("session",),
    "/account/tokens/revoke": ("token",),
    "/cf-levels/remove": ("coupling_facility",),
    "/sizing-points/remove": ("remove",),
    "/sizing-points/fit": ("cfcc_level", "type"),
    "/plan-preview": "/new-plan",
    "/plans/{name}/scenarios/{scenario}/edit": "/plans/SQ03/scenarios/new",
    "/plans/{name}/acknowledge": ("code", "structure", "message", "reason"),
    "/plans/{name}/withdraw": ("code", "structure", "message"),
    "/qsg-map/remove": ("system_id", "queue_manager"),
    "/sign-in": ("name", "password", "next"),
    "/uploads/{upload_id}/ingest": ("kind", "observed_at", "zone"),
    "/uploads/retry": ("batch",),
    **dict.fromkeys(("/upload-files/register", "/upload-files/remove"), ("sha256",)),
    "/usage/{qsg}/plan": ("name", "queue_managers", "coupling_facilities", "structure", "queue"),
    "/usage/{qsg}/plan/into/{name}": ("name", "queue_managers", "coupling_facilities", "structure", "queue"),
}
"""Fields of routes whose form is on no page of this application, or the address of a form with the same fields."""
TYPES = {
    "json": "application/json",
    "yaml": "application/yaml",
    "form": "application/x-www-form-urlencoded",
}
NOT_ENCODED = f"{string.ascii_letters}{string.digits}_.-~".encode()
"""Bytes that a form sends as they are."""


def form_body(field: str, text: str) -> bytes:
    """Return the same bytes as `urlencode`, whose work for each character took a third of the CPU time of these tests."""
    return f"{quote_plus(field)}=".encode() + _coded(text)


@lru_cache(maxsize=1)  # the same text goes to several routes, one after another
def _coded(text: str) -> bytes:
    coded = text.encode()
    used = set(coded.translate(None, delete=NOT_ENCODED + b"% "))
    coded = coded.replace(b"%", b"%25")  # first, because the others become escapes
    for each in used:
        coded = coded.replace(bytes([each]), b"%%%02X" % each)
    return coded.replace(b" ", b"+")


@lru_cache(maxsize=1)
def _megabyte(shape: Shape) -> str:
    return shape.text()


@dataclass(frozen=True)
class Target:
    """A way to send text to a route: as the body, or in one field of a form or of a JSON object."""

    method: str
    path: str
    how: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.how} {self.field}".strip()

    def request(self, text: str) -> dict[str, Any]:
        """Return the arguments of httpx for this text."""
        if self.how == "field":
            body = json.dumps({self.field: text})
            return {"content": body.encode(), "headers": {"content-type": TYPES["json"]}}
        if self.how == "form":
            return {"content": form_body(self.field, text), "headers": {"content-type": TYPES["form"]}}
        if self.how == "file":
            return {"files": {self.field: ("text.txt", text.encode("utf-8", "surrogatepass"))}}
        return {
            "content": text.encode("utf-8", "surrogatepass"),
            "headers": {"content-type": TYPES.get(self.how, "application/octet-stream")},
        }


class _Forms(HTMLParser):
    """The forms of a page that send a body, with the names of their text fields."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, set[tuple[str, str]]]] = []
        self.links: set[str] = set()
        self._fields: set[tuple[str, str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "a":
            self.links.add(given.get("href", ""))
        if tag == "form":
            is_post = given.get("method", "").lower() == "post"
            self._fields = set() if is_post else None
            if self._fields is not None:
                self.found.append((given.get("action", ""), self._fields))
        if self._fields is None or not given.get("name"):
            return
        if tag == "textarea":
            self._fields.add(("form", given["name"]))
        if tag == "input":
            kind = given.get("type", "text")
            if kind in ("text", "search", "number", "hidden", "password"):
                self._fields.add(("form", given["name"]))
            elif kind == "file":
                self._fields.add(("file", given["name"]))


def api_routes(routes: list[Any]) -> Iterator[APIRoute]:
    """Yield every route, including those of included routers."""
    for route in routes:
        inside = getattr(getattr(route, "original_router", None), "routes", None)
        if inside is not None:
            yield from api_routes(inside)
        elif isinstance(route, APIRoute):
            yield route


def paths_that_change(app: FastAPI) -> dict[str, str]:
    """Return the path and the method of every route with a body."""
    return {
        route.path: next(iter(methods))
        for route in api_routes(app.routes)
        if (methods := (route.methods or set()) & CHANGES)
    }


def filled(path: str) -> str:
    path = path.replace("/users/{name}", f"/users/{OTHER_USER}")
    for name, value in VALUES.items():
        path = path.replace(name, value)
    assert "{" not in path, f"VALUES has no value for {path}"
    return path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application with a stored plan, two users and no jobs."""
    app = app_with_accounts(Path(tmp_path_factory.mktemp("site")), approval=True)
    add_user(app, ADMINISTRATOR, "administrator")
    add_user(app, OTHER_USER, "planner")
    return app


def new_session(app: FastAPI) -> str:
    """Return the cookie of a session that has just begun, because signing out is one of the requests."""
    lifetimes = accounts_of(app).lifetimes
    with app.state.database.session(writes=True) as session:
        user = users.get(session, ADMINISTRATOR)
        client = Client("127.0.0.1", "Firefox")
        return sessions.start(
            session, user, method="accounts", client=client, lifetimes=lifetimes, now=utc_now()
        )


@asynccontextmanager
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    cookies = {COOKIE: new_session(app)}
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url=ADDRESS, timeout=PATIENCE_S, cookies=cookies
    ) as found:
        yield found


async def _forms(app: FastAPI) -> dict[str, set[tuple[str, str]]]:
    """Return the text fields of all pages by the address of their form."""
    fields: dict[str, set[tuple[str, str]]] = {}
    async with client(app) as asking:
        document = example_text().encode()
        # Another user saves the plan, so that the administrator is asked to approve it.
        headers = {"content-type": TYPES["yaml"], **bearer(add_token(app, OTHER_USER, "planner"))}
        made = await asking.put("/api/v1/plans/SQ03", content=document, headers=headers)
        assert made.status_code == 201
        waiting, seen = list(STARTS), set(STARTS)
        while waiting:
            page = waiting.pop()
            answer = await asking.get(page)
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            parser = _Forms()
            parser.feed(answer.text)
            for action, names in parser.found:
                path = httpx.URL(page).join(action).path
                fields.setdefault(path, set()).update(names)
            for link in sorted(parser.links):
                at = httpx.URL(page).join(link) if link.startswith(("/", "?")) else None
                if at and at.path not in seen and not at.path.startswith(("/docs", "/api", "/static")):
                    seen.add(at.path)
                    waiting.append(at.path)
    return fields


def _text_fields(app: FastAPI, path: str, method: str) -> list[str]:
    """Return the text members of a JSON request by the description of the service."""
    found = app.openapi()
    body = found["paths"][path][method.lower()].get("requestBody", {})
    schema = body.get("content", {}).get(TYPES["json"], {}).get("schema", {})
    if "$ref" in schema:
        schema = found["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return [name for name, member in schema.get("properties", {}).items() if '"string"' in json.dumps(member)]


@pytest.fixture(scope="module")
def forms(app: FastAPI) -> dict[str, set[tuple[str, str]]]:
    """Return the text fields of all pages."""
    return asyncio.run(_forms(app))


@pytest.fixture(scope="module")
def targets(app: FastAPI, forms: dict[str, set[tuple[str, str]]]) -> list[Target]:
    """Return every way to send text to every route."""
    found: list[Target] = []
    for path, method in sorted(paths_that_change(app).items()):
        at = filled(path)
        if path.startswith("/api/"):
            hows = ("file body",) if path == "/api/v1/uploads" else ("json", "yaml")
            found += [Target(method, at, how) for how in hows]
            if path != "/api/v1/uploads":
                found += [Target(method, at, "field", name) for name in _text_fields(app, path, method)]
            continue
        named = FIELDS.get(path, at)
        fields = forms.get(named, set()) if isinstance(named, str) else {("form", name) for name in named}
        # Editors number their rows: one of each kind stands for all.
        kinds = {(how, re.sub(r"[0-9]+", "0", name)): (how, name) for how, name in sorted(fields)}
        assert kinds or path in WITHOUT_TEXT, f"FIELDS does not say what a form for {path} has"
        typed = sorted(kinds.values()) or [("form", "text")]
        found += [Target(method, at, how, name) for how, name in typed]
    return found


def test_every_route_that_accepts_a_form_has_a_form_on_a_page(
    app: FastAPI, forms: dict[str, set[tuple[str, str]]]
) -> None:
    pages = {path for path in paths_that_change(app) if not path.startswith("/api/")}
    unreached = {path for path in pages - WITHOUT_TEXT if filled(path) not in forms}
    assert unreached - FIELDS.keys() == FIELDS.keys() - unreached == set()


def test_forms_are_encoded_as_by_the_standard_library() -> None:
    for text in (*(shape.text(2_000) for shape in SHAPES), "".join(map(chr, range(0x250)))):
        assert form_body("/a b/é&", text).decode("ascii") == urlencode({"/a b/é&": text})


async def _send(app: FastAPI, target: Target, text: str) -> tuple[httpx.Response, float, float]:
    """Send a text while polling /healthz, and return the answer, CPU seconds and the longest wait for /healthz."""
    longest, request = 0.0, target.request(text)
    async with client(app) as asking:
        before = time.process_time()
        task = asyncio.create_task(asking.request(target.method, target.path, **request))
        while True:
            began = time.monotonic()
            health = await asking.get("/healthz")
            longest = max(longest, time.monotonic() - began)
            assert health.status_code == 200
            if task.done():
                break
            # The process has one CPU clock: asking more often would count as work of the request.
            await asyncio.wait({task}, timeout=0.5)
        return await task, time.process_time() - before, longest


def _is_above(measured_s: float, most_s: float) -> bool:
    # The speed of the machine is measured only if it matters.
    return measured_s > most_s and measured_s > allowed_cpu_seconds(most_s)


def check(app: FastAPI, target: Target, shape: Shape) -> str | None:
    """Send a shape of 1 MB and return the problem, or None."""
    text = _megabyte(shape)
    with as_the_service_collects():
        answer, cpu_s, health_s = asyncio.run(_send(app, target, text))
    faults = [
        f"status {answer.status_code}" if answer.status_code >= 500 else "",
        f"{cpu_s:.1f} s of CPU" if _is_above(cpu_s, MOST_SECONDS) else "",
        f"/healthz after {health_s:.1f} s" if _is_above(health_s, HEALTH_WITHIN_S) else "",
        f"an answer of {len(answer.content)} bytes" if len(answer.content) > LARGEST_ANSWER_BYTES else "",
    ]
    told = ", ".join(filter(None, faults))
    return f"{target} with {shape.name}: {told}" if told else None


def test_every_route_handles_every_shape_in_bounded_cpu_time(app: FastAPI, targets: list[Target]) -> None:
    pairs = range(max(len(SHAPES), len(targets)))
    faults = [
        check(app, targets[number % len(targets)], SHAPES[number % len(SHAPES)])
        # Shape by shape, so that each text is made and encoded once, not for each of its routes.
        for number in sorted(pairs, key=lambda number: number % len(SHAPES))
    ]
    assert list(filter(None, faults)) == []


@pytest.mark.soak
def test_every_route_handles_a_megabyte_of_every_shape_in_bounded_cpu_time(
    app: FastAPI, targets: list[Target]
) -> None:
    faults = [check(app, target, shape) for shape in SHAPES for target in targets]
    assert list(filter(None, faults)) == []
