"""The metrics of requests and database connections, which are counted as they happen."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy import event
from sqlalchemy.pool import Pool

from app.monitoring.registry import REGISTRY

UNMATCHED = "unmatched"
"""The route of requests that no route answered: unknown addresses, and requests that were refused before."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Counter(
    "cfplan_http_requests",
    "Requests that ended, by route, method and class of the status.",
    ("route", "method", "status"),
    registry=REGISTRY,
)
DURATION = Histogram(
    "cfplan_http_request_duration_seconds",
    "Time from the first byte of a request to the last byte of its answer, by route.",
    ("route",),
    buckets=BUCKETS_S,
    registry=REGISTRY,
)
IN_FLIGHT = Gauge(
    "cfplan_http_requests_in_flight",
    "Requests that are being answered.",
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
RECEIVED = Counter(
    "cfplan_http_request_bytes", "Bytes of request bodies, by route.", ("route",), registry=REGISTRY
)
SENT = Counter(
    "cfplan_http_response_bytes",
    "Bytes of response bodies as sent, by route.",
    ("route",),
    registry=REGISTRY,
)
OPEN = Gauge(
    "cfplan_database_connections_open",
    "Open connections to the database, in use or idle.",
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
IN_USE = Gauge(
    "cfplan_database_connections_in_use",
    "Connections to the database that a request or the service uses.",
    registry=REGISTRY,
    multiprocess_mode="livesum",
)


def count(route: str, method: str, status: int, *, seconds: float, received: int, sent: int) -> None:
    """Count a request that ended. All labels are bounded: routes are templates, never addresses."""
    known = method if method in METHODS else OTHER
    REQUESTS.labels(route, known, f"{status // 100}xx").inc()
    DURATION.labels(route).observe(seconds)
    if received:
        RECEIVED.labels(route).inc(received)
    SENT.labels(route).inc(sent)


def count_connections() -> None:
    """Count the connections of all pools of this process from now on."""
    for name, listener in _LISTENERS.items():
        if not event.contains(Pool, name, listener):
            event.listen(Pool, name, listener)


def _on_connect(_connection: object, _record: object) -> None:
    OPEN.inc()


def _on_close(_connection: object, _record: object) -> None:
    OPEN.dec()


def _on_checkout(_connection: object, _record: object, _proxy: object) -> None:
    IN_USE.inc()


def _on_checkin(_connection: object, _record: object) -> None:
    IN_USE.dec()


_LISTENERS = {
    "connect": _on_connect,
    "close": _on_close,
    "checkout": _on_checkout,
    "checkin": _on_checkin,
}
