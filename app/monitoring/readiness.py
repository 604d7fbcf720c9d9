"""Whether the service is ready for requests, which is more than its health: whether it answers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from anyio import CapacityLimiter

from app.database.engine import SCHEMA_REVISION, Database
from app.disk import nearest_folder
from app.monitoring.checks import ask
from app.problem_types import NOT_READY
from app.settings import Settings
from planner_core.errors import FieldProblem, PlannerError


class NotReady(PlannerError):
    """The service is not ready; each problem names a failed check."""

    problem = NOT_READY

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        super().__init__(" ".join(problem.message for problem in problems))
        self.problems = problems


async def check_ready(
    database: Database, settings: Settings, *, is_stopping: bool, limiter: CapacityLimiter
) -> None:
    """Check the database, its schema, and the folders that the service writes to.

    Raises:
        NotReady: Something is missing.
    """
    problems = []
    if is_stopping:
        problems.append(FieldProblem(field="service", message="The service is stopping."))
    revision = await ask(_read_revision, database, limiter=limiter)
    if revision is None:
        problems.append(FieldProblem(field="database", message="The database does not answer."))
    elif revision != SCHEMA_REVISION:
        message = f"The tables have revision {revision or 'none'}, and this version of cfplan needs {SCHEMA_REVISION}."
        problems.append(FieldProblem(field="schema", message=message))
    problems += _unwritable(settings)
    if problems:
        raise NotReady(tuple(problems))


def _read_revision(database: Database) -> str:
    """Return the revision of the tables, empty if there are none."""
    # Connecting to a missing file of SQLite would create it, and the next start would find a database without tables.
    return "" if database.is_missing else database.revision() or ""


def _unwritable(settings: Settings) -> Iterator[FieldProblem]:
    """Yield the folders that cannot be written to. An object store is not checked: only jobs have its keys."""
    folders = {"data": settings.data_dir.absolute()}
    if "://" not in settings.history:
        folders["history"] = Path(settings.history).absolute()
    for name, folder in folders.items():
        # A folder that does not exist yet is created when it is needed, in the nearest one that exists.
        nearest = nearest_folder(folder)
        if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            yield FieldProblem(field=name, message=f"The {name} folder cannot be written to.")
