"""Tasks on the page of a plan: correct the policy and download it, acknowledge equal warnings, read a large plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bench.plans import bank
from tests.browser.axe import problems_at_every_width

pytestmark = pytest.mark.browser


def save_bank(page: Page) -> None:
    assert page.request.put("/api/v1/plans/BANK", data=bank()).status == 201
    page.goto("/plans/BANK")


def tab(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Parts of the plan").get_by_role("link", name=name).click()


def test_corrected_policy_is_made_and_downloaded(page: Page) -> None:
    save_bank(page)
    page.get_by_role("link", name="INITSIZE_BELOW_NEED").click()
    finding = page.locator("li.finding li.finding", has_text="SWIFT")
    finding.get_by_role("link", name="in the editor").click()
    field = page.locator('[name="/structures/2/initsize"]')
    expect(field).to_have_value("64M")
    field.fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as a new version.")).to_be_visible()
    tab(page, "Policy and commands")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CFRM policy statements").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename == "BANK-v2-BANK-policy.txt"
    statement = text.partition("NAME(BANKSWIFT)")[2].partition("STRUCTURE")[0]
    assert "INITSIZE(65536)" not in statement
    assert "INITSIZE(" in statement


def test_six_equal_warnings_are_acknowledged_at_once(page: Page) -> None:
    save_bank(page)
    page.get_by_role("link", name="DSGROUP_MISSING").click()
    page.get_by_label("Reason for all DSGROUP_MISSING").fill("The data sets have the default group.")
    page.get_by_role("button", name="Acknowledge all 6").click()
    expect(page.get_by_role("status").first).to_have_text(
        "6 findings acknowledged; the reason is part of the plan."
    )
    group = page.locator("#group-warning-DSGROUP_MISSING")
    expect(group).to_contain_text("all acknowledged")
    group.locator("summary").first.click()
    group.get_by_role("button", name="Withdraw all 6").click()
    expect(page.get_by_text("6 findings open again")).to_be_visible()


def test_plan_of_a_bank_reads_in_one_screen(page: Page) -> None:
    save_bank(page)
    pictures = (
        page.get_by_role("img", name="Coupling facilities and their structures"),
        page.get_by_role("img", name="Structures by INITSIZE and SIZE"),
    )
    for part in (*pictures, page.locator(".strip"), page.locator(".group-lines")):
        expect(part).to_be_in_viewport(ratio=1)
    expect(page.locator(".group-lines > li")).to_have_count(14)


def test_link_to_a_former_part_of_the_page_opens_its_tab(page: Page) -> None:
    save_bank(page)
    page.goto("/plans/BANK#text-policy")
    expect(page).to_have_url(re.compile(r"/plans/BANK\?tab=policy#text-policy$"))
    expect(page.locator("#text-policy")).to_be_visible()


def test_tabs_are_accessible_at_every_width(page: Page) -> None:
    save_bank(page)
    found: list[str] = []
    for path in (
        "/plans/BANK", "/plans/BANK?tab=findings", "/plans/BANK?tab=findings&code=DSGROUP_MISSING", "/plans/BANK?tab=policy",
        "/plans/BANK?tab=queues", "/plans/BANK/what-if",
    ):  # fmt: skip
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(path)
        found += [f"{path}: {each}" for each in problems_at_every_width(page)]
    assert found == []
