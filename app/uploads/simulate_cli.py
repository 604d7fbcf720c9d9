"""The command `cfplan simulate`: it starts a process that writes the files of a fictitious site."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.command_line import whole_number

EXIT_OK, EXIT_REFUSED = 0, 2
_MOST = 2**63
MEGABYTE = 1e6
WIDTH = 30


def add_simulate(made: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan simulate`."""
    made.set_defaults(run=_simulate)
    for option, letter, about in (
        ("days", "D", "number of days"),
        ("structures", "S", "application structures, 1 to 62"),
        ("queue-managers", "Q", "queue managers of the group, 1 to 32"),
        ("interval-minutes", "M", "length of an interval; must divide a day evenly"),
        ("seed", "K", "the same options and seed produce the same files"),
    ):
        # The process that writes the files checks the bounds.
        made.add_argument(
            f"--{option}", type=whole_number(-_MOST, _MOST), required=True, metavar=letter, help=about
        )
    made.add_argument(
        "--out", type=_folder, required=True, metavar="DIR", help="folder to write; new or empty"
    )
    made.add_argument(
        "--last-day",
        type=_day,
        metavar="DAY",
        help="last day, such as 2026-11-20 (default: days from 2026-01-05 on)",
    )
    made.add_argument(
        "--days-per-file",
        type=whole_number(-_MOST, _MOST),
        default=1,
        metavar="N",
        help="days of each dump (default: 1)",
    )
    made.add_argument("--force", action="store_true", help="replace an earlier simulation in DIR")


def _simulate(arguments: argparse.Namespace) -> int:
    from app.jobs.child import Child
    from app.jobs.processes import WHAT_TO_DO_AT_THE_TERMINAL, missing_packages, simulate_command
    from planner_core.errors import PlannerError

    if missing_packages():
        raise PlannerError(WHAT_TO_DO_AT_THE_TERMINAL)
    command = simulate_command(
        arguments.out,
        days=arguments.days,
        structures=arguments.structures,
        queue_managers=arguments.queue_managers,
        interval_minutes=arguments.interval_minutes,
        seed=arguments.seed,
        last_day=arguments.last_day,
        days_per_file=arguments.days_per_file,
        is_replaced=arguments.force,
    )
    result: Mapping[str, Any] | None = None
    with Child(command, on_stderr=_say) as child:
        for event in child.events(every_s=1.0):
            kind = None if event is None else event.get("event")
            if event is not None and kind == "progress":
                _show(event["done"], event["total"])
            elif event is not None and kind == "result":
                result = event
        code = child.wait()
    if result is None:
        # A process ended by a signal has a negative code, which is not an exit code of a command.
        return code if code > 0 else EXIT_REFUSED
    sys.stdout.write(
        f"{result['dumps']} dumps of {result['size_bytes'] / MEGABYTE:.1f} MB of simulated data were written to "
        f"{result['folder']} in {result['seconds']:.1f} s, with {result['map']} and {result['truth']}.\n"
        f"`cfplan ingest {arguments.out}/*` reads them.\n"
    )
    return EXIT_OK


def _show(done: int, total: int) -> None:
    """Show progress on one line of a terminal; show nothing if the output is not a terminal."""
    if sys.stderr.isatty():
        bar = "#" * (WIDTH * done // max(total, 1))
        end = "\n" if done == total else ""
        sys.stderr.write(f"\rsimulating [{bar:<{WIDTH}}] day {done} of {total}{end}")
        sys.stderr.flush()


def _say(line: str) -> None:
    sys.stderr.write(f"{line.rstrip()}\n")


def _folder(text: str) -> Path:
    if not text.strip():
        msg = "the name is empty; use . for the current folder"
        raise argparse.ArgumentTypeError(msg)
    return Path(text)


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        msg = f"{text!r} is not a day such as 2026-11-20"
        raise argparse.ArgumentTypeError(msg) from None
