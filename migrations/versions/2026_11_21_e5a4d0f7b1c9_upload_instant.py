"""Distinguish uploads by the instant of their observation instead of the local time.

Revises: d4f3c9e6a0b8.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from alembic import op

revision = "e5a4d0f7b1c9"
down_revision = "d4f3c9e6a0b8"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
UPLOADS = sa.table(
    "uploads",
    sa.column("id", KEY),
    sa.column("sha256", sa.String(64)),
    sa.column("observed_at", sa.String(40)),
    sa.column("zone", sa.String(64)),
    sa.column("observed_utc", sa.String(40)),
)
RUNS = sa.table("job_runs", sa.column("upload_id", KEY))
AUTOINCREMENT = {"sqlite_autoincrement": True}
"""Parts of the table that SQLite's description omits, so that rebuilding it would lose them."""


def upgrade() -> None:
    """Merge uploads of the same text at the same instant, given in two zones, into the first one, with their runs."""
    op.add_column("uploads", sa.Column("observed_utc", sa.String(40), nullable=True))
    connection = op.get_bind()
    for row in connection.execute(sa.select(UPLOADS)).all():
        chosen = sa.update(UPLOADS).where(UPLOADS.c.id == row.id)
        connection.execute(chosen.values(observed_utc=_instant(row.observed_at, row.zone)))
    _put_together(connection, "observed_utc")
    with op.batch_alter_table("uploads", table_kwargs=AUTOINCREMENT) as table:
        table.alter_column("observed_utc", existing_type=sa.String(40), nullable=False)
        table.drop_constraint("uq_uploads_sha256_observed_at", type_="unique")
        table.create_unique_constraint("uq_uploads_sha256_observed_utc", ["sha256", "observed_utc"])


def downgrade() -> None:
    """Merge uploads of the same text at the same local time in two zones into the first one, with their runs."""
    _put_together(op.get_bind(), "observed_at")
    with op.batch_alter_table("uploads", table_kwargs=AUTOINCREMENT) as table:
        table.drop_constraint("uq_uploads_sha256_observed_utc", type_="unique")
        table.create_unique_constraint("uq_uploads_sha256_observed_at", ["sha256", "observed_at"])
        table.drop_column("observed_utc")


def _put_together(connection: sa.Connection, told_apart_by: str) -> None:
    """Keep one upload of each text and time, and move the runs of the others to it."""
    first: dict[tuple[str, str], int] = {}
    for row in connection.execute(sa.select(UPLOADS).order_by(UPLOADS.c.id)).all():
        kept = first.setdefault((row.sha256, getattr(row, told_apart_by)), row.id)
        if kept != row.id:
            # Runs are moved first, because deleting an upload would delete them as well.
            connection.execute(sa.update(RUNS).where(RUNS.c.upload_id == row.id).values(upload_id=kept))
            connection.execute(sa.delete(UPLOADS).where(UPLOADS.c.id == row.id))


def _instant(observed_at: str, zone: str) -> str:
    """Return the instant of a local time; of an hour that occurs twice, the first, as in the application."""
    if not observed_at:
        return ""
    try:
        instant = datetime.fromisoformat(observed_at).replace(tzinfo=_zone(zone)).astimezone(UTC)
    except (ValueError, KeyError, OSError, OverflowError):  # the machine may no longer know the zone
        return f"{observed_at}@{zone}"[:40]
    return instant.isoformat(timespec="seconds").replace("+00:00", "Z")


def _zone(text: str) -> tzinfo:
    if text in ("", "UTC"):
        return UTC
    if text[0] in "+-":
        offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:6]))
        return timezone(-offset if text[0] == "-" else offset)
    return ZoneInfo(text)
