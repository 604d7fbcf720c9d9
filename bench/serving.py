"""Start one of the compared servers: `python -m bench.serving planner|bare-def|bare-async|bare-store FD`.

The socket is inherited, so that the port is known before the server runs, and no other process can take it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI
from sqlalchemy import Column, MetaData, String, Table, Text, create_engine, insert, select
from starlette.responses import Response

from app.main import create_app, keep_what_is_loaded
from app.settings import Settings
from planner_core.document.model import PlanDocument


def bare_def() -> FastAPI:
    """Return an application with a plain FastAPI endpoint that only validates the document and returns it."""
    app = FastAPI()

    @app.post("/api/v1/size")
    def echo(document: PlanDocument) -> PlanDocument:
        return document

    return app


def bare_async() -> FastAPI:
    """Return the same application with an async endpoint, which needs no thread: the fastest that FastAPI can be."""
    app = FastAPI()

    @app.post("/api/v1/size")
    async def echo(document: PlanDocument) -> PlanDocument:
        return document

    return app


def bare_store() -> FastAPI:
    """Return an application with plain FastAPI endpoints that only validate the document and store its text."""
    app = FastAPI()
    engine = create_engine(f"sqlite:///{Settings().data_dir}/bare.db")
    table = Table(
        "plans",
        MetaData(),
        Column("name", String, primary_key=True),
        Column("document", Text, nullable=False),
    )
    table.metadata.create_all(engine)

    @app.put("/{name}")
    def save(name: str, document: PlanDocument) -> Response:
        text = document.model_dump_json()
        with engine.begin() as connection:
            connection.execute(insert(table).values(name=name, document=text))
        return Response(text, media_type="application/json")

    @app.get("/{name}")
    def show(name: str) -> Response:
        with engine.connect() as connection:
            text = connection.execute(select(table.c.document).where(table.c.name == name)).scalar_one()
        return Response(text, media_type="application/json")

    return app


SERVED: dict[str, Callable[[], FastAPI]] = {
    "planner": lambda: create_app(Settings()),
    "bare-def": bare_def,
    "bare-async": bare_async,
    "bare-store": bare_store,
}


def main() -> None:
    """Serve until the process ends; all servers have the same settings."""
    which, descriptor = sys.argv[1:]
    application = SERVED[which]()
    keep_what_is_loaded()  # as `cfplan serve` does; the compared servers gain from it too
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_keep_alive=120
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(descriptor))])


if __name__ == "__main__":
    main()
