"""A pause of Python's garbage collector while a large document is read or calculated."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LARGE_CHARACTERS: Final = 200_000
"""The length of a document from which pausing saves more time than it costs: about 1,000 queues."""
_CHARACTERS_PER_QUEUE = 200
_pausing = threading.Lock()


def characters_of(queues: int) -> int:
    """Return roughly the length of a document with this number of queues, for `collection_paused`."""
    return _CHARACTERS_PER_QUEUE * queues


@contextmanager
def collection_paused(characters: int = LARGE_CHARACTERS) -> Iterator[None]:
    """Pause the garbage collector for the block, unless the document is small or another thread has already paused it.

    While a document is read, the collector searches its growing objects hundreds of times, which takes as long as the
    validation; none of them is garbage.
    """
    # Only one block pauses, so the collector runs between two blocks even if requests overlap all the time. Permanently
    # higher thresholds would be simpler, but a few objects in a cycle can hold megabytes, such as a refused document in
    # a traceback, and thousands of requests could then fill the memory.
    is_pausing = characters >= LARGE_CHARACTERS and gc.isenabled() and _pausing.acquire(blocking=False)
    if not is_pausing:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        _pausing.release()
