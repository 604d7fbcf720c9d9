"""The picture of an outage recomputed by the service, as when a slider is moved: one structure, as many queues as MQ permits."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient

from app.main import create_app
from app.plans import service
from app.settings import Settings
from bench.plans import QUEUES, largest
from planner_core.document import read_object
from planner_core.whatif.filling_up import Outage, fill_up

PLAN = "FILLS"
FIRST_OUTAGE, FIRST_RATE = 60, 150
MS_PER_S = 1000
Asked = Callable[[AsyncClient, int], Awaitable[None]]


@dataclass(frozen=True)
class Filled:
    """Milliseconds of processor time: the median and the longest."""

    median_ms: float
    longest_ms: float


def measure(*, queues: int = QUEUES, rounds: int = 9, with_maxdepth: bool) -> dict[str, Filled]:
    """Ask for one outage after the other, no two alike, of the page, over REST and of the core.

    `with_maxdepth`: each queue is full at a moment of its own, so that the picture has as many bends as queues.
    """
    made = largest(structures=1, queues=queues)
    name = made["structures"][0]["name"]
    for place, queue in enumerate(made["structures"][0]["queues"]):
        if with_maxdepth:
            queue["maxdepth"] = 500 + 7 * place
    document = read_object(made)
    body = document.model_dump(mode="json")
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder)))
        with app.state.database.session(writes=True) as session:
            service.save_plan(session, PLAN, document)
        page = f"/plans/{PLAN}/versions/1/structures/{name}/filling"

        async def ask_page(client: AsyncClient, nth: int) -> None:
            keys = {"outage_minutes": FIRST_OUTAGE + nth, "rate_percent": FIRST_RATE + nth}
            (await client.get(page, params=keys)).raise_for_status()

        async def ask_rest(client: AsyncClient, nth: int) -> None:
            keys = {"structure": name, "outage_minutes": FIRST_OUTAGE + nth}
            (await client.post("/api/v1/whatif/filling", params=keys, json=body)).raise_for_status()

        async def ask_core(_: AsyncClient, nth: int) -> None:
            fill_up(document, name, Outage(outage_minutes=Decimal(FIRST_OUTAGE + nth)))

        asked = {"the page": ask_page, "REST, with the document": ask_rest, "the core": ask_core}
        times = asyncio.run(_timed(asked, app, rounds))
    return {what: Filled(statistics.median(found), max(found)) for what, found in times.items()}


async def _timed(asked: Mapping[str, Asked], app: FastAPI, rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {what: [] for what in asked}
    async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1") as client:
        for nth in range(rounds + 1):
            for what, ask in asked.items():
                start = time.process_time()
                await ask(client, nth)
                if nth:  # the first one loads modules and templates
                    times[what].append((time.process_time() - start) * MS_PER_S)
    return times
