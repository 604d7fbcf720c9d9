"""Plans, their versions and the texts of each version.

This is the first revision.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a1c0f5e2d7b3"
down_revision = None
branch_labels = None
depends_on = None

# SQLite numbers rows only in a column of type INTEGER.
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LIVING = sa.text("deleted_at IS NULL")


def upgrade() -> None:
    """Create the tables of plans."""
    op.create_table(
        "plans",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("latest", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_plans"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        # Unique only among current plans: deleted ones keep their names.
        "uq_plans_living_name",
        "plans",
        ["name"],
        unique=True,
        sqlite_where=LIVING,
        postgresql_where=LIVING,
    )
    op.create_index("ix_plans_deleted_at", "plans", ["deleted_at"])
    op.create_table(
        "plan_versions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("plan_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("comment", sa.String(500), nullable=True),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("core_version", sa.String(40), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("curve", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("explanations", sa.LargeBinary(), nullable=False),
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structures", sa.Integer(), nullable=False),
        sa.Column("initsize_kib", sa.BigInteger(), nullable=False),
        sa.Column("size_kib", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("warnings", sa.Integer(), nullable=False),
        sa.Column("infos", sa.Integer(), nullable=False),
        sa.Column("acknowledged", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["plan_id"], ["plans.id"], name="fk_plan_versions_plan_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_plan_versions"),
        sa.UniqueConstraint("plan_id", "number", name="uq_plan_versions_plan_id_number"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "plan_outputs",
        sa.Column("version_id", KEY, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("filename", sa.String(100), nullable=True),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["version_id"], ["plan_versions.id"], name="fk_plan_outputs_version_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", "kind", name="pk_plan_outputs"),
    )


def downgrade() -> None:
    """Drop the tables, with every plan."""
    op.drop_table("plan_outputs")
    op.drop_table("plan_versions")
    op.drop_index("ix_plans_deleted_at", table_name="plans")
    op.drop_index("uq_plans_living_name", table_name="plans")
    op.drop_table("plans")
