"""Boundary cases of comparisons, for which a neighboring rule would give a different result."""

from __future__ import annotations

from dataclasses import replace

from planner_core.running.compare import compare
from planner_core.running.effect import State, StructureState, apply
from planner_core.running.policy import Setting
from planner_core.running.state import read_running
from tests.planner_core.running.test_compare import ADMIN, display, setxcf
from tests.planner_core.running.test_merge import result


def test_structure_with_a_pending_change_is_not_enlarged_in_place() -> None:
    """The structure already waits for a rebuild, which allocates it by the policy."""
    made = result(structures__0__initsize="384M", structures__0__full_threshold=80)
    waiting = display().replace(
        " ACTIVE STRUCTURE", "  PENDING POLICY INFORMATION:\n   POLICY SIZE : 900 M\n ACTIVE STRUCTURE"
    )
    alter = "SETXCF START,ALTER,STRNAME=SQ03APP1,SIZE=393216"
    assert alter in [command for command, _ in setxcf(compare(made, read_running([display(), ADMIN])))]
    assert alter not in [command for command, _ in setxcf(compare(made, read_running([waiting, ADMIN])))]


def test_structures_of_a_similarly_named_group_are_ignored() -> None:
    """A CFSTRUCT name begins with a letter, so SQ03APP4 is a structure of group SQ03, and SQ034APP1 is not."""
    made = result(structures__0__full_threshold=80)
    found = compare(made, read_running([display(), ADMIN, display("SQ034APP1"), display("SQ03APP4")]))
    told = [each.message for each in found.findings if each.code == "RUNNING_NOT_IN_PLAN"]
    assert len(told) == 1
    assert "SQ03APP4" in told[0]


MIB = 2**20
OLD_POLICY: dict[str, Setting] = {"SIZE": 512 * MIB, "INITSIZE": 256 * MIB, "PREFLIST": ("CF01", "CF02")}
NEW_POLICY: dict[str, Setting] = {**OLD_POLICY, "INITSIZE": 384 * MIB}
RUNS = StructureState(NEW_POLICY, NEW_POLICY, allocated_with=OLD_POLICY, size_bytes=256 * MIB)


def after(command: str, before: StructureState = RUNS) -> StructureState:
    return apply(State({"SQ03APP1": before}), command, merged={}).structures["SQ03APP1"]


def test_duplexed_structure_is_not_rebuilt_while_duplexed() -> None:
    rebuild = "SETXCF START,REBUILD,STRNAME=SQ03APP1"
    assert (after(rebuild).size_bytes, after(rebuild).pending) == (384 * MIB, ())
    duplexed = replace(RUNS, is_duplexed=True)
    assert after(rebuild, duplexed) == duplexed
    stopped = after("SETXCF STOP,REBUILD,DUPLEX,STRNAME=SQ03APP1,KEEP=OLD", duplexed)
    assert after(rebuild, stopped).size_bytes == 384 * MIB


def test_alter_is_limited_by_the_allocated_size() -> None:
    assert after("SETXCF START,ALTER,STRNAME=SQ03APP1,SIZE=393216").size_bytes == 384 * MIB
    assert after("SETXCF START,ALTER,STRNAME=SQ03APP1,SIZE=1048576").size_bytes == 512 * MIB
