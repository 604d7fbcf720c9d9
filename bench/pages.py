"""CPU time and size of pages that many users load, and of the description of the REST interface.

Each is compared with a plain FastAPI endpoint that returns the same bytes. The calculator gets another number of messages
in each round, so that no cache can answer. The pages of a site are those of the plan of a bank and of 400 measured
structures; metrics are scraped from a site with 1,000 structures and 2,000 forecasts.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from sqlalchemy import insert
from starlette.responses import Response

from app.main import create_app, keep_what_is_loaded
from app.nightly import service as nightly
from app.nightly.models import StoredForecast, Trigger
from app.settings import Settings
from app.usage import repository
from app.usage.models import HourlyStructureUsage
from app.web.compression import Compression
from bench.plans import bank
from planner_core.units import MIB

CALCULATOR = "calculator"
PAGES: Mapping[str, str] = {
    CALCULATOR: "/calculator?messages={number}",
    "explanations of an answer": "/calculator/explanations?messages={number}",
    "list of the documentation": "/docs",
    "/openapi.json": "/openapi.json",
}
SITE_PAGES: Mapping[str, str] = {
    "overview of a site": "/",
    "overview over REST": "/api/v1/fleet",
    "list of usage": "/usage",
    "plan of a bank": "/plans/BANK",
    "findings of the bank": "/plans/BANK?tab=findings",
    "editor of the bank": "/plans/BANK/edit",
    "search for a queue": "/search?q=LEDGER.Q*",
    "list of REST operations": "/api/docs",
}
SCRAPE = "scrape of 1000 structures"
SCRAPED_PAGES: Mapping[str, str] = {SCRAPE: "/metrics"}
SCRAPED_GROUPS, HORIZON_DAYS = 100, 180
LIMITS: Sequence[tuple[str, int, tuple[int | None, int | None, int | None]]] = (
    ("70 %", 42_000, (5, 20, 40)),
    ("85 %", 51_000, (30, 60, None)),
    ("SIZE", 60_000, (90, None, None)),
)
"""The limits of each forecast, with the days to the bounds of the interval and to the median."""
FIRST_NUMBER = 200_001
GROUPS = 40
STRUCTURES_OF_A_GROUP = 10
HOURS = 24
LAST_HOUR = datetime(2026, 3, 1, 23, tzinfo=UTC)
MS_PER_S = 1000


@dataclass(frozen=True)
class Served:
    """The CPU time of the first answer and the median of the later ones, and the size of the answer."""

    first_ms: float
    median_ms: float
    bare_ms: float
    """Median of the endpoint that returns the same bytes."""
    plain_bytes: int
    """Number of bytes before compression, for which the aim for the calculator is set."""
    sent_bytes: int
    """Number of compressed bytes."""


def measure(*, rounds: int = 9) -> dict[str, Served]:
    """Measure every page, compressed as for a browser."""
    return (
        _measure(PAGES, lambda app: None, rounds)
        | _measure(SITE_PAGES, _fill, rounds)
        | _measure(SCRAPED_PAGES, _fill_scraped, rounds)
    )


def _measure(pages: Mapping[str, str], fill: Callable[[FastAPI], None], rounds: int) -> dict[str, Served]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        app = create_app(settings)
        app.state.database.prepare()
        fill(app)
        keep_what_is_loaded()
        found = {
            name: asyncio.run(_served(app, address, rounds, settings)) for name, address in pages.items()
        }
        app.state.database.close()
    return found


def _fill(app: FastAPI) -> None:
    """Store the plan of a bank and the hours of 400 measured structures."""
    _store_hours(app, _keys(GROUPS))
    asyncio.run(_save(app))


def _fill_scraped(app: FastAPI) -> None:
    """Store the hours of 1,000 measured structures, and two forecasts of each."""
    keys = _keys(SCRAPED_GROUPS)
    _store_hours(app, keys)
    made_on = LAST_HOUR.date()
    names = ("p10", "p50", "p90")
    crossings = [
        {
            "level": level,
            "value": value,
            "state": "within",
            "sentence": "",
            "days": dict(zip(names, days, strict=True)),
            "dates": {
                name: None if after is None else (made_on + timedelta(days=after)).isoformat()
                for name, after in zip(names, days, strict=True)
            },
        }
        for level, value, days in LIMITS
    ]
    quantiles = {name: [float(40_000 + day) for day in range(HORIZON_DAYS)] for name in names}
    written = json.dumps({"crossings": crossings, "quantiles": quantiles})
    with app.state.database.session(writes=True) as session:
        run = nightly.queue(session, Trigger.REQUEST)
        rows = [
            {
                "run_id": run.id, "qsg": qsg, "structure": structure, "measure": measure, "queue_manager": "",
                "state": "forecast", "is_latest": True, "is_simulated": False, "made_on": made_on,
                "last_day": made_on, "horizon_days": HORIZON_DAYS, "digest": "",
                "earliest_crossing_day": made_on + timedelta(days=20), "forecast": written,
            }
            for qsg, structure in keys
            for measure in ("entries", "elements")
        ]  # fmt: skip
        session.execute(insert(StoredForecast), rows)


def _keys(groups: int) -> list[tuple[str, str]]:
    return [
        (f"QS{group:02}", f"STRUCTURE{number}")
        for group in range(groups)
        for number in range(STRUCTURES_OF_A_GROUP)
    ]


def _store_hours(app: FastAPI, keys: Sequence[tuple[str, str]]) -> None:
    rows = [
        {
            "qsg": qsg,
            "structure": structure,
            "hour": LAST_HOUR - timedelta(hours=ago),
            "entries_in_use_max": 100 * (nth % 100),
            "elements_in_use_max": 600 * ((nth + ago) % 100),
            "entries_total": 10_000,
            "elements_total": 60_000,
            "size_bytes": 512 * MIB,
            "structure_full_count": int(nth == ago),
            "sources": "115-2 QEST",
        }
        for nth, (qsg, structure) in enumerate(keys)
        for ago in range(HOURS)
    ]
    with app.state.database.session(writes=True) as session:
        session.execute(insert(HourlyStructureUsage), rows)
        repository.update_lists(session, structures=set(keys), queues=())


async def _save(app: FastAPI) -> None:
    async with _client(app) as planner:
        (await planner.put("/api/v1/plans/BANK", json=bank())).raise_for_status()


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
