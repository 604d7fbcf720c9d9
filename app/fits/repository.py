"""The query for the names of structures with forecasts; all other SQL about results is in app/nightly/repository.py."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.nightly.models import StoredForecast


def structures_with_forecasts(session: Session, qsg: str) -> frozenset[str]:
    """Return the structures of a group that have a forecast."""
    query = (
        select(StoredForecast.structure).where(StoredForecast.is_latest, StoredForecast.qsg == qsg).distinct()
    )
    return frozenset(session.scalars(query))
