"""Calls in threads on behalf of requests: their CPU time is counted, and they can be stopped.

Starlette and FastAPI run synchronous endpoints, dependencies and streams with `anyio.to_thread.run_sync`, and so does
cfplan's own code. `install` replaces this function, so that a new route is limited without doing anything for it. Outside of
requests, the replacement calls the original.

A call that must end gets an exception raised in its thread. This exception is not a subclass of `Exception`, so that no
handler for errors stops it: `finally` blocks run and transactions are rolled back. At the end of the call it becomes a
`PlannerError`, which the client receives as a problem.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import Any

import anyio.lowlevel
import anyio.to_thread

from app.database.transactions import COMMITTING
from app.problem_types import CPU_LIMIT, SERVICE_STOPPING
from planner_core.errors import PlannerError
from planner_core.garbage import one_pause

LOOKS_EVERY_S = 0.2
"""Interval at which the CPU time of running calls is read."""
NS = 1_000_000_000
BODY_BYTES_PER_S = 32 * 2**20
"""Body bytes that extend the limit of a request by one second. Writing and hashing an upload takes CPU time for every byte,
but less than a tenth of this.
"""
CLEANUP_S = 5.0
"""CPU seconds that the end of a transaction may take, even if the request has used up its limit."""
GRACE_S = 3.0
"""Seconds in which a stopped call must end. Code in C notices the exception only when it returns."""

logger = logging.getLogger("cfplan.requests")


class CallStopped(BaseException):
    """Raised in the thread of a call that must end."""


class CpuLimitExceeded(PlannerError):
    """A request used more CPU time than one request may use."""

    problem = CPU_LIMIT
    headers = {"retry-after": "60"}  # noqa: RUF012 - never changed


class ServiceStopping(PlannerError):
    """A request did not end before the service stopped."""

    problem = SERVICE_STOPPING
    headers = {"retry-after": "5"}  # noqa: RUF012 - never changed


class RequestWork:
    """The work of one request in threads."""

    __slots__ = (
        "_finish",
        "_spent_ns",
        "body_bytes",
        "calls",
        "has_committed",
        "is_stopped",
        "overseer",
        "task",
    )

    def __init__(self, overseer: Overseer, finish: Callable[[PlannerError], None]) -> None:
        """Begin the work of the current task.

        Args:
            overseer: Limits the work.
            finish: Answers the request with an error, regardless of what its task waits for; called on the event loop.
        """
        self.overseer = overseer
        self._finish: Callable[[PlannerError], None] | None = finish
        self.task = asyncio.current_task()
        self.calls: set[Call] = set()
        self.body_bytes = 0
        self.has_committed = False
        self.is_stopped = False
        self._spent_ns = 0

    @property
    def used_ns(self) -> int:
        """CPU time [ns] of all calls so far."""
        return self._spent_ns + sum(call.used_ns for call in tuple(self.calls))

    @property
    def allowed_ns(self) -> int:
        """CPU time [ns] that the request may use."""
        return int((self.overseer.limit_s + self.body_bytes / BODY_BYTES_PER_S) * NS)

    def count(self, call: Call, used_ns: int) -> None:
        """Add the CPU time of a call that has ended."""
        self._spent_ns += used_ns
        self.calls.discard(call)

    def error(self) -> PlannerError:
        """Return the reason why the request was stopped."""
        stored = (
            "Changes that it had committed before are stored."
            if self.has_committed
            else "Nothing was stored."
        )
        if self.overseer.is_ending:
            return ServiceStopping(
                f"The service is stopping, and this request did not end in time. {stored} Try again."
            )
        limit = f"{self.allowed_ns / NS:.3g}"
        return CpuLimitExceeded(
            f"The request was stopped because it had used {limit} seconds of processor time, the limit of this service "
            f"for one request. {stored} Ask for less at a time, for example a smaller plan, fewer texts or fewer changes; "
            "the operator can raise the limit with CFPLAN_REQUEST_CPU_S."
        )

    def give_up(self) -> None:
        """Answer the request now; its thread cannot be stopped."""
        if self._finish is not None:
            self._finish(self.error())

    def close(self) -> None:
        """Release what the request holds. Garbage collection would otherwise have to find it."""
        self._finish = self.task = None

    def end(self) -> None:
        """Stop the work because the service stops: running calls, or else the task, which waits for its client."""
        self.is_stopped = True
        calls = tuple(self.calls)
        for call in calls:
            call.stop()
        if not calls and self.task is not None:
            self.task.cancel()


class Call:
    """One call in a thread."""

    __slots__ = (
        "_allowed_ns", "_clock", "_function", "_has_ended", "_is_counted", "_is_protected", "_lock", "_start_ns",
        "_thread", "is_cleanup", "stopped_at", "work",
    )  # fmt: skip

    def __init__(self, work: RequestWork, function: Callable[..., Any]) -> None:
        self.work = work
        self._function = function
        # The end of a dependency, such as a transaction, must run in any case; otherwise its connection would stay busy.
        self.is_cleanup = getattr(function, "__name__", "") == "__exit__"
        self._lock = threading.Lock()
        self._has_ended = self._is_counted = self._is_protected = False
        self.stopped_at: float | None = None
        self._thread = 0
        self._clock: Callable[[], int] = time.thread_time_ns
        self._start_ns = self._allowed_ns = 0

    def run(self, *args: Any) -> Any:  # noqa: ANN401 - as the function
        """Call the function in this thread, and raise the reason if it was stopped."""
        COMMITTING.set(self.uninterrupted_commit)  # in the context of this call
        try:
            try:
                self._begin()
                with one_pause():
                    return self._function(*args)
            finally:
                self._end()
        except CallStopped:
            # It may have been raised within _end. It is raised once at most, so this time _end completes.
            self._end()
            raise self.work.error() from None

    @property
    def used_ns(self) -> int:
        """CPU time [ns] of the call so far; 0 after its end."""
        with self._lock:
            return 0 if self._has_ended or not self._thread else self._clock() - self._start_ns

    @property
    def is_over_limit(self) -> bool:
        """Whether the call has used up the time of its request."""
        return self.work.used_ns > max(self.work.allowed_ns, self._allowed_ns)

    def stop(self) -> bool:
        """Raise CallStopped in the thread of the call, unless it has ended or must not be interrupted now.

        Call this from another thread. Returns whether the call is being stopped.
        """
        with self._lock:
            if self.stopped_at is None:
                if self._has_ended or self._is_protected or not self._thread:
                    return False
                self.stopped_at = time.monotonic()
                _raise_in_thread(self._thread, CallStopped)
            return True

    @contextlib.contextmanager
    def uninterrupted_commit(self) -> Iterator[None]:
        """Let a commit complete, and note it for `error`. A call that is being stopped ends before the commit."""
        with self._lock:
            is_stopped = self.stopped_at is not None
            self._is_protected = not is_stopped
        if is_stopped:
            _await_pending()
            raise CallStopped
        try:
            yield
            self.work.has_committed = True
        finally:
            self._is_protected = False

    def _begin(self) -> None:
        if self.work.is_stopped and not self.is_cleanup:
            raise self.work.error()
        thread = threading.get_ident()
        self._clock = thread_clock(thread)
        self._start_ns = self._clock()
        if self.is_cleanup:
            self._allowed_ns = self.work.used_ns + int(CLEANUP_S * NS)
        self.work.calls.add(self)
        self._thread = thread  # from now on, the call can be stopped

    def _end(self) -> None:
        with self._lock:
            self._has_ended = True
        # From here on, `stop` does nothing. What it has raised before must not reach the next call of this thread.
        if self.stopped_at is not None:
            with contextlib.suppress(CallStopped):
                _await_pending()
        if self._thread and not self._is_counted:
            self._is_counted = True
            self.work.count(self, self._clock() - self._start_ns)


WORK: ContextVar[RequestWork | None] = ContextVar("work of the request", default=None)
"""The request on whose behalf calls are made; None for calls that are not limited."""


class Overseer:
    """A thread that stops the calls of requests that have used too much CPU time."""

    def __init__(self, limit_s: float) -> None:
        """Store the limit for one request; 0 means no limit."""
        self.limit_s = limit_s
        self.requests: set[RequestWork] = set()
        self.is_stopping = False
        """Whether the service is stopping: streams end, and clients must not reuse their connections."""
        self.is_ending = False
        """Whether the time of requests to end by themselves is over."""
        self.is_leaving = False
        """Whether this process is being replaced, because it has stopped a call."""
        self.on_stopped: Callable[[bool], None] = lambda _is_stuck: None
        """Called from the thread when a call was stopped; the argument states whether it does not end."""
        self.given_up: set[RequestWork] = set()
        """Requests that were answered although their calls do not end."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless there is no limit. Call this from the event loop."""
        self.is_stopping = self.is_ending = self.is_leaving = False
        self._loop = asyncio.get_running_loop()
        if self.limit_s and self._thread is None:
            self._wake.clear()
            self._thread = threading.Thread(target=self._watch, name="cfplan-cpu", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        if self._thread is not None:
            self._wake.set()
            self._thread.join()
            self._thread = None

    def end_requests(self) -> None:
        """Stop the work of all requests, because the service stops. Call this from the event loop."""
        self.is_stopping = self.is_ending = True
        for work in tuple(self.requests):
            work.end()

    def answer_stopped(self) -> None:
        """Answer requests whose calls were stopped but do not end, such as a query. Call this from the event loop.

        A call that was stopped cannot commit any more, so the answer that nothing was stored stays true.
        """
        for work in tuple(self.requests):
            calls = tuple(work.calls)
            if calls and all(call.stopped_at is not None for call in calls):
                self.given_up.add(work)
                work.give_up()

    def _watch(self) -> None:
        while not self._wake.wait(LOOKS_EVERY_S):
            for work in tuple(self.requests):
                for call in tuple(work.calls):
                    self._look(call)

    def _look(self, call: Call) -> None:
        if call.stopped_at is None:
            if call.is_over_limit and call.stop():
                call.work.is_stopped = self.is_leaving = True
                logger.error(
                    "A request was stopped: it used more than %g s of CPU time.", call.work.allowed_ns / NS
                )
                self.on_stopped(False)
        elif time.monotonic() - call.stopped_at > GRACE_S and call.work not in self.given_up:
            self.given_up.add(call.work)
            logger.error("A request that was stopped does not end, so this process ends.")
            if self._loop is not None:
                self._loop.call_soon_threadsafe(call.work.give_up)
            self.on_stopped(True)


def thread_clock(thread: int) -> Callable[[], int]:
    """Return a function that reads the CPU time [ns] of a thread from any thread."""
    if hasattr(time, "pthread_getcpuclockid"):
        return functools.partial(time.clock_gettime_ns, time.pthread_getcpuclockid(thread))
    # Without clocks of threads (macOS, Windows), the smaller of two upper bounds: the time that has passed, and the CPU
    # time of the whole process.
    wall, process = time.monotonic_ns(), time.process_time_ns()
    return lambda: min(time.monotonic_ns() - wall, time.process_time_ns() - process)


def _raise_in_thread(thread: int, error: type[BaseException]) -> None:
    """Raise an exception in a thread as soon as it runs Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _await_pending() -> None:
    """Raise the exception that another thread has raised in this one, if it is still pending.

    Taking it back instead would leave the interpreter's flag for pending events set, which slows down all threads.
    """
    for _ in range(100):  # the interpreter looks for pending exceptions at the end of each round
        pass


_RunSync = Callable[..., Awaitable[Any]]


def install() -> None:
    """Run the calls of requests through `Call`. Calling this again does nothing."""
    original: _RunSync = anyio.to_thread.run_sync
    if getattr(original, "counts_cpu", False):
        return

    @functools.wraps(original)
    async def run_sync(function: Callable[..., Any], *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as the original
        work = WORK.get()
        if work is None:
            return await original(function, *args, **options)
        return await original(Call(work, function).run, *args, **options)

    run_sync.counts_cpu = True  # type: ignore[attr-defined]
    anyio.to_thread.run_sync = run_sync  # type: ignore[assignment]
