"""Start a part of a Spark standalone cluster: `python -m spark_jobs.standalone master|worker …`.

This starts Spark's own program with the Spark and the Java that the jobs use, so that a cluster and its jobs have the same
version. Options after the part's name are passed on; Spark's documentation of its standalone mode lists them.
This process is replaced by Spark's program, so signals reach it directly.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.java import JavaNotFoundError, JavaUnusableError, find_java
from spark_jobs.session import environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PARTS = {
    "master": "org.apache.spark.deploy.master.Master",
    "worker": "org.apache.spark.deploy.worker.Worker",
}
LOCAL_DIR_VARIABLE = "SPARK_LOCAL_DIRS"
USAGE = "usage: python -m spark_jobs.standalone {master,worker} [options of Spark's]"


def command(part: str, options: Sequence[str], *, work_dir: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts a part, and the variables that it needs.

    Args:
        part: master or worker.
        options: passed on unchanged.
        work_dir: the folder for a Java launcher.

    Raises:
        JavaNotFoundError: no Java is found.
        JavaUnusableError: the Java that JAVA_HOME names cannot be used.
    """
    java = find_java(os.environ, launcher_dir=work_dir / "java")
    variables = environment(java_home=java.home)
    # This variable would override the --host option of the part.
    del variables["SPARK_LOCAL_IP"]
    program = str(Path(variables["SPARK_HOME"]) / "bin" / "spark-class")
    return [program, PARTS[part], *options], variables


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Replace this process with the chosen part; return 2 only if that fails."""
    if not arguments or arguments[0] not in PARTS:
        sys.stderr.write(f"{USAGE}\n")
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    work_dir = Path(environ.get(LOCAL_DIR_VARIABLE) or ".").absolute()
    try:
        words, variables = command(arguments[0], arguments[1:], work_dir=work_dir)
    except (JavaNotFoundError, JavaUnusableError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return os.execve(words[0], words, {**environ, **variables})  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
