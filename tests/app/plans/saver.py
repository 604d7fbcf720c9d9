"""Save versions of a plan as fast as possible, until the process is killed. The argument is the URL of the database.

Prints `saved N` after each commit.
"""

from __future__ import annotations

import itertools
import sys

from sqlalchemy import make_url

from app.database.engine import Database
from app.plans import service
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import plan_answer
from tests.app.plans.support import plan
from tests.forked_on_request import fork_for_each_line, say


def save_for_ever(_: str) -> None:
    database = Database(make_url(sys.argv[1]))
    for turn in itertools.count():
        with database.session(writes=True) as session:
            document = plan(headroom_percent=turn % 90, cfcc_level=24 + turn % 2)
            saved = service.save_plan(session, "SQ03", document, if_match="*")
        say(f"saved {saved.version.number}")


def main() -> None:
    plan_answer(evaluate(plan()), explain=True)  # loads tables that each child would load again
    fork_for_each_line(save_for_ever)
