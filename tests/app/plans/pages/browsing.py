"""A browser without scripts that follows links, and fills in and sends forms."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

import httpx
from fastapi import FastAPI


@dataclass
class PageContent(HTMLParser):
    """The parts of a page that tests examine."""

    text: str
    status: int = 200
    path: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    words: str = ""
    _select: str = ""
    _area: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)
        self.words = " ".join(self.words.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, kind = given.get("name") or "", given.get("type") or ""
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a":
            self.links.append(given.get("href") or "")
        elif given.get("id") == "site-search":
            return  # the search box of every page belongs to a form of its own
        elif tag == "input" and name and (kind not in ("checkbox", "radio") or "checked" in given):
            self.fields[name] = given.get("value") or ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self.fields[self._select] = given.get("value") or ""
        elif tag == "textarea":
            self._area = name
            self.fields[name] = ""
        elif tag == "i":  # the next digits of a number
            self.words = self.words.rstrip()

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.fields[self._area] = self.fields[self._area].removeprefix("\n")
            self._area = ""
        elif tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area] += data
        else:
            self.words += data + " "


@dataclass
class Browser:
    """A client of the application in this process that follows redirects."""

    app: FastAPI

    def get(self, path: str) -> PageContent:
        return _seen(self.ask("GET", path))

    def post(self, path: str, fields: dict[str, str]) -> PageContent:
        sent = urlencode(fields).encode()
        return _seen(
            self.ask(
                "POST", path, content=sent, headers={"content-type": "application/x-www-form-urlencoded"}
            )
        )

    def ask(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
        files: list[tuple[str, tuple[str, bytes]]] | None = None,
    ) -> httpx.Response:
        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8000", follow_redirects=True
            ) as client:
                return await client.request(
                    method,
                    path,
                    content=content,
                    files=files,
                    headers={"accept": "text/html", **(headers or {})},
                )

        return asyncio.run(answer())

    def save_example(self, name: str = "SQ03", **changed: str) -> PageContent:
        page = self.get("/new-plan?from=example")
        return self.post("/new-plan", {**page.fields, **changed, "name": name, "do": "save"})


def _seen(answer: httpx.Response) -> PageContent:
    return PageContent(answer.text, answer.status_code, answer.url.raw_path.decode())
