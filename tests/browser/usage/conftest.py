from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from app.main import create_app
from app.settings import Settings
from tests.usage.support import store, ten_days


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where an application is served that has ten days of usage."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    store(app, ten_days())
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)
