"""Write the runbook for structures that fill: a page for each structure, for IXC585E and reason 2192.

Sources: for the interventions, IBM MQ, Planning your coupling facility and offload storage environment, Application
structures; for the causes of reason 2192, IBM MQ, reason code 2192; for backup and recovery, IBM MQ, BACKUP CFSTRUCT,
RECOVER CFSTRUCT, Planning your queue sharing group; for queue managers that end, and for known problems, the APARs that
are named.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle

from planner_core.document.model import Structure
from planner_core.names import mqsc_value
from planner_core.plan.result import PlanResult
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.xcf.setxcf import (
    REALLOCATE,
    REALLOCATE_TEST,
    alter_command,
    display_command,
    rebuild_steps,
)
from planner_core.units import bytes_to_kib_ceil, format_mib
from planner_core.whatif.recovery import Recovery, StructureRecovery, recovery_of

_SHOWN_QUEUES = 5
_SEVERAL = 2
_RULE = "-" * 71


@dataclass(frozen=True, slots=True)
class _Backups:
    """Backup and recovery of the group's structures, and the queue manager that backs each up; empty if names are unknown."""

    recovery: Recovery
    by_name: Mapping[str, StructureRecovery]
    queue_managers: Mapping[str, str]

    @classmethod
    def of(cls, result: PlanResult) -> _Backups:
        found = recovery_of(result.document, result.structures)
        recoverable = [each.name for each in found.all_structures if each.is_recoverable]
        members = result.document.queue_managers
        # In rotation, so that no log takes all backups.
        turns = zip(recoverable, cycle(members), strict=False) if isinstance(members, list) else ()
        return cls(found, {each.name: each for each in found.all_structures}, dict(turns))


def runbook(result: PlanResult) -> str:
    """Return the runbook of the group as plain text."""
    backups = _Backups.of(result)
    lines = [f"RUNBOOK FOR THE STRUCTURES OF QUEUE-SHARING GROUP {result.document.qsg}", "=" * 71]
    for structure in result.structures:
        lines += ["", structure.cfrm_name, _RULE]
        lines.extend(_sizes(structure))
        lines.extend(_ROLES[structure.role](structure))
        # Queue managers rebuild CSQ_ADMIN from their logs: there is nothing to back up.
        if structure.role != "admin":
            lines.extend(_backup(structure, backups))
    lines.extend(_recover_all(backups))
    return "\n".join(lines) + "\n"


def _sizes(structure: StructureResult) -> Iterator[str]:
    sizes, threshold = structure.sizes, structure.placement.full_threshold
    yield f"INITSIZE {bytes_to_kib_ceil(sizes.initsize_bytes)}K ({format_mib(sizes.initsize_bytes)})"
    yield f"SIZE     {bytes_to_kib_ceil(sizes.size_bytes)}K ({format_mib(sizes.size_bytes)})"
    if threshold:
        yield f"IXC585E  when entries or elements are {threshold} % in use; IXC586I when they are below it again"
    else:
        yield "IXC585E  is never issued: FULLTHRESHOLD(0) turns monitoring off"
    if structure.load is not None:
        load = structure.load
        yield f"Planned  {load.demand.messages} messages"
        plain, ruled = (
            f"INITSIZE {load.messages_in_initsize(offload=offload)}, SIZE {load.messages_in_size(offload=offload)}"
            for offload in (False, True)
        )
        yield f"Holds    {plain} messages in the CF"
        if ruled != plain:
            yield f"         {ruled} with offloading by the rules"
    yield ""


def _look(structure: StructureResult) -> Iterator[str]:
    yield "Look:"
    yield f"  {display_command(structure)}"
    yield "     (compare entries and elements in use with their totals: either can fill it)"
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
    """Yield the lines on how a larger SIZE takes effect: for one structure, or for the whole sysplex after a test."""
    for is_command, line in rebuild_steps(structure):
        if is_command:
            yield f"     {line}"
        else:
            yield from _step(line)
    yield "   Or, for every structure of the sysplex, read the report of the first command"
    yield "   before you issue the second:"
    # IBM's playbook for changes of a CFRM policy lists the test before the command.
    yield f"     {REALLOCATE_TEST}"
    yield f"     {REALLOCATE}"


def _messages(structure: StructureResult) -> Iterator[str]:
    yield from _look(structure)
    yield ""
    yield "On IXC585E, before applications notice:"
    yield "1. Find the queue whose depth grows, and why no application gets its messages."
    yield "2. Start more applications that get from it. The queue must allow it: SHARE, and"
    yield "   opened for shared input (DEFSOPT, or the application's own open option)."
    yield from _alone(structure)
    yield "3. Inhibit puts, or quiesce applications that put:"
    # Inhibiting puts helps most for the queues that take most of the structure.
    queues = _largest_queues(structure)
    for name in queues[:_SHOWN_QUEUES]:
        yield f"     ALTER QLOCAL({mqsc_value(name)}) QSGDISP(SHARED) PUT(DISABLED)"
    if not queues:
        yield "     The plan names no queue of this structure: ALTER QLOCAL(...) QSGDISP(SHARED) PUT(DISABLED)"
    if len(queues) > _SHOWN_QUEUES:
        yield f"     and {len(queues) - _SHOWN_QUEUES} more queues, which need less of the structure."
    yield from _grow(structure, 4)
    yield ""
    yield "On reason 2192 (MQRC_STORAGE_MEDIUM_FULL), puts are failing:"
    full = "All entries, or all elements, are in use; "
    if structure.smds is not None:
        full += "or the shared message data set is full or being expanded; "
    yield from _wrapped(f"- {full}or no augmented storage is available for SCM.")
    yield "- The queue in the failing call need not be the one that filled the structure."
    yield "- Do steps 2 to 4 now. Then allow puts again: PUT(ENABLED)."


def _backup(structure: StructureResult, backups: _Backups) -> Iterator[str]:
    """Yield the lines on which queue manager backs up a structure, how often, and how to recover it."""
    found = backups.by_name[structure.name]
    yield ""
    yield "Backup and recovery:"
    if found.not_backed_up is not None:
        yield from _wrapped(f"- {found.not_backed_up} If the structure is lost, its messages are lost.")
    else:
        if found.assumed is not None:
            yield from _wrapped(f"- {found.assumed} Check it:")
            yield f"     DISPLAY CFSTRUCT({structure.name}) CFLEVEL RECOVER RECAUTO CFCONLOS"
        every = found.back_up_every_minutes
        goal = f"{float(backups.recovery.recovery_minutes):g} minutes"
        member = backups.queue_managers.get(structure.name)
        where = (
            f"on {member}, or on another queue manager while it is down" if member else "on one queue manager"
        )
        if every is None:
            yield from _wrapped(
                f"- No backup interval makes it available within {goal}: the backup alone takes longer to read. Back it up at "
                f"least every {float(backups.recovery.interval_minutes):g} minutes, {where}:"
            )
        else:
            yield from _wrapped(
                f"- Back it up at least every {float(every):g} minutes, {where}. The backup is written to the log of the queue "
                "manager that takes it; persistent messages only."
            )
        scope = f" CMDSCOPE({mqsc_value(member)})" if member else ""
        yield f"     BACKUP CFSTRUCT({structure.name}){scope}"
        yield "  Check the interval with your own log rate and recovery time:"
        yield "     cfplan whatif recovery PLAN --log-read-mb-per-s MB --recovery-minutes M"
        failed, emptied = "the structure", ""
        if structure.smds is not None:
            failed = "the structure or one of its data sets"
            emptied = " If only a data set has failed, it empties the structure first: nonpersistent messages are lost."
        yield from _wrapped(
            f"- When {failed} is in status FAILED, on any queue manager. It reads the logs of all queue managers since the last "
            f"backup.{emptied}"
        )
        yield f"     DISPLAY CFSTATUS({structure.name}) TYPE(BACKUP)"
        yield f"     RECOVER CFSTRUCT({structure.name})"
    if structure.smds is not None:
        yield from _wrapped(
            "- When a queue manager is removed from the group, its shared message data set can remain (APAR PH61721). Check which data "
            "sets the structure still lists:"
        )
        yield f"     DISPLAY CFSTATUS({structure.name}) TYPE(SMDS)"


def _recover_all(backups: _Backups) -> Iterator[str]:
    """Yield one command that recovers several structures and reads the logs once."""
    names = [each.name for each in backups.recovery.all_structures if each.is_recoverable]
    if len(names) < _SEVERAL:
        return
    yield ""
    yield "SEVERAL STRUCTURES LOST TOGETHER"
    yield _RULE
    yield "One command recovers all that are in status FAILED, and reads the logs once:"
    yield from _mqsc(f"RECOVER CFSTRUCT({','.join(names)})")


def _step(text: str) -> Iterator[str]:
    """Yield the lines of a sentence below a numbered step."""
    yield from textwrap.wrap(
        text,
        len(_RULE),
        initial_indent="   ",
        subsequent_indent="   ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _wrapped(text: str) -> Iterator[str]:
    """Yield the lines of a paragraph in the width of the runbook; a list item is indented below its dash."""
    yield from textwrap.wrap(
        text,
        len(_RULE),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _mqsc(command: str) -> Iterator[str]:
    """Yield the lines of an MQSC command; a line that continues ends in +."""
    # textwrap breaks lines at blanks only.
    lines = textwrap.wrap(command.replace(",", ", "), len(_RULE) - 9, break_long_words=False)
    for number, line in enumerate(lines, start=1):
        yield f"     {line.replace(', ', ',')}{' +' if number < len(lines) else ''}"


def _alone(structure: StructureResult) -> Iterator[str]:
    """Yield the lines on queues with NOSHARE, from which a second application cannot get."""
    definition = structure.definition
    queues = (
        [queue.name for queue in definition.queues if not queue.share]
        if isinstance(definition, Structure)
        else []
    )
    if queues:
        yield "   These are planned with NOSHARE: a second application cannot get from them."
    for name in queues[:_SHOWN_QUEUES]:
        yield f"     ALTER QLOCAL({mqsc_value(name)}) QSGDISP(SHARED) SHARE DEFSOPT(SHARED)"
    if len(queues) > _SHOWN_QUEUES:
        yield f"     and {len(queues) - _SHOWN_QUEUES} more queues"


def _system(structure: StructureResult) -> Iterator[str]:
    yield "It holds system queues. By default SYSTEM.QSG.CHANNEL.SYNCQ (two messages for each"
    yield "active shared channel) and SYSTEM.QSG.UR.RESOLUTION.QUEUE (group units of recovery)."
    yield "Do not inhibit puts to these."
    yield ""
    yield from _look(structure)
    yield ""
    yield "On IXC585E, or when shared channels or group units of recovery fail:"
    yield "1. Compare the active shared channels and unresolved group units of recovery with the plan;"
    yield "   resolve those that are in doubt."
    yield from _grow(structure, 2)


def _largest_queues(structure: StructureResult) -> list[str]:
    """Return the queues in the order of their use of the structure, largest first."""
    if not isinstance(structure.definition, Structure):
        return []
    weights = structure.queue_weights
    names = [queue.name for queue in structure.definition.queues]
    return [names[index] for index in sorted(range(len(weights)), key=lambda index: -weights[index])]


def _admin(structure: StructureResult) -> Iterator[str]:
    yield "It holds no messages. It coordinates the group, and must have 1000 list"
    required = structure.admin.entries_required if structure.admin else 0
    elements = structure.admin.elements_required if structure.admin else 0
    yield f"entries for each queue manager defined to the group: ENTSMAX at least {required},"
    yield f"and about two elements for each entry: at least {elements} in D XCF,STR."
    yield ""
    yield from _look(structure)
    yield ""
    yield "A full administrative structure shows only indirect symptoms:"
    yield "- commands get no response;"
    yield "- queue managers fail while they process a commit;"
    yield "- they end with 00C51165 and 00C510AB when its entries or its elements are all in"
    yield "  use. Elements ran out at 99 % with entries at 12 % (APAR PH39578);"
    yield "- too small at start: CSQE022E, and the queue manager ends with 00C53000."
    yield "Reason 2192 on a queue refers to the queue's own structure, not to this one."
    yield "1. Find large units of work and let them commit."
    yield "2. Look for CSQE038E, and for a channel that retries puts to a shared queue at its"
    yield "   MAXDEPTH: the retries fill this structure (APAR PH54826). Stop the channel, or"
    yield "   let the queue drain."
    yield from _grow(structure, 3)
    if structure.placement.duplex != "DISABLED":
        is_or_may_be = "is" if structure.placement.duplex == "ENABLED" else "may be"
        yield ""
        yield from _wrapped(
            f"It {is_or_may_be} duplexed, DUPLEX({structure.placement.duplex}). After an outage, queue managers with failed-persistent "
            "connections to a duplexed CSQ_ADMIN can loop while they connect (APAR PH67936): check that its fix is applied."
        )


_ROLES = {"admin": _admin, "system": _system, "application": _messages}
