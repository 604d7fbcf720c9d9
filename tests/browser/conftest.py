"""One service and one browser for each module, with pages watched for errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from app.jobs import processes
from app.main import create_app
from app.settings import Settings
from tests.chromium import LAUNCH_FLAGS
from tests.prepared import commands
from tests.serving import served

REFUSALS = re.compile(r"Failed to load resource: the server responded with a status of (404|422) ")
"""Chromium's message on every error answer, which some of the tested pages are."""

AT_MOST_MS = 30_000
"""Longest wait for a page, because machines that run tests are busy."""
expect.set_options(timeout=AT_MOST_MS)

NewContext = Callable[..., BrowserContext]


# The fixtures belong to a module, not to the session: as long as Playwright runs, no other test of the same process can
# start an event loop.


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of the application."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    with served(app) as address:
        yield address


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """Return a browser that is started once."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_FLAGS))
        try:
            yield launched
        finally:
            launched.close()


@contextmanager
def stand_in_jobs(folder: Path) -> Iterator[None]:
    """Let services start the stand-ins in a folder instead of the jobs, and fork the processes that start them.

    A browser shows the same pages whether these processes are forked or started. tests/app/uploads/test_watcher.py
    starts them as the service does, and so does tests/browser/uploads/test_whole_way.py.
    """
    keeper = commands().words(
        "app.keeper"
    )  # before PYTHONPATH is set, which is meant for what the keeper starts
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        patch.setattr(processes, "keeper_command", lambda job_id, kind: [*keeper, str(job_id), kind])
        yield


class BrowserWatch:
    """Record errors in the browser and requests to other hosts."""

    def __init__(self, origin: str, *, expected: str) -> None:
        self.origin = origin
        self.expected = expected
        self.complaints: list[str] = []
        self.strangers: list[str] = []

    def over(self, context: BrowserContext) -> BrowserContext:
        """Watch everything in this context."""
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("request", lambda request: self._see(request.url))
        return context

    def check(self) -> None:
        """Assert that there were no errors and no requests to other hosts."""
        assert self.complaints == []
        assert self.strangers == []

    def _hear(self, message: ConsoleMessage) -> None:
        is_known = REFUSALS.match(message.text) or re.search(self.expected, message.text)
        if message.type in {"error", "warning"} and not is_known:
            self.complaints.append(message.text)

    def _see(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.strangers.append(url)


@pytest.fixture
def new_context(browser: Browser, origin: str) -> Iterator[NewContext]:
    """Create watched contexts; errors that match `expected` are part of the test."""
    made: list[tuple[BrowserContext, BrowserWatch]] = []

    def make(*, expected: str = r"(?!)", **options: Any) -> BrowserContext:  # noqa: ANN401
        watch = BrowserWatch(origin, expected=expected)
        context = watch.over(browser.new_context(base_url=origin, reduced_motion="reduce", **options))
        made.append((context, watch))
        return context

    yield make
    for context, _ in made:
        context.close()
    for _, watch in made:
        watch.check()


@pytest.fixture(scope="module")
def _one_page(browser: Browser, origin: str) -> Iterator[tuple[Page, BrowserWatch]]:
    watch = BrowserWatch(origin, expected=r"(?!)")
    context = watch.over(browser.new_context(base_url=origin, reduced_motion="reduce"))
    yield context.new_page(), watch
    context.close()


@pytest.fixture
def page(_one_page: tuple[Page, BrowserWatch]) -> Iterator[Page]:
    """Return a watched page for tests that change nothing, the same one for all tests of a module."""
    yield _one_page[0]
    _one_page[1].check()
