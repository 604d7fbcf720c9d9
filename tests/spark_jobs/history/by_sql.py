"""The valid rows, selected with Spark SQL over the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from spark_jobs.history.days import day_files, day_fingerprints, has_twins, spark_schema, standing_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.history.store import History


def standing(spark: SparkSession, history: History) -> dict[tuple[str, str], tuple[pa.Table, bool]]:
    """Return rows by table and day, and whether some were left out; use the query without twins if possible."""
    snapshot = history.snapshot()
    found = {}
    for table, day in day_fingerprints(history, snapshot=snapshot):
        paths = day_files(history, table, day, snapshot=snapshot)
        spark.read.schema(spark_schema(table)).parquet(*paths).createOrReplaceTempView("of_day")
        twins = has_twins(history, table, day, snapshot=snapshot)
        query = standing_sql(table, "of_day", snapshot=snapshot, twins=twins)
        found[table, day] = spark.sql(query).toArrow(), twins
    return found
