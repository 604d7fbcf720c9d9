"""Hourly roll-ups of measured usage.

Revises: b2d1a7c4e8f6.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c3e2b8d5f9a7"
down_revision = "b2d1a7c4e8f6"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables of measured usage."""
    op.create_table(
        # Without rowid, SQLite stores these rows in the order of their key, in which they are read.
        "measured_structures",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("first_hour", TIME, nullable=False),
        sa.Column("last_hour", TIME, nullable=False),
        sa.Column("last_use_hour", TIME, nullable=True),
        sa.Column("last_limits_hour", TIME, nullable=True),
        sa.Column("last_full_hour", TIME, nullable=True),
        sa.PrimaryKeyConstraint("qsg", "structure", name="pk_measured_structures"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "measured_queues",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("queue", sa.String(48), nullable=False),
        sa.Column("first_hour", TIME, nullable=False),
        sa.Column("last_hour", TIME, nullable=False),
        sa.PrimaryKeyConstraint("qsg", "structure", "queue", name="pk_measured_queues"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "hourly_structure_usage",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("hour", TIME, nullable=False),
        sa.Column("entries_in_use_max", sa.BigInteger(), nullable=True),
        sa.Column("elements_in_use_max", sa.BigInteger(), nullable=True),
        sa.Column("entries_total", sa.BigInteger(), nullable=True),
        sa.Column("elements_total", sa.BigInteger(), nullable=True),
        sa.Column("entries_in_use_pct_max", sa.Float(), nullable=True),
        sa.Column("elements_in_use_pct_max", sa.Float(), nullable=True),
        sa.Column("scm_entries_in_use_max", sa.BigInteger(), nullable=True),
        sa.Column("scm_elements_in_use_max", sa.BigInteger(), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("size_max_bytes", sa.BigInteger(), nullable=True),
        sa.Column("policy_size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("policy_initsize_bytes", sa.BigInteger(), nullable=True),
        sa.Column("full_threshold_pct", sa.Integer(), nullable=True),
        sa.Column("structure_full_count", sa.BigInteger(), nullable=True),
        sa.Column("queue_managers", sa.Integer(), nullable=True),
        sa.Column("observations", sa.BigInteger(), nullable=True),
        sa.Column("sources", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("qsg", "structure", "hour", name="pk_hourly_structure_usage"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_hourly_structure_usage_hour", "hourly_structure_usage", ["hour"])
    op.create_table(
        "hourly_smds_usage",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("queue_manager", sa.String(4), nullable=False),
        sa.Column("hour", TIME, nullable=False),
        sa.Column("blocks_total", sa.BigInteger(), nullable=True),
        sa.Column("blocks_data", sa.BigInteger(), nullable=True),
        sa.Column("blocks_in_use_max", sa.BigInteger(), nullable=True),
        sa.Column("messages_max", sa.BigInteger(), nullable=True),
        sa.Column("failed_allocates", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("qsg", "structure", "queue_manager", "hour", name="pk_hourly_smds_usage"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_hourly_smds_usage_hour", "hourly_smds_usage", ["hour"])
    op.create_table(
        "hourly_queue_usage",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("queue", sa.String(48), nullable=False),
        sa.Column("hour", TIME, nullable=False),
        sa.Column("puts", sa.BigInteger(), nullable=True),
        sa.Column("put_bytes", sa.BigInteger(), nullable=True),
        sa.Column("put_size_min_bytes", sa.BigInteger(), nullable=True),
        sa.Column("put_size_max_bytes", sa.BigInteger(), nullable=True),
        sa.Column("persistent_puts", sa.BigInteger(), nullable=True),
        sa.Column("gets", sa.BigInteger(), nullable=True),
        sa.Column("depth_max", sa.BigInteger(), nullable=True),
        sa.Column("time_on_queue_max_us", sa.BigInteger(), nullable=True),
        sa.Column("size_buckets", sa.JSON(), nullable=True),
        sa.Column("queue_managers", sa.Integer(), nullable=True),
        sa.Column("source", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("qsg", "structure", "queue", "hour", name="pk_hourly_queue_usage"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_hourly_queue_usage_hour", "hourly_queue_usage", ["hour"])


def downgrade() -> None:
    """Drop the roll-ups; the usage history from which they are calculated stays."""
    op.drop_table("hourly_queue_usage")
    op.drop_table("hourly_smds_usage")
    op.drop_table("hourly_structure_usage")
    op.drop_table("measured_queues")
    op.drop_table("measured_structures")
