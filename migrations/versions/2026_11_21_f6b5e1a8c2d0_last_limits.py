"""The hours of the last limits of entries and of elements, because a display may show only one of them.

Revises: e5a4d0f7b1c9.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "f6b5e1a8c2d0"
down_revision = "e5a4d0f7b1c9"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
HOURS = sa.table(
    "hourly_structure_usage",
    sa.column("qsg", sa.String(4)),
    sa.column("structure", sa.String(16)),
    sa.column("hour", TIME),
    sa.column("entries_total", sa.BigInteger()),
    sa.column("elements_total", sa.BigInteger()),
)
KEPT = sa.table(
    "measured_structures",
    sa.column("qsg", sa.String(4)),
    sa.column("structure", sa.String(16)),
    sa.column("last_limits_hour", TIME),
    sa.column("last_entries_limit_hour", TIME),
    sa.column("last_elements_limit_hour", TIME),
)


def upgrade() -> None:
    """Add the columns, filled with the hours of known limits."""
    for column, total in (
        ("last_entries_limit_hour", HOURS.c.entries_total),
        ("last_elements_limit_hour", HOURS.c.elements_total),
    ):
        op.add_column("measured_structures", sa.Column(column, TIME, nullable=True))
        of_it = (HOURS.c.qsg == KEPT.c.qsg) & (HOURS.c.structure == KEPT.c.structure)
        last = sa.select(sa.func.max(HOURS.c.hour)).where(of_it, total.is_not(None)).scalar_subquery()
        # The stored hours already contain these limits.
        op.execute(sa.update(KEPT).where(KEPT.c.last_limits_hour.is_not(None)).values({column: last}))


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("measured_structures", "last_elements_limit_hour")
    op.drop_column("measured_structures", "last_entries_limit_hour")
