"""The address of clients, and their use of TLS, as the reverse proxies in the settings report them.

Without this, every client of a proxy would have the proxy's address. With the headers of any other client, everyone could
choose an address.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_TRUSTED = "cfplan.from_trusted_proxy"


class ProxyHeaders:
    """Middleware that sets address and scheme of a request from X-Forwarded-For and X-Forwarded-Proto of trusted proxies."""

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        # uvicorn's own server would use it too, but trusts 127.0.0.1 by default.
        self.proxied = ProxyHeadersMiddleware(app, trusted_hosts=list(trusted))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note whether a trusted proxy sent it."""
        if scope["type"] != "lifespan":
            scope[_TRUSTED] = (scope.get("client") or ("",))[0] in self.proxied.trusted_hosts
        await self.proxied(scope, receive, send)  # type: ignore[arg-type]


def is_from_trusted_proxy(scope: Scope) -> bool:
    """Return whether the connection of a request comes from a trusted proxy."""
    return bool(scope.get(_TRUSTED, False))
