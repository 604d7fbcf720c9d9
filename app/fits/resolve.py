"""Evaluation of a plan with the curve that it names. All features evaluate users' plans here.

A plan names a fitted curve by its version. An unknown or rejected one is an error at /curve/fitted; no other curve
replaces it.
"""

from __future__ import annotations

from dataclasses import replace

from app.fits.kept import Curves
from planner_core.document.model import FittedCurve, PlanDocument
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import compare_curves
from planner_core.plan.evaluate import evaluate as evaluate_on_curve
from planner_core.plan.result import PlanResult, Purpose
from planner_core.sizing.fitted import fitted_curve, not_accepted
from planner_core.sizing.structure_size import Curve

ACCEPTED = "accepted"


def evaluate(
    document: PlanDocument, curves: Curves, *, compares: bool = True, purpose: Purpose = "result"
) -> PlanResult:
    """Evaluate a plan with the curve that it names.

    Args:
        document: The plan.
        curves: The source of fitted curves.
        compares: Whether a plan with a fitted curve is also evaluated with the published curve.
        purpose: The use of the result; for its sizes alone, it has no advice on queue depths and no warnings about them.

    Raises:
        PlanRefused: The plan is impossible, or its curve is unknown or was not accepted.
    """
    curve = curve_of(document, curves)
    result = evaluate_on_curve(document, curve=curve, purpose=purpose)
    if curve is None or not compares or purpose == "sizes":
        return result
    return replace(result, comparison=compare_curves(document, curve, result=result))


def curve_of(document: PlanDocument, curves: Curves) -> Curve | None:
    """Return the fitted curve that a document names; None if it names the published curve or an unknown one.

    For an unknown curve, the core raises the error.

    Raises:
        PlanRefused: The fit was not accepted.
    """
    if not isinstance(document.curve, FittedCurve):
        return None
    kept = curves(document.curve.fitted)
    if kept is None:
        return None
    if kept.state != ACCEPTED:
        raise PlanRefused((not_accepted(version=kept.version, reason=kept.reason or ""),))
    return fitted_curve(version=kept.version, fit=kept, is_simulated=kept.is_simulated)
