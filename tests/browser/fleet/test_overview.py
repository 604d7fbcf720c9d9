"""The overview in a real browser: the structure in most trouble, accessibility, keyboard."""

from __future__ import annotations

from pathlib import Path

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


def test_corrected_policy_of_the_structure_in_most_trouble_is_downloaded_by_visible_links(page: Page) -> None:
    # The other tests need coupling facilities that are too small, in which a larger structure has no place.
    plan = page.request.get("/api/v1/plans/SQ03/document").json()
    for facility in plan["coupling_facilities"]:
        facility["size"] = "64G"
    saved = page.request.put("/api/v1/plans/SQ03", data=plan, headers={"if-match": "*"})
    assert saved.ok, saved.text()
    page.goto("/")
    page.get_by_role("region", name="What to do first").get_by_role(
        "link", name="Compare larger sizes"
    ).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("MYDATA")
    page.get_by_role("link", name="Resize in a plan").click()
    resize = page.get_by_role("region", name="Resize in a plan")
    expect(resize).to_be_in_viewport()
    resize.get_by_role("link", name="Twice the size in SQ03").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()
    page.get_by_role("navigation", name="Parts of the plan").get_by_role(
        "link", name="Policy and commands"
    ).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CFRM policy statements").click()
    policy = Path(download.value.path()).read_text(encoding="utf-8")
    old = page.request.get("/api/v1/plans/SQ03/versions/2/policy").text()
    sizes = [_size_of(text, "SQ03MYDATA") for text in (old, policy)]
    assert sizes[1] >= 2 * sizes[0] > 0


def _size_of(policy: str, structure: str) -> int:
    """Return the SIZE of a structure in a policy, in KiB."""
    return int(policy.partition(f"NAME({structure})")[2].partition("SIZE(")[2].partition(")")[0])
