"""Every assumption that findings, tables and explanations cite has a page, which docs/explanation/assumptions.md lists."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from app.web.rendering import slug
from planner_core.findings import catalogue
from planner_core.tables import all_tables
from tests.docs.pages import ROOT, parts, rows, section, title

PAGE = ROOT / "docs/explanation/assumptions.md"
DOCUMENT = "cfplan, docs/explanation/assumptions.md"
TITLES = [title(part) for part in parts(PAGE)]


def cited_by_findings() -> Iterator[str]:
    for kind in catalogue().values():
        if kind.source.document == DOCUMENT:
            yield kind.source.section


def cited_by_tables() -> Iterator[str]:
    for table in all_tables():
        if table.source.document == DOCUMENT:
            yield table.source.section
        # A cell "project" names the source, the cell after it the place; a remark may follow a colon.
        for row in table.rows:
            for key, place in pairwise(row):
                if key == "project":
                    yield str(place).partition(":")[0]


def cited_by_code() -> Iterator[str]:
    for file in sorted((ROOT / "planner_core").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) == "source"
            ):
                words = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                if words[:1] == ["project"] and len(words) > 1:
                    yield str(words[1])


@pytest.mark.parametrize("cited", [cited_by_findings, cited_by_tables, cited_by_code])
def test_every_cited_section_exists(cited: Callable[[], Iterator[str]]) -> None:
    sections = set(cited())
    assert sections
    assert sections <= set(TITLES)


def test_page_lists_every_assumption_once_by_its_title() -> None:
    listed = [row[0] for row in rows(PAGE.read_text(encoding="utf-8"))]
    assert sorted(listed) == sorted(f"[{each}](assumptions/{slug(each)}.md)" for each in TITLES)


def test_file_of_an_assumption_is_named_by_its_title() -> None:
    assert [part.stem for part in parts(PAGE)] == [slug(each) for each in TITLES]


@pytest.mark.parametrize("assumption", TITLES)
def test_every_assumption_states_its_basis_error_and_check(assumption: str) -> None:
    text = section(PAGE, assumption)
    for part in ("**Assumed.**", "**Why.**", "**Based on.**", "**Possible error.**", "**Check.**"):
        assert text.count(part) == 1, part
