"""Limit the size and duration of request bodies while they arrive, regardless of their Content-Length.

Bodies are small unless the reader of a route says otherwise, before it reads: `accept_document` for plans, policies and
similar texts, `accept_file` for uploads. A new route therefore has the small limit without doing anything for it. FastAPI
parses JSON bodies with parameters on the event loop, so a large one would delay all other requests.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner_core.units import MIB

CLOSE = {"connection": "close"}
"""Sent with refused requests, because the rest of their body is not read and the connection must end."""
MOST_DIGITS = 18
"""Maximum number of digits of a Content-Length that are read; a longer number is too large in any case."""


SMALL_BYTES: Final = MIB
"""Limit of bodies that are neither a document nor a file: parameters of a change, and fields of a form."""
_STATE = "cfplan.body"


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The limits of an installation."""

    document_bytes: int
    """Limit of plans, policies and similar texts."""
    document_timeout_s: float
    """Seconds in which a whole body must arrive, unless it is a file."""
    file_bytes: int
    """Limit of uploads, which are written to disk in pieces."""
    file_stall_s: float
    """Maximum number of seconds without a byte. The total time depends on the length of the file and on the network."""


class _Limit:
    """The limit of one request."""

    __slots__ = ("is_file", "limits", "max_bytes", "timeout_s")

    def __init__(self, limits: BodyLimits) -> None:
        self.limits = limits
        self.max_bytes = min(SMALL_BYTES, limits.document_bytes)
        self.timeout_s = limits.document_timeout_s
        self.is_file = False


def accept_document(request: Request) -> None:
    """Let the body of a request be as large as a plan, a policy or a similar text. Call this before reading it."""
    limit: _Limit | None = request.scope.get(_STATE)
    if limit is not None:
        limit.max_bytes = limit.limits.document_bytes


def accept_file(request: Request) -> None:
    """Let the body of a request be as large as an upload. Call this before reading it."""
    limit: _Limit | None = request.scope.get(_STATE)
    if limit is not None:
        limit.max_bytes, limit.timeout_s = limit.limits.file_bytes, limit.limits.file_stall_s
        limit.is_file = True


class BoundedBody:
    """Middleware that stops reading a body that is too large (413) or too slow (408)."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a `receive` that limits size and time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = scope[_STATE] = _Limit(self.limits)
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        announced_bytes = int(announced[:MOST_DIGITS]) if announced.isdigit() else 0
        received_bytes = 0
        deadline: float | None = None
        is_complete = False

        async def bounded_receive() -> Message:
            nonlocal received_bytes, deadline, is_complete
            if is_complete:  # the next message can only be the end of the connection
                return await receive()
            if announced_bytes > limit.max_bytes:  # refuse it without reading any of it
                raise _too_large(limit)
            # An upload may take hours if its pieces arrive in time. Other bodies have one deadline, because a client that
            # sends a byte now and then could hold its connection forever.
            if deadline is None or limit.is_file:
                deadline = asyncio.get_running_loop().time() + limit.timeout_s
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                detail = (
                    f"No data of the upload arrived for {limit.timeout_s:g} seconds; the partial upload was discarded."
                    if limit.is_file
                    else f"The request body did not arrive within {limit.timeout_s:g} seconds."
                )
                raise HTTPException(408, detail, headers=CLOSE) from None
            received_bytes += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if received_bytes > limit.max_bytes:
                raise _too_large(limit)
            return message

        await self.app(scope, bounded_receive, send)


def _too_large(limit: _Limit) -> HTTPException:
    if limit.is_file:
        whose = "the limit for uploads (CFPLAN_MAX_UPLOAD_BYTES). Split the file"
    elif limit.max_bytes == limit.limits.document_bytes:
        whose = "the limit of this service (CFPLAN_MAX_BODY_BYTES). Send less at a time, or ask its operator to raise the limit"
    else:
        whose = "the limit for requests without a plan, a policy or a similar text. Send less at a time"
    detail = f"The request body is larger than {limit.max_bytes} bytes, {whose}."
    return HTTPException(413, detail, headers=CLOSE)
