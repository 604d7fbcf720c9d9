"""Answers to what-if questions, with the fitted curve that a plan names.

Each function raises PlanRefused if the plan is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from app.fits.kept import Curves
from app.fits.resolve import curve_of, evaluate
from planner_core.document.model import PlanDocument
from planner_core.garbage import characters_of, collection_paused
from planner_core.sizing.placement import At
from planner_core.sizing.structure_size import Curve
from planner_core.texts.smds_job import SmdsJob, SmdsJobQuestion, smds_job
from planner_core.whatif.loss import LossAnswer, losses_of
from planner_core.whatif.survival import survival
from planner_core.whatif.survival_answer import Measurements, Survival, SurvivalQuestion

if TYPE_CHECKING:
    from app.database.engine import Database

Question = TypeVar("Question", contravariant=True)
Answered = TypeVar("Answered", covariant=True)


class Answering(Protocol[Question, Answered]):
    """A function of the core that answers a question about a plan."""

    def __call__(self, document: PlanDocument, asked: Question, /, *, curve: Curve | None) -> Answered:
        """Return the answer."""
        ...


def ask(
    answer: Answering[Question, Answered], document: PlanDocument, question: Question, curves: Curves
) -> Answered:
    """Answer a question with the fitted curve that the plan names.

    Raises:
        InputInvalid: The question does not fit the plan.
    """
    with collection_paused(characters_of(sum(len(each.queues) for each in document.structures))):
        return answer(document, question, curve=curve_of(document, curves))


def survive(
    document: PlanDocument, question: SurvivalQuestion, curves: Curves, measurements: Measurements
) -> Survival:
    """Return the probability that a structure survives an outage, from its measured usage or given figures."""

    def answer(plan: PlanDocument, asked: SurvivalQuestion, /, *, curve: Curve | None) -> Survival:
        return survival(plan, asked, measurements=measurements, curve=curve)

    return ask(answer, document, question, curves)


def data_set_job(document: PlanDocument, question: SmdsJobQuestion, curves: Curves) -> SmdsJob:
    """Return the job that creates the shared message data sets of a plan."""
    # The comparison of the published and the fitted curve would size every structure twice, and the job does not need
    # it.
    return smds_job(evaluate(document, curves, compares=False, purpose="sizes"), load=question.load)


def losses(
    document: PlanDocument, others: Sequence[tuple[str, PlanDocument]], curves: Curves, *, at: At
) -> LossAnswer:
    """Place the structures of a plan, and of other plans of the sysplex, and simulate the loss of each facility.

    Args:
        document: The plan.
        others: Names and documents of other plans.
        curves: The fitted curves.
        at: Whether structures are counted with INITSIZE or with SIZE.
    """
    plans = [(document.qsg, document), *others]
    return losses_of(
        [(name, evaluate(each, curves, compares=False, purpose="sizes")) for name, each in plans], at=at
    )


def stored_plans(database: Database, names: Sequence[str]) -> list[tuple[str, PlanDocument]]:
    """Return the latest versions of stored plans.

    Raises:
        PlanNotFound: There is no plan with one of these names.
    """
    # The command line answers without the package that stores plans, because importing it takes long.
    from app.plans import service

    if not names:
        return []
    with database.session(writes=False) as session:
        # Repeated names are dropped, because a plan counted twice would need twice its storage.
        return [(name, service.get_plan(session, name).document) for name in dict.fromkeys(names)]
