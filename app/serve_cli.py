"""The command `cfplan serve`, which imports the web packages when it runs."""

from __future__ import annotations

import argparse
import sys

from app.command_line import EXIT_OK, whole_number

SHUTDOWN_S = 10
"""Seconds that running requests are given to finish when the service stops; without a limit, a client that follows a
job would delay the shutdown.
"""


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan serve`."""
    serve.set_defaults(run=_serve)
    serve.add_argument("--host", help="address to listen on (default: from the settings, 127.0.0.1)")
    serve.add_argument(
        "--port", type=whole_number(1, 65535), help="port to listen on (default: from the settings, 8000)"
    )
    serve.add_argument(
        "--migrate",
        action="store_true",
        help="first migrate the tables of a database server to this version",
    )


def _serve(arguments: argparse.Namespace) -> int:
    import uvicorn

    from app import logs
    from app.database.engine import open_database
    from app.main import create_app, keep_what_is_loaded
    from app.settings import read_settings

    given = {
        key: value for key, value in (("host", arguments.host), ("port", arguments.port)) if value is not None
    }
    settings = read_settings(**given)
    logs.configure(settings)
    logs.log_uncaught_errors()
    # A wrong database or an old schema is reported before the port is opened.
    with open_database(settings) as (database, _):
        if arguments.migrate:
            database.upgrade()
        database.prepare()
    application = create_app(settings)
    keep_what_is_loaded()
    sys.stderr.write(f"cfplan serves http://{settings.host}:{settings.port}\n")
    uvicorn.run(
        application,
        host=settings.host,
        port=settings.port,
        server_header=False,
        access_log=False,  # the application writes its own, with the user and without the query
        log_config=None,  # uvicorn's loggers use the handler and the level that were configured above
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    return EXIT_OK
