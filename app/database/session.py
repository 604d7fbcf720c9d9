"""Sessions of requests, locks, and actions after a commit.

A request has one transaction, which is committed before the answer is sent: `SessionDep` ends it when the handler
returns, so that a failed commit is never answered as a success.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import Depends
from sqlalchemy import event, text
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


def hold_lock(session: Session, key: int) -> None:
    """Hold a lock until the transaction of a writer ends, so that no other writer can hold it at the same time.

    On PostgreSQL, this is the advisory lock `key`. On SQLite, a writer has the database to itself from its first
    statement, so beginning the transaction is enough.
    """
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def after_commit(session: Session, action: Callable[[], object]) -> None:
    """Run an action after the transaction is committed; a rollback discards it."""
    waiting = [action]

    def on_commit(done: Session) -> None:
        # SQLAlchemy sends both events for savepoints as well.
        if waiting and not done.in_nested_transaction():
            waiting.pop()()

    def on_rollback(undone: Session) -> None:
        if not undone.in_nested_transaction():
            waiting.clear()

    event.listen(session, "after_commit", on_commit)
    event.listen(session, "after_rollback", on_rollback)
