"""Maintain the usage history: `python -m spark_jobs.history export|files|forget|maintain --history URL …`."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from planner_core.contracts.ingest import USAGE_TABLES, set_aside_message
from spark_jobs.history.compare import instant_text
from spark_jobs.history.option import add_history_option
from spark_jobs.history.schema import HistoryError, stored_schema
from spark_jobs.history.store import History, first_kept_day
from spark_jobs.leaving import leave

if TYPE_CHECKING:
    from typing import BinaryIO

INTERNAL = ("day", "key_high", "key_low", "content_hash")
"""Columns that have no meaning outside the history."""


def export_columns(table: str) -> list[str]:
    """Return the columns of an export."""
    return [name for name in stored_schema(table).names if name not in INTERNAL]


def export_csv(
    history: History,
    table: str,
    out: BinaryIO,
    *,
    qsg: str | None = None,
    structure: str | None = None,
    start: dt.datetime | None = None,
    end: dt.datetime | None = None,
) -> int:
    """Write rows as CSV, one day of the partitions at a time, and return their number."""
    names = export_columns(table)
    out.write((",".join(names) + "\n").encode())
    count = 0
    for _, rows in history.read_days(table, qsg=qsg, structure=structure, start=start, end=end):
        options = pacsv.WriteOptions(include_header=False, quoting_style="needed")
        pacsv.write_csv(_as_text(rows.select(names)), out, write_options=options)
        count += rows.num_rows
    return count


def _as_text(rows: pa.Table) -> pa.Table:
    for place, one in enumerate(rows.schema):
        # pyarrow writes timestamps with a space and microseconds; exports have the form of the JSON answers.
        if pa.types.is_timestamp(one.type):
            text = pc.strftime(rows[one.name], format="%Y-%m-%dT%H:%M:%SZ")
            rows = rows.set_column(place, one.name, text)
    return rows


def instant(text: str) -> dt.datetime:
    """Read a day or a time; without a zone it is UTC.

    >>> instant("2026-11-20").isoformat()
    '2026-11-20T00:00:00+00:00'
    """
    try:
        found = dt.datetime.fromisoformat(text)
        return found.astimezone(dt.UTC) if found.tzinfo else found.replace(tzinfo=dt.UTC)
    except (ValueError, OverflowError):  # OverflowError: the first or last day of the calendar
        message = f"{text!r} is not a day or time such as 2026-11-20 or 2026-11-20T09:00:00Z"
        raise argparse.ArgumentTypeError(message) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.history", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    export = commands.add_parser("export", help="write a table's rows as CSV")
    export.add_argument("--table", required=True, choices=USAGE_TABLES)
    export.add_argument("--qsg", metavar="Q", help="only rows of this queue-sharing group")
    export.add_argument("--structure", metavar="S", help="only rows of this structure, by its MQ or XCF name")
    export.add_argument(
        "--from", dest="start", type=instant, metavar="T", help="intervals that end after this"
    )
    export.add_argument(
        "--to", dest="end", type=instant, metavar="T", help="intervals that start before this"
    )
    export.add_argument("--output", choices=("csv",), default="csv")

    commands.add_parser("files", help="list the files that were ingested, as JSON lines")

    forget = commands.add_parser("forget", help="remove the rows of a file")
    forget.add_argument("sha256", metavar="SHA256")

    maintain = commands.add_parser(
        "maintain", help="apply retention, join small files, delete unneeded files"
    )
    maintain.add_argument(
        "--retention-days",
        type=int,
        metavar="N",
        help="keep this many days, including today; 0 (default) keeps all",
    )
    for command in commands.choices.values():
        add_history_option(command)
    return parser


def _maintain(history: History, retention_days: int | None) -> dict[str, object]:
    dropped: list[str] = []
    keep_from = first_kept_day(retention_days or 0)
    if keep_from:
        dropped = history.retain(keep_from=keep_from)
    snapshot = history.snapshot()
    joined = [
        f"{table} {day}"
        for table in USAGE_TABLES
        for day in snapshot.days(table)
        if history.compact(table, day)
    ]
    return {"dropped_days": dropped, "joined": joined, "deleted_files": len(history.vacuum())}


def main(argv: list[str] | None = None) -> int:
    """Run the command given in the arguments, and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "maintain":
            # A torn entry, left by a power failure, would keep the history from being opened.
            aside = History(arguments.history).place.repair_log()
            if aside is not None:
                sys.stderr.write(f"{set_aside_message(aside.name)}\n")
        history = History.open(arguments.history)
        if arguments.command == "maintain":
            history.renew_keys()
        if arguments.command == "export":
            export_csv(
                history,
                arguments.table,
                sys.stdout.buffer,
                qsg=arguments.qsg,
                structure=arguments.structure,
                start=arguments.start,
                end=arguments.end,
            )
        elif arguments.command == "files":
            for row in history.files():
                told = {
                    name: instant_text(value) if isinstance(value, (dt.datetime, dt.date)) else value
                    for name, value in row.items()
                    if name != "report"
                }
                sys.stdout.write(json.dumps(told) + "\n")
        elif arguments.command == "forget":
            days = history.forget(arguments.sha256)
            sys.stdout.write(json.dumps({"sha256": arguments.sha256, "days": days}) + "\n")
            return 0 if days else 1
        else:
            sys.stdout.write(json.dumps(_maintain(history, arguments.retention_days)) + "\n")
    except HistoryError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except BrokenPipeError:
        return 1
    return 0


if __name__ == "__main__":
    leave(main())
