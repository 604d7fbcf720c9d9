"""The command `cfplan audit`, which reads the audit trail in the database of the service."""

from __future__ import annotations

import argparse
import re

from app.command_line import EXIT_FINDINGS, EXIT_OK, UsageError, add_json, commands_of, write, write_json

FORMATS = ("csv", "jsonl")
_ANCHOR = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


def add_audit(audit: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan audit`."""
    verb = commands_of(audit, "verb")
    verb("export", "Write entries to standard output, oldest first.", _add_export)
    verb("verify", "Verify that no entry was changed or removed.", _add_verify)


def _add_export(exported: argparse.ArgumentParser) -> None:
    exported.set_defaults(run=_export)
    exported.add_argument("--format", choices=FORMATS, default="jsonl", help="JSON lines (default) or CSV")
    exported.add_argument("--since", default="", metavar="TIME", help="from then on: a day, or a time in UTC")
    exported.add_argument(
        "--until", default="", metavar="TIME", help="before then, or until the end of a day"
    )
    exported.add_argument("--who", default="", metavar="NAME", help="name of the user who did it")
    exported.add_argument(
        "--action", default="", metavar="CODE", help="code of the action, or its first part such as plan"
    )
    exported.add_argument("--object", default="", metavar="NAME", help="name of the object at that time")


def _add_verify(verified: argparse.ArgumentParser) -> None:
    verified.set_defaults(run=_verify)
    verified.add_argument(
        "--anchor",
        action="append",
        default=[],
        metavar="ID:DIGEST",
        help="id and digest of an entry, as an earlier verification printed them; can be repeated",
    )
    add_json(verified)


def _export(arguments: argparse.Namespace) -> int:
    from app.audit.export import csv_lines, json_lines
    from app.audit.filters import read_filter
    from app.audit.service import each_entry
    from app.database.engine import open_database

    asked = read_filter(
        {name: getattr(arguments, name) for name in ("since", "until", "who", "action", "object")}
    )
    lines = csv_lines if arguments.format == "csv" else json_lines
    with open_database() as (database, _):
        for line in lines(each_entry(database, asked)):
            write(line)
    return EXIT_OK


def _verify(arguments: argparse.Namespace) -> int:
    from app.audit.service import verify
    from app.database.engine import open_database

    anchors = dict(map(_anchor, arguments.anchor))
    with open_database() as (database, _):
        found = verify(database, anchors=anchors)
    if arguments.json:
        write_json({**found.as_json(), "findings": []})
    elif found.fault:
        write(f"{found.fault}\nIntact entries before it: {found.entries}\n")
    else:
        write(f"All entries are intact: {found.entries}\n")
        if found.entries:
            write(f"Keep this anchor outside of the database: {found.anchor}\n")
    return EXIT_FINDINGS if found.fault else EXIT_OK


def _anchor(text: str) -> tuple[int, str]:
    found = _ANCHOR.fullmatch(text)
    if found is None:
        message = f"cfplan audit verify: {text[:100]!r} is not an anchor such as 17:6f1e…, with 64 hexadecimal digits"
        raise UsageError(message)
    return int(found[1]), found[2]
