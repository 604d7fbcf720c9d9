"""docs/reference/findings.md and the pages of the codes are generated from the catalogue, which contains all their texts."""

from __future__ import annotations

import re

import pytest

from app.web.rendering import slug
from planner_core.findings import catalogue
from tests.docs.findings_page import FOLDER, PAGE, contents, page, pages, subjects
from tests.docs.pages import headings, rows


def test_list_of_findings_matches_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == contents(), "write it again: make findings"


@pytest.mark.parametrize("code", catalogue())
def test_page_of_a_code_matches_the_catalogue(code: str) -> None:
    shown = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    assert shown == page(catalogue()[code]), "write it again: make findings"


def test_folder_of_findings_has_exactly_the_pages_of_the_codes() -> None:
    assert {*FOLDER.iterdir(), PAGE} == set(pages())


def test_list_of_findings_begins_with_its_purpose() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Findings"
    assert lines[2].startswith("A finding reports ")


def test_list_of_findings_has_each_code_once_with_its_severity_and_title() -> None:
    listed = list(rows(PAGE.read_text(encoding="utf-8")))
    assert listed == [
        [f"[{kind.code}](findings/{kind.code}.md)", kind.severity, kind.title]
        for kind in catalogue().values()
    ]


def test_list_of_findings_has_a_heading_for_each_subject() -> None:
    assert headings(PAGE) == list(subjects())
    assert sum(map(len, subjects().values())) == len(catalogue())


@pytest.mark.parametrize("code", catalogue())
def test_page_of_a_code_has_title_meaning_reason_remedy_and_source(code: str) -> None:
    kind = catalogue()[code]
    text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    name, title, meaning, reason, remedy, source = (
        " ".join(part.split()) for part in text.strip().split("\n\n")
    )
    assert name == f"# {code}"
    assert title == f"**{kind.title}.** Severity: {kind.severity}."
    assert meaning.endswith(".")
    assert re.fullmatch(r"\*Why it matters\.\* .+\.", reason)
    assert re.fullmatch(r"\*What to do\.\* .+\.", remedy)
    if kind.source.url:
        place = f"{kind.source.document}, {kind.source.section}".removesuffix(", ")
        assert source == f"*Source.* [{place}]({kind.source.url})"
    else:
        section = kind.source.section
        assert (
            source == f"*Source.* [Assumptions, {section}](../../explanation/assumptions/{slug(section)}.md)"
        )
