"""Sizing points, and fits of them, which belong to no nightly run.

Revises: b5c1d8e4a2f7.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d2b7f4c9a6e1"
down_revision = "b5c1d8e4a2f7"
branch_labels = None
depends_on = None

POINTS, CURVES = "sizing_points", "fitted_curves"
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table, and allow fits without a run."""
    op.create_table(
        POINTS,
        sa.Column("id", _KEY, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("cfcc_level", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("structure_type", sa.String(12), nullable=False),
        sa.Column("entry_ratio", sa.Integer(), nullable=False),
        sa.Column("element_ratio", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("initsize_bytes", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.BigInteger(), nullable=True),
        sa.Column("elements", sa.BigInteger(), nullable=True),
        sa.Column("origin", sa.String(12), nullable=False),
        sa.Column("release", sa.String(60), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("measured_by", sa.String(80), nullable=False),
        sa.Column("measured_on", sa.Date(), nullable=True),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("author", sa.String(200), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sizing_points")),
        sa.UniqueConstraint("digest", name=op.f("uq_sizing_points_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sizing_points_cfcc_level_kind", POINTS, ["cfcc_level", "kind"])
    _allow_fits_without_run(is_allowed=True)


def downgrade() -> None:
    """Drop the points and their fits. Plans that name such a fit keep their results, but are refused when edited."""
    op.execute(f"DELETE FROM {CURVES} WHERE run_id IS NULL")  # noqa: S608 - a name of our own
    _allow_fits_without_run(is_allowed=False)
    op.drop_index("ix_sizing_points_cfcc_level_kind", table_name=POINTS)
    op.drop_table(POINTS)


def _allow_fits_without_run(*, is_allowed: bool) -> None:
    with op.batch_alter_table(CURVES, table_kwargs={"sqlite_autoincrement": True}) as table:
        table.alter_column("run_id", existing_type=_KEY, nullable=is_allowed)
