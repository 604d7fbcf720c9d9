"""Save versions of a plan as fast as possible, until the process is killed.

    python -m tests.app.plans.saver URL

For each line on stdin, it forks a child that saves and prints `saved N` after each commit; the first line of a child is its
process number. Tests can kill it at any instant without the cost of a new start.
"""

from __future__ import annotations

import itertools
import os
import sys

from sqlalchemy import make_url

from app.database.engine import Database
from app.plans import service
from tests.app.plans.support import plan


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())  # in one piece, past all buffers


def save_for_ever(url: str) -> None:
    database = Database(make_url(url))
    say(f"child {os.getpid()}")
    for turn in itertools.count():
        with database.session(writes=True) as session:
            document = plan(headroom_percent=turn % 90, cfcc_level=24 + turn % 2)
            saved = service.save_plan(session, "SQ03", document, if_match="*")
        say(f"saved {saved.version.number}")


def main() -> None:
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            save_for_ever(sys.argv[1])
        os.waitpid(child, 0)
        say("gone")


if __name__ == "__main__":
    main()
