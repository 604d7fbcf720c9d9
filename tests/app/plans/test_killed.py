"""A process killed at any instant of a save leaves the complete old or new version."""

from __future__ import annotations

import json
import os
import random
import signal
import time

import pytest

from app.database.engine import Database
from app.plans import service
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import plan_answer
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.app.plans.support import plan
from tests.forked_on_request import Parent, parent_of

pytestmark = pytest.mark.long

SAVES = 1.5
"""Kills are within the time of this many saves, as measured for the first save on this machine."""


def kill_a_child(saver: Parent, *, after_s: float | None) -> int:
    """Start a child, kill it after this time or its first save, and return the last version it reported as saved."""
    child = saver.start("go")
    said = 0
    if after_s is None:
        said = int(saver.read()[1])
    else:
        time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    for _, number in saver.lines_until_gone():
        said = int(number)
    return said


def check_whole(database: Database) -> int:
    """Assert that all versions are complete and none is missing, and that the plan names the latest."""
    with database.session(writes=False) as session:
        numbers = [item.number for item in service.list_versions(session, "SQ03")]
        latest = service.get_plan(session, "SQ03")
        assert numbers == list(range(latest.number, 0, -1))
        for number in numbers[:3]:
            version = service.get_version(session, "SQ03", number)
            result = evaluate(version.document)
            assert version.result == result.as_json()
            assert len(json.loads(service.get_explanations_json(session, version))) == len(
                plan_answer(result, explain=True).as_json()["explanations"]
            )
            for kind in OUTPUT_KINDS:
                if kind != "job":
                    assert service.get_output(session, "SQ03", kind, number=number).text
        assert service.list_plans(session).items[0].version == latest.number
    return latest.number


def kill_often(database: Database, kills: int) -> None:
    moments = random.Random(20261121)
    with database.session(writes=True) as session:
        service.save_plan(session, "SQ03", plan())
    numbers = []
    with parent_of("tests.app.plans.saver", database.url.render_as_string(hide_password=False)) as saver:
        began = time.monotonic()
        assert kill_a_child(saver, after_s=None) == 2
        longest_s = SAVES * (time.monotonic() - began)
        for _ in range(kills):
            said = kill_a_child(saver, after_s=moments.uniform(0, longest_s))
            found = check_whole(database)
            assert found >= said, "a version reported as saved is missing"
            numbers.append(found)
    assert numbers == sorted(numbers)
    assert numbers[-1] > 1, "nothing was ever saved: the test proves nothing"
    if database.is_sqlite:
        with database.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_saves_killed_ten_times_lose_nothing(database: Database) -> None:
    kill_often(database, 10)


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_saves_killed_a_hundred_times_lose_nothing(database: Database) -> None:
    kill_often(database, 100)
