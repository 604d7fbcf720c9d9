"""Answer only requests that address this service by one of its names.

Another site can make its name resolve to 127.0.0.1 (DNS rebinding), so that browsers treat its pages and this service
as one origin. The Host header still contains the foreign name.
"""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.problem_types import MISDIRECTED_REQUEST
from app.web.problems import Problem, problem_response

ANY_HOST = "*"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.ASCII)


def host_name(header: str) -> str | None:
    """Return the name in a Host header without its port, or None if the header is malformed."""
    match = _HOST.fullmatch(header.lower())
    return match.group(1).rstrip(".") if match else None  # `example.com.` is the same name in DNS


def is_allowed(name: str, *, allowed: tuple[str, ...]) -> bool:
    """Return whether a host name is allowed; `.example.com` allows all names below it."""
    return any(
        entry in (ANY_HOST, name) or (entry.startswith(".") and name.endswith(entry)) for entry in allowed
    )


class AllowedHosts:
    """Middleware that refuses requests whose Host header is missing, repeated, malformed or names another host."""

    def __init__(self, app: ASGIApp, allowed: tuple[str, ...]) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        # With two Host headers, a proxy in front of the service may have checked the other one.
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is not None and is_allowed(name, allowed=self.allowed):
            await self.app(scope, receive, send)
            return
        shown = f"the host name {name}" if name else "a request without one valid Host header"
        detail = (
            f"The service does not answer to {shown}. Its operator can allow a name in CFPLAN_ALLOWED_HOSTS."
        )
        await problem_response(Request(scope), Problem(MISDIRECTED_REQUEST, detail))(scope, receive, send)
