"""Pages take turns; other requests do not, and a page that hangs delays the next ones only for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from app.web.turns import PagesInTurn


class Service:
    """An application whose answers wait until they are released, and that counts those in progress."""

    def __init__(self, *, at_once: int, patience_s: float) -> None:
        self.released = asyncio.Event()
        self.running = self.most = 0
        app = FastAPI()
        app.add_middleware(PagesInTurn, at_once=at_once, patience_s=patience_s)

        @app.get("/held")
        @app.get("/api/held")
        @app.post("/held")
        async def held() -> str:
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await self.released.wait()
            finally:
                self.running -= 1
            return "done"

        @app.get("/fails")
        async def fails() -> str:
            message = "a defect"
            raise RuntimeError(message)

        @app.get("/slowly")
        async def slowly() -> StreamingResponse:
            return StreamingResponse(self._parts())

        self.app = app

    async def _parts(self) -> AsyncIterator[str]:
        yield "first"
        await self.released.wait()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def _settled() -> None:
    """Let all tasks run until each of them waits."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.anyio
async def test_pages_wait_for_their_turn() -> None:
    service = Service(at_once=2, patience_s=60)
    async with service.client() as client, asyncio.TaskGroup() as tasks:
        pages = [tasks.create_task(client.get("/held")) for _ in range(5)]
        await _settled()
        assert service.running == 2
        service.released.set()
    assert [page.result().status_code for page in pages] == [200] * 5
    assert service.most == 2


@pytest.mark.anyio
async def test_a_page_that_hangs_delays_the_next_ones_only_for_a_moment() -> None:
    service = Service(at_once=1, patience_s=0.01)
    async with service.client() as client, asyncio.TaskGroup() as tasks:
        pages = [tasks.create_task(client.get("/held")) for _ in range(3)]
        async with asyncio.timeout(30):
            while service.running < 3:
                await asyncio.sleep(0.01)
        service.released.set()
    assert [page.result().status_code for page in pages] == [200] * 3


@pytest.mark.anyio
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/held"), ("POST", "/held")])
async def test_other_requests_do_not_wait_for_pages(method: str, path: str) -> None:
    service = Service(at_once=1, patience_s=60)
    async with service.client() as client, asyncio.TaskGroup() as tasks:
        for _ in range(2):
            tasks.create_task(client.get("/held"))
        others = [tasks.create_task(client.request(method, path)) for _ in range(3)]
        await _settled()
        assert service.running == 1 + 3
        service.released.set()
    assert [other.result().status_code for other in others] == [200] * 3


@pytest.mark.anyio
async def test_turn_ends_with_an_error_and_while_the_response_is_sent() -> None:
    service = Service(at_once=1, patience_s=60)
    async with service.client() as client, asyncio.TaskGroup() as tasks:
        assert (await client.get("/fails")).status_code == 500
        slow = tasks.create_task(client.get("/slowly"))
        await _settled()
        page = tasks.create_task(client.get("/held"))
        await _settled()
        assert service.running == 1
        service.released.set()
    assert slow.result().text == "first"
    assert page.result().status_code == 200


@pytest.mark.anyio
async def test_canceled_page_gives_its_turn_to_the_next() -> None:
    service = Service(at_once=1, patience_s=60)
    async with service.client() as client:
        first, waiting = (asyncio.create_task(client.get("/held")) for _ in range(2))
        await _settled()
        for task in (waiting, first):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        third = asyncio.create_task(client.get("/held"))
        await _settled()
        assert service.running == 1
        service.released.set()
        assert (await third).status_code == 200
