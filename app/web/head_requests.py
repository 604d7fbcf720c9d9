"""Answer HEAD like GET, with the same headers and no body (RFC 9110, section 9.3.2)."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_WAS_HEAD = "cfplan.was_head"


def is_head(scope: Scope) -> bool:
    """Return whether the client sent HEAD, which the routes see as GET."""
    return bool(scope.get(_WAS_HEAD, False))


class HeadAsGet:
    """Middleware that passes HEAD requests to the routes as GET and removes the body of the response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with HEAD as GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET", _WAS_HEAD: True}, receive, send_without_body)
