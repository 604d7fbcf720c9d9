"""The value of a limit with the date that was last reported.

Revises: c4f1a9d7e2b5.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a9e4c7b2d6f8"
down_revision = "c4f1a9d7e2b5"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; values of dates that were reported before are unknown."""
    op.add_column("notice_baselines", sa.Column("value", sa.Float(), nullable=True))


def downgrade() -> None:
    """Remove the column."""
    op.drop_column("notice_baselines", "value")
