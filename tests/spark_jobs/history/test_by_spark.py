"""Ingest with Spark tasks gives the same history as ingest in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs import ingest
from spark_jobs.history.store import History
from spark_jobs.smf.decode import index_dump
from spark_jobs.smf.encode import Framing
from tests.spark_jobs.cluster.standalone import QUICK_JAVA
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.by_data_source import bring_in
from tests.spark_jobs.history.dumps import GROUPS
from tests.spark_jobs.history.support import contents

ROOT = Path(__file__).parents[3]
PATIENCE_S = 300
SPLIT_BYTES = 150_000


def by_spark(history: Path, *arguments: str) -> dict[str, Any]:
    """Run an ingest in a separate process, because a process has only one Java virtual machine."""
    command = [sys.executable, "-m", "spark_jobs.ingest", "--history", str(history), *arguments]
    command += ["--in-process-below", "0", "--split-bytes", str(SPLIT_BYTES), "--master", "local[2]"]
    done = subprocess.run(
        [*command, "--progress"], cwd=ROOT, env=os.environ | QUICK_JAVA,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    decoding = [line for line in lines if line.get("stage") == "decoding"]
    assert decoding[-1]["done"] == decoding[-1]["total"]
    report: dict[str, Any] = lines[-1]
    return report


def rows_with_places(history: Path) -> dict[str, list[str]]:
    """Return the rows with file, offset and record, without the name of the ingest."""
    opened = History.open(str(history))
    return {
        table: sorted(map(repr, opened.read(table).drop_columns(["commit_id"]).to_pylist()))
        for table in contents(opened)
    }


@pytest.mark.spark
def test_dumps_give_the_same_history_in_process_and_with_spark(tmp_path: Path) -> None:
    """Spanned and broken records, a gap, a truncated end, blocks and gzip."""
    plain = dumps.write(tmp_path / "plain.smf", range(30))
    blocked = dumps.write(tmp_path / "blocked.smf", range(20, 50), framing=Framing(kind="bdw"))
    packed = dumps.write(tmp_path / "packed.smf.gz", range(45, 60), framing=Framing(kind="gzip+rdw"))
    data = bytearray(plain.read_bytes())
    data[200_000:200_400] = b"\xff" * 400
    plain.write_bytes(data[:-3000])
    assert len(index_dump(plain, split_bytes=SPLIT_BYTES).splits) > 3
    files = [str(plain), str(blocked), str(packed)]

    report = by_spark(tmp_path / "spark", *files, *GROUPS)
    assert [file["driver"] for file in report["files"]] == ["spark"] * 3
    assert [file["notes"] for file in report["files"]] == [[], [], []]

    assert ingest.main(["--history", str(tmp_path / "one"), *files, *GROUPS]) == 0
    assert rows_with_places(tmp_path / "spark") == rows_with_places(tmp_path / "one")
    kept = {
        row["file_name"]: json.loads(row["report"]) for row in History.open(str(tmp_path / "one")).files()
    }
    for file in report["files"]:
        other = kept[file["file"]]
        for name in (
            "bytes",
            "records",
            "skipped",
            "quarantined",
            "structures",
            "queue_managers",
            "days",
            "rows",
        ):
            assert file[name] == other[name], name


@pytest.mark.spark
def test_dump_data_source_returns_the_rows_of_the_decoder(spark: SparkSession, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "plain.smf", range(20))
    bring_in(spark, dump, str(tmp_path / "source"), split_bytes=SPLIT_BYTES)
    assert ingest.main(["--history", str(tmp_path / "one"), str(dump), *GROUPS]) == 0
    assert rows_with_places(tmp_path / "source") == rows_with_places(tmp_path / "one")
