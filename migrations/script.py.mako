"""${message}.

Before: ${down_revision | comma,n}. Edit what was generated: both directions, one idea; a new column is added nullable,
filled, then enforced. On PostgreSQL a lock is waited for 10 seconds (migrations/env.py): keep each step short.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Up."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Down."""
    ${downgrades if downgrades else "pass"}
