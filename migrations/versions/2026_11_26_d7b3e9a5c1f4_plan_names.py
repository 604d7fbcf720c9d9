"""Names in the latest versions of plans, for searches: groups, structures, queues and codes of open findings.

Revises: c9e8b4d1f5a3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "d7b3e9a5c1f4"
down_revision = "c9e8b4d1f5a3"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
RANKS = ("error", "warning", "info")
PLANS = sa.table("plans", sa.column("id", KEY), sa.column("latest", sa.Integer()))
VERSIONS = sa.table(
    "plan_versions",
    sa.column("plan_id", KEY),
    sa.column("number", sa.Integer()),
    sa.column("document", sa.Text()),
    sa.column("result", sa.Text()),
)


def upgrade() -> None:
    """Create the table and fill it from the stored documents and results."""
    names = op.create_table(
        "plan_names",
        sa.Column("kind", sa.String(9), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("structure", sa.String(12), nullable=False),
        sa.Column("plan_id", KEY, nullable=False, autoincrement=False),
        sa.Column("qsg", sa.String(4), nullable=False),
        sa.Column("severity", sa.String(7), nullable=False),
        sa.Column("occurrences", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", "structure", "plan_id", name="pk_plan_names"),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name="fk_plan_names_plan_id", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_plan_names_plan_id", "plan_names", ["plan_id"])
    connection = op.get_bind()
    # One plan at a time, because the document and the result of a large plan have many megabytes.
    for plan_id, latest in connection.execute(sa.select(PLANS.c.id, PLANS.c.latest)).all():
        stored = connection.execute(
            sa.select(VERSIONS.c.document, VERSIONS.c.result).where(
                VERSIONS.c.plan_id == plan_id, VERSIONS.c.number == latest
            )
        ).one_or_none()
        if stored is not None:
            document, result = json.loads(stored.document), json.loads(stored.result)
            rows = [{"plan_id": plan_id, "qsg": document["qsg"], **row} for row in _rows(document, result)]
            connection.execute(sa.insert(names), rows)


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("plan_names")


def _rows(document: dict[str, Any], result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    other = {"structure": "", "severity": "", "occurrences": 1}
    yield {**other, "kind": "group", "name": document["qsg"]}
    for structure in document["structures"]:
        inside = {**other, "structure": structure["name"]}
        yield {**inside, "kind": "structure", "name": structure["name"]}
        for queue in dict.fromkeys(each["name"] for each in structure["queues"]):
            yield {**inside, "kind": "queue", "name": queue}
    codes: dict[str, list[str]] = {}
    for finding in result["findings"]:
        if finding.get("acknowledged") is None:
            codes.setdefault(finding["code"], []).append(finding["severity"])
    for code, severities in codes.items():
        yield {
            **other,
            "kind": "finding",
            "name": code,
            "severity": min(severities, key=RANKS.index),
            "occurrences": len(severities),
        }
