"""The command `cfplan ingest`: it reads files into the usage history, with the map and the database of the application.

It starts the same processes as the service. Modules are imported when the command runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from app.command_line import Meter, finding_lines, write
from planner_core.contracts import tolerant
from planner_core.contracts.ingest import Asks, IngestReport
from planner_core.errors import PlannerError
from planner_core.inputs import KINDS, what_it_is
from planner_core.wire import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.database.engine import Database
    from planner_core.findings import Finding

WIDTH = 30


def add_ingest(ingest: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan ingest`."""
    ingest.set_defaults(run=_ingest)
    ingest.add_argument("files", metavar="FILE", nargs="+", type=Path, help="SMF dumps, tables or displays")
    ingest.add_argument(
        "--qsg", action="append", default=[], metavar="SID:QMGR=QSG", type=_mapping,
        help="the group of a queue manager on a system, or nothing after = if it has none; stored in the map",
    )  # fmt: skip
    ingest.add_argument("--kind", choices=KINDS, help="the kind of the files (default: detected)")
    ingest.add_argument(
        "--observed-at", metavar="TIME", help="when a display was taken, such as 2026-11-21T09:30"
    )
    ingest.add_argument(
        "--zone", metavar="ZONE", help="time zone of local times, such as +01:00 or Europe/Berlin"
    )


def _mapping(text: str) -> tuple[str, str, str]:
    from app.uploads import qsg_map

    place, equals, group = text.partition("=")
    system_id, colon, queue_manager = place.partition(":")
    if not equals or not colon:
        msg = f"{text!r} does not have the form SID:QMGR=QSG"
        raise argparse.ArgumentTypeError(msg)
    try:
        return qsg_map.checked(system_id, queue_manager, group)
    except PlannerError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _ingest(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.jobs import processes
    from app.jobs.child import Child
    from app.jobs.starter import Starter
    from app.uploads import qsg_map
    from app.uploads.ingest_keeper import read_report
    from app.uploads.missing import members, missing_in_report
    from app.uploads.service import UploadDetails
    from app.usage.history_cli import check_packages, store_days
    from app.usage.retention import drop_what_history_dropped

    said = UploadDetails(
        kind=arguments.kind, observed_at=arguments.observed_at, zone=arguments.zone
    ).checked()
    given = qsg_map.gathered(arguments.qsg)
    paths = [_file(path) for path in arguments.files]
    database: Database
    with open_database() as (database, settings), Starter(processes.environment(settings)) as starter:
        check_packages()
        starter.launch()  # imports its packages while this process reads the tables of the database
        with database.session(writes=bool(given)) as session:
            qsg_map.put_all(session, given)
            known = qsg_map.as_arguments(session)
        command = processes.ingest_command(
            settings, paths, qsg=known, kind=said.kind or "", observed_at=said.observed_utc, zone=said.zone or ""
        )  # fmt: skip
        asks: list[JsonObject] = []
        report: JsonObject | None = None
        meter = Meter()
        with Child(command, on_stderr=meter.say, starter=starter) as child:
            for event in child.events(every_s=1.0):
                kind = None if event is None else event.get("event")
                if event is not None and kind == "progress":
                    _show(meter, event)
                elif event is not None and kind == "asks":
                    asks.append(event)
                elif event is not None and kind == "report":
                    report = {key: value for key, value in event.items() if key != "event"}
            code = child.wait()
        meter.clear()
        if report is None:
            _refuse(f"The reader ended with exit code {code} and without a report; see above.")
        with database.session(writes=False) as session:
            missing = missing_in_report(report, members(session))
        for file, lacking in zip(report.get("files", ()), missing, strict=False):
            file["missing"] = [each.as_json() for each in lacking]
        write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
        _tell_each(read_report(report), missing)
        for each in asks:
            _tell(str(each.get("file", "")), tolerant.read(Asks, each))
        found = read_report(report)
        brought = qsg_map.of_report(found)
        if brought:
            with database.session(writes=True) as session:
                qsg_map.put_all(session, brought)
        # Done for files that were stored before as well, because the earlier process may have ended before its roll-up.
        if found.days:
            store_days(database, settings, found.days, starter)
        drop_what_history_dropped(database, found)
    return code if code >= 0 else found.exit_code


def _show(meter: Meter, event: JsonObject) -> None:
    """Show the progress of a file as a bar."""
    done, total = event.get("done") or 0, event.get("total") or 0
    share = min(done / total, 1) if total else 0
    bar = "#" * int(WIDTH * share)
    meter.show(f"{event.get('file', '')} {event.get('stage', ''):<10} [{bar:<{WIDTH}}] {100 * share:3.0f} %")


def _tell_each(report: IngestReport, missing: Sequence[Sequence[Finding]]) -> None:
    """Report the result of each file with its message, and the records that it lacks."""
    for each, lacking in zip(report.files, missing, strict=True):
        _say(f"{each.file}: {each.status.replace('_', ' ')}. {each.message}")
        for found in lacking:
            _say(finding_lines(found)[0])
    if any(missing):
        _say("cfplan collect-kit writes the settings and jobs that collect missing records.")


def _tell(file: str, asks: Asks) -> None:
    """List the questions, and the options that answer them."""
    if file:
        _say(f"{file}:")
    for message in asks.messages:
        _say(message)
    for each in asks.unknown_qsg:
        seen = [
            f"{where}: {group}"
            for where, group in (("elsewhere", each.suggested), ("in RMF", each.in_rmf))
            if group
        ]
        hint = f"   ({', '.join(seen)})" if seen else ""
        _say(f"  --qsg {each.system_id}:{each.queue_manager}=QSG{hint}")
    if asks.observed_at:
        now = datetime.now().astimezone()
        _say(f"  --observed-at {now.isoformat(timespec='minutes')}   (if it were now)")
    if asks.zone:
        _say("  --zone +01:00")


def _file(path: Path) -> Path:
    """Return the path of a regular file; a pipe can be read only once, and opening one may block forever."""
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


def _refuse(message: str) -> NoReturn:
    raise PlannerError(message)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
