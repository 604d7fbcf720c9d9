"""Answers to what-if questions, with the fitted curve that a plan names.

Each raises PlanRefused if the plan is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.fits.kept import Curves
from app.fits.resolve import curve_of, evaluate
from planner_core.document.model import PlanDocument
from planner_core.sizing.placement import At
from planner_core.texts.smds_job import SmdsJob, SmdsJobQuestion, smds_job
from planner_core.whatif.filling_up import FillingUp, Outage, fill_up, only_structure
from planner_core.whatif.growth import UpgradeAnswer, UpgradeQuestion, upgrades
from planner_core.whatif.loss import LossAnswer, losses_of
from planner_core.whatif.recovery import Recovery, RecoveryQuestion, recovery
from planner_core.whatif.thresholds import ThresholdAdvice, ThresholdQuestion, advise

if TYPE_CHECKING:
    from app.database.engine import Database


def filling(document: PlanDocument, question: Outage, curves: Curves) -> FillingUp:
    """Simulate an outage of one structure.

    Raises:
        InputInvalid: There is no such structure, or its mix cannot be changed.
    """
    structure = question.structure or only_structure(document)
    return fill_up(document, structure, question, curve=curve_of(document, curves))


def thresholds(document: PlanDocument, question: ThresholdQuestion, curves: Curves) -> ThresholdAdvice:
    """Advise on the offload rules of one structure.

    Raises:
        InputInvalid: There is no such structure, or it has no backlog.
    """
    structure = question.structure or only_structure(document)
    return advise(document, structure, question, curve=curve_of(document, curves))


def recoveries(document: PlanDocument, question: RecoveryQuestion, curves: Curves) -> Recovery:
    """Calculate backups and recovery of every structure."""
    return recovery(document, question, curve=curve_of(document, curves))


def data_set_job(document: PlanDocument, question: SmdsJobQuestion, curves: Curves) -> SmdsJob:
    """Write the job of the shared message data sets."""
    # Without the comparison of the published and the fitted curve, which would size every structure twice.
    return smds_job(evaluate(document, curves, compares=False), load=question.load)


def losses(
    document: PlanDocument, others: Sequence[tuple[str, PlanDocument]], curves: Curves, *, at: At
) -> LossAnswer:
    """Place a plan's structures, with those of other plans of the sysplex, and lose each coupling facility.

    Args:
        document: The plan.
        others: Names and documents of further plans.
        curves: The fitted curves.
        at: Whether structures are counted with INITSIZE or with SIZE.
    """
    plans = [(document.qsg, document), *others]
    return losses_of([(name, evaluate(each, curves, compares=False)) for name, each in plans], at=at)


def upgrade(document: PlanDocument, question: UpgradeQuestion, curves: Curves) -> UpgradeAnswer:
    """Compare a plan before and after each change."""
    # A form and an address have no other way to ask for no growth than 0 years.
    years = tuple(year for year in question.years if year)
    return upgrades(document, question.model_copy(update={"years": years}), curve=curve_of(document, curves))


def stored_plans(database: Database, names: Sequence[str]) -> list[tuple[str, PlanDocument]]:
    """Return the latest versions of stored plans.

    Raises:
        PlanNotFound: There is none of a name.
    """
    # The command line answers without the package that stores plans, which takes long to import.
    from app.plans import service

    if not names:
        return []
    with database.session(writes=False) as session:
        # Once each: a plan counted twice would need twice its storage.
        return [(name, service.get_plan(session, name).document) for name in dict.fromkeys(names)]
