"""Measured usage in a real browser: charts, zoom, saved charts, and a plan from usage."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import poor_contrasts, violations
from tests.browser.conftest import NewContext
from tests.browser.test_every_page import WIDTHS_PX, unfold
from tests.serving import ANSWER_S

pytestmark = pytest.mark.browser

STRUCTURE = "/usage/SQ03/APPLICATION1"
QUEUE = f"{STRUCTURE}/queue?name=ORDERS.IN"
PLAN = "/usage/SQ03/plan?structure=APPLICATION1"
FULL = f"{STRUCTURE}?from=2026-11-23&to=2026-11-25"
ATTEMPTS, WAIT_MS = 10, 3_000
"""Double clicks, and the time after each: on a busy machine, the browser may see two single clicks."""


@pytest.fixture(autouse=True)
def reset_page(page: Page) -> None:
    """Make the shared page wide and light before each test."""
    page.set_viewport_size({"width": WIDTHS_PX[0], "height": 900})
    page.emulate_media(color_scheme="light", media="screen")


def drawn(page: Page) -> Locator:
    """Return the chart of the page when the script has drawn it."""
    charts = page.locator(".plotted")
    if charts.count():
        expect(charts).to_have_attribute("data-state", "ready")
    return charts


def fits(page: Page) -> None:
    """Wait until a chart has the width of the window."""
    plot = page.locator(".plot:visible")
    if plot.count():
        width = plot.evaluate("each => each.offsetWidth")
        expect(page.locator(".plot .main-svg").first).to_have_attribute("width", str(width))


def visible_period(page: Page) -> list[str]:
    """Return the ends of the time axis."""
    found: list[str] = page.evaluate(
        "document.querySelector('.plot').layout.xaxis.range.map((at) => new Date(at).toISOString().slice(0, 13))"
    )
    return found


@pytest.mark.parametrize(
    "address",
    [
        "/usage", f"{STRUCTURE}?from=2026-11-24&to=2026-11-24", f"{STRUCTURE}?from=2026-10-01&to=2026-11-25", "/usage/SQ03/PERSIST1?period=1d",
        f"{QUEUE}&period=1d", PLAN,
    ],
)  # fmt: skip
def test_page_is_accessible_in_light_and_dark_and_fits_every_width(page: Page, address: str) -> None:
    page.goto(address)
    drawn(page)
    unfold(page, is_open=True)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert poor_contrasts(page) == []
    for width_px in WIDTHS_PX:
        page.set_viewport_size({"width": width_px, "height": 900})
        fits(page)
        over_px = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over_px <= 0, f"{over_px} px too wide at {width_px}"


def test_interactive_chart_replaces_the_static_one(page: Page) -> None:
    page.goto(FULL)
    drawn(page)
    expect(page.locator(".drawn")).to_be_hidden()
    plot = page.locator(".plot")
    expect(plot).to_be_visible()
    expect(plot).to_have_attribute(
        "aria-label", re.compile(r"the highest on 2026-11-24 at 12:00 UTC.*found full in 2 hours")
    )
    assert page.evaluate("document.querySelector('.plot').data.map((trace) => trace.name)") == [
        "List entries in use", "total", "found full", "List elements in use", "total", "found full",
    ]  # fmt: skip
    assert page.evaluate("document.querySelector('.plot').data[2].text") == [
        "3 times", "3 times",
    ]  # fmt: skip


def test_chart_shows_the_same_figures_as_the_table(page: Page) -> None:
    page.goto(FULL)
    drawn(page)
    cells = page.get_by_role("region", name="The figures").locator("tbody tr td:nth-child(2)")
    tabled = [int(re.sub(r"\D", "", text)) for text in cells.all_text_contents()]
    assert page.evaluate("document.querySelector('.plot').data[0].y") == tabled[::-1]


def test_hours_without_records_appear_as_a_gap(page: Page) -> None:
    page.goto(f"{STRUCTURE}?from=2026-11-20&to=2026-11-20")
    drawn(page)
    values = page.evaluate("document.querySelector('.plot').data[0].y")
    assert values.count(None) == 1
    assert values.index(None) == 4  # four hours of the day, then four that are missing


def test_chart_is_zoomed_by_keyboard_only(page: Page) -> None:
    page.goto(f"{STRUCTURE}?from=2026-11-24&to=2026-11-24")
    drawn(page)
    whole = visible_period(page)
    assert whole == ["2026-11-24T00", "2026-11-25T00"]
    page.get_by_role("button", name="Zoom in").focus()
    page.keyboard.press("Enter")
    status = page.get_by_role("status")
    expect(status).to_have_text("2026-11-24 06:00 \N{EN DASH} 2026-11-24 18:00 UTC")
    assert visible_period(page) == ["2026-11-24T06", "2026-11-24T18"]
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Earlier")).to_be_focused()
    page.keyboard.press("Space")
    expect(status).to_have_text("2026-11-24 00:00 \N{EN DASH} 2026-11-24 12:00 UTC")
    page.keyboard.press("Space")  # no further than the period goes
    expect(status).to_have_text("2026-11-24 00:00 \N{EN DASH} 2026-11-24 12:00 UTC")
    page.get_by_role("button", name="Later").press("Enter")
    expect(status).to_have_text("2026-11-24 06:00 \N{EN DASH} 2026-11-24 18:00 UTC")
    page.get_by_role("button", name="Whole period").press("Enter")
    expect(status).to_have_text("")
    assert visible_period(page) == whole


def test_chart_is_zoomed_by_dragging_and_reset_by_a_double_click(page: Page) -> None:
    page.goto(f"{STRUCTURE}?from=2026-11-24&to=2026-11-24")
    drawn(page)
    whole = visible_period(page)
    layer = page.locator(".plot .nsewdrag").first
    box = layer.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=5)
    page.mouse.up()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"2026-11-24 0[56]:.*2026-11-24 1[12]:"))
    for _ in range(ATTEMPTS):
        layer.dblclick()
        with suppress(AssertionError):
            expect(page.get_by_role("status")).to_have_text("", timeout=WAIT_MS)
            break
    expect(page.get_by_role("status")).to_have_text("")
    assert visible_period(page) == whole


def test_chart_is_saved_as_svg_and_as_png(page: Page, tmp_path: Path) -> None:
    page.goto(FULL)
    drawn(page)
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG\r\n\x1a\n")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {kind}").click()
        assert download.value.suggested_filename == f"SQ03-APPLICATION1.{kind.lower()}"
        saved = tmp_path / kind
        download.value.save_as(saved)
        content = saved.read_bytes()
        assert content.startswith(begins)
        assert len(content) > 5_000
    svg = (tmp_path / "SVG").read_text("utf-8")
    assert "List elements in use" in svg
    for words in (
        "List entries in use; List elements in use",
        "APPLICATION1 of SQ03 \N{MIDDLE DOT} 2026-11-23 00:00 to 2026-11-26 00:00 UTC",
        "Source: highest value of each hour in the uploaded records. Drawn by cfplan ",
        ">found full<",
    ):
        assert words in svg
    page.get_by_role("button", name="Zoom in").click()
    expect(page).to_have_url(re.compile("zoom-entries="))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG").click()
    assert "APPLICATION1 of SQ03 \N{MIDDLE DOT} 2026-11-23 18:00 \N{EN DASH} 2026-11-25 06:00 UTC" in Path(
        download.value.path()
    ).read_text("utf-8")


def test_zoom_is_in_the_address_and_restored_from_it(page: Page) -> None:
    address = f"{STRUCTURE}?from=2026-11-24&to=2026-11-24"
    page.goto(address)
    drawn(page)
    page.get_by_role("button", name="Zoom in").click()
    zoomed = f"{address}&zoom-entries=2026-11-24T06:00..2026-11-24T18:00"
    expect(page).to_have_url(re.compile(re.escape(zoomed)))
    page.goto(zoomed)
    drawn(page)
    assert visible_period(page) == ["2026-11-24T06", "2026-11-24T18"]
    expect(page.get_by_role("status")).to_have_text("2026-11-24 06:00 \N{EN DASH} 2026-11-24 18:00 UTC")
    page.get_by_role("button", name="Whole period").click()
    expect(page).to_have_url(re.compile(re.escape(address) + "$"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", ["2026-11-24T00", "2026-11-25T00"]),
        ("a..b", ["2026-11-24T00", "2026-11-25T00"]),
        ("2026-11-24T18:00..2026-11-24T06:00", ["2026-11-24T00", "2026-11-25T00"]),
        ("1999-01-01T00:00..2000-01-01T00:00", ["2026-11-24T00", "2026-11-25T00"]),
        ("2026-11-20T00:00..2026-11-24T06:00", ["2026-11-24T00", "2026-11-24T06"]),
    ],
)
def test_range_in_the_address_that_is_not_one_of_the_chart_is_ignored(
    page: Page, value: str, shown: list[str]
) -> None:
    page.goto(f"{STRUCTURE}?from=2026-11-24&to=2026-11-24&zoom-entries={value}")
    drawn(page)
    assert visible_period(page) == shown


def test_chart_follows_the_theme_and_the_width(page: Page) -> None:
    page.goto(STRUCTURE)
    drawn(page)
    line = page.locator(".plot .scatterlayer .js-line").first
    accent = line.evaluate("each => getComputedStyle(each).stroke")
    page.emulate_media(color_scheme="dark")
    expect(line).not_to_have_css("stroke", accent)
    page.emulate_media(color_scheme="light")
    expect(line).to_have_css("stroke", accent)
    page.set_viewport_size({"width": 700, "height": 900})
    expect(page.locator(".plot .main-svg").first).to_have_attribute("width", re.compile(r"^6\d\d"))


def test_printed_page_shows_the_static_chart(page: Page) -> None:
    page.goto(FULL)
    drawn(page)
    page.emulate_media(media="print")
    expect(page.locator(".drawn")).to_be_visible()
    expect(page.locator(".plot")).to_be_hidden()
    expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()


def test_chart_script_is_loaded_only_on_pages_with_a_chart(new_context: NewContext) -> None:
    page = new_context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for address in ("/usage", PLAN, "/plans"):
        page.goto(address)
    assert not any("plotly" in url for url in asked)
    page.goto(STRUCTURE)
    drawn(page)
    assert sum("plotly" in url for url in asked) == 1


def test_page_is_complete_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900}).new_page()
    page.goto(FULL)
    expect(page.get_by_role("img", name="List entries in use")).to_have_count(1)  # the one for wide pages
    expect(page.locator(".drawn svg.wide").first).to_be_visible()
    expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()
    expect(page.get_by_role("table")).not_to_have_count(0)
    page.get_by_role("link", name="ORDERS.IN").click()
    expect(page.get_by_role("img", name="Puts a second")).not_to_have_count(0)
    expect(page.get_by_role("img", name="Messages by size")).to_be_visible()


def test_static_chart_stays_if_the_script_cannot_be_loaded(new_context: NewContext) -> None:
    context = new_context(expected=r"The chart stays as drawn|net::ERR_FAILED")
    context.route("**/assets/plotly/**", lambda route: route.abort())
    page = context.new_page()
    page.goto(FULL)
    expect(page.locator(".plotted")).to_have_attribute("data-state", "failed")
    expect(page.locator(".drawn")).to_be_visible()
    expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()


def test_plan_is_created_from_a_chart_by_keyboard_and_its_policy_downloaded(
    new_context: NewContext, origin: str
) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto("/usage")
    page.get_by_role("link", name="APPLICATION1").press("Enter")
    drawn(page)
    page.get_by_role("link", name="everything").press("Enter")
    drawn(page)
    page.get_by_role("link", name="Create a plan from this usage").press("Enter")
    expect(page.get_by_label("Name of the plan")).to_have_value("SQ03-usage")
    page.get_by_label("Plan AUDIT.COPY").press("Space")
    page.get_by_label("Plan ORDERS.IN").press("Space")
    page.get_by_role("button", name="Save and open in the editor").press("Enter")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("CFCC level: Enter a number.")
    expect(page.get_by_label("Queue managers")).not_to_have_value("")  # those that were observed
    alert.get_by_role("link", name="CFCC level").press("Enter")
    page.get_by_label("Queue managers").fill("5")
    page.get_by_label("CFCC level").fill("25")
    page.get_by_label("Coupling facilities").fill("CF01 CF02")
    page.get_by_role("button", name="Preview").press("Enter")
    expect(page.get_by_role("region", name="Table: queues of the plan")).to_contain_text("PAYMENTS.IN")
    page.get_by_role("button", name="Save and open in the editor").press("Enter")
    expect(page).to_have_url(f"{origin}/plans/SQ03-usage/edit?made=usage")
    expect(
        page.get_by_text(
            "Created from measured usage of SQ03, 2026-11-16 00:00 to 2026-11-26 00:00 UTC"
        ).first
    ).to_be_visible()
    expect(page.locator('[name="/structures/0/queues/0/backlog"]')).to_have_value("40000")
    page.goto("/plans/SQ03-usage?tab=policy")
    output = page.locator('[data-output="policy"]')
    if output.get_attribute("open") is None:
        output.locator("summary").click()
    with page.expect_download() as download:
        output.get_by_role("link", name="Download").click()
    policy = download.value.path().read_text()
    assert policy == httpx.get(f"{origin}/api/v1/plans/SQ03-usage/policy", timeout=ANSWER_S).text
    assert "STRUCTURE NAME(SQ03APPLICATION1)" in policy
    page.goto("/usage")
    expect(page.get_by_role("row", name=re.compile("^APPLICATION1"))).to_contain_text("SQ03-usage")
