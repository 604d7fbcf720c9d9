"""Sessions of requests.

A request has one transaction, which is committed before the answer is sent: `SessionDep` ends it when the handler
returns, so that a failed commit is never answered as a success.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated

from anyio import CapacityLimiter, move_on_after
from fastapi import Depends
from sqlalchemy.orm import Session
from starlette.requests import Request

from app.database.engine import Database, DatabaseUnusable
from app.database.limits import OF_REQUESTS, WRITERS_AT_ONCE, waited_for_turn

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
TOO_MANY_WRITERS = "The service is busy with other changes, or the database is locked. Nothing was changed. Try again in a few seconds."


def write_turns() -> CapacityLimiter:
    """Return the turns of the requests of one service that write."""
    return CapacityLimiter(WRITERS_AT_ONCE)


@asynccontextmanager
async def turn_to_write(request: Request) -> AsyncIterator[None]:
    """Wait for the turn of a request to write, and keep it during the block.

    Each writer occupies a thread while it waits for the lock of another one. Without turns, 40 waiting writers would
    leave no thread for readers. This wait occupies none.

    Raises:
        DatabaseUnusable: The turn does not come in time.
    """
    turns: CapacityLimiter = request.app.state.write_turns
    holder = object()
    began = time.monotonic()
    with move_on_after(OF_REQUESTS.lock_s) as wait:
        await turns.acquire_on_behalf_of(holder)
    if wait.cancelled_caught:
        raise DatabaseUnusable(TOO_MANY_WRITERS)
    try:
        # Not reset at the end, because the context is that of the request.
        waited_for_turn.set(time.monotonic() - began)
        yield
    finally:
        turns.release_on_behalf_of(holder)


async def write_turn(request: Request) -> AsyncIterator[None]:
    """Let a request wait for its turn if its method may change data."""
    if request.method in SAFE_METHODS:
        yield
        return
    async with turn_to_write(request):
        yield


WriteTurn = Depends(write_turn, scope="function")
"""Routes that open their own sessions for writing declare this as a dependency; `SessionDep` includes it."""


def get_session(request: Request, _turn: Annotated[None, WriteTurn]) -> Iterator[Session]:
    """Yield the session of a request; HTTP methods that may change data take the write lock."""
    database: Database = request.app.state.database
    with database.session(writes=request.method not in SAFE_METHODS) as session:
        yield session


SessionDep = Annotated[Session, Depends(get_session, scope="function")]
"""The session ends before the answer is sent: in FastAPI's default scope, a failed commit would get the answer 200."""


def get_database(request: Request) -> Database:
    """Return the database of the service, for work that needs its own transactions."""
    database: Database = request.app.state.database
    return database


DatabaseDep = Annotated[Database, Depends(get_database)]
