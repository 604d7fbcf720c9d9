"""Requests, redrives, waits and written elements by hour, for findings and for plans that are created from usage.

Stored hours have no values until their days are rolled up again. Revises: c3b8e6a1d4f7.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b5c1d8e4a2f7"
down_revision = "c3b8e6a1d4f7"
branch_labels = None
depends_on = None

COLUMNS = {
    "hourly_structure_usage": (
        "ixllste_calls",
        "ixllste_redrives",
        "ixllstm_calls",
        "ixllstm_redrives",
        "sync_requests",
        "sync_us",
        "async_requests",
        "async_us",
        "changed_requests",
        "queued_requests",
        "queued_us",
        "entries_written",
        "elements_written",
    ),
    "hourly_smds_usage": (
        "write_requests",
        "read_requests",
        "other_read_requests",
        "buffer_requests",
        "pool_waits",
        "pool_wait_us",
        "buffer_waits",
        "buffer_wait_us",
    ),
    "hourly_queue_usage": ("get_readlists", "get_moves"),
}


def upgrade() -> None:
    """Add the columns."""
    for table, names in COLUMNS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Drop the columns."""
    for table, names in COLUMNS.items():
        for name in reversed(names):
            op.drop_column(table, name)
