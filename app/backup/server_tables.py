"""Exchange the tables of a PostgreSQL database: load an archive, and keep the old tables until the restore is complete.

The old tables move to another schema, in the same transaction that creates and fills the new ones. So the database has
either the old tables or the new ones, and the comment of that schema tells which restore has put them there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from alembic import command
from sqlalchemy import Connection, text

from app.backup.errors import RestoreRefused
from app.backup.rows import TableOfRows, load_rows
from app.database.engine import MIGRATION_LOCK, Database, alembic_config

OLD_SCHEMA = "cfplan_before_restore"
_ENDING_S, _PAUSE_S = 2.0, 0.05
"""Time that other sessions have to end, and time between two checks. A server ends a session shortly after its client."""


def check_exchange(database: Database) -> None:
    """Check that the tables can be exchanged now.

    Raises:
        RestoreRefused: Other sessions use the database for more than two seconds, or the user may not create a schema.
    """
    with database.connection(writes=False) as connection:
        latest = time.monotonic() + _ENDING_S
        while (others := _other_sessions(connection)) and time.monotonic() < latest:
            time.sleep(_PAUSE_S)
        if others:
            found = ", ".join(f"{number} from {address}" for address, number in others)
            message = (
                f"The database is in use: it has other sessions ({found}). Stop each service that uses it, close other "
                "programs, and try again. Nothing was changed."
            )
            raise RestoreRefused(message)
        if not connection.scalar(text("SELECT has_database_privilege(current_database(), 'CREATE')")):
            message = (
                "The user of the database may not create a schema, in which a restore keeps the old tables until it is "
                "complete. Grant it CREATE on the database, and try again. Nothing was changed."
            )
            raise RestoreRefused(message)


def _other_sessions(connection: Connection) -> list[tuple[str, int]]:
    """Return the addresses of the other sessions of the database, each with their number."""
    # Within a transaction, PostgreSQL would show the sessions of the first check again.
    connection.execute(text("SELECT pg_stat_clear_snapshot()"))
    found = connection.execute(
        text(
            "SELECT coalesce(host(client_addr), 'local'), count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend' GROUP BY 1 ORDER BY 1"
        )
    )
    return [(address, number) for address, number in found]


def exchange(
    database: Database,
    restore_id: str,
    revision: str,
    tables: Sequence[TableOfRows],
    rows_of: Callable[[TableOfRows], Iterable[bytes]],
    *,
    after_load: Callable[[Connection], None],
    on_table: Callable[[str], None],
) -> None:
    """Replace the tables by those of an archive, in one transaction; do nothing if that was done before.

    Args:
        database: The database.
        restore_id: Identifies the restore.
        revision: The revision of the archive.
        tables: The tables of the archive.
        rows_of: Returns the lines of a table.
        after_load: Called with the connection when the tables have the newest revision.
        on_table: Called with the name of each table before it is filled.
    """
    with database.connection(writes=True) as connection:
        _begin(connection)
        if _restore_in(connection) == restore_id:
            return
        connection.execute(text(f"DROP SCHEMA IF EXISTS {OLD_SCHEMA} CASCADE"))
        connection.execute(text(f"CREATE SCHEMA {OLD_SCHEMA}"))
        connection.execute(text(f"COMMENT ON SCHEMA {OLD_SCHEMA} IS '{restore_id}'"))
        current = connection.scalar(text("SELECT current_schema()"))
        for statement in _moves(connection, current, OLD_SCHEMA):
            connection.execute(text(statement))
        command.upgrade(alembic_config(connection), revision)
        load_rows(connection, tables, rows_of, on_table=on_table)
        # Triggers of constraints that wait for the end of the transaction would make the next ALTER TABLE fail.
        connection.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))
        command.upgrade(alembic_config(connection), "head")
        after_load(connection)


def undo(database: Database, restore_id: str) -> None:
    """Return to the old tables if this restore has replaced them, in one transaction."""
    with database.connection(writes=True) as connection:
        _begin(connection)
        if _restore_in(connection) != restore_id:
            return
        current = connection.scalar(text("SELECT current_schema()"))
        for statement in _drops(connection, current):
            connection.execute(text(statement))
        for statement in _moves(connection, OLD_SCHEMA, current):
            connection.execute(text(statement))
        connection.execute(text(f"DROP SCHEMA {OLD_SCHEMA} CASCADE"))


def clean(database: Database, restore_id: str) -> None:
    """Remove the old tables."""
    with database.connection(writes=True) as connection:
        _begin(connection)
        if _restore_in(connection) == restore_id:
            connection.execute(text(f"DROP SCHEMA {OLD_SCHEMA} CASCADE"))


def _begin(connection: Connection) -> None:
    for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
        connection.execute(text(f"SET LOCAL {limit} = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})


def _restore_in(connection: Connection) -> str | None:
    """Return the restore whose old tables are set aside, or None."""
    query = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :name"
    return connection.scalar(text(query), {"name": OLD_SCHEMA})


_OBJECTS = (
    "SELECT format('TABLE %I.%I', n.nspname, o.relname) FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace "
    "WHERE n.nspname = :schema AND o.relkind IN ('r', 'p') AND o.oid NOT IN (SELECT objid FROM pg_depend WHERE deptype = 'e') ORDER BY 1",
    "SELECT format('ROUTINE %s', o.oid::regprocedure) FROM pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace "
    "WHERE n.nspname = :schema AND o.oid NOT IN (SELECT objid FROM pg_depend WHERE deptype = 'e') ORDER BY 1",
    "SELECT format('TYPE %I.%I', n.nspname, o.typname) FROM pg_type o JOIN pg_namespace n ON n.oid = o.typnamespace "
    "WHERE n.nspname = :schema AND o.typtype = 'e' AND o.oid NOT IN (SELECT objid FROM pg_depend WHERE deptype = 'e') ORDER BY 1",
)
"""Queries for the tables, functions and enumerations of a schema. Objects of extensions are not part of
cfplan; indexes, sequences and triggers follow their tables."""


def _moves(connection: Connection, source: str, target: str) -> list[str]:
    return [f'ALTER {each} SET SCHEMA "{target}"' for each in _objects(connection, source)]


def _drops(connection: Connection, schema: str) -> list[str]:
    return [f"DROP {each} CASCADE" for each in _objects(connection, schema)]


def _objects(connection: Connection, schema: str) -> list[str]:
    return [each for query in _OBJECTS for each in connection.scalars(text(query), {"schema": schema})]
