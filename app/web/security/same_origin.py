"""Accept requests with an unsafe method only from this service's own pages and from programs.

Browsers state the origin of a request, other clients do not, so no token is needed:

1. GET, HEAD and OPTIONS pass: they change nothing.
2. With a Sec-Fetch-Site header, `same-origin` and `none` (typed or reloaded by the user) pass; all others are refused.
3. Without it, an Origin header must name the host and port that the Host header names. `null` is refused, and so is an
   origin with http if the request uses https: anyone on the network can put a page there. The opposite passes, because a proxy
   with TLS that is not in the settings hides that the request uses it.
4. With neither, the client is not a browser (curl, a script) and passes: no site can make a browser omit both.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.problem_types import CROSS_ORIGIN
from app.web.problems import Problem, problem_response

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
DEFAULT_PORTS = {"http": 80, "https": 443}


def is_same_origin(*, site: str | None, origin: str | None, host: str | None, scheme: str = "http") -> bool:
    """Return whether the headers Sec-Fetch-Site, Origin and Host of a request show an allowed origin.

    `scheme` is that of the request, as far as it is known.
    """
    if site is not None:
        return site in ("same-origin", "none")
    if origin is None:
        return True
    try:
        source, target = urlsplit(origin), urlsplit(f"//{host}")
        # Origin omits the default port of its scheme, Host may state it.
        default = DEFAULT_PORTS.get(source.scheme)
        if scheme == "https" and source.scheme != "https":
            return False
        return source.hostname is not None and (source.hostname, source.port or default) == (
            target.hostname,
            target.port or default,
        )
    except ValueError:  # an invalid port
        return False


class SameOrigin:
    """Middleware that refuses requests with an unsafe method from pages of other origins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403."""
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        headers = request.headers
        if is_same_origin(
            site=headers.get("sec-fetch-site"),
            origin=headers.get("origin"),
            host=headers.get("host"),
            scheme=scope["scheme"],
        ):
            await self.app(scope, receive, send)
            return
        detail = (
            "A browser sent this request on behalf of a page of another site, so it "
            "was refused. Open the form on this service and submit it from there."
        )
        await problem_response(request, Problem(CROSS_ORIGIN, detail))(scope, receive, send)
