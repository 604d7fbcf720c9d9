"""An application served on a free port, for tests that need an address."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

ANSWER_S = 30
"""Longest wait for an answer: machines that run tests are busy, and httpx by itself waits 5 s."""


@contextmanager
def served(app: FastAPI, *, shutdown_s: int | None = None) -> Iterator[str]:
    """Serve an application during the block and yield its address; running requests get `shutdown_s` to finish."""
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=shutdown_s)
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)
