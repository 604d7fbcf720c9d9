"""SETXCF commands that activate a policy and change its structures, each in a comment.

Sources: IBM MQ, Planning your coupling facility (SETXCF START,ALTER between the current size
and SIZE); z/OS MVS System Commands, SETXCF START (SIZE= counts units of 1 KiB; REALLOCATE
evaluates every allocated structure); IBM's playbook for CFRM policy changes (D XCF,REALLOCATE,TEST
before REALLOCATE); z/OS Sysplex Services Guide, Rebuilding the Structure to Increase the Storage
Capacity (duplexing is stopped before a rebuild) and Automatic Duplexing (with DUPLEX(ENABLED) it
can start again at once).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from planner_core.plan.result import PlanResult
from planner_core.sizing.structure_result import StructureResult
from planner_core.units import bytes_to_kib_ceil, format_size, round_up

REALLOCATE_TEST: Final = "D XCF,REALLOCATE,TEST"
"""A command that reports the effect of REALLOCATE without changing anything."""
REALLOCATE: Final = "SETXCF START,REALLOCATE"
DISPLAY_POLICY: Final = "D XCF,POLICY,TYPE=CFRM"
_REMARK_WIDTH: Final = 64
"""Width between the marks of a comment that ends in column 71, the last column that z/OS members use."""


def activate_command(policy_name: str | None) -> str:
    """Return the command that starts a policy; without a name, with a word to replace."""
    return f"SETXCF START,POLICY,TYPE=CFRM,POLNAME={policy_name or 'policy-name'}"


def display_command(structure: StructureResult) -> str:
    """Return the command that displays a structure."""
    return f"D XCF,STR,STRNAME={structure.cfrm_name}"


REBUILD: Final = "SETXCF START,REBUILD,STRNAME="
"""The command that rebuilds a structure, without its name."""


def rebuild_command(structure: StructureResult) -> str:
    """Return the command that rebuilds a structure."""
    return f"{REBUILD}{structure.cfrm_name}"


def stop_duplexing_command(cfrm_name: str) -> str:
    """Return the command that stops duplexing of a structure and keeps its first copy."""
    return f"SETXCF STOP,REBUILD,DUPLEX,STRNAME={cfrm_name},KEEP=OLD"


def start_duplexing_command(cfrm_name: str) -> str:
    """Return the command that duplexes a structure; the system does so itself only with DUPLEX(ENABLED)."""
    return f"SETXCF START,REBUILD,DUPLEX,STRNAME={cfrm_name}"


def rebuild_steps(structure: StructureResult) -> Iterator[tuple[bool, str]]:
    """Yield the steps that rebuild a structure after a change of its policy: whether it is a command, and its text.

    XCF rejects the rebuild of a duplexed structure, and each command ends before the system has carried it out.
    """
    name, duplex = structure.cfrm_name, structure.placement.duplex
    if duplex != "DISABLED":
        yield False, "A duplexed structure is not rebuilt: stop duplexing first."
        if duplex == "ENABLED":
            yield (
                False,
                (
                    "With DUPLEX(ENABLED), the system may duplex it again before it is rebuilt: first activate the new policy, but "
                    "with DUPLEX(ALLOWED) for this structure."
                ),
            )
        yield True, stop_duplexing_command(name)
        yield (
            False,
            (
                "Wait until D XCF,STR shows one instance. If the command is rejected (IXC367I), because the structure is not "
                "duplexed, continue."
            ),
        )
    yield True, rebuild_command(structure)
    if duplex == "ENABLED":
        yield (
            False,
            (
                "When the rebuild is complete, activate the same policy with DUPLEX(ENABLED): the system duplexes the structure "
                "again."
            ),
        )
    if duplex == "ALLOWED":
        yield False, "When the rebuild is complete, duplex it again, if it was duplexed before:"
        yield True, start_duplexing_command(name)


def alter_target_bytes(structure: StructureResult) -> int | None:
    """Return the size to which a structure grows in place: the need if INITSIZE is below it, otherwise halfway to SIZE.

    The size is between INITSIZE and SIZE; None if no multiple of the storage increment is between them.
    """
    sizes = structure.sizes
    step = sizes.increment_bytes
    midway = round_up((sizes.initsize_bytes + sizes.size_bytes) // 2, multiple=step)
    wanted = max(midway, round_up(sizes.need_bytes, multiple=step))
    # SETXCF START,ALTER takes a size between the current one and SIZE.
    target = min(wanted, (sizes.size_bytes - 1) // step * step)
    return target if target > sizes.initsize_bytes else None


def alter_command(structure: StructureResult) -> str | None:
    """Return the SETXCF START,ALTER command to that size [K]; None if the structure cannot grow."""
    target = alter_target_bytes(structure)
    if target is None:
        return None
    return f"SETXCF START,ALTER,STRNAME={structure.cfrm_name},SIZE={bytes_to_kib_ceil(target)}"


def _remarks(text: str) -> list[str]:
    """Return comments, each closed on its own line: deleting one line does not extend a comment over others.

    They begin in column 2, because /* in columns 1 and 2 ends data in a job.
    """
    lines = textwrap.wrap(text, _REMARK_WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f" /* {line:{_REMARK_WIDTH}} */" for line in lines]


def _held(command: str) -> str:
    """Return a command in a comment."""
    return f" /* {command} */"


_TOP: Final = (
    "If you paste all of these lines, nothing changes: each SETXCF command is in a comment, and only DISPLAY commands are outside of one.",
    "To issue a command, copy that line without the slash and asterisk at either end. A console responds to a comment "
    "with a message that it is not a command, and does nothing else.",
    "Rebuild: an allocated structure keeps its sizes, and a change of its policy is pending, until it is rebuilt. A rebuild "
    "applies a new INITSIZE and SIZE only if all connectors allow alter.",
    "Alter: enlarges a structure in place, to a value above its current size and below SIZE. It cannot exceed the maximum "
    "that was set when the structure was allocated. SIZE= is in K. IXC533I shows the size that was reached.",
    "cfplan diff compares the plan with the running configuration and lists only the commands that are needed, in order.",
)


def setxcf(result: PlanResult) -> str:
    """Return the commands, a block for each structure, each command in a comment below its purpose."""
    document = result.document
    lines = _remarks(f"SETXCF commands for the structures of queue-sharing group {document.qsg}.")
    for sentence in _TOP:
        lines += _remarks(sentence)
    lines += ["", *_remarks("To activate the policy after IXCMIAPU has updated it:")]
    # Displays change nothing, so they are outside of comments.
    lines.append(DISPLAY_POLICY)
    lines.append(_held(activate_command(document.policy.name)))
    for structure in result.structures:
        lines += ["", *_block(structure)]
    return "\n".join([*lines, "", *_reallocate()]) + "\n"


def _block(structure: StructureResult) -> Iterator[str]:
    """Yield the commands for a structure: rebuild and alter."""
    sizes, name = structure.sizes, structure.cfrm_name
    between = f"INITSIZE {format_size(sizes.initsize_bytes)}, SIZE {format_size(sizes.size_bytes)}"
    yield from _remarks(f"{name}, {_ROLES[structure.role]}")
    yield from _remarks(between)
    yield display_command(structure)
    yield from _remarks("Rebuild, when D XCF,STR shows a pending policy change:")
    for is_command, line in rebuild_steps(structure):
        if is_command:
            yield _held(line)
        else:
            yield from _remarks(line)
    target, command = alter_target_bytes(structure), alter_command(structure)
    if target is None or command is None:
        yield from _remarks("Alter: there is no room between INITSIZE and SIZE.")
        return
    yield from _remarks(f"Alter to {format_size(target)}, when it fills up (IXC585E):")
    yield _held(command)


_ROLES: Final = {
    "admin": "administrative structure",
    "application": "application structure",
    "system": "structure of system queues",
}


def _reallocate() -> Iterator[str]:
    yield from _remarks(
        "All structures of the sysplex, not only those above: REALLOCATE also activates pending changes, and "
        "may move structures. Read the report of the test first:"
    )
    yield REALLOCATE_TEST
    yield _held(REALLOCATE)
