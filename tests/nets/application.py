"""The application without a network, on a database that goes back to its first state whenever that is wanted."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.nets.texts import readable_json

ADDRESS = "http://127.0.0.1:8000"
SHOWN_HEADERS = (
    "content-type", "location", "etag", "content-disposition", "cache-control", "link", "allow", "retry-after", "x-cfplan-findings",
)  # fmt: skip
INTERNAL_ERROR = 500


class Application:
    """Answers requests from a data folder."""

    def __init__(self, data: Path) -> None:
        self.app: FastAPI = create_app(Settings(data_dir=data))
        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=60)
        self._database = data / "cfplan.db"
        self.failed: list[str] = []
        self.get("/api/v1/plans")  # brings the tables up to date
        self._first = sqlite3.connect(":memory:")
        with closing(sqlite3.connect(self._database)) as database:
            database.backup(self._first)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()
        self._first.close()

    def restore(self) -> None:
        """Bring the database back to its first state."""
        with closing(sqlite3.connect(self._database)) as database:
            self._first.backup(database)

    def get(self, address: str, **headers: str) -> httpx.Response:
        """GET an address."""
        return self.send("GET", address, headers=headers)

    def send(self, method: str, address: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        """Send a request; redirects are not followed."""

        async def request() -> httpx.Response:
            async with asyncio.timeout(60):
                return await self._client.request(method, address, **options)

        logging.disable()  # the traceback of a failure has the paths of the old layout
        answer = self._runner.run(request())
        logging.disable(logging.NOTSET)
        if answer.status_code >= INTERNAL_ERROR:
            self.failed.append(f"{answer.status_code} {method} {address}")
        return answer

    def json(self, address: str) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON that an address answers."""
        found = self.get(address)
        if not found.is_success:
            msg = f"{address}: {found.status_code} {found.text}"
            raise ValueError(msg)
        return found.json()


def shown(answer: httpx.Response) -> str:
    """Status, the headers that matter, and the body."""
    headers: Mapping[str, str] = answer.headers
    lines = [f"{name}: {headers[name]}" for name in SHOWN_HEADERS if name in headers]
    return "\n".join([str(answer.status_code), *lines, "", body(answer)])


def body(answer: httpx.Response) -> str:
    """The body as text."""
    kind = answer.headers.get("content-type", "")
    if "json" in kind:
        return readable_json(answer.text)
    if kind.startswith("text/") or "xml" in kind or "yaml" in kind:
        return answer.text
    if zipfile.is_zipfile(io.BytesIO(answer.content)):  # a workbook; the times of its members vary
        with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
            return "\n".join(
                f"{name}\n{packed.read(name).decode('utf-8', 'replace').replace('><', f'>{chr(10)}<')}"
                for name in packed.namelist()
            )
    return f"{len(answer.content)} bytes, not text"


def as_json(value: object) -> dict[str, Any]:
    """The arguments of a request with a JSON body."""
    return {"content": json.dumps(value).encode(), "headers": {"content-type": "application/json"}}
