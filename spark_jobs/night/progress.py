"""The progress events of the job: one JSON object on each line."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

BETWEEN_S = 0.25
"""The shortest time between two lines of the same stage."""
LOOK_EVERY_S = 0.3


@dataclass
class Progress:
    """A writer of progress, if progress is requested, which also records the duration of each stage."""

    wanted: bool = False
    out: TextIO = field(default_factory=lambda: sys.stdout)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The thread that watches Spark also writes lines.
        self._lock = threading.Lock()
        self._last: tuple[str, float] = ("", 0.0)
        self._said = ""

    def say(self, event: str, **values: Any) -> None:  # noqa: ANN401 - whatever JSON has
        """Write an event and its values as one line."""
        with self._lock:
            self.out.write(json.dumps({"event": event, **values}) + "\n")
            self.out.flush()

    def tell(self, stage: str, done: int, total: int, sentence: str) -> None:
        """Write a line of progress, unless it repeats the previous one or follows one of its stage too soon."""
        if not self.wanted or self._said == f"{stage} {done} {total} {sentence}":
            return
        now = time.monotonic()
        before, at = self._last
        if before == stage and done < total and now - at < BETWEEN_S:
            return
        self._last, self._said = (stage, now), f"{stage} {done} {total} {sentence}"
        self.say("progress", stage=stage, done=done, total=total, sentence=sentence)

    @contextmanager
    def stage(self, name: str, sentence: str) -> Iterator[None]:
        """Measure the duration of a stage, which may have several parts."""
        began = time.perf_counter()
        self.tell(name, 0, 1, sentence)
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - began, 3)


class Watch:
    """A counter of the tasks of a session's jobs while they run, based on Spark's status tracker."""

    def __init__(self, session: SparkSession, progress: Progress, sentence: str) -> None:
        self._tracker = session.sparkContext.statusTracker()
        self._progress = progress
        self._sentence = sentence
        self._what = ""
        self._stages: dict[int, tuple[int, int]] = {}
        self._before: set[int] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="spark progress")

    def begin(self, what: str) -> None:
        """Set the name of the current part."""
        self._what = what

    def __enter__(self) -> Watch:
        if self._progress.wanted:
            self._before = set(self._tracker.getJobIdsForGroup(None))
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress.wanted:
            self._over.set()
            self._thread.join()
            self._count()
            done, total = self.tasks()
            self._progress.tell("reducing", max(done, total), total, f"{self._sentence}: done, {total} tasks")

    def tasks(self) -> tuple[int, int]:
        """Return how many tasks have ended, and their total."""
        return sum(done for done, _ in self._stages.values()), sum(
            total for _, total in self._stages.values()
        )

    def _count(self) -> None:
        """Update the counts of stages, which are kept here because Spark forgets old stages."""
        for job in set(self._tracker.getJobIdsForGroup(None)) - self._before:
            found = self._tracker.getJobInfo(job)
            if found is None:
                continue
            for number in found.stageIds:
                info = self._tracker.getStageInfo(number)
                if info is not None:
                    # Spark skips stages whose results exist; their tasks never complete.
                    done = info.numTasks if found.status != "RUNNING" else info.numCompletedTasks
                    self._stages[number] = (done, info.numTasks)

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            self._count()
            done, total = self.tasks()
            if total:
                self._progress.tell(
                    "reducing", done, total, f"{self._sentence}: {self._what}, {done} of {total} tasks"
                )
