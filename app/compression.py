"""Responses are compressed for clients that accept gzip; others do not pay for it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Message, Receive, Scope, Send

VARY = (b"vary", b"Accept-Encoding")


class Compression(GZipMiddleware):
    """Starlette's compression, passed by when the client does not ask for it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Compress the response, or only say that there is a compressed one."""
        if scope["type"] != "http" or "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            await super().__call__(scope, receive, send)
            return

        async def send_as_it_is(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), VARY]
            await send(message)

        await self.app(scope, receive, send_as_it_is)
