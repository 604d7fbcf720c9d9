"""Clients that send their request slowly, or not at all, do not hold their connections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from app.serving import slow_clients
from app.serving.slow_clients import ImpatientProtocol

REQUEST = b"GET / HTTP/1.1\r\nhost: cfplan\r\n\r\n"
Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    await PlainTextResponse("done")(scope, receive, send)


def serve(client: Client) -> None:
    async def both() -> None:
        config = uvicorn.Config(application, http=ImpatientProtocol, log_config=None, lifespan="off")
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: ImpatientProtocol(config, state, {}), "127.0.0.1", 0)
        async with server, asyncio.timeout(60):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            await client(reader, writer)
            writer.close()

    asyncio.run(both())


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_clients, "HEADERS_S", 0.3)


def test_connection_without_a_request_is_closed() -> None:
    async def client(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        assert await reader.read() == b""

    serve(client)


@pytest.mark.parametrize("before", [b"", REQUEST])
def test_connection_with_slow_headers_is_answered_and_closed(before: bytes) -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(before + REQUEST[:20])
        await send_slowly(writer)
        answers = await reader.read()
        assert answers.endswith(slow_clients.TOO_SLOW)
        assert answers.count(b"HTTP/1.1") == (2 if before else 1)

    serve(client)


async def send_slowly(writer: asyncio.StreamWriter) -> None:
    for _ in range(5):  # no more after the end, because unread data would reset the connection
        writer.write(b"a")
        await asyncio.sleep(0.02)


def test_response_is_complete_although_the_next_request_is_slow() -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(REQUEST.replace(b"/ ", b"/slow ", 1) + REQUEST[:20])
        answers = await reader.read()
        assert answers.startswith(b"HTTP/1.1 200 OK")
        assert b"done" in answers
        assert answers.endswith(slow_clients.TOO_SLOW)

    serve(client)


def test_connection_in_use_stays_open() -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            writer.write(REQUEST)
            assert b"200 OK" in await reader.readuntil(b"done")
            await asyncio.sleep(0.4)

    serve(client)
