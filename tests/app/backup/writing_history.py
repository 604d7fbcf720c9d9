"""Write to a usage history and then to the database, as jobs do, until killed: HISTORY DATABASE_URL.

Each round appends a row to the Delta table and then stores the version of the table in the database. Some rounds join
small files, or drop the oldest rows, which removes files from the table.
"""

from __future__ import annotations

import sys
from itertools import count

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from sqlalchemy import make_url, text

from app.database.engine import Database

JOIN_EVERY, DROP_EVERY = 7, 11


def main() -> None:
    """Write until killed."""
    history, url = sys.argv[1:]
    database = Database(make_url(url))
    for number in count(1):
        rows = pa.table({"number": pa.array([number], pa.int64())})
        write_deltalake(history, rows, mode="append", configuration={"delta.checkpointInterval": "5"})
        table = DeltaTable(history)
        if number % JOIN_EVERY == 0:
            table.optimize.compact()
        if number % DROP_EVERY == 0:
            table.delete(f"number < {number - DROP_EVERY}")
        with database.session(writes=True) as session:
            session.execute(text("DELETE FROM qsg_map"))
            session.execute(
                text("INSERT INTO qsg_map (system_id, queue_manager, qsg, updated_at) VALUES ('SYSA', :number, :version, CURRENT_TIMESTAMP)"),
                {"number": str(number), "version": str(table.version())},
            )  # fmt: skip
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
