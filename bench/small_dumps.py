"""Time for many small daily dumps: as one list of files, and as uploads in the queue of the service.

Both ways store the same dumps in a history and a database of their own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from app.database.engine import Database, configured_url
from app.jobs.models import JobState
from app.jobs.watcher import Watcher
from app.paging import MOST_PER_PAGE, PageRequest
from app.settings import Settings, read_settings
from app.uploads import service
from app.uploads.files import Incoming
from app.uploads.service import UploadDetails

DUMP_BYTES = 60_000
POLL_S = 0.1
BY_COMMAND, BY_QUEUE = "cfplan ingest FILE...", "uploads in the queue"


@dataclass(frozen=True)
class Ingested:
    """The time until all dumps were stored."""

    seconds: float
    cpu_s: float
    """CPU seconds of the processes that were started."""


def measure(dumps: int) -> dict[str, Ingested]:
    """Generate small dumps, and measure both ways to store them."""
    from spark_jobs.smf.generate import FIRST_INTERVAL, generate_dump

    with tempfile.TemporaryDirectory(prefix="cfplan-bench-") as folder:
        work = Path(folder)
        paths = [work / f"{number:04}.smf" for number in range(dumps)]
        for number, path in enumerate(paths):
            generate_dump(path, DUMP_BYTES, number, begin=FIRST_INTERVAL + timedelta(days=number))
        return {
            BY_COMMAND: _measured(lambda: _by_command(paths, work / "command")),
            BY_QUEUE: _measured(lambda: _by_queue(paths, work / "queue")),
        }


def _measured(work: Callable[[], None]) -> Ingested:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Ingested(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _by_command(paths: list[Path], data_dir: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from app.cli import main_entry; main_entry()",
        "ingest",
        *map(str, paths),
    ]
    environment = {**os.environ, **read_settings(data_dir=data_dir).as_environment()}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _by_queue(paths: list[Path], data_dir: Path) -> None:
    settings = read_settings(data_dir=data_dir)
    database = Database(configured_url(settings))
    watcher = Watcher(database, settings)
    try:
        database.prepare()
        for path in paths:
            _keep(database, settings, path)
        watcher.start()
        while (states := _states(database)) - {JobState.DONE}:
            if JobState.FAILED in states:
                message = "an upload could not be read"
                raise RuntimeError(message)
            time.sleep(POLL_S)
    finally:
        keepers = list(watcher._children.values())
        for keeper in keepers:
            # Its CPU time is counted when it has ended.
            keeper.wait()
        watcher.stop()
        database.close()


def _keep(database: Database, settings: Settings, path: Path) -> None:
    with Incoming(settings.data_dir, largest_bytes=settings.max_upload_bytes) as incoming:
        incoming.write(path.read_bytes())
        received = incoming.finish()
        with database.session(writes=True) as session:
            service.keep(session, received, filename=path.name, said=UploadDetails())


def _states(database: Database) -> set[JobState]:
    with database.session(writes=False) as session:
        first = service.list_uploads(session, PageRequest(1, MOST_PER_PAGE))
        pages = [
            first,
            *(
                service.list_uploads(session, PageRequest(page, MOST_PER_PAGE))
                for page in range(2, first.pages + 1)
            ),
        ]
    return {each.job.state for page in pages for each in page.items if each.job is not None}
