"""Nightly runs without Spark, in this process or in one that is killed: tests.forked, with HISTORY OUT [--die STEP].

The days are reduced in plain Python; everything else is the job's own.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from planner_core.contracts.files import plain
from planner_core.contracts.nightly import NightlyFacts, NightlyResult
from spark_jobs.history import places
from spark_jobs.night import __main__ as job
from spark_jobs.night import daily, run
from spark_jobs.night.progress import Progress
from tests.spark_jobs.night import plainly

NOT_OF_THE_HISTORY = (
    "days_reduced",
    "days_gone",
    "rows_read",
    "seconds",
    "spark",
    "days",
    "daily",
    "history",
    "history_version",
)


class NoSession:
    """A stand-in for a Spark session, which can be stopped and reports no tasks."""

    class _Tracker:
        def getJobIdsForGroup(self, group: str | None) -> list[int]:  # noqa: N802 - Spark's name
            return []

    class _Context:
        def statusTracker(self) -> NoSession._Tracker:  # noqa: N802 - Spark's name
            return NoSession._Tracker()

    sparkContext = _Context()  # noqa: N815 - Spark's name

    def stop(self) -> None:
        pass


def plain_night(url: str, facts: NightlyFacts | None = None, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - passed on
    """Return the results of a nightly run, as they are written."""
    written: dict[str, Any] = plain(result_of_night(url, facts, **values))
    return written


def result_of_night(url: str, facts: NightlyFacts | None = None, **values: Any) -> NightlyResult:  # noqa: ANN401
    """Return the results of a nightly run."""
    session: Any = NoSession()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "reduce_days", plainly.reduce_days)
        with tempfile.TemporaryDirectory() as folder:
            return run.night(
                url,
                facts or NightlyFacts(),
                make_session=lambda rows: session,
                work_dir=Path(folder),
                progress=values.pop("progress", Progress()),
                **values,
            )


def of_the_history(result: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the results that must not depend on which run reduced which days."""
    return {name: value for name, value in result.items() if name not in NOT_OF_THE_HISTORY}


def main(arguments_given: list[str]) -> int:
    """Run a nightly run, and exit before the step with this number."""
    parser = argparse.ArgumentParser()
    parser.add_argument("history")
    parser.add_argument("out", type=Path)
    parser.add_argument("--die", type=int)
    parser.add_argument("--batch-rows", type=int, default=200)
    arguments = parser.parse_args(arguments_given)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps == arguments.die:
            os.kill(os.getpid(), signal.SIGKILL)

    written, committed = places.Folder.write, daily.Daily._try_to_replace

    def write(self: places.Folder, path: str, data: Any) -> None:  # noqa: ANN401 - a buffer
        step()
        half = self.folder / f"{path}.half"
        half.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(memoryview(data)[: data.size // 2])
        step()
        half.unlink()
        written(self, path, data)
        step()

    def replace(self: daily.Daily, added: Any, days: set[str]) -> bool:  # noqa: ANN401 - tables
        step()
        done = committed(self, added, days)
        step()
        return done

    places.Folder.write = write  # type: ignore[method-assign]
    daily.Daily._try_to_replace = replace  # type: ignore[method-assign]
    result = result_of_night(arguments.history, batch_rows=arguments.batch_rows)
    step()
    job.write_whole(arguments.out, result)
    step()
    return 0
