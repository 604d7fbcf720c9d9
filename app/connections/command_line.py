"""The warning of every command that contacts another system over an unverified connection."""

from __future__ import annotations

import sys

from app.connections.declared import NOT_VERIFIED, AnyConnection


def warn_if_not_verified(name: str, connection: AnyConnection) -> None:
    """Write to standard error that no real system has confirmed a connection, so that the output stays that of the command."""
    if not connection.verified_against_a_real_system:
        sys.stderr.write(f"Connection {name}: {NOT_VERIFIED}. Check every value before you rely on it.\n")
