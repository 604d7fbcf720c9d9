"""The pages of measured usage by keyboard only: every control is reached and used."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.keys import press, tab_to, walk
from tests.browser.test_every_page import unfold
from tests.browser.usage.test_usage import FULL, PLAN, QUEUE, STRUCTURE, drawn, visible_period
from tests.serving import ANSWER_S

pytestmark = pytest.mark.browser

INTO = "/usage/SQ03/plan/into/KEYS"
WIDE = {"width": 1440, "height": 900}


@pytest.fixture(scope="module", autouse=True)
def _plan(origin: str) -> None:
    """Store a plan of the group from before its measurement."""
    queues = [
        {"name": name, "message_bytes": 500, "backlog": 1_000, "persistent": False}
        for name in ("PAYMENTS.IN", "ORDERS.IN")
    ]
    document = {
        "qsg": "SQ03", "queue_managers": 5, "coupling_facilities": [{"name": "CF01"}],
        "structures": [{"name": "APPLICATION1", "queues": queues}],
    }  # fmt: skip
    assert httpx.put(f"{origin}/api/v1/plans/KEYS", json=document, timeout=ANSWER_S).status_code == 201


@pytest.fixture
def own(new_context: NewContext) -> Page:
    """Return a page that a test may leave in any state."""
    return new_context(viewport=WIDE, accept_downloads=True).new_page()


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("/usage", True),
        (FULL, False),
        (FULL, True),
        (f"{QUEUE}&period=1d", True),
        (PLAN, True),
        (INTO, True),
        ("/usage/SQ03/PERSIST1?period=1d", True),
    ],
)
def test_tab_reaches_every_control_of_a_page_with_figures(page: Page, address: str, is_open: bool) -> None:
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.goto(address)
    drawn(page)
    unfold(page, is_open=is_open)
    reached = walk(page)
    if address == FULL:
        assert [each for each in reached if 'data-do="in"' in each], reached
    if address in (PLAN, INTO) and is_open:
        assert sum('name="queue"' in each for each in reached) == 3
        assert sum("p95:" in each for each in reached) == 3


def test_list_is_searched_and_a_structure_opened_by_keyboard(own: Page) -> None:
    own.goto("/usage")
    tab_to(own, own.get_by_role("main").get_by_role("searchbox"))
    own.keyboard.type("APPL")
    own.keyboard.press("Enter")
    own.wait_for_url("**search=APPL*")
    press(own, "link", "APPLICATION1")
    expect(own.get_by_role("heading", level=1)).to_contain_text("APPLICATION1")


def test_period_is_chosen_by_links_and_by_days(own: Page) -> None:
    own.goto(f"{STRUCTURE}?period=1d")
    press(own, "link", "7 days")
    own.wait_for_url("**period=7d*")
    press(own, "link", "earlier")
    own.wait_for_url("**from=*")
    press(own, "link", "later")
    tab_to(own, own.get_by_label("From", exact=True))
    own.keyboard.type("11242026")
    tab_to(own, own.get_by_label("to", exact=True))
    own.keyboard.type("11242026")
    press(own, "button", "Show")
    own.wait_for_url("**from=2026-11-24&to=2026-11-24*")


def test_every_tool_of_a_chart_works_by_keyboard(own: Page) -> None:
    own.goto(f"{STRUCTURE}?from=2026-11-24&to=2026-11-24")
    drawn(own)
    whole = visible_period(own)
    press(own, "button", "Zoom in")
    expect(own.get_by_role("status")).to_contain_text("06:00")
    for name, key in (("Zoom out", "Space"), ("Zoom in", "Enter"), ("Earlier", "Space"), ("Later", "Enter")):
        press(own, "button", name, key)
    press(own, "button", "Whole period")
    expect(own.get_by_role("status")).to_have_text("")
    assert visible_period(own) == whole
    for kind in ("SVG", "PNG"):
        with own.expect_download() as download:
            press(own, "button", f"Save as {kind}")
        assert download.value.suggested_filename.endswith(kind.lower())


@pytest.mark.parametrize("address", [f"{STRUCTURE}?period=31d", f"{QUEUE}&period=31d"])
def test_figures_are_expanded_scrolled_and_downloaded_by_keyboard(own: Page, address: str) -> None:
    own.set_viewport_size({"width": 390, "height": 800})
    own.goto(address)
    drawn(own)
    details = own.locator("main details").first
    if details.get_attribute("open") is not None:
        details.evaluate("each => { each.open = false }")
    tab_to(own, details.locator("summary"))
    own.keyboard.press("Space")
    expect(details).to_have_attribute("open", "")
    region = details.get_by_role("region")
    tab_to(own, region)
    if region.evaluate("each => each.scrollWidth > each.clientWidth"):
        own.keyboard.press("ArrowRight")
        own.wait_for_function("each => each.scrollLeft > 0", arg=region.element_handle())
    with own.expect_download() as download:
        press(own, "link", "CSV")
    assert download.value.suggested_filename.endswith(".csv")


def test_queue_is_opened_from_its_structure(own: Page) -> None:
    own.goto(FULL)
    drawn(own)
    press(own, "link", "ORDERS.IN")
    expect(own.get_by_role("heading", level=1)).to_contain_text("ORDERS.IN")


def test_plan_form_is_filled_in_and_changed_by_keyboard(own: Page) -> None:
    own.goto(PLAN)
    for label, text in (("Queue managers", "5"), ("CFCC level", "25"), ("Coupling facilities", "CF01")):
        tab_to(own, own.get_by_label(label))
        own.keyboard.type(text)
    tab_to(own, own.get_by_role("radio", name="the highest measured depth"))
    own.keyboard.press("ArrowDown")
    expect(own.get_by_role("radio", name="the puts of the busiest measured hour")).to_be_checked()
    tab_to(own, own.get_by_label("Longest outage"))
    own.keyboard.type("30")
    tab_to(own, own.get_by_role("radio", name="the measured mean"))
    own.keyboard.press("ArrowDown")
    tab_to(own, own.get_by_role("radio", name="have persistent messages"))
    own.keyboard.press("Space")
    expect(own.get_by_role("radio", name="have persistent messages")).to_be_checked()
    tab_to(own, own.get_by_label("95th percentile of PAYMENTS.IN"))
    own.keyboard.type("4000")
    press(own, "checkbox", "Plan ORDERS.IN", "Space")
    expect(own.get_by_role("checkbox", name="Plan ORDERS.IN")).not_to_be_checked()
    press(own, "button", "Preview")
    expect(own.get_by_role("region", name="Table: queues of the plan")).to_contain_text("PAYMENTS.IN")
    expect(own.get_by_role("region", name="Table: queues of the plan")).not_to_contain_text("ORDERS.IN")
    walk(own)


def test_measured_figures_are_copied_into_a_plan_by_keyboard(own: Page, origin: str) -> None:
    own.goto(PLAN)
    press(own, "link", "update KEYS")
    expect(own.get_by_role("heading", level=1)).to_contain_text("Update KEYS with measured usage")
    press(own, "checkbox", "Copy AUDIT.COPY", "Space")
    press(own, "button", "Preview changes")
    alert = own.get_by_role("alert")
    expect(alert).to_contain_text("If persistence was not measured")
    tab_to(own, own.get_by_role("radio", name="have persistent messages"))
    own.keyboard.press("ArrowDown")
    press(own, "button", "Preview changes")
    changes = own.get_by_role("region", name="Table: changes")
    expect(changes).to_contain_text("queue PAYMENTS.IN")
    expect(own.get_by_role("checkbox", name="Copy AUDIT.COPY")).to_be_checked()
    walk(own)
    press(own, "button", "Save as a new version")
    expect(own).to_have_url(f"{origin}/plans/KEYS?saved=changed")
    expect(own.get_by_text("Saved as a new version.")).to_be_visible()
    own.goto("/plans/KEYS/history")
    expect(own.get_by_role("main")).to_contain_text(re.compile("Copied from measured usage of SQ03"))
