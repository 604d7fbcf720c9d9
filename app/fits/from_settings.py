"""Fitted curves for commands that otherwise need no database. The database of the settings is never created or changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.fits.kept import curves_in
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding

if TYPE_CHECKING:
    from app.fits.fits import Fit


def curves_of_settings(version: int) -> Fit | None:
    """Return the fit with this version from the database in the settings, which is opened only for this lookup.

    Raises:
        PlanRefused: There is no database.
        DatabaseUnusable: The database has another schema version, is damaged, or does not answer.
    """
    from app.database.engine import open_database

    # A command that only evaluates a plan must not change the database of a running service.
    with open_database(migrates=False) as (database, settings):
        if database.is_missing:
            raise PlanRefused((_no_database(version, settings.data_dir),))
        return curves_in(database)(version)


def _no_database(version: int, data_dir: Path) -> Finding:
    return finding(
        "CURVE_UNKNOWN",
        f"The plan names the fitted curve {version}, but there is no database in the data folder {str(data_dir)!r}. "
        "Set CFPLAN_DATA_DIR or CFPLAN_DATABASE_URL to the data of the service, or use 'published'.",
        field="/curve/fitted",
    )
