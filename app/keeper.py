"""The keeper of one run: `python -m app.keeper ID [KIND]`, with the settings in the environment.

With the kind of the run, the process that starts its jobs imports its packages while this one opens the database.

Afterwards it carries out the next runs of the queue while they read small uploads, because starting a keeper takes
longer than reading a small file.

The exit code is 0 if the run has ended or belongs to another keeper, 3 if the database has damaged data, and 2 if it cannot be
read for another reason.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from importlib import import_module

from sqlalchemy.exc import DBAPIError

from app import logs
from app.data_folder import in_use
from app.database.damage import is_damaged
from app.database.engine import Database, database_of, is_unusable
from app.jobs import processes, repository
from app.jobs.keeper import Keeper
from app.jobs.starter import Starter
from app.nightly.job_kinds import FORGET_SIMULATED, LOOK_AROUND, NIGHT
from app.settings import Settings, read_settings
from app.uploads import repository as uploads
from app.uploads.job_kind import INGEST
from planner_core.errors import PlannerError

# Apart from app/main.py, the only module that knows both the queue and the features.
KEEPERS: Mapping[str, tuple[str, str]] = {
    INGEST: ("app.uploads.ingest_keeper", "IngestKeeper"),
    NIGHT: ("app.nightly.keeper", "NightKeeper"),
    LOOK_AROUND: ("app.nightly.looking_around", "SimulationKeeper"),
    FORGET_SIMULATED: ("app.nightly.looking_around", "RemovalKeeper"),
}
"""The module and the class for each kind of run. A keeper imports only its own, which takes a third of its start."""
SMALL_UPLOAD_BYTES = 16 * 2**20
"""The size up to which an upload is read by the keeper of the previous one. A run that is queued again waits for the
process that carried it out before, so this process must not be busy for long.
"""


logger = logging.getLogger("cfplan.keeper")


def main(argv: list[str] | None = None) -> int:
    """Carry out the run whose number is in the arguments, and return the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) not in (1, 2) or not arguments[0].isdigit():
        sys.stderr.write("python -m app.keeper ID [KIND]: specify the number of one run.\n")
        return 2
    try:
        settings = read_settings()
        logs.configure(settings)
        if argv is None:  # in a process of its own
            # Inherited by the processes that do the work. Requests have users who wait for them.
            os.nice(settings.job_nice)
        database = database_of(settings)
        try:
            with in_use(settings.data_dir):
                _carry_out(database, settings, int(arguments[0]), kind="".join(arguments[1:]))
        finally:
            database.close()
    except (PlannerError, DBAPIError) as error:
        if isinstance(error, DBAPIError) and not is_unusable(error):
            raise
        logger.error("Job %s cannot be carried out: %s", arguments[0], getattr(error, "orig", None) or error)
        return processes.FOUND_DAMAGE if isinstance(error, DBAPIError) and is_damaged(error) else 2
    return processes.FOUND_DAMAGE if database.damage.is_found else 0


def _carry_out(database: Database, settings: Settings, job_id: int, *, kind: str = "") -> None:
    """Carry out a run, and then the next ones while they read small uploads and the service that started this runs."""
    started_by = os.getppid()
    next_id: int | None = job_id
    with Starter(processes.environment(settings)) as starter:
        if kind == INGEST:
            starter.launch()
        while next_id is not None:
            with logs.in_job(next_id):
                keeper = keeper_of(database, settings, next_id, starter)
                # A run that cannot be claimed now would be found again and again.
                if not keeper.run() or keeper.is_stopped:
                    return
            # A later service may have other settings, or be another version, so it starts its own keepers.
            next_id = _next_small_upload(database) if os.getppid() == started_by else None


def _next_small_upload(database: Database) -> int | None:
    """Return the run that has waited longest if it reads a small upload; the service starts all others in their order."""
    with database.session(writes=False) as session:
        for job_id in repository.waiting(session)[:1]:
            run = repository.find(session, job_id, light=True)
            if run is not None and run.kind == INGEST and run.upload_id is not None:
                upload = uploads.find(session, run.upload_id)
                if upload is not None and upload.size_bytes <= SMALL_UPLOAD_BYTES:
                    return job_id
    return None


def keeper_of(database: Database, settings: Settings, job_id: int, starter: Starter | None = None) -> Keeper:
    """Return the keeper for the kind of a run. If the run no longer exists, any keeper will do: its claim fails."""
    with database.session(writes=False) as session:
        run = repository.find(session, job_id, light=True)
    module, name = KEEPERS[run.kind if run else INGEST]
    keeper: type[Keeper] = getattr(import_module(module), name)
    return keeper(database, settings, job_id, starter=starter)


if __name__ == "__main__":
    logs.log_uncaught_errors()
    sys.exit(main())
