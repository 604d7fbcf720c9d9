"""Uploads, runs of jobs, and the site's map of queue managers to queue-sharing groups.

Revises: a1c0f5e2d7b3.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b2d1a7c4e8f6"
down_revision = "a1c0f5e2d7b3"
branch_labels = None
depends_on = None

# SQLite numbers rows only in a column of type INTEGER.
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of uploads and jobs."""
    op.create_table(
        "uploads",
        sa.Column("id", KEY, nullable=False),
        sa.Column("filename", sa.String(255), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("detected_kind", sa.String(20), nullable=False),
        sa.Column("observed_at", sa.String(40), nullable=False),
        sa.Column("zone", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
        sa.UniqueConstraint("sha256", "observed_at", name="uq_uploads_sha256_observed_at"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_uploads_created_at", "uploads", ["created_at"])
    op.create_table(
        "job_runs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("upload_id", KEY, nullable=True),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("stage", sa.String(20), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(120), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asks", sa.Text(), nullable=True),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.Column("log", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name="fk_job_runs_upload_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_job_runs"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_runs_state", "job_runs", ["state"])
    op.create_index("ix_job_runs_upload_id", "job_runs", ["upload_id"])
    op.create_table(
        "qsg_map",
        sa.Column("system_id", sa.String(4), nullable=False),
        sa.Column("queue_manager", sa.String(4), nullable=False),
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("system_id", "queue_manager", name="pk_qsg_map"),
    )


def downgrade() -> None:
    """Drop the tables of uploads and jobs; the usage history and the uploaded files stay."""
    op.drop_table("qsg_map")
    op.drop_index("ix_job_runs_upload_id", table_name="job_runs")
    op.drop_index("ix_job_runs_state", table_name="job_runs")
    op.drop_table("job_runs")
    op.drop_index("ix_uploads_created_at", table_name="uploads")
    op.drop_table("uploads")
