"""The command `cfplan dds poll`."""

from __future__ import annotations

import argparse
import time

from app.command_line import EXIT_FINDINGS, EXIT_OK, commands_of, write_lines

EVERY_S = 60.0


def add_dds(dds: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan dds`."""
    verb = commands_of(dds, "verb")
    verb("poll", "Store CFACT reports of RMF's data server for the usage history.", _add_poll)


def _add_poll(polled: argparse.ArgumentParser) -> None:
    polled.set_defaults(run=_poll)
    polled.add_argument("--connection", required=True, metavar="NAME", help="a connection of the kind dds")
    polled.add_argument(
        "--once", action="store_true", help="poll once (default: once a minute, until interrupted)"
    )


def _poll(arguments: argparse.Namespace) -> int:
    from app.connections.command_line import warn_if_not_verified
    from app.connections.errors import ConnectionFailed
    from app.database.engine import open_database
    from app.dds import service
    from app.dds.report import AnswerUnusable

    with open_database() as (database, settings):
        connection = service.dds_connection(settings, arguments.connection)
        warn_if_not_verified(arguments.connection, connection)
        while True:
            begun = time.monotonic()
            try:
                found = service.poll(database, settings, arguments.connection)
            except (ConnectionFailed, AnswerUnusable) as error:
                write_lines([f"{arguments.connection}: {error}"])
                if arguments.once:
                    return EXIT_FINDINGS
                if service.is_unauthorized(error):
                    write_lines(
                        [
                            f"{arguments.connection}: stopped, because z/OS may revoke a user after several wrong passwords."
                        ]
                    )
                    return EXIT_FINDINGS
            else:
                write_lines([f"{arguments.connection}: {found.sentence}"])
                if arguments.once:
                    return EXIT_OK
            time.sleep(max(EVERY_S - (time.monotonic() - begun), 0.0))
