"""Locks of transactions, and actions after a commit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar

from sqlalchemy import event, text
from sqlalchemy.orm import Session

COMMITTING: ContextVar[Callable[[], AbstractContextManager[object]]] = ContextVar(
    "committing", default=nullcontext
)
"""Returns a context for the commit of a writing transaction. Requests set it, because they must not be stopped in a commit."""


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
