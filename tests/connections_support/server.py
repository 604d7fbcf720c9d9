"""A server of a test: it records all requests, asks for basic authentication, and can answer badly.

A test derives from `StandIn` and implements `answer`; or passes a function::

    with StandIn.serving(folder, lambda request: Answer.json({"ok": True})) as server:
        server.faults.append(Fault(status=503))         # the next request fails
        ...
        assert [each.line for each in server.requests] == ["GET /a", "GET /a"]
"""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.connections_support.certificates import Certificates, make_certificates

USER, PASSWORD = "IBMUSER", "s3cret-of-test"


@dataclass(frozen=True)
class Received:
    """A request that the stand-in received."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def line(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON of the body."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """An answer of the stand-in."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, value: object, status: int = 200) -> Answer:
        """Return an answer with JSON."""
        return cls(status, json.dumps(value).encode())


@dataclass(frozen=True)
class Fault:
    """What happens to one request instead of, or after, its regular handling."""

    status: int | None = None
    """Answer with this status instead of handling the request."""
    body: bytes = b""
    cut_after: int | None = None
    """Handle the request, then close the connection after so many bytes of the body."""
    is_silent: bool = False
    """Handle the request, then answer nothing until the stand-in ends or the client gives up."""
    drips: bool = False
    """Handle the request, then send the body one byte at a time, until the client gives up."""
    drips_headers: bool = False
    """Handle the request, then send headers without end, one byte at a time, until the client gives up."""
    headers: Mapping[str, str] = field(default_factory=dict)


class StandIn:
    """A server on 127.0.0.1 with a port that the system chose."""

    def __init__(self, answer: Callable[[Received], Answer] | None = None) -> None:
        self.requests: list[Received] = []
        self.faults: list[Fault] = []
        """Faults of the next requests, first one first."""
        self.certificates: Certificates | None = None
        self.address = ""
        self._answer = answer
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def answer(self, request: Received) -> Answer:
        """Return the answer to a request with correct authentication."""
        assert self._answer is not None
        return self._answer(request)

    @property
    def lines(self) -> list[str]:
        """The methods and paths of all requests."""
        return [each.line for each in self.requests]

    @contextmanager
    def running(self, folder: Path, *, tls: bool = True) -> Iterator[StandIn]:
        """Serve during the block."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        server.block_on_close = False
        if tls:
            self.certificates = make_certificates(folder)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificates.certificate, self.certificates.key)
            # The handshake takes place in the thread of the request, so that a client cannot block the others.
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.address = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            server.shutdown()
            server.server_close()
            thread.join()

    @classmethod
    @contextmanager
    def serving(
        cls, folder: Path, answer: Callable[[Received], Answer], *, tls: bool = True
    ) -> Iterator[StandIn]:
        """Serve with a function during the block."""
        with cls(answer).running(folder, tls=tls) as found:
            yield found

    def handle(self, request: Received) -> tuple[Answer, Fault]:
        """Record a request, and return its answer with the fault to apply to it."""
        with self._lock:
            self.requests.append(request)
            fault = self.faults.pop(0) if self.faults else Fault()
            if fault.status is not None:
                return Answer(fault.status, fault.body, headers=fault.headers), fault
            expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if request.headers.get("authorization") != f"Basic {expected}":
                return Answer(401, b"Unauthorized", "text/plain"), fault
            return self.answer(request), fault

    def wait_for_end(self) -> None:
        """Wait until the stand-in ends."""
        self._ended.wait()

    def pause(self) -> bool:
        """Wait for a moment between two bytes; return whether the stand-in goes on."""
        return not self._ended.wait(0.02)


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            request = Received(
                self.command, parts.path, parse_qs(parts.query, keep_blank_values=True),
                {name.lower(): value for name, value in self.headers.items()}, self.rfile.read(length),
            )  # fmt: skip
            answer, fault = stand_in.handle(request)
            if fault.is_silent:
                stand_in.wait_for_end()
                self.close_connection = True
                return
            if fault.drips_headers:
                self._drip(b"HTTP/1.1 200 OK\r\nx-endless: " + b"x" * 10_000)
                return
            with suppress(OSError):
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-type", answer.content_type)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self._send(answer.body, fault)

        def _send(self, body: bytes, fault: Fault) -> None:
            if fault.drips:
                self._drip(body)
                return
            self.wfile.write(body if fault.cut_after is None else body[: fault.cut_after])
            if fault.cut_after is not None:
                self.close_connection = True

        def _drip(self, content: bytes) -> None:
            self.close_connection = True
            for at in range(len(content)):
                self.wfile.write(content[at : at + 1])
                self.wfile.flush()
                if not stand_in.pause():
                    break

        do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - names of the base class

        def log_message(self, format: str, *arguments: object) -> None:
            del format, arguments

        def handle(self) -> None:
            # Clients that give up, or refuse the certificate, are part of the tests.
            with suppress(OSError):
                super().handle()

    return Handler


def write_file(folder: Path, connections: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write a file of connections, and return its path."""
    path = folder / "connections.yaml"
    path.write_text(json.dumps({"connections": connections}))  # JSON is YAML
    return path


def write_credentials(folder: Path, *, user: str = USER, password: str = PASSWORD) -> Path:
    """Write a file of credentials that only its owner may read, and return its path."""
    path = folder / "credentials.yaml"
    path.write_text(json.dumps({"user": user, "password": password}))
    path.chmod(0o600)
    return path


def entry_of(stand_in: StandIn, folder: Path, kind: str, **more: object) -> dict[str, Any]:
    """Return the entry for a stand-in in the file of connections, with its authority and credentials."""
    found: dict[str, Any] = {
        "kind": kind, "address": stand_in.address, "credentials_file": str(write_credentials(folder)), "pause_s": 0,
    }  # fmt: skip
    if stand_in.certificates is not None:
        found["ca_file"] = str(stand_in.certificates.authority)
    return found | more
