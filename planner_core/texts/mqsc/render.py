"""MQSC to define the plan's structures and shared queues, for CSQUTIL or CSQINP input.

Lines end within column 72 and are continued with +, which continues at the first nonblank
of the next line. CSQ_ADMIN has no CFSTRUCT object. Only depth events that the document states
are defined; for other queues of a structure with depth events, comments suggest values. Sources: IBM MQ, DEFINE
CFSTRUCT, DEFINE QLOCAL, and Specifying offload options for shared messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from planner_core.document.model import PlanDocument, Queue, Structure
from planner_core.limits import limit
from planner_core.names import mqsc_attribute, mqsc_value
from planner_core.plan.result import PlanResult
from planner_core.sizing.depth_advice import InForce
from planner_core.texts.mqsc.cfstruct import planned_attributes
from planner_core.texts.mqsc.qlocal import planned_queue

_SUGGESTED_ON_A_LINE = 3


def mqsc(result: PlanResult, *, queues: AbstractSet[str] | None = None) -> str:
    """Return DEFINE CFSTRUCT for each application structure, and DEFINE QLOCAL for each of its queues.

    Args:
        result: The plan.
        queues: The names of the queues to define; None for all of them.
    """
    document = result.document
    lines = [
        f"* Structures and shared queues of queue-sharing group {document.qsg}.",
        "* Run once, on one queue manager. DEFINE fails for objects that exist.",
        "* CSQ_ADMIN needs no CFSTRUCT; the system queues on CSQSYSAPPL come with",
        "* the samples that IBM ships.",
    ]
    if any(structure.offload.to == "SMDS" and structure.offload.dsgroup for structure in document.structures):
        lines += [
            "* The shared message data sets of each DSGROUP must exist, formatted,",
            "* before messages can be offloaded to them.",
        ]
    lines += _perfmev(document)
    lines += _cfconlos(document)
    advice = {found.name: found.depth_events for found in result.structures}
    backlogs = {found.name: found.queues for found in result.structures}
    for structure in document.structures:
        lines.append("*")
        offloads = structure.cflevel >= limit("cflevel_offload") and structure.offload.to == "SMDS"
        if offloads and structure.offload.dsgroup is None:
            lines.append(f"* {structure.name}: DSGROUP is not planned. Add it before you run this.")
        lines.append(_command(f"DEFINE CFSTRUCT({mqsc_value(structure.name)})", *_cfstruct(structure)))
        advised = advice[structure.name]
        suggests = advised is not None and advised.is_planned
        shared = ("QSGDISP(SHARED)", mqsc_attribute("CFSTRUCT", structure.name))
        for place, queue in enumerate(structure.queues):
            if queues is not None and queue.name not in queues:
                continue
            if suggests and advised is not None:
                backlog = backlogs[structure.name][place].messages
                lines.extend(_suggested(queue, advised.advisor.in_force[place], backlog=backlog))
            lines.append(_command(f"DEFINE QLOCAL({mqsc_value(queue.name)})", *shared, *planned_queue(queue)))
    return "\n".join(lines) + "\n"


def _perfmev(document: PlanDocument) -> Iterator[str]:
    """Yield the planned PERFMEV as comments: each queue manager has its own, and these commands run on one."""
    if document.perfmev is None:
        return
    yield "* PERFMEV is set on each queue manager, not here:"
    by_name = (
        document.perfmev if isinstance(document.perfmev, dict) else {"every queue manager": document.perfmev}
    )
    for name, switch in by_name.items():
        yield f"*   ALTER QMGR PERFMEV({switch}) on {name}"


def _cfconlos(document: PlanDocument) -> Iterator[str]:
    """Yield CFCONLOS of the queue managers: a command if the plan states it, otherwise a comment on the choice.

    A plan that does not state CFCONLOS must not change it for running queue managers. CMDSCOPE(*) reaches only active
    queue managers.
    """
    follow = any(
        structure.cflevel >= limit("cflevel_offload") and structure.cfconlos == "ASQMGR"
        for structure in document.structures
    )
    yield f"* CFCONLOS of the queue managers applies to CSQ_ADMIN{' and to' if follow else '.'}"
    if follow:
        yield "* structures with CFCONLOS(ASQMGR)."
    if document.cfconlos is None:
        yield "* Not planned. MQ's default ends queue managers that lose a structure;"
        yield "* IBM normally suggests this on each queue manager:"
        yield "*   ALTER QMGR CFCONLOS(TOLERATE)"
        return
    yield "* CMDSCOPE(*) reaches active queue managers. Repeat it on the others when"
    yield "* they are started."
    yield f"ALTER QMGR CFCONLOS({document.cfconlos}) CMDSCOPE(*)"


def _suggested(queue: Queue, advised: InForce, *, backlog: int) -> Iterator[str]:
    """Yield comments with suggested thresholds that the plan does not state for a queue."""
    # A plan can have 32,000 queues that state everything.
    if None not in (queue.maxdepth, queue.qdepthhi, queue.qdepthlo, queue.qdphiev):
        return
    values = (
        ("MAXDEPTH", queue.maxdepth, advised.maxdepth),
        ("QDEPTHHI", queue.qdepthhi, advised.qdepthhi),
        ("QDEPTHLO", queue.qdepthlo, advised.qdepthlo),
        ("QDPHIEV", queue.qdphiev, "ENABLED"),
    )
    words = [f"{key}({value})" for key, chosen, value in values if chosen is None and value is not None]
    if words:
        yield f"* {queue.name}:"
        yield f"*   suggested: {' '.join(words[:_SUGGESTED_ON_A_LINE])}"
        if words[_SUGGESTED_ON_A_LINE:]:
            yield f"*              {' '.join(words[_SUGGESTED_ON_A_LINE:])}"
    if queue.maxdepth is None and advised.maxdepth is not None and advised.maxdepth < backlog:
        yield f"*   This MAXDEPTH is below the planned backlog of {backlog} messages:"
        yield "*   the structure cannot hold more. Enlarge it, and plan again."


def _command(*parts: str) -> str:
    """Return a command with each of its parameters on a line."""
    return " +\n       ".join(parts)


def _cfstruct(structure: Structure) -> Iterator[str]:
    for line in planned_attributes(structure):
        yield " ".join(mqsc_attribute(keyword, value) for keyword, value in line.items())
