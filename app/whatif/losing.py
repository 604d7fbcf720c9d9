"""The loss of coupling facilities: plans in, the answer out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from planner_core.document.model import PlanDocument
from planner_core.sizing.placement import At
from planner_core.whatif.loss import LossAnswer, losses_of

if TYPE_CHECKING:
    from app.database.engine import Database

AT: tuple[At, ...] = ("initsize", "size")
MOST_OTHERS = 40


def loss_answer(
    document: PlanDocument, others: Sequence[tuple[str, PlanDocument]], curves: Curves, *, at: At
) -> LossAnswer:
    """Place a plan's structures, with those of other plans of the sysplex, and lose each coupling facility.

    Args:
        document: The plan.
        others: Names and documents of further plans.
        curves: Where fitted curves are looked up.
        at: Whether structures are counted with INITSIZE or with SIZE.
    """
    plans = [(document.qsg, document), *others]
    return losses_of([(name, evaluate(each, curves, compares=False)) for name, each in plans], at=at)


def stored_plans(database: Database, names: Sequence[str]) -> list[tuple[str, PlanDocument]]:
    """The latest versions of stored plans.

    Raises:
        PlanNotFound: There is none of a name.
    """
    from app.plans import service

    if not names:
        return []
    with database.session(writes=False) as session:
        return [(name, service.get_plan(session, name).document) for name in dict.fromkeys(names)]
