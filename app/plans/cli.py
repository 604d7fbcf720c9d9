"""The commands `cfplan plans ...`, which use the database of the service without the service.

The database modules are imported when a command runs, so that other commands start quickly.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    add_json,
    commands_of,
    table_lines,
    whole_number,
    write,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.plans.computed import ComputedPlan
    from planner_core.document.model import PlanDocument

TEXTS = ("policy", "job", "mqsc", "setxcf", "runbook", "workflow")
WAYS_TO_PUT = "Use --if-match {etag} if the change is based on that version, or --replace to change the plan whichever version is current."
_MOST_VERSIONS = 2**31 - 1
WAYS_TO_IMPORT = "Use --replace to change existing plans."


def add_plans(plans: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan plans`."""
    verb = commands_of(plans, "verb")
    verb("list", "List plans with their figures.", _add_list)
    verb("show", "Show a saved plan, or one of its texts.", _add_show)
    verb("put", "Save a document (JSON or YAML) under a name.", _add_put)
    verb("acknowledge", "Acknowledge findings of a plan with a reason.", _add_acknowledge)
    verb("delete", "Delete a plan; it can be restored until the date that is printed.", _add_delete)
    verb("restore", "Restore the plan that was most recently deleted under a name.", _add_restore)
    verb("export", "Write each plan document to its own file, NAME.json.", _add_export)
    verb("import", "Save plan documents from files; either all are saved or none.", _add_import)


def _add_name(made: argparse.ArgumentParser) -> None:
    made.add_argument("name", metavar="NAME", help="name of the plan")


def _add_list(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_list)
    listed.add_argument("--search", metavar="TEXT", help="part of the plan's or the group's name")
    listed.add_argument("--deleted", action="store_true", help="list deleted plans that can be restored")
    add_json(listed)


def _add_show(shown: argparse.ArgumentParser) -> None:
    shown.set_defaults(run=_show)
    _add_name(shown)
    shown.add_argument(
        "--version", type=whole_number(1, _MOST_VERSIONS), metavar="N", help="a version (default: the latest)"
    )
    shown.add_argument("--output", choices=("json", "document", "versions", *TEXTS), default="json")


def _add_put(put: argparse.ArgumentParser) -> None:
    put.set_defaults(run=_put)
    _add_name(put)
    put.add_argument("file", metavar="FILE", help="the document; - for standard input")
    put.add_argument("--comment", metavar="TEXT", help="a comment for the history")
    how = put.add_mutually_exclusive_group()
    how.add_argument("--if-match", metavar="ETAG", help="ETag of the version on which a change is based")
    how.add_argument("--replace", action="store_true", help="change the plan, whichever version is current")
    how.add_argument("--create", action="store_true", help="do not change an existing plan")


def _add_acknowledge(accepted: argparse.ArgumentParser) -> None:
    accepted.set_defaults(run=_acknowledge)
    _add_name(accepted)
    accepted.add_argument("code", metavar="CODE", help="code of the finding")
    accepted.add_argument(
        "--reason", required=True, metavar="TEXT", help="reason why the findings are acceptable"
    )
    accepted.add_argument("--structure", metavar="NAME", help="acknowledge only findings of this structure")
    accepted.add_argument("--if-match", metavar="ETAG", help="only if the plan still has this ETag")


def _add_delete(deleted: argparse.ArgumentParser) -> None:
    deleted.set_defaults(run=_delete)
    _add_name(deleted)
    deleted.add_argument("--if-match", metavar="ETAG", help="only if the plan still has this ETag")


def _add_restore(restored: argparse.ArgumentParser) -> None:
    restored.set_defaults(run=_restore)
    _add_name(restored)
    restored.add_argument(
        "--id",
        type=whole_number(1, _MOST_VERSIONS),
        metavar="N",
        help="id in the list of deleted plans, if several of them have the name",
    )
    restored.add_argument(
        "--as", dest="new_name", metavar="NAME", help="its new name, if the old one is in use"
    )


def _add_export(exported: argparse.ArgumentParser) -> None:
    exported.set_defaults(run=_export)
    exported.add_argument("names", metavar="NAME", nargs="*", help="names of the plans")
    exported.add_argument("--all", action="store_true", help="export every plan")
    exported.add_argument(
        "--to",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder of the files (default: the current one)",
    )


def _add_import(imported: argparse.ArgumentParser) -> None:
    imported.set_defaults(run=_import)
    imported.add_argument("files", metavar="FILE", nargs="+", type=Path, help="NAME.json or NAME.yaml")
    imported.add_argument("--replace", action="store_true", help="allow existing plans to be changed")


@contextmanager
def _session(*, writes: bool) -> Iterator[Session]:
    from app.database.engine import open_database

    with open_database() as (database, _), database.session(writes=writes) as session:
        yield session


def _list(arguments: argparse.Namespace) -> int:
    from app.plans import service

    with _session(writes=False) as session:
        if arguments.deleted:
            deleted = service.list_deleted(session)
            rows = [
                {
                    "name": plan.name,
                    "id": plan.id,
                    "version": plan.version,
                    "qsg": plan.qsg,
                    "deleted_at": f"{plan.deleted_at:%Y-%m-%d %H:%M}",
                }
                for plan in deleted
            ]
        else:
            rows = [
                {
                    "name": plan.name, "version": plan.version, "qsg": plan.qsg, "structures": plan.structures,
                    "initsize_kib": plan.initsize_kib, "size_kib": plan.size_kib, "errors": plan.errors,
                    "warnings": plan.warnings, "saved": f"{plan.updated_at:%Y-%m-%d %H:%M}", "etag": plan.etag,
                }
                for plan in service.all_plans(session, search=arguments.search)
            ]  # fmt: skip
    if arguments.json:
        write_json({"plans": rows, "findings": []})
    else:
        write_lines(_table(rows) if rows else ["There are no plans."])
    return EXIT_OK


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table with the names of the members as headings."""
    heads = [name.replace("_", " ") for name in rows[0]]
    right = [at for at, value in enumerate(rows[0].values()) if isinstance(value, int)]
    return table_lines([heads, *([str(value) for value in row.values()] for row in rows)], right=right)


def _show(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.plans import answers, service
    from app.plans.release import Release
    from app.plans.schemas import PlanHistory

    name, number, output = arguments.name, arguments.version, arguments.output
    with open_database() as (database, settings), database.session(writes=False) as session:
        if output in TEXTS:
            release = Release.of(database, settings)
            found = service.get_output(session, name, output, number=number)
            release.check(session, name, found)
            release.record_version(name, found, {output: found.text})
            write(found.text)
            return EXIT_OK
        if output == "versions":
            write_json(PlanHistory(name, service.list_versions(session, name)).as_json())
            return EXIT_OK
        version = service.get_version(session, name, number) if number else service.get_plan(session, name)
        version.check_texts()
        text = (
            version.document_json
            if output == "document"
            else answers.version_json(version, service.get_acknowledgments(session, version)).decode()
        )
    write_json(json.loads(text))
    return EXIT_OK


def _put(arguments: argparse.Namespace) -> int:
    from app.texts.documents import read_file, read_text

    document = (
        read_text(sys.stdin.buffer.read()) if arguments.file == "-" else read_file(Path(arguments.file))
    )
    computed = _computed(arguments.name, document)
    with _session(writes=True) as session:
        outcome = _save(
            session, arguments.name, computed, if_match=arguments.if_match, replaces=arguments.replace,
            create_only=arguments.create, comment=arguments.comment, ways=WAYS_TO_PUT,
        )  # fmt: skip
    write(
        f"{arguments.name}: {outcome.status}, version {outcome.version.number}, ETag {outcome.version.etag}\n"
    )
    found = [finding.severity for finding in outcome.version.findings]
    return EXIT_FINDINGS if "error" in found else EXIT_OK


def _save(
    session: Session, name: str, computed: ComputedPlan, *, if_match: str | None = None, replaces: bool = False,
    create_only: bool = False, comment: str | None = None, ways: str,
) -> Any:  # noqa: ANN401 - the service is imported when a command runs  # fmt: skip
    from app.plans import service

    try:
        return service.save_plan(
            session, name, computed, if_match=if_match, create_only=create_only, comment=comment
        )
    except service.PreconditionRequired as refused:
        if not replaces:
            current = refused.current
            ways = ways.format(etag=shlex.quote(current.etag))
            _refuse(
                f"The plan {name} exists (version {current.number}) and this request would change it, so nothing was saved. {ways}"
            )
        # The row has been locked since the refusal, so its version cannot change between the two calls.
        return service.save_plan(session, name, computed, if_match=refused.current.etag, comment=comment)


def _computed(name: str, document: PlanDocument) -> ComputedPlan:
    """Return the contents of a version, computed before a transaction begins, so that no lock is held meanwhile."""
    from app.database.engine import open_database
    from app.fits.kept import curves_in
    from app.plans import service
    from app.plans.computed import compute

    service.check_name(name)
    with open_database() as (database, _):
        return compute(document, curves_in(database))


def _delete(arguments: argparse.Namespace) -> int:
    from datetime import timedelta

    from app.database.engine import open_database
    from app.plans import service

    with open_database() as (database, settings), database.session(writes=True) as session:
        kept = timedelta(days=settings.deleted_days)
        deleted = service.delete_plan(session, arguments.name, if_match=arguments.if_match)
        service.purge_deleted(session, kept)
    until = deleted.deleted_at + kept
    then = f"Until {until:%Y-%m-%d %H:%M} UTC: cfplan plans restore {deleted.name}"
    write(
        f"{deleted.name}: deleted. {then if kept else 'It cannot be restored (CFPLAN_DELETED_DAYS is 0).'}\n"
    )
    return EXIT_OK


def _acknowledge(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.plans.acknowledging import acknowledge

    with open_database() as (database, _):
        outcome = acknowledge(
            database, arguments.name, code=arguments.code, reason=arguments.reason,
            structure=arguments.structure, if_match=arguments.if_match,
        )  # fmt: skip
    write(f"{arguments.name}: version {outcome.version.number}, ETag {outcome.version.etag}\n")
    return EXIT_OK


def _restore(arguments: argparse.Namespace) -> int:
    from app.plans import service

    with _session(writes=True) as session:
        version = service.restore_plan(
            session, arguments.name, plan_id=arguments.id, new_name=arguments.new_name
        )
    write(f"{version.name}: restored, version {version.number}, ETag {version.etag}\n")
    return EXIT_OK


def _export(arguments: argparse.Namespace) -> int:
    from app.plans import service

    with _session(writes=False) as session:
        names = [plan.name for plan in service.all_plans(session)] if arguments.all else arguments.names
        if not names:
            _refuse("Name the plans to export, or use --all.")
        for name in names:
            document = service.get_plan(session, name).document_object
            path = arguments.to / f"{name}.json"
            try:
                arguments.to.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
            except OSError as error:
                _refuse(f"The file {str(path)!r} cannot be written: {error.strerror}.")
            write(f"{path}\n")
    return EXIT_OK


def _import(arguments: argparse.Namespace) -> int:
    from app.texts.documents import read_file

    # All files are computed first: one error then saves none of them.
    plans = [(path.stem, _computed(path.stem, read_file(path))) for path in arguments.files]
    with _session(writes=True) as session:
        saved = [
            (
                name,
                _save(
                    session,
                    name,
                    computed,
                    replaces=arguments.replace,
                    comment="Imported from a file",
                    ways=WAYS_TO_IMPORT,
                ),
            )
            for name, computed in plans
        ]
    for name, outcome in saved:
        write(f"{name}: {outcome.status}, version {outcome.version.number}, ETag {outcome.version.etag}\n")
    return EXIT_OK


def _refuse(message: str) -> NoReturn:
    from planner_core.errors import PlannerError

    raise PlannerError(message)
