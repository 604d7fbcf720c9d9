"""An application served on a free port, for tests that need an address."""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.jobs.leader import Leader

ANSWER_S = 30
"""Longest wait for an answer: machines that run tests are busy, and httpx by itself waits 5 s."""
END_S = 180
"""Longest wait for the end of a server, whose watcher may be starting a process."""


@pytest.fixture(scope="session", autouse=True)
def authorities_are_read_once() -> Iterator[None]:
    """Let the HTTP clients of tests share what they trust by default.

    Each call of `httpx.get` would otherwise read the certificates of all public authorities, which takes 20 ms of CPU time,
    and the tests contact only this machine. Clients that state what they trust, as all of the service do, get that.
    """
    create = httpx.create_ssl_context
    by_default = create()

    def shared(verify: SSLContext | str | bool = True, **options: object) -> SSLContext:
        # The variables of the environment with other authorities apply unless trust_env is False.
        from_environment = options.get("trust_env", True) and (os.environ.keys() & _AUTHORITIES)
        if verify is True and not options.get("cert") and not from_environment:
            return by_default
        return create(verify=verify, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", shared)
        yield


_AUTHORITIES = {"SSL_CERT_FILE", "SSL_CERT_DIR"}

SCRIPTS: dict[str, str] = {}
"""Scripts of tests by their paths, served beside each application: its pages permit only scripts of their own origin."""


def _with_scripts(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        script = SCRIPTS.get(scope.get("path", ""))
        if script is None:
            await app(scope, receive, send)
        else:
            forever = {"Cache-Control": "max-age=31536000, immutable"}
            await Response(script, media_type="text/javascript", headers=forever)(scope, receive, send)

    return answer


@contextmanager
def served(
    app: FastAPI, *, shutdown_s: int | None = None, runs_jobs: bool = True, server_header: bool = True
) -> Iterator[str]:
    """Serve an application during the block and yield its address.

    Args:
        app: The application.
        shutdown_s: The time that running requests get to finish.
        runs_jobs: Whether it starts jobs. A server that other tests share must not: their uploads would be read, and the
            log lines of its threads would be in the output of tests that read the log.
        server_header: Whether answers name the web server.
    """
    if not runs_jobs:
        app.state.leader = Leader(app.state.settings.data_dir, ())
    server = uvicorn.Server(
        uvicorn.Config(
            _with_scripts(app),
            log_level="critical",
            access_log=False,
            server_header=server_header,
            timeout_graceful_shutdown=shutdown_s,
        )
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=END_S)
            # Its threads would otherwise disturb other tests, far from the one that left them.
            assert not thread.is_alive(), f"The server did not end within {END_S} s."


BACKGROUND_THREADS = ("cfplan-jobs", "cfplan-leader", "APScheduler")
"""Names of the threads of a service that start jobs."""


_REPORTED: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def background_threads() -> list[threading.Thread]:
    """Return the running threads that start jobs, of services in this process."""
    found = (each for each in threading.enumerate() if each.name in BACKGROUND_THREADS)
    return [each for each in found if each not in _REPORTED]


def threads_left(seconds: float = ANSWER_S) -> list[str]:
    """Return the names of the threads of services that do not end within these seconds; each is returned once."""
    end = time.monotonic() + seconds
    for each in background_threads():
        each.join(max(0, end - time.monotonic()))
    left = background_threads()
    _REPORTED.update(left)  # otherwise every later file would wait for them, and fail
    return [each.name for each in left]
