"""Errors of connections. Each message names the connection, and states what to do; none contains a credential."""

from __future__ import annotations

from app.problem_types import CONNECTION_FAILED, CONNECTION_NOT_FOUND
from app.settings import SettingsInvalid
from planner_core.errors import PlannerError


class ConnectionsInvalid(SettingsInvalid):
    """The file with the connections, or the credentials of one, cannot be used."""


class ConnectionUnknown(PlannerError):
    """No connection has this name, or it has another kind than the one that is needed."""

    problem = CONNECTION_NOT_FOUND


class ConnectionFailed(PlannerError):
    """A request over a connection failed, or its answer cannot be used."""

    problem = CONNECTION_FAILED

    def __init__(
        self,
        connection: str,
        method: str,
        path: str,
        fault: str,
        advice: str,
        *,
        status: int | None = None,
        is_uncertain: bool = False,
    ) -> None:
        """Store the request.

        Args:
            connection: The name of the connection.
            method: The method of the request.
            path: Its path, without the parameters.
            fault: What happened, as a sentence.
            advice: What to do, as a sentence.
            status: The status of the answer; None if there was none.
            is_uncertain: Whether the other system may have carried out a change although its answer is missing.
        """
        self.connection, self.method, self.path = connection, method, path
        self.fault, self.advice, self.status, self.is_uncertain = fault, advice, status, is_uncertain
        super().__init__(f"Connection {connection}: {method} {path}: {fault} {advice}")
