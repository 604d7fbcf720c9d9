"""A dump into a history by way of Spark's data source: `python -m tests.history.by_data_source DUMP HISTORY SPLIT_BYTES`.

Every table of the dump is read as a DataFrame, comes back as Arrow, and becomes rows of the history.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from spark_jobs.history.rows import COLUMNS, rows_of
from spark_jobs.history.staging import Source
from spark_jobs.history.store import FileFacts, History, new_commit_id
from spark_jobs.session import SMALL_DATA_CONF, build_session
from spark_jobs.smf.decode import TABLES, index_dump
from spark_jobs.smf.spark_source import prove_chain, smf_frame

GROUPS = {("SYSA", "CSQ1"): "SQ03", ("SYSB", "CSQ2"): "SQ03"}


def main(dump: str, url: str, split_bytes: int) -> None:
    """Read and commit."""
    index = index_dump(dump, split_bytes=split_bytes)
    with tempfile.TemporaryDirectory() as folder:
        session = build_session("test", work_dir=Path(folder), master="local[2]", conf=SMALL_DATA_CONF)
        try:
            prove_chain(session, dump, index)
            batches = {}
            for table in TABLES:
                frame = smf_frame(session, dump, index, table=table, columns=COLUMNS[table], only_shared=True)
                batches[table] = frame.orderBy("record").toArrow().to_batches()
        finally:
            session.stop()
    history = History.open(url, create=True)
    source = Source(new_commit_id(), Path(dump).name, index.sha256)
    stage = history.stage(source)
    mapped = rows_of(batches, group_of=GROUPS)
    for name, rows in mapped.tables.items():
        stage.add(name, rows)
    history.commit(source, stage.finish(), FileFacts(index.size_bytes, "smf", {}, qsgs=["SQ03"]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
