"""The metrics of requests and database connections, which are counted as they happen."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from sqlalchemy import event
from sqlalchemy.pool import Pool

UNMATCHED = "unmatched"
"""The route of requests that no route answered: unknown addresses, and requests that were refused before."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The metrics that a process counts itself."""

    def __init__(self) -> None:
        # Unlike the library's default registry, it contains only these.
        registry = self.registry = CollectorRegistry()
        self.requests = Counter(
            "cfplan_http_requests",
            "Requests that ended, by route, method and class of the status.",
            ("route", "method", "status"),
            registry=registry,
        )
        self.duration = Histogram(
            "cfplan_http_request_duration_seconds",
            "Time from the start of a request to the last byte of its answer, by route.",
            ("route",),
            buckets=BUCKETS_S,
            registry=registry,
        )
        self.in_flight = Gauge(
            "cfplan_http_requests_in_flight",
            "Requests that are being answered.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.received = Counter(
            "cfplan_http_request_bytes", "Bytes of request bodies, by route.", ("route",), registry=registry
        )
        self.sent = Counter(
            "cfplan_http_response_bytes",
            "Bytes of response bodies as sent, by route.",
            ("route",),
            registry=registry,
        )
        self.connections_open = Gauge(
            "cfplan_database_connections_open",
            "Open connections to the database, in use or idle.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.connections_in_use = Gauge(
            "cfplan_database_connections_in_use",
            "Connections to the database that a request or the service uses.",
            registry=registry,
            multiprocess_mode="livesum",
        )

    def count(
        self, route: str, method: str, status: int, *, seconds: float, received: int, sent: int
    ) -> None:
        """Count a request that ended. All labels are bounded: routes are templates, never addresses."""
        known = method if method in METHODS else OTHER
        self.requests.labels(route, known, f"{status // 100}xx").inc()
        self.duration.labels(route).observe(seconds)
        if received:
            self.received.labels(route).inc(received)
        self.sent.labels(route).inc(sent)


_metrics = Metrics()


def metrics() -> Metrics:
    """Return the metrics of this process."""
    return _metrics


def begin_again() -> None:
    """Begin with empty metrics, in a process that was forked from one that had imported this module."""
    global _metrics
    _metrics = Metrics()


def count_connections() -> None:
    """Count the connections of all pools of this process from now on."""
    for name, listener in _LISTENERS.items():
        if not event.contains(Pool, name, listener):
            event.listen(Pool, name, listener)


def _on_connect(_connection: object, _record: object) -> None:
    _metrics.connections_open.inc()


def _on_close(_connection: object, _record: object) -> None:
    _metrics.connections_open.dec()


def _on_checkout(_connection: object, _record: object, _proxy: object) -> None:
    _metrics.connections_in_use.inc()


def _on_checkin(_connection: object, _record: object) -> None:
    _metrics.connections_in_use.dec()


_LISTENERS: dict[str, Callable[..., None]] = {
    "connect": _on_connect,
    "close": _on_close,
    "checkout": _on_checkout,
    "checkin": _on_checkin,
}
