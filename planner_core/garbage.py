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


class _Call(threading.local):
    """The call that `one_pause` marks in a thread."""

    is_open = False
    pauses = False


_call = _Call()


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
    if _call.is_open:
        # `one_pause` ends it.
        _call.pauses = True
        yield
        return
    try:
        yield
    finally:
        gc.enable()
        _pausing.release()


@contextmanager
def one_pause() -> Iterator[None]:
    """Let the first pause in the block last until the end of the block.

    A call that reads a large document and then calculates its plan pauses several times. After each pause, the collector
    would search all objects of the document, and find them in use.
    """
    if _call.is_open:
        yield
        return
    _call.is_open = True
    try:
        yield
    finally:
        _call.is_open = False
        if _call.pauses:
            _call.pauses = False
            gc.enable()
            _pausing.release()
