"""Signing in, and the pages of accounts, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from app.texts.documents import example_text
from tests.app.accounts.support import PASSWORD, add_token, add_user, app_with_accounts, bearer
from tests.app.accounts.test_pages import add_unregistered_file
from tests.browser.axe import problems_at_every_width
from tests.browser.conftest import NewContext
from tests.browser.keys import walk
from tests.serving import ANSWER_S, served

pytestmark = pytest.mark.browser

LONG_NAME = "maximilian.mustermann@example.com"
SIGN_IN = "/sign-in?next=/account"
PAGES = {
    "/sign-in": SIGN_IN,
    "/sign-in/confirm": "/sign-in/confirm?next=/users",
    "/account": "/account",
    "/account/password": "/account/password",
    "/users": "/users",
    "/users/{name}": f"/users/{LONG_NAME}",
}
"""Pages that exist only where users sign in, and an address of each; test_keyboard.py checks that none is missing."""
PAGES_WITH_RIGHTS = (
    "/audit",
    "/audit?since=yesterday",
    "/upload-files",
    "/plans/SQ03?tab=policy",
    "/plans/SQ03/history",
)
"""Pages that show more to users with more rights, or who did what."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an application with accounts."""
    folder = Path(tmp_path_factory.mktemp("site"))
    app = app_with_accounts(folder, approval=True)
    add_user(app, "anna", "administrator")
    add_user(app, LONG_NAME, "planner")
    add_token(app, "anna", "operator")
    add_token(app, LONG_NAME, "viewer")
    add_unregistered_file(folder / "data" / "uploads")
    with served(app) as address:
        headers = {"content-type": "application/yaml", **bearer(add_token(app, LONG_NAME, "planner"))}
        plan = httpx.put(
            f"{address}/api/v1/plans/SQ03", content=example_text(), headers=headers, timeout=ANSWER_S
        )
        assert plan.status_code == 201
        yield address


def test_user_signs_in_with_the_keyboard_and_signs_out(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto("/plans?page=1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.get_by_label("User name").focus()
    page.keyboard.type("anna")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/plans?page=1")
    page.locator(".user-menu > summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("You have signed out.")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_pages_of_accounts_are_accessible_and_fit_every_width(new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(SIGN_IN)
    assert problems_at_every_width(page) == []
    page.get_by_label("User name").fill("anna")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert problems_at_every_width(page) == []
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")
    assert problems_at_every_width(page) == []
    page.get_by_label("Name", exact=True).fill("nightly report")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("heading", name="New API token")).to_be_visible()
    expect(page.get_by_role("button", name="Copy New API token")).to_be_visible()
    assert problems_at_every_width(page) == []
    for address in (*PAGES.values(), *PAGES_WITH_RIGHTS):
        page.goto(address)
        assert problems_at_every_width(page) == [], address


def test_pages_of_accounts_are_used_by_keyboard(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(SIGN_IN)
    assert "Skip to the content" in walk(page, least=6)[0]
    page.get_by_label("User name").fill("anna")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")
    for address in (*PAGES.values(), *PAGES_WITH_RIGHTS):
        page.goto(address)
        assert "Skip to the content" in walk(page)[0], address


def test_menu_of_the_user_works_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False, viewport={"width": 390, "height": 800}).new_page()
    page.goto("/sign-in?next=/calculator")
    page.get_by_label("User name").fill(LONG_NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator(".user-menu > summary").click()
    assert page.locator("html").evaluate("page => page.scrollWidth") == 390
    expect(page.get_by_role("link", name="Users")).to_have_count(0)
    page.get_by_role("link", name="Your account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account")


def test_frame_has_room_for_a_long_user_name(new_context: NewContext) -> None:
    page = new_context(expected="status of 403").new_page()
    page.goto("/sign-in?next=/plans/SQ03?tab=policy")
    page.get_by_label("User name").fill(LONG_NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/plans/SQ03?tab=policy")
    expect(page.get_by_role("button", name="Approve version 1")).to_have_count(0)
    assert problems_at_every_width(page) == []
    for address in ("/account", "/users", "/calculator"):
        page.goto(address)
        assert problems_at_every_width(page) == [], address
