"""The command `cfplan serve`, which imports the web packages when it runs."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from app.command_line import UsageError, whole_number

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Sequence

    from fastapi import FastAPI

    from app.settings import Settings

CANNOT_LISTEN = 3
MOST_WORKERS = 64
HUNG_S = 30.0
"""Seconds without a sign of life after which a worker is replaced if the CPU time of requests is not limited."""

NOT_ALONE = (
    "cfplan serve: Other machines can reach {host}, but no one would have to sign in, so the service was not started. "
    "Set CFPLAN_AUTHENTICATION=accounts and add a user with `cfplan users add NAME --role administrator`, or use "
    "--host 127.0.0.1."
)
NO_USERS = "There are no users yet, so no one can sign in: cfplan users add NAME --role administrator\n"


OPEN_FOLDER = (
    "Every user of this machine can read the data folder %s, which may contain readable files of earlier versions. Only the "
    "user of the service needs it: chmod -R o-rwx %s"
)


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan serve`."""
    serve.set_defaults(run=_serve)
    serve.add_argument("--host", help="address to listen on (default: from the settings, 127.0.0.1)")
    serve.add_argument(
        "--port", type=whole_number(1, 65535), help="port to listen on (default: from the settings, 8000)"
    )
    serve.add_argument(
        "--workers",
        type=whole_number(1, MOST_WORKERS),
        metavar="N",
        help="number of processes that answer requests (default: from the settings, one for each core)",
    )
    serve.add_argument(
        "--migrate",
        action="store_true",
        help="first migrate the tables of a database server to this version",
    )


@contextmanager
def _no_collections() -> Iterator[None]:
    """Run no garbage collection: nothing that imports create is garbage, and looking for some takes a tenth of their time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _serve(arguments: argparse.Namespace) -> int:
    with _no_collections():
        from app import logs
        from app.accounts import users
        from app.data_folder import PRIVATE_UMASK, is_open_to_others
        from app.database.engine import open_database
        from app.main import create_app
        from app.serving.listening import listening_sockets
        from app.settings import is_loopback, read_settings

    given = {
        key: value for key in ("host", "port", "workers") if (value := getattr(arguments, key)) is not None
    }
    settings = read_settings(**given)
    if not settings.requires_sign_in and not is_loopback(settings.host):
        raise UsageError(NOT_ALONE.format(host=settings.host))
    logs.configure(settings)
    logs.log_uncaught_errors()
    os.umask(PRIVATE_UMASK)
    if is_open_to_others(settings.data_dir):
        logging.getLogger("cfplan.serve").warning(OPEN_FOLDER, settings.data_dir, settings.data_dir)
    # A wrong database or an old schema is reported before the port is opened.
    with open_database(settings) as (database, _):
        if arguments.migrate:
            database.upgrade()
        database.prepare()
        if "accounts" in settings.authentication:
            with database.session(writes=False) as session:
                if not users.has_any(session):
                    sys.stderr.write(NO_USERS)
    with _no_collections():
        application = create_app(settings)
    try:
        sockets = listening_sockets(settings.host, settings.port)
    except OSError as error:
        sys.stderr.write(
            f"cfplan cannot listen on {settings.host}:{settings.port}: {error.strerror or error}\n"
        )
        return CANNOT_LISTEN
    with ExitStack() as opened:
        for each in sockets:
            opened.enter_context(each)
        sys.stderr.write(f"cfplan serves http://{settings.host}:{sockets[0].getsockname()[1]}\n")
        return supervise(application, settings, sockets)


def supervise(application: FastAPI, settings: Settings, sockets: Sequence[socket.socket]) -> int:
    """Serve with workers until the process is stopped, and return the exit code."""
    import uvicorn

    from app.main import keep_what_is_loaded
    from app.monitoring.workers import shared_by_workers
    from app.serving.cores import usable_cores
    from app.serving.slow_clients import ImpatientProtocol
    from app.serving.supervisor import Supervisor
    from app.serving.worker import (
        KEEP_ALIVE_S,
        SHUTDOWN_S,
        STOP_S,
        WorkerServer,
        writers_of_each,
    )

    workers = settings.workers or min(usable_cores(), MOST_WORKERS)
    config = uvicorn.Config(
        application,
        http=ImpatientProtocol,
        server_header=False,
        proxy_headers=False,  # the application does this, for CFPLAN_TRUSTED_PROXIES only
        access_log=False,  # the application writes its own, with the user and without the query
        log_config=None,  # uvicorn's loggers use the handler and the level that were configured above
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    config.load()
    keep_what_is_loaded()  # once for all workers, which are forked from this process

    def serve(link: socket.socket) -> int:
        state = application.state
        state.write_turns.total_tokens = writers_of_each(workers)
        server = WorkerServer(config, link, overseer=state.overseer, leader=state.leader, workers=workers)
        return server.serve_until_the_end(sockets)

    with shared_by_workers() as remove_metrics:
        supervisor = Supervisor(
            workers, serve, hung_s=settings.request_cpu_s or HUNG_S, stop_s=STOP_S, on_ended=remove_metrics
        )
        return supervisor.run()
