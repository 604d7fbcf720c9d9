"""The rows that stand, by Spark SQL over the files: `python -m tests.history.by_sql HISTORY OUT`.

Of each table and day a Parquet file of the query's rows is written to OUT; the query without twins where it will do.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from spark_jobs.history.days import day_files, day_fingerprints, has_twins, spark_schema, standing_sql
from spark_jobs.history.store import History
from spark_jobs.session import SMALL_DATA_CONF, build_session


def main(url: str, out: str) -> None:
    """Query and write."""
    history = History.open(url)
    snapshot = history.snapshot()
    with tempfile.TemporaryDirectory() as folder:
        session = build_session("test", work_dir=Path(folder), master="local[2]", conf=SMALL_DATA_CONF)
        try:
            for table, day in day_fingerprints(history, snapshot=snapshot):
                paths = day_files(history, table, day, snapshot=snapshot)
                session.read.schema(spark_schema(table)).parquet(*paths).createOrReplaceTempView("of_day")
                twins = has_twins(history, table, day, snapshot=snapshot)
                query = standing_sql(table, "of_day", snapshot=snapshot, twins=twins)
                suffix = "" if twins else ".plain"
                pq.write_table(session.sql(query).toArrow(), Path(out) / f"{table}.{day}{suffix}.parquet")
        finally:
            session.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
