"""Alembic's way to the database: the connection that it was handed, or the settings' own."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from app.database.engine import Database, database_url
from app.database.types import Base
from app.jobs import models as jobs
from app.nightly import models as night
from app.plans import models as plans
from app.scenarios import models as scenarios
from app.settings import Settings
from app.uploads import models as uploads
from app.usage import models as usage

config = context.config
# Imported, so that the metadata knows them.
TABLES = (
    plans.Plan, plans.PlanVersion, plans.PlanOutput, uploads.Upload, uploads.QsgMapping, jobs.JobRun,
    usage.MeasuredStructure, usage.MeasuredQueue, usage.HourlyStructureUsage, usage.HourlySmdsUsage,
    usage.HourlyQueueUsage, night.NightlyRun, night.FitVersion, night.StoredForecast, night.ForecastScore,
    night.StoredFinding, night.DailyStructureUsage, night.CfLevel, scenarios.Scenario,
)  # fmt: skip


def migrate(connection: Connection) -> None:
    """Run what was asked for within the transaction of this connection."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",  # SQLite alters a table by making it anew
        compare_type=True,
        compare_server_default=True,
    )
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL lock_timeout = '10s'")
    with context.begin_transaction():
        context.run_migrations()


handed = config.attributes.get("connection")
if handed is not None:
    migrate(handed)
else:
    settings = Settings()
    database = Database(database_url(settings.database_url, data_dir=settings.data_dir))
    with database.engine.begin() as opened:
        migrate(opened)
