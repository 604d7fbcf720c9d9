"""Old forecasts are found by the day they were made on, so that a night can drop them.

Before: f6b5e1a8c2d0.
"""

from __future__ import annotations

from alembic import op

revision = "a7c6f2b9d3e1"
down_revision = "f6b5e1a8c2d0"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Up."""
    op.create_index("ix_forecasts_made_on", "forecasts", ["made_on"])


def downgrade() -> None:
    """Down."""
    op.drop_index("ix_forecasts_made_on", "forecasts")
