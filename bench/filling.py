"""CPU time of an outage that is recalculated when a slider is moved, for one structure with the most queues MQ permits.

It is compared with a plain FastAPI endpoint that only validates the same document and returns it.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient

from app.main import create_app, keep_what_is_loaded
from app.plans import service
from app.settings import Settings
from bench.plans import QUEUES, largest
from bench.serving import bare_def
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.whatif.filling_up import Outage, fill_up

PLAN = "FILLS"
PAGE, BARE = "the page", "bare-def"
FIRST_OUTAGE, FIRST_RATE = 60, 150
MS_PER_S = 1000
Ask = Callable[[int], Awaitable[None]]


@dataclass(frozen=True)
class Filled:
    """Milliseconds of CPU time: the median and the longest."""

    median_ms: float
    longest_ms: float


def measure(*, queues: int = QUEUES, rounds: int = 9, with_maxdepth: bool) -> dict[str, Filled]:
    """Measure different outages on the page, over REST and in the core.

    Loaded modules are exempt from garbage collection, as in `cfplan serve`; the objects of requests are not. With
    `with_maxdepth`, each queue is full at a different moment, so that the chart has as many bends as queues.
    """
    made = largest(structures=1, queues=queues)
    for place, queue in enumerate(made["structures"][0]["queues"]):
        if with_maxdepth:
            # Different depths, so that no two queues are full at the same moment.
            queue["maxdepth"] = 500 + 7 * place
    document = read_object(made)
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder)))
        with app.state.database.session(writes=True) as session:
            service.save_plan(session, PLAN, document)
        keep_what_is_loaded()
        times = asyncio.run(_timed(app, document, rounds))
        app.state.database.close()
    return {what: Filled(statistics.median(found), max(found)) for what, found in times.items()}


async def _timed(app: FastAPI, document: PlanDocument, rounds: int) -> dict[str, list[float]]:
    body, name = document.model_dump(mode="json"), document.structures[0].name
    page = f"/plans/{PLAN}/versions/1/structures/{name}/filling"
    async with _client(app) as planner, _client(bare_def()) as bare:

        async def ask_page(nth: int) -> None:
            # Another outage each time, so that no cache can answer.
            keys = {"outage_minutes": FIRST_OUTAGE + nth, "rate_percent": FIRST_RATE + nth}
            (await planner.get(page, params=keys)).raise_for_status()

        async def ask_rest(nth: int) -> None:
            keys: dict[str, str | int] = {"structure": name, "outage_minutes": FIRST_OUTAGE + nth}
            (await planner.post("/api/v1/whatif/filling", params=keys, json=body)).raise_for_status()

        async def ask_core(nth: int) -> None:
            fill_up(document, Outage(structure=name, outage_minutes=Decimal(FIRST_OUTAGE + nth)))

        async def ask_bare(_: int) -> None:
            (await bare.post("/api/v1/size", json=body)).raise_for_status()

        asked: dict[str, Ask] = {
            PAGE: ask_page,
            "REST, with the document": ask_rest,
            "the core": ask_core,
            BARE: ask_bare,
        }
        times: dict[str, list[float]] = {what: [] for what in asked}
        for nth in range(rounds + 1):
            for what, ask in asked.items():
                # CPU time, because the page must also meet its target on a busy machine.
                start = time.process_time()
                await ask(nth)
                if nth:  # the first round also loads modules and templates
                    times[what].append((time.process_time() - start) * MS_PER_S)
        return times


def _client(app: FastAPI) -> AsyncClient:
    return AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1")
