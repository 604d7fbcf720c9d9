"""CPU time and size of pages that many users load, and of the description of the REST interface.

Each is compared with a plain FastAPI endpoint that returns the same bytes. The calculator gets another number of messages
in each round, so that no cache can answer.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from starlette.responses import Response

from app.main import create_app, keep_what_is_loaded
from app.settings import Settings
from app.web.compression import Compression

CALCULATOR = "calculator"
PAGES: Mapping[str, str] = {
    CALCULATOR: "/calculator?messages={number}",
    "explanations of an answer": "/calculator/explanations?messages={number}",
    "list of the documentation": "/docs",
    "/openapi.json": "/openapi.json",
}
FIRST_NUMBER = 200_001
MS_PER_S = 1000


@dataclass(frozen=True)
class Served:
    """The CPU time of the first answer and the median of the later ones, and the size of the answer."""

    first_ms: float
    median_ms: float
    bare_ms: float
    """Median of the endpoint that returns the same bytes."""
    plain_bytes: int
    sent_bytes: int
    """Number of compressed bytes."""


def measure(*, rounds: int = 9) -> dict[str, Served]:
    """Measure every page, compressed as for a browser."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        app = create_app(settings)
        app.state.database.prepare()
        keep_what_is_loaded()
        found = {
            name: asyncio.run(_served(app, address, rounds, settings)) for name, address in PAGES.items()
        }
        app.state.database.close()
    return found


async def _served(app: FastAPI, address: str, rounds: int, settings: Settings) -> Served:
    async with _client(app) as planner:
        times = []
        for nth in range(rounds + 1):
            start = time.process_time()
            # Read as it was sent: decompression is the client's work.
            async with planner.stream("GET", address.format(number=FIRST_NUMBER + nth)) as answer:
                sent = b"".join([part async for part in answer.aiter_raw()])
            times.append(time.process_time() - start)
            answer.raise_for_status()
        plain = await planner.get(
            address.format(number=FIRST_NUMBER + rounds), headers={"Accept-Encoding": "identity"}
        )
    bare = _bare(plain.content, settings)
    async with _client(bare) as client:
        bare_times = []
        for _ in range(rounds + 1):
            start = time.process_time()
            async with client.stream("GET", "/") as answer:
                await anext(answer.aiter_raw())
            bare_times.append(time.process_time() - start)
    return Served(
        times[0] * MS_PER_S,
        statistics.median(times[1:]) * MS_PER_S,
        statistics.median(bare_times[1:]) * MS_PER_S,
        len(plain.content),
        len(sent),
    )


def _bare(content: bytes, settings: Settings) -> FastAPI:
    app = FastAPI()
    app.add_middleware(Compression, minimum_size=settings.compress_over_bytes, compresslevel=5)

    @app.get("/")
    def same() -> Response:
        return Response(content)

    return app


def _client(app: FastAPI) -> AsyncClient:
    return AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1")
