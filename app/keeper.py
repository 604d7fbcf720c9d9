"""The keeper of one run: `python -m app.keeper ID`, with the settings in the environment.

The exit code is 0 if the run has ended or belongs to another keeper, and 2 if it cannot be read.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from sqlalchemy.exc import OperationalError

from app.database.engine import Database, database_url
from app.jobs import repository
from app.jobs.keeper import Keeper
from app.nightly.job_kinds import FORGET_SIMULATED, LOOK_AROUND, NIGHT
from app.nightly.keeper import NightKeeper
from app.nightly.looking_around import RemovalKeeper, SimulationKeeper
from app.settings import Settings, read_settings
from app.uploads.ingest_keeper import IngestKeeper
from app.uploads.job_kind import INGEST
from planner_core.errors import PlannerError

# Apart from app/main.py, the only module that knows both the queue and the features.
KEEPERS: Mapping[str, type[Keeper]] = {
    INGEST: IngestKeeper,
    NIGHT: NightKeeper,
    LOOK_AROUND: SimulationKeeper,
    FORGET_SIMULATED: RemovalKeeper,
}


def main(argv: list[str] | None = None) -> int:
    """Carry out the run whose number is in the arguments, and return the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 1 or not arguments[0].isdigit():
        sys.stderr.write("python -m app.keeper ID: specify the number of one run.\n")
        return 2
    try:
        settings = read_settings()
        database = Database(database_url(settings.database_url, data_dir=settings.data_dir))
        try:
            keeper_of(database, settings, int(arguments[0])).run()
        finally:
            database.close()
    except (PlannerError, OperationalError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def keeper_of(database: Database, settings: Settings, job_id: int) -> Keeper:
    """Return the keeper for the kind of a run. If the run no longer exists, any keeper will do: its claim fails."""
    with database.session(writes=False) as session:
        run = repository.find(session, job_id, light=True)
    return KEEPERS[run.kind if run else INGEST](database, settings, job_id)


if __name__ == "__main__":
    sys.exit(main())
