"""Reactions of queue managers to the loss of a structure: CFCONLOS, and recovery by RECAUTO.

Sources: IBM MQ, Coupling facility structure properties (CFCONLOS and RECAUTO, at CFLEVEL(5) and higher); IBM Developer,
How should you set CFCONLOS and RECAUTO. A structure below CFLEVEL(5) has neither: queue managers that lose it end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, computed_field

from planner_core.document.model import PlanDocument, Structure
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.sizing.structure_result import StructureResult
from planner_core.wire import Answer, Hidden

Reaction = Literal["TERMINATE", "TOLERATE"]
ASSUMPTIONS: tuple[str, ...] = (
    "All queue managers of a group are connected to each of its structures, so CFCONLOS(TERMINATE) of one structure ends "
    "all of them "
    "(assumed; published: a queue manager with CFCONLOS(TERMINATE) ends when it loses the structure).",
    "CFCONLOS of the queue managers applies to CSQ_ADMIN and to structures with CFCONLOS(ASQMGR). If the plan does not "
    "state it, TERMINATE is assumed, which is the worse case and MQ's default (from memory).",
    "A structure below CFLEVEL(5) has no CFCONLOS and no RECAUTO: queue managers that lose it end (derived), and an operator recovers it. "
    "The CFSTRUCT of CSQSYSAPPL is not in the plan: CFCONLOS(ASQMGR) is assumed, so that CFCONLOS of the queue managers decides, and "
    "RECOVER(YES), which IBM requires for group units of recovery. Below CFLEVEL(5) or with CFCONLOS(TERMINATE), its loss also ends queue "
    "managers: DISPLAY CFSTRUCT(CSQSYSAPPL) CFLEVEL CFCONLOS RECAUTO RECOVER shows its attributes.",
    "MQ recovers a structure without an operator with RECAUTO(YES), RECOVER(YES) and CFLEVEL(5) (published), once it is "
    "allocated, from the last BACKUP CFSTRUCT and the logs. After TERMINATE, a queue manager must first be restarted.",
)


@dataclass(frozen=True, slots=True)
class Ending(Answer):
    """Queue managers of a plan that end because they lose a structure."""

    plan: str
    qsg: str
    count: int
    names: Annotated[
        tuple[str, ...], Field(description="Empty if the plan does not name its queue managers.")
    ]
    structures: Annotated[tuple[str, ...], Field(alias="because_of")]
    is_assumed: Annotated[
        bool,
        Field(
            description="Whether this depends on a CFCONLOS that the plan does not state: of the queue managers, or of CSQSYSAPPL alone."
        ),
    ]
    is_of_system_alone: Hidden[bool] = False
    """True if CSQSYSAPPL is the only such structure, and the plan states CFCONLOS of the queue managers."""

    @computed_field(alias="what_happens")
    @property
    def words(self) -> str:
        """A sentence that describes the effect."""
        who = "The queue manager" if self.count == 1 else f"All {self.count} queue managers"
        ends = "ends" if self.count == 1 else "end"
        assumed = (
            " The plan does not state CFCONLOS of the queue managers: TERMINATE is assumed."
            if self.is_assumed
            else ""
        )
        if self.is_of_system_alone:
            assumed = " CFCONLOS(ASQMGR) of CSQSYSAPPL is assumed: its CFSTRUCT is not in the plan."
        return f"{who} of {self.qsg} {ends} on losing {', '.join(self.structures)}.{assumed}"


def reaction(structure: StructureResult, document: PlanDocument) -> Reaction:
    """Return how queue managers react to the loss of a structure.

    The plan does not define CSQSYSAPPL: CFCONLOS(ASQMGR) is assumed for it.
    """
    # TERMINATE is the worse case, and the default of MQ from memory.
    of_queue_managers: Reaction = document.cfconlos or "TERMINATE"
    definition = structure.definition
    if not isinstance(definition, Structure):
        return of_queue_managers
    if definition.cflevel < limit("cflevel_offload"):
        return "TERMINATE"
    return of_queue_managers if definition.cfconlos == "ASQMGR" else definition.cfconlos


def follows_queue_managers(structure: StructureResult) -> bool:
    """Return whether a structure uses CFCONLOS of the queue managers."""
    definition = structure.definition
    if not isinstance(definition, Structure):
        return True
    return definition.cflevel >= limit("cflevel_offload") and definition.cfconlos == "ASQMGR"


def recovers_by_itself(structure: StructureResult) -> bool | None:
    """Return whether MQ recovers a structure without an operator; None if the plan does not define it."""
    # Each queue manager rebuilds its part of CSQ_ADMIN from its own log.
    if structure.role == "admin":
        return True
    definition = structure.definition
    if not isinstance(definition, Structure):
        return None
    return definition.recauto and definition.recover and definition.cflevel >= limit("cflevel_offload")


def endings(
    lost: Iterable[tuple[str, StructureResult]], documents: Mapping[str, PlanDocument]
) -> Iterator[Ending]:
    """Yield the queue managers that end when structures lose their last copy.

    Args:
        lost: Each structure with the name of its plan.
        documents: The plans by name.
    """
    by_plan: dict[str, list[StructureResult]] = {}
    for plan, structure in lost:
        by_plan.setdefault(plan, []).append(structure)
    for plan, structures in by_plan.items():
        document = documents[plan]
        ends = [each for each in structures if reaction(each, document) == "TERMINATE"]
        if ends:
            members = document.queue_managers
            yield Ending(
                plan,
                document.qsg,
                document.queue_manager_count,
                tuple(members) if isinstance(members, list) else (),
                tuple(each.cfrm_name for each in ends),
                # One structure with a stated TERMINATE is enough to end them, whatever is assumed about the others.
                is_assumed=(document.cfconlos is None and all(follows_queue_managers(each) for each in ends))
                or all(each.role == "system" for each in ends),
                is_of_system_alone=document.cfconlos is not None
                and all(each.role == "system" for each in ends),
            )


def check_stated(documents: Mapping[str, PlanDocument]) -> Iterator[Finding]:
    """Yield findings on plans that do not state CFCONLOS of their queue managers."""
    for plan, document in documents.items():
        if document.cfconlos is None:
            of = f" of {plan}" if len(documents) > 1 else ""
            yield finding(
                "QMGR_CFCONLOS_NOT_STATED",
                f"The plan{of} does not state CFCONLOS of the queue managers of {document.qsg}: TERMINATE, MQ's default, is "
                "assumed, so they end when they lose CSQ_ADMIN. IBM normally suggests TOLERATE.",
                field="/cfconlos",
            )
