"""SETXCF commands that bring a policy and its structures into use.

Sources: IBM MQ, Planning your coupling facility (SETXCF START,ALTER between the current size
and SIZE); z/OS MVS System Commands, SETXCF START.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner_core.plan import PlanResult, StructureResult
from planner_core.units import bytes_to_kib_ceil, round_up


def alter_target_bytes(structure: StructureResult) -> int | None:
    """A size to grow to in place: the need where INITSIZE is below it, else half way to SIZE.

    It lies above INITSIZE and below SIZE; None where no storage increment does.
    """
    sizes = structure.sizes
    step = sizes.increment_bytes
    midway = round_up((sizes.initsize_bytes + sizes.size_bytes) // 2, multiple=step)
    wanted = max(midway, round_up(sizes.need_bytes, multiple=step))
    target = min(wanted, (sizes.size_bytes - 1) // step * step)
    return target if target > sizes.initsize_bytes else None


def alter_command(structure: StructureResult) -> str | None:
    """SETXCF START,ALTER to that size [K]; None where the structure cannot grow."""
    target = alter_target_bytes(structure)
    if target is None:
        return None
    return f"SETXCF START,ALTER,STRNAME={structure.cfrm_name},SIZE={bytes_to_kib_ceil(target)}"


def _rebuild(structure: StructureResult) -> Iterator[str]:
    """A duplexed structure cannot be rebuilt as it stands: its command is a remark that says so."""
    command = f"SETXCF START,REBUILD,STRNAME={structure.cfrm_name}"
    if structure.placement.duplex == "ENABLED":
        yield f"* {structure.cfrm_name} is duplexed: stop duplexing first, then"
        yield f"* {command}"
    else:
        yield command


def setxcf(result: PlanResult) -> str:
    """The commands, each under the situation that it is for. Lines that begin with * are remarks."""
    document = result.document
    name = document.policy.name or "policy-name"
    lines = [
        f"* SETXCF commands for the structures of queue-sharing group {document.qsg}.",
        "* Lines that begin with * are remarks. Three situations follow, never to be run as a",
        "* whole: issue only the command that fits yours, and only for that structure.",
        "*",
        "* 1. After the policy has been updated with IXCMIAPU: put it into use.",
    ]
    activate = f"SETXCF START,POLICY,TYPE=CFRM,POLNAME={name}"
    lines.append(activate if document.policy.name else f"* {activate}")
    lines += [
        "*",
        "* 2. A structure that is allocated already keeps its sizes: the change is",
        "*    pending (D XCF,STR) until the structure is rebuilt. A rebuild takes a new",
        "*    INITSIZE and SIZE only if all connectors allow alter.",
    ]
    for structure in result.structures:
        lines += _rebuild(structure)
    lines += [
        "*",
        "* 3. A structure fills (IXC585E): enlarge it in place, to a value above its",
        "*    current size and below SIZE. SIZE here is meant in K; check the unit in the",
        "*    description of SETXCF START for your z/OS. It cannot pass the maximum",
        "*    that was fixed when the structure was allocated.",
    ]
    for structure in result.structures:
        command = alter_command(structure)
        lines.append(command or f"* {structure.cfrm_name}: no room between INITSIZE and SIZE.")
    return "\n".join(lines) + "\n"
