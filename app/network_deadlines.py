"""A total time for a request to another machine: the limits of the HTTP library are ones for each read."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


class EndableConnection:
    """The last network connection of an HTTP client that sends one request at a time; it can be ended at a deadline."""

    def __init__(self) -> None:
        """Begin without a connection."""
        self._socket: socket.socket | None = None

    def observe(self, event: str, details: Mapping[str, Any]) -> None:
        """Remember the socket of a new network connection; the extension `trace` of each request calls this."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = details["return_value"].get_extra_info("socket")

    @contextmanager
    def ended_after(self, seconds: float) -> Iterator[Callable[[], bool]]:
        """End the network connection if the block takes longer; yield whether that happened.

        Headers that arrive one byte at a time would otherwise have no end.
        """
        is_over = threading.Event()

        def end() -> None:
            is_over.set()
            if self._socket is not None:
                # Not the method of a TLS socket, which is not made for a second thread; a closed socket is an OSError.
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield is_over.is_set
        finally:
            timer.cancel()
