"""docs/reference/findings.md is generated from the catalogue, which contains every text that the page needs."""

from __future__ import annotations

import re

import pytest

from app.web.rendering import slug
from planner_core.findings import SEVERITIES, catalogue
from tests.docs.findings_page import PAGE, page
from tests.docs.pages import anchors, headings

SECTIONS = {"Errors": "error", "Warnings": "warning", "Info": "info"}


def entries() -> dict[str, tuple[str, str]]:
    """Return severity and text of each code on the page."""
    found: dict[str, tuple[str, str]] = {}
    severity = ""
    for level, title, text in re.findall(
        r"^(##+) ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        if level == "##":
            severity = SECTIONS[title]
        else:
            assert title not in found, f"{title} is on the page twice"
            found[title] = (severity, text)
    return found


def test_page_matches_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again: make findings"


def test_page_begins_with_its_purpose() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Findings"
    assert lines[2].startswith("A finding reports ")


def test_page_lists_exactly_the_existing_codes_with_their_severities() -> None:
    on_the_page = {code: severity for code, (severity, _) in entries().items()}
    assert on_the_page == {code: kind.severity for code, kind in catalogue().items()}


def test_page_has_a_section_for_each_severity_with_the_worst_first() -> None:
    sections = [heading for heading in headings(PAGE) if heading in SECTIONS]
    assert [SECTIONS[section] for section in sections] == list(SEVERITIES)


def test_every_code_has_an_anchor() -> None:
    assert {slug(code) for code in catalogue()} <= anchors(PAGE)


@pytest.mark.parametrize("code", catalogue())
def test_every_code_has_title_meaning_reason_remedy_and_source(code: str) -> None:
    kind = catalogue()[code]
    text = entries()[code][1]
    title, meaning, reason, remedy, source = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    assert title == f"**{kind.title}.**"
    assert meaning.endswith(".")
    assert re.fullmatch(r"\*Why it matters\.\* .+\.", reason)
    assert re.fullmatch(r"\*What to do\.\* .+\.", remedy)
    if kind.source.url:
        place = f"{kind.source.document}, {kind.source.section}".removesuffix(", ")
        assert source == f"*Source.* [{place}]({kind.source.url})"
    else:
        section = kind.source.section
        assert source == f"*Source.* [Assumptions, {section}](../explanation/assumptions.md#{slug(section)})"
