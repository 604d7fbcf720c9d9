"""Jobs on a cluster give the same results as on one machine, even if a worker is lost during the job."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_core.contracts.nightly import NightlyFacts
from spark_jobs import ingest
from spark_jobs.history.store import History
from tests.spark_jobs.cluster.standalone import QUICK_JAVA, Cluster, cluster
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.dumps import GROUPS
from tests.spark_jobs.history.support import contents
from tests.spark_jobs.night.nights import of_the_history, plain_night
from tests.spark_jobs.night.support import history_at_once, older_release

ROOT = Path(__file__).parents[3]
PATIENCE_S = 300
SPLIT_BYTES = 150_000
INTERVALS = range(40)
NIGHTS = range(20)

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), workers=1) as started:
        yield started


def watched(
    command: list[str], running: Cluster, *, is_middle: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Run a job, kill one of its workers when it reports that it is half done, and return its last line."""
    victim = running.add_worker()
    assert len(running.alive()) == 2
    last: dict[str, Any] = {}
    killed = False
    with subprocess.Popen(
        [*command, "--master", running.url, "--progress"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | QUICK_JAVA,
    ) as job:  # fmt: skip
        assert job.stdout is not None
        for line in job.stdout:
            last = json.loads(line)
            if not killed and is_middle(last):
                assert {worker["coresused"] for worker in running.alive()} == {1}
                running.kill(victim)
                killed = True
        assert job.wait(PATIENCE_S) == 0
    assert killed, "the job was over before a worker could be killed"
    assert len(running.alive()) == 1
    return last


def test_ingest_survives_a_killed_worker(running: Cluster, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", INTERVALS)
    command = [sys.executable, "-m", "spark_jobs.ingest", "--history", str(tmp_path / "cluster")]
    command += ["--in-process-below", "0", "--split-bytes", str(SPLIT_BYTES)]
    command += ["--work-dir", str(tmp_path / "work"), *GROUPS, str(dump)]
    report = watched(
        command,
        running,
        is_middle=lambda line: line.get("stage") == "decoding" and 0 < line["done"] < line["total"],
    )
    (file,) = report["files"]
    assert (file["driver"], file["notes"]) == ("spark", [])
    assert ingest.main(["--history", str(tmp_path / "one"), *GROUPS, str(dump)]) == 0
    assert contents(History.open(str(tmp_path / "cluster"))) == contents(History.open(str(tmp_path / "one")))


def test_nightly_run_survives_a_killed_worker(running: Cluster, tmp_path: Path) -> None:
    with older_release():
        history = history_at_once(tmp_path / "history", NIGHTS, structures=2, every=2)
    shutil.copytree(history.url, tmp_path / "same")
    facts, out = tmp_path / "facts.json", tmp_path / "result.json"
    facts.write_text("{}", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "spark_jobs.night",
        "--history",
        history.url,
        "--work-dir",
        str(tmp_path / "work"),
    ]
    command += ["--facts", str(facts), "--out", str(out), "--republish"]
    watched(
        command,
        running,
        is_middle=lambda line: line.get("stage") == "reducing" and 0 < line["done"] < line["total"],
    )
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["days_reduced"] == found["days_total"] >= len(NIGHTS)

    expected = plain_night(str(tmp_path / "same"), NightlyFacts(), republish=True)
    assert of_the_history(found) == of_the_history(json.loads(json.dumps(expected)))
    assert found["daily"] == expected["daily"]
