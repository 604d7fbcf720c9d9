"""Uses of connections, verified units, policies created on z/OSMF, and drift.

Revises: b8e3d6f1a4c7.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d19c0f5e7a32"
down_revision = "b8e3d6f1a4c7"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TABLES = ("policy_drifts", "applied_policies", "verified_size_units", "connection_uses")


def upgrade() -> None:
    """Create the tables; they are empty until a connection is used."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "connection_uses",
        sa.Column("connection", sa.String(32), nullable=False),
        sa.Column("used_at", time, nullable=False),
        sa.Column("succeeded", sa.Boolean(), nullable=False),
        sa.Column("sentence", sa.String(1000), nullable=False),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_connection_uses")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "verified_size_units",
        sa.Column("connection", sa.String(32), nullable=False),
        sa.Column("address", sa.String(500), nullable=False),
        sa.Column("unit", sa.String(1), nullable=False),
        sa.Column("policy", sa.String(8), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("verified_at", time, nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_verified_size_units")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "applied_policies",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("connection", sa.String(32), nullable=False),
        sa.Column("policy", sa.String(8), nullable=False),
        sa.Column("base", sa.String(8), nullable=False),
        sa.Column("plan", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("sent_at", time, nullable=False),
        sa.Column("changed_at", time, nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_applied_policies")),
        sa.UniqueConstraint("connection", "policy", name=op.f("uq_applied_policies_connection_policy")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "policy_drifts",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("connection", sa.String(32), nullable=False),
        sa.Column("compared_at", time, nullable=False),
        sa.Column("outcome", sa.String(10), nullable=False),
        sa.Column("policy", sa.String(8), nullable=True),
        sa.Column("sentence", sa.String(1000), nullable=False),
        sa.Column("differences", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policy_drifts")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_policy_drifts_connection", "policy_drifts", ["connection", "compared_at"])


def downgrade() -> None:
    """Drop the tables."""
    for table in TABLES:
        op.drop_table(table)
