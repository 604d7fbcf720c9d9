"""Run the nightly job: `python -m spark_jobs.night --history URL --facts FACTS.json --out RESULT.json`.

docs/contributing/night-protocol.md describes its input, its output and the file that it writes.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from planner_core.contracts.files import plain
from planner_core.errors import PlannerError
from spark_jobs.history.option import add_history_option
from spark_jobs.night.progress import Progress
from spark_jobs.session import SMALL_DATA_CONF, build_session

if TYPE_CHECKING:
    from planner_core.contracts.nightly import NightlyResult

MASTER = "local[*]"
SPARK_CONF = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": "16",
    "spark.sql.shuffle.partitions": "16",
    # Days are many small files, so that one task should read several.
    "spark.sql.files.openCostInBytes": "524288",
    "spark.sql.files.maxPartitionBytes": "33554432",
    # Above the threshold, Spark would start a job of its own only to list the files.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # The size of the batches already limits the results.
    "spark.driver.maxResultSize": "0",
}
MANY_ROWS = 4_000_000
"""The number of rows above which an optimizing compiler and several partitions save time."""


def main(argv: list[str] | None = None) -> int:
    """Run the job; return 0 when the file is written, 1 after printing an error."""
    # The processes that make forecasts import this module again, and need neither Delta nor the fits.
    from spark_jobs.night.facts import read_facts
    from spark_jobs.night.run import BATCH_ROWS, IN_PROCESS_BELOW_ROWS, night

    arguments = _parser().parse_args(argv)
    progress = Progress(wanted=arguments.progress)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    try:
        facts = read_facts(arguments.facts)
        if arguments.horizon is not None:
            facts = replace(facts, horizon_days=arguments.horizon)
        below = arguments.in_process_below
        if below is None:
            # A cluster is configured for histories that would take one machine too long.
            below = IN_PROCESS_BELOW_ROWS if arguments.master.startswith("local") else 0
        with ExitStack() as stack:
            work_dir = arguments.work_dir
            if work_dir is None:
                work_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cfplan-night-")))
            result = night(
                arguments.history,
                facts,
                make_session=lambda rows: build_session(
                    "cfplan night", work_dir=work_dir, master=arguments.master, conf=conf_for(rows)
                ),
                work_dir=work_dir,
                progress=progress,
                republish=arguments.republish,
                batch_rows=arguments.batch_rows or BATCH_ROWS,
                in_process_below=below,
            )
        with progress.stage("writing", "Writing the results"):
            write_whole(arguments.out, result)
    except PlannerError as error:
        progress.say("error", sentence=str(error))
        return 1
    # The application shows this sentence; with only the traceback, it could not show a reason for a failed run.
    except Exception as error:
        logging.exception("the nightly run failed")
        progress.say(
            "error", sentence=f"The nightly run failed: {type(error).__name__}: {_first_line(error)}"
        )
        return 1
    progress.say("result", path=str(arguments.out))
    return 0


def conf_for(rows: int) -> dict[str, str]:
    """Return Spark's settings for a number of rows."""
    return SPARK_CONF if rows > MANY_ROWS else {**SPARK_CONF, **SMALL_DATA_CONF}


def write_whole(path: Path, result: NightlyResult) -> None:
    """Write a file so that it is complete or unchanged, even after a power failure."""
    text = json.dumps(plain(result), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    # The new name is only safe after the folder is also flushed to disk.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.night", description=__doc__)
    add_history_option(parser)
    parser.add_argument("--facts", required=True, type=Path, metavar="FILE", help="the facts, as JSON")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write the results")
    parser.add_argument("--master", default=MASTER, help="Spark's master")
    parser.add_argument(
        "--in-process-below",
        type=int,
        metavar="ROWS",
        help="the rows of shorter days are read without Spark (default 5 million; 0 if the master is a cluster)",
    )
    parser.add_argument("--work-dir", type=Path, metavar="DIR", help="a folder for temporary data")
    parser.add_argument("--horizon", type=int, metavar="DAYS", help="days that forecasts look ahead")
    parser.add_argument("--republish", action="store_true", help="return the daily figures of all days")
    parser.add_argument("--progress", action="store_true", help="print progress")
    parser.add_argument("--batch-rows", type=int, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
