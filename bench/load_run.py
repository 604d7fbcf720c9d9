"""`python -m bench.load_run`: the service under the load of many users, while it reads uploads and calculates a nightly run.

The service runs as in production: `cfplan serve` with its workers. Planners and scripts are those of `bench.load`. Meanwhile,
daily dumps are uploaded, and when all are read, a nightly run is started. This client needs processor time on the same
machine, so its own load counts against the service.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
import numpy as np

from bench import load
from bench.load import PAGE, SIZING, Answered
from bench.small_dumps import DUMP_BYTES

SECONDS, DUMPS = 300, 118
AIM_S = {SIZING: 0.25, PAGE: 1.0}
AIM_GROWTH_PERCENT = 10.0
SAMPLE_S = 5.0
POLL_S = 1.0
STARTUP_S = 60.0
LONGEST_JOBS_S = 1_200.0
"""Time that uploads and the nightly run may take in all; the users end earlier."""
ENDED = ("done", "failed")
SHOWN_ERRORS = 10
COMMAND = (sys.executable, "-c", "from app.cli import main_entry; main_entry()", "serve")


@dataclass
class Run:
    """The measurements of one run."""

    seconds: float
    answered: list[Answered] = field(default_factory=list)
    memory_mb: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the start, and the memory of the supervisor and all workers; shared pages count once."""
    cpu_s: float = 0.0
    """CPU time of the supervisor and its workers while they were under load."""
    client_cpu_s: float = 0.0
    """CPU time of this client, which the service lacks on the same machine."""
    uploads: int = 0
    uploads_failed: int = 0
    uploads_s: float | None = None
    """Seconds until the last upload was read."""
    night: str = "not started"
    night_s: float | None = None

    @property
    def errors(self) -> list[Answered]:
        """Requests without the expected answer."""
        return [each for each in self.answered if each.error]

    def percentile_s(self, kind: str, percent: float) -> float:
        """Return a percentile of the seconds of all requests of a kind."""
        return float(np.percentile([each.seconds for each in self.answered if each.kind == kind], percent))

    @property
    def growth_percent(self) -> float:
        """Growth of the memory from the second quarter of the run to the last one; caches fill up before."""
        end = self.memory_mb[-1][0]
        second = [mb for at, mb in self.memory_mb if end / 4 <= at < end / 2]
        last = [mb for at, mb in self.memory_mb if at >= end * 3 / 4]
        if not second or not last:
            return 0.0
        return (float(np.median(last)) / float(np.median(second)) - 1) * 100

    @property
    def is_as_aimed(self) -> bool:
        """Whether the run meets all aims."""
        return (
            not self.errors
            and all(self.percentile_s(kind, 99) < aim for kind, aim in AIM_S.items())
            and self.growth_percent < AIM_GROWTH_PERCENT
            and self.uploads_failed == 0
            and self.night in ("done", "none wanted")
        )


def measure(*, planners: int, scripts: int, seconds: float, dumps: int, workers: int, is_night: bool) -> Run:
    """Start a service, load it, and return the measurements."""
    with tempfile.TemporaryDirectory(prefix="cfplan-load-") as folder:
        paths = list(_dumps(Path(folder), dumps))
        with _served(Path(folder) / "data", workers) as (address, pid):
            return asyncio.run(_measure(address, pid, planners, scripts, seconds, paths, is_night))


def _dumps(folder: Path, count: int) -> Iterator[Path]:
    from spark_jobs.smf.generate import FIRST_INTERVAL, generate_dump

    for number in range(count):
        path = folder / f"{number:04}.smf"
        generate_dump(path, DUMP_BYTES, number, begin=FIRST_INTERVAL + timedelta(days=number))
        yield path


@contextmanager
def _served(data_dir: Path, workers: int) -> Iterator[tuple[str, int]]:
    """Run the service, and yield its address and the process ID of its supervisor."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environment = {**os.environ, "CFPLAN_DATA_DIR": str(data_dir), "CFPLAN_NIGHT_HOUR": "off"}
    many = ("--workers", str(workers)) if workers else ()
    # Its messages contain a line for each request.
    with (data_dir.parent / "messages").open("wb") as messages:
        process = subprocess.Popen([*COMMAND, "--port", str(port), *many], env=environment, stderr=messages)
    try:
        address = f"http://127.0.0.1:{port}"
        _await_answer(address)
        yield address, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _await_answer(address: str) -> None:
    end = time.monotonic() + STARTUP_S
    while True:
        try:
            httpx.get(f"{address}/healthz", timeout=STARTUP_S, trust_env=False).raise_for_status()
        except httpx.HTTPError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


async def _measure(
    address: str, pid: int, planners: int, scripts: int, seconds: float, paths: Sequence[Path], is_night: bool
) -> Run:
    run = Run(seconds)
    async with load.client_of(address) as client:
        await load.store_plan(client)
        start = time.monotonic()
        sampling = asyncio.create_task(_sample(run, pid, start))
        jobs = asyncio.create_task(_jobs(run, client, paths, is_night, start))
        cpu_s, client_cpu_s = _cpu_s(pid), time.process_time()
        run.answered = await load.ask(client, load.bodies(), planners, scripts, seconds)
        run.cpu_s, run.client_cpu_s = _cpu_s(pid) - cpu_s, time.process_time() - client_cpu_s
        run.seconds = time.monotonic() - start
        await jobs
        sampling.cancel()
    return run


async def _sample(run: Run, pid: int, start: float) -> None:
    while True:
        run.memory_mb.append((time.monotonic() - start, await asyncio.to_thread(_memory_mb, pid)))
        await asyncio.sleep(SAMPLE_S)


def _memory_mb(supervisor: int) -> float:
    """Return the proportional memory of a supervisor and its workers, not of the jobs that these have started."""
    kilobytes = 0
    for pid in (supervisor, *_children(supervisor)):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        except OSError:  # it has ended
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1000


def _cpu_s(supervisor: int) -> float:
    """Return the CPU time of a supervisor and its current workers so far."""
    ticks = 0
    for pid in (supervisor, *_children(supervisor)):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(number) for number in text.split()]


async def _jobs(
    run: Run, client: httpx.AsyncClient, paths: Sequence[Path], is_night: bool, start: float
) -> None:
    """Upload the dumps, wait until they are read, and then start a nightly run and wait for it."""
    waiting = {await load.upload(client, path) for path in paths}
    run.uploads = len(waiting)
    while waiting and time.monotonic() - start < LONGEST_JOBS_S:
        await asyncio.sleep(POLL_S)
        job = min(waiting)
        state = (await client.get(f"/api/v1/jobs/{job}")).json()["state"]
        while state in ENDED:
            run.uploads_failed += state == "failed"
            waiting.discard(job)
            if not waiting:
                break
            job = min(waiting)
            state = (await client.get(f"/api/v1/jobs/{job}")).json()["state"]
    run.uploads_failed += len(waiting)
    run.uploads_s = time.monotonic() - start
    if not is_night:
        run.night = "none wanted"
        return
    begun = await client.post("/api/v1/nightly-runs", json={})
    begun.raise_for_status()
    job = begun.json()["job_id"]
    while run.night not in ENDED and time.monotonic() - start < LONGEST_JOBS_S:
        await asyncio.sleep(POLL_S)
        run.night = (await client.get(f"/api/v1/jobs/{job}")).json()["state"]
    run.night_s = time.monotonic() - start


def print_run(run: Run, what: str) -> None:
    """Print the measurements next to their aims."""
    print(f"{what}; seconds")
    print(f"{'':<18}{'answers':>9}{'p50':>9}{'p90':>9}{'p99':>9}{'longest':>9}{'aim p99':>9}")
    for kind, aim in AIM_S.items():
        times = [run.percentile_s(kind, percent) for percent in (50, 90, 99, 100)]
        count = sum(each.kind == kind for each in run.answered)
        print(f"{kind:<18}{count:>9}{''.join(f'{each:>9.3f}' for each in times)}{aim:>9.2f}")
    for address, (p50, p99) in load.slowest_pages(run.answered).items():
        print(f"  {p50:.3f} {p99:.3f} {address}")
    print(
        f"answered within {run.seconds:.0f} s; CPU time of the service {run.cpu_s:.0f} s, of this client {run.client_cpu_s:.0f} s"
    )
    step = max(len(run.memory_mb) // 10, 1)
    over_time = ", ".join(f"{at:.0f} s {mb:.0f} MB" for at, mb in run.memory_mb[::step])
    print(f"memory: {over_time}")
    print(f"growth of the memory {run.growth_percent:+.1f} %, aim below {AIM_GROWTH_PERCENT:.0f} %")
    read_s = "" if run.uploads_s is None else f" after {run.uploads_s:.0f} s"
    print(f"uploads: {run.uploads - run.uploads_failed} of {run.uploads} read{read_s}")
    night_s = "" if run.night_s is None else f" after {run.night_s:.0f} s"
    print(f"nightly run: {run.night}{night_s}")
    print(f"{len(run.errors)} errors, aim 0")
    for error in run.errors[:SHOWN_ERRORS]:
        print(f"  {error.address}: {error.error}")
    print("all aims are met" if run.is_as_aimed else "not all aims are met")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load, print its measurements, and return 0 if they meet the aims."""
    parser = argparse.ArgumentParser(prog="python -m bench.load_run", description=__doc__)
    parser.add_argument("--planners", type=int, default=load.PLANNERS, help="people who read pages")
    parser.add_argument(
        "--scripts", type=int, default=load.SCRIPTS, help="programs that send sizing requests"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="duration of the load")
    parser.add_argument("--dumps", type=int, default=DUMPS, help="daily dumps to upload")
    parser.add_argument("--workers", type=int, default=0, help="workers of the service; 0: one for each core")
    parser.add_argument("--no-night", action="store_true", help="without a nightly run")
    options = parser.parse_args(arguments)
    run = measure(
        planners=options.planners,
        scripts=options.scripts,
        seconds=options.seconds,
        dumps=options.dumps,
        workers=options.workers,
        is_night=not options.no_night,
    )
    print_run(
        run,
        f"{options.planners} planners and {options.scripts} scripts for {options.seconds:.0f} s on {os.cpu_count()} cores, "
        f"{options.dumps} dumps",
    )
    return 0 if run.is_as_aimed else 1


if __name__ == "__main__":
    sys.exit(main())
