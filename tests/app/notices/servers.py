"""A mail server and a webhook on this machine, with TLS, errors, and slow and cut answers."""

from __future__ import annotations

import base64
import json
import socketserver
import ssl
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.certificates import make_certificate

ADDRESS = "127.0.0.1"


@dataclass
class Server:
    """A running server: the faults that its next connections have, and what it received."""

    port: int
    certificate: Path
    faults: deque[str] = field(default_factory=deque)
    """The fault of each of the next connections; empty for none."""
    is_over: threading.Event = field(default_factory=threading.Event)
    connections: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    posts: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)

    def next_fault(self) -> str:
        self.connections += 1
        return self.faults.popleft() if self.faults else ""


class _Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False


def tls_of(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return a context with a new certificate for this address, and the file of the certificate."""
    folder.mkdir(parents=True, exist_ok=True)
    make_certificate(folder, ADDRESS)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cfplan.crt", folder / "cfplan.key")
    return context, folder / "cfplan.crt"


@contextmanager
def mail_server(folder: Path, *, security: str = "starttls", password: str = "") -> Iterator[Server]:
    """Run a mail server during the block. With a password, the user `cfplan` must sign in."""
    context, certificate = tls_of(folder)

    class Session(socketserver.StreamRequestHandler):
        def encrypt(self) -> None:
            for each in (self.rfile, self.wfile):
                each.close()
            self.request = context.wrap_socket(self.request, server_side=True)
            self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", buffering=0)

        def finish(self) -> None:
            with suppress(OSError, ValueError):
                super().finish()
            self.request.close()

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def handle(self) -> None:
            with suppress(OSError, ValueError):  # the client left
                self.converse()

        def converse(self) -> None:
            fault = server.next_fault()
            is_encrypted, to = security == "tls", list[str]()
            if is_encrypted:
                self.encrypt()
            if fault == "busy":
                self.say("421 try again later")
                return
            if fault == "silent":
                server.is_over.wait()
                return
            self.say("220 mail.example.com ESMTP")
            while line := self.rfile.readline():
                words = line.decode().split()
                verb = words[0].upper() if words else ""
                if verb == "EHLO":
                    offers = ["AUTH PLAIN"] if password else []
                    if security == "starttls" and not is_encrypted and fault != "no starttls":
                        offers = ["STARTTLS"]
                    lines = ["mail.example.com", *offers]
                    for each in lines[:-1]:
                        self.say(f"250-{each}")
                    self.say(f"250 {lines[-1]}")
                elif verb == "STARTTLS":
                    self.say("220 go ahead")
                    self.encrypt()
                    is_encrypted = True
                elif verb == "AUTH":
                    _, user, given = base64.b64decode(words[2]).decode().split("\0")
                    if (user, given) == ("cfplan", password):
                        server.signed_in.append(user)
                        self.say("235 ok")
                    else:
                        self.say(f"535 wrong password {given}")
                elif verb == "RCPT" and fault == "refuse first" and not to:
                    to.append("")
                    self.say("550 no such mailbox")
                elif verb == "RCPT" and fault == "refuse all":
                    self.say("550 no such mailbox")
                elif verb in ("MAIL", "RCPT", "RSET", "NOOP"):
                    if verb == "RCPT":
                        to.append(words[1].partition(":")[2].strip("<>"))
                    self.say("250 ok")
                elif verb == "DATA":
                    self.say("354 end with a dot")
                    body = list[bytes]()
                    while (part := self.rfile.readline()) not in (b".\r\n", b""):
                        body.append(part[1:] if part.startswith(b".") else part)
                    if fault == "cut before the end":
                        return
                    mail = message_from_bytes(b"".join(body), policy=default)
                    assert isinstance(mail, EmailMessage)
                    server.mails.append(mail)
                    server.recipients.append([each for each in to if each])
                    server.was_encrypted.append(is_encrypted)
                    if fault == "cut after the end":  # stored, but the client does not learn it
                        return
                    self.say("451 full" if fault == "full" else "250 stored")
                elif verb == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("502 not known")

    with _Threads((ADDRESS, 0), Session) as made:
        server = Server(made.server_address[1], certificate)
        yield from _running(made, server)


@contextmanager
def webhook(folder: Path) -> Iterator[Server]:
    """Run a webhook with TLS during the block; a fault may be a status."""
    context, certificate = tls_of(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fault = server.next_fault()
            body = self.rfile.read(int(self.headers["content-length"]))
            if fault == "silent":
                server.is_over.wait()
                return
            if fault != "cut before the end":
                server.posts.append(
                    ({name.lower(): value for name, value in self.headers.items()}, json.loads(body))
                )
            if fault.startswith("cut"):
                self.connection.close()
                return
            if fault == "drip":
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while not server.is_over.wait(0.1):
                    self.wfile.write(b"x-more: x\r\n")
                return
            self.send_response(int(fault) if fault.isdigit() else 204)
            self.send_header("location", f"https://{ADDRESS}:{server.port}/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            """Report nothing: clients leave on purpose."""

    with Quiet((ADDRESS, 0), Handler) as made:
        made.socket = context.wrap_socket(made.socket, server_side=True)
        server = Server(made.server_address[1], certificate)
        yield from _running(made, server)


def _running(made: socketserver.TCPServer, server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.is_over.set()
        made.shutdown()
        thread.join(timeout=30)
