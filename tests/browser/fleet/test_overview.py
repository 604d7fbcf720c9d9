"""The overview in a real browser: the structure in most trouble, accessibility, keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keys import walk
from tests.browser.test_every_page import is_accessible_and_fits

pytestmark = pytest.mark.browser


def test_structure_in_most_trouble_is_found_from_the_start_page(page: Page) -> None:
    page.goto("/")
    first = page.get_by_role("table").filter(has_text="Urgency").get_by_role("row").nth(1)
    expect(first).to_contain_text("MYDATA")
    expect(first).to_contain_text("Full now")
    action = page.get_by_role("region", name="What to do first").get_by_role("listitem").first
    expect(action).to_contain_text("MYDATA of SQ03")
    action.get_by_role("link", name="Compare larger sizes").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("MYDATA")


def test_coupling_facility_at_risk_is_stated_with_its_reason_and_its_bar(page: Page) -> None:
    page.goto("/")
    actions = page.get_by_role("region", name="What to do first").get_by_role("listitem")
    at_risk = actions.filter(has_text="cannot be placed elsewhere").first
    name = at_risk.locator("strong").inner_text()
    assert name in ("CF01", "CF02")
    bars = page.get_by_role("region", name="Coupling facilities").locator("svg[role=img]:visible")
    expect(bars).to_contain_text(name)
    expect(bars).to_contain_text(f"needed without {name}")
    at_risk.get_by_role("link", name="Show each loss").click()
    expect(page.get_by_role("main")).to_contain_text(f"Without {name}")


def test_heading_sorts_the_structures_and_stays_in_view(page: Page) -> None:
    page.goto("/")
    page.get_by_role("table").get_by_role("link", name="Used now").click()
    expect(page.get_by_role("columnheader", name="Used now")).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("heading", name="Structures")).to_be_in_viewport()


def test_overview_is_accessible_in_light_and_dark_and_fits_every_width(page: Page) -> None:
    is_accessible_and_fits(page, "/")


def test_tab_reaches_every_control_with_visible_focus(page: Page) -> None:
    page.goto("/")
    assert walk(page)
