"""Every link of the documentation works, in the repository and in the application."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.app.web.support import get
from tests.docs.pages import PAGES, ROOT, anchors, links, name_of, parts

EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:")
MOST_WORDS = 4000


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_to_files_and_headings(page: Path) -> None:
    for target in links(page):
        path, _, fragment = target.partition("#")
        if EXTERNAL.match(target) or target.startswith("/"):
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        if fragment:
            assert fragment in anchors(file), target


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT], ids=name_of)
def test_links_to_the_application_resolve(page: Path, app: FastAPI) -> None:
    for target in links(page):
        if target.startswith("/"):
            assert get(app, target.partition("#")[0]).status == 200, target


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent == ROOT], ids=name_of)
def test_pages_outside_the_application_do_not_link_into_it(page: Path) -> None:
    assert [target for target in links(page) if target.startswith("/")] == []


def test_every_page_is_served_and_the_readme_lists_those_for_users(app: FastAPI) -> None:
    pages = [page for page in PAGES if page.parent != ROOT]
    named = set(links(ROOT / "README.md"))
    of_pages = {part for page in pages for part in parts(page)}
    for page in pages:
        assert get(app, "/" + name_of(page).removesuffix(".md")).status == 200, page
    contributing = {name_of(page) for page in pages if page.parent.name in {"contributing", "decisions"}}
    through_others = {"docs/reference/glossary.md", "docs/reference/problems.md"}
    assert {name_of(page) for page in pages if page not in of_pages} - contributing - through_others <= named


def test_divided_page_links_each_of_its_parts() -> None:
    divided = [page for page in PAGES if parts(page)]
    assert divided
    for page in divided:
        linked = {(page.parent / target).resolve() for target in links(page)}
        assert set(parts(page)) <= linked, page


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT], ids=name_of)
def test_page_has_at_most_4000_words(page: Path) -> None:
    """Examples and tables count; the bars and dashes that form a table do not."""
    words = re.findall(r"\S*\w\S*", page.read_text("utf-8"))
    assert len(words) <= MOST_WORDS, "divide it: move sections into a folder with the name of the page"


def test_images_exist() -> None:
    pictures = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", page.read_text("utf-8"))
    ]
    assert pictures
    for page, target in pictures:
        assert (page.parent / target).is_file(), target
