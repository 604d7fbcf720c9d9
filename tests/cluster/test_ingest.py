"""Dumps are read into the history by a cluster: the same rows as on one machine, also when a worker is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_jobs import ingest
from spark_jobs.history.store import History
from tests.cluster.standalone import Cluster, cluster
from tests.history import dumps
from tests.history.dumps import GROUPS
from tests.history.support import contents

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300
SPLIT_BYTES = 4_000
INTERVALS = range(96)

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def test_a_worker_killed_in_the_middle_of_an_ingest_costs_nothing(running: Cluster, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", INTERVALS)
    command = [sys.executable, "-m", "spark_jobs.ingest", "--history", str(tmp_path / "cluster")]
    command += ["--in-process-below", "0", "--split-bytes", str(SPLIT_BYTES), "--progress"]
    command += ["--master", running.url, "--work-dir", str(tmp_path / "work"), *GROUPS, str(dump)]
    victim = running.workers[0]
    report = None
    killed_at = None
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as job:
        assert job.stdout is not None
        for line in job.stdout:
            report = json.loads(line)
            done, total = report.get("done"), report.get("total")
            if killed_at is None and report.get("stage") == "decoding" and 0 < done < total:
                assert any(worker["coresused"] for worker in running.alive())
                running.kill(victim)
                killed_at = done / total
        assert job.wait(PATIENCE_S) == 0
    assert killed_at is not None, "the ingest was over before a worker could be killed"
    assert report is not None
    (file,) = report["files"]
    assert (file["driver"], file["notes"]) == ("spark", [])
    assert len(running.alive()) == 1

    assert ingest.main(["--history", str(tmp_path / "one"), *GROUPS, str(dump)]) == 0
    assert contents(History.open(str(tmp_path / "cluster"))) == contents(History.open(str(tmp_path / "one")))
