"""The command `cfplan collect-kit`: write the collection kit to a folder."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from app.command_line import (
    EXIT_OK,
    add_json,
    add_question,
    finding_lines,
    read_question,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from planner_core.texts.collection_kit import CollectionKit, CollectionKitQuestion

FOLDER = "collection-kit"


def add_collect_kit(kit: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan collect-kit`."""
    from planner_core.texts.collection_kit import CollectionKitQuestion

    kit.set_defaults(run=_collect_kit)
    kit.add_argument(
        "--folder", metavar="FOLDER", type=Path, default=Path(FOLDER),
        help=f"the folder to create for the texts; absent: {FOLDER}",
    )  # fmt: skip
    add_json(kit, "print the kit as JSON, and write no folder")
    add_question(kit, CollectionKitQuestion)


def _collect_kit(arguments: argparse.Namespace) -> int:
    from planner_core.texts.collection_kit import collection_kit

    question: CollectionKitQuestion = read_question(arguments)
    if not question.systems or not question.queue_managers:
        question = _with_known_names(question)
    kit = collection_kit(question)
    if arguments.json:
        write_json(kit.as_json())
        return EXIT_OK
    _write(kit, arguments.folder)
    write_lines(str(arguments.folder / each.name) for each in kit.texts)
    for found in kit.findings:
        sys.stderr.write("".join(f"{line}\n" for line in finding_lines(found)))
    return EXIT_OK


def _with_known_names(question: CollectionKitQuestion) -> CollectionKitQuestion:
    from app.collecting.service import with_known_names
    from app.database.engine import open_database

    # A command that stores nothing must not create or migrate the database of a service.
    with open_database(migrates=False) as (database, _):
        if database.is_missing:
            return question
        with database.session(writes=False) as session:
            return with_known_names(session, question)


def _write(kit: CollectionKit, folder: Path) -> None:
    """Write the texts to a new folder; all of them, or none.

    Raises:
        PlannerError: The folder exists, or cannot be written.
    """
    from planner_core.errors import PlannerError

    if folder.exists():
        message = f"{folder} exists already: name a new folder with --folder, or remove it."
        raise PlannerError(message)
    # Renamed when it is complete, so that no folder has only some of the texts.
    made: Path | None = None
    try:
        made = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        for each in kit.texts:
            (made / each.name).write_text(each.text, encoding="ascii", newline="\n")
        made.chmod(0o755)
        made.rename(folder)
    except OSError as error:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        message = f"{folder} cannot be written: {error.strerror}."
        raise PlannerError(message) from None
