"""A plan evaluated with the curve that it names. Whatever evaluates a plan that somebody wrote does it here.

A fitted curve is pinned by its version. One that is not known, or that was not accepted, is refused at /curve/fitted: no
other curve ever takes its place.
"""

from __future__ import annotations

from dataclasses import replace

from app.fits.kept import Curves
from planner_core.document.model import FittedCurve, PlanDocument
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import compare_curves
from planner_core.plan.evaluate import evaluate as evaluate_on_curve
from planner_core.plan.result import PlanResult
from planner_core.sizing.fitted import fitted_curve, not_accepted
from planner_core.sizing.structure_size import Curve

ACCEPTED = "accepted"


def evaluate(document: PlanDocument, curves: Curves, *, compares: bool = True) -> PlanResult:
    """Work out a plan with the curve that it names.

    Args:
        document: The plan.
        curves: Where a fitted curve is looked up.
        compares: With a fitted curve, work out the plan under the published one as well.

    Raises:
        PlanRefused: No such plan can exist, or its curve is not known or was not accepted.
    """
    curve = curve_of(document, curves)
    result = evaluate_on_curve(document, curve=curve)
    if curve is None or not compares:
        return result
    return replace(result, comparison=compare_curves(document, curve, result=result))


def curve_of(document: PlanDocument, curves: Curves) -> Curve | None:
    """The fitted curve that a document names; None when it names the published one, or one that is not known.

    The core refuses a document that names a curve and is given none.

    Raises:
        PlanRefused: The fit was not accepted.
    """
    if not isinstance(document.curve, FittedCurve):
        return None
    kept = curves.find(document.curve.fitted)
    if kept is None:
        return None
    if kept.state != ACCEPTED:
        raise PlanRefused((not_accepted(version=kept.version, reason=kept.reason or ""),))
    return fitted_curve(version=kept.version, fit=kept, is_simulated=kept.is_simulated)
