"""Speed and peak memory from a dump to Arrow, and to committed history, in one process and in Spark.

Each measurement runs in its own process, so that its memory can be measured separately; the memory of its child
processes (Java, Python workers) is added while it runs. The dump is read from the page cache. MB are 10**6 bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.jobs.starter import Starter

SEED = 4
POLL_S = 0.05
SMALL_BYTES = 60_000
CHUNK_BYTES = 2**22
PAGE_BYTES, TICKS_PER_S = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """The measurement of one way to read a dump."""

    name: str
    seconds: float
    """Seconds from the start of the process to its end."""
    cpu_s: float
    """CPU time including child processes, which is the figure to compare if other work shares the machine."""
    peak_mb: float
    """Peak resident memory of the process and its child processes."""
    rows: int
    stages: dict[str, float]
    """Seconds by stage, as reported by the process, not including the start of Python and imports."""


def measure(size_bytes: int, *, spark: bool, dump: Path | None = None) -> tuple[int, list[Measured]]:
    """Measure how a dump of about this size, or a given one, is read; return its length and the measurements."""
    from spark_jobs.smf.generate import generate_dump

    with tempfile.TemporaryDirectory(prefix="cfplan-bench-") as folder:
        work = Path(folder)
        if dump is None:
            dump = work / "dump.smf"
            generate_dump(dump, size_bytes, SEED)
        # Without this, the first measurement would include reading from the disk.
        _warm(dump)
        found = [
            _arrow(dump, "Arrow, in one process", "arrow", work),
            _ingest(dump, "history, in one process", work, spark=False),
        ]
        if spark:
            found.append(_arrow(dump, "Arrow, Spark local", "arrow-spark", work))
            found.append(_ingest(dump, "history, Spark local", work, spark=True))
        return dump.stat().st_size, found


@dataclass(frozen=True)
class RolledUp:
    """The time to store a dump with one-minute intervals, and to roll up its hours."""

    size_bytes: int
    ingest: Measured
    roll_up: Measured
    uploaded: Measured
    """Both jobs for the same dump as a running service starts them: by its starter, which has imported the packages."""
    command: Measured
    """`cfplan ingest` with the same dump, which also stores the roll-ups in the database."""
    small_command: Measured
    """The same with a small dump, which shows the fixed costs."""


def measure_roll_up(size_bytes: int) -> RolledUp:
    """Measure the ingest of a dump of about this size with one-minute intervals, and the roll-up of its days."""
    from app.jobs.starter import Starter
    from spark_jobs.smf.generate import generate_dump

    with tempfile.TemporaryDirectory(prefix="cfplan-bench-") as folder:
        work = Path(folder)
        dump = work / "minutes.smf"
        generate_dump(dump, size_bytes, SEED, interval=timedelta(minutes=1))
        _warm(dump)
        ingest = _ingest(dump, "ingest, one-minute intervals", work, spark=False)
        command = [sys.executable, "-m", "spark_jobs.rollup", "--history", str(work / "history-in-process")]
        out, seconds, cpu, peak = _watched(command)
        lines = len(out.splitlines())
        small = work / "small.smf"
        generate_dump(small, SMALL_BYTES, SEED)
        with Starter() as starter:
            # A service has usually read an upload before, so the worker has read the layouts of the records.
            _upload(starter, small, work / "history-small")
            uploaded = _upload(starter, dump, work / "history-upload")
        # The first command creates the database.
        _command(small, "first cfplan ingest", work / "data")
        by_command = _command(dump, "cfplan ingest", work / "data")
        smaller = work / "smaller.smf"
        generate_dump(smaller, SMALL_BYTES, SEED + 1)
        small_command = _command(smaller, "cfplan ingest, small dump", work / "data")
        return RolledUp(
            dump.stat().st_size,
            ingest,
            Measured("roll-up of its days", seconds, cpu, peak, lines, {}),
            uploaded,
            by_command,
            small_command,
        )


def _command(dump: Path, name: str, data_dir: Path) -> Measured:
    """Measure `cfplan ingest` with its starter and the jobs."""
    from app.settings import read_settings

    command = [sys.executable, "-c", "from app.cli import main_entry; main_entry()", "ingest", str(dump)]
    environment = {**os.environ, **read_settings(data_dir=data_dir).as_environment()}
    out, seconds, cpu, peak = _watched(command, environment)
    report = json.loads(out)["files"][0]
    if report["status"] != "stored":
        message = f"{name}: {report['status']}: {report['message']}"
        raise RuntimeError(message)
    return Measured(name, seconds, cpu, peak, 0, {})


def _upload(starter: Starter, dump: Path, history: Path) -> Measured:
    """Measure the two jobs of an upload in the worker of a starter."""
    from app.jobs import processes

    jobs = (
        [processes.INGEST, str(dump), "--history", str(history), "--in-process-below", str(2**62)],
        [processes.ROLLUP, "--history", str(history)],
    )
    seconds = cpu = peak = 0.0
    lines = 0
    for job in jobs:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.perf_counter()
            started = starter.start([*processes.PYTHON, *job], stdout=out.fileno(), stderr=err.fileno())
            with _watching(started.pid) as watched:
                code = started.wait()
                seconds += time.perf_counter() - began
            if code != 0:
                err.seek(0)
                message = f"{' '.join(job)} ended with {code}: {err.read()[-2000:].decode()}"
                raise RuntimeError(message)
            out.seek(0)
            lines = len(out.readlines())
        cpu += watched.cpu_s
        peak = max(peak, watched.peak_mb)
    return Measured("both, as an upload", seconds, cpu, peak, lines, {})


def _warm(dump: Path) -> None:
    with dump.open("rb") as file:
        while file.read(CHUNK_BYTES):
            pass


def _arrow(dump: Path, name: str, what: str, work: Path) -> Measured:
    command = [sys.executable, "-m", "bench.dumps", what, str(dump), "--work-dir", str(work / what)]
    out, seconds, cpu, peak = _watched(command)
    told = json.loads(out.splitlines()[-1])
    return Measured(name, seconds, cpu, peak, told["rows"], told["seconds"])


def _ingest(dump: Path, name: str, work: Path, *, spark: bool) -> Measured:
    driver = "spark" if spark else "in-process"
    command = [
        *(sys.executable, "-m", "spark_jobs.ingest", str(dump)),
        *("--history", str(work / f"history-{driver}"), "--work-dir", str(work / f"work-{driver}")),
        *("--in-process-below", "0" if spark else str(2**62)),
    ]
    out, seconds, cpu, peak = _watched(command)
    report = json.loads(out.splitlines()[-1])["files"][0]
    # A refused or already stored file would be measured as a very fast one.
    if report["status"] != "stored" or report["driver"] != driver:
        message = f"{name}: {report['status']} by {report['driver']}: {report['message']}"
        raise RuntimeError(message)
    rows = sum(counts["read"] for counts in report["rows"].values())
    return Measured(name, seconds, cpu, peak, rows, report["seconds"])


def _watched(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[str, float, float, float]:
    """Run a command, and return its output, seconds, CPU seconds, and peak memory [MB]."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    with _watching(process.pid) as watched:
        out, err = process.communicate()
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    # The time of processes that were waited for is complete; that of others, such as Java, is only known from watching them.
    waited_for = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode != 0:
        message = f"{' '.join(command)} ended with {process.returncode}: {err[-2000:]}{out[-2000:]}"
        raise RuntimeError(message)
    return out, seconds, max(watched.cpu_s, waited_for), watched.peak_mb


@dataclass
class _Watched:
    """The use of a process and its child processes while they were watched."""

    cpu_s: float = 0.0
    peak_mb: float = 0.0


@contextmanager
def _watching(pid: int) -> Iterator[_Watched]:
    """Watch a process and its child processes; the result is complete at the end."""
    found, done = _Watched(), threading.Event()
    before: dict[int, float] = {}
    _look(pid, before)
    processor_s = dict(before)

    def watch() -> None:
        while not done.is_set():
            found.peak_mb = max(found.peak_mb, _look(pid, processor_s) / 1e6)
            # Peaks shorter than this are missed; a shorter interval would take CPU time from the measured processes.
            done.wait(POLL_S)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
        # A process that remains, such as a starter, may have worked since the last look.
        _look(pid, processor_s)
        found.cpu_s = sum(processor_s.values()) - sum(before.values())


def _look(pid: int, processor_s: dict[int, float]) -> int:
    """Return the resident memory of a process and its child processes, and update the CPU time of each.

    The result is 0 on systems without /proc.
    """
    parents: dict[int, list[int]] = {}
    fields: dict[int, list[str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Split after the last parenthesis, because the name of a process may contain blanks and parentheses.
            found = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(found[1]), []).append(int(folder.name))
        fields[int(folder.name)] = found
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        waiting += parents.get(one, [])
        if one in fields:
            total += int(fields[one][21]) * PAGE_BYTES
            # Stored for each process, because a process that has ended no longer has an entry in /proc.
            processor_s[one] = (int(fields[one][11]) + int(fields[one][12])) / TICKS_PER_S
    return total


# ---- what the processes do -------------------------------------------------------------------------------------------


def _to_arrow(dump: Path) -> int:
    from planner_core.contracts.smf import SECTIONS
    from spark_jobs.history.rows import COLUMNS
    from spark_jobs.smf.decode import decode_file

    rows = 0
    for found in decode_file(dump, sections=SECTIONS, columns=COLUMNS, only_shared=True):
        rows += sum(batch.num_rows for batches in found.batches.values() for batch in batches)
    return rows


def _run(what: str, dump: Path, work: Path) -> dict[str, Any]:
    stages: dict[str, float] = {}

    def timed(stage: str, function: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the function returns
        began = time.perf_counter()
        result = function()
        stages[stage] = round(time.perf_counter() - began, 3)
        return result

    if what == "arrow":
        rows = timed("decoding", lambda: _to_arrow(dump))
        return {"rows": rows, "seconds": stages}
    from spark_jobs.history.by_spark import count_by_spark
    from spark_jobs.history.dumps import Task
    from spark_jobs.history.staging import Source
    from spark_jobs.session import build_session
    from spark_jobs.smf.decode import index_dump

    index = timed("indexing", lambda: index_dump(dump))
    task = Task(str(dump), index.framing, str(work), Source("none", dump.name, index.sha256), groups=())
    session = timed("starting Spark", lambda: build_session("bench", work_dir=work))
    try:
        # The JVM compiles during the first pass, so that only the second one shows the speed of Spark.
        timed("decoding, cold", lambda: count_by_spark(index, session, task=task))
        rows = timed("decoding", lambda: count_by_spark(index, session, task=task))
    finally:
        session.stop()
    return {"rows": rows, "seconds": stages}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one measurement in this process."""
    parser = argparse.ArgumentParser(prog="python -m bench.dumps", description=__doc__)
    parser.add_argument("what", choices=("arrow", "arrow-spark"))
    parser.add_argument("dump", type=Path)
    parser.add_argument("--work-dir", type=Path, required=True)
    options = parser.parse_args(arguments)
    print(json.dumps(_run(options.what, options.dump, options.work_dir)))


if __name__ == "__main__":
    main()
