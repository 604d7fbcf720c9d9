"""${message}.

Revises: ${down_revision | comma,n}. Edit the generated code: both directions, one idea; add a new column as nullable, fill
it, then enforce it. On PostgreSQL, a statement waits 10 seconds for a lock (migrations/env.py), so keep each step short.
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
