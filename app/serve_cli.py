"""The command `cfplan serve`, which imports the web packages when it runs."""

from __future__ import annotations

import argparse
import sys

from app.command_line import EXIT_OK, UsageError, whole_number

SHUTDOWN_S = 10
"""Seconds that running requests are given to finish when the service stops; without a limit, a client that follows a
job would delay the shutdown.
"""

NOT_ALONE = (
    "cfplan serve: Other machines can reach {host}, but no one would have to sign in, so the service was not started. "
    "Set CFPLAN_AUTHENTICATION=accounts and add a user with `cfplan users add NAME --role administrator`, or use "
    "--host 127.0.0.1."
)
NO_USERS = "There are no users yet, so no one can sign in: cfplan users add NAME --role administrator\n"


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

    from app.accounts import users
    from app.database.engine import open_database
    from app.main import create_app, keep_what_is_loaded
    from app.settings import is_loopback, read_settings

    given = {
        key: value for key, value in (("host", arguments.host), ("port", arguments.port)) if value is not None
    }
    settings = read_settings(**given)
    if not settings.has_accounts and not is_loopback(settings.host):
        raise UsageError(NOT_ALONE.format(host=settings.host))
    # A wrong database or an old schema is reported before the port is opened.
    with open_database(settings) as (database, _):
        if arguments.migrate:
            database.upgrade()
        database.prepare()
        if "accounts" in settings.authentication:
            with database.session(writes=False) as session:
                if not users.has_any(session):
                    sys.stderr.write(NO_USERS)
    application = create_app(settings)
    keep_what_is_loaded()
    sys.stderr.write(f"cfplan serves http://{settings.host}:{settings.port}\n")
    uvicorn.run(
        application,
        host=settings.host,
        port=settings.port,
        server_header=False,
        proxy_headers=False,  # the application does this, for CFPLAN_TRUSTED_PROXIES only
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    return EXIT_OK
