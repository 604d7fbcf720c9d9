"""Limits on the CPU time of a call in this process, regardless of the speed of the machine and of other load on it."""

from __future__ import annotations

import gc
import signal
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TYPICAL_S = 0.023
"""CPU time of `_fixed_work` on the machine for which the limits of the tests are stated, with nothing beside it."""
MARGIN = 2
"""The speed of a machine differs during a call, and a reader whose work grows with the square of its text exceeds any margin."""
SHORT_S = 0.01

OF_PYTHON = gc.get_threshold()
"""Thresholds of garbage collection in the service. `tests/conftest.py` changes them only after it has imported all tests."""


class TooMuchCpu(AssertionError):
    """A call used more CPU time than allowed."""


@contextmanager
def as_the_service_collects() -> Iterator[None]:
    """Collect garbage as often as the service does, so that a call that creates more of it takes longer here as well."""
    before = gc.get_threshold()
    if gc.get_count()[0] > OF_PYTHON[0]:
        # What earlier tests left would otherwise be collected during the call, and counted as its time.
        gc.collect()
    gc.set_threshold(*OF_PYTHON)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _fixed_work() -> float:
    """Return the CPU seconds that this thread needs now for work like that of a reader."""
    before, seen = time.thread_time(), {}
    for number in range(100_000):
        seen[number & 1023] = f"{number}x"
    return time.thread_time() - before


def allowed_cpu_seconds(seconds: float) -> float:
    """Return the CPU time to allow on this machine now, with a margin, for a call that may take `seconds` on a typical one.

    A core that shares its caches and units with another busy core needs twice the CPU time for the same work.
    """
    slowness = statistics.median(_fixed_work() for _ in range(3)) / TYPICAL_S
    return seconds * MARGIN * max(slowness, 1)


@contextmanager
def at_most_cpu_seconds(seconds: float, what: str = "the call") -> Iterator[None]:
    """Fail as soon as the block has used more CPU time than allowed for these seconds, without waiting for its end.

    Only the main thread of a process may use this; the time of all threads counts.
    """
    start = 0.0

    def give_up(signal_number: int, frame: FrameType | None) -> None:
        used, allowed = time.process_time() - start, allowed_cpu_seconds(seconds)
        if frame is not None and frame.f_code.co_name == "gc_callback":
            # Hypothesis measures collections with this function; Python ignores errors raised in it.
            signal.setitimer(signal.ITIMER_PROF, SHORT_S)
        elif used >= allowed:
            message = f"{what} used more than {used:.1f} s of CPU ({seconds:g} s on a typical machine)"
            raise TooMuchCpu(message)
        else:
            signal.setitimer(signal.ITIMER_PROF, allowed - used)

    with as_the_service_collects():
        start = time.process_time()
        before = signal.signal(signal.SIGPROF, give_up)
        signal.setitimer(signal.ITIMER_PROF, seconds * MARGIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
