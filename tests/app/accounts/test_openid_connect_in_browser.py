"""Signing in at an OpenID provider with a real browser, which applies the Content Security Policy and the cookie rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from joserfc.jwk import RSAKey
from playwright.sync_api import expect, sync_playwright

from app.main import create_app
from tests.app.accounts.openid import OpenIdProvider, running
from tests.app.accounts.test_openid_connect import settings_for
from tests.chromium import LAUNCH_FLAGS
from tests.serving import served

pytestmark = pytest.mark.browser


def test_user_signs_in_with_the_keyboard_without_scripts_and_signs_out_again(
    chromium: Path, tmp_path: Path
) -> None:
    key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
    with (
        running(OpenIdProvider(key=key)) as provider,
        served(create_app(settings_for(provider, tmp_path))) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_FLAGS))
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{address}/plans")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.get_by_role("link", name="Sign in with OpenID Connect").press("Enter")
        expect(page).to_have_url(f"{address}/plans")
        # Returned by the provider again, without the cookie of a sign-in: an error page.
        page.goto(f"{address}/sign-in/oidc/callback?state=wrong&code=wrong")
        expect(page.get_by_role("heading", name="The sign-in did not succeed")).to_be_visible()
        page.goto(f"{address}/account")
        page.locator("form[action$='/sign-out'] button").first.dispatch_event("click")
        expect(page.get_by_text("You have signed out.")).to_be_visible()
        expect(page.get_by_role("link", name="Sign out of your directory as well")).to_be_visible()
        browser.close()
