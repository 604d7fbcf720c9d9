"""Measured usage and forecasts of a plan's structures, matched by the names of the group and the structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.errors import NotFound
from app.fits.repository import structures_with_forecasts
from app.plans.stored import StoredVersion
from app.usage import service as usage


@dataclass(frozen=True, slots=True)
class MeasuredLinks:
    """Addresses of a structure's usage and forecast; empty if there are none."""

    usage: str
    forecast: str


def measured_of(session: Session, version: StoredVersion) -> Mapping[str, MeasuredLinks]:
    """Return the addresses of measured structures by name."""
    qsg = version.result["qsg"]
    try:
        used = set(usage.structures_of_group(session, qsg))
    except NotFound:
        used = set()
    forecast = structures_with_forecasts(session, qsg)
    names = [each["name"] for each in version.result["structures"]]
    return {
        name: MeasuredLinks(
            f"/usage/{quote(qsg, safe='')}/{quote(name, safe='')}" if name in used else "",
            f"/forecasts/{quote(qsg, safe='')}/{quote(name, safe='')}" if name in forecast else "",
        )
        for name in names
        if name in used or name in forecast
    }
