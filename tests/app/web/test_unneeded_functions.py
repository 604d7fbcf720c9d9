"""Functions of web servers that the service does not need are not available."""

from __future__ import annotations

import socket

import pytest
from fastapi import FastAPI

from tests.app.web.support import call, get
from tests.app.web.test_over_the_network import answers, head


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "DEBUG", "CONNECT", "PROPFIND"])
def test_unneeded_methods_are_refused(method: str, app: FastAPI) -> None:
    answer = call(app, method, "/healthz", headers={"cookie": "my-secret"})
    assert answer.status == 405
    assert "my-secret" not in answer.text


@pytest.mark.parametrize(
    "address", ["/static", "/static/", "/static/css/", "/static/js", "/assets/swagger-ui/", "/docs/"]
)
def test_folders_are_not_listed(address: str, app: FastAPI) -> None:
    answer = get(app, address)
    assert answer.status in {307, 404}
    assert ".css" not in answer.text
    assert ".js" not in answer.text


@pytest.mark.parametrize(
    "address",
    ["/.git/config", "/.git/HEAD", "/.env", "/pyproject.toml", "/app/main.py", "/static/../app/main.py", "/static/%2e%2e/app/main.py", "/docker-compose.yml", "/data/cfplan.db", "/static/..%2f..%2fetc%2fpasswd"],
)  # fmt: skip
def test_files_of_the_installation_are_not_served(address: str, app: FastAPI) -> None:
    assert get(app, address).status == 404


def test_debug_mode_is_off(app: FastAPI) -> None:
    assert app.debug is False


def test_response_does_not_name_the_software_of_the_server(app: FastAPI) -> None:
    answer = get(app, "/", accept="text/html")
    assert not {"server", "x-powered-by"} & set(answer.headers)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Content-Length: 60"),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: xchunked",),
        ("Content-Length: +5",),
        ("Content-Length : 5",),
    ],
)
def test_request_with_an_ambiguous_end_is_refused_and_hides_no_second_request(
    lines: tuple[str, ...], address: tuple[str, int]
) -> None:
    hidden = head("GET", "/api/v1/reference/limits", "Connection: close")
    with socket.create_connection(address, timeout=120) as connection:
        connection.sendall(
            head("POST", "/api/v1/size", "Content-Type: application/json", *lines) + b"0\r\n\r\n" + hidden
        )
        connection.shutdown(socket.SHUT_WR)
        found = answers(connection)
    assert found.startswith(b"HTTP/1.1 4")
    assert b" 200 OK" not in found


def test_line_break_in_a_header_adds_no_header(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=120) as connection:
        connection.sendall(
            head("GET", "/plans/x%0d%0aset-cookie:%20a=b", "X-Request-Id: a%0d%0ab", "Connection: close")
        )
        found = answers(connection).partition(b"\r\n\r\n")[0].lower()
    assert b"set-cookie" not in found
