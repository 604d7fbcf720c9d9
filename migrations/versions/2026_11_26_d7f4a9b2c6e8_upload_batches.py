"""Batches: files that were uploaded together.

Uploads that are stored already belong to no batch. Revises: d7b3e9a5c1f4.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d7f4a9b2c6e8"
down_revision = "d7b3e9a5c1f4"
branch_labels = None
depends_on = None

TABLE = "upload_batch_files"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        TABLE,
        sa.Column("batch", sa.String(40), nullable=False),
        sa.Column("upload_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("batch", "upload_id", name=op.f("pk_upload_batch_files")),
        sa.ForeignKeyConstraint(
            ["upload_id"],
            ["uploads.id"],
            ondelete="CASCADE",
            name=op.f("fk_upload_batch_files_upload_id_uploads"),
        ),
    )
    op.create_index("ix_upload_batch_files_upload_id", TABLE, ["upload_id"])
    op.create_index("ix_upload_batch_files_added_at", TABLE, ["added_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table(TABLE)
