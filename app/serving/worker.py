"""One worker: a uvicorn server in its own process, which reports to the supervisor and can leave."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Sequence

import uvicorn
from anyio import to_thread

from app.calls import Overseer
from app.database.limits import CONNECTIONS, MORE_CONNECTIONS, WRITERS_AT_ONCE
from app.jobs.leader import Leader
from app.serving.supervisor import BEAT, LEAVING, SERVING

SHUTDOWN_S = 10
"""Seconds that running requests are given to finish when the service stops; without a limit, a client that follows a
job would delay the shutdown.
"""
END_REQUESTS_S = SHUTDOWN_S - 3
"""Seconds after which requests that still run are stopped. They need the rest to undo their work and to answer."""
ANSWER_S = END_REQUESTS_S + 1
"""Seconds after which stopped requests that still run are answered. The server would only cut them off after SHUTDOWN_S."""
STOP_S = SHUTDOWN_S + 5
"""Seconds that a worker has to end, with its background threads, before the supervisor kills it."""
BEAT_S = 1.0
STALE_S = 3.0
"""A worker whose event loop has not run for this time does not report that it works."""
DRAIN_S = 10.0
"""Seconds that other requests have left if a call in the process cannot be stopped."""
LINGER_S = 5.0
"""Seconds for which a leaving worker keeps idle connections, so that a request that is under way to it is answered."""
KEEP_ALIVE_S = 75
"""Seconds for which an idle connection stays open. A proxy in front of the service should close its own sooner, so that it
sends no request to a connection that is just being closed.
"""
THREADS = CONNECTIONS + MORE_CONNECTIONS
"""Number of threads for requests of all workers together: one for each connection that can read from the database."""
LEAST_THREADS, LEAST_WRITERS = 8, 2
"""Threads of a worker, and requests of a worker that write at the same time, however many workers there are."""

logger = logging.getLogger("cfplan.serve")


def threads_of_each(workers: int) -> int:
    """Return the number of threads for requests in each worker."""
    return max(math.ceil(THREADS / workers), LEAST_THREADS)


def writers_of_each(workers: int) -> int:
    """Return the number of requests in each worker that write at the same time; they leave most threads to readers."""
    return max(WRITERS_AT_ONCE // workers, LEAST_WRITERS)


class WorkerServer(uvicorn.Server):
    """A server that tells the supervisor how it is, and can leave without cutting off requests."""

    def __init__(
        self, config: uvicorn.Config, link: socket.socket, *, overseer: Overseer, leader: Leader, workers: int
    ) -> None:
        """Prepare the server.

        Args:
            config: The configuration, with the application.
            link: The socket to the supervisor.
            overseer: Limits the work of requests; it reports calls that were stopped.
            leader: Runs the duties of one of the workers.
            workers: The number of workers, which share the threads.
        """
        super().__init__(config)
        self._link = link
        self._overseer = overseer
        self._leader = leader
        self._threads = threads_of_each(workers)
        self._ticked_at: float | None = None
        self._leaves_at: float | None = None
        self._ends_at = math.inf
        self._has_closed = False
        overseer.on_stopped = self.leave

    def serve_until_the_end(self, sockets: Sequence[socket.socket]) -> int:
        """Serve, and return the exit code."""
        is_over = False

        def end(_number: int, _frame: object) -> None:
            # uvicorn raises the signal again after it has stopped.
            if not is_over:
                os._exit(0)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        threading.Thread(target=self._beat, name="cfplan-beat", daemon=True).start()
        threading.Thread(target=self._await_supervisor, name="cfplan-supervisor", daemon=True).start()
        original = self._serve

        async def serve_once(sockets: list[socket.socket] | None = None) -> None:
            nonlocal is_over
            try:
                await original(sockets)
            finally:
                is_over = True

        self._serve = serve_once  # type: ignore[method-assign]
        self.run(list(sockets))
        return 0

    def leave(self, is_stuck: bool) -> None:
        """Accept no more connections, and end after the last request; other threads may call this.

        Args:
            is_stuck: Whether a call in this process cannot be stopped, so that it must end soon in any case.
        """
        if is_stuck:
            self._ends_at = min(self._ends_at, time.monotonic() + DRAIN_S)
        if self._leaves_at is None:
            self._leaves_at = time.monotonic()
            self._tell(LEAVING)
            # A library may be in an undefined state, so this process takes on nothing else. In a thread, because the duties
            # end what they are doing first.
            threading.Thread(target=self._leader.stop, name="cfplan-step-down", daemon=True).start()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, and report it."""
        to_thread.current_default_thread_limiter().total_tokens = self._threads
        await super().startup(sockets)
        if self.started:
            self._tell(SERVING)

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server ends now; called ten times per second."""
        now = self._ticked_at = time.monotonic()
        if self._leaves_at is not None:
            if now > self._ends_at or self._only_stuck_remain():
                logger.error("This process ends because a call in it cannot be stopped.")
                logging.shutdown()
                os._exit(0)
            if self._is_done(now):
                return True
        return await super().on_tick(counter)

    def _is_done(self, now: float) -> bool:
        """Return whether a leaving server has nothing left to do."""
        if not self._has_closed:
            self._has_closed = True
            for server in self.servers:
                server.close()
        if self._leaves_at is not None and now - self._leaves_at > LINGER_S:
            for connection in list(self.server_state.connections):
                connection.shutdown()  # closes only idle ones
        return not self.server_state.connections and not self.server_state.tasks

    def _only_stuck_remain(self) -> bool:
        """Return whether the only requests in progress are calls that cannot be stopped, and whose clients have an answer."""
        given_up = self._overseer.given_up & self._overseer.requests
        return bool(given_up) and self._has_closed and len(self.server_state.tasks) <= len(given_up)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let requests finish; stop those that do not, so that they undo their work and answer that the service stops."""
        self._ticked_at = None
        self._overseer.is_stopping = True
        loop = asyncio.get_running_loop()
        timers = (
            loop.call_later(END_REQUESTS_S, self._overseer.end_requests),
            loop.call_later(ANSWER_S, self._overseer.answer_stopped),
        )
        try:
            await super().shutdown(sockets)
        finally:
            for timer in timers:
                timer.cancel()

    def _beat(self) -> None:
        """Report regularly that this process works: its threads run, and its event loop answers."""
        while True:
            ticked_at = self._ticked_at
            if ticked_at is None or time.monotonic() - ticked_at < STALE_S:
                self._tell(BEAT)
            time.sleep(BEAT_S)

    def _await_supervisor(self) -> None:
        """Stop the server when the supervisor has ended without stopping this process."""
        try:
            while self._link.recv(1):
                pass
        except OSError:
            pass
        logger.error("The supervisor has ended, so worker %d stops.", os.getpid())
        self.should_exit = True
        time.sleep(STOP_S)
        os._exit(0)

    def _tell(self, message: bytes) -> None:
        try:
            self._link.send(message)
        except OSError:  # the supervisor has ended
            return
