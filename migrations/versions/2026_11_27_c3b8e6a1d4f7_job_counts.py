"""An index with which jobs are counted by kind and state without reading their logs and reports.

Revises: e1a7c4d9b3f6.
"""

from __future__ import annotations

from alembic import op

revision = "c3b8e6a1d4f7"
down_revision = "e1a7c4d9b3f6"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index."""
    op.create_index("ix_job_runs_kind_state", "job_runs", ["kind", "state", "ended_at"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("ix_job_runs_kind_state", "job_runs")
