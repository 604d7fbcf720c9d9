"""Starts one of the two servers that are compared: `python -m bench.serving planner|bare FD`.

The socket is inherited, so that the port is known before the server runs and nobody else can take it.
"""

from __future__ import annotations

import socket
import sys

import uvicorn
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from planner_core.document import PlanDocument


def bare() -> FastAPI:
    """An endpoint as FastAPI's users write it, that validates the document and returns it, and nothing else."""
    app = FastAPI()

    @app.post("/api/v1/size")
    async def echo(document: PlanDocument) -> PlanDocument:
        return document

    return app


def main(which: str, descriptor: int) -> None:
    """Serve until the process is ended; both with the same server and the same settings."""
    app = create_app(Settings()) if which == "planner" else bare()
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_keep_alive=120
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
