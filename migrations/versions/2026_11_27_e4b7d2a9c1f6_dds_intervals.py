"""How far data servers of RMF were polled, and the polled intervals.

Revises: d19c0f5e7a32.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e4b7d2a9c1f6"
down_revision = "d19c0f5e7a32"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables; they are empty until a connection is polled."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "dds_pollers",
        sa.Column("connection", sa.String(32), nullable=False),
        sa.Column("reached", time, nullable=False),
        sa.Column("latest", time, nullable=False),
        sa.Column("interval_s", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("polled_at", time, nullable=False),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_dds_pollers")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dds_intervals",
        sa.Column("connection", sa.String(32), nullable=False),
        sa.Column("start_at", time, nullable=False),
        sa.Column("end_at", time, nullable=False),
        sa.Column("is_waiting", sa.Boolean(), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.Column("upload_id", _KEY, nullable=True),
        sa.Column("missing", sa.String(1000), nullable=True),
        sa.ForeignKeyConstraint(
            ["upload_id"],
            ["uploads.id"],
            name=op.f("fk_dds_intervals_upload_id_uploads"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("connection", "start_at", name=op.f("pk_dds_intervals")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_dds_intervals_waiting", "dds_intervals", ["connection", "is_waiting", "end_at"])


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("dds_intervals")
    op.drop_table("dds_pollers")
