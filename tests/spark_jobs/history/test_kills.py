"""Ingests killed at any instant: the history has the whole file or is unchanged, and the next run completes it."""

from __future__ import annotations

import json
import random
import shutil
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spark_jobs import ingest
from spark_jobs.history.store import History
from tests.forked import ForkedProcess, forked
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.dumps import GROUPS
from tests.spark_jobs.history.support import contents

pytestmark = pytest.mark.long

KILLS, SOAK_KILLS = 10, 200
MOST_STEPS = 40
PATIENCE_S = 120

Contents = dict[str, list[dict[str, Any]]]


def started(*arguments: str) -> AbstractContextManager[ForkedProcess]:
    """Yield an ingest that has imported everything and has not begun; kill it at the end if necessary."""
    return forked("tests.spark_jobs.history.ingesting", *arguments)


@dataclass(frozen=True)
class HistoryCase:
    """A history with one file, a second file that overlaps it, and the contents without and with it."""

    base: Path
    dump: Path
    before: Contents
    after: Contents
    seconds: float
    """Duration of the ingest of the second file."""

    def arguments(self, history: Path) -> list[str]:
        return ["--history", str(history), str(self.dump), *GROUPS]


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> HistoryCase:
    folder = tmp_path_factory.mktemp("night")
    base, dump = folder / "base", folder / "second.smf"
    dumps.write(folder / "first.smf", range(36, 44))
    dumps.write(dump, range(40, 54))  # into the next day
    assert ingest.main(["--history", str(base), str(folder / "first.smf"), *GROUPS]) == 0
    whole = folder / "whole"
    shutil.copytree(base, whole)
    with started("--history", str(whole), str(dump), *GROUPS) as process:
        began = time.monotonic()
        process.begin()
        assert process.wait(PATIENCE_S) == 0
        seconds = time.monotonic() - began
    before, after = contents(History.open(str(base))), contents(History.open(str(whole)))
    assert all(len(before[table]) < len(after[table]) for table in after)
    return HistoryCase(base, dump, before, after, seconds)


def has_second_file(night: HistoryCase, history: Path) -> bool:
    """Return whether the second file is in the history; fail if only a part of it is."""
    found = contents(History.open(str(history)))
    assert found in (night.before, night.after)
    files = [row["file_name"] for row in History.open(str(history)).files()]
    assert (night.dump.name in files) == (found == night.after)
    return found == night.after


def finish(night: HistoryCase, history: Path) -> None:
    assert ingest.main(night.arguments(history)) == 0
    assert contents(History.open(str(history))) == night.after
    assert [row["file_name"] for row in History.open(str(history)).files()] == ["first.smf", "second.smf"]


def kill_at_random(night: HistoryCase, history: Path, chance: random.Random) -> None:
    shutil.copytree(night.base, history)
    while True:
        with started(*night.arguments(history)) as process:
            process.begin()
            time.sleep(chance.uniform(0, 1.1 * night.seconds))
            process.kill()
        has_second_file(night, history)
        if chance.random() < 0.7:  # sometimes it is killed again and again
            break
    finish(night, history)


@pytest.mark.parametrize("seed", range(KILLS))
def test_ingest_killed_at_a_random_instant_is_completed_by_the_next(
    night: HistoryCase, tmp_path: Path, seed: int
) -> None:
    kill_at_random(night, tmp_path / "history", random.Random(seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(KILLS, KILLS + SOAK_KILLS))
def test_ingest_killed_at_another_random_instant_is_completed_by_the_next(
    night: HistoryCase, tmp_path: Path, seed: int
) -> None:
    kill_at_random(night, tmp_path / "history", random.Random(seed))


def test_ingest_killed_at_every_step_is_completed_by_the_next(night: HistoryCase, tmp_path: Path) -> None:
    """The kills are during and after the write of a file, and before and after the log entry."""
    found = []
    for step in range(1, MOST_STEPS):
        history = tmp_path / str(step)
        shutil.copytree(night.base, history)
        with started("--die", str(step), *night.arguments(history)) as process:
            process.begin()
            code = process.wait(PATIENCE_S)
        found.append(has_second_file(night, history))
        finish(night, history)
        if code == 0:
            break
        assert code == -9
    assert code == 0, "there are more steps than were tried"
    assert found == sorted(found), "once it is there, it stays"
    assert found.count(False) > 10
    assert found.count(True) >= 2, "the step after the log's entry, and the run that was not killed"


def test_maintain_deletes_only_the_leftovers_of_killed_ingests(night: HistoryCase, tmp_path: Path) -> None:
    history = tmp_path / "history"
    shutil.copytree(night.base, history)
    with started("--die", "6", *night.arguments(history)) as process:
        process.begin()
        assert process.wait(PATIENCE_S) == -9
    opened = History.open(str(history))
    named = {str(history / part.path) for part in opened.snapshot().parts}
    files = {str(path) for path in history.rglob("*.parquet")}
    assert len(files - named) == 3
    delta = opened._delta()
    gone = delta.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True)
    assert len(gone) == 3
    assert {str(path) for path in history.rglob("*.parquet")} == named
    finish(night, history)


def test_concurrent_ingests_give_the_history_of_one(night: HistoryCase, tmp_path: Path) -> None:
    """Ingest three overlapping dumps, one of them twice, in separate processes into a new history."""
    history, one = tmp_path / "history", tmp_path / "one"
    files = [dumps.write(tmp_path / f"{n}.smf", range(n, n + 20)) for n in (0, 10, 20)]
    with (
        started("--history", str(history), str(files[0]), *GROUPS) as a,
        started("--history", str(history), str(files[1]), *GROUPS) as b,
        started("--history", str(history), str(files[2]), *GROUPS) as c,
        started("--history", str(history), str(files[0]), *GROUPS) as d,
    ):
        for process in (a, b, c, d):
            process.begin()
        for process in (a, b, c, d):
            assert process.wait(PATIENCE_S) == 0, process.stderr()
    whole = dumps.write(tmp_path / "whole.smf", range(40))
    assert ingest.main(["--history", str(one), str(whole), *GROUPS]) == 0
    assert contents(History.open(str(history))) == contents(History.open(str(one)))


def test_killed_ingest_does_not_disturb_a_concurrent_one(night: HistoryCase, tmp_path: Path) -> None:
    history = tmp_path / "history"
    shutil.copytree(night.base, history)
    other = dumps.write(tmp_path / "other.smf", range(46, 54))
    with (
        started("--die", "9", *night.arguments(history)) as killed,
        started("--history", str(history), str(other), *GROUPS) as goes_on,
    ):
        killed.begin()
        goes_on.begin()
        assert killed.wait(PATIENCE_S) == -9
        assert goes_on.wait(PATIENCE_S) == 0
    assert ingest.main(night.arguments(history)) == 0
    assert contents(History.open(str(history))) == night.after


def test_last_line_of_an_ingest_is_its_report(night: HistoryCase, tmp_path: Path) -> None:
    with started("--history", str(tmp_path / "h"), str(night.dump), *GROUPS) as process:
        process.begin()
        assert process.wait(PATIENCE_S) == 0
        assert json.loads(process.stdout().splitlines()[-1])["event"] == "report"
