"""Notices: events, the messages that report them, and the dates of limits as they were last reported.

Revises: e4b7d2a9c1f6.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c4f1a9d7e2b5"
down_revision = "e4b7d2a9c1f6"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables; they are empty until the service looks for events."""
    op.create_table(
        "notice_messages",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice_messages")),
        sa.UniqueConstraint("token", name=op.f("uq_notice_messages_token")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "notices",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("severity", sa.String(10), nullable=False),
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("path", sa.String(200), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("message_id", _KEY, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notices")),
        sa.UniqueConstraint("key", name=op.f("uq_notices_key")),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["notice_messages.id"],
            ondelete="SET NULL",
            name=op.f("fk_notices_message_id_notice_messages"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notices_message_id", "notices", ["message_id", "due_at"])
    op.create_index("ix_notices_kind_qsg_structure", "notices", ["kind", "qsg", "structure", "due_at"])
    op.create_table(
        "notice_deliveries",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("message_id", _KEY, nullable=False),
        sa.Column("channel", sa.String(10), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", _TIME, nullable=False),
        sa.Column("ended_at", _TIME, nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice_deliveries")),
        sa.UniqueConstraint("message_id", "channel", name=op.f("uq_notice_deliveries_message_id_channel")),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["notice_messages.id"],
            ondelete="CASCADE",
            name=op.f("fk_notice_deliveries_message_id_notice_messages"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notice_deliveries_state", "notice_deliveries", ["state", "next_at"])
    op.create_table(
        "notice_baselines",
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("structure", sa.String(16), nullable=False),
        sa.Column("measure", sa.String(12), nullable=False),
        sa.Column("queue_manager", sa.String(4), nullable=False),
        sa.Column("level", sa.String(40), nullable=False),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("is_passed", sa.Boolean(), nullable=False),
        sa.Column("made_on", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint(
            "qsg", "structure", "measure", "queue_manager", "level", name=op.f("pk_notice_baselines")
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "notice_progress",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last_run_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notice_progress")),
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in (
        "notice_progress",
        "notice_baselines",
        "notice_deliveries",
        "notices",
        "notice_messages",
    ):
        op.drop_table(table)
