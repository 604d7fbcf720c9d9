"""Coupling facilities and duplexing of structures by hour, for plans that are created from usage.

Stored hours have no values until their days are rolled up again. Revises: b8d7a3c0e4f2.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c9e8b4d1f5a3"
down_revision = "b8d7a3c0e4f2"
branch_labels = None
depends_on = None

TABLE = "hourly_structure_usage"
COLUMNS = (
    ("coupling_facilities", sa.String(160)),
    ("is_duplexed", sa.Boolean()),
    ("policy_duplex", sa.String(8)),
    ("placed_by", sa.String(200)),
)


def upgrade() -> None:
    """Add the columns."""
    for name, kind in COLUMNS:
        op.add_column(TABLE, sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    """Drop the columns."""
    for name, _ in reversed(COLUMNS):
        op.drop_column(TABLE, name)
