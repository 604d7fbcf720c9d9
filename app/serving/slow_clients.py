"""The protocol of connections, which ends those whose request does not arrive.

uvicorn has no limit for a request line and headers, so a client that sends a byte now and then would hold its connection
forever. The time for bodies is limited by `app.web.security.body`, and that of idle connections by uvicorn.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_S = 30.0
"""Seconds from the beginning of a connection, or from the first byte of a request, to the end of the headers."""
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class ImpatientProtocol(HttpToolsProtocol):
    """Closes connections whose headers do not arrive within `HEADERS_S`."""

    _timer: asyncio.TimerHandle | None = None
    _has_begun = False

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as in the base class
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the headers of a request that begins."""
        self._has_begun = True
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop waiting, because the request has arrived."""
        self._has_begun = False
        self._stop_waiting()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(HEADERS_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait()  # the response to an earlier request of this connection comes first
        elif not self.transport.is_closing():
            if self._has_begun:
                self.transport.write(TOO_SLOW)
            self.transport.close()
