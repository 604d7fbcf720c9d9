"""Limits on the CPU time of a call in this process, regardless of other load on the machine."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooMuchCpu(AssertionError):
    """A call used more CPU time than allowed."""


@contextmanager
def as_the_service_collects() -> Iterator[None]:
    """Exclude existing objects from garbage collection, as `app.main.keep_what_is_loaded` does in the service.

    A process that has run a thousand tests has several times the objects of the service, and scanning them would count as work of the call.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def at_most_cpu_seconds(seconds: float, what: str = "the call") -> Iterator[None]:
    """Fail as soon as the block has used more CPU time than this, without waiting for its end.

    Only the main thread of a process may use this; the time of all threads counts.
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
