"""Print hourly roll-ups of the history as JSON lines: `python -m spark_jobs.rollup --history URL [--days D,D…]`.

docs/contributing/ingest-protocol.md describes the lines, and docs/reference/usage-history.md how figures of intervals
are assigned to hours.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys

from spark_jobs.history.hours import roll_up
from spark_jobs.history.option import add_history_option
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.store import History
from spark_jobs.leaving import leave
from spark_jobs.without_pandas import hide_pandas_from_arrow


def days(text: str) -> list[dt.date]:
    """Read a list of UTC days.

    >>> days("2026-11-20,2026-11-21")
    [datetime.date(2026, 11, 20), datetime.date(2026, 11, 21)]
    """
    try:
        return [dt.date.fromisoformat(day.strip()) for day in text.split(",") if day.strip()]
    except ValueError:
        message = f"{text!r} is not a list of days such as 2026-11-20,2026-11-21"
        raise argparse.ArgumentTypeError(message) from None


def main(argv: list[str] | None = None) -> int:
    """Print the roll-ups."""
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.rollup", description=__doc__)
    add_history_option(parser)
    parser.add_argument("--days", type=days, metavar="D,D…", help="UTC days (default: all)")
    arguments = parser.parse_args(argv)
    try:
        for line in roll_up(History.open_kept(arguments.history), arguments.days):
            sys.stdout.write(json.dumps(line) + "\n")
    except HistoryError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    hide_pandas_from_arrow()
    leave(main())
