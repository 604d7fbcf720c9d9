"""The sockets on which the service listens. They are opened once, and all workers accept connections from them."""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from collections.abc import Sequence

BACKLOG = 2048
"""Number of connections that wait until a worker accepts them."""
BIND_ATTEMPTS, BIND_PAUSE_S = 10, 0.05
_NO_SUCH_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def listening_sockets(host: str, port: int) -> Sequence[socket.socket]:
    """Return sockets that listen on all addresses of a host; port 0 selects a free port, the same for all addresses.

    Raises:
        OSError: The host has no address, or another program uses the port.
    """
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listening: list[socket.socket] = []
    unusable: OSError | None = None
    for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
        used_port = listening[0].getsockname()[1] if listening else port
        try:
            listening.append(_listening(family, (address[0], used_port, *address[2:])))
        except OSError as error:
            # A name such as localhost may have an IPv6 address on a machine without IPv6.
            if error.errno not in _NO_SUCH_ADDRESS:
                for each in listening:
                    each.close()
                raise
            unusable = error
    if not listening and unusable is not None:
        raise unusable
    return listening


def _listening(family: int, address: tuple[object, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # The IPv4 addresses have sockets of their own.
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        _bind(made, address)
        made.listen(BACKLOG)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _bind(made: socket.socket, address: tuple[object, ...]) -> None:
    """Bind a socket; wait for a moment if the port is in use, because a killed service may not have ended completely."""
    for _ in range(BIND_ATTEMPTS):
        with contextlib.suppress(OSError):
            made.bind(address)
            return
        time.sleep(BIND_PAUSE_S)
    made.bind(address)
