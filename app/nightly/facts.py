"""What a nightly run is told: the settings' limits, what plans say of structures, and what earlier nights found.

The job knows neither the application nor its database; it reads all this from one JSON file, which
docs/contributing/night-protocol.md describes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy.orm import Session

from app.nightly import repository
from app.settings import Settings
from planner_core.units import kib_to_bytes, parse_size

APPLICATION = "application"
USUAL_RATIO = (1, 6)


def facts_of(session: Session, settings: Settings, *, today: date | None) -> dict[str, Any]:
    """The facts of a run, JSON-ready. Without `today` the last day of the history is taken for it."""
    stored = repository.last_stored_run(session)
    plans = repository.latest_plans(session)
    known_to = max(filter(None, (today, stored.last_day if stored else None)), default=None)
    past = repository.forecasts_to_score(session, known_to) if known_to is not None else ()
    return {
        "schema": 1,
        "today": None if today is None else today.isoformat(),
        "lead_time_days": settings.lead_time_days,
        "oversize_share": settings.oversize_percent / 100,
        "ratio_tolerance": settings.ratio_percent / 100,
        "horizon_days": settings.forecast_days,
        "cfcc_levels": known_levels(session, plans),
        "plans": [each for row in plans for each in _structures(row)],
        "past_forecasts": [{"id": each.id, "json": json.loads(each.forecast)} for each in past],
        "current_curves": [
            {"version": each.id, **json.loads(each.fit)} for each in repository.current_curves(session)
        ],
        "published": json.loads(stored.published) if stored is not None and stored.published else {},
    }


def known_levels(session: Session, plans: Sequence[repository.AnyRow]) -> dict[str, int]:
    """The CFCC level of each coupling facility: as the site says, or else as all plans that name it agree."""
    said: dict[str, set[int]] = {}
    for plan in plans:
        for facility in json.loads(plan.document)["coupling_facilities"]:
            if facility["cfcc_level"] is not None:
                said.setdefault(facility["name"], set()).add(facility["cfcc_level"])
    agreed = {name: level for name, levels in said.items() if len(levels) == 1 for level in levels}
    return agreed | {row.coupling_facility: row.cfcc_level for row in repository.cf_levels(session)}


def _structures(plan: repository.AnyRow) -> list[dict[str, Any]]:
    """What the latest version of a plan says of each of its application structures."""
    document: Mapping[str, Any] = json.loads(plan.document)
    asked = {each["name"]: each for each in document["structures"]}
    return [
        _structure(plan, found, asked[found["name"]])
        for found in json.loads(plan.result)["structures"]
        if found["role"] == APPLICATION and found["name"] in asked
    ]


def _structure(plan: repository.AnyRow, found: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "plan": plan.name,
        "version": plan.number,
        "qsg": plan.qsg,
        "structure": found["name"],
        "full_threshold": found["full_threshold"],
        "offload_rules": [
            {"usage_over_pct": rule["usage_over"], "size_over_bytes": parse_size(rule["size_over"])}
            for rule in (asked.get("offload") or {}).get("rules") or ()
        ],
        "initsize_bytes": kib_to_bytes(found["initsize_kib"]),
        "size_bytes": kib_to_bytes(found["size_kib"]),
        "need_bytes": found["need_bytes"],
        "entries": found["entries"],
        "elements": found["elements"],
        "ratio": list(asked.get("entry_to_element_ratio") or USUAL_RATIO),
    }
