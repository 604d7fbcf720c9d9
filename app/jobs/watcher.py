"""Start a keeper for every waiting run and for every run whose keeper has died.

The watcher is a thread of one process of the service and has no state that matters: it can be stopped at any time, and several
services can watch the same database, because only one keeper can claim a run.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import subprocess
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection
from typing import IO

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.jobs import processes, repository, service
from app.jobs.heartbeats import HeartbeatObserver
from app.jobs.kinds import kind_of
from app.jobs.repository import Heartbeat
from app.settings import Settings
from planner_core.errors import PlannerError

EVERY_S = 2.0
TIDY_EVERY_S = 3_600.0
MOST_FALSE_STARTS = 3
LOG_FILE = "keepers.log"
LARGEST_LOG_BYTES = 10 * 2**20
"""Size from which the log of keepers is renamed to keepers.log.1, when the next keeper is started."""
NEVER_BEGAN = (
    "Several processes for this job ended before they could work on it. Their messages are in the "
    "file keepers.log in the folder jobs of the data folder."
)

logger = logging.getLogger("cfplan.jobs")


class Waker:
    """Wakes the thread of a watcher, from any process that was forked after this was created.

    A pipe instead of an event of threads: the processes of a service share it, and only one of them has a watcher. It works
    even if a process is killed at any time.
    """

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        for fileno in (self._reading, self._writing):
            os.set_blocking(fileno, False)
            weakref.finalize(self, os.close, fileno)
        self._poll = select.poll()
        self._poll.register(self._reading, select.POLLIN)

    def wake(self) -> None:
        """Wake the thread, now or when it waits next."""
        # A full pipe already wakes it.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writing, b".")

    def wait(self, seconds: float) -> None:
        """Wait until another thread or process calls `wake`, at most for some seconds."""
        self._poll.poll(seconds * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._reading, select.PIPE_BUF)


class Watcher:
    """Starts keepers for runs without one, every few seconds and whenever `poke` is called."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        *,
        clean_up: Callable[[Database, Settings], None] | None = None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._clean_up = clean_up
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._attempts: dict[int, int] = {}
        """The attempts of the run when its keeper was started, of each child."""
        self._false_starts: Counter[int] = Counter()
        self._observer = HeartbeatObserver(settings.job_stale_s)
        self._waker = Waker()
        self._is_stopping = False
        self._tidied_at: float | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._is_stopping = False
        self._thread = threading.Thread(target=self._watch, name="cfplan-jobs", daemon=True)
        self._thread.start()

    def poke(self) -> None:
        """Wake the thread, because a run was queued. The thread may belong to another process of this service."""
        self._waker.wake()

    def stop(self) -> None:
        """Stop the thread. Keepers are separate processes and continue."""
        self._is_stopping = True
        self._waker.wake()
        if self._thread is not None:
            self._thread.join(30)
        for child in self._children.values():
            # This process may live on for a while. A keeper that ends meanwhile would remain as a zombie, which the next
            # watcher would take for a running process.
            if child.poll() is None:
                threading.Thread(target=child.wait, name="cfplan-keeper", daemon=True).start()
        self._children.clear()

    def look(self) -> int:
        """Start keepers for waiting runs, within the limit; return the number of keepers that were started."""
        self._reap()
        if processes.missing_packages():
            return 0
        started = 0
        with self._database.session(writes=False) as session:
            waiting = repository.waiting(session)
            free = self._settings.jobs_at_once - repository.count_alive(session)
        # A keeper needs seconds before it claims its run; until then, the run still appears to be waiting.
        starting = len([job for job in waiting if job in self._children])
        for job_id in waiting:
            if started + starting < free and job_id not in self._children:
                self._children[job_id] = self._start_keeper(job_id)
                started += 1
        return started

    def _watch(self) -> None:
        while not self._is_stopping:
            try:
                self._tidy()
                self.look()
            except (PlannerError, DBAPIError, OSError) as error:  # the next attempt may succeed
                logger.error("Jobs cannot be started now: %s", error)
            except Exception:
                # Without this thread, no job would start until the service is restarted.
                logger.exception("Jobs cannot be started now, because of a defect in cfplan.")
            self._waker.wait(EVERY_S)

    def _start_keeper(self, job_id: int) -> subprocess.Popen[bytes]:
        with self._database.session(writes=False) as session:
            run = repository.find(session, job_id, light=True)
        self._attempts[job_id] = run.attempts if run is not None else 0
        connections = kind_of(run.kind).connections if run is not None else ()
        environment = {
            **processes.environment(self._settings, connections=connections),
            **self._settings.as_environment(),
        }
        logger.info("A process is started for job %d.", job_id)
        with _log_file(self._settings) as log:
            return subprocess.Popen(
                processes.keeper_command(job_id, "" if run is None else run.kind),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,  # the keeper outlives the service
            )

    def _reap(self) -> None:
        """Release the runs of keepers that have ended: at once if they ran on this machine."""
        ended = {job_id: child for job_id, child in self._children.items() if child.poll() is not None}
        pids = {child.pid for child in ended.values()}
        # Most checks find nothing to release, and on SQLite a writing transaction would block all other writers.
        with self._database.session(writes=False) as session:
            has_left = bool(_left_by_the_dead(session, pids))
            silent = self._observer.silent(session)
        if has_left or silent:
            with self._database.session(writes=True) as session:
                let_go_of_the_dead(session, pids)
                for each in silent:
                    self._release(session, each)
        for job_id, child in ended.items():
            del self._children[job_id]
            attempts = self._attempts.pop(job_id)
            if child.returncode == processes.FOUND_DAMAGE:
                self._database.damage.remember(
                    f"the process of job {job_id} has found it; its log and {LOG_FILE} have details"
                )
            if child.returncode != 0:
                self._note_false_start(job_id, attempts)

    def _note_false_start(self, job_id: int, attempts: int) -> None:
        """Refuse a run whose keepers cannot even start: they would be started again every two seconds, forever."""
        with self._database.session(writes=False) as session:
            run = repository.find(session, job_id, light=True)
        if run is None:
            return
        # A keeper that has begun the run has increased its attempts, which have a limit of their own.
        if run.attempts != attempts:
            self._false_starts.pop(job_id, None)
            return
        self._false_starts[job_id] += 1
        if self._false_starts[job_id] >= MOST_FALSE_STARTS:
            with self._database.session(writes=True) as session:
                service.refuse(session, job_id, NEVER_BEGAN)
            del self._false_starts[job_id]

    def _release(self, session: Session, silent: Heartbeat) -> None:
        if not repository.release(session, silent):
            return
        logger.warning(
            "Job %d is released: %s has sent no heartbeat for %g seconds.",
            silent.job_id, silent.owner, self._settings.job_stale_s,
        )  # fmt: skip
        # A keeper that hangs would otherwise prevent this watcher from starting another one for its run for ever.
        child = self._children.get(silent.job_id)
        if child is not None and f":{child.pid}:" in silent.owner:
            child.kill()

    def _tidy(self) -> None:
        if self._tidied_at is not None and time.monotonic() - self._tidied_at < TIDY_EVERY_S:
            return
        # Set first: no job would start while the removal of what has expired fails and is tried again and again.
        self._tidied_at = time.monotonic()
        if self._clean_up is not None:
            self._clean_up(self._database, self._settings)


def let_go_of_the_dead(session: Session, ended: Collection[int] = ()) -> None:
    """Release runs whose process ran on this machine and no longer exists; `ended` contains IDs of ended processes."""
    for job_id, owner in _left_by_the_dead(session, ended):
        service.let_go(session, job_id, owner)


def _left_by_the_dead(session: Session, ended: Collection[int]) -> list[tuple[int, str]]:
    return [(job_id, owner) for job_id, owner in repository.running_owners(session) if _is_gone(owner, ended)]


def _is_gone(owner: str, ended: Collection[int]) -> bool:
    """Return whether the process of an owner ran on this machine and no longer exists."""
    # Process IDs mean nothing on another machine, so runs there are observed until they have been silent for long enough.
    host, _, rest = owner.partition(":")
    number = rest.partition(":")[0]
    if host != socket.gethostname()[:60] or not number.isdigit():
        return False
    if int(number) in ended:
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:  # the process exists and belongs to another user
        return False
    return False


def _log_file(settings: Settings) -> IO[bytes]:
    """Open the log for messages of keepers that cannot even write to their row."""
    folder = processes.work_dir(settings)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOG_FILE
    # Keepers that run continue to write to the earlier file, which is then replaced by the next one.
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LARGEST_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    return path.open("ab")
