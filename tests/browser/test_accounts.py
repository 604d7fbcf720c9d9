"""Signing in, and the pages of accounts, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.app.accounts.support import PASSWORD, add_token, add_user, app_with_accounts
from tests.browser.axe import problems_at_every_width
from tests.browser.conftest import NewContext
from tests.serving import served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an application with accounts."""
    app = app_with_accounts(Path(tmp_path_factory.mktemp("data")))
    add_user(app, "anna", "administrator")
    add_user(app, "maximilian.mustermann@example.com", "planner")
    add_token(app, "anna", "operator")
    add_token(app, "maximilian.mustermann@example.com", "viewer")
    with served(app) as address:
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
    page.goto("/sign-in?next=/account")
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
    for address in (
        "/account/password",
        "/users",
        "/users/maximilian.mustermann@example.com",
        "/sign-in/confirm?next=/users",
    ):
        page.goto(address)
        assert problems_at_every_width(page) == [], address


def test_menu_of_the_user_works_without_scripts(new_context: NewContext) -> None:
    page = new_context(java_script_enabled=False, viewport={"width": 390, "height": 800}).new_page()
    page.goto("/sign-in?next=/calculator")
    page.get_by_label("User name").fill("maximilian.mustermann@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator(".user-menu > summary").click()
    expect(page.get_by_role("link", name="Users")).to_have_count(0)
    page.get_by_role("link", name="Your account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account")
