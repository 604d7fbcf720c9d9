"""Request bodies are bounded in size and in time while they stream in, whatever their Content-Length says."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSE = {"connection": "close"}
"""What is left of a refused body is not read: the connection ends with the answer."""
MOST_DIGITS = 18
"""Of a Content-Length that are looked at: more of them is too large in any case."""


class BoundedBody:
    """Ends the reading of a body that is too large (413) or too slow (408)."""

    def __init__(self, app: ASGIApp, max_bytes: int, timeout_s: float) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a `receive` that counts."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        is_announced_too_large = announced.isdigit() and int(announced[:MOST_DIGITS]) > self.max_bytes
        received_bytes = 0
        deadline: float | None = None
        is_complete = False

        async def bounded_receive() -> Message:
            nonlocal received_bytes, deadline, is_complete
            if is_complete:  # only the end of the connection is still to be heard of
                return await receive()
            if is_announced_too_large:  # nothing of it is read
                raise self._too_large()
            if deadline is None:
                deadline = asyncio.get_running_loop().time() + self.timeout_s
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                detail = f"The request body did not arrive within {self.timeout_s:g} seconds."
                raise HTTPException(408, detail, headers=CLOSE) from None
            received_bytes += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if received_bytes > self.max_bytes:
                raise self._too_large()
            return message

        await self.app(scope, bounded_receive, send)

    def _too_large(self) -> HTTPException:
        detail = f"The request body is larger than {self.max_bytes} bytes, the most this service takes."
        return HTTPException(413, detail, headers=CLOSE)
