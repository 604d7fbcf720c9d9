"""What to do when a structure fills: one page a structure, for IXC585E and reason 2192.

Source of the interventions: IBM MQ, Planning your coupling facility and offload storage
environment, Application structures; of the causes of reason 2192: IBM MQ, reason code 2192.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner_core.document import Structure
from planner_core.names import mqsc_value
from planner_core.plan import PlanResult, StructureResult
from planner_core.units import bytes_to_kib_ceil, format_mib
from planner_core.xcf.setxcf import REALLOCATE, REALLOCATE_TEST, alter_command

_SHOWN_QUEUES = 5
_RULE = "-" * 71


def runbook(result: PlanResult) -> str:
    """The runbook of the whole group as plain text."""
    lines = [f"RUNBOOK FOR THE STRUCTURES OF QUEUE-SHARING GROUP {result.document.qsg}", "=" * 71]
    for structure in result.structures:
        lines += ["", structure.cfrm_name, _RULE]
        lines.extend(_sizes(structure))
        lines.extend(_ROLES[structure.role](structure))
    return "\n".join(lines) + "\n"


def _sizes(structure: StructureResult) -> Iterator[str]:
    sizes, threshold = structure.sizes, structure.placement.full_threshold
    yield f"INITSIZE {bytes_to_kib_ceil(sizes.initsize_bytes)}K ({format_mib(sizes.initsize_bytes)})"
    yield f"SIZE     {bytes_to_kib_ceil(sizes.size_bytes)}K ({format_mib(sizes.size_bytes)})"
    if threshold:
        yield f"IXC585E  when entries or elements are {threshold} % in use; IXC586I when they are below it again"
    else:
        yield "IXC585E  is never issued: FULLTHRESHOLD(0) switches monitoring off"
    if structure.load is not None:
        load = structure.load
        yield f"Planned  {load.demand.messages} messages"
        plain, ruled = (
            f"INITSIZE {load.messages_in_initsize(offload=offload)}, SIZE {load.messages_in_size(offload=offload)}"
            for offload in (False, True)
        )
        yield f"Holds    {plain} messages in the CF"
        if ruled != plain:
            yield f"         {ruled} with the offload rules at work"
    yield ""


def _look(structure: StructureResult) -> Iterator[str]:
    yield "Look:"
    yield f"  D XCF,STR,STRNAME={structure.cfrm_name}"
    yield "     (entries and elements in use against their totals: either one fills it)"
    yield f"  DISPLAY CFSTATUS({structure.name}) ALL"


def _grow(structure: StructureResult, number: int) -> Iterator[str]:
    command = alter_command(structure)
    if command is None:
        yield f"{number}. The structure cannot grow in place: INITSIZE leaves no room below SIZE."
        yield "   Raise SIZE in the policy and rebuild the structure."
        yield from _rebuild(structure)
        return
    yield f"{number}. Enlarge it in place, between its current size and SIZE (SIZE= is in K):"
    yield f"     {command}"
    yield "   If it is at SIZE already: raise SIZE in the policy and rebuild it."
    yield from _rebuild(structure)


def _rebuild(structure: StructureResult) -> Iterator[str]:
    """How a raised SIZE takes effect: one structure, or all of the sysplex after a test."""
    yield f"     SETXCF START,REBUILD,STRNAME={structure.cfrm_name}"
    yield "   Or, for every structure of the sysplex, read the report of the first command"
    yield "   before you issue the second:"
    yield f"     {REALLOCATE_TEST}"
    yield f"     {REALLOCATE}"


def _messages(structure: StructureResult) -> Iterator[str]:
    yield from _look(structure)
    yield ""
    yield "On IXC585E, before applications notice:"
    yield "1. Find the queue whose depth grows, and why nothing takes its messages off."
    yield "2. Start more applications that get from it. The queue must allow it: SHARE, and"
    yield "   opened for shared input (DEFSOPT, or the application's own open option)."
    yield "3. Inhibit puts, or quiesce applications that put:"
    queues = _largest_queues(structure)
    for name in queues[:_SHOWN_QUEUES]:
        yield f"     ALTER QLOCAL({mqsc_value(name)}) QSGDISP(SHARED) PUT(DISABLED)"
    if not queues:
        yield "     The plan names no queue of this structure: ALTER QLOCAL(...) QSGDISP(SHARED) PUT(DISABLED)"
    if len(queues) > _SHOWN_QUEUES:
        yield f"     and {len(queues) - _SHOWN_QUEUES} more queues, which take less of the structure."
    yield from _grow(structure, 4)
    yield ""
    yield "On reason 2192 (MQRC_STORAGE_MEDIUM_FULL), puts are failing:"
    yield "- All entries, or all elements, are in use; or the shared message data set is"
    yield "  full or being expanded; or augmented storage for SCM cannot be had."
    yield "- The queue in the failing call need not be the one that filled the structure."
    yield "- Do steps 2 to 4 now. Then allow puts again: PUT(ENABLED)."


def _system(structure: StructureResult) -> Iterator[str]:
    yield "It holds system queues. By default SYSTEM.QSG.CHANNEL.SYNCQ (two messages for each"
    yield "active shared channel) and SYSTEM.QSG.UR.RESOLUTION.QUEUE (group units of recovery)."
    yield "Do not inhibit puts to these."
    yield ""
    yield from _look(structure)
    yield ""
    yield "On IXC585E, or when shared channels or group units of recovery fail:"
    yield "1. Count active shared channels and unresolved group units of recovery against the plan;"
    yield "   resolve what is in doubt."
    yield from _grow(structure, 2)


def _largest_queues(structure: StructureResult) -> list[str]:
    """The queues that take most of the structure, largest first."""
    if not isinstance(structure.definition, Structure):
        return []
    weights = structure.queue_weights
    names = [queue.name for queue in structure.definition.queues]
    return [names[index] for index in sorted(range(len(weights)), key=lambda index: -weights[index])]


def _admin(structure: StructureResult) -> Iterator[str]:
    yield "It holds no messages. It coordinates the group, and must have 1000 list"
    required = structure.admin.entries_required if structure.admin else 0
    yield f"entries for each queue manager defined to the group: ENTSMAX at least {required}."
    yield ""
    yield from _look(structure)
    yield ""
    yield "A full administrative structure shows itself indirectly:"
    yield "- commands get no response;"
    yield "- queue managers fail while they process a commit;"
    yield "- too small at start: CSQE022E, and the queue manager ends with 00C53000."
    yield "Reason 2192 on a queue is about its own structure, not about this one."
    yield "1. Find large units of work and let them commit."
    yield from _grow(structure, 2)


_ROLES = {"admin": _admin, "system": _system, "application": _messages}
