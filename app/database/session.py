"""Sessions of requests.

A request has one transaction, which is committed before the answer is sent: `SessionDep` ends it when the handler
returns, so that a failed commit is never answered as a success.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends
from sqlalchemy.orm import Session
from starlette.requests import Request

from app.database.engine import Database

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def get_session(request: Request) -> Iterator[Session]:
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
