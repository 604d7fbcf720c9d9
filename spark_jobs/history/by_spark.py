"""Stage a dump for the history with Spark: a data source whose partitions are the ranges of the dump's index.

A task processes its range with `dumps.take_one`, as a single process does. It returns one line of JSON that lists the
staged files; the rows themselves never reach the driver.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from spark_jobs.history.dumps import RangeOutcome, Task, count_rows, finished, take_one
from spark_jobs.smf.decode import meet
from spark_jobs.smf.results import DumpIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from spark_jobs.history.dumps import Progress

FORMAT = "cfplan_ranges"
COUNT = "count"
TAKE = "take"
ANSWER = pa.schema([("answer", pa.string())])
LOOK_S = 0.2
"""The interval at which the driver asks Spark how many tasks are done [s]."""


@dataclass
class _Range(InputPartition):
    """One split of the index."""

    start: int
    end: int
    first_record: int


class RangesSource(DataSource):
    """A data source over the ranges of a dump.

    Options: `index` and `task`, both JSON, and `work`, which selects whether rows are staged or only counted.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the schema: a column with one answer for each range."""
        return "answer string"

    def reader(self, schema: object) -> DataSourceReader:
        """Return the reader that creates and reads the partitions."""
        return _Reader(dict(self.options))


class _Reader(DataSourceReader):
    def __init__(self, options: dict[str, str]) -> None:
        self._ranges = DumpIndex.from_json(options["index"]).ranges()
        self._task = Task.from_json(options["task"])
        self._work = options["work"]

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition for each range of the index."""
        return [_Range(split.offset, end, split.record_number) for split, end in self._ranges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read or count one range, in the task that runs it."""
        if not isinstance(partition, _Range):
            return
        where = {"start": partition.start, "end": partition.end, "first_record": partition.first_record}
        if self._work == COUNT:
            answer = str(count_rows(self._task.dump, self._task.framing, **where))
        else:
            answer = take_one(self._task, **where).to_json()
        yield pa.RecordBatch.from_pylist([{"answer": answer}], schema=ANSWER)


def take_by_spark(task: Task, index: DumpIndex, session: SparkSession, *, progress: Progress) -> RangeOutcome:
    """Read a dump's ranges in Spark's tasks.

    Args:
        task: the parameters of the tasks. Every worker must be able to reach the dump and the history under these names.
        index: the starts of the ranges.
        session: the Spark session.
        progress: called with the bytes done and the total; advances in steps, when a task finishes.

    Raises:
        BrokenChain: the ranges are not contiguous.
    """
    total = RangeOutcome()
    size = index.content_bytes

    def told(done: int, tasks: int) -> None:
        progress(size * done // max(tasks, 1), size)

    answers = _answers(session, task, index, work=TAKE, told=told)
    outcomes = sorted(
        (RangeOutcome.from_json(answer) for answer in answers), key=lambda found: found.first_start
    )
    # A task finds the first record of its range itself. If every range ends where the next begins, no record was lost
    # and none was read twice.
    meet(((outcome.first_start, outcome.end_offset) for outcome in outcomes), end=size)
    for outcome in outcomes:
        total.add(outcome)
    progress(size, size)
    return finished(total, task.stage(), group_of=task.group_of)


def count_by_spark(index: DumpIndex, session: SparkSession, *, task: Task) -> int:
    """Decode a dump's ranges in Spark's tasks and count the rows, to measure the cost of decoding alone."""
    answers = _answers(session, task, index, work=COUNT, told=lambda _done, _tasks: None)
    return sum(int(answer) for answer in answers)


def _answers(
    session: SparkSession,
    task: Task,
    index: DumpIndex,
    *,
    work: str,
    told: Callable[[int, int], None],
) -> list[str]:
    """Run one Spark job over the ranges and report finished tasks while it runs."""
    session.dataSource.register(RangesSource)
    options = {"index": index.to_json(), "task": task.to_json(), "work": work}
    frame = session.read.format(FORMAT).options(**options).load()
    # Spark's status tracker finds stages only by the group of their job. A fixed name would also match the previous
    # dump.
    group = f"cfplan-{secrets.token_hex(8)}"
    context = session.sparkContext

    def collect() -> list[str]:
        # A job group belongs to a thread, so it is set in the thread that starts the job.
        context.setJobGroup(group, f"{work} {index.content_bytes} bytes")
        return [row["answer"] for row in frame.collect()]

    # collect() returns when the job has ended; meanwhile, progress is reported from here.
    with ThreadPoolExecutor(max_workers=1) as pool:
        job = pool.submit(collect)
        try:
            while not job.done():
                time.sleep(LOOK_S)
                done, tasks = _tasks(session, group)
                told(done, tasks)
        except BaseException:
            with contextlib.suppress(Exception):  # the first failure is the one to report
                context.cancelJobGroup(group)
            raise
        return job.result()


def _tasks(session: SparkSession, group: str) -> tuple[int, int]:
    """Return the number of finished tasks of a job group, and of all its tasks."""
    tracker = session.sparkContext.statusTracker()
    done = tasks = 0
    for job_id in tracker.getJobIdsForGroup(group):
        job = tracker.getJobInfo(job_id)
        for stage_id in job.stageIds if job else ():
            stage = tracker.getStageInfo(stage_id)
            if stage is not None:
                done += stage.numCompletedTasks
                tasks += stage.numTasks
    return done, tasks
