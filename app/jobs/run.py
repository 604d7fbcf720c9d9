"""The keeper of one run: `python -m app.jobs.run ID`, with the settings in the environment.

It ends with 0 when the run has come to rest or is another's, and with 2 when it cannot be looked at.
"""

from __future__ import annotations

import sys

from sqlalchemy.exc import OperationalError

from app.database.engine import Database, database_url
from app.jobs import repository
from app.jobs.ingest_keeper import IngestKeeper
from app.jobs.keeper import Keeper
from app.jobs.models import FORGET_SIMULATED, LOOK_AROUND, NIGHT
from app.settings import Settings, read_settings
from planner_core.errors import PlannerError


def main(argv: list[str] | None = None) -> int:
    """Keep the run with this number."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 1 or not arguments[0].isdigit():
        sys.stderr.write("python -m app.jobs.run ID: the number of one run is needed.\n")
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
    """The one that knows what a run of this kind does; of a run that is not there, one that will find it gone."""
    from app.nightly.keeper import NightKeeper
    from app.nightly.looking_around import Forgetting, LookAround

    with database.session(writes=False) as session:
        run = repository.find(session, job_id, light=True)
    kinds: dict[str, type[Keeper]] = {
        NIGHT: NightKeeper,
        LOOK_AROUND: LookAround,
        FORGET_SIMULATED: Forgetting,
    }
    return kinds.get(run.kind if run else "", IngestKeeper)(database, settings, job_id)


if __name__ == "__main__":
    sys.exit(main())
