"""Lists, histories, comparisons and printed pages: nothing overflows a narrow screen or the paper."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.app.plans.support import SQ03
from tests.browser.axe import poor_contrasts, violations

pytestmark = pytest.mark.browser

A4_PX = 718
"""Between the margins of the style sheet, at 96 pixels an inch."""
LONGEST = "PAYMENTS.EUROPE.CUSTOMER.REQUESTS.SETTLEMENT.Q01"
QUEUE = {
    "name": LONGEST, "message_bytes": {"mean": 3500, "p95": 12000, "max": 60000}, "put_rate_per_s": 40.25,
    "outage_minutes": 90.5, "persistent": True, "selector_reads": True, "isolation": "x" * 32,
}  # fmt: skip


def put(page: Page, name: str, *, comment: str = "", **members: object) -> None:
    headers = {"if-match": "*"} if members else {}
    document: dict[str, Any] = {**copy.deepcopy(SQ03), **members}
    answer = page.request.put(f"/api/v1/plans/{name}?comment={comment}", data=document, headers=headers)
    assert answer.ok, answer.text()


@pytest.fixture
def stored(page: Page) -> Page:
    """Return a page of a service with a plan of two versions, and two deleted plans whose name a third one has."""
    put(page, "SQ03")
    batch = {"name": "BATCH", "preflist": ["CF02"], "queues": [QUEUE]}
    put(page, "SQ03", comment="A%20structure%20for%20the%20batch", structures=[*SQ03["structures"], batch])
    for at in range(2):
        put(page, "OLD", comment=f"Draft%20{at}")
        page.request.delete("/api/v1/plans/OLD")
    put(page, "OLD")
    return page


@pytest.mark.parametrize("path", ["/plans", "/plans/SQ03/history", "/deleted-plans", "/plans/SQ03/compare"])
def test_lists_do_not_scroll_sideways_on_a_narrow_screen(stored: Page, path: str) -> None:
    stored.goto(path)
    for width in (1440, 1024, 390):
        stored.set_viewport_size({"width": width, "height": 900})
        assert stored.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        hidden = (
            "[...document.querySelectorAll('.scroll:has(.list)')].map(e => e.scrollWidth - e.clientWidth)"
        )
        assert max(stored.evaluate(hidden)) <= 0, width
    stored.emulate_media(color_scheme="light")
    assert violations(stored) == []
    stored.emulate_media(color_scheme="dark")
    assert poor_contrasts(stored) == []
    expect(stored.get_by_role("navigation", name="Main").get_by_text("Help", exact=True)).to_be_in_viewport(
        ratio=1
    )


def test_deleted_plans_with_the_same_name_are_restored_separately_on_a_narrow_screen(stored: Page) -> None:
    stored.set_viewport_size({"width": 390, "height": 900})
    stored.goto("/deleted-plans")
    buttons = stored.get_by_role("button", name="Restore OLD")
    expect(buttons).to_have_count(2)
    box = buttons.last.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    buttons.last.click()
    expect(stored.get_by_role("heading", name="OLD-restored")).to_be_visible()
    expect(stored.get_by_text("Draft 0")).to_be_visible()


def test_printed_tables_fit_the_paper(stored: Page) -> None:
    stored.goto("/plans/SQ03/versions/2/print")
    stored.emulate_media(media="print")
    stored.set_viewport_size({"width": A4_PX, "height": 1000})
    expect(stored.get_by_text(LONGEST).last).to_be_attached()
    edges = (
        "[...document.querySelectorAll('table, pre')].map(e => Math.ceil(e.getBoundingClientRect().right))"
    )
    assert max(stored.evaluate(edges)) <= A4_PX
    assert stored.evaluate("document.documentElement.scrollWidth") <= A4_PX
