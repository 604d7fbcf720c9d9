"""The command `cfplan gatherer fetch`."""

from __future__ import annotations

import argparse

from app.command_line import EXIT_FINDINGS, EXIT_OK, commands_of, write_lines


def add_gatherer(gatherer: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan gatherer`."""
    verb = commands_of(gatherer, "verb")
    verb("fetch", "Upload the 74-4 records of an SMF data set on z/OS.", _add_fetch)


def _add_fetch(fetched: argparse.ArgumentParser) -> None:
    fetched.set_defaults(run=_fetch)
    fetched.add_argument(
        "--connection", required=True, metavar="NAME", help="a connection of the kind gatherer"
    )
    fetched.add_argument("--data-set", required=True, metavar="NAME", help="an SMF data set")


def _fetch(arguments: argparse.Namespace) -> int:
    from app.connections.command_line import warn_if_not_verified
    from app.connections.errors import ConnectionFailed
    from app.database.engine import open_database
    from app.gatherer import service

    with open_database() as (database, settings):
        connection = service.gatherer_connection(settings, arguments.connection)
        warn_if_not_verified(arguments.connection, connection)
        try:
            found = service.fetch(database, settings, arguments.connection, arguments.data_set)
        except ConnectionFailed as error:
            write_lines([str(error)])
            return EXIT_FINDINGS
    write_lines([found.sentence])
    return EXIT_OK
