"""Rules for every page: nothing inline, labels for all fields, working links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from fastapi import FastAPI

from app.web.rendering import TEMPLATES_DIR
from tests.app.web.pages.addresses import PAGES, html, page
from tests.app.web.pages.html import Element

EVERY_PAGE = pytest.mark.parametrize(("address", "status"), PAGES.items(), ids=list(PAGES))


@EVERY_PAGE
def test_pages_have_no_inline_content_that_their_policy_forbids(
    app: FastAPI, address: str, status: int
) -> None:
    found = page(app, address, status=status)
    for element in found.walk():
        assert element.tag != "style"
        assert "style" not in element.attributes, element
        assert [name for name in element.attributes if name.startswith("on")] == []
        for name in ("href", "src", "action"):
            assert not (element.get(name) or "").lower().startswith("javascript:")
        if element.tag == "script":
            assert element["src"].startswith("/")
            assert element.text == ""


AS_TYPED = {"code", "pre", "textarea", "script", "option"}
"""Elements whose text may contain backticks."""


def own_words(element: Element) -> Iterator[str]:
    """Yield the texts of an element except those that are shown as typed."""
    for part in element.inside:
        if isinstance(part, str):
            yield part
        elif part.tag not in AS_TYPED:
            yield from own_words(part)


@EVERY_PAGE
def test_pages_mark_code_instead_of_showing_backticks(app: FastAPI, address: str, status: int) -> None:
    found = page(app, address, status=status)
    assert [words.strip() for words in own_words(found) if "`" in words] == []


@pytest.mark.parametrize(
    "template",
    sorted(TEMPLATES_DIR.rglob("*.html")),
    ids=lambda path: path.relative_to(TEMPLATES_DIR).as_posix(),
)
def test_templates_neither_disable_escaping_nor_contain_style_or_script(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape|\bstyle=|<style|\son[a-z]+=", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)


@EVERY_PAGE
def test_pages_load_scripts_styles_and_images_only_from_this_service(
    app: FastAPI, address: str, status: int
) -> None:
    found = page(app, address, status=status)
    for element in found.all("link") + found.all("script") + found.all("img"):
        target = element.get("href") or element["src"]
        assert not urlsplit(target).netloc, target


@EVERY_PAGE
def test_ids_are_unique_and_references_to_them_resolve(app: FastAPI, address: str, status: int) -> None:
    found = page(app, address, status=status)
    ids = Counter(element["id"] for element in found.walk() if "id" in element.attributes)
    assert [name for name, times in ids.items() if times > 1] == []
    for element in found.walk():
        for attribute in ("aria-labelledby", "aria-describedby", "for", "data-copy"):
            for name in (element.get(attribute) or "").split():
                assert name in ids, f"{attribute}={name}"


@EVERY_PAGE
def test_every_form_field_has_a_label(app: FastAPI, address: str, status: int) -> None:
    found = page(app, address, status=status)
    labels = {label["for"]: label.text for label in found.all("label")}
    for box in found.all("input"):
        assert box.get("type") == "hidden" or box.get("aria-label") or labels[box["id"]], box


@EVERY_PAGE
def test_browsers_do_not_complete_text_boxes(app: FastAPI, address: str, status: int) -> None:
    found = page(app, address, status=status)
    covered = {
        id(box)
        for form in found.walk()
        if form.tag == "form" and form.get("autocomplete")
        for box in form.walk()
    }
    assert [
        box
        for box in found.walk()
        if (box.tag, box.get("type")) == ("input", "text")
        and not box.get("autocomplete")
        and id(box) not in covered
    ] == []


@EVERY_PAGE
def test_headings_start_at_level_1_and_skip_none(app: FastAPI, address: str, status: int) -> None:
    main = page(app, address, status=status).one("main")
    levels = [int(element.tag[1]) for element in main.walk() if re.fullmatch(r"h[1-6]", element.tag)]
    assert levels[0] == 1
    if address != "/style":  # which shows one of each
        assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


@EVERY_PAGE
def test_table_headings_have_a_scope(app: FastAPI, address: str, status: int) -> None:
    for head in page(app, address, status=status).all("th"):
        assert head["scope"] in {"col", "colgroup", "row", "rowgroup"}


@EVERY_PAGE
def test_scrollable_regions_are_focusable_and_named(app: FastAPI, address: str, status: int) -> None:
    found = page(app, address, status=status)
    for region in found.all(role="region"):
        assert region["tabindex"] == "0"
        assert region["aria-label"]
    labels = [region["aria-label"] for region in found.all(role="region") + found.all(role="group")]
    assert len(set(labels)) == len(labels)
    for block in found.all("pre"):
        assert block["tabindex"] == "0"
        assert block["aria-label"]
    for table in found.all("table"):
        assert any(table in region.walk() for region in found.all(class_="scroll"))


@EVERY_PAGE
def test_titles_are_distinct_and_navigation_marks_the_current_page(
    app: FastAPI, address: str, status: int
) -> None:
    found = page(app, address, status=status)
    assert found.one("head").one("title").text.endswith(" · cfplan")
    current = [link.text for link in found.one("nav", aria_label="Main").all("a", aria_current="true")]
    section = address.split("?")[0].strip("/").split("/")[0]
    expected = {
        # The start page is the calculator until a test stores something.
        "": ("", "Overview") if found.all("h1")[0].text == "Overview" else ("Tools", "Quick calculator"),
        "calculator": ("Tools", "Quick calculator"),
        "whatif": ("Tools", "What if"), "lint": ("Tools", "Check a policy, MQSC or displays"),
        "merge": ("Tools", "Merge a plan into a policy"), "events": ("Tools", "Queue depth events"), "cluster": ("Tools", "Clusters"),
        **dict.fromkeys(("what-runs", "running", "plan-from-running"), ("Tools", "Compare with the running system")),
        "usage": ("Measurements", "Usage"), "forecasts": ("Measurements", "Forecasts"), **dict.fromkeys(("curves", "sizing-points"), ("Measurements", "Fitted curves")),
        **dict.fromkeys(("nights", "connections"), ("Measurements", "Nightly runs")), "import": ("Tools", "Import tables"), "notices": ("Measurements", "Notices"), **dict.fromkeys(("uploads", "new-upload", "qsg-map", "upload-files", "collection-kit"), ("Measurements", "Uploads")),
        "reference": ("Help", "Published tables"), "docs": ("Help", "Documentation"), "api": ("Help", "REST API"), "cf-levels": ("Measurements", "CFCC levels"),
    }  # fmt: skip
    menu, entry = expected.get(section, ("", ""))
    assert current == ([entry] if entry else [])
    menus = [each.text for each in found.one("nav", aria_label="Main").all("summary", class_="is-current")]
    assert menus == ([f"{menu}, current section"] if menu else [])


@EVERY_PAGE
def test_internal_links_resolve(app: FastAPI, address: str, status: int) -> None:
    found = page(app, address, status=status)
    here = _ids(found)
    for link in found.all("a"):
        whole = urljoin(f"http://cfplan{address}", link["href"])
        target, fragment = urldefrag(whole)
        parts = urlsplit(target)
        if parts.netloc != "cfplan" or not _is_page(link):
            continue
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        if "text" in link.classes:
            assert html(app, path).media_type == "text/plain"
            continue
        there = here if path == address else _ids(page(app, path))
        assert not fragment or fragment in there, link["href"]


@cache
def _ids(found: Element) -> set[str]:
    return {element["id"] for element in found.walk() if "id" in element.attributes}


def _is_page(link: Element) -> bool:
    return "download" not in link.attributes and not re.match(r"/(api/v|openapi|healthz)", link["href"])
