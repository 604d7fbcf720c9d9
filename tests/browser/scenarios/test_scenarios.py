"""Scenarios in a browser: creation and comparison by keyboard, without scripts, at every width, and in print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.keys import press, tab_to, walk
from tests.browser.test_every_page import is_accessible_and_fits

pytestmark = pytest.mark.browser

AT = "/plans/SCENES/scenarios"
ADDRESSES = (
    AT,
    f"{AT}/new",
    f"{AT}/outage/edit",
    f"{AT}/compare?of=more,outage,duplexed",
    f"{AT}/compare?of=more&show=all",
    f"{AT}/compare",
    f"{AT}/outage/report",
    f"{AT}/duplexed/report",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_pages_are_accessible_and_fit_every_width(page: Page, address: str) -> None:
    is_accessible_and_fits(page, address)


@pytest.mark.parametrize("address", [ADDRESSES[at] for at in (0, 1, 3, 6)])
def test_every_control_is_reached_by_keyboard(new_context: NewContext, address: str) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(address)
    walk(page)


def test_scenario_is_created_compared_and_deleted_by_keyboard(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/plans/SCENES/what-if")
    press(page, "link", "Scenarios")
    press(page, "link", "New scenario")
    tab_to(page, page.get_by_label("Name", exact=True))
    page.keyboard.type("by-keys")
    tab_to(page, page.get_by_label("Queue managers in total"))
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="SCENES: by-keys")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="Queue managers")
    expect(row).to_contain_text("7")
    press(page, "link", "Compare")
    expect(page.get_by_role("heading", name="SCENES: scenarios side by side")).to_be_visible()
    page.go_back()
    press(page, "button", "Delete by-keys")
    expect(page.get_by_role("heading", name="Scenarios of SCENES")).to_be_visible()
    expect(page.get_by_role("link", name="by-keys")).to_have_count(0)


def test_invalid_input_is_reported_next_to_its_field_and_kept(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/new")
    page.get_by_label("Name", exact=True).fill("wrong")
    page.get_by_label("CFCC level").fill("high")
    page.get_by_role("button", name="Save scenario").click()
    box = page.get_by_label("CFCC level")
    expect(box).to_have_value("high")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved")
    page.get_by_label("CFCC level").fill("")
    page.get_by_role("button", name="Save scenario").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter at least one change.")


def test_concurrent_changes_of_a_scenario_do_not_overwrite_each_other(new_context: NewContext) -> None:
    first, second = (new_context().new_page() for _ in range(2))
    for each in (first, second):
        each.goto(f"{AT}/duplexed/edit")
        each.get_by_role("textbox", name="Reason").fill("changed")
        each.get_by_label("Headroom").fill("20" if each is first else "30")
    for each in (first, second):
        each.get_by_role("button", name="Save changes").click()
    expect(first).to_have_url(re.compile("/duplexed/report$"))
    expect(second.get_by_role("alert")).to_contain_text("has changed since it was read")
    expect(second.get_by_label("Headroom")).to_have_value("30")


def test_scenarios_are_chosen_and_compared_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(AT)
    page.get_by_role("checkbox", name="Compare duplexed").uncheck()
    page.get_by_role("button", name="Compare").click()
    heads = page.get_by_role("region", name="Table: figures").get_by_role("columnheader")
    assert heads.all_text_contents() == ["Figure", "The plan, version 1", "more", "outage"]


def test_number_next_to_a_figure_links_to_its_note_and_document(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/more/report")
    page.get_by_role("link", name="Need of SQ03CSQ_ADMIN after").click()
    expect(page).to_have_url(re.compile("#note-1$"))
    note = page.locator("#note-1")
    expect(note).to_contain_text("Need, read off chart")
    note.get_by_role("link").first.click()
    expect(page.locator("#document-1")).to_contain_text("chart of CSQ_ADMIN sizes")


def test_copied_figure_has_no_number_of_its_note(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/more/report")
    copied = """cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        return getSelection().toString().trim();
    }"""
    row = page.get_by_role("region", name="figures before and after").locator("tr", has_text="INITSIZE").first
    assert row.locator("sup a").first.evaluate(
        "link => getComputedStyle(link, '::after').content.replace(/[^0-9]/g, '') === link.dataset.number"
    )
    assert [cell.evaluate(copied) for cell in row.locator("td").all()] == ["25.0", "26.0", "+1.0"]
    page.goto(f"{AT}/compare?of=more")
    row = page.get_by_role("region", name="Table: figures").locator("tr", has_text="INITSIZE").nth(1)
    assert [cell.evaluate(copied) for cell in row.locator("td").all()] == ["25.0", "26.0"]


def test_columns_of_all_tables_of_a_comparison_are_aligned(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(f"{AT}/compare?of=more,outage,duplexed")
    tables = page.locator("table.side-by-side")
    edges = tables.evaluate_all(
        "tables => tables.map(table => [...table.tHead.rows[0].cells].map(cell => Math.round(cell.getBoundingClientRect().right)))"
    )
    assert len(edges) >= 4
    assert all(each == edges[0] for each in edges)


def test_scenario_with_a_lost_facility_shows_what_moves(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/outage/report")
    section = page.get_by_role("region", name="Effects of losing CF01")
    expect(section.locator("dl")).to_contain_text(re.compile(r"Structures that move\s*3"))
    expect(section.get_by_role("row").filter(has_text="SQ03APPLICATION1")).to_contain_text("CF01")
    page.goto(f"{AT}/more/report")
    expect(page.get_by_text("Effects of losing")).to_have_count(0)


@pytest.mark.parametrize("scenario", ["more", "outage", "duplexed"])
def test_report_without_its_appendix_is_printed_on_two_sheets(new_context: NewContext, scenario: str) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/{scenario}/report")
    whole = sheets(page)
    page.locator(".appendix").evaluate("each => each.remove()")
    assert sheets(page) <= 2
    assert whole > 3, "the appendix is not empty"


def sheets(page: Page) -> int:
    """Return the number of pages of the page as PDF."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True)))


def test_comparison_is_saved_as_a_picture_with_its_origin(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/compare?of=more")
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {kind}").click()
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(begins)
        if kind == "SVG":
            text = content.decode()
            assert "Structures in the plan and in each scenario" in text
            assert "group SQ03, version 1 of the plan" in text
            assert "Source: scenarios as saved. Drawn by cfplan " in text
            assert "class=" not in text, "the file has no style sheet"


def test_printed_report_has_no_buttons_and_shows_the_addresses_of_documents(
    new_context: NewContext,
) -> None:
    page = new_context(viewport={"width": 690, "height": 980}).new_page()
    page.emulate_media(media="print")
    page.goto(f"{AT}/outage/report")
    for name in ("Change", "Copy", "Compare"):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Delete outage")).to_have_count(0)
    over_px = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over_px <= 0
    expect(page.get_by_text(re.compile(r"^SCENES, version 1: outage, \d{4}-"))).to_be_visible()
    addresses = """selector => [...document.querySelectorAll(selector)].map(
        link => getComputedStyle(link, '::after').content.includes('://'))"""
    assert all(page.evaluate(addresses, ".documents a[href^=http]"))
    elsewhere = page.evaluate(addresses, ".findings .source a[href^=http], .commands .source a[href^=http]")
    assert len(elsewhere) > 3
    assert not any(elsewhere)
    page.emulate_media(media="screen")
    expect(page.locator(".every-sheet")).to_be_hidden()


def test_printed_comparison_fits_the_sheet(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 690, "height": 980}).new_page()
    page.emulate_media(media="print")
    page.goto(f"{AT}/compare?of=more,outage,duplexed")
    beyond = page.evaluate(
        "[...document.querySelectorAll('td, th')].filter(cell => cell.scrollWidth > cell.clientWidth + 1).length"
    )
    assert beyond == 0
    over_px = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over_px <= 0
