"""Bounds on the CPU time of a call: of this process, whatever else the machine does."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooMuchCpu(AssertionError):
    """A call used more CPU time than it may."""


@contextmanager
def as_the_service_collects() -> Iterator[None]:
    """Spare what was there before from garbage collection, as `app.main.keep_what_is_loaded` does in the service.

    A process that has run a thousand tests holds several times the service's objects, and looking through them would
    count as work of the call.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def at_most_cpu_seconds(seconds: float, what: str = "the call") -> Iterator[None]:
    """Fail as soon as what is inside has used more CPU time than this, instead of waiting for it to end.

    The main thread of a process calls this; the time of all its threads counts.
    """

    def give_up(signal_number: int, frame: FrameType | None) -> None:
        message = f"{what} used more than {seconds:g} s of CPU"
        raise TooMuchCpu(message)

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with as_the_service_collects():
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
