"""The command `cfplan uploads`: files in the data folder that have no upload, and uploads that have no file."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.command_line import EXIT_FINDINGS, EXIT_OK, add_json, commands_of, write, write_json, write_lines

if TYPE_CHECKING:
    from app.settings import Settings
    from app.uploads.unregistered import FileCheck

SHOWN = 20


def add_uploads(uploads: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan uploads`."""
    verb = commands_of(uploads, "verb")
    verb("check", "List files without an upload, and uploads without their file.", _add_check)
    verb("register", "Create an upload for a file without one; the service reads it.", _add_register)
    verb("remove", "Remove a file that no upload needs.", _add_remove)


def _add_check(check: argparse.ArgumentParser) -> None:
    check.set_defaults(run=_check)
    check.add_argument(
        "--history", action="store_true", help="also list files in the usage history that no upload has"
    )
    add_json(check)


def _add_register(register: argparse.ArgumentParser) -> None:
    register.set_defaults(run=_register)
    register.add_argument("digests", metavar="SHA256", nargs="*", type=_digest, help="SHA-256 of the file")
    register.add_argument("--all", action="store_true", help="all files without an upload")


def _add_remove(remove: argparse.ArgumentParser) -> None:
    remove.set_defaults(run=_remove)
    remove.add_argument("digests", metavar="SHA256", nargs="+", type=_digest, help="SHA-256 of the file")


def _digest(text: str) -> str:
    from app.uploads.unregistered import is_digest

    if not is_digest(text):
        message = f"{text!r} is not a SHA-256: 64 digits and letters from a to f"
        raise argparse.ArgumentTypeError(message)
    return text


def _check(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.uploads import repository
    from app.uploads.unregistered import check_files

    with open_database() as (database, settings):
        in_history = _files_in_history(settings) if arguments.history else []
        with database.session(writes=False) as session:
            found = check_files(session, data_dir=settings.data_dir)
            known = repository.known_digests(
                session, {str(each["file_sha256"]) for each in in_history}, is_wanted=False
            )
    unknown = [each for each in in_history if each["file_sha256"] not in known]
    if arguments.json:
        answer = found.as_json()
        if arguments.history:
            answer["history"] = [
                {"file_name": each["file_name"], "sha256": each["file_sha256"], "days": _days(each)}
                for each in unknown
            ]
        write_json(answer)
    else:
        write_lines(_lines(found))
        if arguments.history:
            write_lines(_history_lines(unknown))
    return EXIT_FINDINGS if found.unregistered_total or found.missing_total else EXIT_OK


def _lines(found: FileCheck) -> Iterator[str]:
    yield f"Files without an upload: {found.unregistered_total}"
    for file in found.unregistered:
        state = ", read before" if file.was_read else ""
        yield f"  {file.sha256} {file.size_bytes} bytes, {file.detected_kind or 'unknown kind'}{state}"
    yield f"Uploads without their file: {found.missing_total}"
    for upload in found.missing:
        yield f"  {upload.id} {upload.filename} {upload.sha256}"


def _history_lines(unknown: list[dict[str, Any]]) -> Iterator[str]:
    yield f"Files in the usage history without an upload: {len(unknown)}"
    for each in unknown[:SHOWN]:
        days = _days(each)
        yield f"  {each['file_name']} {each['file_sha256']}" + (f" {days[0]} to {days[-1]}" if days else "")
    if len(unknown) > SHOWN:
        yield f"  and {len(unknown) - SHOWN} more"
    if unknown:
        yield (
            "They were read by `cfplan ingest`, or by uploads that the database does not know. `cfplan history rollup` "
            "rebuilds the roll-ups in the database from the whole history."
        )


def _days(row: dict[str, Any]) -> list[str]:
    return sorted({day for days in json.loads(row.get("days") or "{}").values() for day in days})


def _files_in_history(settings: Settings) -> list[dict[str, Any]]:
    from app.jobs import processes
    from app.usage.history_cli import check_packages
    from planner_core.errors import PlannerError

    check_packages()
    done = subprocess.run(
        processes.history_command(settings, "files"), check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env=processes.environment(settings),
    )  # fmt: skip
    if done.returncode:
        raise PlannerError(
            done.stderr.strip() or f"The usage history cannot be read: exit code {done.returncode}."
        )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if row.get("entry") == "ingest" and row.get("file_sha256")]


def _register(arguments: argparse.Namespace) -> int:
    from app.command_line import UsageError
    from app.database.engine import open_database
    from app.uploads import service
    from app.uploads.unregistered import check_files

    if bool(arguments.digests) == arguments.all:
        message = "cfplan uploads register: name the files by their SHA-256, or use --all."
        raise UsageError(message)
    with open_database() as (database, settings), database.session(writes=True) as session:
        digests = arguments.digests or [
            each.sha256 for each in check_files(session, data_dir=settings.data_dir).unregistered
        ]
        stored = [service.register(session, digest, data_dir=settings.data_dir) for digest in digests]
    for upload in stored:
        write(f"{upload.sha256}: upload {upload.id}, {upload.filename}\n")
    if stored:
        sys.stderr.write("The service reads them; without a service, start it with `cfplan serve`.\n")
    return EXIT_OK


def _remove(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.uploads import service

    with open_database() as (database, settings), database.session(writes=True) as session:
        for digest in arguments.digests:
            service.remove_unregistered(session, digest, data_dir=settings.data_dir)
    for digest in arguments.digests:
        write(f"{digest}: removed\n")
    return EXIT_OK
