"""Behavior that only a real server and a real connection show."""

from __future__ import annotations

import json
import socket

import pytest

from app.settings import Settings
from planner_core.units import MIB
from tests.app.web.support import COMPLETE

CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def answers(connection: socket.socket) -> bytes:
    """Return all data until the server closes the connection."""
    found = b""
    try:
        while data := connection.recv(1 << 16):
            found += data
    except ConnectionResetError:
        pass
    return found


@pytest.fixture
def connection(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=120)


def test_plan_in_chunks_is_sized(connection: socket.socket) -> None:
    body = json.dumps(COMPLETE).encode()
    pieces = b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (body[:100], body[100:]))
    with connection:
        connection.sendall(
            head("POST", "/api/v1/policy", "Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close")
            + pieces
            + b"0\r\n\r\n"
        )  # fmt: skip
        found = answers(connection)
    assert found.startswith(b"HTTP/1.1 200 ")
    assert b"STRUCTURE NAME(SQ03APPLICATION1)" in found


def test_endless_chunked_body_is_refused_and_the_connection_closed(connection: socket.socket) -> None:
    sent_bytes = 0
    with connection:
        connection.sendall(
            head("POST", "/api/v1/size", "Content-Type: application/json", "Transfer-Encoding: chunked")
        )
        try:
            while sent_bytes < 10 * Settings().max_body_bytes:
                connection.sendall(CHUNK)
                sent_bytes += len(CHUNK)
        except (BrokenPipeError, ConnectionResetError):
            pass
        found = answers(connection)
    assert sent_bytes < Settings().max_body_bytes + 32 * MIB
    assert not found or found.startswith(b"HTTP/1.1 413 ")


def test_body_announced_as_too_large_is_refused_before_it_is_sent(connection: socket.socket) -> None:
    with connection:
        connection.sendall(
            head("POST", "/api/v1/size", "Content-Type: application/json", f"Content-Length: {10**12}", "Expect: 100-continue")
        )  # fmt: skip
        found = answers(connection)
    assert found.startswith(b"HTTP/1.1 413 ")
    assert b"/docs/problems#content-too-large" in found


def test_service_survives_a_request_that_is_not_http(
    address: tuple[str, int], connection: socket.socket
) -> None:
    with connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10 + b"\r\n\r\n")
        assert not answers(connection).startswith(b"HTTP/1.1 5")
    with socket.create_connection(address, timeout=120) as another:
        another.sendall(head("GET", "/healthz", "Connection: close"))
        assert answers(another).startswith(b"HTTP/1.1 200 ")
