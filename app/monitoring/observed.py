"""The outermost middleware: it gives each request an identifier, counts it, and writes the access log."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import logs
from app.actor import ActorKind, current_actor
from app.monitoring.metrics import UNMATCHED, metrics
from app.settings import AccessLog

HEADER = b"x-request-id"
_SAFE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
QUIET_ROUTES = frozenset({"/healthz", "/readyz", "/metrics", "/static", "/assets/swagger-ui"})
"""Routes that are requested very often, or with every page. They are logged only if they fail, or on request."""
_STATE = "cfplan.observed"
_DEFECT = 500
_FAILED = 400

logger = logging.getLogger("cfplan.access")


@dataclass(slots=True)
class Observed:
    """Measurements of one request."""

    route: str = UNMATCHED
    status: int = _DEFECT
    """The status that was sent; the web server sends 500 if the application fails before it sends one."""
    received: int = 0
    sent: int = 0
    user: str | None = None
    address: str | None = None


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the identifier that the client sent, if it sent one that is short and safe, or else a new one."""
    given = [value for name, value in headers if name == HEADER]
    if len(given) == 1 and _SAFE_ID.fullmatch(given[0]):
        return given[0].decode("ascii")
    return secrets.token_hex(8)


class ObservedRequests:
    """Middleware around everything else, so that every answer has an identifier and is counted."""

    def __init__(self, app: ASGIApp, *, access_log: AccessLog) -> None:
        self.app = app
        self._access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and observe its end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = request_id_of(scope["headers"])
        header = (HEADER, request_id.encode())
        observed = Observed()

        async def observed_receive() -> Message:
            message = await receive()
            observed.received += len(message.get("body", b""))
            return message

        async def observed_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                observed.status = message["status"]
                _note_actor(observed)
                message = {**message, "headers": [*message.get("headers", ()), header]}
            else:
                observed.sent += len(message.get("body", b""))
            await send(message)

        began = perf_counter()
        counted = metrics()
        counted.in_flight.inc()
        with logs.in_request(request_id):
            try:
                await self.app({**scope, _STATE: observed}, observed_receive, observed_send)
            finally:
                counted.in_flight.dec()
                seconds = perf_counter() - began
                counted.count(
                    observed.route, scope["method"], observed.status,
                    seconds=seconds, received=observed.received, sent=observed.sent,
                )  # fmt: skip
                if self._is_logged(observed):
                    _log(scope, observed, seconds)

    def _is_logged(self, observed: Observed) -> bool:
        if self._access_log is AccessLog.ON:
            return observed.route not in QUIET_ROUTES or observed.status >= _FAILED
        return self._access_log is AccessLog.ALL


class RouteOfRequest:
    """The innermost middleware: it notes the route and the user, which are known only inside of the others."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note its route and its user."""
        observed: Observed | None = scope.get(_STATE)
        if observed is None:
            await self.app(scope, receive, send)
            return
        _note_actor(observed)
        try:
            await self.app(scope, receive, send)
        finally:
            observed.route = _route_of(scope)


def _route_of(scope: Scope) -> str:
    """Return the template of the route that answered, such as /api/v1/plans/{name}, or the path of mounted files."""
    route = scope.get("route")
    if route is not None:
        path: str = route.path
        return path
    mounted: str = scope["root_path"].removeprefix(scope.get("app_root_path", scope["root_path"]))
    return mounted or UNMATCHED


def _note_actor(observed: Observed) -> None:
    """Note the current actor as the user of the request, for the access log."""
    actor = current_actor()
    if actor.kind is not ActorKind.SERVICE:
        observed.user, observed.address = actor.name, actor.address


def _log(scope: Scope, observed: Observed, seconds: float) -> None:
    # The raw path is ASCII, and has no query: queries contain search words, and codes of the sign-in.
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
    client = scope.get("client")
    logger.info(
        "request",
        extra={
            logs.FIELDS: {
                "user": observed.user,
                "method": scope["method"],
                "path": raw.partition(b"?")[0].decode("latin-1"),
                "route": observed.route,
                "status": observed.status,
                "duration_ms": round(seconds * 1000, 1),
                "bytes": observed.sent,
                "address": observed.address or (client[0] if client else None),
            }
        },
    )
