"""A plan evaluated with the curve that it names. Whatever evaluates a plan that somebody wrote does it here.

A fitted curve is pinned by its version. One that is not known, or that was rejected, is refused at /curve/fitted: no other
curve ever takes its place.
"""

from __future__ import annotations

from app.curves.kept import Curves
from planner_core import plan
from planner_core.document import FittedCurve, PlanDocument
from planner_core.plan import PlanResult
from planner_core.structure_size import Curve

ACCEPTED = "accepted"


def evaluate(document: PlanDocument, curves: Curves) -> PlanResult:
    """Work out a plan with the curve that it names.

    Raises:
        PlanRefused: No such plan can exist, or its curve is not known or cannot be used.
    """
    return plan.evaluate(document, curve=curve_of(document, curves))


def curve_of(document: PlanDocument, curves: Curves) -> Curve | None:
    """The fitted curve that a document names; None when it names the published one, or one that is not known.

    The core refuses a document that names a curve and is given none.

    Raises:
        PlanRefused: The curve was rejected.
    """
    if not isinstance(document.curve, FittedCurve):
        return None
    kept = curves.find(document.curve.fitted)
    if kept is None:
        return None
    raise NotImplementedError
