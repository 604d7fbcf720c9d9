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
    """Remove the column, and the state of applied policies that versions with the earlier schema do not know."""
    # Both states mean that the activation was sent and that the policy may be active; `unconfirmed` came without a change
    # of the schema.
    op.execute("UPDATE applied_policies SET state = 'activating' WHERE state = 'unconfirmed'")
    op.drop_column("notice_baselines", "value")
