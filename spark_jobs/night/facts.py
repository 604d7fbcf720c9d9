"""What the application tells the night: FACTS.json, as docs/contributing/night-protocol.md has it."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LEAD_TIME_DAYS = 60
OVERSIZE_SHARE = 0.5
RATIO_TOLERANCE = 0.5
HORIZON_DAYS = 180


class FactsError(PlannerError):
    """The facts cannot be read; the sentence says why."""


@dataclass(frozen=True, slots=True)
class OffloadRule:
    """Messages above a size go to SMDS while the structure is fuller than that."""

    usage_over_pct: int
    size_over_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What the latest version of a plan says of a structure."""

    plan: str
    version: int
    qsg: str
    structure: str
    full_threshold: int | None
    offload_rules: tuple[OffloadRule, ...]
    initsize_bytes: int | None
    size_bytes: int | None
    need_bytes: int | None


@dataclass(frozen=True, slots=True)
class Facts:
    """All of them."""

    today: dt.date | None = None
    lead_time_days: int = LEAD_TIME_DAYS
    oversize_share: float = OVERSIZE_SHARE
    ratio_tolerance: float = RATIO_TOLERANCE
    horizon_days: int = HORIZON_DAYS
    cfcc_levels: Mapping[str, int] = field(default_factory=dict)
    plans: Mapping[tuple[str, str], tuple[Plan, ...]] = field(default_factory=dict)
    """By group and structure."""
    past_forecasts: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    current_curves: tuple[Mapping[str, Any], ...] = ()
    published: Mapping[str, str] | None = None


def read_facts(path: Path) -> Facts:
    """Read the file.

    Raises:
        FactsError: it is not there, or says something else.
    """
    try:
        return facts_of(json.loads(path.read_bytes()))
    except OSError as error:
        message = f"The facts of the night cannot be read: {error.strerror}."
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"The facts of the night are not as they should be: {error!r}."
    raise FactsError(message)


def facts_of(found: Mapping[str, Any]) -> Facts:
    """Read what the file says."""
    plans: dict[tuple[str, str], list[Plan]] = {}
    for plan in map(_plan, found.get("plans") or ()):
        plans.setdefault((plan.qsg, plan.structure), []).append(plan)
    today = found.get("today")
    return Facts(
        today=dt.date.fromisoformat(today) if today else None,
        lead_time_days=int(found.get("lead_time_days", LEAD_TIME_DAYS)),
        oversize_share=float(found.get("oversize_share", OVERSIZE_SHARE)),
        ratio_tolerance=float(found.get("ratio_tolerance", RATIO_TOLERANCE)),
        horizon_days=int(found.get("horizon_days", HORIZON_DAYS)),
        cfcc_levels={name: int(level) for name, level in (found.get("cfcc_levels") or {}).items()},
        plans={key: tuple(of_key) for key, of_key in plans.items()},
        past_forecasts=tuple(
            (int(one["id"]), dict(one["json"])) for one in found.get("past_forecasts") or ()
        ),
        current_curves=tuple(dict(one) for one in found.get("current_curves") or ()),
        published=None if found.get("published") is None else dict(found["published"]),
    )


def _plan(found: Mapping[str, Any]) -> Plan:
    return Plan(
        plan=str(found["plan"]),
        version=int(found["version"]),
        qsg=str(found["qsg"]),
        structure=str(found["structure"]),
        full_threshold=found.get("full_threshold"),
        offload_rules=tuple(
            OffloadRule(int(rule["usage_over_pct"]), int(rule["size_over_bytes"]))
            for rule in found.get("offload_rules") or ()
        ),
        initsize_bytes=found.get("initsize_bytes"),
        size_bytes=found.get("size_bytes"),
        need_bytes=found.get("need_bytes"),
    )
