"""Streams of messages, of which the one that is read ends only when all of its requests were answered.

The package `mcp` ends its server as soon as the input ends, and cancels the requests that it is working on. A script that
writes its requests to `cfplan mcp` and closes the input would not get the last answers.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_CANCELLED: Final = "notifications/cancelled"


class Unanswered:
    """The numbers of the requests that were read and are not answered yet."""

    def __init__(self) -> None:
        self._numbers: set[object] = set()
        self._changed = anyio.Event()

    def note(self, read: SessionMessage | Exception) -> None:
        """Note a request; a request that the client cancels gets no answer."""
        message = read.message if isinstance(read, SessionMessage) else None
        if isinstance(message, types.JSONRPCRequest):
            self._numbers.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
            self._settle((message.params or {}).get("requestId"))

    def note_sent(self, sent: SessionMessage) -> None:
        """Note that a request was answered, if this message is an answer."""
        if isinstance(sent.message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(sent.message.id)

    async def wait(self) -> None:
        """Return when all requests were answered or canceled."""
        while self._numbers:
            self._changed = anyio.Event()
            await self._changed.wait()

    def _settle(self, number: object) -> None:
        # A client may send anything as the number of the request that it cancels.
        if isinstance(number, int | str):
            self._numbers.discard(number)
            self._changed.set()


class _Stream:
    """A stream that is closed with the stream that it passes on."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception] | WriteStream[SessionMessage]) -> None:
        self._closed_with = stream

    async def aclose(self) -> None:
        await self._closed_with.aclose()

    async def __aenter__(self) -> Self:
        await self._closed_with.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._closed_with.__aexit__(kind, error, trace)


class ReadRequests(_Stream):
    """The messages of a client; after the last one, the end comes when all requests were answered."""

    def __init__(
        self, stream: ReadStream[SessionMessage | Exception], unanswered: Unanswered, *, patience_s: float
    ) -> None:
        """Pass on a stream.

        Args:
            stream: The stream.
            unanswered: The numbers of its requests.
            patience_s: Seconds after which the end comes although requests are not answered.
        """
        super().__init__(stream)
        self._stream = stream
        self._unanswered = unanswered
        self._patience_s = patience_s

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            read = await self._stream.__anext__()
        except StopAsyncIteration:
            with anyio.move_on_after(self._patience_s):
                await self._unanswered.wait()
            raise
        self._unanswered.note(read)
        return read

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class SentAnswers(_Stream):
    """The messages to a client."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        super().__init__(stream)
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        await self._stream.send(item)
        self._unanswered.note_sent(item)
