"""Run one small Spark job and report the versions it used: `python -m spark_jobs.selfcheck --work-dir DIR`.

It checks Java, Spark and the Python workers of a new machine together, and prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark programmer reads

from spark_jobs.session import SMALL_DATA_CONF, build_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROWS = 1000


def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Double the column `n`, in a Python worker."""
    for batch in batches:
        values = [2 * n for n in batch.column("n").to_pylist()]
        yield pa.RecordBatch.from_arrays([pa.array(values, pa.int64())], names=["n"])


def run(session: SparkSession) -> dict[str, object]:
    """Sum the doubled numbers 0 to ROWS - 1, through the JVM, Arrow and Python workers."""
    numbers = session.createDataFrame([(n,) for n in range(ROWS)], "n long")
    total = numbers.mapInArrow(doubled, "n long").agg(F.sum("n").alias("total")).collect()[0]["total"]
    jvm = session.sparkContext._jvm
    if jvm is None:
        message = "the Spark session has no Java virtual machine"
        raise RuntimeError(message)
    system = jvm.java.lang.System
    return {
        "spark": pyspark.__version__,
        "java": system.getProperty("java.version"),
        "java_home": system.getProperty("java.home"),
        "rows": ROWS,
        "total": total,
    }


def main(argv: list[str] | None = None) -> int:
    """Build a session, run the job and print its report."""
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.selfcheck", description=__doc__)
    parser.add_argument("--work-dir", type=Path, required=True, help="a folder that Spark may write to")
    arguments = parser.parse_args(argv)
    session = build_session("selfcheck", work_dir=arguments.work_dir, master="local[1]", conf=SMALL_DATA_CONF)
    try:
        answer = run(session)
    finally:
        session.stop()
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
