"""Ingest a dump into a history with Spark's data source.

Every table of the dump is read as a DataFrame, returned as Arrow, and converted to rows of the history.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.history.rows import COLUMNS, rows_of
from spark_jobs.history.staging import Source
from spark_jobs.history.store import FileFacts, History, new_commit_id
from spark_jobs.smf.decode import TABLES, index_dump
from tests.spark_jobs.history.spark_source import prove_chain, smf_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = {("SYSA", "CSQ1"): "SQ03", ("SYSB", "CSQ2"): "SQ03"}


def bring_in(spark: SparkSession, dump: Path, url: str, *, split_bytes: int) -> None:
    """Read and commit the dump."""
    index = index_dump(dump, split_bytes=split_bytes)
    prove_chain(spark, dump, index)
    batches = {}
    for table in TABLES:
        frame = smf_frame(spark, dump, index, table=table, columns=COLUMNS[table], only_shared=True)
        batches[table] = frame.orderBy("record").toArrow().to_batches()
    history = History.open(url, create=True)
    source = Source(new_commit_id(), dump.name, index.sha256)
    stage = history.stage(source)
    mapped = rows_of(batches, group_of=GROUPS)
    for name, rows in mapped.tables.items():
        stage.add(name, rows)
    history.commit(source, stage.finish(), FileFacts(index.size_bytes, "smf", {}, qsgs=["SQ03"]))
