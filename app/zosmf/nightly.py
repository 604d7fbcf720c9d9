"""The comparison of active policies with what cfplan expects, as a step of the nightly run."""

from __future__ import annotations

from collections.abc import Callable

from app.database.engine import Database
from app.settings import Settings
from planner_core.errors import PlannerError


def compare_policies(database: Database, settings: Settings, say: Callable[[str], None]) -> None:
    """Compare the policies of all connections that ask for it; a failure is stored and does not end the run."""
    if not settings.connections_file:
        return
    # Imported only if there are connections, because the HTTP client takes a while to load.
    from app.connections.declared import ZosmfConnection, read_connections
    from app.zosmf import service

    try:
        known = read_connections(settings)
    except PlannerError as error:
        say(f"policies are not compared: {error}")
        return
    for name, connection in known.items():
        if not isinstance(connection, ZosmfConnection) or not connection.nightly_drift:
            continue
        try:
            with service.server_of(database, settings, name) as server:
                found = service.drift(database, server, service.evaluation_of(database))
        except PlannerError as error:
            say(f"connection {name}: {error}".replace("%", "%%"))
        else:
            say(f"connection {name}: {found.sentence}")
