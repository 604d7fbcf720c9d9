from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from app.main import create_app
from app.settings import Settings
from tests.app.uploads.support import READER
from tests.browser.conftest import stand_in_jobs
from tests.chromium import LAUNCH_FLAGS
from tests.serving import served


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    """Return the address of a service of this test with the stand-in reader."""
    with stand_in_jobs(READER):
        yield from serve(tmp_path)


@pytest.fixture
def real_base(tmp_path: Path) -> Iterator[str]:
    """Return the address of a service of this test with the real reader."""
    yield from serve(tmp_path)


def serve(folder: Path) -> Iterator[str]:
    app = create_app(Settings(data_dir=folder / "data"))
    with served(app, shutdown_s=3) as address:
        yield address


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(chromium), args=list(LAUNCH_FLAGS))
        yield launched
        launched.close()


def open_page(browser: Browser, base: str) -> Iterator[Page]:
    """Return a page that must have no error in its console and no violation of the content security policy."""
    context = browser.new_context(
        base_url=base, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda m: complaints.append(m.text) if is_complaint(m.type, m.text) else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def is_complaint(kind: str, text: str) -> bool:
    # Chromium reports every answer of 4xx as an error; pages answer 422 on purpose.
    return kind in ("error", "warning") and "Failed to load resource" not in text


@pytest.fixture
def page(browser: Browser, base: str) -> Iterator[Page]:
    yield from open_page(browser, base)


@pytest.fixture
def real_page(browser: Browser, real_base: str) -> Iterator[Page]:
    yield from open_page(browser, real_base)
