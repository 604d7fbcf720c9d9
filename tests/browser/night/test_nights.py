"""Nightly runs in a real browser: accessibility, keyboard, progress, and simulated data."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import poor_contrasts, violations
from tests.browser.conftest import NewContext
from tests.browser.keys import walk
from tests.browser.test_every_page import WIDTHS_PX, unfold

pytestmark = pytest.mark.browser

ADDRESSES = ("/nights", "/nights/1", "/nights/2", "/")
PATIENCE_MS = 60_000


@pytest.fixture(autouse=True)
def reset_page(page: Page) -> None:
    """Make the shared page wide and light before each test."""
    page.set_viewport_size({"width": WIDTHS_PX[0], "height": 900})
    page.emulate_media(color_scheme="light", media="screen")


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_is_accessible_in_light_and_dark_and_fits_every_width(page: Page, address: str) -> None:
    page.goto(address)
    unfold(page, is_open=True)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert poor_contrasts(page) == []
    for width_px in WIDTHS_PX:
        page.set_viewport_size({"width": width_px, "height": 900})
        over_px = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over_px <= 0, f"{over_px} px too wide at {width_px}"


@pytest.mark.parametrize("address", ["/nights", "/nights/1", "/nights/2"])
def test_tab_reaches_every_control_with_visible_focus(page: Page, address: str) -> None:
    page.goto(address)
    assert walk(page)


def test_overview_shows_the_failed_run_and_the_findings_of_the_last_successful_one(page: Page) -> None:
    page.goto("/")
    newest = page.get_by_role("region", name="Latest nightly run")
    expect(newest).to_contain_text("Failed")
    expect(newest).to_contain_text("the disk is full")
    expect(newest).to_contain_text("APP1 was full.")
    newest.get_by_role("link", name="nightly run 1").click()
    expect(page).to_have_url(re.compile(r"/nights/1$"))
    expect(page.get_by_role("heading", name="Nightly run 1")).to_be_visible()


def test_failed_run_shows_its_reason_and_log(page: Page) -> None:
    page.goto("/nights/2")
    expect(page.locator("#bar-sentence")).to_have_text("The usage history cannot be read: the disk is full.")
    expect(page.get_by_role("region", name="Log")).to_be_visible()
    expect(page.get_by_role("heading", name="Findings")).to_have_count(0)


def test_report_of_the_latest_nightly_run_can_be_saved(page: Page) -> None:
    page.goto("/nights/1")
    with page.expect_download() as download:
        page.get_by_role("link", name="Report for email").click()
    assert download.value.suggested_filename == "night.md"
    page.goto("/nights/2")
    expect(page.get_by_role("link", name="Report for email")).to_have_count(0)


def test_run_is_started_by_keyboard_and_followed_to_its_end(page: Page) -> None:
    page.goto("/nights")
    page.get_by_role("button", name="Run now").press("Enter")
    expect(page.get_by_role("status").first).to_have_text("The run was started.")
    # Events are snapshots of the state at intervals, so a short step such as the fits can be missed on a busy machine.
    under_way = re.compile(r"The job (waits for its turn|is starting)|Fitting")
    expect(page.locator("#bar-sentence")).to_have_text(under_way, timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name="Findings")).to_be_visible(timeout=PATIENCE_MS)
    expect(page).to_have_url(re.compile(r"/nights/\d+$"))
    expect(page.locator("#bar-words")).to_have_text("done")


def test_simulated_data_is_added_and_removed_by_buttons_and_labelled(page: Page) -> None:
    page.goto("/nights")
    page.get_by_role("button", name="Try it with simulated data").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name=re.compile("Nightly run"))).to_contain_text("simulated")
    assert "simulated" in page.locator(".finding").filter(has_text="SIMAPP1").first.inner_text()
    page.goto("/forecasts")
    expect(page.get_by_role("row").filter(has_text="SIMAPP1")).to_contain_text("simulated")
    page.goto("/nights")
    page.get_by_role("button", name="Remove simulated data").click()
    expect(page.locator("#bar-sentence")).to_contain_text("Simulated data was removed", timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="Remove simulated data")).to_have_count(0)
    page.goto("/forecasts")
    expect(page.get_by_role("row").filter(has_text="SIMAPP1")).to_have_count(0)


def test_second_start_during_a_run_does_not_start_another_run(page: Page) -> None:
    page.goto("/nights")
    other = page.context.new_page()
    other.goto("/nights")
    page.get_by_role("button", name="Run now").click()
    other.get_by_role("button", name="Run now").click()
    expect(other.get_by_role("status").first).to_contain_text("No other run was started")
    assert other.url.partition("?")[0] == page.url.partition("?")[0]
    other.close()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible(timeout=PATIENCE_MS)


def test_run_is_started_and_refreshed_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto("/nights")
    page.get_by_role("button", name="Run now").click()
    refresh = page.get_by_role("link", name="Refresh")
    for _ in range(300):
        expect(
            page.get_by_role("heading", name="Run details")
        ).to_be_visible()  # below the link: the page is whole
        if not refresh.count():
            break
        refresh.click()
        page.wait_for_timeout(100)
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
