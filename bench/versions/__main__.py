"""`python -m bench.versions --before FOLDER`: compare this version with the checkout of another one."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench import load
from bench.plans import QUEUES, STRUCTURES
from bench.versions import __doc__ as what
from bench.versions.checkout import FAILURES, ROOT, checkout, commit_of
from bench.versions.commands import measure_ingest, measure_start
from bench.versions.nights import measure_night
from bench.versions.requests import measure_largest, measure_pages, measure_sizing
from bench.versions.rounds import AFTER, BEFORE, Run, report
from bench.versions.table import Line, print_lines
from bench.versions.users import measure_load

PARTS: Mapping[str, Callable[[Run], list[Line]]] = {
    "pages": measure_pages,
    "sizing": measure_sizing,
    "largest": measure_largest,
    "start": measure_start,
    "ingest": measure_ingest,
    "night": measure_night,
    "load": measure_load,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both versions and print the table."""
    options = _options(arguments)
    before, after = checkout(BEFORE, options.before), checkout(AFTER, ROOT)
    found: list[Line] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cfplan-bench-", dir=options.folder) as work:
        temporary = Path(work) / "temporary"
        temporary.mkdir()
        before, after = (replace(each, temporary=temporary) for each in (before, after))
        run = Run(before, after, options, Path(work))
        for name in options.only or PARTS:
            part_began = time.perf_counter()
            try:
                found += PARTS[name](run)
            except FAILURES as error:
                found.append(Line(name, None, None, None, f"{type(error).__name__}: {error}"[:300]))
            report(f"{name} took {time.perf_counter() - part_began:.0f} s")
    print(f"before: {commit_of(before.folder)}; after: {commit_of(ROOT)}; {os.cpu_count()} cores")
    print(
        f"measured alternately in {(time.perf_counter() - began) / 60:.1f} minutes; medians of the rounds of each line\n"
    )
    print_lines(found)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=what)
    add = parser.add_argument
    add("--before", type=Path, required=True, help="folder of the other version, with its packages in .venv")
    add("--only", choices=tuple(PARTS), action="append", help="measure only this part; may be repeated")
    add("--rounds", type=int, default=3, help="rounds of pages, sizing requests, plans and commands")
    add("--requests", type=int, default=400, help="sizing requests in each round")
    add("--structures", type=int, default=STRUCTURES, help="structures of the largest plan")
    add("--queues", type=int, default=QUEUES, help="queues on each of them")
    add("--small-dumps", type=int, default=118, help="number of small dumps to store")
    add("--queued-dumps", type=int, default=20, help="number of them that are also uploaded")
    add("--dump-mb", type=float, default=100, help="size of the dump with one-minute intervals in MB")
    add("--ingest-rounds", type=int, default=1, help="rounds of the ingest of this dump")
    add("--night-rows", type=int, default=2_000_000, help="rows of the short history")
    add("--night-structures", type=int, default=200, help="structures of all histories")
    add("--night-rounds", type=int, default=1, help="rounds of nightly runs and of reductions")
    add("--load-planners", type=int, default=load.PLANNERS, help="planners of the load")
    add("--load-scripts", type=int, default=load.SCRIPTS, help="scripts of the load")
    add(
        "--load-seconds",
        type=float,
        default=load.SECONDS,
        help="duration of the load of each version in seconds",
    )
    add("--folder", type=Path, help="folder for everything that is stored; default: the temporary folder")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    # The blocks in which processes were started end them.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    main()
