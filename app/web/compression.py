"""Compress responses for clients that accept gzip.

A strong ETag identifies bytes, so the compressed form has a different one, which ends in `-gzip`. When a client sends
this ETag back in If-Match or If-None-Match, the ending is removed for the application, because the version is the same.
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


def accepts_gzip(headers: Headers) -> bool:
    """Return whether a client that sends these headers can read gzip."""
    return "gzip" in headers.get("accept-encoding", "")


class Compression(GZipMiddleware):
    """Starlette's compression, skipped for clients that do not accept it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Compress the response if the client accepts gzip; always send `Vary`."""
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

        if accepts_gzip(given):
            await super().__call__(scope, receive, send_marked)
        else:
            await self.app(scope, receive, send_marked)


def _without_ending(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    ending = _COMPRESSED.encode()
    return ((name, value.replace(ending, b'"') if name in CONDITIONS else value) for name, value in headers)


def _mark(headers: MutableHeaders, status: int, known: str | None) -> None:
    """Set Vary and the ETag of a response; `known` is the If-None-Match header, None for methods that change data."""
    # Set without compression as well: a shared cache must not give the compressed form to clients that cannot read it.
    if "accept-encoding" not in headers.get("vary", "").lower():
        headers.add_vary_header("Accept-Encoding")
    tag = headers.get("etag", "")
    # The ETag in an answer to PUT is that of the stored version, not of the bytes of this answer.
    if known is None or not tag.startswith('"'):
        return
    compressed = f"{tag[:-1]}{_COMPRESSED}"
    is_compressed = headers.get("content-encoding") == "gzip"
    # A 304 has no body, but must have the ETag of the form that the client has stored (RFC 9110, section 15.4.5).
    if is_compressed or (status == _NOT_MODIFIED and compressed in known):
        headers["etag"] = compressed
