"""Curves and forecasts in a real browser: accessibility, keyboard, zoom and saved charts."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import poor_contrasts, violations
from tests.browser.conftest import NewContext
from tests.browser.keys import walk
from tests.browser.test_every_page import WIDTHS_PX, unfold

pytestmark = pytest.mark.browser

FORECAST = "/forecasts/SQ03/APPLICATION1"
POINTS_FIT = "/sizing-points/fit?cfcc_level=26"
ADDRESSES = (
    "/curves",
    "/curves/1",
    "/curves/3",
    "/forecasts",
    FORECAST,
    "/cf-levels",
    "/curves/4",
    "/sizing-points",
    POINTS_FIT,
    "/sizing-points/fit?cfcc_level=25",
    "/plans/FITTED",
    "/plans/FITTED/edit",
)
DAY_MS = 24 * 3600 * 1000


@pytest.fixture(autouse=True)
def reset_page(page: Page) -> None:
    """Make the shared page wide and light before each test."""
    page.set_viewport_size({"width": WIDTHS_PX[0], "height": 900})
    page.emulate_media(color_scheme="light", media="screen")


@pytest.mark.parametrize("address", ["/curves", "/forecasts", "/sizing-points", "/plans/FITTED"])
def test_tables_show_all_columns_on_a_page_of_1024_px(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 900})
    page.goto(address)
    cut = page.evaluate(
        "[...document.querySelectorAll('main .scroll')].filter(each => each.scrollWidth > each.clientWidth + 1)"
        ".map(each => each.getAttribute('aria-label'))"
    )
    assert cut == []


def drawn(page: Page) -> Locator:
    """Return the charts of the page when the script has drawn all of them."""
    charts = page.locator(".plotted")
    for nth in range(charts.count()):
        expect(charts.nth(nth)).to_have_attribute("data-state", "ready")
    return charts


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_is_accessible_in_light_and_dark_and_fits_every_width(page: Page, address: str) -> None:
    page.goto(address)
    drawn(page)
    unfold(page, is_open=True)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert poor_contrasts(page) == []
    for width_px in WIDTHS_PX:
        page.set_viewport_size({"width": width_px, "height": 900})
        for plot in page.locator(".plot:visible").all():
            width = plot.evaluate("each => each.offsetWidth")
            expect(plot.locator(".main-svg").first).to_have_attribute("width", str(width))
        over_px = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over_px <= 0, f"{over_px} px too wide at {width_px}"


@pytest.mark.parametrize(
    "address", ["/curves", "/curves/1", "/forecasts", FORECAST, "/cf-levels", "/sizing-points", POINTS_FIT]
)
def test_tab_reaches_every_control_with_visible_focus(page: Page, address: str) -> None:
    page.goto(address)
    drawn(page)
    assert walk(page)


def test_forecast_chart_shows_peaks_fan_and_levels_and_zooms_to_days(page: Page) -> None:
    page.goto(FORECAST)
    drawn(page)
    plot = page.locator("#elements .plot")
    names = "each => each.data.map((trace) => trace.name)"
    assert plot.evaluate(names) == [
        "90 % below", "10 % below", "median estimate", "measured peak", "passed, median estimate",
    ]  # fmt: skip
    weeks = plot.evaluate("each => each.data[3].y.filter((value) => value !== null).length")
    assert weeks < 60
    expect(page.locator("#elements .drawn")).to_be_hidden()
    for _ in range(2):
        page.locator("#elements").get_by_role("button", name="Zoom in").click()
    expect(page.locator("#elements [data-status]")).to_contain_text("UTC")
    expect(plot).to_contain_text("Peak of each day")
    days = plot.evaluate("each => each.data[3].y.filter((value) => value !== null).length")
    assert days > 300
    page.locator("#elements").get_by_role("button", name="Everything").click()
    expect(page.locator("#elements [data-status]")).to_have_text("")
    expect(plot).to_contain_text("Highest of each week")


def test_fit_chart_shows_its_points_and_zooms_to_sizes(page: Page) -> None:
    page.goto("/curves/1")
    drawn(page)
    plot = page.locator(".plot")
    counts = plot.evaluate(
        "each => each.data.filter((trace) => trace.mode === 'markers').map((trace) => trace.x.length)"
    )
    assert counts == [1, 11, 1, 11]  # left out and in the fit, of each of the two charts
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("[data-status]")).to_contain_text("MiB")


def test_charts_are_saved_as_svg(page: Page) -> None:
    for address, name in (("/curves/1", "curve-1.svg"), (FORECAST, "SQ03-APPLICATION1-entries.svg")):
        page.goto(address)
        drawn(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as SVG").first.click()
        assert download.value.suggested_filename == name
        assert "<svg" in Path(download.value.path()).read_text(encoding="utf-8")


def test_page_without_scripts_shows_the_static_chart_and_the_tables(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(FORECAST)
    assert page.locator("#elements .drawn svg.wide").is_visible()
    assert not page.locator("#elements .plot-tools").is_visible()
    assert page.get_by_role("region", name="Table: when each level of List elements is passed").is_visible()
    page.goto("/curves/1")
    assert page.locator(".drawn svg.wide").count() == 2
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.locator(".drawn svg.narrow").first.is_visible()
    assert not page.locator(".drawn svg.wide").first.is_visible()


def test_printed_page_shows_static_charts_within_its_edges(page: Page) -> None:
    for address in (FORECAST, "/curves/1", "/plans/FITTED/versions/1/print"):
        page.goto(address)
        drawn(page)
        page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
        page.emulate_media(media="print")
        for plot in page.locator(".plot").all():
            assert not plot.is_visible()
        for svg in page.locator(".drawn svg.wide").all():
            assert svg.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 718, address
        page.emulate_media(media="screen")


def test_structure_is_enlarged_in_a_plan_from_its_forecast_by_keyboard(page: Page) -> None:
    page.goto("/forecasts")
    page.get_by_role("link", name="APPLICATION1").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="APPLICATION1")).to_be_visible()
    page.get_by_role("link", name="1.5 times the size in FITTED").focus()
    page.keyboard.press("Enter")
    expect(
        page.get_by_text("INITSIZE and SIZE of APPLICATION1 are 1.5 times those of version")
    ).to_be_visible()
    size = page.locator("[name='/structures/0/initsize']")
    expect(size).to_be_focused()
    assert size.input_value().endswith("M")


def test_cfcc_level_of_a_plan_is_saved_by_a_button(page: Page) -> None:
    page.goto("/cf-levels")
    page.get_by_role("button", name="Use 25 for CF01").click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    row = page.get_by_role("row", name="CF01")
    expect(row).to_contain_text("the site")
    row.get_by_role("button", name="Remove CF01").click()
    expect(page.get_by_role("row", name="CF01")).to_contain_text("the plans")


def test_fit_of_sizing_points_is_stored_and_its_advice_copied(page: Page) -> None:
    page.goto(POINTS_FIT)
    drawn(page)
    expect(page.get_by_role("region", name="Sizings to run next")).to_contain_text("ratio 1:")
    expect(page.get_by_role("button", name="Copy the sizings")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the sizings").click()
    assert download.value.suggested_filename == "sizings-cfcc26-application.txt"
    page.get_by_role("button", name="Store this fit as a curve").click()
    expect(page.get_by_role("heading", name="Curve 4 of sizing answers")).to_be_visible()
