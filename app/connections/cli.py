"""The commands `cfplan connections list` and `cfplan connections check`."""

from __future__ import annotations

import argparse

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    UsageError,
    add_json,
    commands_of,
    table_lines,
    write_json,
    write_lines,
)

_FOR_SIZE = ("policy", "structure", "size_is")


def add_connections(connections: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan connections`."""
    verb = commands_of(connections, "verb")
    verb("list", "List the declared connections; nothing is contacted.", _add_list)
    verb("check", "Check a connection, and print a report without values of the site.", _add_check)


def _add_list(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_list)
    add_json(listed)


def _add_check(checked: argparse.ArgumentParser) -> None:
    checked.set_defaults(run=_check)
    checked.add_argument("name", metavar="NAME", help="name of the connection")
    checked.add_argument("--policy", metavar="NAME", help="a policy with a structure whose size you know")
    checked.add_argument("--structure", metavar="NAME", help="that structure")
    checked.add_argument(
        "--size-is", metavar="SIZE", help="its SIZE in the policy, such as 512M, as IXCMIAPU reports it"
    )
    add_json(checked)


def _list(arguments: argparse.Namespace) -> int:
    from app.connections.declared import NOT_VERIFIED
    from app.connections.service import list_connections
    from app.database.engine import open_database

    with open_database(migrates=False) as (database, settings):
        if database.is_missing:
            found = list_connections(None, settings)
        else:
            with database.session(writes=False) as session:
                found = list_connections(session, settings)
    if arguments.json:
        write_json(found.as_json())
        return EXIT_OK
    if not found.connections:
        write_lines(["No connection is declared, so nothing is ever contacted."])
        return EXIT_OK
    rows = [("NAME", "KIND", "ADDRESS", "CREDENTIALS", "LAST USE", "STATE")]
    for each in found.connections:
        use = each.last_use
        last = (
            "never" if use is None else f"{use.used_at:%Y-%m-%d %H:%M} {'ok' if use.succeeded else 'failed'}"
        )
        state = "verified" if each.is_verified else NOT_VERIFIED
        rows.append((each.name, each.kind, each.address, each.credentials, last, state))
    write_lines(table_lines(rows))
    return EXIT_OK


def _check(arguments: argparse.Namespace) -> int:
    given = [name for name in _FOR_SIZE if getattr(arguments, name) is not None]
    if given and len(given) < len(_FOR_SIZE):
        message = "State --policy, --structure and --size-is together."
        raise UsageError(message)
    from app.connections import checks
    from app.connections.declared import connection_named
    from app.database.engine import open_database
    from app.settings import read_settings

    connection = connection_named(read_settings(), arguments.name)
    is_verified, notes = True, []
    if given:
        is_verified, note = _verified(arguments)
        notes.append(note)
    with open_database() as (database, _):
        report = checks.check(arguments.name, connection)
        with database.session(writes=True) as session:
            checks.record_check(session, report)
    if arguments.json:
        write_json({**report.as_json(), "size_unit": notes[0] if notes else None})
    else:
        # The outcome names a structure and its size, so it is not part of the report.
        write_lines([*report.lines(), *notes])
    return EXIT_OK if report.succeeded and is_verified else EXIT_FINDINGS


def _verified(arguments: argparse.Namespace) -> tuple[bool, str]:
    """Compare a size on the server with the one that the user states."""
    from importlib import import_module

    from app.connections.checks import UNIT_CHECK
    from planner_core.typed_numbers import size_text, typed_size

    module, _, function = UNIT_CHECK.partition(":")
    verify = getattr(import_module(module), function)
    found: tuple[bool, str] = verify(
        arguments.name,
        policy=arguments.policy,
        structure=arguments.structure,
        size_bytes=typed_size(size_text(arguments.size_is)),
    )
    return found
