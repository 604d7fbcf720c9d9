"""The last use of each connection, which the page of connections shows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import logs
from app.clock import utc_now
from app.connections.models import LONGEST_SENTENCE, ConnectionUse


def record_use(session: Session, connection: str, sentence: str, *, succeeded: bool) -> None:
    """Store the last use of a connection.

    Args:
        session: A session that writes.
        connection: The name of the connection.
        sentence: What was done, or the message of the error.
        succeeded: Whether it succeeded.
    """
    text = logs.printable(logs.without_secrets(sentence))[:LONGEST_SENTENCE]
    session.merge(ConnectionUse(connection=connection, used_at=utc_now(), succeeded=succeeded, sentence=text))


def last_uses(session: Session) -> Mapping[str, ConnectionUse]:
    """Return the last use of each connection, by name."""
    return {row.connection: row for row in session.scalars(select(ConnectionUse))}
