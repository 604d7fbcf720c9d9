"""The supervisor of the workers: it starts them, replaces those that die, hang or leave, and stops them.

Workers are forked from this process after it has imported the application, so that a worker starts within milliseconds and
shares the memory of all modules. Therefore this process starts no threads and keeps no connections.

A worker sends a byte every second while it works. When this process ends, for whatever reason, Linux kills the workers, so
that none of them keeps the port. On other systems, a worker notices that its socket closes, and stops by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

LOOKS_EVERY_S = 0.5
BEAT, SERVING, LEAVING = b".", b"s", b"l"
"""Messages of a worker: it works; it accepts requests; it accepts no more requests, so another one must replace it."""
SHORT_LIFE_S = 5.0
LONGEST_DELAY_S = 30.0
"""Longest pause before the next start after several workers that ended soon."""
MOST_FALSE_STARTS = 5
"""Number of workers that end before they serve, one after another and with none that serves, after which the service ends."""
LEAST_HUNG_S = 5.0
STARTUP_FAILURE = 3
"""Exit code of uvicorn for an application that cannot start."""
_CRASHED = 70
_PR_SET_PDEATHSIG = 1
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

logger = logging.getLogger("cfplan.serve")


@dataclass(eq=False)
class Worker:
    """A process that answers requests."""

    pid: int
    link: socket.socket
    """Receives the messages of the worker."""
    started_at: float
    heard_at: float
    is_serving: bool = False
    is_leaving: bool = False
    is_ended: bool = False
    code: int = 0
    """How it ended: its exit code, or the negative number of a signal."""
    is_killed: bool = False


class Supervisor:
    """Keeps a number of workers serving until the process receives SIGTERM or SIGINT."""

    def __init__(
        self,
        count: int,
        serve: Callable[[socket.socket], int],
        *,
        hung_s: float,
        stop_s: float,
        on_ended: Callable[[], None],
    ) -> None:
        """Store the arguments; `run` starts the workers.

        Args:
            count: The number of workers.
            serve: Serves in a worker until it ends, and returns its exit code. The argument is the socket to this process.
            hung_s: Seconds without a message after which a worker is killed.
            stop_s: Seconds that workers have to end when the service stops, before they are killed.
            on_ended: Called when all workers have ended.
        """
        self._count = count
        self._on_ended = on_ended
        self._serve = serve
        self._hung_s = max(hung_s, LEAST_HUNG_S)
        self._stop_s = stop_s
        self._workers: list[Worker] = []
        self._stop_signal = 0
        self._is_insistent = False
        self._false_starts = 0
        self._has_served = False
        self._next_start_at = 0.0
        self._signaled = -1

    def run(self) -> int:
        """Run until a signal stops the service; return the exit code of the command."""
        with self._handled_signals():
            code = self._keep_alive()
            self._end_all()
        self._on_ended()
        if self._stop_signal == signal.SIGTERM:
            # The exit status shows the signal, as shells and service managers expect.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)
        return code

    def _keep_alive(self) -> int:
        looked_at = time.monotonic()
        while not self._stop_signal:
            self._replace_missing()
            self._hear(LOOKS_EVERY_S)
            self._reap()
            now = time.monotonic()
            if now - looked_at > 2 * LOOKS_EVERY_S:
                # This process itself was suspended, and the workers perhaps as well.
                for worker in self._workers:
                    worker.heard_at = now
            looked_at = now
            self._kill_hung(now)
            self._limit_leaving()
            if self._false_starts >= (MOST_FALSE_STARTS if self._has_served else 1) and not any(
                worker.is_serving for worker in self._workers
            ):
                logger.error(
                    "cfplan cannot serve: its workers end before they accept requests. The messages above state why."
                )
                return STARTUP_FAILURE
        return 0

    # ---- starting ----------------------------------------------------------------------------------------------------

    def _replace_missing(self) -> None:
        missing = self._count - sum(not worker.is_leaving for worker in self._workers)
        if missing > 0 and time.monotonic() >= self._next_start_at:
            for _ in range(missing):
                self._workers.append(self._start())

    def _start(self) -> Worker:
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        supervisor = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_worker(ours, theirs, supervisor)
        theirs.close()
        ours.setblocking(False)
        now = time.monotonic()
        return Worker(pid, ours, started_at=now, heard_at=now)

    def _become_worker(self, ours: socket.socket, theirs: socket.socket, supervisor: int) -> None:
        """Serve in the new process, and end it."""
        code = _CRASHED
        try:
            # With these open here, the other workers would not notice the end of the supervisor.
            for each in (ours, *(worker.link for worker in self._workers)):
                each.close()
            _end_with(supervisor)
            signal.set_wakeup_fd(-1)
            for number in _STOP_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            code = self._serve(theirs)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else _CRASHED
        except BaseException:  # noqa: BLE001 - the frames below belong to the supervisor and must not run here
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            # Not sys.exit, which would wait for threads that cannot be stopped.
            os._exit(code)

    # ---- watching ----------------------------------------------------------------------------------------------------

    def _hear(self, seconds: float) -> None:
        """Receive messages of the workers; return early if there are any."""
        poll = select.poll()
        by_fileno = {worker.link.fileno(): worker for worker in self._workers}
        for fileno in by_fileno:
            poll.register(fileno, select.POLLIN)
        poll.register(self._signaled, select.POLLIN)
        for fileno, _ in poll.poll(seconds * 1000):
            if fileno == self._signaled:
                os.read(fileno, 4096)
                continue
            worker = by_fileno[fileno]
            try:
                said = worker.link.recv(4096)
            except OSError:
                said = b""
            if said:
                worker.heard_at = time.monotonic()
                if SERVING in said:
                    worker.is_serving = self._has_served = True
                    self._false_starts = 0
                if LEAVING in said:
                    worker.is_leaving = True
            elif not worker.is_ended:
                # Its end of the socket is closed, so the process ends now.
                self._await_end(worker)

    def _await_end(self, worker: Worker) -> None:
        end = time.monotonic() + 1
        while not worker.is_ended and time.monotonic() < end:
            self._reap()
            time.sleep(0.005)

    def _reap(self) -> None:
        """Note which processes have ended.

        All of them, because in a container this may be process 1, which also receives the jobs of workers that have ended.
        """
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                for worker in [each for each in self._workers if each.pid == pid]:
                    worker.is_ended, worker.code = True, os.waitstatus_to_exitcode(status)
                    self._forget(worker)

    def _forget(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.link.close()
        if worker.is_leaving or self._stop_signal:
            return
        lived_s = time.monotonic() - worker.started_at
        if not worker.is_serving:
            self._false_starts += 1
        if lived_s < SHORT_LIFE_S:
            delay_s = min(2.0 ** max(self._false_starts - 1, 0), LONGEST_DELAY_S)
            self._next_start_at = time.monotonic() + delay_s
        how = f"signal {-worker.code}" if worker.code < 0 else f"exit code {worker.code}"
        logger.error(
            "Worker %d ended with %s after %.0f s; another one replaces it.", worker.pid, how, lived_s
        )

    def _kill_hung(self, now: float) -> None:
        for worker in self._workers:
            if now - worker.heard_at > self._hung_s and not worker.is_killed:
                logger.error(
                    "Worker %d has not responded for %.0f s, so it is killed.", worker.pid, self._hung_s
                )
                worker.is_killed = True
                _signal(worker, signal.SIGKILL)

    def _limit_leaving(self) -> None:
        """Let the oldest worker that leaves end its last requests now if there are many of these workers."""
        leaving = [worker for worker in self._workers if worker.is_leaving]
        for worker in leaving[: max(0, len(leaving) - max(2 * self._count, 4))]:
            _signal(worker, signal.SIGTERM)

    # ---- stopping ----------------------------------------------------------------------------------------------------

    def _end_all(self) -> None:
        for worker in self._workers:
            _signal(worker, signal.SIGTERM)
        end = time.monotonic() + self._stop_s
        while self._workers and time.monotonic() < end and not self._is_insistent:
            self._hear(min(0.1, self._stop_s))
            self._reap()
        for worker in self._workers:
            logger.error("Worker %d did not end in time, so it is killed.", worker.pid)
            _signal(worker, signal.SIGKILL)
        while self._workers:
            self._reap()
            time.sleep(0.01)

    @contextlib.contextmanager
    def _handled_signals(self) -> Iterator[None]:
        def stop(number: int, _frame: FrameType | None) -> None:
            self._is_insistent = bool(self._stop_signal) and number == signal.SIGINT
            self._stop_signal = self._stop_signal or number

        # Python continues to wait for messages after a signal, unless the signal is a message too.
        self._signaled, signaling = os.pipe()
        os.set_blocking(signaling, False)
        signal.set_wakeup_fd(signaling, warn_on_full_buffer=False)
        before = {number: signal.signal(number, stop) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(-1)
            os.close(self._signaled)
            os.close(signaling)


def _signal(worker: Worker, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker.pid, number)


def _end_with(supervisor: int) -> None:
    """Let Linux kill this process when the supervisor ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:  # it has ended before
            os._exit(_CRASHED)
