"""Upgrades and growth: a plan in, its figures before and after out."""

from __future__ import annotations

from app.fits.kept import Curves
from app.fits.resolve import curve_of
from planner_core.document.model import PlanDocument
from planner_core.whatif.growth import UpgradeAnswer, UpgradeQuestion, upgrades


def upgrade_answer(document: PlanDocument, question: UpgradeQuestion, curves: Curves) -> UpgradeAnswer:
    """The plan before and after each change."""
    return upgrades(
        document,
        curve=curve_of(document, curves),
        cfcc_levels=question.cfcc,
        more_queue_managers=question.queue_managers,
        percent_per_year=question.growth,
        years=[year for year in question.years if year],
    )
