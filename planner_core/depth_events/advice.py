"""Advice on the queue depths of a whole plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import DEPTH_EVENT_CODES, Finding
from planner_core.plan.result import PlanResult
from planner_core.sizing.depth_advice import DepthAdvice
from planner_core.wire import Answer

WHAT: Final = "The request"
# In a structure that is too small for its backlog, the advised MAXDEPTHs are below the backlogs of its queues.
TOO_SMALL: Final = frozenset({"INITSIZE_BELOW_NEED", "SIZE_BELOW_NEED"})


@dataclass(frozen=True, slots=True)
class StructureDepthAdvice(Answer):
    """Advice for the queues of one structure."""

    name: str
    cfrm_name: str
    messages: Annotated[int, Field(description="The planned backlog, at the horizon.")]
    depth_events: DepthAdvice


@dataclass(frozen=True, slots=True)
class PlanDepthAdvice(Answer):
    """Advice on the queue depths of a plan, with the findings on them."""

    core_version: str
    qsg: str
    structures: tuple[StructureDepthAdvice, ...]
    findings: tuple[Finding, ...]


def advice_of(result: PlanResult, *, structure: str | None = None) -> PlanDepthAdvice:
    """Return the advice for each structure with queues, and the findings that concern it.

    Args:
        result: The plan.
        structure: Advise on only the structure with this name in MQ; the findings are those of the whole plan.

    Raises:
        InputInvalid: The plan has no such structure with queues.
    """
    structures = tuple(
        StructureDepthAdvice(
            each.name,
            each.cfrm_name,
            each.load.demand.messages if each.load is not None else 0,
            each.depth_events.with_queues(),
        )
        for each in result.structures
        if each.depth_events is not None and structure in (None, each.name)
    )
    names = {each.name for each in result.structures if each.depth_events is not None}
    if structure is not None and structure not in names:
        message = f"the plan has no structure {structure[:20]!r} with queues"
        raise InputInvalid(WHAT, (FieldProblem("structure", message),))
    return PlanDepthAdvice(
        core_version=result.core_version,
        qsg=result.document.qsg,
        structures=structures,
        findings=tuple(
            each
            for each in result.findings
            if each.code in DEPTH_EVENT_CODES or (each.code in TOO_SMALL and each.structure in names)
        ),
    )
