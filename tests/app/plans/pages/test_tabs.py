"""The tabs of a plan: pictures, groups of findings, filters, queues."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi import FastAPI

from app.plans.head import TABS
from app.web.form_words import with_labels
from bench.plans import bank
from tests.app.plans.pages.browsing import Browser, PageContent
from tests.app.web.pages.html import read
from tests.app.web.support import send_json

MISSING = {"code": "DSGROUP_MISSING", "structure": "", "message": ""}


def _shown(message: str) -> str:
    """Return a message as the words of a page."""
    # The page marks the key after a label as code, and its words have a blank around marked text.
    return " ".join(with_labels(message).replace("(`", "( ").replace("`)", " )").split())


PLAN = "/api/v1/plans/BANK"


@pytest.fixture
def browser(app: FastAPI) -> Browser:
    """Return a browser of a service with the plan of a bank."""
    assert send_json(app, "PUT", PLAN, bank()).status == 201
    return Browser(app)


def stored(browser: Browser) -> Any:  # noqa: ANN401 - JSON
    return json.loads(browser.ask("GET", PLAN).text)


def etag(browser: Browser) -> str:
    return str(stored(browser)["etag"])


def findings(browser: Browser, query: str = "") -> PageContent:
    return browser.get(f"/plans/BANK?tab=findings{query}")


def acknowledge(browser: Browser, **fields: str) -> PageContent:
    return browser.post(
        "/plans/BANK/acknowledge", {**MISSING, "etag": etag(browser), "reason": "agreed", **fields}
    )


def test_saved_pictures_state_the_plan_and_its_version(browser: Browser) -> None:
    page = read(browser.get("/plans/BANK").text)
    tools = page.all("p", class_="picture-tools")
    assert [each["data-subject"] for each in tools] == ["plan BANK", "plan BANK"]
    assert all(each["data-period"].startswith("version 1 of ") for each in tools)


def test_each_tab_links_to_the_others_and_is_marked_as_current(browser: Browser) -> None:
    addresses = (
        "/plans/BANK", "/plans/BANK?tab=findings", "/plans/BANK?tab=policy", "/plans/BANK?tab=queues", "/plans/BANK/what-if",
        "/plans/BANK/history",
    )  # fmt: skip
    for address, title in zip(addresses, TABS.values(), strict=True):
        page = browser.get(address)
        assert page.status == 200
        assert set(addresses) <= set(page.links)
        current = page.text.partition('aria-current="page">')[2]
        assert current.startswith(title), address


def test_tabs_of_an_old_version_stay_in_that_version(browser: Browser, app: FastAPI) -> None:
    assert send_json(app, "PUT", PLAN, {**bank(), "queue_managers": 13}, if_match=etag(browser)).status == 200
    page = browser.get("/plans/BANK/versions/1?tab=findings")
    assert "/plans/BANK/versions/1?tab=policy" in page.links
    assert "/plans/BANK/history" in page.links
    assert "/plans/BANK/acknowledge" not in page.text


def test_unknown_tab_shows_the_sizes(browser: Browser) -> None:
    assert "h-structures" in browser.get("/plans/BANK?tab=nothing").ids


def test_first_tab_lists_each_group_of_findings_once(browser: Browser) -> None:
    page = browser.get("/plans/BANK")
    groups = stored(browser)["result"]["finding_groups"]
    assert len(groups) > 8
    for group in groups:
        assert f"/plans/BANK?tab=findings&code={group['code']}" in page.links
    assert "DSGROUP_MISSING : 6 structures" in page.words


def test_findings_are_grouped_and_each_is_listed(browser: Browser) -> None:
    page = findings(browser)
    found = stored(browser)["findings"]
    assert len(found) >= 77
    assert f"{len(found)} of {len(found)} findings" in page.words
    assert page.ids.count("group-warning-DSGROUP_MISSING") == 1
    for each in found:
        assert _shown(each["message"]) in page.words


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("&severity=warning", lambda each: each["severity"] == "warning"),
        ("&structure=SEPA", lambda each: each["structure"] == "SEPA"),
        (
            "&severity=info&structure=SEPA",
            lambda each: (each["severity"], each["structure"]) == ("info", "SEPA"),
        ),
        ("&code=DSGROUP_MISSING", lambda each: each["code"] == "DSGROUP_MISSING"),
        ("&severity=unknown", lambda each: True),
    ],
)
def test_filter_shows_only_matching_findings(browser: Browser, query: str, matches: Any) -> None:  # noqa: ANN401
    page = findings(browser, query)
    every = stored(browser)["findings"]
    expected = [each for each in every if matches(each)]
    assert f"{len(expected)} of {len(every)} findings" in page.words
    shown = [each for each in every if _shown(each["message"]) in page.words]
    assert shown == expected


def test_filter_without_matches_says_so(browser: Browser) -> None:
    page = findings(browser, "&structure=NONE")
    assert "No finding matches." in page.words


def test_group_is_acknowledged_in_one_version_with_one_reason(browser: Browser) -> None:
    page = acknowledge(browser)
    assert page.path == "/plans/BANK?tab=findings&saved=acknowledged&findings=6"
    assert "6 findings acknowledged" in page.words
    plan = stored(browser)
    assert plan["version"] == 2
    assert [(each["code"], each["reason"]) for each in plan["document"]["acknowledged"]] == [
        ("DSGROUP_MISSING", "agreed")
    ] * 6
    assert "all acknowledged" in page.words
    assert "Withdraw all 6" in page.words


def test_group_of_one_structure_is_acknowledged_under_its_filter(browser: Browser) -> None:
    acknowledge(browser, structure="SEPA")
    assert [each["structure"] for each in stored(browser)["document"]["acknowledged"]] == ["SEPA"]


def test_withdrawn_group_is_open_again(browser: Browser) -> None:
    acknowledge(browser)
    page = browser.post("/plans/BANK/withdraw", {**MISSING, "etag": etag(browser)})
    assert page.path == "/plans/BANK?tab=findings&saved=withdrawn&findings=6"
    assert "6 findings open again" in page.words
    assert stored(browser)["document"]["acknowledged"] == []
    assert "Acknowledge all 6" in page.words


def test_refused_acknowledgment_of_a_group_keeps_its_reason(browser: Browser) -> None:
    page = acknowledge(browser, reason="x" * 501)
    assert page.status == 422
    assert "reason-group-warning-DSGROUP_MISSING" in page.ids
    assert "#reason-group-warning-DSGROUP_MISSING" in page.links
    assert "x" * 500 in page.text


def test_withdrawal_of_an_old_version_is_refused(browser: Browser) -> None:
    old = etag(browser)
    acknowledge(browser)
    page = browser.post("/plans/BANK/withdraw", {**MISSING, "etag": old})
    assert page.status == 409
    assert "someone has since saved version 2" in page.words
    nothing = browser.post("/plans/BANK/withdraw", {**MISSING, "etag": etag(browser), "code": "SEEN"})
    assert nothing.status == 422
    assert "has no acknowledged finding SEEN" in nothing.words


def test_queues_are_found_by_name_or_structure_and_paged(browser: Browser) -> None:
    page = browser.get("/plans/BANK?tab=queues&search=sepa")
    assert "4 of 72 queues" in page.words
    assert "SEPA.Q3" in page.words
    assert "SWIFT.Q1" not in page.words
    assert "No queue matches." in browser.get("/plans/BANK?tab=queues&search=NONE").words
    assert "/plans/BANK/versions/1/structures/SWIFT" in browser.get("/plans/BANK?tab=queues").links


def test_many_queues_are_paged(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.plans.result_pages.QUEUES_PER_PAGE", 10)
    page = browser.get("/plans/BANK?tab=queues&page=2")
    assert "PAYOUT.Q3" not in page.words
    assert "SWIFT.Q2" in page.words
    assert "/plans/BANK?tab=queues&page=8" in page.links


def test_corrected_policy_is_on_the_tab_of_texts(browser: Browser) -> None:
    page = browser.get("/plans/BANK?tab=policy")
    assert "STRUCTURE NAME(BANKSEPA)" in page.words
    assert "/plans/BANK/versions/1/files/policy" in page.links


def test_questions_about_a_plan_are_a_tab(browser: Browser) -> None:
    links = set(browser.get("/plans/BANK/what-if").links)
    assert {
        "/whatif/cf-loss?plan=BANK", "/plans/BANK/scenarios", "/plans/BANK/advice", "/merge?plan=BANK", "/running?plan=BANK",
        "/plans/BANK/versions/1/structures/SEPA/filling",
    } <= links  # fmt: skip
    assert browser.get("/plans/NONE/what-if").status == 404
