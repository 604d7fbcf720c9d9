"""Let commands that are forked from the process that imports this give new databases the newest schema without migrating them.

The migrations run once, when this is imported; they take a fifth of a second of CPU time, which is more than most commands
take. See `tests.databases.CopiedSchema`; only `tests/migrations` always runs the migrations.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command

from app.database.engine import Database, database_url
from tests.databases import CopiedSchema

command.upgrade = CopiedSchema().upgrade  # type: ignore[assignment]

with TemporaryDirectory() as folder:
    database = Database(database_url("", data_dir=Path(folder)))
    database.upgrade()
    database.close()
