"""Users of other directories, and sign-ins that have begun at an OpenID provider.

Revises: e1a5c9d3f7b2.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a7d3e5f1c9b4"
down_revision = "e1a5c9d3f7b2"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "external_identities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_external_identities")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_external_identities_issuer_subject")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], ondelete="CASCADE", name=op.f("fk_external_identities_user_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_external_identities_user_id", "external_identities", ["user_id"])
    op.create_table(
        "oidc_sign_ins",
        sa.Column("state_hash", sa.String(64), nullable=False),
        sa.Column("browser_hash", sa.String(64), nullable=False),
        sa.Column("nonce", sa.String(64), nullable=False),
        sa.Column("verifier", sa.String(128), nullable=False),
        sa.Column("redirect_uri", sa.String(500), nullable=False),
        sa.Column("return_to", sa.String(2000), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("state_hash", name=op.f("pk_oidc_sign_ins")),
    )
    op.create_index("ix_oidc_sign_ins_begun_at", "oidc_sign_ins", ["begun_at"])


def downgrade() -> None:
    """Drop the tables."""
    for table in ("oidc_sign_ins", "external_identities"):
        op.drop_table(table)
