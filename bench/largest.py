"""CPU time and size of every answer about the largest legal plan, compared with the limit for one request.

The plan is stored in a temporary folder, with a second version in which every queue has changed, so that comparisons
have the most to compare. Each request is sent once as a warm-up for imports and templates with a small plan, and then once
with the largest one: nothing of the large plan is cached when it is measured. Answers are compressed, as for a browser.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient, Request

from app.main import create_app, keep_what_is_loaded
from app.plans.result_tables import TABLES
from app.running.texts import LARGEST_FILE_BYTES
from app.settings import Settings
from app.sizing.service import MOST_QUEUES_IN_DETAIL
from app.texts.documents import LARGEST_FILE_BYTES as LARGEST_TEXT_BYTES
from bench.plans import QUEUES, STRUCTURES, largest
from planner_core.texts.outputs import OUTPUT_KINDS

NAME = "LARGEST"
STRUCTURE = "APPLICATIO31"
CHANGED = 7
"""Added to the backlog or the message size of every queue in the second version."""
FORM = "application/x-www-form-urlencoded"
SMALL_STRUCTURES, SMALL_QUEUES = 2, 130
_FIELD = re.compile(
    r"<input(?P<attributes>[^>]*)>|<textarea(?P<area>[^>]*)>\n?(?P<text>.*?)</textarea>"
    r"|<select(?P<select>[^>]*)>(?P<options>.*?)</select>",
    re.DOTALL,
)


@dataclass(frozen=True)
class Answered:
    """The cost of one request."""

    name: str
    cpu_s: float
    sent_bytes: int
    """Number of compressed bytes."""
    is_save: bool


@dataclass(frozen=True)
class Call:
    """A request about the plan."""

    method: str
    path: str
    body: bytes | None = None
    media_type: str = "application/json"
    expected: int = 200
    name: str = ""

    @property
    def label(self) -> str:
        """How the request is listed."""
        return self.name or f"{self.method} {self.path}"

    @property
    def is_save(self) -> bool:
        """Whether the request stores a version."""
        return self.label.startswith("save")


def measure(*, structures: int = STRUCTURES, queues: int = QUEUES, wanted: str = "") -> list[Answered]:
    """Measure every request once, the most expensive first.

    There is no warm-up for a plan of the size of the small one, because it would be the same work again.

    Args:
        structures: Number of application structures.
        queues: Number of queues on each of them.
        wanted: Measure only requests that contain this text.
    """
    with tempfile.TemporaryDirectory() as folder:
        for size in dict.fromkeys(((SMALL_STRUCTURES, SMALL_QUEUES), (structures, queues))):
            plan = largest(structures=size[0], queues=size[1], with_definitions=True)
            settings = Settings(data_dir=Path(folder) / "{}-{}".format(*size))
            app = create_app(settings)
            app.state.database.prepare()
            keep_what_is_loaded()
            found = asyncio.run(_measured(app, plan, wanted))
            app.state.database.close()
    return sorted(found, key=lambda each: -each.cpu_s)


async def _measured(app: FastAPI, plan: dict[str, Any], wanted: str) -> list[Answered]:
    found = []
    async with _client(app) as client:
        async for call in _calls(client, plan):
            if not call.is_save and wanted not in call.label:
                continue
            found.append(await _answered(client, call))
    return found


async def _answered(client: AsyncClient, call: Call) -> Answered:
    headers = {"Content-Type": call.media_type} if call.body is not None else {}
    start = time.process_time()
    sent = 0
    # Read as it was sent: decompression is the client's work.
    async with client.stream(call.method, call.path, content=call.body, headers=headers) as answer:
        async for part in answer.aiter_raw():
            sent += len(part)
    spent = time.process_time() - start
    # A refused request is listed with its status, because its cost says nothing about an answer.
    refused = "" if answer.status_code == call.expected else f" (refused: {answer.status_code})"
    return Answered(call.label + refused, spent, sent, call.is_save)


async def _calls(client: AsyncClient, plan: dict[str, Any]) -> AsyncIterator[Call]:
    """Yield the requests in an order in which each finds what it needs."""
    at = f"/api/v1/plans/{NAME}"
    body = json.dumps(plan).encode()
    yield Call("PUT", at, body, expected=201, name=f"save: PUT {at}")
    etag = (await client.get(f"{at}/versions")).json()["versions"][0]["etag"]
    changed = json.dumps(_changed(plan)).encode()
    answer = await client.put(
        at, content=changed, headers={"If-Match": etag, "Content-Type": "application/json"}
    )
    answer.raise_for_status()
    for path in _pages(plan):
        yield Call("GET", path)
    for question in ("filling", "thresholds", "survival"):
        yield Call("GET", f"/whatif/{question}?plan={NAME}", expected=303)
    for path in _rest(at):
        yield Call("GET", path)
    for call in _posted(
        plan, body, (await client.get(f"{at}/policy")).text, (await client.get(f"{at}/mqsc")).text
    ):
        yield call
    for call in _sent_to_pages(plan, body):
        yield call
    for call in _scenarios(plan):
        yield call
    async for call in _edited(client):
        yield call


def _pages(plan: dict[str, Any]) -> Iterator[str]:
    at, version = f"/plans/{NAME}", f"/plans/{NAME}/versions/2"
    structure = f"{version}/structures/{plan['structures'][-1]['name']}"
    yield from (at, *(f"{at}?tab={tab}" for tab in ("findings", "policy", "queues")))
    yield from (f"{at}?tab=queues&search=Q0100", f"{at}?tab=queues&page=2", version)
    yield from (f"{at}/history", f"{at}/compare", f"{at}/advice", f"{at}/what-if", f"{at}/scenarios")
    yield from (
        structure,
        f"{structure}/explanations",
        f"{structure}/filling?{_OUTAGE}",
        f"{structure}/thresholds",
        f"{structure}/survival?{_SURVIVAL}",
    )
    yield from (f"{structure}/thresholds?{_THRESHOLDS}",)
    yield from (f"{version}/print", f"{at}/edit", f"/new-plan?from=copy&name={NAME}")
    yield f"{at}/edit?resize={plan['structures'][-1]['name']}&times=2"
    files = (*OUTPUT_KINDS, "plan.json", "plan.yaml", "tables.xlsx", *(f"{kind}.csv" for kind in TABLES))
    yield from (f"{version}/files/{file}" for file in files)
    yield from (
        f"/sheet?plan={NAME}",
        f"/sheet?plan={NAME}&as=csv",
        "/export-plans",
        "/plans",
        "/",
        "/fleet.csv",
    )
    yield from (f"/whatif?plan={NAME}", f"/whatif/cf-loss?plan={NAME}")
    yield from (f"/whatif/upgrade?plan={NAME}", f"/whatif/recovery?plan={NAME}&recovery_minutes=30")
    yield from (
        f"/whatif/smds?plan={NAME}",
        f"/merge?plan={NAME}",
        f"/running?plan={NAME}",
        f"/lint?plan={NAME}",
    )
    yield from (
        f"{at}/scenarios/new",
        "/plans.csv",
        "/deleted-plans",
        "/search?q=Q0100",
        f"/cluster/load?plan={NAME}",
        f"/events/simulate?plan={NAME}",
    )


_OUTAGE = urlencode({"outage_minutes": 100, "rate_percent": 150})
_SURVIVAL = urlencode({"minutes": 60, "day": "8000 " * 24})
_THRESHOLDS = urlencode({"hold": 500_000, "typical": 50_000})


def _rest(at: str) -> Iterator[str]:
    yield from (
        at,
        f"{at}?explain=true",
        f"{at}/versions",
        f"{at}/versions/1",
        f"{at}/versions/1?explain=true",
    )
    yield from (f"{at}/diff", f"{at}/document", f"{at}/scenarios", "/api/v1/plans", "/api/v1/fleet")
    yield from (f"{at}/{kind}" for kind in OUTPUT_KINDS)
    yield from (f"{at}/versions/1/{kind}" for kind in OUTPUT_KINDS)
    yield from (f"{at}/versions/1/approval", "/api/v1/deleted-plans", "/api/v1/search?q=Q0100")


def _posted(plan: dict[str, Any], body: bytes, policy: str, mqsc: str) -> Iterator[Call]:
    structure = plan["structures"][-1]["name"]
    # The definitions of all queues are longer than a text about the running system may be.
    mqsc = mqsc[: LARGEST_FILE_BYTES // 2].rpartition("\nDEFINE")[0]
    of_one = urlencode({"explain": "true", "depths": "true", "structure": structure})
    # Explanations and advice are refused for a plan of this size unless a structure is named.
    is_long = sum(len(each["queues"]) for each in plan["structures"]) > MOST_QUEUES_IN_DETAIL
    for path in ("size?explain=true", "size?depths=true", "events/advise"):
        yield Call("POST", f"/api/v1/{path}", body, expected=422 if is_long else 200)
    one = urlencode({"structure": structure})
    for path in ("size", f"size?explain=true&{one}", f"size?depths=true&{one}", f"size?{of_one}"):
        yield Call("POST", f"/api/v1/{path}", body)
    for path in (*OUTPUT_KINDS, f"events/advise?{one}"):
        yield Call("POST", f"/api/v1/{path}", body)
    yield Call("POST", "/api/v1/events/rates", json.dumps({"document": plan, "sets": []}).encode())
    yield Call("POST", "/api/v1/cluster/load", body)
    questions: Mapping[str, Mapping[str, object]] = {
        "filling": {"structure": structure, "outage_minutes": 100, "rate_percent": 150},
        "thresholds": {"structure": structure, "hold": 500_000, "typical": 50_000},
        "survival": {"structure": structure, "minutes": 60, "day": "8000 " * 24},
        "recovery": {"recovery_minutes": 30, "log_read_mb_per_s": 100},
        "smds-job": {},
        "upgrade": {},
        "upgrade: one change": {"queue_managers": 0, "years": 1, "growth": 12.5},
        "cf-loss": {},
    }
    for question, parameters in questions.items():
        yield Call(
            "POST",
            f"/api/v1/whatif/{question.partition(':')[0]}?{urlencode(parameters)}",
            body,
            name=f"POST /api/v1/whatif/{question}",
        )
    yield Call(
        "POST", "/api/v1/lint", json.dumps({"text": policy}).encode(), name="POST /api/v1/lint: policy"
    )
    yield Call("POST", "/api/v1/lint", json.dumps({"text": mqsc}).encode(), name="POST /api/v1/lint: MQSC")
    yield Call("POST", "/api/v1/merge", json.dumps({"plan": plan, "policy": policy}).encode())
    current = json.dumps({"plan": plan, "current": [policy]}).encode()
    yield Call("POST", "/api/v1/diff", current)
    yield Call(
        "POST",
        "/api/v1/plan-from-running",
        json.dumps({"current": [policy], "message_bytes": 1000, "queue_managers": 4}).encode(),
    )
    for page, form in (
        ("/merge", {"plan": NAME, "policy": policy}),
        ("/running", {"plan": NAME, "current": policy}),
        ("/lint", {"text": mqsc}),
    ):
        yield Call("POST", page, urlencode(form).encode(), FORM)


def _sent_to_pages(plan: dict[str, Any], body: bytes) -> Iterator[Call]:
    """Yield the plan as a text in the form of each page that takes one; the form has the longest text that it may have."""
    structures = len(plan["structures"])
    while len(body) > LARGEST_TEXT_BYTES:
        structures -= 1
        body = json.dumps({**plan, "structures": plan["structures"][:structures]}).encode()
    # These forms can also send a file, so browsers send them in parts.
    form = Request("POST", "http://127.0.0.1/", files={"text": (None, body)})
    parts, media_type = form.read(), form.headers["content-type"]
    for page in ("/whatif/cf-loss", "/whatif/upgrade", "/whatif/recovery", "/whatif/smds", "/cluster/load"):
        yield Call("POST", page, parts, media_type)


def _scenarios(plan: dict[str, Any]) -> Iterator[Call]:
    at, rest = f"/plans/{NAME}/scenarios", f"/api/v1/plans/{NAME}/scenarios"
    grown = {**plan["growth"], "years": 4}
    for number, name in enumerate(("years", "more")):
        made = json.dumps({"name": name, "changes": {"growth": {**grown, "years": 4 + number}}})
        yield Call("POST", rest, made.encode(), expected=201, name=f"save: POST {rest}: {name}")
    for path in (at, rest):
        yield Call("GET", path)
        # The page of a single scenario is that of a comparison.
        yield Call("GET", f"{path}/years", expected=303 if path == at else 200)
        yield Call("GET", f"{path}/years/report")
        yield Call("GET", f"{path}/compare?of=years,more")
    yield from (Call("GET", f"{at}.csv"), Call("GET", f"{at}/years/edit"))


async def _edited(client: AsyncClient) -> AsyncIterator[Call]:
    """Yield what the editor sends: a check, the preview while the user types, a draft, a button, and saving."""
    page = (await client.get(f"/plans/{NAME}/edit")).text
    fields = form_fields(page)
    for action in ("check", "restore", "add:/structures", "add:/structures/3/queues"):
        yield Call(
            "POST",
            f"/plans/{NAME}/edit",
            urlencode({**fields, "do": action}).encode(),
            FORM,
            name=f"POST /plans/{NAME}/edit: {action}",
        )
    yield Call("POST", "/plan-preview", urlencode(fields).encode(), FORM)
    yield Call(
        "POST",
        f"/plans/{NAME}/edit",
        urlencode({**fields, "do": "save", "/cfcc_level": "24"}).encode(),
        FORM,
        expected=303,
        name=f"save: POST /plans/{NAME}/edit",
    )


def form_fields(page: str) -> dict[str, str]:
    """Return the fields that a browser sends for the form of a page."""
    fields: dict[str, str] = {}
    for found in _FIELD.finditer(page):
        attributes = found["attributes"] or found["area"] or found["select"] or ""
        name = re.search(r'\bname="([^"]*)"', attributes)
        if name is None:
            continue
        if found["select"] is not None:
            options = re.findall(r'<option value="([^"]*)"( selected)?', found["options"])
            text = next((value for value, selected in options if selected), options[0][0] if options else "")
        elif found["area"] is not None:
            text = found["text"]
        elif 'type="checkbox"' in attributes:
            if " checked" not in attributes:
                continue
            text = "yes"
        else:
            value = re.search(r'\bvalue="([^"]*)"', attributes)
            text = value[1] if value else ""
        fields[unescape(name[1])] = unescape(text)
    return fields


def _changed(plan: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(plan)
    for structure in changed["structures"]:
        for queue in structure["queues"]:
            if "backlog" in queue:
                queue["backlog"] += CHANGED
            else:
                queue["message_bytes"]["mean"] += CHANGED
    return changed


def _client(app: FastAPI) -> AsyncClient:
    return AsyncClient(
        transport=ASGITransport(app),
        base_url="http://127.0.0.1",
        headers={"Accept": "text/html, application/json"},
    )
