"""The files of docs/ as pages: complete, in order, with headings, tables and working links."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI

from app.documentation.articles import Summary
from app.documentation.library import DOCS_DIR, PURPOSES, SHELVES, SUBJECTS, divided_page, parts, shelves
from app.documentation.markdown import page_link, read_summary, render_article
from app.web.rendering import TEMPLATES_DIR
from tests.app.web.pages.addresses import ARTICLES, FIRST_PARTS, PARTS, html, page
from tests.app.web.pages.html import read
from tests.app.web.support import get

EVERY_ARTICLE = pytest.mark.parametrize("address", ARTICLES)
EVERY_PAGE = pytest.mark.parametrize(
    "address", [*ARTICLES, *(each for each in PARTS if "/findings/" not in each)]
)
"""All pages, except those of findings, which are generated with one form."""
DIVIDED = tuple(entry.slug for shelf in shelves() for entry in shelf.entries if parts(entry.slug))


def test_every_file_is_in_exactly_one_section_of_the_list() -> None:
    files = sorted(path.relative_to(DOCS_DIR).with_suffix("").as_posix() for path in DOCS_DIR.rglob("*.md"))
    assert sorted(address.removeprefix("/docs/") for address in (*ARTICLES, *PARTS)) == files


def test_folders_are_sections_in_the_configured_order() -> None:
    titles = [shelf.title for shelf in shelves()]
    assert titles == [folder.replace("-", " ").capitalize() for folder in SHELVES]
    for shelf, (folder, names) in zip(shelves(), SHELVES.items(), strict=True):
        slugs = [entry.slug for entry in shelf.entries]
        assert slugs[: len(names)] == [f"{folder}/{name}" for name in names]
        assert {slug.partition("/")[0] for slug in slugs} == {folder}


def test_pages_of_a_long_folder_are_grouped_by_subject_in_their_order() -> None:
    for shelf, folder in zip(shelves(), SHELVES, strict=True):
        subjects = SUBJECTS.get(folder, {})
        assert [group.title for group in shelf.groups] == (list(subjects.values()) or [""])
        if subjects:
            firsts = [group.entries[0].slug for group in shelf.groups]
            assert firsts[0] == shelf.entries[0].slug
            assert firsts[1:] == [f"{folder}/{name}" for name in list(subjects)[1:]]


@EVERY_ARTICLE
def test_only_the_folder_of_the_page_is_open_in_the_sidebar(app: FastAPI, address: str) -> None:
    aside = page(app, address).one("nav", aria_label="Documentation")
    (opened,) = [folder for folder in aside.all("details") if "open" in folder.attributes]
    assert address in [link["href"] for link in opened.all("a")]


@pytest.mark.parametrize("folder", [folder for folder, names in SHELVES.items() if names])
def test_old_addresses_without_folders_redirect(app: FastAPI, folder: str) -> None:
    for name in SHELVES[folder]:
        answer = get(app, f"/docs/{name}")
        assert (answer.status, answer.headers["location"]) == (308, f"/docs/{folder}/{name}")


def test_decision_records_are_listed_by_number() -> None:
    slugs = [entry.slug for entry in shelves()[-1].entries]
    assert slugs[0] == "decisions/README"
    assert slugs[1:] == sorted(slugs[1:])


def test_list_contains_every_page(app: FastAPI) -> None:
    links = [link["href"] for link in page(app, "/docs").one("main").all("a")]
    assert links == list(ARTICLES)


def test_next_and_previous_links_lead_through_all_pages(app: FastAPI) -> None:
    walked, address = [ARTICLES[0]], ARTICLES[0]
    while following := page(app, address).all("a", rel="next"):
        address = following[0]["href"]
        walked.append(address)
    assert walked == list(ARTICLES)
    back = [address]
    while before := page(app, address).all("a", rel="prev"):
        address = before[0]["href"]
        back.append(address)
    assert back == walked[::-1]


@EVERY_PAGE
def test_page_has_the_headings_of_its_file_with_anchors(app: FastAPI, address: str) -> None:
    text = (DOCS_DIR / f"{address.removeprefix('/docs/')}.md").read_text(encoding="utf-8")
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"[`*]", "", line).lstrip("# ") for line in re.findall(r"^#+ .+$", text, re.MULTILINE)]
    shown = page(app, address)
    found = [
        element.text.removesuffix("#").strip()
        for element in shown.one("article").walk()
        if re.fullmatch(r"h[1-6]", element.tag)
    ]
    assert found == headings
    assert shown.one("head").one("title").text == f"{headings[0]} · cfplan"
    for element in shown.one("article").all("a", class_="anchor"):
        assert shown.one(id=element["href"].removeprefix("#"))


@EVERY_PAGE
def test_page_has_every_table_and_code_block_of_its_file(app: FastAPI, address: str) -> None:
    text = (DOCS_DIR / f"{address.removeprefix('/docs/')}.md").read_text(encoding="utf-8")
    article = page(app, address).one("article")
    without_code = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(article.all("table")) == len(re.findall(r"^ *\|[ :|-]+\|$", without_code, re.MULTILINE))
    assert len(article.all("pre")) == len(re.findall(r"^ *```[a-z]*$", text, re.MULTILINE)) // 2


@EVERY_ARTICLE
def test_sidebar_marks_the_current_page(app: FastAPI, address: str) -> None:
    aside = page(app, address).one("nav", aria_label="Documentation")
    assert [link["href"] for link in aside.all("a", aria_current="page")] == [address]


@pytest.mark.parametrize(
    ("href", "at", "expected"),
    [
        ("glossary.md", "a.md", "glossary"),
        ("glossary.md#entry", "a.md", "glossary#entry"),
        ("#here", "a.md", "#here"),
        ("../findings.md", "contributing/a.md", "../findings"),
        ("../CONTRIBUTING.md", "a.md", "./"),
        ("../../planner_core/plan/result.py", "contributing/a.md", "../"),
        ("https://example.org/a.md", "a.md", "https://example.org/a.md"),
        ("/reference/limits", "a.md", "/reference/limits"),
    ],
)
def test_links_between_files_become_links_between_pages(href: str, at: str, expected: str) -> None:
    assert page_link(href, at=at) == expected


def test_long_name_may_break_after_an_underscore() -> None:
    article = render_article("# A_B c_d\n\n`X_Y`\n", at="a.md")
    assert "A_<wbr>B c_d" in article.html
    assert "<code>X_Y</code>" in article.html
    assert article.title == "A_B c_d"


def test_comment_line_in_a_file_is_not_shown() -> None:
    article = render_article("# A\n\n<!-- generated -->\nText.\n<!-- end -->\n", at="a.md")
    assert read(str(article.html)).text == "A Text."


def test_raw_html_in_a_file_is_escaped() -> None:
    article = render_article("# A\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n", at="a.md")
    found = read(str(article.html))
    assert found.all("script") == []
    assert all(not link["href"].startswith("javascript:") for link in found.all("a"))
    assert "<script>alert(1)</script>" in found.text


def test_equal_headings_have_different_anchors() -> None:
    article = render_article("# A\n\n## Same\n\n## Same\n\n## `Code` & more\n", at="a.md")
    assert [heading.anchor for heading in article.headings] == ["same", "same-1", "code--more"]


def test_wide_table_has_the_headings_that_its_cards_show() -> None:
    long = "a text that is longer than a column of a phone"
    table = f"# A\n\n| name | unit | meaning |\n|---|--:|---|\n| x | s | {long} |\n| y | 1 | short |\n"
    shown = read(f"<article>{render_article(table, at='a.md').html}</article>")
    assert shown.one("table")["class"] == "list"
    cells = [(cell.attributes.get("data-label"), cell.attributes.get("class")) for cell in shown.all("td")]
    assert cells == [(None, "first"), ("unit", "r"), ("meaning", "first")] * 2
    for narrow in (table.replace(long, "text"), "# A\n\n| a | b |\n|---|---|\n| x | " + long + " |\n"):
        assert "class" not in read(str(render_article(narrow, at="a.md").html)).one("table").attributes


def test_number_columns_are_aligned_without_inline_style() -> None:
    article = render_article("# A\n\n| a | b |\n|---|--:|\n| x | 1 |\n", at="a.md")
    found = read(str(article.html))
    assert [cell.text for cell in found.all(class_="r")] == ["b", "1"]
    assert all("style" not in element.attributes for element in found.walk())


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "../README",
        "..%2f..%2fetc%2fpasswd",
        "glossary.md",
        "images/filling.svg",
        "images/..%2fglossary.md",
        "%00",
    ],
)
def test_only_existing_pages_are_served(app: FastAPI, path: str) -> None:
    assert html(app, f"/docs/{path}").status == 404


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("# A\n\nTo do `this`,\nor that. More.\n", "To do this, or that."),
        ("# A\n\nTo do this:\n\n- one\n", "To do this"),
        ("# A\n\n## B\n\nText.\n", ""),
        ("Text.\n", ""),
        ("# A\n", ""),
    ],
)
def test_first_sentence_of_a_page_is_its_summary_in_the_list(text: str, lead: str) -> None:
    assert read_summary(text, at="a.md").lead == lead


def test_summary_ignores_everything_below_the_first_paragraph() -> None:
    text = "# A `b`\n\nTo do\nthis. More.\n"
    more = "\nNext.\n\n# Another title\n\n```\nopen"
    assert (
        read_summary(text + more, at="a.md") == read_summary(text, at="a.md") == Summary("A b", "To do this.")
    )


def test_page_without_a_title_is_listed_by_its_file() -> None:
    assert read_summary("Text.\n", at="a/b.md").title == "a/b.md"


@pytest.mark.parametrize("address", FIRST_PARTS)
def test_sidebar_of_a_part_marks_the_divided_page(app: FastAPI, address: str) -> None:
    aside = page(app, address).one("nav", aria_label="Documentation")
    above = divided_page(address.removeprefix("/docs/"))
    assert [link["href"] for link in aside.all("a", aria_current="true")] == [f"/docs/{above}"]
    assert aside.all("a", aria_current="page") == []
    assert page(app, address).one("a", rel="up")["href"] == f"/docs/{above}"


@pytest.mark.parametrize("slug", DIVIDED)
def test_next_links_lead_from_a_divided_page_through_its_parts(app: FastAPI, slug: str) -> None:
    own = [f"/docs/{part.slug}" for part in parts(slug)]
    listed = [
        link["href"]
        for link in page(app, f"/docs/{slug}").one("article").all("a")
        if link["href"].startswith(f"{slug.rpartition('/')[2]}/")
    ]
    assert [f"/docs/{slug.rpartition('/')[0]}/{each}" for each in dict.fromkeys(listed)] == own
    walked = [own[0]]
    while following := page(app, walked[-1]).all("a", rel="next"):
        walked.append(following[0]["href"])
    assert walked == own
    assert page(app, own[0]).one("a", rel="prev")["href"] == f"/docs/{slug}"


@pytest.mark.parametrize(
    ("old", "status", "new"),
    [
        ("findings", 308, "reference/findings"),
        ("findings/DSGROUP_MISSING", 308, "reference/findings/DSGROUP_MISSING"),
        ("reference/findings/dsgroup_missing", 308, "reference/findings/DSGROUP_MISSING"),
        ("reference/findings/OF_AN_OLDER_VERSION", 307, "reference/findings"),
        ("explanation/assumptions/of-an-older-version", 307, "explanation/assumptions"),
    ],
)
def test_other_addresses_of_parts_redirect(app: FastAPI, old: str, status: int, new: str) -> None:
    answer = get(app, f"/docs/{old}")
    assert (answer.status, answer.headers["location"]) == (status, f"/docs/{new}")


@pytest.mark.parametrize(
    ("address", "anchor", "part"),
    [
        ("/docs/reference/findings", "dsgroup_missing", "findings/DSGROUP_MISSING"),
        ("/docs/explanation/assumptions", "two-pools", "assumptions/two-pools"),
        ("/docs/reference/command-line", "cfplan-whatif", "command-line/whatif"),
    ],
)
def test_anchor_of_an_old_section_is_the_row_that_links_its_page(
    app: FastAPI, address: str, anchor: str, part: str
) -> None:
    row = page(app, address).one("article").one(id=anchor)
    assert row.tag == "tr"
    assert row.all("a")[0]["href"] == part


def test_templates_link_findings_by_their_pages() -> None:
    old = re.compile(r"/docs/(?:reference/findings|explanation/assumptions)#")
    assert [path.name for path in TEMPLATES_DIR.rglob("*.html") if old.search(path.read_text("utf-8"))] == []


def test_long_page_lists_its_sections_twice_for_wide_and_narrow_screens(app: FastAPI) -> None:
    shown = page(app, "/docs/reference/plan-document")
    sections = [f"#{element['id']}" for element in shown.one("article").all("h2")]
    assert [link["href"] for link in shown.one(class_="sections").all("a")] == sections
    assert [link["href"] for link in shown.one("details", class_="sections-short").all("a")] == sections


def test_page_with_few_sections_has_no_list_of_them(app: FastAPI) -> None:
    shown = page(app, PARTS[0])
    assert shown.all(class_="sections") == shown.all(class_="sections-short") == []


def test_search_on_the_list_of_pages_finds_only_pages(app: FastAPI) -> None:
    form = page(app, "/docs").one("form", aria_label="Documentation")
    sent = {field["name"]: field.get("value") for field in form.all("input")}
    assert sent == {"q": None, "kind": "docs"}
    answer = html(app, f"{form['action']}?q=DSGROUP_MISSING&kind=docs")
    links = [link["href"] for link in read(answer.text).one("main").all("a")]
    assert "/docs/reference/findings/DSGROUP_MISSING" in links


def test_every_folder_has_its_purpose_in_the_list(app: FastAPI) -> None:
    assert set(PURPOSES) == set(SHELVES)
    shown = page(app, "/docs").one("main").text
    assert all(f"{purpose}." in shown for purpose in PURPOSES.values())


def test_row_without_a_link_to_a_part_has_no_anchor() -> None:
    text = "# A\n\n| a |\n|---|\n| [`x y`](a/x.md) |\n| [b](b.md) |\n| see [x](a/x.md) |\n"
    found = read(str(render_article(text, at="b/a.md").html))
    assert [row.attributes.get("id") for row in found.all("tr")] == [None, "x-y", None, None]


def test_screenshots_of_pages_are_served(app: FastAPI) -> None:
    shown = page(app, "/docs/how-to/grafana").one("article").one("img")
    assert shown["alt"]
    answer = get(app, urljoin("/docs/how-to/grafana", shown["src"]))
    assert (answer.status, answer.media_type) == (200, "image/png")
    assert answer.content == (DOCS_DIR / "images" / Path(shown["src"]).name).read_bytes()


def test_drawing_is_a_part_of_the_page_with_its_name() -> None:
    article = render_article("# A\n\n![A <b> & c](../images/filling.svg)\n", at="b/a.md")
    drawing = read(str(article.html)).one("svg")
    assert (drawing["role"], drawing["aria-label"]) == ("img", "A <b> & c")
    assert drawing.all("style") == []


@EVERY_ARTICLE
def test_title_and_summary_in_the_list_are_the_beginning_of_the_page(app: FastAPI, address: str) -> None:
    (entry,) = [each for shelf in shelves() for each in shelf.entries if f"/docs/{each.slug}" == address]
    title, below, *_ = [
        each for each in page(app, address).one("article").inside if not isinstance(each, str)
    ]
    assert entry.title == title.text
    # A paragraph directly below the title has the lead; before a heading or a list, there is none.
    assert bool(entry.about) == (below.tag == "p")
    assert below.text.startswith(entry.about)


def test_every_user_page_has_a_summary_in_the_list(app: FastAPI) -> None:
    shown = page(app, "/docs").one("main").text
    users = [shelf for shelf in shelves() if shelf.title not in ("Contributing", "Decisions")]
    for entry in (entry for shelf in users for entry in shelf.entries):
        assert entry.about
        assert " ".join(entry.about.split()) in shown
