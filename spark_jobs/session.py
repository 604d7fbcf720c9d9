"""Build Spark sessions; no other module does this."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.java import find_java

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
DRIVER_HOST_VARIABLE = "CFPLAN_SPARK_DRIVER_HOST"
"""The name by which a cluster's workers reach the machine of the job; they connect to the driver as well."""

SMALL_DATA_CONF: Mapping[str, str] = {
    # Small inputs are finished before an optimising compiler or a parallel collector pays for itself: this halves the
    # time of a session whose whole work is a few thousand rows.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.rdd.compress": "false",
}


def build_session(
    app_name: str,
    *,
    work_dir: Path,
    master: str = "local[*]",
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark in this process, reachable from this machine only unless a cluster's workers must reach it.

    The environment of this process is set so that the JVM and the Python workers are those of this installation, even
    if the machine has another Java, Spark or Python.

    Args:
        app_name: the name of the application in Spark.
        work_dir: the folder for shuffle files, the warehouse and the Java launcher.
        master: the master URL.
        conf: Spark settings that override the ones made here.
    """
    # Processes that never start Spark import this module for its settings.
    from pyspark.sql import SparkSession

    work_dir = work_dir.absolute()
    java = find_java(os.environ, launcher_dir=work_dir / "java")
    host = driver_host(master, os.environ)
    os.environ.update(environment(java_home=java.home, host=host))
    builder = SparkSession.builder.appName(app_name).master(master)
    # The order lets callers override the base settings.
    for key, value in {**base_conf(work_dir=work_dir, host=host), **(conf or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def driver_host(master: str, environ: Mapping[str, str]) -> str:
    """Return the name by which this process is reached: the loopback address unless a cluster has to reach it."""
    is_local = master.startswith("local")  # local-cluster too: its workers are on this machine
    return LOOPBACK if is_local else environ.get(DRIVER_HOST_VARIABLE) or LOOPBACK


def environment(*, java_home: Path, host: str = LOOPBACK) -> dict[str, str]:
    """Return the variables that Spark's launcher and the Python workers read."""
    return {
        "JAVA_HOME": str(java_home),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(_spark_home()),
        "SPARK_LOCAL_IP": host,
    }


def base_conf(*, work_dir: Path, host: str = LOOPBACK) -> dict[str, str]:
    """Return the settings of every session."""
    return {
        # The ports of Spark's driver accept commands without a password.
        "spark.driver.bindAddress": host,
        "spark.driver.host": host,
        "spark.local.dir": str(work_dir / "local"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Otherwise days and hours would depend on the machine's zone, and two machines could disagree.
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(work_dir / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _spark_home() -> Path:
    """Return pyspark's own folder, so that no other Spark of the machine is mixed with it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        message = "pyspark is not installed"
        raise RuntimeError(message)
    return Path(spec.origin).parent
