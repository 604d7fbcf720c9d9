"""The health of structures in the last days, as the last nightly run judged it.

Revises: d2b7f4c9a6e1.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "f6a2c8d4b1e9"
down_revision = "d2b7f4c9a6e1"
branch_labels = None
depends_on = None

TABLE = "structure_health"
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table; it is empty until the next nightly run."""
    op.create_table(
        TABLE,
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("run_id", _KEY, nullable=False),
        sa.Column("has_warning", sa.Boolean(), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("health", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("qsg", "structure", name=op.f("pk_structure_health")),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["nightly_runs.id"],
            ondelete="CASCADE",
            name=op.f("fk_structure_health_run_id_nightly_runs"),
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_structure_health_has_warning", TABLE, ["has_warning"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table(TABLE)
