"""Simulate a site: `python -m spark_jobs.simulate --days D --structures S … --seed K --out DIR`.

Prints JSON lines: progress if requested, and the list of written files in the last line.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import time
from pathlib import Path

from planner_core.errors import PlannerError
from planner_core.simulated import MAP_FILE, QSG, TRUTH_FILE
from spark_jobs.simulate.files import write_simulation
from spark_jobs.simulate.series import FIRST_DAY
from spark_jobs.simulate.site import Options

PROGRESS_PAUSE_S = 0.2
EXIT_OK, EXIT_REFUSED = 0, 2


def main(argv: list[str] | None = None) -> int:
    """Simulate a site and write its files."""
    arguments = _parser().parse_args(argv)
    reporter = _ProgressReporter(wanted=arguments.progress)
    try:
        written = write_simulation(
            Options(
                days=arguments.days,
                structures=arguments.structures,
                queue_managers=arguments.queue_managers,
                interval_minutes=arguments.interval_minutes,
                seed=arguments.seed,
                first_day=_first_day(arguments),
            ),
            arguments.out,
            force=arguments.force,
            days_per_file=arguments.days_per_file,
            progress=reporter,
        )
    except PlannerError as refusal:
        sys.stderr.write(f"{refusal}\n")
        return EXIT_REFUSED
    _say(
        event="result",
        folder=str(written.folder),
        dumps=written.dumps,
        map=MAP_FILE,
        truth=TRUTH_FILE,
        qsg=QSG,
        size_bytes=written.size_bytes,
        seconds=round(written.seconds, 3),
    )
    return EXIT_OK


class _ProgressReporter:
    """A reporter of progress, which prints at most a few lines per second."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._said = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._wanted and (done == total or now - self._said >= PROGRESS_PAUSE_S):
            self._said = now
            _say(event="progress", stage="simulating", done=done, total=total)


def _say(**values: object) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _first_day(arguments: argparse.Namespace) -> dt.date:
    if arguments.last_day is None:
        return FIRST_DAY
    try:
        last: dt.date = arguments.last_day
        return last - dt.timedelta(days=arguments.days - 1)
    except OverflowError:
        return dt.date.min  # refused like any other day that is out of range


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spark_jobs.simulate", description=__doc__, allow_abbrev=False
    )
    add = parser.add_argument
    add("--days", type=int, required=True, metavar="D", help="number of days")
    add("--structures", type=int, required=True, metavar="S", help="application structures")
    add("--queue-managers", type=int, required=True, metavar="Q", help="queue managers of the group")
    add("--interval-minutes", type=int, required=True, metavar="M", help="length of an interval")
    add(
        "--seed",
        type=int,
        required=True,
        metavar="K",
        help="the same options and seed produce the same files",
    )
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    add(
        "--last-day",
        type=dt.date.fromisoformat,
        metavar="DAY",
        help=f"last day, such as 2026-11-20 (by default, the first day is {FIRST_DAY})",
    )
    add("--days-per-file", type=int, default=1, metavar="N", help="days per dump (default 1)")
    add("--force", action="store_true", help="replace an earlier simulation")
    add("--progress", action="store_true", help="print progress")
    return parser


if __name__ == "__main__":
    sys.exit(main())
