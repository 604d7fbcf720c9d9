"""Upgrades and growth: a plan in, its figures before and after out."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from app.fits.kept import Curves
from app.fits.resolve import curve_of
from planner_core.document.model import PlanDocument
from planner_core.whatif.growth import DEFAULT_YEARS, UpgradeAnswer, upgrades


def upgrade_answer(
    document: PlanDocument,
    curves: Curves,
    *,
    cfcc_levels: Sequence[int] | None = None,
    more_queue_managers: int = 1,
    percent_per_year: Decimal | None = None,
    years: Sequence[int] = DEFAULT_YEARS,
) -> UpgradeAnswer:
    """The plan before and after each change; arguments as the core takes them."""
    return upgrades(
        document,
        curve=curve_of(document, curves),
        cfcc_levels=cfcc_levels,
        more_queue_managers=more_queue_managers,
        percent_per_year=percent_per_year,
        years=years,
    )
