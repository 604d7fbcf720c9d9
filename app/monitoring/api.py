"""The routes that monitoring requests: metrics and readiness."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError

from app.database.engine import Database
from app.monitoring import metrics as counted
from app.monitoring.facts import Facts, FactsCollector, read_facts
from app.monitoring.readiness import DATABASE_ANSWERS_WITHIN_S, check_ready
from app.monitoring.workers import ThisProcess, Worker, Workers, shared_folder
from app.web import openapi
from app.web.answers import Answer
from planner_core.errors import PlannerError
from planner_core.findings import Finding

MOST_CHECKS = 2
"""Scrapes and checks of readiness that read the database at one time, so that they never use up the threads."""

router = APIRouter(tags=["service"])


class ReadyAnswer(Answer):
    """The service can do its work."""

    status: Literal["ready"] = Field(description="Always `ready`; otherwise the answer is a problem.")
    findings: list[Finding]


def install(app: FastAPI) -> None:
    """Prepare an application for its checks and metrics."""
    app.state.monitoring_checks = CapacityLimiter(MOST_CHECKS)
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


@router.get("/readyz", summary="Check that the service is ready", responses=openapi.problems(503))
async def readyz(request: Request) -> ReadyAnswer:
    """Return 200 if the service can do its work, and otherwise 503 with what is missing."""
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
    facts = await _facts(state.database, state.monitoring_checks)
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    folder = shared_folder()
    registry = CollectorRegistry()
    for collector in (Workers(folder),) if folder else (counted.metrics().registry, ThisProcess()):
        registry.register(collector)
    registry.register(FactsCollector(facts))
    body = await to_thread.run_sync(encode, registry)
    return Response(body, headers={"content-type": media_type, "cache-control": "no-store"})


async def _facts(database: Database, limiter: CapacityLimiter) -> Facts | None:
    with move_on_after(DATABASE_ANSWERS_WITHIN_S):
        try:
            return await to_thread.run_sync(read_facts, database, abandon_on_cancel=True, limiter=limiter)
        except (SQLAlchemyError, PlannerError):
            return None
    return None
