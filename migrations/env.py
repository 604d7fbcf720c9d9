"""Connect Alembic to the database, using a given connection or the settings."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from app.database.engine import database_of
from app.settings import Settings
from app.tables import TABLES

config = context.config


def migrate(connection: Connection) -> None:
    """Run the migrations within the transaction of this connection."""
    context.configure(
        connection=connection,
        target_metadata=TABLES[0].metadata,
        render_as_batch=connection.dialect.name == "sqlite",  # SQLite can alter a table only by rebuilding it
        compare_type=True,
        compare_server_default=True,
    )
    if connection.dialect.name == "postgresql":
        # An ALTER that waits for a running service blocks all later statements on the table, so it gives up soon.
        connection.exec_driver_sql("SET LOCAL lock_timeout = '10s'")
    with context.begin_transaction():
        context.run_migrations()


handed = config.attributes.get("connection")
if handed is not None:
    migrate(handed)
else:
    settings = Settings()
    database = database_of(settings)
    with database.engine.begin() as opened:
        migrate(opened)
