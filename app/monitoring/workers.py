"""The metrics of all worker processes of a service together.

With several workers, each writes its values to files of a shared folder, as prometheus-client's multiprocess mode does;
any worker adds them up for a scrape. Every worker holds a lock as long as it lives. When the lock of a worker is free,
the worker has ended: its counters are added to those of earlier workers, so that they never decrease, and its files are
removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from prometheus_client import ProcessCollector, disable_created_metrics, values
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.values import MultiProcessValue

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable in which prometheus-client looks for the folder."""
ENDED = 0
"""The process ID under which the counters of all workers that have ended are kept; no process has it."""

# A second series with the start of each counter would double the size of a scrape.
disable_created_metrics()


@contextmanager
def shared_by_workers() -> Iterator[Callable[[], None]]:
    """Create the folder of a service with several workers, which are started in the block.

    Yields:
        A function that removes the folder early, for a process that ends without leaving the block.
    """
    # On the machine's own disk, because the workers map its files into memory.
    folder = tempfile.TemporaryDirectory(prefix="cfplan-metrics-")
    supervisor = os.getpid()

    def remove() -> None:
        if os.getpid() == supervisor:  # and not a worker that was forked in the block
            os.environ.pop(FOLDER_VARIABLE, None)
            folder.cleanup()

    os.environ[FOLDER_VARIABLE] = folder.name
    try:
        yield remove
    finally:
        remove()


def shared_folder() -> Path | None:
    """Return the folder that the workers share; None if the service has one."""
    name = os.environ.get(FOLDER_VARIABLE)
    return Path(name) if name else None


class Worker:
    """The membership of this process in the workers that share a folder; it ends with the process."""

    def __init__(self, folder: Path) -> None:
        """Join the workers. Called in the worker itself, because a forked process would share the lock of its parent."""
        self._lock = _lock_of(folder, os.getpid()).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # The library makes this choice when it is imported, which is before the workers are forked.
        values.ValueClass = MultiProcessValue()

    def leave(self) -> None:
        """End the membership early, as the end of the process does."""
        self._lock.close()


class Workers(Collector):
    """The metrics of all workers, and the resources that the living ones use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        """Yield the sums over all workers."""
        # Exclusive, because a worker that has ended must not be counted twice, or not at all, by another scrape.
        with _locked(self._folder / "scrape.lock"):
            living = []
            for pid in sorted(_workers(self._folder)):
                if _is_alive(self._folder, pid):
                    living.append(pid)
                else:
                    _add_to_ended(self._folder, pid)
            yield from list(MultiProcessCollector(None, str(self._folder)).collect())
        yield from process_metrics(living)


class ThisProcess(Collector):
    """The resources that a service without further workers uses."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of this process."""
        yield from process_metrics([os.getpid()])


def process_metrics(pids: list[int]) -> Iterator[Metric]:
    """Yield the resources that processes use together, under the usual names, and the number of processes."""
    sums: dict[str, Metric] = {}
    for pid in pids:
        for metric in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]
            total = sums.setdefault(metric.name, _empty(metric))
            for sample in metric.samples:
                if metric.name == "process_start_time_seconds":
                    earliest = min([sample.value, *(each.value for each in total.samples)])
                else:
                    earliest = sample.value + sum(each.value for each in total.samples)
                total.samples.clear()
                total.add_sample(sample.name, sample.labels, earliest)
    yield from sums.values()
    yield GaugeMetricFamily("cfplan_workers", "Worker processes of the service.", value=len(pids))


def _empty(metric: Metric) -> Metric:
    family = CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily
    return family(metric.name, metric.documentation)


_FILE = re.compile(r"[a-z]+(?:_[a-z]+)?_(\d+)\.db")


def _workers(folder: Path) -> set[int]:
    """Return the process IDs of the workers that have files, without those that were added to ENDED."""
    found = {int(name[1]) for each in folder.iterdir() if (name := _FILE.fullmatch(each.name))}
    found |= {int(each.stem) for each in folder.glob("*.alive")}
    return found - {ENDED}


def _lock_of(folder: Path, pid: int) -> Path:
    return folder / f"{pid}.alive"


def _is_alive(folder: Path, pid: int) -> bool:
    """Return whether a worker holds its lock; a process with the same ID that is no worker does not."""
    if pid == os.getpid():
        return True
    try:
        with _lock_of(folder, pid).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _add_to_ended(folder: Path, pid: int) -> None:
    """Add the counters of a worker that has ended to those of earlier ones, and remove its files."""
    for kind in ("counter", "histogram", "summary"):
        path = folder / f"{kind}_{pid}.db"
        if path.exists():
            # The total is not written in place: if this process is killed, the next scrape must not add twice.
            values = list(MmapedDict.read_all_values_from_file(str(path)))
            total = MmapedDict(str(folder / f"{kind}_{ENDED}.db"))
            path.unlink()
            for key, value, _, _ in values:
                total.write_value(key, total.read_value(key)[0] + value, 0.0)
            total.close()
    # Gauges describe living workers.
    for path in folder.glob(f"gauge_*_{pid}.db"):
        path.unlink()
    _lock_of(folder, pid).unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[IO[str]]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
