"""The command `cfplan history`: it exports rows of the usage history, and rebuilds its hourly roll-ups.

It starts the same processes as the service. Modules are imported when the command runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.command_line import commands_of, write

if TYPE_CHECKING:
    from app.database.engine import Database
    from app.jobs.starter import Starter
    from app.settings import Settings

EXIT_OK, EXIT_NOTHING = 0, 1
STDERR = 2


def add_history(history: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan history`."""
    verb = commands_of(history, "verb")
    verb("export", "Print rows of a table of the usage history.", _add_export)
    verb("rollup", "Rebuild the hourly roll-ups in the database from the whole history.", _add_rollup)


def _add_export(export: argparse.ArgumentParser) -> None:
    from planner_core.contracts.ingest import USAGE_TABLES

    export.set_defaults(run=_export)
    export.add_argument("--table", choices=USAGE_TABLES, required=True)
    export.add_argument("--qsg", metavar="Q", help="only this queue-sharing group")
    export.add_argument("--structure", metavar="S", help="only this structure")
    export.add_argument(
        "--from", metavar="T", dest="begin", type=_time, help="only rows from this time on, UTC"
    )
    export.add_argument("--to", metavar="T", dest="end", type=_time, help="only rows before this time, UTC")
    export.add_argument("--output", choices=("csv",), default="csv")


def _add_rollup(rollup: argparse.ArgumentParser) -> None:
    rollup.set_defaults(run=_rollup)


def _time(text: str) -> str:
    """Return a day or a time after checking its format, before the job is started."""
    try:
        datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: the first or last day of the calendar
        msg = f"{text!r} is not a day or time such as 2026-11-20 or 2026-11-20T09:00:00Z"
        raise argparse.ArgumentTypeError(msg) from None
    return text


def _export(arguments: argparse.Namespace) -> int:
    from app.jobs import processes
    from app.settings import read_settings

    check_packages()
    settings = read_settings()
    command = processes.history_command(settings, "export")
    for option, value in (
        ("table", arguments.table), ("qsg", arguments.qsg), ("structure", arguments.structure),
        ("from", arguments.begin), ("to", arguments.end), ("output", arguments.output),
    ):  # fmt: skip
        if value is not None:
            # As one word: argparse treats a separate value that begins with a minus as an option.
            command.append(f"--{option}={value}")
    # The job writes to the same output, so buffered text must be written first.
    sys.stdout.flush()
    code = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, env=processes.environment(settings)
    ).returncode
    if code < 0:
        sys.stderr.write(f"The export was terminated by signal {-code}: its output may be incomplete.\n")
        return EXIT_NOTHING
    return code


def _rollup(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.jobs import processes
    from app.jobs.starter import Starter

    del arguments
    with open_database() as (database, settings), Starter(processes.environment(settings)) as starter:
        check_packages()
        stored = store_days(database, settings, [], starter)
    write(f"{stored}\n")
    return EXIT_OK


def store_days(database: Database, settings: Settings, days: Sequence[str], starter: Starter) -> str:
    """Roll up days and store the results in one transaction; return a sentence about them."""
    from app.audit.actions import Action
    from app.audit.recording import AuditObject, record
    from app.jobs import processes
    from app.usage.rollups import read_lines, store_rollups
    from planner_core.errors import PlannerError

    folder = processes.work_dir(settings)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        path = Path(made) / "rollup.jsonl"
        with path.open("wb") as file:
            job = starter.start(processes.rollup_command(settings, days), stdout=file.fileno(), stderr=STDERR)
            code = job.wait()
        # A job that was killed after its last line has printed everything; store_rollups checks for that line.
        if code > 0:
            msg = (
                f"The history is stored, but the aggregation failed with exit code {code}; see above. "
                "`cfplan history rollup` tries again."
            )
            raise PlannerError(msg)
        with database.session(writes=True) as session:
            stored = store_rollups(session, read_lines(path))
            details = {"days": len(days), "first": min(days, default=None), "last": max(days, default=None)}
            record(session, Action.HISTORY_REBUILT, AuditObject("usage", "Hourly usage"), details)
    return (
        f"{stored.structure_hours} hours of structures and {stored.queue_hours} hours of queues were stored."
    )


def check_packages() -> None:
    """Check that the packages of the jobs are installed.

    Raises:
        PlannerError: A package is missing.
    """
    from app.jobs import processes
    from planner_core.errors import PlannerError

    if processes.missing_packages():
        raise PlannerError(processes.WHAT_TO_DO_AT_THE_TERMINAL)
