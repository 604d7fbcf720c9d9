"""Serve the application with more routes, whose work does not end.

Each line on stdin is a JSON object: the `arguments` of `cfplan serve`, the `environment`, and the file for `messages`.
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httptools  # noqa: F401 - so that no child imports it
import uvicorn  # noqa: F401
from fastapi import APIRouter, Depends, Request
from sqlalchemy import text
from starlette.responses import Response, StreamingResponse

import app.main
from app import cli
from app.accounts import rights
from app.database.engine import DatabaseUnusable
from app.database.session import SessionDep
from app.serving import worker
from tests.forked_on_request import fork_for_each_line

router = APIRouter(prefix="/test")
PLAN = "INSERT INTO plans (name, created_at) VALUES ('HALF', '2026-01-01')"


def _spend(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@router.get("/process")
def process() -> int:
    return os.getpid()


@router.get("/spend")
def spend(seconds: float) -> int:
    _spend(seconds)
    return os.getpid()


@router.put("/python")
def endless_python(session: SessionDep) -> None:
    _write(session)
    _spend(1e9)


@router.put("/python-in-own-transaction")
def endless_python_in_own_transaction(request: Request) -> None:
    with request.app.state.database.session(writes=True) as session:
        _write(session)
        _spend(1e9)


@router.put("/stored")
def endless_after_commit(request: Request) -> None:
    with request.app.state.database.session(writes=True) as session:
        session.execute(text("CREATE TABLE kept (number INTEGER)"))
    _spend(1e9)


@router.put("/query")
def endless_query(session: SessionDep) -> None:
    """Use CPU time in SQLite, which releases the GIL, and hold the lock of writers."""
    _write(session)
    session.execute(
        text("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c")
    )


@router.put("/waiting-query")
def endless_waiting_query(session: SessionDep) -> None:
    """Wait in SQLite, where no exception reaches the thread, and hold the lock of writers."""
    _write(session)
    connection: Any = session.connection().connection.driver_connection
    connection.create_function("sleep", 1, time.sleep)
    session.execute(text("SELECT sleep(1e6)"))


@router.get("/digest")
def endless_digest() -> str:
    return hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 2_000_000_000).hex()


@router.get("/pattern")
def endless_pattern() -> bool:
    """Hold the GIL."""
    return re.match(r"(a+)+$", "a" * 60 + "b") is not None


@router.get("/waiting-call")
def endless_waiting_call() -> None:
    """Hold the GIL, as `/pattern` does, without using CPU time."""
    ctypes.PyDLL(None).sleep(1_000_000)


def _slow_dependency() -> None:
    _spend(1e9)


@router.get("/dependency")
def needs_slow_dependency(_: Annotated[None, Depends(_slow_dependency)]) -> None:
    return None


@router.get("/stream")
def stream() -> Response:
    def pieces() -> Iterator[bytes]:
        yield b"first"
        _spend(1e9)

    return StreamingResponse(pieces(), media_type="text/plain")


@router.get("/loop")
async def blocked_loop() -> None:
    time.sleep(1e9)


@router.get("/wait")
async def wait(seconds: float) -> int:
    await asyncio.sleep(seconds)
    return os.getpid()


def _write(session: SessionDep) -> None:
    Path(os.environ["CFPLAN_DATA_DIR"], "begun").touch()
    session.execute(text("CREATE TABLE half (number INTEGER)"))


def _fail(*_: object) -> None:
    """Fail in each worker, after the checks of the command."""
    message = "the database is gone"
    raise DatabaseUnusable(message)


def _serve(line: str) -> None:
    asked = json.loads(line)
    os.environ.update(asked["environment"])
    messages = os.open(asked["messages"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(messages, 2)
    if "TEST_FAILS" in asked["environment"]:
        app.main._remove_expired_plans = _fail  # type: ignore[assignment]
    more_s = int(asked["environment"].get("TEST_STOPS_LATER_S", "0"))
    worker.SHUTDOWN_S += more_s
    worker.STOP_S += more_s
    earlier_s = int(asked["environment"].get("TEST_ENDS_REQUESTS_EARLIER_S", "0"))
    worker.END_REQUESTS_S -= earlier_s
    worker.ANSWER_S -= earlier_s
    # Without an entry in this table, a route answers no one.
    own: dict[str, rights.Right] = {
        key: rights.PUBLIC for route in router.routes for key in rights.key_of(route)
    }
    rights.RIGHTS = {**rights.RIGHTS, **own}  # type: ignore[misc]
    original = app.main._routers
    app.main._routers = lambda: [router, *original()]
    os._exit(cli.main(["serve", *asked["arguments"]]))


def main() -> None:
    fork_for_each_line(_serve)
