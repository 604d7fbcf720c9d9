"""Limit the size and duration of request bodies while they arrive, regardless of their Content-Length."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSE = {"connection": "close"}
"""Sent with refused requests, because the rest of their body is not read and the connection must end."""
MOST_DIGITS = 18
"""Maximum number of digits of a Content-Length that are read; a longer number is too large in any case."""


class Streams(NamedTuple):
    """The addresses that accept large files, which are written to disk in pieces, and their limits."""

    paths: frozenset[str]
    max_bytes: int
    stall_s: float
    """Maximum number of seconds without a byte. The total time depends on the length of the file and on the network."""


class BoundedBody:
    """Middleware that stops reading a body that is too large (413) or too slow (408)."""

    def __init__(
        self, app: ASGIApp, max_bytes: int, timeout_s: float, streams: Streams | None = None
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.timeout_s = timeout_s
        self.streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a `receive` that limits size and time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_stream = (
            self.streams is not None
            and scope["method"] == "POST"
            and scope["path"].removeprefix(scope.get("root_path", "")) in self.streams.paths
        )
        max_bytes = self.streams.max_bytes if self.streams is not None and is_stream else self.max_bytes
        timeout_s = self.streams.stall_s if self.streams is not None and is_stream else self.timeout_s
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        is_announced_too_large = announced.isdigit() and int(announced[:MOST_DIGITS]) > max_bytes
        received_bytes = 0
        deadline: float | None = None
        is_complete = False

        async def bounded_receive() -> Message:
            nonlocal received_bytes, deadline, is_complete
            if is_complete:  # the next message can only be the end of the connection
                return await receive()
            if is_announced_too_large:  # refuse it without reading any of it
                raise self._too_large(max_bytes)
            # An upload may take hours if its pieces arrive in time. Other bodies have one deadline, because a client that
            # sends a byte now and then could hold its connection forever.
            if deadline is None or is_stream:
                deadline = asyncio.get_running_loop().time() + timeout_s
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                detail = (
                    f"No data of the upload arrived for {timeout_s:g} seconds; the partial upload was discarded."
                    if is_stream
                    else f"The request body did not arrive within {timeout_s:g} seconds."
                )
                raise HTTPException(408, detail, headers=CLOSE) from None
            received_bytes += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if received_bytes > max_bytes:
                raise self._too_large(max_bytes)
            return message

        await self.app(scope, bounded_receive, send)

    def _too_large(self, max_bytes: int) -> HTTPException:
        detail = f"The request body is larger than {max_bytes} bytes, the limit of this service."
        return HTTPException(413, detail, headers=CLOSE)
