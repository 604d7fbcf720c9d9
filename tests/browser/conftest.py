"""One service and one browser for a module; every context is watched for complaints and for requests to others."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, sync_playwright

from app.main import create_app
from app.settings import Settings
from tests.chromium import LAUNCH_FLAGS

REFUSALS = re.compile(r"Failed to load resource: the server responded with a status of (404|422) ")
"""What Chromium says of every answer that is an error; the pages tested here are partly just that."""

NewContext = Callable[..., BrowserContext]


# The fixtures belong to a module, not to the session: as long as Playwright runs, no other test of the same process can
# start an event loop.


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the application is served."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """A browser that is started once."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_FLAGS))
        try:
            yield launched
        finally:
            launched.close()


@pytest.fixture
def new_context(browser: Browser, origin: str) -> Iterator[NewContext]:
    """Makes contexts. At the end nothing must have been complained about and nobody else asked for anything.

    Messages that match `expected` are part of the test.
    """
    made: list[BrowserContext] = []
    complaints: list[str] = []
    strangers: list[str] = []

    def make(*, expected: str = r"(?!)", **options: Any) -> BrowserContext:  # noqa: ANN401
        def hear(message: ConsoleMessage) -> None:
            is_known = REFUSALS.match(message.text) or re.search(expected, message.text)
            if message.type in {"error", "warning"} and not is_known:
                complaints.append(message.text)

        context = browser.new_context(base_url=origin, reduced_motion="reduce", **options)
        context.on("console", hear)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("request", lambda request: asked(request.url))
        made.append(context)
        return context

    def asked(url: str) -> None:
        if not url.startswith((f"{origin}/", "data:", "blob:")):
            strangers.append(url)

    yield make
    for context in made:
        context.close()
    assert complaints == []
    assert strangers == []
