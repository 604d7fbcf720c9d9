"""The commands `cfplan ingest` and `cfplan history`: the jobs at the terminal, with the application's map and database.

They start the same processes as the service. What a command needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from app.command_line import Command, Parser, verbs_of, write
from planner_core.errors import PlannerError
from planner_core.inputs import KINDS, what_it_is

if TYPE_CHECKING:
    from app.settings import Settings

TABLES = ("structure_usage", "smds_usage", "queue_usage", "allocation")
EXIT_OK, EXIT_NOTHING, EXIT_USAGE, EXIT_ASKS = 0, 1, 2, 4
WIDTH = 30


def add(commands: Command, parser_class: Parser) -> None:
    """Add the commands to the command line."""
    ingest = commands("ingest", "Read usage data into the usage history.", _ingest)
    ingest.add_argument("files", metavar="FILE", nargs="+", type=Path, help="SMF dumps, tables or displays")
    ingest.add_argument(
        "--qsg", action="append", default=[], metavar="SID:QMGR=QSG", type=_mapping,
        help="the group of a queue manager on a system; empty after =: it is in none; kept in the map",
    )  # fmt: skip
    ingest.add_argument("--kind", choices=KINDS, help="what the files are (default: detected)")
    ingest.add_argument(
        "--observed-at", metavar="TIME", help="when a display was taken, such as 2026-11-21T09:30"
    )
    ingest.add_argument(
        "--zone", metavar="ZONE", help="time zone of local times, such as +01:00 or Europe/Berlin"
    )

    verb = verbs_of(
        commands, parser_class, "history", "The usage history: export rows, make the hourly roll-ups anew."
    )

    export = verb("export", "Print rows of a table of the usage history.", _export)
    export.add_argument("--table", choices=TABLES, required=True)
    export.add_argument("--qsg", metavar="Q", help="only this queue-sharing group")
    export.add_argument("--structure", metavar="S", help="only this structure")
    export.add_argument("--from", metavar="T", dest="begin", type=_time, help="from this time on, UTC")
    export.add_argument("--to", metavar="T", dest="end", type=_time, help="before this time, UTC")
    export.add_argument("--output", choices=("csv",), default="csv")

    verb("rollup", "Make the hourly roll-ups in the database anew from the whole history.", _rollup)


def _time(text: str) -> str:
    """A day or a time as it was given, checked before the job is started."""
    try:
        datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):  # the latter from the first and the last day there is
        msg = f"{text!r} is no day or time like 2026-11-20 or 2026-11-20T09:00:00Z"
        raise argparse.ArgumentTypeError(msg) from None
    return text


def _mapping(text: str) -> tuple[str, str, str]:
    from app.uploads import qsg_map

    place, equals, group = text.partition("=")
    system_id, colon, queue_manager = place.partition(":")
    if not equals or not colon:
        msg = f"{text!r} is not of the form SID:QMGR=QSG"
        raise argparse.ArgumentTypeError(msg)
    try:
        return qsg_map.checked(system_id, queue_manager, group)
    except PlannerError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _ingest(arguments: argparse.Namespace) -> int:
    from app.database.engine import Database, open_database
    from app.jobs import processes
    from app.jobs.child import Child
    from app.jobs.ingest_keeper import days_of, exit_code_of
    from app.uploads import qsg_map
    from app.uploads.service import UploadDetails
    from app.usage.retention import drop_what_history_dropped

    said = UploadDetails(
        kind=arguments.kind, observed_at=arguments.observed_at, zone=arguments.zone
    ).checked()
    given = qsg_map.gathered(arguments.qsg)
    paths = [_file(path) for path in arguments.files]
    database: Database
    with open_database() as (database, settings):
        _installed()
        with database.session(writes=bool(given)) as session:
            qsg_map.put_all(session, given)
            known = qsg_map.as_arguments(session)
        command = processes.ingest_command(
            settings, paths, qsg=known, kind=said.kind or "", observed_at=said.observed_utc, zone=said.zone or ""
        )  # fmt: skip
        asks: list[Mapping[str, Any]] = []
        report: dict[str, Any] | None = None
        meter = _Meter()
        with Child(command, on_stderr=meter.say) as child:
            for event in child.events(every_s=1.0):
                kind = None if event is None else event.get("event")
                if event is not None and kind == "progress":
                    meter.show(event)
                elif event is not None and kind == "asks":
                    asks.append(event)
                elif event is not None and kind == "report":
                    report = {key: value for key, value in event.items() if key != "event"}
            code = child.wait()
        meter.clear()
        if report is None:
            _refuse(f"The reader ended with exit code {code} and without a report; see above.")
        write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
        _tell_each(report)
        for each in asks:
            _tell(each)
        brought = qsg_map.of_report(report)
        if brought:
            with database.session(writes=True) as session:
                qsg_map.put_all(session, brought)
        days = days_of(report)
        if days:
            _store_rollups(database, settings, days)
        drop_what_history_dropped(database, report)
    return code if code >= 0 else exit_code_of(report)


def _export(arguments: argparse.Namespace) -> int:
    from app.jobs import processes
    from app.settings import read_settings

    _installed()
    settings = read_settings()
    command = [*processes.PYTHON, processes.HISTORY, "export", f"--history={settings.history}"]
    for option, value in (
        ("table", arguments.table), ("qsg", arguments.qsg), ("structure", arguments.structure),
        ("from", arguments.begin), ("to", arguments.end), ("output", arguments.output),
    ):  # fmt: skip
        if value is not None:
            command.append(f"--{option}={value}")
    sys.stdout.flush()
    code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode
    if code < 0:
        _say(f"The export was ended from outside, by signal {-code}: what it printed may be cut short.")
        return EXIT_NOTHING
    return code


def _rollup(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database

    del arguments
    with open_database() as (database, settings):
        _installed()
        stored = _store_rollups(database, settings, [])
    write(f"{stored}\n")
    return EXIT_OK


def _store_rollups(database: Any, settings: Settings, days: Sequence[str]) -> str:  # noqa: ANN401 - imported late
    """Sum up days and store the hours in one transaction; what was stored, in words."""
    import tempfile

    from app.jobs import processes
    from app.jobs.ingest_keeper import read_lines
    from app.usage.rollups import store_rollups

    folder = processes.work_dir(settings)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        path = Path(made) / "rollup.jsonl"
        with path.open("wb") as file:
            done = subprocess.run(
                processes.rollup_command(settings, days), check=False, stdin=subprocess.DEVNULL, stdout=file
            )
        # One that was ended from outside after its last line has said all; store_rollups asks for that line.
        if done.returncode > 0:
            _refuse(
                f"The history is stored, but summing it up failed with exit code {done.returncode}; see above. "
                "`cfplan history rollup` tries again."
            )
        with database.session(writes=True) as session:
            stored = store_rollups(session, read_lines(path))
    return (
        f"{stored.structure_hours} hours of structures and {stored.queue_hours} hours of queues were stored."
    )


class _Meter:
    """How far the reader is, in one line of a terminal; nothing where there is none."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._width = 0

    def show(self, event: Mapping[str, Any]) -> None:
        """Write the line anew."""
        if not self._is_terminal:
            return
        done, total = event.get("done") or 0, event.get("total") or 0
        share = min(done / total, 1) if total else 0
        bar = "#" * int(WIDTH * share)
        line = f"{event.get('file', '')} {event.get('stage', ''):<10} [{bar:<{WIDTH}}] {100 * share:3.0f} %"
        sys.stderr.write(f"\r{line:<{self._width}}")
        sys.stderr.flush()
        self._width = len(line)

    def clear(self) -> None:
        """Leave an empty line."""
        if self._width:
            sys.stderr.write(f"\r{'':<{self._width}}\r")
            sys.stderr.flush()
            self._width = 0

    def say(self, line: str) -> None:
        """A line of the reader's own."""
        self.clear()
        sys.stderr.write(f"{line}\n")


def _tell_each(report: Mapping[str, Any]) -> None:
    """Which file fared how; the exit code is that of the one that fared worst."""
    for each in report.get("files") or ():
        _say(f"{each.get('file')}: {str(each.get('status')).replace('_', ' ')}. {each.get('message')}")


def _tell(asks: Mapping[str, Any]) -> None:
    """What must be answered, and how."""
    if asks.get("file"):
        _say(f"{asks['file']}:")
    for message in asks.get("messages") or ():
        _say(str(message))
    for each in asks.get("unknown_qsg") or ():
        hint = f"   (elsewhere: {each['suggested']})" if each.get("suggested") else ""
        _say(f"  --qsg {each.get('system_id')}:{each.get('queue_manager')}=QSG{hint}")
    if asks.get("observed_at"):
        now = datetime.now().astimezone()
        _say(f"  --observed-at {now.isoformat(timespec='minutes')}   (were it now)")
    if asks.get("zone"):
        _say("  --zone +01:00")


def _file(path: Path) -> Path:
    """Only a file is taken: a pipe could be read but once, and opening one may never end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        _refuse(
            f"There is no file {str(path)!r}." if not path.exists() else f"{path} cannot be read: {error}."
        )
    what = what_it_is(mode)
    if what:
        _refuse(f"{path} is {what}. Only files are read.")
    return path


def _installed() -> None:
    from app.jobs import processes

    if processes.missing_packages():
        _refuse(processes.WHAT_TO_DO_AT_THE_TERMINAL)


def _refuse(message: str) -> NoReturn:
    raise PlannerError(message)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
