"""The service behind nginx with the configuration of deploy/nginx/nginx.conf."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio.to_thread
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.accounts import users
from app.clock import utc_now
from app.main import create_app
from app.settings import Settings
from app.web.security.body import accept_file
from app.web.security.headers import SECURITY_HEADERS
from planner_core.units import MIB
from tests.app.web.support import COMPLETE
from tests.deployment.nginx import NAME, Proxy, proxied
from tests.serving import ANSWER_S

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Probe:
    """Routes added to the application, which show what arrives there, and when."""

    first_part_arrived: threading.Event = field(default_factory=threading.Event)
    event_was_read: threading.Event = field(default_factory=threading.Event)

    def routes(self) -> list[Route]:
        return [
            Route("/seen", self.seen),
            Route("/api/v1/uploads", self.upload, methods=["POST"]),
            Route("/api/v1/jobs/7/events", self.events),
        ]

    async def seen(self, request: Request) -> Response:
        address = request.client.host if request.client else None
        return JSONResponse(
            {
                "scheme": request.url.scheme,
                "address": address,
                "headers": [(k.decode(), v.decode()) for k, v in request.scope["headers"]],
            }
        )

    async def upload(self, request: Request) -> Response:
        accept_file(request)
        length = 0
        async for part in request.stream():
            length += len(part)
            self.first_part_arrived.set()
        return JSONResponse({"bytes": length})

    async def events(self, _: Request) -> Response:
        async def send() -> AsyncIterator[bytes]:
            yield b"data: first\n\n"
            was_read = await anyio.to_thread.run_sync(lambda: self.event_was_read.wait(ANSWER_S))
            yield b"data: the first was read\n\n" if was_read else b"data: the first was not read\n\n"

        return StreamingResponse(send(), media_type="text/event-stream")


@pytest.fixture(scope="module")
def probe() -> Probe:
    return Probe()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory, probe: Probe) -> Iterator[Proxy]:
    folder: Path = tmp_path_factory.mktemp("proxy")
    app = create_app(
        Settings(data_dir=folder / "data", allowed_hosts=(NAME,), trusted_proxies=("127.0.0.1",))
    )
    app.router.routes[:0] = probe.routes()
    with proxied(app, folder / "nginx") as proxy:
        yield proxy


def test_page_is_served_by_https_with_the_headers_of_proxy_and_service(proxy: Proxy) -> None:
    answer = proxy.request("GET", "/calculator")
    assert answer.status_code == 200
    assert "</html>" in answer.text
    assert answer.headers.get_list("strict-transport-security") == ["max-age=31536000"]
    for name, value in SECURITY_HEADERS:
        assert answer.headers.get_list(name.decode()) == [value.decode()]
    assert "/" not in answer.headers.get("server", ""), "no version of the server"


def test_error_of_the_proxy_itself_has_the_transport_security_header(proxy: Proxy) -> None:
    answer = proxy.request("GET", "/metrics")
    assert answer.status_code == 404
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_request_by_http_is_redirected_to_https(proxy: Proxy) -> None:
    answer = httpx.get(
        f"http://127.0.0.1:{proxy.http_port}/plans?q=a", headers={"host": NAME}, timeout=ANSWER_S
    )
    assert (answer.status_code, answer.headers["location"]) == (308, f"https://{NAME}/plans?q=a")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_script_that_uses_http_is_refused_and_not_redirected(proxy: Proxy, method: str) -> None:
    address = f"http://127.0.0.1:{proxy.http_port}/api/v1/plans"
    answer = httpx.request(method, address, headers={"host": NAME}, timeout=ANSWER_S)
    assert answer.status_code == 403
    assert "location" not in answer.headers
    assert "Use https" in answer.text


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_current_versions_of_tls_are_accepted_with_forward_secrecy(
    proxy: Proxy, version: ssl.TLSVersion
) -> None:
    context = proxy.tls()
    context.minimum_version = context.maximum_version = version
    with (
        socket.create_connection(("127.0.0.1", proxy.https_port), timeout=ANSWER_S) as plain,
        context.wrap_socket(plain, server_hostname=NAME) as connection,
    ):
        cipher = connection.cipher()
        assert cipher is not None
        assert cipher[0].startswith(("ECDHE", "TLS_"))


@pytest.mark.parametrize(
    ("version", "ciphers"),
    [
        (ssl.TLSVersion.TLSv1, "ALL:@SECLEVEL=0"),
        (ssl.TLSVersion.TLSv1_1, "ALL:@SECLEVEL=0"),
        # Without forward secrecy, and with a block cipher.
        (ssl.TLSVersion.TLSv1_2, "AES128-SHA"),
        (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES128-SHA"),
    ],
)
def test_old_versions_of_tls_and_weak_ciphers_are_refused(
    proxy: Proxy, version: ssl.TLSVersion, ciphers: str
) -> None:
    context = proxy.tls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of old versions too
        context.minimum_version = context.maximum_version = version
    context.set_ciphers(ciphers)
    with (
        socket.create_connection(("127.0.0.1", proxy.https_port), timeout=ANSWER_S) as plain,
        # An alert of the server, and not an error of this client.
        pytest.raises((ssl.SSLError, ConnectionError), match=r"(?i)alert|reset"),
    ):
        context.wrap_socket(plain, server_hostname=NAME)


def test_service_sees_the_address_and_scheme_of_the_client_and_no_forged_headers(proxy: Proxy) -> None:
    forged = {
        "x-forwarded-for": "192.0.2.66",
        "x-forwarded-proto": "http",
        "x-forwarded-host": "evil.example",
        "forwarded": "for=192.0.2.66",
        "x-remote-user": "root",
        "x-remote-groups": "administrators",
    }
    seen = proxy.request("GET", "/seen", headers=forged).json()
    assert (seen["scheme"], seen["address"]) == ("https", "127.0.0.1")
    received = [(name, value) for name, value in seen["headers"] if name in (*forged, "host")]
    assert sorted(received) == [
        ("host", proxy.host), ("x-forwarded-for", "127.0.0.1"), ("x-forwarded-proto", "https"),
    ]  # fmt: skip


def test_other_host_names_are_refused_by_the_service(proxy: Proxy) -> None:
    assert proxy.request("GET", "/healthz", headers={"host": "rebound.example"}).status_code == 421


@pytest.mark.parametrize(("origin", "status"), [("https://{host}", 200), ("https://evil.example", 403)])
def test_form_of_the_service_is_accepted_and_of_another_site_refused(
    proxy: Proxy, origin: str, status: int
) -> None:
    answer = proxy.request(
        "POST", "/api/v1/size", json=COMPLETE, headers={"origin": origin.format(host=proxy.host)}
    )
    assert answer.status_code == status


def test_body_over_the_limit_is_refused_before_it_is_sent(proxy: Proxy) -> None:
    with closing(proxy.connect()) as connection:
        connection.sendall(
            f"POST /api/v1/size HTTP/1.1\r\nHost: {proxy.host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {33 * MIB}\r\n\r\n".encode()
        )
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413 ")


def test_upload_reaches_the_service_as_it_is_sent(proxy: Proxy, probe: Probe) -> None:
    part = b"x" * MIB
    parts = 40  # more than the limit of other bodies
    with closing(proxy.connect()) as connection:
        connection.sendall(
            f"POST /api/v1/uploads HTTP/1.1\r\nHost: {proxy.host}\r\nConnection: close\r\n"
            f"Content-Length: {parts * MIB}\r\n\r\n".encode()
            + part
        )
        assert probe.first_part_arrived.wait(ANSWER_S), "nginx waits for the rest before it sends anything"
        for _ in range(parts - 1):
            connection.sendall(part)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"bytes": parts * MIB}


def test_each_event_of_a_job_is_passed_on_at_once(proxy: Proxy, probe: Probe) -> None:
    with (
        httpx.Client(verify=proxy.tls(), timeout=2 * ANSWER_S) as client,
        client.stream(
            "GET",
            f"https://127.0.0.1:{proxy.https_port}/api/v1/jobs/7/events",
            headers={"host": proxy.host, "accept-encoding": "identity"},
            extensions={"sni_hostname": NAME},
        ) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines) == "data: first"
        probe.event_was_read.set()
        assert "data: the first was read" in list(lines)


PASSWORD = "a long password of anna"


@pytest.fixture(scope="module")
def proxy_with_accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder: Path = tmp_path_factory.mktemp("accounts")
    app = create_app(
        Settings(
            data_dir=folder / "data", allowed_hosts=(NAME,), trusted_proxies=("127.0.0.1",),
            authentication=("accounts",), password_memory_kib=7168, password_passes=1,
        )
    )  # fmt: skip
    with app.state.database.session(writes=True) as session:
        hashed = app.state.accounts.passwords.hash(PASSWORD)
        users.add(session, "anna", "viewer", password_hash=hashed, now=utc_now())
    with proxied(app, folder / "nginx") as proxy:
        yield proxy


def test_session_through_the_proxy_is_in_a_secure_cookie(proxy_with_accounts: Proxy) -> None:
    answer = proxy_with_accounts.request("POST", "/sign-in", data={"name": "anna", "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    (cookie,) = answer.headers.get_list("set-cookie")
    secret, *attributes = cookie.split("; ")
    assert secret.startswith("__Host-cfplan-session=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(attributes)
    signed_in = proxy_with_accounts.request("GET", "/api/v1/account", headers={"cookie": secret})
    assert (signed_in.status_code, signed_in.json()["name"]) == (200, "anna")


def test_page_without_sign_in_leads_to_the_sign_in_of_the_same_host(proxy_with_accounts: Proxy) -> None:
    answer = proxy_with_accounts.request("GET", "/plans", headers={"accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Fplans")


def test_attempts_to_sign_in_from_one_address_are_limited(proxy: Proxy) -> None:
    with httpx.Client(verify=proxy.tls(), timeout=ANSWER_S) as client:
        for _ in range(200):
            answer = client.post(
                f"https://127.0.0.1:{proxy.https_port}/sign-in",
                headers={"host": proxy.host},
                extensions={"sni_hostname": NAME},
            )
            if answer.status_code == 429:
                break
    assert answer.status_code == 429
    assert proxy.request("GET", "/healthz").status_code == 200, "other addresses are not affected"
