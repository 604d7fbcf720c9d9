"""Lines of standard input with a maximum length, so that a client cannot fill the memory with one line."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import BinaryIO, Final, Self

import anyio
from anyio import to_thread

_HEAD_BYTES: Final = 1_000
_CHUNK_BYTES: Final = 2**16
# A request states its number before its parameters; only short members may come first.
_NUMBER = re.compile(
    rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*"id"\s*:\s*(?:([0-9]{1,18})|"([^"\\]{1,100})")\s*,'
)
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
# A pair of surrogates, half of a pair (the group), or another escape, whose backslash could precede the letter u.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

RequestNumber = int | str | None
Refuse = Callable[[RequestNumber], Awaitable[None]]


class BoundedLines:
    """The lines of a stream as text, without those that are too long."""

    def __init__(self, stream: BinaryIO, *, most_bytes: int) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._refuse: Refuse | None = None
        self._can_refuse = anyio.Event()

    def refuse_by(self, refuse: Refuse) -> None:
        """Set the function that answers a line that is too long; it gets the number of its request, if it is known."""
        self._refuse = refuse
        self._can_refuse.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        """Return the next line."""
        while True:
            line = await to_thread.run_sync(self._read)
            if not line:
                raise StopAsyncIteration
            if len(line) <= self._most_bytes:
                return line.decode("utf-8", "replace")
            await self._can_refuse.wait()
            if self._refuse is not None:
                await self._refuse(number_in(line))

    def _read(self) -> bytes:
        """Return the next line; of one that is too long, only its beginning, and skip the rest."""
        line = self._stream.readline(self._most_bytes + 1)
        if len(line) > self._most_bytes:
            part = line
            while part and not part.endswith(b"\n"):
                part = self._stream.readline(_CHUNK_BYTES)
            return line
        return _without_halves(line)


def _without_halves(line: bytes) -> bytes:
    """Replace halves of surrogate pairs, like bytes that are not UTF-8: the reader of the protocol would drop the line.

    A client would then wait for the answer forever.
    """
    if not _SURROGATE.search(line):
        return line
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], line)


def number_in(line: bytes) -> RequestNumber:
    """Return the number of the request that a line contains; None if it cannot be seen without reading all of it."""
    found = _NUMBER.match(line[:_HEAD_BYTES])
    if found is None:
        return None
    return int(found[1]) if found[1] is not None else found[2].decode("utf-8", "replace")
