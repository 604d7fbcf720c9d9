"""Response times of one server that many people and scripts use at the same time.

Planners read one page after another, with pauses. Scripts send sizing requests at fixed times; every request has other
application structures, so that no kept result answers. The same requests are sent by one planner and one script first:
the ratio of the two shows what the users cost each other.

If an answer takes longer than the time to the next request of a script, the next request is late. Its time counts from the
moment at which it was due; otherwise a slow server would be asked less often and would look faster.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import httpx
import numpy as np

from app.sizing.examples import sq03
from bench.plans import largest
from bench.service import PATIENCE_S, Server, running, variants

PLANNERS, SCRIPTS = 50, 20
SECONDS, SECONDS_ALONE = 120, 15
PAUSE_S = (0.5, 3.0)
"""Shortest and longest time between an answer and the next page of a planner."""
REQUESTS_PER_S = 2
SEED = 20_261_123
PLAN, STRUCTURES, QUEUES = "PAYMENTS", 20, 12
PAGE, SIZING = "pages", "sizing requests"
SLOW_PAGES = 5


@dataclass(frozen=True)
class Answered:
    """One request: its kind, its address, the seconds that it took, and why it failed."""

    kind: str
    address: str
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class Load:
    """Requests of one planner and one script, and of all of them at the same time."""

    alone: Sequence[Answered]
    together: Sequence[Answered]
    seconds: float
    cpu_s: float
    """CPU time of the server under the load of all."""
    memory_mb: tuple[float, float]
    """Memory of the server before and after the load of all."""

    def percentile_s(self, kind: str, percent: float, *, alone: bool = False) -> float:
        """Return a percentile of the seconds of all requests of a kind."""
        answered = self.alone if alone else self.together
        return float(np.percentile([each.seconds for each in answered if each.kind == kind], percent))

    def answers(self, kind: str) -> int:
        """Return the number of requests of a kind under the load of all."""
        return sum(each.kind == kind for each in self.together)

    @property
    def errors(self) -> list[Answered]:
        """Requests without the expected answer."""
        return [each for each in (*self.alone, *self.together) if each.error]


def slowest_pages(answered: Sequence[Answered]) -> Mapping[str, tuple[float, float]]:
    """Return median and 99th percentile [s] of the pages with the longest 99th percentile."""
    times: dict[str, list[float]] = {}
    for each in answered:
        if each.kind == PAGE:
            times.setdefault(each.address, []).append(each.seconds)
    found = {
        address: (float(np.percentile(every, 50)), float(np.percentile(every, 99)))
        for address, every in times.items()
    }
    slowest = sorted(found, key=lambda address: -found[address][1])
    return {address: found[address] for address in slowest[:SLOW_PAGES]}


def measure(*, planners: int = PLANNERS, scripts: int = SCRIPTS, seconds: float = SECONDS) -> Load:
    """Measure one server, first with one planner and one script, then with all of them."""
    with tempfile.TemporaryDirectory() as folder, running("planner", (), data_dir=Path(folder)) as server:
        return asyncio.run(_measure(server, planners, scripts, seconds))


async def _measure(server: Server, planners: int, scripts: int, seconds: float) -> Load:
    async with client_of(server.address) as client:
        await store_plan(client)
        documents = bodies()
        alone = await ask(client, documents, 1, 1, min(seconds, SECONDS_ALONE))
        found = await together(server, client, documents, planners, scripts, seconds)
        return replace(found, alone=alone)


def client_of(address: str) -> httpx.AsyncClient:
    """Return a client of the server at an address, for any number of users."""
    # Every user has a connection, like a browser or a script.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    # Not through the proxy that the environment may name.
    return httpx.AsyncClient(base_url=address, timeout=PATIENCE_S, limits=limits, trust_env=False)


async def store_plan(client: httpx.AsyncClient) -> None:
    """Store the plan that planners look at."""
    saved = await client.put(f"/api/v1/plans/{PLAN}", json=largest(structures=STRUCTURES, queues=QUEUES))
    saved.raise_for_status()


async def upload(client: httpx.AsyncClient, path: Path) -> int:
    """Upload a dump, and return the number of the job that reads it."""
    answer = await client.post(
        f"/api/v1/uploads?filename={path.name}",
        content=path.read_bytes(),
        headers={"content-type": "application/octet-stream"},
    )
    answer.raise_for_status()
    job: int = answer.json()["job"]["id"]
    return job


async def together(
    server: Server,
    client: httpx.AsyncClient,
    documents: Iterator[bytes],
    planners: int,
    scripts: int,
    seconds: float,
    *,
    pages: Sequence[str] = (),
) -> Load:
    """Measure a server while all users of `ask` use it."""
    cpu_s, memory_mb, start = server.cpu_s(), server.memory_mb(), time.perf_counter()
    answered = await ask(client, documents, planners, scripts, seconds, pages=pages)
    return Load(
        (),
        answered,
        time.perf_counter() - start,
        server.cpu_s() - cpu_s,
        (memory_mb, server.memory_mb()),
    )


def bodies() -> Iterator[bytes]:
    """Yield documents in which every application structure differs from those before."""
    for document in variants(sq03()):
        yield json.dumps(document).encode()


async def ask(
    client: httpx.AsyncClient,
    documents: Iterator[bytes],
    planners: int,
    scripts: int,
    seconds: float,
    *,
    pages: Sequence[str] = (),
) -> list[Answered]:
    """Let planners and scripts use a server for some seconds, and return all requests.

    Args:
        client: The client of the server, which has stored the plan.
        documents: The documents that scripts send.
        planners: The number of planners.
        scripts: The number of scripts.
        seconds: The time after which no user sends another request.
        pages: The addresses of the pages, as often as planners choose them; by default those of `addresses`.
    """
    end = time.perf_counter() + seconds
    pages = pages or tuple(addresses())
    answered: list[Answered] = []
    async with asyncio.TaskGroup() as users:
        for number in range(planners):
            users.create_task(_plan(client, random.Random(SEED + number), pages, end, answered))  # noqa: S311 - no secret
        for number in range(scripts):
            users.create_task(_provision(client, documents, number / scripts / REQUESTS_PER_S, end, answered))
    return answered


async def _plan(
    client: httpx.AsyncClient,
    chance: random.Random,
    pages: Sequence[str],
    end: float,
    answered: list[Answered],
) -> None:
    await asyncio.sleep(chance.uniform(0, PAUSE_S[1]))
    while time.perf_counter() < end:
        address = chance.choice(pages)
        start = time.perf_counter()
        # Only the calculator's answer depends on this number.
        asked = address.replace("NUMBER", str(chance.randrange(1_000_000)))
        error = await _error(client.get(asked, headers={"Accept": "text/html"}))
        answered.append(Answered(PAGE, address, time.perf_counter() - start, error))
        await asyncio.sleep(chance.uniform(*PAUSE_S))


def addresses() -> Iterator[str]:
    """Yield what planners look at: most often the calculator and the plan."""
    version = f"/plans/{PLAN}/versions/1"
    structure = f"{version}/structures/APPLICATIO00"
    yield from ("/calculator?messages=NUMBER",) * 4
    yield from (f"/plans/{PLAN}", structure) * 2
    yield from ("/plans", f"{structure}/filling", f"{structure}/thresholds", f"/plans/{PLAN}/edit")
    yield from (f"/plans/{PLAN}/history", "/docs", "/usage", "/forecasts")


async def _provision(
    client: httpx.AsyncClient, bodies: Iterator[bytes], delay_s: float, end: float, answered: list[Answered]
) -> None:
    start = time.perf_counter() + delay_s
    for number in count():
        due = start + number / REQUESTS_PER_S
        if due >= end:
            return
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        sent = client.post("/api/v1/size", content=next(bodies), headers={"Content-Type": "application/json"})
        error = await _error(sent)
        answered.append(Answered(SIZING, "/api/v1/size", time.perf_counter() - due, error))


async def _error(sent: Awaitable[httpx.Response]) -> str:
    try:
        answer = await sent
    except httpx.HTTPError as error:
        return type(error).__name__
    return "" if answer.is_success else f"status {answer.status_code}"
