"""Hostile values in every field of every form of a real server with SQLite.

The forms are found by following the links of the pages, so that new ones are covered. Each field gets a value that would become
markup or a template expression if it were not escaped, and one other value; the other fields have the values of the page.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app.texts.documents import example_text
from tests.app.accounts.support import COOKIE, add_token, add_user, app_with_accounts, bearer
from tests.app.web.pages.html import Element, read
from tests.hostile.test_routes import ADMINISTRATOR, OTHER_USER, STARTS, new_session
from tests.serving import ANSWER_S, served

pytestmark = pytest.mark.long

TAG, PRODUCT = "xq9", str(7 * 7 * 191 * 331)
MARKUP = f"\"'></textarea></title></script><{TAG} on{TAG}=1>{{{{7*7*191*331}}}}${{7*7*191*331}}"
HOSTILE = (
    "x'); DROP TABLE plans;--",
    "' OR '1'='1",
    f"a\r\nSet-Cookie: {TAG}=1\r\n\r\n<{TAG}>",
    "../../../../etc/passwd",
    "\x00\x1b[31m\x7f",
    "\u202e\ufeff\U0010ffff\u0085\u2028",
    "9" * 400,
    "-1e999",
    "NaN",
    "=cmd|'/c calc'!A1",
    f"javascript:{TAG}()",
    "%00%0a%s%n{0.__class__}",
)
OTHERS_OF_A_FIELD = 1
LEAST_FORMS, LEAST_SHOWN = 40, 25
"""Fewer would mean that the pages were not found, or that answers no longer show the rejected value."""


@dataclass(frozen=True)
class Form:
    """A form of a page with the values that a browser would send."""

    page: str
    method: str
    action: str
    is_multipart: bool
    values: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> tuple[object, ...]:
        """What forms of the same kind have in common; rows of tables and editors are numbered."""
        names = frozenset(_unnumbered(name) for name, _ in self.values)
        return self.method, _unnumbered(httpx.URL(self.action).path), names

    def fields(self) -> dict[str, str]:
        """Return one field of each kind."""
        return {_unnumbered(name): name for name, _ in reversed(self.values)}

    def send(self, client: httpx.Client, field: str, value: str) -> httpx.Response:
        """Send the form with this value in one field."""
        values = {**dict(self.values), field: value}
        if self.method == "get":
            return client.get(httpx.URL(self.action).path, params=values)
        if self.is_multipart:
            return client.post(self.action, files=[(name, (None, text)) for name, text in values.items()])
        return client.post(self.action, data=values)


def _unnumbered(text: str) -> str:
    return re.sub(r"[0-9]+", "0", text)


def _values(form: Element) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the fields of a form."""
    for each in form.all():
        name = each.get("name")
        if not name:
            continue
        if each.tag == "textarea":
            yield name, each.raw_text.removeprefix("\n")
        elif each.tag == "select":
            options = each.all("option")
            chosen = next(
                (one for one in options if one.get("selected") is not None), options[0] if options else None
            )
            yield name, "" if chosen is None else chosen.get("value") or chosen.text
        elif each.tag == "button":
            yield name, each.get("value") or ""
        elif each.tag == "input" and each.get("type") != "file":
            is_box = each.get("type") in ("checkbox", "radio")
            if not is_box or each.get("checked") is not None:
                yield name, each.get("value") or ("on" if is_box else "")


def _forms_of(page: str, root: Element) -> Iterator[Form]:
    for form in root.all("form"):
        # The first button of a name is the one that Enter in a field presses.
        values = dict(reversed(list(_values(form))))
        yield Form(
            page=page,
            method=(form.get("method") or "get").lower(),
            action=str(httpx.URL(page).join(form.get("action") or "")),
            is_multipart=form.get("enctype") == "multipart/form-data",
            values=tuple(values.items()),
        )


def crawl(client: httpx.Client) -> list[Form]:
    """Return one form of each kind on all pages."""
    found: dict[tuple[object, ...], Form] = {}
    waiting, seen = list(STARTS), set(STARTS)
    while waiting:
        page = waiting.pop()
        answer = client.get(page)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        root = read(answer.text)
        for form in _forms_of(page, root):
            if form.values:
                found.setdefault(form.kind, form)
        for link in root.all("a"):
            to = link.get("href") or ""
            at = httpx.URL(page).join(to).path if to.startswith(("/", "?")) else ""
            if at and at not in seen and not at.startswith(("/docs", "/api", "/static")):
                seen.add(at)
                waiting.append(at)
    return list(found.values())


def _faults(answer: httpx.Response) -> Iterator[str]:
    if answer.status_code >= 500:
        yield f"status {answer.status_code}"
    if TAG in answer.headers.get("set-cookie", ""):
        yield "a header of the value"
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return
    if PRODUCT in answer.text:
        yield "an evaluated expression"
    for each in read(answer.text).all():
        if TAG in each.tag or any(TAG in name for name in each.attributes):
            yield f"markup of the value: {each.tag}"
        if any(
            (each.get(name) or "").strip().lower().startswith("javascript:")
            for name in ("href", "src", "action")
        ):
            yield "an address that runs a script"


@pytest.fixture
def site(tmp_path: Path) -> FastAPI:
    """Return the application with two users and no jobs."""
    app = app_with_accounts(tmp_path, approval=True)
    add_user(app, ADMINISTRATOR, "administrator")
    add_user(app, OTHER_USER, "planner")
    return app


def _tables(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "cfplan.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return sorted(
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        )


def test_hostile_values_in_form_fields_cause_no_error_and_are_escaped(site: FastAPI) -> None:
    data: Path = site.state.settings.data_dir
    faults, sent, shown = [], 0, set()
    others = itertools.cycle(HOSTILE)
    with (
        served(site, runs_jobs=False) as address,
        httpx.Client(base_url=address, timeout=4 * ANSWER_S) as client,
    ):
        headers = {"content-type": "application/yaml", **bearer(add_token(site, OTHER_USER, "planner"))}
        made = client.put("/api/v1/plans/SQ03", content=example_text().encode(), headers=headers)
        assert made.status_code == 201
        client.cookies[COOKIE] = new_session(site)
        forms = crawl(client)
        before = _tables(data)
        for form in forms:
            for field in form.fields().values():
                for value in (MARKUP, *itertools.islice(others, OTHERS_OF_A_FIELD)):
                    answer = form.send(client, field, value)
                    if answer.has_redirect_location and answer.headers["location"].startswith("/sign-in"):
                        # An earlier form ended the session or removed the user's rights.
                        client.cookies.clear()
                        client.cookies[COOKIE] = new_session(site)
                        answer = form.send(client, field, value)
                    sent += 1
                    faults += [
                        f"{form.method} {form.action} {field} {value[:30]!r}: {each}"
                        for each in _faults(answer)
                    ]
                    if value is MARKUP and f"&lt;{TAG}" in answer.text:
                        shown.add(form.kind)
        assert client.get("/healthz").status_code == 200
    print(f"{len(forms)} forms, {sent} requests; {len(shown)} forms show the value again")
    assert faults == []
    assert _tables(data) == before
    assert len(forms) >= LEAST_FORMS
    assert len(shown) >= LEAST_SHOWN
