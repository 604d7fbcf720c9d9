"""Streams of messages, of which the one that is read ends only when all of its requests were answered.

The package `mcp` ends its server as soon as the input ends, and cancels the requests that it is working on. A script that
writes its requests to `cfplan mcp` and closes the input would not get the last answers. The package also drops lines that
are no message of JSON-RPC, and a client would wait for the answer to such a request forever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import anyio
import mcp_types as types
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from app.assistants.lines import RequestNumber, number_in

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_CANCELLED: Final = "notifications/cancelled"
NO_JSON: Final = (
    "The line was not read: it is not JSON, is nested too deeply, or has a number of too many digits. Write each message as one "
    "line of JSON."
)
NO_MESSAGE: Final = (
    "The line is not one message of JSON-RPC 2.0, and was not read. Write one JSON object with the members jsonrpc, id, method "
    "and params in each line, not a list; id must be a text or a whole number."
)

Refuse = Callable[[RequestNumber, int, str], Awaitable[None]]
"""Sends an error with this code and message as the answer to a request."""


class Unanswered:
    """The numbers of the requests that were read and are not answered yet."""

    def __init__(self) -> None:
        # A client may use a number again before it was answered.
        self._numbers: Counter[types.RequestId] = Counter()
        self._changed = anyio.Event()

    @property
    def count(self) -> int:
        """The number of these requests."""
        return self._numbers.total()

    def note(self, read: SessionMessage | Exception) -> None:
        """Note a request; a request that the client cancels gets no answer."""
        message = read.message if isinstance(read, SessionMessage) else None
        if isinstance(message, types.JSONRPCRequest):
            self._numbers[coerce_request_id(message.id)] += 1
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
            self._settle((message.params or {}).get("requestId"))

    def note_sent(self, sent: SessionMessage) -> None:
        """Note that a request was answered, if this message is an answer."""
        if isinstance(sent.message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(sent.message.id)

    async def wait(self) -> None:
        """Return when all requests were answered or canceled."""
        while self.count:
            self._changed = anyio.Event()
            await self._changed.wait()

    def _settle(self, number: object) -> None:
        # A client may send anything as the number of the request that it cancels; the package treats "7" and 7 as one number.
        known = as_request_id(number)
        if known is None or coerce_request_id(known) not in self._numbers:
            return
        known = coerce_request_id(known)
        self._numbers[known] -= 1
        if not self._numbers[known]:
            del self._numbers[known]
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
        self,
        stream: ReadStream[SessionMessage | Exception],
        unanswered: Unanswered,
        refuse: Refuse,
        *,
        patience_s: float,
    ) -> None:
        """Pass on a stream.

        Args:
            stream: The stream.
            unanswered: The numbers of its requests.
            refuse: Answers a line that is no message.
            patience_s: Seconds after which the end comes although requests are not answered.
        """
        super().__init__(stream)
        self._refuse = refuse
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
        if isinstance(read, ValidationError):
            await self._refuse_line(read)
        self._unanswered.note(read)
        return read

    async def _refuse_line(self, error: ValidationError) -> None:
        """Answer a line that is no message under the number of its request, if it has one."""
        details = error.errors(include_url=False, include_context=False)
        for detail in details:
            line = detail["input"]
            if detail["type"] == "json_invalid" and isinstance(line, str):
                if line.strip():
                    await self._refuse(number_in(line.encode()), types.PARSE_ERROR, NO_JSON)
                return
        # Only the error of a missing member has the whole object.
        found = next((each["input"] for each in details if each["type"] == "missing"), None)
        # Without a method, it may be an answer, whose number is one of the server's.
        number = as_request_id(found.get("id")) if isinstance(found, dict) and "method" in found else None
        await self._refuse(number, types.INVALID_REQUEST, NO_MESSAGE)

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
