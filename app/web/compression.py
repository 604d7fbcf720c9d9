"""Responses are compressed for clients that accept gzip; others do not pay for it.

A strong ETag belongs to bytes, and the compressed ones are others: theirs ends in `-gzip`. What a client sends back
in If-Match or If-None-Match is told to the application without that ending, which names the same version.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Message, Receive, Scope, Send

CONDITIONS = (b"if-match", b"if-none-match")
READING = ("GET", "HEAD")
_COMPRESSED = '-gzip"'
_NOT_MODIFIED = 304


class Compression(GZipMiddleware):
    """Starlette's compression, passed by when the client does not ask for it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Compress the response, or only say that there is a compressed one."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope)
        known = ", ".join(given.getlist("if-none-match")) if scope["method"] in READING else None
        scope = {**scope, "headers": list(_without_ending(scope["headers"]))}

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                _mark(headers, message["status"], known)
                message = {**message, "headers": headers.raw}
            await send(message)

        if "gzip" in given.get("accept-encoding", ""):
            await super().__call__(scope, receive, send_marked)
        else:
            await self.app(scope, receive, send_marked)


def _without_ending(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    ending = _COMPRESSED.encode()
    return ((name, value.replace(ending, b'"') if name in CONDITIONS else value) for name, value in headers)


def _mark(headers: MutableHeaders, status: int, known: str | None) -> None:
    """`known` are the ETags that a reader has already; None when nothing is read."""
    if "accept-encoding" not in headers.get("vary", "").lower():
        headers.add_vary_header("Accept-Encoding")
    tag = headers.get("etag", "")
    if known is None or not tag.startswith('"'):
        return
    compressed = f"{tag[:-1]}{_COMPRESSED}"
    is_compressed = headers.get("content-encoding") == "gzip"
    if is_compressed or (status == _NOT_MODIFIED and compressed in known):
        headers["etag"] = compressed
