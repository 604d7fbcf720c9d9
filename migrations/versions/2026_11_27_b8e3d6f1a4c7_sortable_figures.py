"""Figures of fitted curves and forecasts by which their lists are sorted; earlier versions had them only as JSON.

Revises: f6a2c8d4b1e9.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "b8e3d6f1a4c7"
down_revision = "f6a2c8d4b1e9"
branch_labels = None
depends_on = None

CURVES = sa.table(
    "fitted_curves",
    sa.column("id", sa.BigInteger()),
    sa.column("fit", sa.LargeBinary()),
    sa.column("base_bytes", sa.Float()),
    sa.column("bundle_bytes", sa.Float()),
    sa.column("points", sa.Integer()),
)
FORECASTS = sa.table(
    "forecasts",
    sa.column("id", sa.BigInteger()),
    sa.column("forecast", sa.LargeBinary()),
    sa.column("probability", sa.Float()),
    sa.column("growth_per_30_days", sa.Float()),
)
PORTION = 500


def upgrade() -> None:
    """Add the columns, and fill them from the JSON of each row."""
    op.add_column("fitted_curves", sa.Column("base_bytes", sa.Float(), nullable=True))
    op.add_column("fitted_curves", sa.Column("bundle_bytes", sa.Float(), nullable=True))
    op.add_column("fitted_curves", sa.Column("points", sa.Integer(), nullable=True))
    op.add_column("forecasts", sa.Column("probability", sa.Float(), nullable=True))
    op.add_column("forecasts", sa.Column("growth_per_30_days", sa.Float(), nullable=True))
    _fill(CURVES, "fit", _of_curve)
    _fill(FORECASTS, "forecast", _of_forecast)


def downgrade() -> None:
    """Drop the columns; the JSON of each row has their values."""
    op.drop_column("forecasts", "growth_per_30_days")
    op.drop_column("forecasts", "probability")
    op.drop_column("fitted_curves", "points")
    op.drop_column("fitted_curves", "bundle_bytes")
    op.drop_column("fitted_curves", "base_bytes")


def _fill(
    table: sa.TableClause, text: str, figures: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> None:
    connection = op.get_bind()
    for portion in _portions(connection, table, text):
        for number, packed in portion:
            found = figures(json.loads(zlib.decompress(packed)))
            connection.execute(sa.update(table).where(table.c.id == number).values(**found))


def _portions(
    connection: sa.Connection, table: sa.TableClause, text: str
) -> Iterator[list[tuple[int, bytes]]]:
    """Yield ids and packed texts, a limited number at a time, because a history may have many forecasts."""
    last = -1
    while True:
        query = sa.select(table.c.id, table.c[text]).where(table.c.id > last).order_by(table.c.id)
        rows = [(row[0], row[1]) for row in connection.execute(query.limit(PORTION))]
        if not rows:
            return
        yield rows
        last = rows[-1][0]


def _of_curve(fit: Mapping[str, Any]) -> Mapping[str, Any]:
    def value(name: str) -> float | None:
        estimate = fit.get(name)
        return None if estimate is None else estimate["value"]

    return {
        "base_bytes": value("base_bytes"),
        "bundle_bytes": value("bundle_bytes"),
        "points": fit.get("points_used"),
    }


def _of_forecast(forecast: Mapping[str, Any]) -> Mapping[str, Any]:
    crossing = _first_crossing(forecast.get("crossings") or [])
    growth = forecast.get("growth_per_30_days")
    return {
        "probability": None if crossing is None else crossing.get("probability_within_horizon"),
        "growth_per_30_days": None if growth is None else growth["p50"],
    }


def _first_crossing(crossings: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the level passed first, by the rule of the release that added the columns."""
    crossed = [each for each in crossings if each["state"] == "already_crossed"]
    dated = [each for each in crossings if (each.get("dates") or {}).get("p50") is not None]
    likely = [each for each in crossings if each["state"] == "possible"]
    if crossed:
        return crossed[-1]
    if dated:
        return min(dated, key=lambda each: str(each["dates"]["p50"]))
    return max(likely, key=lambda each: each.get("probability_within_horizon") or 0, default=None)
