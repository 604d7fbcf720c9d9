"""Connections to PostgreSQL that do not wait longer than a limit for an answer.

The server's own time limits end a statement only while the server runs, and those of TCP only if its machine is gone. A
server that is stopped, or whose disk hangs, acknowledges packets and never answers.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.errors import ConnectionTimeout, _WaitTimeout

from app.database.limits import Outage

Answer = TypeVar("Answer")


class NoAnswer(psycopg.OperationalError):
    """The server did not answer in time. The connection is closed, because its state is unknown."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection whose every wait for the server is limited."""

    answer_s: float | None = None
    outage: Outage | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:  # noqa: ANN401 - as psycopg has it
        """Wait for an answer of the server."""
        if timeout is not None or self.answer_s is None:
            return super().wait(gen, interval, timeout)
        try:
            answer = super().wait(gen, interval, self.answer_s)
        except _WaitTimeout:
            if self.outage is not None:
                self.outage.begin()
            self.close()
            message = f"the server did not answer within {self.answer_s:g} seconds"
            raise NoAnswer(message) from None
        if self.outage is not None:
            self.outage.end()
        return answer


def connected(
    arguments: Any,  # noqa: ANN401 - the driver's own
    parameters: Any,  # noqa: ANN401 - the driver's own
    *,
    answer_s: float | None,
    outage: Outage,
) -> LimitedConnection:
    """Open a connection.

    Raises:
        psycopg.OperationalError: The server cannot be reached, or has just stopped answering.
    """
    if outage.is_new():
        message = "the server has stopped answering"
        raise NoAnswer(message)
    try:
        connection = LimitedConnection.connect(*arguments, **parameters)
    except ConnectionTimeout:
        outage.begin()
        raise
    connection.answer_s, connection.outage = answer_s, outage
    outage.end()
    return connection
