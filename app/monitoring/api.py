"""The routes that monitoring requests: health, readiness and metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from pydantic import Field

from app.database.engine import Database
from app.disk import has_no_space
from app.monitoring import metrics as counted
from app.monitoring.capacity import READ_WITHIN_S, CapacityCollector, read_capacity
from app.monitoring.checks import ask
from app.monitoring.facts import FactsCollector, read_facts
from app.monitoring.readiness import check_ready
from app.monitoring.workers import ThisProcess, Worker, Workers, shared_folder
from app.settings import Settings
from app.web import openapi
from app.web.answers import Answer
from app.web.router import Router
from planner_core import CORE_VERSION
from planner_core.findings import Finding

MOST_CHECKS = 2
"""Checks of one kind that read the database at one time, so that checks of a dead server do not use up the threads."""

router = Router(tags=["service"])


class HealthAnswer(Answer):
    """The state of the service and of its database."""

    status: Annotated[
        Literal["ok", "degraded"],
        Field(
            description="`degraded`: stored plans cannot be reached, some stored data is damaged, or nothing can be stored; "
            "everything else works."
        ),
    ]
    database: Annotated[
        Literal["ok", "damaged", "unavailable"],
        Field(
            description="`unavailable`: the database does not answer within two seconds. `damaged`: it has reported damaged data "
            "since the service was started."
        ),
    ]
    storage: Annotated[
        Literal["ok", "full"],
        Field(
            description="`full`: there is no space left in the data folder, or the last change failed because there was none "
            "for the database. Requests that change something get status 507."
        ),
    ]
    version: Annotated[str, Field(description="Version of the sizing core.")]
    findings: list[Finding]


class ReadyAnswer(Answer):
    """The service is ready for requests."""

    status: Literal["ready"] = Field(description="Always `ready`; otherwise the answer is a problem.")
    findings: list[Finding]


def install(app: FastAPI) -> None:
    """Prepare an application for its checks and metrics."""
    app.state.health_checks = CapacityLimiter(MOST_CHECKS)
    # Scrapes read more than health checks, which must not wait for them.
    app.state.monitoring_checks = CapacityLimiter(MOST_CHECKS)
    # One at a time: scrapes of several servers would otherwise read the same structures at the same time.
    app.state.capacity_reads = CapacityLimiter(1)
    counted.count_connections()


@contextmanager
def joined() -> Iterator[None]:
    """Be one of the workers that share metrics during the block, if the service has several."""
    folder = shared_folder()
    worker = Worker(folder) if folder else None
    if worker is not None:
        counted.begin_again()
    try:
        yield
    finally:
        if worker is not None:
            worker.leave()


@router.get("/healthz", summary="Check that the service is up", responses=openapi.problems())
async def healthz(request: Request) -> HealthAnswer:
    """Return the state of the service, even while the database does not answer."""
    database: Database = request.app.state.database
    settings: Settings = request.app.state.settings
    answers = await ask(_has_answered, database, limiter=request.app.state.health_checks)
    is_full = database.is_full or has_no_space(settings.data_dir)
    is_damaged = database.damage.is_found
    return HealthAnswer(
        status="ok" if answers and not is_full and not is_damaged else "degraded",
        database="unavailable" if not answers else "damaged" if is_damaged else "ok",
        storage="full" if is_full else "ok",
        version=CORE_VERSION,
        findings=[],
    )


def _has_answered(database: Database) -> bool:
    database.check()
    return True


@router.get("/readyz", summary="Check that the service is ready", responses=openapi.problems(503))
async def readyz(request: Request) -> ReadyAnswer:
    """Return 200 if the service is ready to answer requests, or 503 with the failed checks."""
    state = request.app.state
    await check_ready(
        state.database,
        state.settings,
        is_stopping=state.overseer.is_stopping or state.overseer.is_leaving,
        limiter=state.monitoring_checks,
    )
    return ReadyAnswer(status="ready", findings=[])


# Not in the description of the REST interface: its formats are those of Prometheus.
@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """Return the metrics of all workers of the service."""
    state = request.app.state
    settings: Settings = state.settings
    facts = await ask(read_facts, state.database, limiter=state.monitoring_checks)
    # The facts have shown whether the database answers, so a dead server does not delay a scrape twice.
    capacity = None
    if facts is not None and settings.metrics_structures:
        read = partial(
            read_capacity,
            lead_time_days=settings.lead_time_days,
            most_structures=settings.metrics_structures,
        )
        capacity = await ask(read, state.database, limiter=state.capacity_reads, within_s=READ_WITHIN_S)
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    folder = shared_folder()
    registry = CollectorRegistry()
    for collector in (Workers(folder),) if folder else (counted.metrics().registry, ThisProcess()):
        registry.register(collector)
    registry.register(FactsCollector(facts, is_damaged=state.database.damage.is_found))
    if settings.metrics_structures:
        registry.register(CapacityCollector(capacity))
    body = await to_thread.run_sync(encode, registry)
    return Response(body, headers={"content-type": media_type, "cache-control": "no-store"})
