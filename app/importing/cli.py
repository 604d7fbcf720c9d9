"""The command `cfplan import`: tables of structures and queues. Nothing is stored, and no service is needed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from app.command_line import EXIT_OK, UsageError, add_json, commands_of, write, write_json

if TYPE_CHECKING:
    from pydantic import BaseModel

    from planner_core.wire import JsonObject

Request = TypeVar("Request", bound="BaseModel")
_OPTIONS = {
    "qsg": ("NAME", "queue-sharing group"),
    "queue_managers": ("N", "queue managers DEFINED to the group"),
    "cfcc_level": ("L", "CF control code level (default: 25)"),
}
_WHOLE = ("queue_managers", "cfcc_level")


def add_import(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan import`."""
    verb = commands_of(parser, "verb")
    verb("structures", "Size a table of structures, entered as in CFSizer (CSV or xlsx).", _add_structures)
    verb("queues", "Create a plan from a table of queues (CSV or xlsx).", _add_queues)
    verb("template", "Print the headings of a table with example rows.", _add_template)


def _add_structures(made: argparse.ArgumentParser) -> None:
    made.set_defaults(run=_structures)
    _add_table(made)
    made.add_argument("--target-usage", dest="target_usage_percent", metavar="P", help="percent of the fuller pool that the backlog may take of INITSIZE (default: 80)")  # fmt: skip
    made.add_argument("--size-factor", metavar="F", help="SIZE as a multiple of INITSIZE (default: 1.5)")
    how = made.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print the answer as JSON instead of CSV")
    how.add_argument("--plans", type=Path, metavar="FOLDER", help="write a plan document for each group to this folder, for cfplan plans import")  # fmt: skip


def _add_queues(made: argparse.ArgumentParser) -> None:
    made.set_defaults(run=_queues)
    _add_table(made)
    made.add_argument("--structure", metavar="S", help="structure of rows that name none")
    made.add_argument(
        "--message-bytes", metavar="B", help="message size of rows that state none, in bytes or with a unit"
    )
    add_json(made, "print the answer as JSON: document, notes")


def _add_template(made: argparse.ArgumentParser) -> None:
    made.set_defaults(run=_template)
    made.add_argument("kind", choices=("structures", "queues"))


def _add_table(made: argparse.ArgumentParser) -> None:
    made.add_argument("file", metavar="FILE", help="CSV or xlsx; - for standard input")
    made.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="HEADING=COLUMN",
        help="the column that a heading means, or - to ignore it; may be repeated",
    )
    for name, (metavar, about) in _OPTIONS.items():
        made.add_argument(
            f"--{name.removesuffix('_level').replace('_', '-')}", dest=name, metavar=metavar, help=about
        )


def _request(arguments: argparse.Namespace, model: type[Request], **more: Any) -> Request:  # noqa: ANN401 - members of the model
    """Return the request that the options describe; they are read by the same rules as those of REST."""
    from app.importing.service import mapping_of
    from app.importing.spreadsheets import table_text
    from app.running.requests import read_request
    from app.running.texts import printable, read_bytes
    from planner_core.typed_numbers import size_text

    for text in arguments.column:
        if "=" not in text:
            msg = f"cfplan import: --column needs a heading and a column, such as 'Arrivals=small_per_minute', not {text!r}"
            raise UsageError(msg)
    given: dict[str, Any] = {
        name: getattr(arguments, name, None)
        for name in ("qsg", "queue_managers", "cfcc_level", "target_usage_percent", "size_factor", "structure", "message_bytes")
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    for name in given.keys() & {*_WHOLE, "target_usage_percent", "size_factor"}:
        given[name] = _number(given[name], is_whole=name in _WHOLE)
    if "message_bytes" in given:
        given["message_bytes"] = size_text(given["message_bytes"])
    text = printable(table_text(read_bytes(arguments.file), "" if arguments.file == "-" else arguments.file))
    body = {"text": text, "columns": mapping_of(arguments.column), **given, **more}
    return read_request(model, json.dumps(body).encode())


def _number(text: str, *, is_whole: bool) -> int | float | str:
    """Return a number for JSON; another text stays as it is, and its reader refuses it."""
    from planner_core.typed_numbers import decimal, whole

    number = whole(text) if is_whole else decimal(text)
    return text if number is None else number if isinstance(number, int) else float(number)


def _structures(arguments: argparse.Namespace) -> int:
    from app.importing import service
    from app.importing.requests import StructuresRequest

    folder: Path | None = arguments.plans
    found = service.structures(_request(arguments, StructuresRequest, plans=folder is not None))
    if folder is not None:
        for path in _written(folder, {each.qsg: each.document for each in found.plans}):
            write(f"{path}\n")
    elif arguments.json:
        write_json(found.as_json())
    else:
        write(service.sizes_csv(found.rows))
    return EXIT_OK


def _written(folder: Path, documents: dict[str, JsonObject]) -> list[Path]:
    """Write the documents to new files, all of them or none.

    Raises:
        PlannerError: A file exists, or cannot be written.
    """
    from planner_core.errors import PlannerError

    paths = [folder / f"{name}.json" for name in documents]
    existing = next((path for path in paths if path.exists()), None)
    if existing is not None:
        msg = f"The file {str(existing)!r} exists. Nothing was written: choose another folder."
        raise PlannerError(msg)
    done: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, document in zip(paths, documents.values(), strict=True):
            with path.open("x", encoding="utf-8") as file:
                done.append(path)
                file.write(json.dumps(document, indent=2) + "\n")
    except OSError as error:
        for path in done:
            path.unlink(missing_ok=True)
        msg = f"The folder {str(folder)!r} cannot be written to: {error.strerror}. Nothing was written."
        raise PlannerError(msg) from None
    return paths


def _queues(arguments: argparse.Namespace) -> int:
    import sys

    from app.importing import service
    from app.importing.requests import QueuesRequest

    found = service.queues(_request(arguments, QueuesRequest))
    if arguments.json:
        write_json(found.as_json())
    else:
        for note in found.notes:
            sys.stderr.write(f"{note}\n")
        write_json(found.document)
    return EXIT_OK


def _template(arguments: argparse.Namespace) -> int:
    from app.importing.service import template_csv

    write(template_csv(arguments.kind))
    return EXIT_OK
