"""Find changes of users that leave no entry in the audit trail, in all tests of the application.

The statements of each transaction are observed. One that changes a table for a user or a command, and adds no entry, is a
fault. A new writing route is therefore covered by its own tests, without an entry in any list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from app.actor import ActorKind, current_actor

TRAIL = "audit_entries"
SCHEMA = "alembic_version"
"""Migrations, which the first request may carry out, change this table too."""
WITHOUT_ENTRIES = frozenset(
    {"job_runs", "sign_in_attempts", "oidc_sign_ins", "dds_pollers", "dds_intervals", "sqlite_sequence"}
)
"""Tables whose changes are not actions of users: the progress of jobs, sign-ins that failed or have not ended, polled
intervals (their polls and uploads have entries), and the numbers that SQLite gives to rows."""
_CHANGE = re.compile(r'\s*(?:INSERT (?:OR \w+ )?INTO|UPDATE|DELETE FROM) "?(\w+)', re.IGNORECASE)
_CHANGED = "tests_changed_tables"


@contextmanager
def unrecorded_changes() -> Iterator[list[str]]:
    """Yield a list that receives the transactions of users without an entry."""
    found: list[str] = []

    def note(connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:  # noqa: ANN401
        if match := _CHANGE.match(statement):
            connection.info.setdefault(_CHANGED, set()).add(match[1])

    def check(connection: Connection) -> None:
        changed: set[str] = connection.info.pop(_CHANGED, set())
        is_of_user = current_actor().kind != ActorKind.SERVICE
        if is_of_user and not changed & {TRAIL, SCHEMA} and changed - WITHOUT_ENTRIES:
            found.append(f"{current_actor().kind} changed {', '.join(sorted(changed))} without an entry")

    def forget(connection: Connection) -> None:
        connection.info.pop(_CHANGED, None)

    listeners = (("before_cursor_execute", note), ("commit", check), ("rollback", forget))
    for name, function in listeners:
        event.listen(Engine, name, function)
    try:
        yield found
    finally:
        for name, function in listeners:
            event.remove(Engine, name, function)
