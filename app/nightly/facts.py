"""The facts for a nightly run: limits from the settings, structures of plans, and results of earlier runs.

The job knows neither the application nor its database; it reads all this from one JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date

from sqlalchemy.orm import Session

from app.database.types import AnyRow
from app.nightly import repository
from app.plans.stored import reading_version, stored_document, stored_result
from app.settings import Settings
from planner_core.contracts.files import parsed, parsed_text
from planner_core.contracts.forecasts import Forecast
from planner_core.contracts.nightly import (
    CurrentCurve,
    NightlyFacts,
    PastForecast,
    PlannedOffloadRule,
    PlannedStructure,
)
from planner_core.sizing.structure_answer import StoredStructure, stored_structures
from planner_core.units import parse_size
from planner_core.wire import JsonObject

APPLICATION = "application"
USUAL_RATIO = (1, 6)


def facts_of(session: Session, settings: Settings, *, today: date | None) -> NightlyFacts:
    """Return the facts for a run. Without `today`, the last day of the history counts as today."""
    stored = repository.last_stored_run(session)
    plans = repository.latest_plans(session)
    known_to = max(filter(None, (today, stored.last_day if stored else None)), default=None)
    past = repository.forecasts_to_score(session, known_to) if known_to is not None else ()
    return NightlyFacts(
        today=today,
        lead_time_days=settings.lead_time_days,
        oversize_share=settings.oversize_percent / 100,
        ratio_tolerance=settings.ratio_percent / 100,
        horizon_days=settings.forecast_days,
        cfcc_levels=known_levels(session, plans),
        plans=tuple(each for row in plans for each in _structures(row)),
        past_forecasts=tuple(PastForecast(each.id, parsed_text(Forecast, each.forecast)) for each in past),
        current_curves=tuple(
            parsed(CurrentCurve, {"version": each.id, **json.loads(each.fit)})
            for each in repository.current_curves(session, of_runs=True)
        ),
        published=json.loads(stored.published) if stored is not None and stored.published else {},
    )


def known_levels(session: Session, plans: Sequence[AnyRow]) -> dict[str, int]:
    """Return the CFCC level of each coupling facility: the one set by the site, or the one on which all plans agree."""
    planned: dict[str, set[int]] = {}
    for plan in plans:
        with reading_version(plan.name, plan.number):
            for facility in stored_document(plan.document)["coupling_facilities"]:
                if facility["cfcc_level"] is not None:
                    planned.setdefault(facility["name"], set()).add(facility["cfcc_level"])
    # Curves are fitted for each level, so a wrong level would mix the sizes of two; plans that disagree prove neither.
    agreed = {name: level for name, levels in planned.items() if len(levels) == 1 for level in levels}
    return agreed | {row.coupling_facility: row.cfcc_level for row in repository.cf_levels(session)}


def _structures(plan: AnyRow) -> list[PlannedStructure]:
    with reading_version(plan.name, plan.number):
        asked = {each["name"]: each for each in stored_document(plan.document)["structures"]}
        return [
            _structure(plan, found, asked[found.name])
            for found in stored_structures(stored_result(plan.result))
            if found.role == APPLICATION and found.name in asked
        ]


def _structure(plan: AnyRow, found: StoredStructure, asked: JsonObject) -> PlannedStructure:
    entries, elements = asked.get("entry_to_element_ratio") or USUAL_RATIO
    return PlannedStructure(
        plan=plan.name,
        version=plan.number,
        qsg=plan.qsg,
        structure=found.name,
        full_threshold=found.full_threshold,
        offload_rules=tuple(
            PlannedOffloadRule(rule["usage_over"], parse_size(rule["size_over"]))
            for rule in (asked.get("offload") or {}).get("rules") or ()
        ),
        initsize_bytes=found.initsize_bytes,
        size_bytes=found.size_bytes,
        need_bytes=found.need_bytes,
        entries=found.entries,
        elements=found.elements,
        ratio=(entries, elements),
    )
