"""The forecasts of all structures and data sets, distributed over several processes if there are many.

Each forecast has a seed of its own, so its figures do not depend on the process that makes it.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

from planner_core.contracts.forecasts import Forecast
from spark_jobs.forecast import DailyPeaks, Resize, forecast
from spark_jobs.night.levels import Named

FEWEST_FOR_PROCESSES = 60
"""The number of forecasts that take as long as a process needs to start and to load its libraries."""
AT_ONCE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The input of one forecast."""

    peaks: DailyPeaks
    levels: tuple[Named, ...]
    resizes: tuple[Resize, ...]
    total: int | None
    made_on: int
    horizon_days: int
    is_simulated: bool


def forecast_all(tasks: Sequence[Task], *, told: Callable[[int], None] = lambda done: None) -> list[Forecast]:
    """Return the forecasts in the order of their tasks."""
    processes = min(os.cpu_count() or 1, len(tasks) // (FEWEST_FOR_PROCESSES // 2))
    made: list[Forecast] = []
    if processes < 2:  # noqa: PLR2004 - this one
        for task in tasks:
            made.append(made_of(task))
            told(len(made))
        return made
    # Processes are not forked, because Spark's threads in this process may hold locks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_parent) as pool:
        for one in pool.map(made_of, tasks, chunksize=AT_ONCE):
            made.append(one)
            told(len(made))
    return made


def made_of(task: Task) -> Forecast:
    """Return the forecast of one task."""
    found = forecast(
        task.peaks,
        levels=[one.level for one in task.levels],
        horizon_days=task.horizon_days,
        made_on=task.made_on,
        resizes=task.resizes,
    )
    levels = tuple(one.stored for one in task.levels)
    return replace(found, total=task.total, levels=levels, is_simulated=task.is_simulated)


def _end_with_parent() -> None:
    """End this process when its parent ends; otherwise it would wait for work forever after the parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait, daemon=True, name="parent").start()
