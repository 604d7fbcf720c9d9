"""The two files between the application and the nightly run: the facts that the run reads, and its results.

docs/contributing/night-protocol.md describes both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from planner_core.contracts.fits import CurveFit, MixFit
from planner_core.contracts.forecasts import Forecast, IsSimulated, Score
from planner_core.contracts.rollup import Count, Few, Qsg, StructureName
from planner_core.health import StructureHealth
from planner_core.wire import Answer

SCHEMA: Final = 1
LONGEST_CODE = 64


# ---- facts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlannedOffloadRule:
    """A rule that offloads messages over a size while usage of the structure is over a percentage."""

    usage_over_pct: int
    size_over_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStructure:
    """A structure in the latest version of a plan."""

    plan: str
    version: int
    qsg: str
    structure: str
    full_threshold: int | None = None
    offload_rules: tuple[PlannedOffloadRule, ...] = ()
    initsize_bytes: int | None = None
    size_bytes: int | None = None
    need_bytes: int | None = None
    entries: int | None = None
    elements: int | None = None
    ratio: tuple[int, int] = (1, 6)


@dataclass(frozen=True, slots=True)
class PastForecast:
    """A stored forecast that must be scored."""

    id: int
    json: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentCurve(CurveFit):
    """The last accepted fit of a coupling facility."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyFacts:
    """Limits, plans and earlier results for one nightly run."""

    schema: int = SCHEMA
    today: date | None = None
    lead_time_days: int = 60
    oversize_share: float = 0.5
    ratio_tolerance: float = 0.5
    horizon_days: int = 180
    cfcc_levels: Mapping[str, int] = field(default_factory=dict)
    plans: tuple[PlannedStructure, ...] = ()
    past_forecasts: tuple[PastForecast, ...] = ()
    current_curves: tuple[CurrentCurve, ...] = ()
    published: Mapping[str, str] | None = None


# ---- results ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyFinding(Answer):
    """A finding of a nightly run."""

    code: Annotated[str, Field(min_length=1, max_length=LONGEST_CODE, description="Stable name of the rule.")]
    severity: Literal["error", "warning", "info"]
    message: str
    source: Annotated[str, Field(description="The document on which the rule is based.")]
    qsg: Annotated[str | None, Field(max_length=4)] = None
    structure: Annotated[str | None, Field(max_length=16)] = None
    coupling_facility: Annotated[str | None, Field(max_length=8)] = None
    day: date | None = None
    figures: Annotated[Mapping[str, Any], Field(description="The figures that the sentence states.")] = field(
        default_factory=dict
    )
    is_simulated: IsSimulated = False


@dataclass(frozen=True, slots=True)
class DataSetPeak:
    """The peak of the used blocks of a shared message data set on one day, and its total number of blocks."""

    queue_manager: str
    blocks_peak: int | None = None
    blocks_total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyFigures:
    """The peaks of a structure on one UTC day; None if not measured."""

    qsg: Qsg
    structure: StructureName
    day: date
    entries_peak: Count | None = None
    elements_peak: Count | None = None
    entries_total: Count | None = None
    elements_total: Count | None = None
    size_bytes: Count | None = None
    full_count: Count | None = None
    smds: tuple[DataSetPeak, ...] | None = None
    is_simulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyResult:
    """The results of one nightly run."""

    schema: Literal[1]
    history: str = ""
    history_version: int | None = None
    first_day: date | None = None
    last_day: date | None = None
    days_total: Few = 0
    days_reduced: Few = 0
    days_gone: int = 0
    rows_read: Count = 0
    spark: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    curves: tuple[CurveFit, ...] = ()
    mixes: tuple[MixFit, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    scores: tuple[Score, ...] = ()
    findings: tuple[NightlyFinding, ...] = ()
    days: tuple[date, ...] = ()
    """UTC days whose daily figures are complete in this file and replace the stored ones."""
    published: Mapping[str, str] = field(default_factory=dict)
    daily: tuple[DailyFigures, ...] = ()
    simulated: tuple[str, ...] = ()
    health: tuple[StructureHealth, ...] = ()
