"""The bar of every page: menus of the navigation, and the search box."""

from __future__ import annotations

import copy
import re

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from app.sizing.examples import examples
from tests.browser.axe import violations
from tests.browser.conftest import NewContext
from tests.browser.keys import press, tab_to
from tests.serving import ANSWER_S

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def _plans(origin: str) -> None:
    """Store two plans with a queue, and one without it."""
    document = examples()["sq03"].document
    other = copy.deepcopy(document)
    other["structures"][0]["queues"][0]["name"] = "ELSE.IN"
    with httpx.Client(base_url=f"{origin}/api/v1/plans/", timeout=ANSWER_S) as client:
        for name, body in (("FIRST", document), ("SECOND", document), ("OTHER", other)):
            assert client.put(name, json=body).status_code == 201


def menu(page: Page, title: str) -> Locator:
    return page.get_by_role("navigation", name="Main").locator("summary", has_text=title)


@pytest.mark.parametrize("address", ["/", "/plans/OTHER/edit", "/docs/reference/glossary"])
def test_every_plan_that_uses_a_queue_is_found_by_keyboard_from_any_page(page: Page, address: str) -> None:
    page.goto(address)
    page.keyboard.press("/")
    expect(page.locator("#site-search")).to_be_focused()
    expect(page.locator("#site-search")).to_have_value("")
    page.keyboard.type("PAYMENTS*")
    page.keyboard.press("Enter")
    found = page.get_by_role("region", name="Table: queues").get_by_role("link")
    expect(found).to_have_text(["Plan FIRST", "Plan SECOND"])
    press(page, "link", re.compile("PAYMENTS.IN in plan SECOND"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("APPLICATION1")
    expect(
        page.get_by_role("cell", name="PAYMENTS.IN")
        .or_(page.get_by_role("rowheader", name="PAYMENTS.IN"))
        .first
    ).to_be_visible()


def test_escape_leaves_the_search_box_to_the_previous_element(page: Page) -> None:
    page.goto("/docs")
    link = page.get_by_role("main").get_by_role("link").first
    link.focus()
    page.keyboard.press("/")
    page.keyboard.type("half")
    page.keyboard.press("Escape")
    expect(link).to_be_focused()
    expect(page.locator("#site-search")).to_have_value("half")


def test_slash_is_typed_into_other_fields(page: Page) -> None:
    page.goto("/search")
    page.locator("#site-search").focus()
    page.keyboard.type("A/B")
    expect(page.locator("#site-search")).to_have_value("A/B")


def test_menu_opens_by_keyboard_and_escape_closes_it(page: Page) -> None:
    page.goto("/docs")
    tools = menu(page, "Tools")
    tab_to(page, tools)
    page.keyboard.press("Enter")
    entries = page.get_by_role("navigation", name="Main").get_by_role(
        "link", name="Merge a plan into a policy"
    )
    expect(entries).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Quick calculator", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(entries).to_be_hidden()
    expect(tools).to_be_focused()
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("link", name="Merge a plan into a policy"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge a plan into a policy")
    expect(menu(page, "Tools")).to_contain_text("current section")


def test_menu_closes_when_the_focus_or_a_click_leaves_it(page: Page) -> None:
    page.goto("/docs")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    closed = links.count()
    menu(page, "Help").click()
    expect(links).not_to_have_count(closed)
    menu(page, "Tools").click()
    expect(page.get_by_role("link", name="Published tables", exact=True)).to_be_hidden()
    page.get_by_role("heading", level=1).click()
    expect(links).to_have_count(closed)
    menu(page, "Help").focus()
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.locator("#site-search")).to_be_focused()
    expect(links).to_have_count(closed)


@pytest.mark.parametrize("width_px", [1440, 1024, 390])
def test_open_menus_are_within_the_page_and_accessible_without_scripts(
    new_context: NewContext, width_px: int
) -> None:
    context = new_context(
        java_script_enabled=False, has_touch=True, viewport={"width": width_px, "height": 844}
    )
    page = context.new_page()
    page.goto("/reference")
    for title in ("Measurements", "Tools", "Help"):
        menu(page, title).tap()
        entries = page.get_by_role("navigation", name="Main").locator("details[open] a")
        assert entries.count() >= 3
        for entry in entries.all():
            expect(entry).to_be_in_viewport(ratio=1)
            box = entry.bounding_box()
            assert box
            assert box["height"] >= 32
    current = page.get_by_role("link", name="Published tables", exact=True).first
    expect(current).to_have_attribute("aria-current", "true")
    current.tap()
    page.wait_for_url("**/reference")


def test_open_menu_has_no_accessibility_problems_in_both_themes(page: Page) -> None:
    for width_px in (1440, 390):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width_px, "height": 900})
            page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
            page.goto("/reference")
            menu(page, "Help").click()
            assert violations(page) == []
