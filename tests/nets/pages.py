"""The pages: every one that links lead to, and the answers to every form with its own values and with bad ones."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.nets.application import ADDRESS, Application, shown
from tests.nets.surroundings import ROOT
from tests.nets.texts import Texts

BAD = "x!"
HTML = {"accept": "text/html"}
MOST_QUERIES = 6
"""Addresses of one path that differ in their query only."""
MOST_ALIKE = 3
"""Pages whose forms go to the same kind of address and have the same fields."""
MOST_FIELDS = 60
"""Fields of one form that get a bad value, one at a time."""
OUTSIDE = ("/static", "/assets", "/openapi.json", "/healthz")
SAMPLES = "/style"
"""Forms there lead nowhere: they show what forms look like."""
TYPED = ("text", "search", "number", "hidden", "", "date", "datetime-local", "email", "url")
WITHOUT_LINKS = (
    "/docs", "/style", "/api/docs", "/nothing/here", "/sheet", "/export-plans", "/import-plans", "/deleted-plans",
    "/?messages=2OO&message_bytes=&qsg=SQ033&structure=1AB&queue=a%20b&size_factor=9",
    "/whatif/upgrade?cfcc=x&years=one", "/whatif/cf-loss?plan=NONE", "/whatif/recovery?recovery_minutes=soon",
    "/whatif/smds?plan=.example&queue_managers=QM01+QM01", "/plans/NONE", "/plans/SQ03/versions/99", "/uploads/999",
    "/curves/999", "/nights/999", "/usage/NO/NOTHING", "/forecasts/NO/NOTHING", "/docs/nothing", "/reference/nothing",
    "/plans?page=2", "/plans?search=sq", "/uploads?page=9", "/usage?search=orders", "/forecasts?page=2", "/nights?page=2",
    "/quick/policy", "/quick/mqsc", "/quick/setxcf", "/quick/json", "/quick/nothing", "/quick/policy?messages=x",
)  # fmt: skip
FIRST = (
    "/", "/plans", "/new-plan", "/lint?example", "/merge?example", "/running?example", "/plan-from-running?example",
    "/events/simulate?example=perfmev-differs", "/events/read?example=three-members", "/cluster/decide?example=rank-holds",
    "/cluster/explain?example=runmqsc", "/cluster/explain?example=zos", "/whatif",
)  # fmt: skip


@dataclass
class Form:
    """A form of a page with the values that a browser would send."""

    page: str
    action: str
    method: str
    values: list[tuple[str, str]] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What forms of the same kind have in common: names of plans and structures and numbers do not count."""
        names = sorted({re.sub(r"[0-9]+", "0", name) for name, _ in self.values})
        steps = path_of(self.action).split("/")
        return f"{self.method} {steps[1]} {steps[-1] if len(steps) > 2 else ''} {names}"


class Page(HTMLParser):
    """The links and the forms of a page."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []
        self._address = address
        self._by_id: dict[str, Form] = {}
        self._form: Form | None = None
        self._select: tuple[Form, str, bool] | None = None
        self._options: list[tuple[str, bool]] = []
        self._area: tuple[Form, str] | None = None
        self._text: list[str] = []
        self.feed(text)

    def joined(self, link: str) -> str:
        """An address of the application, without its fragment; empty for others."""
        found = httpx.URL(ADDRESS + self._address).join(link)
        inside = str(found).startswith(ADDRESS)
        return str(found.copy_with(fragment=None)).removeprefix(ADDRESS) or "/" if inside else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "a" and given.get("href", "").startswith(("/", "?")):
            self.links.append(self.joined(given["href"]))
        if tag == "form":
            action = self.joined(given.get("action") or self._address)
            self._form = Form(self._address, action, given.get("method", "get").lower())
            self.forms.append(self._form)
            self._by_id[given.get("id", "")] = self._form
        form = self._by_id.get(given["form"]) if "form" in given else self._form
        name = given.get("name", "")
        if form is None or "disabled" in given:
            return
        if tag == "textarea" and name:
            self._area, self._text = (form, name), []
        elif tag == "select" and name:
            self._select, self._options = (form, name, "multiple" in given), []
        elif tag == "option" and self._select is not None:
            self._options.append((given.get("value", ""), "selected" in given))
        elif tag == "button" and name:
            form.buttons.append((name, given.get("value", "")))
        elif tag == "input" and name:
            self._input(form, name, given)

    def _input(self, form: Form, name: str, given: dict[str, str]) -> None:
        kind = given.get("type", "text").lower()
        if kind in ("checkbox", "radio"):
            if "checked" in given:
                form.values.append((name, given.get("value", "on")))
        elif kind == "file":
            form.files.append(name)
        elif kind in ("submit", "image"):
            form.buttons.append((name, given.get("value", "")))
        else:
            form.values.append((name, given.get("value", "")))
            if kind in TYPED:
                form.typed.append(name)

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "textarea" and self._area is not None:
            form, name = self._area
            form.values.append((name, "".join(self._text).removeprefix("\n")))
            form.typed.append(name)
            self._area = None
        elif tag == "select" and self._select is not None:
            form, name, is_multiple = self._select
            chosen = [value for value, is_selected in self._options if is_selected]
            if not chosen and not is_multiple:
                chosen = [value for value, _ in self._options[:1]]
            form.values += [(name, value) for value in chosen]
            self._select = None


def path_of(address: str) -> str:
    """An address without its query."""
    return address.partition("?")[0]


def write(application: Application, texts: Texts, work: Path) -> None:
    """Write all of it."""
    forms: dict[str, list[Form]] = {}
    count = Counter[str]()
    waiting = deque([*FIRST, *WITHOUT_LINKS])
    seen = set(waiting)
    while waiting:
        address = waiting.popleft()
        answer = application.get(address, **HTML)
        texts.add("pages-get", address, f"GET {address}\n{shown(answer)}")
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        page = Page(address, answer.text)
        for form in page.forms:
            alike = forms.setdefault(form.kind, [])
            if len(alike) < MOST_ALIKE and not address.startswith(SAMPLES):
                alike.append(form)
        for link in page.links:
            path = path_of(link)
            if link and link not in seen and not path.startswith(OUTSIDE) and count[path] < MOST_QUERIES:
                seen.add(link)
                count[path] += 1
                waiting.append(link)
    on_page = Counter[str]()
    tried: dict[str, set[str]] = {}
    for alike in forms.values():
        for form in alike:
            at = f"{form.method} {form.action} {form.page}"
            on_page[at] += 1
            steps = path_of(form.action).split("/")
            kind_of_address = f"{form.method} {steps[1]} {steps[-1]}"
            seen_fields = tried.setdefault(kind_of_address, set()) if form is alike[0] else None
            send(application, texts, form, number=on_page[at], seen=seen_fields)
    unreached(application, texts, forms)


def send(application: Application, texts: Texts, form: Form, *, number: int, seen: set[str] | None) -> None:
    """Send a form as it is and by each of its buttons; the first of its kind also empty and with bad values.

    `seen` are the kinds of fields that had a bad value before.
    """
    tried: list[tuple[str, list[tuple[str, str]]]] = [("as it is", form.values)]
    tried += [
        (f"button {name}={value}", [*form.values, (name, value)])
        for name, value in list(dict.fromkeys(form.buttons))[:12]
    ]
    if seen is not None:
        tried.append(("empty", [(name, "" if name in form.typed else value) for name, value in form.values]))
        tried.append(
            ("all bad", [(name, BAD if name in form.typed else value) for name, value in form.values])
        )
        for name in form.typed:
            kind = re.sub(r"[0-9]+", "0", name)
            if kind not in seen and len(seen) < MOST_FIELDS:
                seen.add(kind)
                changed = [(each, BAD if each == name else value) for each, value in form.values]
                tried.append((f"bad {name}", changed))
    for remark, values in tried:
        text = answer_to(application, form, values)
        label = f"{form.method} {form.action} from {form.page} {number}. {remark}"
        texts.add(f"pages-{form.method}-form", label, f"{label}\n{text}")


def answer_to(application: Application, form: Form, values: list[tuple[str, str]]) -> str:
    """The answer to a form, and the page that it leads to; the database goes back to its first state."""
    if form.method == "get":
        return shown(application.get(f"{path_of(form.action)}?{urlencode(values)}", **HTML))
    given: dict[str, Any] = {"headers": HTML}
    if form.files:
        given["files"] = [
            *((name, (None, value.encode())) for name, value in values),
            *((name, ("night.txt", b"nothing in it\n")) for name in form.files),
        ]
    else:
        given["content"] = urlencode(values)
        given["headers"] = {**HTML, "content-type": "application/x-www-form-urlencoded"}
    answer = application.send("POST", form.action, **given)
    text = shown(answer)
    if answer.is_redirect:
        to = str(httpx.URL(ADDRESS + form.action).join(answer.headers["location"])).removeprefix(ADDRESS)
        text += f"\n\nGET {to}\n{shown(application.get(to, **HTML))}"
    application.restore()
    return text


def unreached(application: Application, texts: Texts, forms: dict[str, list[Form]]) -> None:
    """Requests that no form of a page sends: scripts do, or pages of other data."""
    by_action = {path_of(form.action): form for alike in forms.values() for form in alike}
    editor = by_action.get("/new-plan")
    if editor is not None:
        for remark, values in (
            ("as it is", editor.values),
            ("bad", [(name, BAD if name in editor.typed else value) for name, value in editor.values]),
        ):
            preview = Form("/new-plan", "/plan-preview", "post", values)
            text = answer_to(application, preview, values)
            texts.add("pages-post-form", f"post /plan-preview {remark}", text)
    for file in sorted(ROOT.glob("app/**/examples/**/*.yaml"), key=lambda each: each.name):
        answer = application.send(
            "POST",
            "/import-plans",
            files=[("files", (file.name, file.read_bytes())), ("file", (file.name, file.read_bytes()))],
            headers=HTML,
        )
        texts.add("pages-post-form", f"post /import-plans {file.name}", shown(answer))
        application.restore()
