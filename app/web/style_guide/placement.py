"""Specimens of the pages about lost coupling facilities: one too small, one volatile, one with unknown storage."""

from __future__ import annotations

from collections.abc import Mapping

from app.whatif.asking import PlanSelection
from app.whatif.loss_pages import arranged
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import FieldProblem
from planner_core.plan.evaluate import evaluate
from planner_core.whatif.loss import losses_of

_FACILITIES = (
    {"name": "CF01", "size": "2G", "site": "SITE1", "occupied": "512M"},
    {"name": "CF02", "size": "1G", "site": "SITE2", "volatile": True},
    {"name": "CF03"},
)


def placement(document: PlanDocument) -> Mapping[str, object]:
    """Return the losses of a plan with coupling facilities of different sizes."""
    changed = document.model_dump(mode="json") | {"coupling_facilities": list(_FACILITIES)}
    result = evaluate(read_object(changed))
    return {
        "asked": PlanSelection(
            ("one", "another"), "", "qsg: SQ03", is_example=False, unknown="GONE", problems=()
        ),
        "problems": (FieldProblem("/queue_managers", "is required"),),
        "answer": arranged(losses_of([(document.qsg, result)])),
    }
