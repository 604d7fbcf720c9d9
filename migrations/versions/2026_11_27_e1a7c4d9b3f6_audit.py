"""The audit trail, authors, approvals.

Authors of rows that are stored already are unknown. Revises: a7d3e5f1c9b4.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e1a7c4d9b3f6"
down_revision = "a7d3e5f1c9b4"
branch_labels = None
depends_on = None

ENTRIES = "audit_entries"
AUTHORED = ("plan_versions", "scenarios", "uploads", "nightly_runs")
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REFUSAL = "entries of the audit trail are never changed or removed"


def upgrade() -> None:
    """Create the tables, the triggers that refuse changes, and the columns of authors."""
    op.create_table(
        ENTRIES,
        sa.Column("id", _KEY, autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("actor_kind", sa.String(10), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("token_id", sa.BigInteger(), nullable=True),
        sa.Column("address", sa.String(64), nullable=True),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("object_kind", sa.String(20), nullable=False),
        sa.Column("object_id", sa.BigInteger(), nullable=True),
        sa.Column("object_name", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index("ix_audit_entries_at", ENTRIES, ["at"])
    op.create_index("ix_audit_entries_object_kind_object_id_id", ENTRIES, ["object_kind", "object_id", "id"])
    _refuse_changes()
    op.create_table(
        "plan_approvals",
        sa.Column("plan_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("approver", sa.String(200), nullable=False),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("plan_id", "number", name=op.f("pk_plan_approvals")),
        sa.ForeignKeyConstraint(
            ["plan_id"], ["plans.id"], ondelete="CASCADE", name=op.f("fk_plan_approvals_plan_id_plans")
        ),
    )
    op.create_table(
        "plan_acknowledgments",
        sa.Column("plan_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("plan_id", "digest", "number", name=op.f("pk_plan_acknowledgments")),
        sa.ForeignKeyConstraint(
            ["plan_id"], ["plans.id"], ondelete="CASCADE", name=op.f("fk_plan_acknowledgments_plan_id_plans")
        ),
    )
    for table in AUTHORED:
        op.add_column(table, sa.Column("author", sa.String(200), nullable=True))


def _refuse_changes() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"""
            CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'restrict_violation';
            END $$
            """
        )
        op.execute(
            f"CREATE TRIGGER audit_entries_no_change BEFORE UPDATE OR DELETE ON {ENTRIES} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"
        )
        op.execute(
            f"CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON {ENTRIES} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
        )
        return
    for event in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_entries_no_{event.lower()} BEFORE {event} ON {ENTRIES} "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )
    # REPLACE deletes rows without the trigger for deletions.
    op.execute(
        f"CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON {ENTRIES} "  # noqa: S608 - names of our own
        f"WHEN EXISTS (SELECT 1 FROM {ENTRIES} WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    )


def downgrade() -> None:
    """Drop them; the audit trail is lost."""
    for table in AUTHORED:
        op.drop_column(table, "author")
    op.drop_table("plan_acknowledgments")
    op.drop_table("plan_approvals")
    op.drop_table(ENTRIES)  # with its triggers
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_audit_change()")
