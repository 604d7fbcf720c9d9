from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Request, expect, sync_playwright

from tests.chromium import LAUNCH_FLAGS

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_api_page_sizes_a_plan_without_requests_to_other_sites(
    chromium: Path, address: tuple[str, int], scheme: str
) -> None:
    origin = f"http://{address[0]}:{address[1]}"
    complaints: list[str] = []
    asked: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def see(request: Request) -> None:
        asked.append(request.url)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_FLAGS))
        page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
        page.on("console", hear)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", see)
        page.goto(f"{origin}/api/docs")
        expect(page.get_by_role("heading", name="REST API")).to_be_visible()
        page.get_by_role("link", name="Try it POST /api/v1/size", exact=True).click()
        expect(page.locator(".opblock-tag")).to_have_count(1)  # other tags would be above the operation
        with page.expect_response(lambda response: "/api/v1/size" in response.url) as answered:
            page.get_by_role("button", name="Execute").click()
        assert answered.value.status == 200
        assert "findings" in json.loads(answered.value.text())
        expect(page.get_by_text("Response body").first).to_be_visible()
        expect(page.get_by_text("Resolver error")).to_have_count(0)
        browser.close()
    assert complaints == []
    assert asked
    assert [url for url in asked if not url.startswith((f"{origin}/", "data:"))] == []
