"""The levels that a structure's forecasts are compared with, in entries, elements or blocks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from planner_core.contracts.forecasts import ForecastLevel, LevelKind
from planner_core.sizing.structure_size import published_curve
from spark_jobs.forecast import Level, Resize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner_core.contracts.fits import CurveFit
    from planner_core.contracts.nightly import PlannedStructure
    from spark_jobs.night.collect import Policy, Series

NEWEST_LEVEL = 25
"""CFCC level whose published base is used if neither the site nor a fit gives one; its base is the largest."""
RESIZES = (("1.25 times", Fraction(5, 4)), ("1.5 times", Fraction(3, 2)), ("2 times", Fraction(2)))


@dataclass(frozen=True, slots=True)
class Named:
    """A level and its kind."""

    level: Level
    kind: LevelKind
    percent: float

    @property
    def stored(self) -> ForecastLevel:
        """Return the level in the form stored with its forecast."""
        value = self.level.value
        return ForecastLevel(
            self.level.name, self.kind, self.percent, None if value is None else round(value)
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The size of a structure and its limits."""

    size_bytes: int | None
    size_at_most_bytes: int | None
    """The SIZE up to which the structure may grow."""
    full_threshold_pct: int | None
    offload_pct: tuple[int, ...]
    base_bytes: float

    def growth_to(self, size_bytes: float) -> float | None:
        """Return the capacity at another size as a multiple of the current one, both without the base."""
        if not self.size_bytes or self.size_bytes <= self.base_bytes or size_bytes <= self.base_bytes:
            return None
        return (size_bytes - self.base_bytes) / (self.size_bytes - self.base_bytes)


def limits_of(series: Series, policy: Policy, plan: PlannedStructure | None, *, base_bytes: float) -> Limits:
    """Return the limits of a structure from the site, else from its plan.

    It may grow to the SIZE that it was allocated with: a later SIZE in the policy is pending until the structure is
    reallocated. The SIZE of the policy counts only if the allocated SIZE is unknown.
    """
    size = series.last(series.size_bytes)
    at_most = series.last(series.size_max_bytes) or policy.size_bytes or (plan.size_bytes if plan else None)
    threshold = policy.full_threshold_pct
    if threshold is None and plan is not None:
        threshold = plan.full_threshold
    rules = offload_percentages(policy.offload_rules)
    if not rules and plan is not None:
        rules = tuple(sorted({rule.usage_over_pct for rule in plan.offload_rules}))
    return Limits(size, at_most, threshold, rules, base_bytes)


def offload_percentages(rules: str | None) -> tuple[int, ...]:
    """Return the thresholds of offload rules in the format of the history.

    >>> offload_percentages("70:32768 80:4096 90:0")
    (70, 80, 90)
    """
    found = (rule.partition(":")[0] for rule in (rules or "").split())
    return tuple(sorted({int(percent) for percent in found if percent.isdigit()}))


def structure_levels(total: int | None, limits: Limits) -> list[Named]:
    """Return the levels of a structure with this total of entries or elements, the lowest first."""
    if not total:
        return [Named(Level("SIZE", None, reached=True), "size", 100.0)]
    found = [
        Named(Level(f"offload at {percent} %", total * percent / 100), "offload", percent)
        for percent in limits.offload_pct
    ]
    if limits.full_threshold_pct:  # 0 means that it is off.
        percent = limits.full_threshold_pct
        found.append(
            Named(Level(f"FULLTHRESHOLD {percent} %", total * percent / 100), "full_threshold", percent)
        )
    found.sort(key=lambda one: one.percent)
    growth = limits.growth_to(limits.size_at_most_bytes) if limits.size_at_most_bytes else None
    if growth is not None and growth > 1:
        found.append(Named(Level("the current size", float(total), reached=True), "full", 100.0))
        found.append(Named(Level("SIZE", float(int(total * growth)), reached=True), "size", 100.0))
    else:
        found.append(Named(Level("SIZE", float(total), reached=True), "size", 100.0))
    return found


def data_set_levels(total: int | None) -> list[Named]:
    """Return the levels of a shared message data set."""
    return [Named(Level("the data set", float(total) if total else None, reached=True), "size", 100.0)]


def resizes(limits: Limits) -> list[Resize]:
    """Return larger sizes for a comparison with the current one."""
    found = []
    for name, factor in RESIZES:
        growth = limits.growth_to(float((limits.size_bytes or 0) * factor))
        found.append(Resize(f"{name} the size", float(factor) if growth is None else round(growth, 4)))
    return found


def base_of(
    facility: str | None,
    cfcc_levels: Mapping[str, int],
    curves: Sequence[CurveFit],
) -> float:
    """Return the size of an empty structure: the fitted one of its coupling facility, else the published one."""
    for curve in curves:
        if (
            curve.state == "fitted"
            and facility
            and curve.coupling_facility == facility
            and curve.base_bytes is not None
        ):
            return curve.base_bytes.value
    level = cfcc_levels.get(facility or "", NEWEST_LEVEL)
    return float(published_curve(cfcc_level=max(level, 1)).curve.base)
