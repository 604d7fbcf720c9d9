"""An index on the day of forecasts, so that a nightly run can find and remove old ones.

Revises: f6b5e1a8c2d0.
"""

from __future__ import annotations

from alembic import op

revision = "a7c6f2b9d3e1"
down_revision = "f6b5e1a8c2d0"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index."""
    op.create_index("ix_forecasts_made_on", "forecasts", ["made_on"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("ix_forecasts_made_on", "forecasts")
