"""Nightly runs and their results: fitted curves, forecasts and their scores, findings, daily peaks; CFCC levels.

Revises: c3e2b8d5f9a7.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d4f3c9e6a0b8"
down_revision = "c3e2b8d5f9a7"
branch_labels = None
depends_on = None

# SQLite numbers rows only in a column of type INTEGER.
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables of nightly runs."""
    op.create_table(
        "nightly_runs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("job_id", KEY, nullable=False),
        sa.Column("trigger", sa.String(12), nullable=False),
        sa.Column("due_on", sa.Date(), nullable=True),
        sa.Column("stored_at", TIME, nullable=True),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("last_day", sa.Date(), nullable=True),
        sa.Column("days_total", sa.Integer(), nullable=True),
        sa.Column("days_reduced", sa.Integer(), nullable=True),
        sa.Column("rows_read", sa.BigInteger(), nullable=True),
        sa.Column("seconds", sa.JSON(), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=True),
        sa.Column("mixes", sa.LargeBinary(), nullable=True),
        sa.Column("published", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_nightly_runs"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["job_runs.id"], name="fk_nightly_runs_job_id", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("job_id", name="uq_nightly_runs_job_id"),
        sa.UniqueConstraint("due_on", name="uq_nightly_runs_due_on"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "fitted_curves",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("scope", sa.String(20), nullable=False),
        sa.Column("coupling_facility", sa.String(8), nullable=False),
        sa.Column("cfcc_level", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("last_day", sa.Date(), nullable=True),
        sa.Column("made_at", TIME, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("fit", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_fitted_curves"),
        sa.ForeignKeyConstraint(["run_id"], ["nightly_runs.id"], name="fk_fitted_curves_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_fitted_curves_scope", "fitted_curves", ["scope"])
    op.create_index(
        "uq_fitted_curves_current", "fitted_curves", ["scope"], unique=True,
        sqlite_where=sa.text("is_current"), postgresql_where=sa.text("is_current"),
    )  # fmt: skip
    op.create_table(
        "forecasts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("measure", sa.String(12), nullable=False),
        sa.Column("queue_manager", sa.String(4), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("is_latest", sa.Boolean(), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("made_on", sa.Date(), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("last_day", sa.Date(), nullable=True),
        sa.Column("horizon_days", sa.Integer(), nullable=False),
        sa.Column("earliest_crossing_day", sa.Date(), nullable=True),
        sa.Column("score_on", sa.Date(), nullable=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("forecast", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_forecasts"),
        sa.ForeignKeyConstraint(["run_id"], ["nightly_runs.id"], name="fk_forecasts_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_forecasts_series", "forecasts", ["qsg", "structure", "measure", "queue_manager"])
    op.create_index(
        "uq_forecasts_latest", "forecasts", ["qsg", "structure", "measure", "queue_manager"], unique=True,
        sqlite_where=sa.text("is_latest"), postgresql_where=sa.text("is_latest"),
    )  # fmt: skip
    op.create_index("ix_forecasts_score_on", "forecasts", ["score_on"])
    op.create_table(
        "forecast_scores",
        sa.Column("id", KEY, nullable=False),
        sa.Column("forecast_id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("scored_at", TIME, nullable=False),
        sa.Column("days_scored", sa.Integer(), nullable=False),
        sa.Column("wape", sa.Float(), nullable=True),
        sa.Column("pinball", sa.Float(), nullable=True),
        sa.Column("coverage80", sa.Float(), nullable=True),
        sa.Column("score", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_forecast_scores"),
        sa.ForeignKeyConstraint(
            ["forecast_id"], ["forecasts.id"], name="fk_forecast_scores_forecast_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["nightly_runs.id"], name="fk_forecast_scores_run_id"),
        sa.UniqueConstraint("forecast_id", "run_id", name="uq_forecast_scores_forecast_id_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "night_findings",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("severity", sa.String(10), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("qsg", sa.String(4), nullable=True),
        sa.Column("structure", sa.String(16), nullable=True),
        sa.Column("coupling_facility", sa.String(8), nullable=True),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_night_findings"),
        sa.ForeignKeyConstraint(["run_id"], ["nightly_runs.id"], name="fk_night_findings_run_id"),
        sa.UniqueConstraint("run_id", "position", name="uq_night_findings_run_id_position"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "daily_structure_usage",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("entries_peak", sa.BigInteger(), nullable=True),
        sa.Column("elements_peak", sa.BigInteger(), nullable=True),
        sa.Column("entries_total", sa.BigInteger(), nullable=True),
        sa.Column("elements_total", sa.BigInteger(), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("full_count", sa.BigInteger(), nullable=True),
        sa.Column("smds", sa.JSON(), nullable=True),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("qsg", "structure", "day", name="pk_daily_structure_usage"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_daily_structure_usage_day", "daily_structure_usage", ["day"])
    op.create_table(
        "cf_levels",
        sa.Column("coupling_facility", sa.String(8), nullable=False),
        sa.Column("cfcc_level", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(100), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("coupling_facility", name="pk_cf_levels"),
    )


def downgrade() -> None:
    """Drop nightly runs and their results; their jobs and the usage history stay."""
    op.drop_table("cf_levels")
    op.drop_table("daily_structure_usage")
    op.drop_table("night_findings")
    op.drop_table("forecast_scores")
    op.drop_table("forecasts")
    op.drop_table("fitted_curves")
    op.drop_table("nightly_runs")
