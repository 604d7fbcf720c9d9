"""docs/findings.md has every code of the catalogue, with its severity and its source, and no other."""

from __future__ import annotations

import re

import pytest

from app.templating import slug
from planner_core.findings import CATALOGUE, SEVERITIES
from tests.docs.pages import ROOT, anchors, headings

PAGE = ROOT / "docs" / "findings.md"
SECTIONS = {"Errors": "error", "Warnings": "warning", "Info": "info"}


def entries() -> dict[str, tuple[str, str]]:
    """Severity and text of each code on the page."""
    found: dict[str, tuple[str, str]] = {}
    severity = ""
    for level, title, text in re.findall(
        r"^(##+) ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        if level == "##":
            severity = SECTIONS[title]
        else:
            assert title not in found, f"{title} stands there twice"
            found[title] = (severity, text)
    return found


def test_the_page_begins_with_what_it_is_for() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Findings"
    assert lines[2].startswith("A finding tells you ")


def test_every_code_is_on_the_page_with_its_severity_and_no_other() -> None:
    on_the_page = {code: severity for code, (severity, _) in entries().items()}
    assert on_the_page == {code: kind.severity for code, kind in CATALOGUE.items()}


def test_there_is_one_section_for_each_severity_the_worst_first() -> None:
    sections = [heading for heading in headings(PAGE) if heading in SECTIONS]
    assert [SECTIONS[section] for section in sections] == list(SEVERITIES)


def test_a_code_can_be_linked_to() -> None:
    assert {slug(code) for code in CATALOGUE} <= anchors(PAGE)


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_code_is_told_with_meaning_reason_remedy_and_source(code: str) -> None:
    kind = CATALOGUE[code]
    text = entries()[code][1]
    title, meaning, reason, remedy, source = text.strip().split("\n\n")
    assert title == f"**{kind.title}.**"
    assert meaning.endswith(".")
    assert re.fullmatch(r"\*Why it matters\.\* .+\.", reason, re.DOTALL)
    assert re.fullmatch(r"\*What to do\.\* .+\.", remedy, re.DOTALL)
    if kind.source.url:
        place = f"{kind.source.document}, {kind.source.section}".removesuffix(", ")
        assert source == f"*Source.* [{place}]({kind.source.url})"
    else:
        section = kind.source.section
        assert source == f"*Source.* [Assumptions, {section}](assumptions.md#{slug(section)})"
