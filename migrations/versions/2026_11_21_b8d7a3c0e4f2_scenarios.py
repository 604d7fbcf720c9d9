"""Scenarios: named changes of a plan's version, with their results.

Revises: a7c6f2b9d3e1.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b8d7a3c0e4f2"
down_revision = "a7c6f2b9d3e1"
branch_labels = None
depends_on = None

# SQLite numbers rows only in a column of type INTEGER.
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of scenarios."""
    op.create_table(
        "scenarios",
        sa.Column("id", KEY, nullable=False),
        sa.Column("plan_id", KEY, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("core_version", sa.String(40), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name="fk_scenarios_plan_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_scenarios"),
        sa.UniqueConstraint("plan_id", "name", name="uq_scenarios_plan_id_name"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drop the table, with every scenario."""
    op.drop_table("scenarios")
