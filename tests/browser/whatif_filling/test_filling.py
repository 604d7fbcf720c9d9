"""An outage and its thresholds in a browser: sliders, keyboard, every width, both themes, and no scripts."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser.conftest import NewContext
from tests.browser.keys import press, tab_to, walk
from tests.browser.test_every_page import is_accessible_and_fits

pytestmark = pytest.mark.browser

AT = "/plans/FILLS/versions/1/structures/APP1"
ADDRESSES = (
    f"{AT}/filling",
    f"{AT}/filling?data_set_size=1G&rate_percent=300",
    f"{AT}/filling?outage_minutes=long",
    f"{AT}/survival?minutes=120",
    f"{AT}/survival?minutes=long&days=1%202%203",
    f"{AT}/thresholds?typical=20000",
    f"{AT}/thresholds?hold=90000000",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_pages_are_accessible_and_fit_every_width(page: Page, address: str) -> None:
    is_accessible_and_fits(page, address)


@pytest.mark.parametrize("address", [ADDRESSES[0], ADDRESSES[3], ADDRESSES[5]])
def test_every_control_is_reached_by_keyboard(new_context: NewContext, address: str) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(address)
    walk(page)


def test_chart_follows_a_slider_moved_by_keys(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(f"{AT}/filling")
    said = page.get_by_role("status")
    expect(said).to_contain_text("holds the")
    before = said.text_content() or ""
    slider = page.get_by_role("slider", name="Rate, slider")
    tab_to(page, slider)
    page.keyboard.press("End")
    expect(page.get_by_role("textbox", name="Rate")).to_have_value("400")
    expect(said).not_to_have_text(before)
    expect(page).to_have_url(re.compile("rate_percent=400"))
    expect(slider).to_have_attribute("aria-valuetext", "400 % of planned")
    # What is typed moves the slider.
    page.get_by_role("textbox", name="Outage").fill("30")
    expect(page.get_by_role("slider", name="Outage, slider")).to_have_value("30")
    expect(page).to_have_url(re.compile("outage_minutes=30"))


def test_field_with_an_error_keeps_the_chart_and_shows_the_error(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(f"{AT}/filling")
    page.get_by_role("textbox", name="Rate").fill("fast")
    expect(page.get_by_text("Must be a number.")).to_be_visible()
    expect(page.get_by_text("These figures belong to the previous input.")).to_be_visible()


def test_form_is_submitted_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{AT}/filling")
    expect(page.get_by_role("slider")).to_have_count(0)
    page.get_by_role("textbox", name="Outage").fill("45")
    page.get_by_role("button", name="Simulate").click()
    expect(page).to_have_url(re.compile("outage_minutes=45"))
    expect(page.get_by_role("status")).to_contain_text("45 minutes")


def follow(page: Page, name: str, address: re.Pattern[str]) -> None:
    """Follow a link of an answer by keyboard. A later answer may replace the link before the key is pressed."""
    for _ in range(5):
        press(page, "link", name)
        with suppress(TimeoutError):
            page.wait_for_url(address, timeout=10_000)
            return
    pytest.fail(f"{name} does not lead to its page")


def test_survival_follows_the_typed_minutes_and_days(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(f"{AT}/survival?minutes=120")
    said = page.get_by_role("status")
    expect(said).to_contain_text("stop for 120 minutes on a random day from")
    page.get_by_label("Outage", exact=True).fill("240")
    expect(said).to_contain_text("stop for 240 minutes")
    page.get_by_text("Puts of typical days").click()
    page.get_by_label("Puts, one day in each line").fill("1 2 3")
    expect(page.locator("#days-error")).to_contain_text("must have 24", ignore_case=True)
    page.get_by_label("Puts, one day in each line").fill(" ".join(["9000"] * 24))
    expect(said).to_contain_text("on a random day like the given ones")
    expect(page.locator("#days-error")).to_have_count(0)


def test_recommended_thresholds_are_simulated_and_opened_in_the_editor(
    new_context: NewContext,
) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(AT)
    press(page, "link", "Choose offload thresholds")
    expect(page.get_by_role("heading", name="Thresholds of SQ03APP1")).to_be_visible()
    page.get_by_role("textbox", name="In normal running").fill("20000")
    # The answer before also states what the rules hold; only the one for this depth states where they begin.
    expect(page.get_by_text("the first of these rules begins at")).to_be_visible()
    follow(page, "Simulate filling with these rules", re.compile(r"/filling\?"))
    expect(page.get_by_role("textbox", name="OFFLD3TH : OFFLD3SZ")).not_to_have_value("90:0K")
    page.go_back()
    press(page, "button", "Open the plan with these rules in the editor")
    expect(page.get_by_text("The proposal, as a change to the saved plan.")).to_be_visible()
