"""The layout check detects each defect on a page made for it, and reports none on pages without defects."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.layout import defects_at_width, layout_defects
from tests.browser.test_every_page import ADD

pytestmark = pytest.mark.browser

LABEL = "display: block; inline-size: 1rem"
DEFECTS = {
    "label in a column without width": (
        f"<label data-style='{LABEL}'>Kind of data</label>",
        "broken word",
    ),
    "short word where long ones may break": (
        f"<p class='mono' data-style='{LABEL}; overflow-wrap: anywhere'>Zone</p>",
        "broken word",
    ),
    "name of a row within a word": (
        "<table data-style='table-layout: fixed; inline-size: 8rem'><tr><th class='mono' data-style='overflow-wrap: anywhere'>increment_bytes_of_it</th></tr></table>",
        "broken word",
    ),
    "long word that is not declared": (
        "<p data-style='inline-size: 6rem'>INCOMPREHENSIBILITIES</p>",
        "broken word",
    ),
    "heading in a narrow table cell": (
        "<table data-style='table-layout: fixed; inline-size: 2rem'><tr><th>Entries</th></tr></table>",
        "broken word",
    ),
    "line longer than its hidden rest": (
        "<p data-style='inline-size: 6rem; overflow: hidden; white-space: nowrap'>the whole sentence</p>",
        "cut off",
    ),
    "ellipsis without the whole text elsewhere": (
        "<p data-style='inline-size: 6rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis'>the whole sentence</p>",
        "cut off",
    ),
    "lines below a fixed height": (
        "<p data-style='inline-size: 6rem; block-size: 1.5rem; overflow: hidden'>one two three four five</p>",
        "cut off",
    ),
    "label beyond the edge of a chart": (
        "<svg width='60' height='20'><text x='20' y='15'>1,024 MiB</text></svg>",
        "cut off",
    ),
    "line longer than its box": (
        "<p data-style='inline-size: 6rem; white-space: nowrap'>the whole sentence</p>",
        "outside its box",
    ),
    "lines below their box": (
        "<p data-style='inline-size: 6rem; block-size: 1.5rem'>one two three four five</p><p data-style='block-size: 9rem'></p>",
        "outside its box",
    ),
    "text left of the page": (
        "<p data-style='position: absolute; inset-inline-start: -40px'>before the edge</p>",
        "outside the page",
    ),
    "text right of the page": (
        "<p data-style='position: absolute; inset-inline-end: -40px'>after the edge</p>",
        "outside the page",
    ),
    "paragraph on the one before": (
        "<p>one sentence</p><p data-style='margin-block-start: -2rem'>another one</p>",
        "overlap",
    ),
    "labels of a chart": (
        "<svg width='200' height='20'><text x='5' y='15'>Monday</text><text x='30' y='15'>Tuesday</text></svg>",
        "overlap",
    ),
    "text at the edge of its colored cell": (
        "<table><tr><td data-style='padding: 0; background: red'>no place</td></tr></table>",
        "at the edge of a color",
    ),
    "text next to a colored cell": (
        "<table><tr><td data-style='padding: 0 1rem; background: red'></td><td data-style='padding: 0'>CF01</td></tr></table>",
        "at the edge of a color",
    ),
    "label under its box": (
        "<div data-style='display: flex'><label for='b'>Time zone</label><input id='b' data-style='margin-inline-start: -3rem'></div>",
        "overlap",
    ),
}
SOUND = {
    "identifier in a narrow box": "<code data-style='display: block; inline-size: 6rem; overflow-wrap: anywhere'>SYSTEM.QSG.CHANNEL.SYNCQ</code>",
    "break after a hyphen": "<p data-style='inline-size: 6rem'>queue-sharing-group</p>",
    "declared break": "<p data-style='inline-size: 6rem'>STRUCTURE_<wbr>NAMES</p>",
    "name of a row after an underscore": "<table data-style='table-layout: fixed; inline-size: 8rem'><tr><th class='mono' data-style='overflow-wrap: anywhere'>increment_<wbr>bytes_<wbr>of_<wbr>it</th></tr></table>",
    "room in colored cells": "<table><tr><td data-style='padding: 0 1rem; background: red'>no place</td></tr></table>",
    "line that scrolls": "<pre data-style='inline-size: 6rem; overflow-x: auto'>the whole sentence</pre>",
    "text for screen readers": "<p class='vh'>the whole sentence</p>",
    "closed details": "<details><summary>More</summary><p data-style='inline-size: 1rem'>Kind of data</p></details>",
    "footnote": "<p>1,024<sup>20</sup></p>",
    "ellipsis with a title": "<p title='the whole sentence' data-style='inline-size: 6rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis'>the whole sentence</p>",
}


@pytest.mark.parametrize("name", DEFECTS)
def test_layout_defect_is_detected(page: Page, name: str) -> None:
    html, kind = DEFECTS[name]
    page.goto("/nothing/here")
    page.evaluate(ADD, f"<section>{html}</section>")
    assert {each.partition(":")[0] for each in layout_defects(page)} == {kind}


def test_list_that_scrolls_is_detected_on_a_narrow_page_only(page: Page) -> None:
    page.goto("/nothing/here")
    wide = "<tbody><tr><td class='first'><span data-style='display: block; inline-size: 60rem; block-size: 1rem'></span></td></tr></tbody>"
    page.evaluate(
        ADD, f"<div class='scroll' aria-label='Table: structures'><table class='list'>{wide}</table></div>"
    )
    page.set_viewport_size({"width": 390, "height": 900})
    (found,) = layout_defects(page)
    assert found.startswith('scrolling list: "Table: structures"')
    page.set_viewport_size({"width": 1440, "height": 900})
    assert layout_defects(page) == []


def test_sound_pages_have_no_layout_defects(page: Page) -> None:
    page.goto("/nothing/here")
    page.evaluate(ADD, "".join(f"<section>{html}</section>" for html in SOUND.values()))
    assert layout_defects(page) == []


def test_page_that_overflows_is_detected_at_the_widths_that_are_too_narrow(page: Page) -> None:
    page.goto("/nothing/here")
    page.evaluate(
        ADD,
        "<div data-style='inline-size: 1200px; block-size: 1rem'></div><p data-style='inline-size: 1rem'>one Zone</p>",
    )
    wide, narrow = (defects_at_width(page, width_px) for width_px in (1440, 390))
    assert [each.partition(" in ")[0] for each in wide] == [
        'at 1440: broken word: "one"',
        'at 1440: broken word: "Zone"',
    ]
    assert narrow[0].startswith("at 390: ")
    assert narrow[0].endswith(" px too wide")
    assert [each.replace("390", "1440") for each in narrow[1:]] == wide
