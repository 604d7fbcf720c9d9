"""Call the application without a network, with control over each chunk of a body."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Message

from app.sizing.examples import examples

Json: TypeAlias = Any
"""The value of a JSON text."""
HOST = "127.0.0.1:8000"


@dataclass(frozen=True)
class Answer:
    """A response of the application."""

    status: int
    header_list: list[tuple[str, str]]
    content: bytes
    chunks_read: int

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.header_list)

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0]

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Json:
        return json.loads(self.content)


def call(
    app: ASGIApp,
    method: str,
    address: str,
    *,
    headers: Iterable[tuple[str, str]] | dict[str, str] = (),
    chunks: Iterable[bytes] = (b"",),
    host: str | None = HOST,
    pause_s: float = 0,
) -> Answer:
    """Send one request whose body arrives in these chunks, with a pause before each."""
    given = list(headers.items() if isinstance(headers, dict) else headers)
    if host is not None:
        given.insert(0, ("host", host))
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in given],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
    }
    waiting = list(chunks)
    total = len(waiting)
    sent: list[Message] = []

    async def receive() -> Message:
        if not waiting:
            await asyncio.sleep(3600)
        await asyncio.sleep(pause_s)
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await asyncio.wait_for(app(scope, receive, send), timeout=120)

    asyncio.run(run())
    start = sent[0]
    return Answer(
        status=start["status"],
        header_list=[(name.decode(), value.decode("latin-1")) for name, value in start["headers"]],
        content=b"".join(message.get("body", b"") for message in sent[1:]),
        chunks_read=total - len(waiting),
    )


def get(app: ASGIApp, address: str, **headers: str) -> Answer:
    """Send GET; underscores in names of headers become hyphens."""
    return call(
        app, "GET", address, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def post_json(app: ASGIApp, address: str, document: object, **headers: str) -> Answer:
    """POST a JSON document."""
    return send_json(app, "POST", address, document, **headers)


def send_json(app: ASGIApp, method: str, address: str, document: object, **headers: str) -> Answer:
    """Send a JSON document by any method; underscores in names of headers become hyphens."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(document).encode()
    return call(app, method, address, headers={"content-type": "application/json", **more}, chunks=[body])


def assert_problem(answer: Answer, slug: str, status: int) -> dict[str, Any]:
    """Assert that the answer is a complete problem document of this type."""
    assert answer.status == status, answer.text
    assert answer.media_type == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == f"/docs/problems#{slug}"
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert isinstance(problem["errors"], list)
    assert isinstance(problem["findings"], list)
    return problem


SQ03, COMPLETE, SMALLEST = (examples()[name].document for name in ("sq03", "complete", "smallest"))
