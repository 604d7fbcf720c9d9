"""Nightly runs killed at any instant: the next run gives the results of an undisturbed one, as do concurrent runs."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from planner_core.contracts.nightly import NightlyFacts
from spark_jobs.history.schema import STRUCTURE_USAGE
from spark_jobs.night.daily import Daily, Filed
from spark_jobs.night.run import fingerprints
from tests.forked import ForkedProcess, forked
from tests.spark_jobs.night.nights import of_the_history, plain_night
from tests.spark_jobs.night.support import (
    DAY,
    HOUR,
    MIDNIGHT,
    commit,
    make_history,
    older_release,
    qest,
    usual_day,
)

ROOT = Path(__file__).parents[3]
KILLS, SOAK_KILLS, SPARK_KILLS = 3, 100, 100
MOST_STEPS = 80
PATIENCE_S = 240


def started(*arguments: str) -> AbstractContextManager[ForkedProcess]:
    """Yield a nightly run that has imported everything and has not begun; kill it at the end if necessary."""
    return forked("tests.spark_jobs.night.nights", *arguments)


@dataclass(frozen=True)
class ChangedHistory:
    """A history whose statistics predate its last file, a forgotten file and retention, and the results of the next run."""

    base: Path
    stored: dict[str, Any]
    """Results that the application already has."""
    expected: dict[str, Any]
    seconds: float

    def check(self, history: Path) -> None:
        """Assert that the next run gives the results of an undisturbed one, and that the application gets all of them."""
        found = plain_night(str(history), NightlyFacts(published=self.stored["published"]))
        assert of_the_history(found) == of_the_history(self.expected)
        assert found["daily"] == self.expected["daily"]
        assert found["days"] == self.expected["days"]
        assert plain_night(str(history))["days_reduced"] == 0


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> ChangedHistory:
    folder = tmp_path_factory.mktemp("night")
    base = folder / "base"
    with older_release():  # so that the runs both merge sums and read rows
        history = make_history(base, range(3), structures=2, every=12)
    wrong = commit(history, "wrong.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + 9 * DAY)]})
    stored = plain_night(history.url)
    for number in range(3, 5):
        commit(history, f"day-{number}.smf", usual_day(number, structures=2, every=12))
    commit(history, "late.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + 2 * DAY + HOUR, "LATE")]})
    history.forget(next(row["file_sha256"] for row in history.files() if row["commit_id"] == wrong.commit_id))
    history.retain(keep_from=(MIDNIGHT + DAY).date())
    whole = folder / "whole"
    shutil.copytree(base, whole)
    with started(str(whole), str(folder / "whole.json"), "--batch-rows", "40") as process:
        began = time.monotonic()
        process.begin()
        assert process.wait(PATIENCE_S) == 0
        seconds = time.monotonic() - began
    written = json.loads((folder / "whole.json").read_bytes())
    shutil.rmtree(whole)
    shutil.copytree(base, whole)
    expected = plain_night(str(whole), NightlyFacts(published=stored["published"]))
    assert of_the_history(written) == of_the_history(expected)
    assert expected["days_reduced"] > 2
    assert expected["days_gone"] == 2
    assert expected["daily"]
    return ChangedHistory(base, stored, expected, seconds)


def kill_at_random(changed: ChangedHistory, history: Path, chance: random.Random) -> None:
    shutil.copytree(changed.base, history)
    out = history.with_suffix(".json")
    while True:
        with started(str(history), str(out), "--batch-rows", "40") as process:
            process.begin()
            time.sleep(chance.uniform(0, changed.seconds))
            process.kill()
        if out.exists():
            json.loads(out.read_bytes())
        if chance.random() < 0.7:  # sometimes it is killed again and again
            break
    changed.check(history)


@pytest.mark.parametrize("seed", range(KILLS))
def test_run_killed_at_a_random_instant_is_completed_by_the_next(
    changed: ChangedHistory, tmp_path: Path, seed: int
) -> None:
    kill_at_random(changed, tmp_path / "history", random.Random(seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(KILLS, KILLS + SOAK_KILLS))
def test_run_killed_at_another_random_instant_is_completed_by_the_next(
    changed: ChangedHistory, tmp_path: Path, seed: int
) -> None:
    kill_at_random(changed, tmp_path / "history", random.Random(seed))


@pytest.mark.soak
def test_run_killed_at_every_step_is_completed_by_the_next(changed: ChangedHistory, tmp_path: Path) -> None:
    """The kills are during and after the write of a file, before and after the log entry, and before the results."""
    for step in range(1, MOST_STEPS):
        history = tmp_path / str(step)
        shutil.copytree(changed.base, history)
        with started(
            str(history), str(tmp_path / f"{step}.json"), "--die", str(step), "--batch-rows", "200"
        ) as process:
            process.begin()
            code = process.wait(PATIENCE_S)
        changed.check(history)
        shutil.rmtree(history)
        if code == 0:
            break
        assert code == -9
    assert code == 0, "there are more steps than were tried"
    assert step > 30
    assert (tmp_path / f"{step}.json").exists()
    assert not (tmp_path / f"{step - 3}.json").exists()


def test_concurrent_runs_give_the_results_of_one(changed: ChangedHistory, tmp_path: Path) -> None:
    history = tmp_path / "history"
    shutil.copytree(changed.base, history)
    shutil.rmtree(history / "_daily")
    outs = [tmp_path / f"{number}.json" for number in range(2)]
    with (
        started(str(history), str(outs[0]), "--batch-rows", "40") as one,
        started(str(history), str(outs[1]), "--batch-rows", "60") as other,
    ):
        for process in (one, other):
            process.begin()
        for process in (one, other):
            assert process.wait(PATIENCE_S) == 0, process.stderr()
    for out in outs:
        assert of_the_history(json.loads(out.read_bytes())) == of_the_history(changed.expected)
    changed.check(history)


def test_file_stored_during_a_run_is_included_in_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = make_history(tmp_path / "history", range(2), structures=1, every=12)
    before = fingerprints(history, history.snapshot())
    replaced = Daily.replace

    def replace(self: Daily, statistics: Mapping[str, pa.Table], filed: Sequence[Filed]) -> None:
        if len(history.files()) == 2:
            commit(history, "late.smf", {STRUCTURE_USAGE: [qest(MIDNIGHT + HOUR, "LATE")]})
        replaced(self, statistics, filed)

    monkeypatch.setattr(Daily, "replace", replace)
    found = plain_night(history.url)
    assert len(history.files()) == 3
    assert found["history_version"] == history.snapshot().delta.version(), (
        "what has come is reduced before the results"
    )
    assert fingerprints(history, history.snapshot()) != before
    assert "LATE" in {line["structure"] for line in found["daily"]}


# ---- with Spark ------------------------------------------------------------------------------------------------------


def spark_night(history: Path, out: Path) -> list[str]:
    facts = out.with_suffix(".facts")
    facts.write_text("{}")
    return [
        sys.executable, "-m", "spark_jobs.night", "--history", str(history), "--facts", str(facts), "--out", str(out),
        "--master", "local[1]", "--republish", "--batch-rows", "40", "--in-process-below", "0",
    ]  # fmt: skip


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("seed", range(SPARK_KILLS))
def test_run_with_spark_killed_at_a_random_instant_is_completed_by_the_next(
    changed: ChangedHistory, tmp_path: Path, seed: int
) -> None:
    """The kill hits the process group with its Java virtual machine, like a power failure."""
    chance = random.Random(seed)
    history, out = tmp_path / "history", tmp_path / "out.json"
    shutil.copytree(changed.base, history)
    process = subprocess.Popen(
        spark_night(history, out),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(chance.uniform(4, 25))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
    if out.exists():
        json.loads(out.read_bytes())
    changed.check(history)


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("master", ["local[1]", "local-cluster[2,1,1024]"])
def test_several_executors_give_the_results_of_one_machine(
    changed: ChangedHistory, tmp_path: Path, master: str
) -> None:
    history, out = tmp_path / "history", tmp_path / "out.json"
    shutil.copytree(changed.base, history)
    command = [master if word == "local[1]" else word for word in spark_night(history, out)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=PATIENCE_S)
    assert of_the_history(json.loads(out.read_bytes())) == of_the_history(changed.expected)
    changed.check(history)
